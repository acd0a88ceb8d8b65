"""Runs the plan of one set of parameters: whole passes, and the steps of growing ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from model_core.capture import CannotCaptureError
from model_core.config import ModelConfig
from model_core.growing import GrowingRun as GrowingRun
from model_core.growing import first_capacity
from model_core.growing_replay import GrowingReplay, RowGiven
from model_core.kernels import (
    append_to_cache,
    bound_scores,
    mask_by_bound,
    norm_at_once,
    project_together,
)
from model_core.ops import MaskedScores, Normalise
from model_core.ops.base import Array
from model_core.parameters import packed
from model_core.plan import Plan, Step, Values, compile_step
from model_core.replay import Cancelled, CaptureStopped, Given, Replay, Replays, never
from model_core.tape import Tape
from model_core.transformer import NO_DROPOUT, Dropout, build_plan

GIVEN = ("source_ids", "source_mask", "target_ids", "target_mask")
POSITIONS = ("source_positions", "target_positions", "target_key_positions")


def real_tokens(ids: Array, pad_id: int) -> Array:
    """The mask (B,L), True = real, of ids that came without one.

    Only a trailing run of PAD is padding, and never position 0: some decoders start with PAD.
    """
    real = np.logical_or.accumulate((ids != pad_id)[:, ::-1], axis=1)[:, ::-1].copy()
    real[:, :1] = True
    return real


class Runner:
    """A plan, compiled, with the parameters it reads; parameters change only in place."""

    def __init__(
        self,
        config: ModelConfig,
        parameters: Mapping[str, Array],
        dtype: str = "float32",
        dropout: Dropout = NO_DROPOUT,
        plan: Plan | None = None,
    ) -> None:
        self.config, self.parameters = config, parameters
        # another plan than the config's is one in which a few of its lines are altered
        self.plan: Plan = build_plan(config, dtype, dropout) if plan is None else plan
        self.caches: list[int] = []
        self._template: Values = [None] * self.plan.n_slots
        for name, value in parameters.items():
            if name in self.plan.slots:
                self._template[self.plan.slots[name]] = value
        encoder, memory, rows = [], [], []
        for line in self.plan.instructions:
            if line.site.startswith("encoder."):
                encoder.append(line.site)
            elif _reads_only_memory(line.site):
                memory.append(line.site)
            else:
                rows.append(line.site)
        self._replays: Replays[Replay] = Replays()
        self._growing: Replays[GrowingReplay] = Replays()
        self.here = self._reserve()
        self._dtype = dtype
        masks = {
            line.inputs[1] for line in self.plan.instructions if isinstance(line.op, MaskedScores)
        }
        self._bounds = {mask: self._reserve() for mask in sorted(masks)}
        self._all = self._compile(self.plan.sites)
        self._encoder, self._memory = self._compile(encoder), self._compile(memory)
        self._rows = self._compile(rows, keep_rows=True)

    def _compile(self, sites: Sequence[str], keep_rows: bool = False) -> list[Step]:
        """The steps that compute these sites, in order.

        keep_rows: the cached sites go on from the rows of earlier steps.
        """
        plan, slots = self.plan, self.plan.slots
        groups = {group[0]: group for group in plan.together}
        done: set[str] = set()
        steps: list[Step] = []
        for site in sites:
            if site in done:
                continue
            together = self._compile_group(groups.get(site, ()))
            if together is not None:
                steps.append(together)
                done.update(groups[site])
                continue
            line = plan.instruction(site)
            inputs = [slots[name] for name in line.inputs]
            if isinstance(line.op, MaskedScores):
                steps.append(mask_by_bound(inputs[0], self._bounds[line.inputs[1]], slots[site]))
            else:
                steps.append(compile_step(line.op, inputs, slots[site]))
            if site in self._bounds:
                steps.append(bound_scores(slots[site], self._bounds[site], self._dtype))
            if keep_rows and site in plan.cached:
                self.caches.append(self._reserve())
                steps.append(append_to_cache(slots[site], self.caches[-1], self.here))
        return steps

    def _compile_group(self, group: Sequence[str]) -> Step | None:
        """One step for records that are computed together, None where they are not."""
        if not group:
            return None
        slots, parameters = self.plan.slots, self.parameters
        lines = [self.plan.instruction(site) for site in group]
        x, targets = slots[lines[0].inputs[0]], [slots[site] for site in group]
        normalise = lines[2].op if len(lines) == 4 else None
        if isinstance(normalise, Normalise):
            gamma, beta = (parameters[name] for name in lines[3].inputs[1:])
            return norm_at_once(x, gamma, beta, normalise.eps, targets)
        weights = packed([parameters[line.inputs[1]] for line in lines])
        biases = packed([parameters[line.inputs[2]] for line in lines])
        if weights is None or biases is None:
            return None
        return project_together(x, weights, biases, targets, self._reserve())

    @property
    def n_slots(self) -> int:
        """How many values a pass has, those behind the plan's own included."""
        return len(self._template)

    def unfilled(self) -> Values:
        """The values of a pass that is still to come: the parameters alone."""
        return self._template.copy()

    def _reserve(self) -> int:
        """One more slot, behind the plan's own."""
        self._template.append(None)
        return len(self._template) - 1

    def _values(self, inputs: Mapping[str, Any], reuse: Values | None = None) -> Values:
        values = self._template.copy() if reuse is None else reuse
        slots = self.plan.slots
        for name, value in inputs.items():
            if name in slots:
                values[slots[name]] = value
        return values

    def trace(
        self,
        source_ids: Array,
        target_ids: Array,
        source_mask: Array,
        target_mask: Array,
        generator: np.random.Generator | None = None,
        reuse: Tape | None = None,
    ) -> Tape:
        """One whole pass, everything recorded.

        source_ids, source_mask: (B,S)   target_ids, target_mask: (B,T)
        generator: the random stream of dropout. reuse: a tape of the same shapes that nobody
        reads any more; its arrays are written over.
        """
        positions = np.arange(target_ids.shape[1])
        inputs = {
            "source_ids": source_ids,
            "source_mask": source_mask,
            "source_positions": np.arange(source_ids.shape[1]),
            "target_ids": target_ids,
            "target_mask": target_mask,
            "target_positions": positions,
            "target_key_positions": positions,
            "generator": generator,
        }
        if reuse is None and generator is None:
            return Tape(self.plan, self._display_pass(inputs), self.parameters)
        kept = None if reuse is None else reuse.release()[: len(self._template)]
        values = self._values(inputs, kept)
        for step in self._all:
            step(values)
        return Tape(self.plan, values, self.parameters)

    def trace_matrix(self, inputs: Array) -> Tape:
        """One whole pass of a model that reads a matrix: inputs (B,S,D), which becomes read-only.

        Its rows count as source ids, and there is no target.
        """
        batch, length = inputs.shape[:2]
        inputs.flags.writeable = False
        values = self._values(
            {
                "inputs": inputs,
                "source_ids": np.tile(np.arange(length), (batch, 1)),
                "target_ids": np.empty((batch, 0), dtype=np.int64),
            }
        )
        for step in self._all:
            step(values)
        tape = Tape(self.plan, values, self.parameters)
        tape.chosen_ids = tape.target_ids
        return tape

    def _display_pass(self, inputs: Mapping[str, Any]) -> Values:
        """The values of one pass, in the memory of an earlier one where that is free."""
        slots = self.plan.slots
        given = {slots[name]: inputs[name] for name in GIVEN}
        key = tuple(array.shape for array in given.values())
        claimed = self._replays.claim(key)
        if claimed is not None:
            replay, values = claimed
            replay.run(given)
            return values
        if self._replays.wanted(key):
            try:
                captured = Replay(self._all, self._given(inputs))
            except CannotCaptureError:
                self._replays.refuse()
            else:
                return self._replays.keep(key, captured)
        values = self._values(inputs)
        for step in self._all:
            step(values)
        return values

    def _given(self, inputs: Mapping[str, Any]) -> Given:
        slots = self.plan.slots
        return Given(
            self._template,
            {slots[name]: inputs[name] for name in GIVEN if name in inputs},
            {slots[n]: inputs[n] for n in POSITIONS if n in slots and n in inputs},
            {slots[name]: value for name, value in self.parameters.items() if name in slots},
            self.plan.following({name for name in POSITIONS if name in inputs}),
        )

    def begin(self, source_ids: Array, source_mask: Array) -> GrowingRun:
        """Encode the source and stand ready to decode row by row."""
        inputs = {
            "source_ids": source_ids,
            "source_mask": source_mask,
            "source_positions": np.arange(source_ids.shape[1]),
        }
        batch, length = source_ids.shape
        capacity = first_capacity(length)
        if batch == 1:
            claimed = self._growing_replay(inputs, length)
            if claimed is not None:
                return GrowingRun(self, claimed[1], 1, capacity, claimed[0])
        values = self._values(inputs)
        for step in (*self._encoder, *self._memory):
            step(values)
        for slot in self.caches:
            values[slot] = self._empty_cache(batch, capacity)
        return GrowingRun(self, values, batch, capacity)

    def _growing_replay(
        self, inputs: Mapping[str, Any], length: int
    ) -> tuple[GrowingReplay, Values] | None:
        """A decoding of one sentence in recycled memory, its encoder run, where there is one."""
        slots, replays = self.plan.slots, self._growing
        claimed = replays.claim(length)
        if claimed is not None:
            claimed[0].run({slots[name]: inputs[name] for name in GIVEN if name in inputs})
            claimed[0].begin(claimed[1])
            return claimed
        return self._capture_growing(inputs, length) if replays.wanted(length) else None

    def prepare(self, source_length: int, cancelled: Cancelled = never) -> bool:
        """Capture, ahead of the first, a decoding of a sentence of so many tokens.

        cancelled: asked between the steps; nothing is kept of a capture that is left off
        returns: whether there was one to capture; then there may be another.
        """
        if not self._growing.missing(source_length):
            return False
        inputs = {
            "source_ids": np.zeros((1, source_length), np.int64),
            "source_mask": np.ones((1, source_length), bool),
            "source_positions": np.arange(source_length),
        }
        try:
            return self._capture_growing(inputs, source_length, cancelled) is not None
        except CaptureStopped:
            return True

    def _capture_growing(
        self, inputs: Mapping[str, Any], length: int, cancelled: Cancelled = never
    ) -> tuple[GrowingReplay, Values] | None:
        slots, capacity = self.plan.slots, first_capacity(length)
        row = RowGiven(
            slots["target_ids"],
            slots["target_positions"],
            self.here,
            {
                slots["target_key_positions"]: np.arange(capacity),
                slots["target_mask"]: np.ones((1, capacity), dtype=bool),
            },
            self.plan.following({"target_key_positions", "target_mask"}),
            {slot: self._empty_cache(1, capacity).shape for slot in self.caches},
            capacity,
            self._dtype,
        )
        encoder = [*self._encoder, *self._memory]
        try:
            captured = GrowingReplay(encoder, self._given(inputs), self._rows, row, cancelled)
        except (CannotCaptureError, ValueError):
            # a table of learned positions may end before the caches do
            self._growing.refuse()
            return None
        values = self._growing.keep(length, captured)
        captured.begin(values)
        return captured, values

    def _empty_cache(self, batch: int, capacity: int) -> Array:
        return np.zeros((batch, self.config.n_heads, capacity, self.config.d_head), self._dtype)

    def run_rows(self, values: Values) -> None:
        """Compute the decoder rows that `values` has the ids of."""
        for step in self._rows:
            step(values)


def _reads_only_memory(site: str) -> bool:
    """Keys and values of cross-attention depend on the source alone: computed once."""
    return site.endswith(
        ("cross_attn.k", "cross_attn.v", "cross_attn.k_heads", "cross_attn.v_heads")
    )
