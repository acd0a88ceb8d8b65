"""The plan of a forward pass: which op writes which site from which inputs, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from typing import Any, NamedTuple

from model_core.ops.base import Op

Values = list[Any]
Step = Callable[[Values], None]


class Instruction(NamedTuple):
    """One line of the plan: `site` = `op` of `inputs`, with named axes ("1" = broadcast)."""

    site: str
    op: Op
    inputs: tuple[str, ...]
    axes: tuple[str, ...]


class Plan:
    """The instructions of one forward pass and the slot that each name has in a run's values.

    Names are run inputs (ids, positions, masks), parameters and sites. A plan knows no
    lengths: one plan serves every sentence.
    """

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.slots: dict[str, int] = {}
        self.n_slots = 0
        self.aliases: dict[str, str] = {}
        # sites whose rows are kept from one decoding step to the next
        self.cached: set[str] = set()
        # sites that one kernel may compute together: projections of one input, a LayerNorm
        self.together: list[tuple[str, ...]] = []
        self._numbers: dict[str, int] = {}

    def add(self, site: str, op: Op, *inputs: str, axes: Iterable[str]) -> str:
        """Append an instruction and return its site, so that calls nest like the maths does."""
        if site in self._numbers:
            raise ValueError(f"site {site} is recorded twice")
        for name in (*inputs, site):
            self.reserve(name)
        self._numbers[site] = len(self.instructions)
        self.instructions.append(Instruction(site, op, inputs, tuple(axes)))
        return site

    def reserve(self, name: str) -> int:
        """The slot of a name, a new one if it has none yet."""
        if name not in self.slots:
            self.slots[name] = self.n_slots
            self.n_slots += 1
        return self.slots[name]

    def alias(self, name: str, site: str) -> str:
        """Let `name` stand for a site that is already recorded."""
        self.aliases[name] = site
        return site

    def resolve(self, name: str) -> str:
        """The recorded site behind a name; KeyError with a sentence where there is none."""
        site = self.aliases.get(name, name)
        if site not in self._numbers:
            raise KeyError(f"no site {name!r} is recorded in this run")
        return site

    def following(self, names: Set[str]) -> set[int]:
        """The slots of the sites that follow from these run inputs alone."""
        known = set(names)
        for line in self.instructions:
            if all(name in known for name in line.inputs):
                known.add(line.site)
        return {self.slots[name] for name in known - set(names)}

    @property
    def sites(self) -> list[str]:
        """The recorded names in order."""
        return list(self._numbers)

    def __contains__(self, name: object) -> bool:
        return name in self._numbers or name in self.aliases

    def copy(self) -> Plan:
        """A plan of its own with the same lines, to be continued."""
        plan = Plan()
        plan.instructions = list(self.instructions)
        plan.slots, plan.n_slots = dict(self.slots), self.n_slots
        plan.aliases = dict(self.aliases)
        plan.cached = set(self.cached)
        plan.together = list(self.together)
        plan._numbers = dict(self._numbers)
        return plan

    def number(self, site: str) -> int:
        """The place of a recorded site in the order of the plan."""
        return self._numbers[site]

    def instruction(self, site: str) -> Instruction:
        return self.instructions[self._numbers[site]]


def compile_step(op: Op, inputs: Sequence[int], target: int) -> Step:
    """A closure that reads the input slots and writes the target slot of a run's values.

    An array already lying in the target slot is written into, so that a run may reuse the
    memory of one that is gone. Unrolled by arity: at demo size a pass is some 150 of these.
    """
    forward = op.forward
    if len(inputs) == 1:
        (a,) = inputs

        def unary(v: Values) -> None:
            v[target] = forward(v[a], out=v[target])

        return unary
    if len(inputs) == 2:
        a, b = inputs

        def binary(v: Values) -> None:
            v[target] = forward(v[a], v[b], out=v[target])

        return binary
    if len(inputs) == 3:
        a, b, c = inputs

        def ternary(v: Values) -> None:
            v[target] = forward(v[a], v[b], v[c], out=v[target])

        return ternary
    slots = tuple(inputs)

    def general(v: Values) -> None:
        v[target] = forward(*[v[slot] for slot in slots], out=v[target])

    return general
