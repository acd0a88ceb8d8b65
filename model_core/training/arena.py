"""The memory of a training run's passes: one block for batches of all shapes.

Batches come in dozens of shapes. Were each to write over the arrays of the last one of its own
shape, it would find them long gone from the caches; in one block it writes where the batch before
it has just been.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from model_core.ops.base import Array
from model_core.plan import Values
from model_core.runner import Runner
from model_core.tape import Tape

# OpenBLAS and the vector units read whole cache lines.
ALIGNMENT = 64
# How each shape's arrays lie in the block is remembered for so many shapes.
KEPT_SHAPES = 256

Shape = tuple[int, ...]


class _Place(NamedTuple):
    """Where the array of a slot lies in the block, and how."""

    slot: int
    shape: Shape
    dtype: Any
    strides: Shape
    offset: int


class Arena:
    """Holds the arrays of one pass; lends them, laid out for any shape that has been before."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._block: Array = np.empty(0, np.uint8)
        self._places: dict[Shape, list[_Place]] = {}
        # the arrays for each shape, as long as they lie in the present block
        self._values: dict[Shape, Values] = {}

    def lend(self, shape: Shape) -> Tape | None:
        """A finished tape whose arrays may be written over; None for a shape not met yet.

        Whatever was lent before must not be read any more.
        """
        if shape not in self._values:
            if shape not in self._places:
                return None
            self._values[shape] = self._arrays(self._places[shape])
        runner = self._runner
        return Tape(runner.plan, list(self._values[shape]), runner.parameters)

    def keep(self, shape: Shape, tape: Tape) -> None:
        """Learn from a finished tape how the arrays of its shape lie; it is given up."""
        values = tape.release()
        if shape in self._places:
            return
        if len(self._places) == KEPT_SHAPES:
            oldest = next(iter(self._places))
            del self._places[oldest]
            self._values.pop(oldest, None)
        places = list(self._laid_out(values))
        self._places[shape] = places
        n_bytes = max(p.offset + _extent(p) for p in places)
        if n_bytes > self._block.nbytes:
            self._values.clear()
            block = np.empty(n_bytes + ALIGNMENT, np.uint8)
            self._block = block[-block.ctypes.data % ALIGNMENT :]

    def _laid_out(self, values: Values) -> Iterator[_Place]:
        """Places for a pass's own arrays, each with as much room as the array it is a part of."""
        runner = self._runner
        slots, sites = runner.plan.slots, set(runner.plan.sites)
        given = {slot for name, slot in slots.items() if name not in sites}
        foreign = {id(_owner(values[slot])) for slot in given}
        starts: dict[int, int] = {}
        end = 0
        for slot, value in enumerate(values[: runner.n_slots]):
            if not isinstance(value, np.ndarray) or id(owner := _owner(value)) in foreign:
                continue
            if id(owner) not in starts:
                starts[id(owner)] = end
                end += -(-owner.nbytes // ALIGNMENT) * ALIGNMENT
            offset = starts[id(owner)] + value.ctypes.data - owner.ctypes.data
            yield _Place(slot, value.shape, value.dtype, value.strides, offset)

    def _arrays(self, places: list[_Place]) -> Values:
        values = self._runner.unfilled()
        for slot, shape, dtype, strides, offset in places:
            values[slot] = np.ndarray(shape, dtype, self._block, offset, strides)
        return values


def _owner(value: Any) -> Any:
    while isinstance(value, np.ndarray) and value.base is not None:
        value = value.base
    return value


def _extent(place: _Place) -> int:
    """From the first byte of an array to behind its last."""
    reach = sum((n - 1) * step for n, step in zip(place.shape, place.strides, strict=True))
    return int(reach) + int(place.dtype.itemsize)
