"""How likely a text was, from the log-probabilities of its tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


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


def likelihood(log_probs: Sequence[float]) -> Likelihood:
    """Of no token at all: certain."""
    total = math.fsum(log_probs)
    mean = total / len(log_probs) if log_probs else 0.0
    return Likelihood(len(log_probs), total, mean, math.exp(total), math.exp(mean))
