"""Steps that compute several records in one go, to the bits of doing them one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from model_core.ops.base import Array
from model_core.ops.norm import layer_norm
from model_core.plan import Step, Values


def project_together(
    x: int, weights: Array, biases: Array, targets: Sequence[int], whole: int
) -> Step:
    """One call for several linear maps of one input; each result is a view of the whole.

    x, targets, whole: slots   weights: (n, in, out)   biases: (n, out)
    """
    biases = biases[:, None]

    def project(v: Values) -> None:
        read = v[x]
        flat = read.reshape(1, -1, read.shape[-1])
        v[whole] = result = np.matmul(flat, weights, out=v[whole])
        result += biases
        shape = (*read.shape[:-1], result.shape[-1])
        for target, part in zip(targets, result, strict=True):
            v[target] = part.reshape(shape)

    return project


def norm_at_once(x: int, gamma: Array, beta: Array, eps: float, targets: Sequence[int]) -> Step:
    """Mean, variance, normalised and scaled rows of a LayerNorm.   x, targets: slots"""
    mean, variance, normalised, out = targets

    def norm(v: Values) -> None:
        outs = v[mean], v[variance], v[normalised], v[out]
        v[mean], v[variance], v[normalised], v[out] = layer_norm(v[x], gamma, beta, eps, outs)

    return norm


def bound_scores(mask: int, bound: int, dtype: str) -> Step:
    """What a mask lets scores be at most: +inf where it is True, -inf elsewhere.   slots"""

    def bounds(v: Values) -> None:
        most = v[bound]
        if most is None:
            # key by key in memory, as the scores are
            most = np.empty_like(v[mask].swapaxes(-1, -2), dtype).swapaxes(-1, -2)
            v[bound] = most
        np.copyto(most, -math.inf)
        np.copyto(most, math.inf, where=v[mask])

    return bounds


def mask_by_bound(scores: int, bound: int, target: int) -> Step:
    """MaskedScores in one call, the bound being shared by all layers.   slots"""

    def mask(v: Values) -> None:
        out = v[target]
        if out is None:
            out = np.empty_like(v[scores])
        v[target] = np.minimum(v[scores], v[bound], out=out)

    return mask


def append_to_cache(slot: int, cache: int, here: int) -> Step:
    """Put the new rows in `slot` at their places in the cache, and read the whole cache.

    slots of: rows (B,H,n,K), cache (B,H,capacity,K), here (n,capacity,1) bool: each row's place
    """

    def append(v: Values) -> None:
        rows, kept = v[slot], v[cache]
        for row, place in enumerate(v[here]):
            np.copyto(kept, rows[:, :, row : row + 1], where=place)
        v[slot] = kept

    return append


def longer_cache(cache: Array, capacity: int) -> Array:
    """The same rows with room for more.   cache: (B,H,n,K)   returns: (B,H,capacity,K)"""
    batch, heads, length, width = cache.shape
    # zeros, not whatever was there: a hidden row has weight 0, but 0 times inf would be nan
    longer = np.zeros((batch, heads, capacity, width), cache.dtype)
    longer[:, :, :length] = cache
    return longer
