"""The same elementwise call on arrays of fewer axes, which NumPy starts on sooner."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import as_strided

from model_core.ops.base import Array


def merged(arrays: Sequence[Array]) -> list[Array]:
    """Views of arrays that broadcast together, the last of full shape, on as few axes as do.

    Axes are put in the order of the last array's memory, axes of length 1 are dropped, and
    neighbours that every array steps through evenly become one. Each cell still meets the cells
    that it met before.
    """
    full = arrays[-1]
    order = np.argsort([-stride for stride in full.strides], kind="stable").tolist()
    axes = [axis for axis in order if full.shape[axis] > 1]
    if not axes:
        return list(arrays)
    steps = [_steps(array, full.ndim) for array in arrays]
    shape = [full.shape[axes[0]]]
    strides = [[step[axes[0]]] for step in steps]
    for axis in axes[1:]:
        length = full.shape[axis]
        if all(kept[-1] == step[axis] * length for kept, step in zip(strides, steps)):
            shape[-1] *= length
            for kept, step in zip(strides, steps):
                kept[-1] = step[axis]
        else:
            shape.append(length)
            for kept, step in zip(strides, steps):
                kept.append(step[axis])
    return [
        array if array.ndim == 0 else _view(array, shape, step)
        for array, step in zip(arrays, strides)
    ]


def _steps(array: Array, ndim: int) -> list[int]:
    """The bytes from one cell to the next along each axis, 0 where the array is broadcast."""
    own = [stride if size > 1 else 0 for stride, size in zip(array.strides, array.shape)]
    return [0] * (ndim - array.ndim) + own


def _view(array: Array, shape: Sequence[int], strides: Sequence[int]) -> Array:
    # A broadcast axis is given as one of length 1: NumPy has quicker loops for it.
    sizes = [size if stride else 1 for size, stride in zip(shape, strides)]
    return as_strided(array, sizes, strides)
