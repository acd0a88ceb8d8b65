"""Steps that compute several records in one go, to the bits of doing them one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

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
        v[mean], v[variance], v[normalised], v[out] = layer_norm(v[x], gamma, beta, eps)

    return norm


def bound_scores(mask: int, bound: int, dtype: str) -> Step:
    """What a mask lets scores be at most: +inf where it is True, -inf elsewhere.   slots"""

    def bounds(v: Values) -> None:
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


def append_to_cache(slot: int, cache: int) -> Step:
    """Put the rows in `slot` behind those of earlier decoding steps, and read all of them."""

    def append(v: Values) -> None:
        v[slot] = v[cache].append(v[slot])

    return append


class RowCache:
    """Rows of earlier decoding steps (B,H,T,K), in one buffer that doubles when it is full."""

    def __init__(self) -> None:
        self._buffer: Array | None = None
        self._length = 0

    def append(self, rows: Array) -> Any:
        """Keep the new rows (B,H,n,K) and return all of them so far."""
        stop = self._length + rows.shape[2]
        if self._buffer is None or stop > self._buffer.shape[2]:
            batch, heads, _, width = rows.shape
            grown = np.empty((batch, heads, max(16, 2 * stop), width), rows.dtype)
            if self._buffer is not None:
                grown[:, :, : self._length] = self._buffer[:, :, : self._length]
            self._buffer = grown
        self._buffer[:, :, self._length : stop] = rows
        self._length = stop
        return self._buffer[:, :, :stop]
