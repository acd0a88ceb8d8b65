"""The same elementwise call on arrays of fewer axes, which NumPy starts on sooner."""

from __future__ import annotations

import math
from collections.abc import Sequence

from model_core.ops.base import Array


def merged(arrays: Sequence[Array]) -> list[Array]:
    """Views of arrays that broadcast together, the last of full shape, on as few axes as do.

    Axes are put in the order of the last array's memory, axes of length 1 are dropped, and
    neighbours that every array steps through evenly become one. Each cell still meets the cells
    that it met before.
    """
    full = arrays[-1]
    if all(not a.ndim or (a.shape == full.shape and a.flags.c_contiguous) for a in arrays):
        return [array.reshape(-1) if array.ndim else array for array in arrays]
    order = sorted(range(full.ndim), key=lambda axis: -full.strides[axis])
    steps = [_steps(array, full.ndim) for array in arrays]
    # the axes of each merged one, outermost first
    groups: list[list[int]] = []
    for axis in order:
        length = full.shape[axis]
        if length == 1:
            continue
        if groups and all(step[groups[-1][-1]] == step[axis] * length for step in steps):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    return [array if not array.ndim else _view(array, full.ndim, order, groups) for array in arrays]


def _steps(array: Array, ndim: int) -> list[int]:
    """The bytes from one cell to the next along each axis, 0 where the array is broadcast."""
    own = [stride if size > 1 else 0 for stride, size in zip(array.strides, array.shape)]
    return [0] * (ndim - array.ndim) + own


def _view(array: Array, ndim: int, order: list[int], groups: list[list[int]]) -> Array:
    shape = [1] * (ndim - array.ndim) + list(array.shape)
    sizes = [math.prod(shape[axis] for axis in group) for group in groups]
    # Never a copy: within a group the array steps evenly, or not at all.
    return array.reshape(shape).transpose(order).reshape(sizes)
