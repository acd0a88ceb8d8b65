"""A run whose decoder grows row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from model_core.growing_replay import GrowingReplay, KeptRow
from model_core.kernels import longer_cache
from model_core.ops.base import Array
from model_core.plan import Values
from model_core.tape import Growth, Tape

if TYPE_CHECKING:
    from model_core.runner import Runner

ROWS_AT_ONCE = 16


def first_capacity(source_length: int) -> int:
    """Room for as many rows as a translation of so many tokens is likely to have."""
    return ROWS_AT_ONCE * (1 + (source_length + 1) // ROWS_AT_ONCE)


class GrowingRun:
    """A run whose decoder grows by some rows at a time, keys and values kept (a KV cache).

    The caches have room for `capacity` rows; what is still empty is hidden by the look-ahead
    mask. So a row is the same sequence of calls wherever it stands.
    """

    def __init__(
        self,
        runner: Runner,
        values: Values,
        batch: int,
        capacity: int,
        replay: GrowingReplay | None = None,
    ) -> None:
        """values: the encoder's, with the caches; of a replay, claimed from it"""
        self._runner, self._base, self._batch = runner, values, batch
        self._capacity, self._replay = capacity, replay
        self._steps: list[Values | KeptRow] = []
        self._ids: list[Array] = []
        # of each step the rows that it still holds, None for all of them
        self._held: list[Array | None] = []
        self.length = 0

    def advance(self, ids: Array) -> Array:
        """Read the next target ids (B,n) and return the log-probabilities of their rows (B,n,V)."""
        slots = self._runner.plan.slots
        stop = self.length + ids.shape[1]
        if stop > self._capacity:
            self._make_room(stop)
        row: Values | KeptRow
        if self._replay is not None and ids.shape[1] == 1:
            row = self._replay.row(int(ids[0, 0]), self.length, self._base)
        else:
            row = self._rows(ids, stop)
        self._steps.append(row)
        self._ids.append(ids)
        self._held.append(None)
        self.length = stop
        self.logits: Array = row[slots["logits"]]
        log_probs: Array = row[slots["log_probs"]]
        return log_probs

    def _rows(self, ids: Array, stop: int) -> Values:
        slots, values = self._runner.plan.slots, self._base.copy()
        positions, keys = np.arange(self.length, stop), np.arange(self._capacity)
        values[slots["target_ids"]] = ids
        values[slots["target_positions"]] = positions
        values[slots["target_key_positions"]] = keys
        values[slots["target_mask"]] = np.ones((self._batch, self._capacity), dtype=bool)
        values[self._runner.here] = (keys == positions[:, None])[..., None]
        self._runner.run_rows(values)
        return values

    def reorder(self, rows: Sequence[int]) -> None:
        """Let the next batch go on from these rows of the last one: its first from the first, …

        A row may go on more than once or not at all; the source must be a single sentence.
        """
        last = self._steps[-1]
        if isinstance(last, list):
            # The caches are about to change, and a tape makes these anew from the rows.
            for slot in (*self._runner.caches, *self._cached_slots()):
                last[slot] = None
        if list(rows) == list(range(self._batch)):
            return
        # its calls are those of one row
        self._replay = None
        picked = np.asarray(rows)
        for slot in self._runner.caches:
            cache = self._base[slot]
            if len(picked) == self._batch:
                cache[:, :, : self.length] = cache[picked, :, : self.length]
            else:
                self._base[slot] = cache[picked]
        self._batch = len(picked)

    def hold_only(self, needed: Sequence[Sequence[int]]) -> None:
        """Give up the memory of all rows that no tape will be asked of.

        needed: for each step so far, its rows; never one that was given up before
        """
        for number, rows in enumerate(needed):
            step, held = self._steps[number], self._held[number]
            n_held = len(self._ids[number]) if held is None else len(held)
            wanted = np.array(sorted(rows), dtype=np.int64)
            if isinstance(step, list) and len(wanted) < n_held:
                places = wanted if held is None else np.searchsorted(held, wanted)
                for slot in self._row_slots(step, n_held):
                    step[slot] = step[slot][places]
                self._held[number] = wanted

    def _row_slots(self, step: Values, n_rows: int) -> list[int]:
        """The slots of a step's values that hold something for each of its rows."""
        slots = self._runner.plan.slots
        return [
            slots[line.site]
            for line in self._runner.plan.instructions
            if line.axes[0] == "B"
            and isinstance(step[slots[line.site]], np.ndarray)
            and len(step[slots[line.site]]) == n_rows
        ]

    def _cached_slots(self) -> list[int]:
        return [self._runner.plan.slots[site] for site in self._runner.plan.cached]

    def tape_of(self, rows: Sequence[int]) -> Tape:
        """The tape of one sentence of a reordered run, given its row in each step."""
        steps: list[Values | KeptRow] = []
        ids = []
        for number, row in enumerate(rows):
            step, held = self._steps[number], self._held[number]
            ids.append(self._ids[number][row : row + 1])
            if isinstance(step, list):
                n_rows = len(self._ids[number]) if held is None else len(held)
                place = row if held is None else int(np.searchsorted(held, row))
                step = step.copy()
                if n_rows > 1:
                    for slot in self._row_slots(step, n_rows):
                        step[slot] = step[slot][place : place + 1]
            steps.append(step)
        return self._tape(np.concatenate(ids, axis=1), steps)

    def _make_room(self, stop: int) -> None:
        self._capacity = max(2 * self._capacity, stop)
        for slot in self._runner.caches:
            self._base[slot] = longer_cache(self._base[slot], self._capacity)
        # its calls know only the old caches
        self._replay = None

    def tape(self) -> Tape:
        """The tape of all rows so far; the rows are the very ones that were decoded."""
        return self._tape(np.concatenate(self._ids, axis=1), self._steps)

    def _tape(self, ids: Array, steps: Sequence[Values | KeptRow]) -> Tape:
        """ids: (B,T), what the decoder read"""
        slots = self._runner.plan.slots
        values = self._base.copy()
        positions = np.arange(ids.shape[1])
        values[slots["target_ids"]] = ids
        values[slots["target_positions"]] = positions
        values[slots["target_key_positions"]] = positions
        values[slots["target_mask"]] = np.ones(ids.shape, dtype=bool)
        return Tape(self._runner.plan, values, self._runner.parameters, Growth(steps))
