"""Decoding in recycled memory: the encoder's calls, then those of one row again and again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from model_core.capture import Capture, Captured, address
from model_core.ops.base import Array
from model_core.plan import Step, Values
from model_core.replay import Cancelled, Given, Replay, as_constant, never


@dataclass(frozen=True)
class RowGiven:
    """What a decoder row starts from beside the encoder's values.

    ids, positions, here: slots of what differs from row to row   constants: slot -> array
    lasting: slots of what follows from the constants alone
    caches: slot -> shape (1,H,capacity,K)
    """

    ids: int
    positions: int
    here: int
    constants: Mapping[int, Array]
    lasting: Set[int]
    caches: Mapping[int, tuple[int, ...]]
    capacity: int
    dtype: str


class _Place(NamedTuple):
    """An array within the memory of a row."""

    block: int
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype
    strides: tuple[int, ...]


class KeptRow:
    """All values of one decoder row, by slot; the arrays are made when they are asked for."""

    def __init__(self, blocks: list[Array], places: Mapping[int, _Place], rest: Values) -> None:
        self._blocks, self._places, self._rest = blocks, places, rest

    def __getitem__(self, slot: int) -> Any:
        place = self._places.get(slot)
        if place is None:
            return self._rest[slot]
        return np.ndarray(
            place.shape, place.dtype, self._blocks[place.block], place.offset, place.strides
        )


class JoinedRows:
    """Rows of one run below each other, every value a view: the rows lie alike in memory."""

    def __init__(self, rows: Sequence[KeptRow]) -> None:
        self._places, self._n_rows = rows[0]._places, len(rows)
        self._blocks = [np.stack(blocks) for blocks in zip(*(row._blocks for row in rows))]

    def value(self, slot: int, axis: int) -> Array:
        """The value of all rows, along an axis that has length 1 in each."""
        place = self._places[slot]
        block = self._blocks[place.block]
        shape, strides = list(place.shape), list(place.strides)
        shape[axis], strides[axis] = self._n_rows, block.strides[0]
        return np.ndarray(shape, place.dtype, block, place.offset, strides)


class GrowingReplay(Replay):
    """The captured encoder of one source length, with a captured decoder row behind it.

    The calls of a row are the same for all rows up to the capacity of the caches. What they
    leave is copied in one go before the next row is computed.
    """

    def __init__(
        self,
        encoder: Sequence[Step],
        given: Given,
        row: Sequence[Step],
        row_given: RowGiven,
        cancelled: Cancelled = never,
    ) -> None:
        self._row_steps, self._row_given = row, row_given
        self.capacity = row_given.capacity
        self._row_memory: list[Array] = []
        self._places: dict[int, _Place] = {}
        self._n_encoder_calls = 0
        super().__init__(encoder, given, cancelled)
        self._row_calls = self._calls[self._n_encoder_calls :]
        del self._calls[self._n_encoder_calls :]

    def _capture_more(self, capture: Capture, values: Values) -> list[Array]:
        given, encoded = self._row_given, values.copy()
        self._n_encoder_calls = len(capture.calls)
        for slot, shape in given.caches.items():
            values[slot] = capture.empty(shape, given.dtype)
        values[given.ids] = capture.empty((1, 1), np.int64)
        values[given.positions] = capture.empty((1,), np.int64)
        values[given.here] = capture.empty((1, self.capacity, 1), np.bool_)
        self._cached = {slot: capture.plain(values[slot]) for slot in given.caches}
        self._ids = capture.plain(values[given.ids])
        self._positions = capture.plain(values[given.positions])
        self._here = capture.plain(values[given.here])
        self.begin(values.copy())
        # captured as the last row, so that a table of positions is long enough for all
        self._stand_at(0, self.capacity - 1)
        for slot, array in given.constants.items():
            array.setflags(write=False)
            values[slot] = array
        start, n_blocks = values.copy(), len(capture.blocks)
        capture.open_block()
        self._run_steps(self._row_steps, values)
        self._row_memory = capture.used_blocks(n_blocks)
        lasting = list(given.constants.values())
        for slot, value in enumerate(values):
            if value is start[slot]:
                continue
            if isinstance(value, Captured):
                self._place(slot, capture.plain(value))
            elif isinstance(value, np.ndarray):
                lasting.append(as_constant(slot, value, given.lasting))
        values[:] = encoded
        return lasting

    def _place(self, slot: int, array: Array) -> None:
        start = address(array)
        for number, block in enumerate(self._row_memory):
            first = address(block)
            if first <= start < first + block.nbytes:
                self._places[slot] = _Place(
                    number, start - first, array.shape, array.dtype, array.strides
                )
                return

    def begin(self, values: Values) -> None:
        """Lay the caches, empty, into a run's values."""
        for slot, cache in self._cached.items():
            cache[...] = 0.0
            values[slot] = cache

    def row(self, token: int, position: int, rest: Values) -> KeptRow:
        """Compute one decoder row and keep it; `rest` are the run's other values."""
        self._stand_at(token, position)
        for function, arguments in self._row_calls:
            function(*arguments)
        return KeptRow([block.copy() for block in self._row_memory], self._places, rest)

    def _stand_at(self, token: int, position: int) -> None:
        self._ids[0, 0] = token
        self._positions[0] = position
        self._here[...] = False
        self._here[0, position] = True
