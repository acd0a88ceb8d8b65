"""The tape: every operation of a run under its site name, and the walk back along it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from model_core.expressions import recomputed
from model_core.growing_replay import JoinedRows, KeptRow
from model_core.ops.base import Array, Explanation, Index, Op, Operand
from model_core.plan import Instruction, Plan, Values
from model_core.reverse import Gradients, walk_back
from model_core.snippets import DATA_FILE, Snippet, forward_snippet


class Record:
    """One operation of a run: what was computed, from what, by which op."""

    __slots__ = ("_instruction", "_tape", "site")
    direction: ClassVar[Literal["forward", "backward"]] = "forward"

    def __init__(self, tape: Tape, site: str, instruction: Instruction) -> None:
        self._tape, self.site, self._instruction = tape, site, instruction

    def __repr__(self) -> str:
        shape = ", ".join(
            f"{axis}={size}" if axis != "1" else "1"
            for axis, size in zip(self.axes, self.value.shape, strict=True)
        )
        return f"Record({self.site}: {self.op} of {', '.join(self.inputs)}; {shape})"

    @property
    def kind(self) -> Op:
        """The op with its constants."""
        return self._instruction.op

    @property
    def op(self) -> str:
        return self._instruction.op.name

    @property
    def inputs(self) -> tuple[str, ...]:
        return self._instruction.inputs

    @property
    def axes(self) -> tuple[str, ...]:
        return self._instruction.axes

    @property
    def formula(self) -> str:
        return self._instruction.op.formula

    @property
    def sentence(self) -> str:
        return self._instruction.op.sentence

    @property
    def value(self) -> Array:
        """The result, read-only."""
        value = np.asarray(self._tape.value_of(self._instruction.site)).view()
        value.flags.writeable = False
        return value

    @property
    def tape(self) -> Tape:
        """The run that it belongs to."""
        return self._tape

    @property
    def operands(self) -> list[Operand]:
        """The inputs with their values, in the op's order."""
        return [Operand(name, self._tape.value_of(name)) for name in self.inputs]

    def explain(self, index: Sequence[int]) -> Explanation:
        """How the cell at `index` (the batch axis included) comes about, in float64."""
        place = checked_index(self.site, index, self.value.shape)
        return self._instruction.op.explain(place, self.operands)

    def recompute(self) -> tuple[Array, Array]:
        """The value by the op's expression in float64, and the sum of the sizes of its terms.

        Both have the shape of the value; forward is not called. What was given or drawn at
        random is returned as it is.
        """
        operands = self.operands
        if self.op == "given" or any(isinstance(o.value, np.random.Generator) for o in operands):
            value = self.value.astype(np.float64)
            return value, np.abs(value)
        return recomputed(self._instruction.op, operands)

    def snippet(self, index: Sequence[int] | None = None, data: str = DATA_FILE) -> Snippet:
        """Runnable source text that prints the value, or the cell at `index`.

        data: the name of the file from which the text loads arrays too long to stand in it
        """
        return self._snippet(index, data)

    def numpy(self) -> str:
        """Runnable source text, the real operands included, that prints the value."""
        return self._snippet(None, None).text

    def _snippet(self, index: Sequence[int] | None, data: str | None) -> Snippet:
        value = self.value
        place = None if index is None else checked_index(self.site, index, value.shape)
        return forward_snippet(self.site, self._instruction.op, self.operands, value, place, data)


def checked_index(name: str, index: Sequence[int], shape: tuple[int, ...]) -> Index:
    """The place of a cell, counted from the start of each axis; IndexError if there is none."""
    place: Index = tuple(int(i) for i in index)
    if len(place) != len(shape) or not all(
        -size <= i < size for i, size in zip(place, shape, strict=True)
    ):
        raise IndexError(f"{name} has shape {shape}, there is no cell {place}")
    return tuple(i % size for i, size in zip(place, shape, strict=True))


class Tape:
    """One run: the plan that was followed and the value that each of its names got.

    `values` is indexed by the plan's slots. A tape that grew while decoding holds the rows of
    each step and joins them when a record is first read.
    """

    direction: ClassVar[Literal["forward", "backward"]] = "forward"

    def __init__(
        self,
        plan: Plan,
        values: Values,
        parameters: Mapping[str, Array],
        growth: Growth | None = None,
    ) -> None:
        self.plan, self.parameters = plan, parameters
        self._values, self._growth = values, growth
        self._owns_plan = False
        self.source_tokens: list[Any] = []
        self.target_tokens: list[Any] = []
        self.predicted_tokens: list[Any] = []
        self.chosen_ids: Array | None = None

    @property
    def sites(self) -> list[str]:
        """The names of all records, in the order of the computation."""
        return self.plan.sites

    def __contains__(self, site: object) -> bool:
        return site in self.plan

    def __getitem__(self, site: str) -> Record:
        return Record(self, site, self.plan.instruction(self.plan.resolve(site)))

    def __iter__(self) -> Iterator[Record]:
        return (Record(self, line.site, line) for line in self.plan.instructions)

    def __len__(self) -> int:
        return len(self.plan.instructions)

    @property
    def source_ids(self) -> Array:
        """What the encoder reads (B,S)."""
        return np.asarray(self.value_of("source_ids"))

    @property
    def target_ids(self) -> Array:
        """What the decoder reads, start token first (B,T)."""
        return np.asarray(self.value_of("target_ids"))

    @property
    def predicted_ids(self) -> Array:
        """What each decoder row predicts (B,T): the token that was chosen, else the argmax."""
        if self.chosen_ids is not None:
            return self.chosen_ids
        return np.argmax(self.value_of("logits"), axis=-1)

    def value_of(self, name: str) -> Any:
        """The value of a site, a parameter or a run input."""
        name = self.plan.aliases.get(name, name)
        slot = self.plan.slots[name]
        value = self._values[slot]
        if value is None and self._growth is not None:
            value = self._growth.join(self, name)
            self._values[slot] = value
        return value

    def branch(self) -> Tape:
        """The same run to be continued in another way; this tape stays as it is."""
        tape = Tape(self.plan, list(self._values), self.parameters, self._growth)
        tape.source_tokens, tape.target_tokens = self.source_tokens, self.target_tokens
        tape.predicted_tokens, tape.chosen_ids = self.predicted_tokens, self.chosen_ids
        return tape

    def release(self) -> Values:
        """Give up this run's arrays, to be written over by another; the tape is empty after."""
        values, self._values = self._values, []
        return values

    def add(
        self, site: str, op: Op, *inputs: str, axes: Sequence[str], **run_inputs: Any
    ) -> Record:
        """Record one more op behind the run (a loss); the run inputs it needs come by name."""
        if not self._owns_plan:
            # the plan is shared by all runs of a config, so this run continues on its own copy
            self.plan, self._owns_plan = self.plan.copy(), True
            # slots behind the plan's own hold what a runner keeps for itself
            self.plan.n_slots = max(self.plan.n_slots, len(self._values))
        for name in run_inputs:
            self.plan.reserve(name)
        self.plan.add(site, op, *inputs, axes=axes)
        self._values += [None] * (self.plan.n_slots - len(self._values))
        for name, value in run_inputs.items():
            self._values[self.plan.slots[name]] = value
        operands = [self.value_of(name) for name in inputs]
        self._values[self.plan.slots[site]] = op.forward(*operands)
        return self[site]

    def backward(self, site: str, gradient: Any = None) -> Gradients:
        """Walk the records in reverse from `site`; without `gradient`, the site is a scalar.

        gradient: the shape of the site's value    returns: d target / d everything before it
        """
        site = self.plan.resolve(site)
        value = self.value_of(site)
        if gradient is None:
            if np.size(value) != 1:
                raise ValueError(
                    f"{site} has shape {np.shape(value)}: give its gradient, it is no scalar"
                )
            gradient = np.ones_like(value)
        gradient = np.asarray(gradient, dtype=np.asarray(value).dtype)
        if gradient.shape != np.shape(value):
            raise ValueError(
                f"the gradient has shape {gradient.shape}, {site} has shape {np.shape(value)}"
            )
        slots = walk_back(self.plan, self.value_of, site, gradient)
        return Gradients(self.plan, self.value_of, self.parameters, site, slots)

    def parameter_gradients(self, site: str) -> dict[str, Array]:
        """The gradients of a scalar with respect to the parameters alone, as training needs them.

        A LayerNorm is passed in one go, without the gradients of its inner records.
        """
        site = self.plan.resolve(site)
        norms = {group[3]: group for group in self.plan.together if len(group) == 4}
        start = np.ones_like(self.value_of(site))
        slots = walk_back(self.plan, self.value_of, site, start, norms, keep=False)
        return Gradients(self.plan, self.value_of, self.parameters, site, slots).parameters


class Growth:
    """The steps of a decoding run, from which whole records are joined on demand.

    Each step holds its own values for the decoder rows that it added.
    """

    def __init__(self, steps: Sequence[Values | KeptRow] = ()) -> None:
        self.steps = list(steps)
        self._joined: JoinedRows | None = None

    def join(self, tape: Tape, name: str) -> Any:
        """The whole value of a decoder site: the rows of all steps, one below the other."""
        instruction = tape.plan.instruction(name)
        slot = tape.plan.slots[name]
        row_axes = [axis for axis, letter in enumerate(instruction.axes) if letter == "T"]
        if len(row_axes) == 1 and not instruction.op.is_view:
            joined = self._join_rows()
            if joined is not None:
                return joined.value(slot, row_axes[0])
            return np.concatenate([step[slot] for step in self.steps], axis=row_axes[0])
        operands = [tape.value_of(operand) for operand in instruction.inputs]
        whole = instruction.op.forward(*operands)
        if len(row_axes) == 2 and not instruction.op.is_view:
            # Query × key: a step never met the keys that came after it. They are filled in by
            # the op itself, and the cells that the step did compute are kept to the bit.
            self._keep_computed(whole, slot)
        return whole

    def _join_rows(self) -> JoinedRows | None:
        """All steps as one, where each is a row in memory of the same layout."""
        if self._joined is None:
            rows = [step for step in self.steps if isinstance(step, KeptRow)]
            if len(rows) == len(self.steps):
                self._joined = JoinedRows(rows)
        return self._joined

    def _keep_computed(self, whole: Array, slot: int) -> None:
        joined = self._join_rows()
        if joined is not None:
            length = whole.shape[-1]
            seen = np.tri(length, dtype=bool)
            np.copyto(whole, joined.value(slot, whole.ndim - 2)[..., :length], where=seen)
            return
        start = 0
        for step in self.steps:
            part = step[slot]
            stop = start + part.shape[-2]
            # behind the row itself lies the part of the cache that was still empty
            whole[..., start:stop, :stop] = part[..., :stop]
            start = stop
