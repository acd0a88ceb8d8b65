"""A gradient found by trying: the target, run again with one number a little up and down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from model_core.expressions import in_float64
from model_core.gradients import Target, record_target
from model_core.ops import DropoutMask
from model_core.plan import Instruction
from model_core.tape import Tape, checked_index


class Difference(NamedTuple):
    """(upper - lower) / (2 · step): the target a step above and a step below, and their slope."""

    value: float
    step: float
    upper: float
    lower: float


def central_difference(
    tape: Tape,
    target: Target,
    name: str,
    index: Sequence[int],
    step: float = 1e-5,
    cancelled: Callable[[], bool] = lambda: False,
) -> Difference | None:
    """How the target changes with one cell of a site or parameter, in float64.

    Only what follows from `name` is computed again; the rest is the run's own, widened. None
    once `cancelled` says so. ValueError for numbers without a gradient: ids, positions, masks.
    """
    branch, site = record_target(tape, target)
    return difference_of(branch, site, name, index, step, cancelled)


def difference_of(
    tape: Tape,
    site: str,
    name: str,
    index: Sequence[int],
    step: float = 1e-5,
    cancelled: Callable[[], bool] = lambda: False,
) -> Difference | None:
    """How the single number at `site`, recorded on the tape, changes with one cell of `name`."""
    replay = Replay(tape, site, name)
    direction = np.zeros_like(replay.start)
    direction[checked_index(name, index, direction.shape)] = 1.0
    return replay.slope(direction, step, cancelled)


class Replay:
    """The part of a run that leads from a site or parameter to a number, in float64, repeatable.

    What dropout drew stays as it was drawn. ValueError for what has no gradient: ids, masks.
    """

    def __init__(self, tape: Tape, site: str, name: str) -> None:
        name = tape.plan.aliases.get(name, name)
        if name not in tape.plan.slots:
            raise KeyError(f"no site or parameter {name!r} belongs to this run")
        start = np.asarray(tape.value_of(name))
        if start.dtype.kind != "f":
            raise ValueError(f"{name} holds {start.dtype} numbers, which no small step can change")
        self.tape, self.site, self.name = tape, site, name
        self.start = start.astype(np.float64)
        self._lines = _between(tape, name, site)
        self._rest: dict[str, Any] = {}

    def slope(
        self,
        direction: np.ndarray,
        step: float = 1e-5,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Difference | None:
        """The number `step` times the direction up and down; None once `cancelled` says so."""
        ends = []
        for move in (step, -step):
            values: dict[str, Any] = {self.name: self.start + move * direction}
            for line in self._lines:
                if cancelled():
                    return None
                operands = [
                    values[operand]
                    if operand in values
                    else _widened(self.tape, operand, self._rest)
                    for operand in line.inputs
                ]
                values[line.site] = line.op.forward(*operands)
            result = values[self.site] if self.site in values else self.tape.value_of(self.site)
            ends.append(float(result))
        upper, lower = ends
        return Difference((upper - lower) / (2.0 * step), step, upper, lower)


def _between(tape: Tape, name: str, site: str) -> list[Instruction]:
    """The lines that lead from a name to a site, in order; a mask that was drawn is no line."""
    lines = [
        line
        for line in tape.plan.instructions[: tape.plan.number(site) + 1]
        if not isinstance(line.op, DropoutMask)
    ]
    needed = {site}
    for line in reversed(lines):
        if line.site in needed:
            needed.update(line.inputs)
    dirty, between = {name}, []
    for line in lines:
        if line.site in needed and line.site != name and not dirty.isdisjoint(line.inputs):
            dirty.add(line.site)
            between.append(line)
    return between


def _widened(tape: Tape, name: str, known: dict[str, Any]) -> Any:
    """A value that the step does not touch, its floats as float64."""
    if name not in known:
        value = tape.value_of(name)
        known[name] = in_float64(value) if isinstance(value, np.ndarray) else value
    return known[name]
