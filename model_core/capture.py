"""Runs a pass once and keeps the calls it made, so that they can be made again.

NumPy's own work on a short array takes less time than finding out what to call: looking up
shapes, making views, allocating. A captured pass has done all that; running it again is a list of
calls on arrays that lie ready. The kernels know nothing of it: the arrays of a captured pass are
of a class that NumPy asks before each call on them.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from model_core.flatten import merged
from model_core.ops.base import Array

Call = tuple[Callable[..., Any], tuple[Any, ...]]

# OpenBLAS and the vector units read whole cache lines.
ALIGNMENT = 64
BLOCK_BYTES = 2**18


class CannotCaptureError(Exception):
    """A kernel did something that could not be done again by a kept call."""


class Captured(np.ndarray):
    """An array of a pass that is being captured; a view of the array that really holds it."""

    capture: Capture | None = None
    lease: _Lease | None = None
    plain: Array | None = None

    def __array_finalize__(self, made_from: Any) -> None:
        self.capture = getattr(made_from, "capture", None)
        self.lease = getattr(made_from, "lease", None)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any
    ) -> Any:
        capture = _capture_of(inputs, out)
        return capture.ufunc(ufunc, method, inputs, None if out is None else out[0], options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        capture = _capture_of(args, tuple(kwargs.values()))
        if function is np.take:
            return capture.take(*args, **kwargs)
        if function is np.copyto:
            return capture.copyto(*args, **kwargs)
        if function is np.empty_like:
            return capture.empty_like(*args, **kwargs)
        raise CannotCaptureError(f"numpy.{function.__name__} is called on a captured array")


class _Lease:
    """Some memory of a capture, free for other arrays once no captured array lies in it.

    So what a kernel needs only for itself shares its memory, and its place in the caches, with
    what others need for themselves.
    """

    def __init__(self, memory: Array, spare: dict[int, list[Array]]) -> None:
        self.memory, self._spare = memory, spare
        self.start = address(memory)

    def __del__(self) -> None:
        self._spare.setdefault(self.memory.nbytes, []).append(self.memory)


def _capture_of(*groups: Sequence[Any] | None) -> Capture:
    for group in groups:
        for array in group or ():
            if isinstance(array, Captured) and array.capture is not None:
                return array.capture
    raise CannotCaptureError("a captured array has lost its capture")


class Capture:
    """The calls of one pass, and the memory that they work in."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.blocks: list[Array] = []
        self._room: Array = np.empty(0, np.uint8)
        self._spare: dict[int, list[Array]] = {}

    @property
    def n_bytes(self) -> int:
        return sum(block.nbytes for block in self.blocks)

    def watch(self, array: Array) -> Captured:
        """The array as one whose calls are kept; it stays where it is."""
        captured = array.view(Captured)
        captured.capture = self
        return captured

    def empty(self, shape: tuple[int, ...], dtype: Any, order: Sequence[int] = ()) -> Captured:
        """New memory; `order` are the axes from the outermost in memory to the innermost."""
        dtype = np.dtype(dtype)
        n_bytes = math.prod(shape) * dtype.itemsize
        lease = _Lease(self._memory(-(-n_bytes // ALIGNMENT) * ALIGNMENT), self._spare)
        array = np.ndarray([shape[axis] for axis in order] or shape, dtype, lease.memory)
        if order:
            array = array.transpose([order.index(axis) for axis in range(len(shape))])
        captured = self.watch(array)
        captured.lease = lease
        return captured

    def _memory(self, n_bytes: int) -> Array:
        if self._spare.get(n_bytes):
            return self._spare[n_bytes].pop()
        if n_bytes > self._room.nbytes:
            # own block for a large array; a small one opens the next shared block
            block = np.empty(max(n_bytes, BLOCK_BYTES) + ALIGNMENT, np.uint8)
            self.blocks.append(block)
            self._room = block[-block.ctypes.data % ALIGNMENT :]
        memory, self._room = self._room[:n_bytes], self._room[n_bytes:]
        return memory

    def open_block(self) -> None:
        """Whatever comes from now on lies in blocks of its own."""
        self._room = np.empty(0, np.uint8)
        self._spare.clear()

    def used_blocks(self, first: int) -> list[Array]:
        """The blocks from number `first` on, without what is still free of the last."""
        *full, last = self.blocks[first:]
        return [*full, last[: last.nbytes - self._room.nbytes]]

    def plain(self, value: Any) -> Any:
        """The ordinary array behind a captured one, holding on to nothing but the memory."""
        if not isinstance(value, Captured):
            return value
        if value.plain is not None:
            return value.plain
        if value.lease is None:
            value.plain = value.view(np.ndarray)
            return value.plain
        memory = value.lease.memory
        offset = address(value) - value.lease.start
        if not 0 <= offset <= memory.nbytes:
            raise CannotCaptureError("an array was copied behind the capture's back")
        value.plain = np.ndarray(value.shape, value.dtype, memory, offset, value.strides)
        return value.plain

    def ufunc(
        self,
        ufunc: np.ufunc,
        method: str,
        inputs: Sequence[Any],
        out: Array | None,
        options: dict[str, Any],
    ) -> Any:
        """Make one call and keep it."""
        arguments = [self.plain(value) for value in inputs]
        call = getattr(ufunc, method)
        if out is None:
            out = self._like(call(*arguments, **options))
        target = self.plain(out)
        arguments = [_boxed(value, arguments) for value in arguments]
        if method == "reduce":
            self._reduce(call, arguments[0], target, **options)
        elif method != "__call__":
            raise CannotCaptureError(f"numpy.{ufunc.__name__}.{method} on a captured array")
        elif ufunc.signature is None and not options:
            *arguments, target = merged([np.asarray(value) for value in (*arguments, target)])
            if ufunc in (np.maximum, np.minimum):
                # these two do not take their out by position any more
                self._keep(partial(ufunc, out=target), *arguments)
            else:
                self._keep(ufunc, *arguments, target)
        elif options:
            self._keep(partial(ufunc, out=target, **options), *arguments)
        else:
            self._keep(ufunc, *arguments, target)
        return out if isinstance(out, Captured) else self.watch(out)

    def _reduce(self, call: Callable[..., Any], array: Array, out: Array, **options: Any) -> None:
        if options.keys() <= {"axis", "keepdims", "initial"} and options.get("keepdims"):
            short, long = merged([out, array])
            axes = tuple(a for a in range(long.ndim) if short.shape[a] < long.shape[a])
            if axes:
                initial = options.get("initial", np._NoValue)
                self._keep(call, long, axes, None, short, True, initial)
                return
        self._keep(partial(call, out=out, **{"axis": 0, **options}), array)

    def _keep(self, function: Callable[..., Any], *arguments: Any) -> None:
        function(*arguments)
        self.calls.append((function, arguments))

    def _like(self, result: Array) -> Captured:
        """Memory for a result, laid out as NumPy has laid it out."""
        order: list[int] = []
        if not result.flags.c_contiguous:
            order = sorted(range(result.ndim), key=lambda axis: -result.strides[axis])
        return self.empty(result.shape, result.dtype, order)

    def take(
        self, table: Any, ids: Any, axis: int | None = None, out: Array | None = None
    ) -> Captured:
        table, ids = self.plain(table), self.plain(ids)
        if out is None:
            out = self._like(table.take(ids, axis=axis))
        # ids were checked when they came in; with "raise" NumPy would go through another buffer
        self._keep(table.take, ids, axis, self.plain(out), "clip")
        return out if isinstance(out, Captured) else self.watch(out)

    def copyto(self, out: Array, source: Any, *, where: Any = True) -> None:
        copy = np.copyto if where is True else partial(np.copyto, where=self.plain(where))
        self._keep(copy, self.plain(out), _boxed(self.plain(source), [self.plain(out)]))

    def empty_like(
        self, array: Array, dtype: Any = None, order: str = "K", *, shape: Any = None
    ) -> Captured:
        plain: Array = self.plain(array)
        return self._like(np.empty_like(plain, dtype, order, shape=shape))  # type: ignore[call-overload]

    def check(self, lasting: Sequence[Array]) -> None:
        """Refuse a pass in which a call reads what is neither its own nor lasting."""
        spans = sorted((address(array), array.nbytes) for array in (*self.blocks, *lasting))
        starts = [start for start, _ in spans]
        known = {id(array) for array in (*self.blocks, *lasting)}
        for function, arguments in self.calls:
            for array in arguments:
                if not isinstance(array, np.ndarray) or not array.flags.writeable:
                    continue
                if id(array) in known or id(array.base) in known:
                    continue
                start = address(array)
                span = bisect_right(starts, start) - 1
                if array.ndim and (span < 0 or start >= starts[span] + spans[span][1]):
                    raise CannotCaptureError(f"{function} reads an array made behind its back")


def address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _boxed(value: Any, arguments: Sequence[Any]) -> Any:
    """A Python number as the array that NumPy would make of it in every call."""
    if type(value) in (int, float):
        for other in arguments:
            if isinstance(other, np.ndarray) and other.dtype.kind == "f":
                return np.array(value, other.dtype)
    return value
