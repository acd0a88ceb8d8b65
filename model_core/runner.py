"""Runs the plan of one set of parameters: whole passes, and passes that grow row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from model_core.config import ModelConfig
from model_core.ops.base import Array
from model_core.parameters import packed
from model_core.plan import Plan, Step, Values, compile_step
from model_core.tape import Growth, Tape
from model_core.transformer import NO_DROPOUT, Dropout, build_plan


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
    ) -> None:
        self.config, self.parameters = config, parameters
        self.plan: Plan = build_plan(config, dtype, dropout)
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
        self._all = self._compile(self.plan.sites)
        self._encoder, self._memory = self._compile(encoder), self._compile(memory)
        self._rows = self._compile(rows, keep_rows=True)

    def _compile(self, sites: Sequence[str], keep_rows: bool = False) -> list[Step]:
        """The steps that compute these sites, in order.

        keep_rows: the cached sites go on from the rows of earlier steps.
        """
        plan = self.plan
        groups = {group[0]: group for group in plan.together}
        done: set[str] = set()
        steps: list[Step] = []
        for site in sites:
            if site in done:
                continue
            group = groups.get(site, ())
            lines = [plan.instruction(member) for member in group]
            weights = packed([self.parameters[line.inputs[1]] for line in lines])
            biases = packed([self.parameters[line.inputs[2]] for line in lines])
            targets = [plan.slots[s] for s in group]
            if weights is not None and biases is not None:
                steps.append(
                    _project_together(
                        plan.slots[lines[0].inputs[0]],
                        weights,
                        biases,
                        targets,
                        len(self._template),
                    )
                )
                self._template.append(None)
                done.update(group)
                continue
            line = plan.instruction(site)
            inputs = [plan.slots[name] for name in line.inputs]
            steps.append(compile_step(line.op, inputs, plan.slots[site]))
            if keep_rows and site in plan.cached:
                steps.append(_append_to_cache(plan.slots[site], len(self._template)))
                self.caches.append(len(self._template))
                # one more slot, behind the plan's own, holds the rows of earlier steps
                self._template.append(None)
        return steps

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
        kept = None if reuse is None else reuse.release()[: len(self._template)]
        values = self._values(inputs, kept)
        for step in self._all:
            step(values)
        return Tape(self.plan, values, self.parameters)

    def begin(self, source_ids: Array, source_mask: Array) -> GrowingRun:
        """Encode the source and stand ready to decode row by row."""
        inputs = {
            "source_ids": source_ids,
            "source_mask": source_mask,
            "source_positions": np.arange(source_ids.shape[1]),
        }
        values = self._values(inputs)
        for step in self._encoder:
            step(values)
        for step in self._memory:
            step(values)
        return GrowingRun(self, values, source_ids.shape[0])

    def run_rows(self, values: Values) -> None:
        """Compute the decoder rows that `values` has the ids of."""
        for step in self._rows:
            step(values)


class GrowingRun:
    """A run whose decoder grows by some rows at a time, keys and values kept (a KV cache)."""

    def __init__(self, runner: Runner, values: Values, batch: int) -> None:
        self._runner, self._base, self._batch = runner, values, batch
        for slot in runner.caches:
            values[slot] = RowCache()
        self._growth = Growth()
        self._ids: list[Array] = []
        self.length = 0

    def advance(self, ids: Array) -> Array:
        """Read the next target ids (B,n) and return the log-probabilities of their rows (B,n,V)."""
        slots = self._runner.plan.slots
        values = self._base.copy()
        stop = self.length + ids.shape[1]
        values[slots["target_ids"]] = ids
        values[slots["target_positions"]] = np.arange(self.length, stop)
        values[slots["target_key_positions"]] = np.arange(stop)
        values[slots["target_mask"]] = np.ones((self._batch, stop), dtype=bool)
        self._runner.run_rows(values)
        self._growth.steps.append(values)
        self._ids.append(ids)
        self.length = stop
        self.logits: Array = values[slots["logits"]]
        return values[slots["log_probs"]]

    def tape(self) -> Tape:
        """The tape of all rows so far; the rows are the very ones that were decoded."""
        slots = self._runner.plan.slots
        values = self._base.copy()
        positions = np.arange(self.length)
        values[slots["target_ids"]] = np.concatenate(self._ids, axis=1)
        values[slots["target_positions"]] = positions
        values[slots["target_key_positions"]] = positions
        values[slots["target_mask"]] = np.ones((self._batch, self.length), dtype=bool)
        growth = Growth()
        growth.steps = list(self._growth.steps)
        return Tape(self._runner.plan, values, self._runner.parameters, growth)


class RowCache:
    """Rows of earlier decoding steps (B,H,T,K), in one buffer that doubles when it is full."""

    def __init__(self) -> None:
        self._buffer: Array | None = None
        self._length = 0

    def append(self, rows: Array) -> Array:
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


def _project_together(
    x: int, weights: Array, biases: Array, targets: Sequence[int], whole: int
) -> Step:
    """One call for several linear maps of one input; each result is a view of the whole."""
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


def _append_to_cache(slot: int, cache: int) -> Step:
    def append(v: Values) -> None:
        v[slot] = v[cache].append(v[slot])

    return append


def _reads_only_memory(site: str) -> bool:
    """Keys and values of cross-attention depend on the source alone: computed once."""
    return site.endswith(
        ("cross_attn.k", "cross_attn.v", "cross_attn.k_heads", "cross_attn.v_heads")
    )
