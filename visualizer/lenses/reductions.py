"""The few numbers on screen that are no cell of the tape: each is a named summary of its cells."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from model_core.ops.norm import Normalise
from model_core.tape import Record, Tape

Array = np.ndarray[Any, Any]


def row_norms(record: Record, rows: int | None = None) -> Array:
    """The L2 norm of each token's row.   record: (1, tokens, numbers)   returns: (tokens,)"""
    return np.asarray(np.linalg.norm(record.value[0][:rows], axis=-1))


def deviations(tape: Tape, variance: str, rows: int | None = None) -> Array:
    """σ = √(variance + ε) of each token, with the ε of the norm that reads this variance.

    variance: a site (1, tokens, 1)   returns: (tokens,)
    """
    value = tape[variance].value[0, :rows, 0]
    normalised = variance.rsplit(".", 1)[0] + ".normalised"
    op = tape[normalised].kind if normalised in tape else None
    eps = op.eps if isinstance(op, Normalise) else 0.0
    return np.asarray(np.sqrt(value + value.dtype.type(eps)))


def over_heads(record: Record, heads: Literal["mean", "max"] | int) -> Array:
    """One head's cells, or the mean or the maximum of all heads' at each place.

    record: (1, heads, queries, keys)    heads: a number beyond the last means the last
    returns: (queries, keys); one head's are the record's own
    """
    cells = record.value[0]
    if isinstance(heads, int):
        return np.asarray(cells[min(heads, len(cells) - 1)])
    return np.asarray(cells.mean(axis=0) if heads == "mean" else cells.max(axis=0))


def strongest_head(record: Record, row: int, column: int) -> int:
    """The head, from 0, whose number at this place is the largest.

    record: (1, heads, queries, keys)
    """
    return int(record.value[0, :, row, column].argmax())


def probabilities(log_probs: Array) -> Array:
    """p = e^(log p) of log-probabilities that the tape holds, of any shape."""
    return np.asarray(np.exp(log_probs))
