"""A run whose decoder grows row by row."""

from __future__ import annotations

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

    def _make_room(self, stop: int) -> None:
        self._capacity = max(2 * self._capacity, stop)
        for slot in self._runner.caches:
            self._base[slot] = longer_cache(self._base[slot], self._capacity)
        # its calls know only the old caches
        self._replay = None

    def tape(self) -> Tape:
        """The tape of all rows so far; the rows are the very ones that were decoded."""
        slots = self._runner.plan.slots
        values = self._base.copy()
        positions = np.arange(self.length)
        values[slots["target_ids"]] = np.concatenate(self._ids, axis=1)
        values[slots["target_positions"]] = positions
        values[slots["target_key_positions"]] = positions
        values[slots["target_mask"]] = np.ones((self._batch, self.length), dtype=bool)
        growth = Growth(self._steps)
        return Tape(self._runner.plan, values, self._runner.parameters, growth)
