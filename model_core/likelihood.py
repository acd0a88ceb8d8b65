"""How likely a text was, from the log-probabilities of its tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from model_core.sampling import log_probabilities


class Likelihood(NamedTuple):
    """log_prob: the sum over all tokens   mean_log_prob: the sum through their number

    probability: of the whole text, exp(log_prob), 0 where that is below what a float can hold
    per_token: the geometric mean of the tokens' probabilities, exp(mean_log_prob)
    """

    tokens: int
    log_prob: float
    mean_log_prob: float
    probability: float
    per_token: float


def log_probs_of(logits: Any, ids: Sequence[int]) -> tuple[float, ...]:
    """The log-probability of each row's token.   logits: (T,V)   ids: (T,)"""
    rows = zip(logits, ids, strict=True)
    return tuple(float(log_probabilities(row)[token]) for row, token in rows)


def likelihood(log_probs: Sequence[float]) -> Likelihood:
    """Of no token at all: certain."""
    total = math.fsum(log_probs)
    mean = total / len(log_probs) if log_probs else 0.0
    return Likelihood(len(log_probs), total, mean, math.exp(total), math.exp(mean))
