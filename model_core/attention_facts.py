"""What an attention head does, as a few numbers: how spread out it is and where it looks.

All of them are means over the rows (queries) that may see at least one key; a row that a mask
hides altogether is left out. Hidden keys have the weight 0 and count nowhere: in causal attention
a row's first and last key are the first and the last that it may see.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class HeadFacts:
    """One head. Where there is no row to speak of, a number is NaN.

    entropy: bits, the mean over rows t of -sum over keys s of w[t,s] · log2 w[t,s], with 0 · log2 0
        as 0: 0 for a head that reads one key, log2 n for one that reads n keys alike
    diagonal: the mean of w[t,t], over rows that may see their own token; self-attention only
    previous: the mean of w[t,t-1], over rows that may see the token before; self-attention only
    first, last: the mean of w at the first, at the last key that the row may see
    sink: the largest of the keys' means over rows of w[t,s], hidden cells as 0
    sink_key: that key's position, the first of several; -1 where there is none
    sharpness: the mean over rows of the largest weight: 1 for a head that always reads one key
    rows: how many rows were counted
    """

    entropy: float
    diagonal: float
    previous: float
    first: float
    last: float
    sink: float
    sink_key: int
    sharpness: float
    rows: int


@dataclass(frozen=True, eq=False)
class RowFacts:
    """The same before the means over rows are taken.

    counted: (T,) bool, the rows that may see a key
    entropy, diagonal, previous, first, last, sharpness: (H,T), NaN where a row has no such key
    """

    counted: Array
    entropy: Array
    diagonal: Array
    previous: Array
    first: Array
    last: Array
    sharpness: Array


ROW_FACTS = tuple(field.name for field in fields(RowFacts) if field.name != "counted")


def row_facts(weights: Array, allowed: Array | None = None, *, own_tokens: bool) -> RowFacts:
    """The facts of every head and row.

    weights: (H,T,S), rows that sum to 1    allowed: (T,S) bool, True = may be seen; None: all
    own_tokens: queries and keys are the same tokens (self-attention)
    """
    heads, rows, keys = weights.shape
    allowed = np.ones((rows, keys), bool) if allowed is None else allowed
    counted = np.asarray(allowed.any(axis=1))
    # argmax finds the first True
    first, last = allowed.argmax(axis=1), keys - 1 - allowed[:, ::-1].argmax(axis=1)
    every = np.arange(rows)
    found: dict[str, Array] = {
        "entropy": np.stack([_entropies(head) for head in weights]) if heads else weights[..., 0],
        "first": weights[:, every, first],
        "last": weights[:, every, last],
        "sharpness": weights.max(axis=2) if keys else np.zeros((heads, rows), weights.dtype),
    }
    for name, back in (("diagonal", 0), ("previous", 1)):
        key = every - back
        there = np.zeros(rows, bool)
        if own_tokens:
            within = (key >= 0) & (key < keys)
            there[within] = allowed[every[within], key[within]]
        shares = np.full((heads, rows), np.nan, weights.dtype)
        shares[:, there] = weights[:, every[there], key[there]]
        found[name] = shares
    for name in ("entropy", "first", "last", "sharpness"):
        found[name] = np.where(counted, found[name], np.nan)
    return RowFacts(counted=counted, **found)


def means(facts: RowFacts, rows: int | None = None) -> dict[str, Array]:
    """Each fact's mean over the first `rows` rows, NaN where none has it.

    returns: name -> (H,)
    """
    found = {}
    for name in ROW_FACTS:
        values = getattr(facts, name)[:, :rows].astype(np.float64)
        there = ~np.isnan(values)
        count = there.sum(axis=1)
        sums = np.where(there, values, 0.0).sum(axis=1)
        found[name] = np.where(count > 0, sums / np.maximum(count, 1), np.nan)
    return found


def sinks(weights: Array, counted: Array) -> tuple[Array, Array]:
    """Each head's sink: the share of the key that gets most on average, and which key that is.

    weights: (H,T,S)    counted: (T,) bool    returns: (H,) shares, (H,) positions; NaN and -1
    where no row is counted
    """
    heads, _, keys = weights.shape
    if not counted.any() or not keys:
        return np.full(heads, np.nan), np.full(heads, -1)
    # a product adds up the rows without a copy of them
    share = counted.astype(weights.dtype) @ weights / weights.dtype.type(counted.sum())
    return share.max(axis=1), share.argmax(axis=1)


def head_facts(weights: Array, allowed: Array | None = None, *, own_tokens: bool) -> HeadFacts:
    """The facts of one head.   weights: (T,S)    allowed: (T,S) bool or None    (see row_facts)"""
    (facts,) = all_head_facts(weights[None], allowed, own_tokens=own_tokens)
    return facts


def all_head_facts(
    weights: Array, allowed: Array | None = None, *, own_tokens: bool
) -> tuple[HeadFacts, ...]:
    """The facts of all heads of one attention.   weights: (H,T,S)    (see row_facts)"""
    return summed_up(weights, row_facts(weights, allowed, own_tokens=own_tokens))


def summed_up(weights: Array, facts: RowFacts, rows: int | None = None) -> tuple[HeadFacts, ...]:
    """The facts of all heads over the first `rows` rows, from those of each row.

    weights: (H,T,S)    facts: row_facts of these weights
    """
    found, counted = means(facts, rows), facts.counted[:rows]
    shares, positions = sinks(weights[:, :rows], counted)
    return tuple(
        HeadFacts(
            **{name: float(found[name][head]) for name in ROW_FACTS},
            sink=float(shares[head]),
            sink_key=int(positions[head]),
            rows=int(counted.sum()),
        )
        for head in range(len(weights))
    )


def most_bits(keys: int) -> float:
    """The entropy of a row that reads this many keys alike."""
    return math.log2(keys) if keys else 0.0


def _entropies(weights: Array) -> Array:
    """(T,S) -> (T,) bits"""
    logs = np.log2(np.where(weights > 0, weights, 1))
    # the product and its sum in one pass; 0 - x has no negative zero
    return 0 - np.einsum("ts,ts->t", weights, logs)
