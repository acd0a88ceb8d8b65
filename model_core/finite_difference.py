"""A gradient found by trying: the target, run again with one number a little up and down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from model_core.expressions import in_float64
from model_core.gradients import Target, record_target
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
    name = branch.plan.aliases.get(name, name)
    if name not in branch.plan.slots:
        raise KeyError(f"no site or parameter {name!r} belongs to this run")
    start = np.asarray(branch.value_of(name))
    if start.dtype.kind != "f":
        raise ValueError(f"{name} holds {start.dtype} numbers, which no small step can change")
    place = checked_index(name, index, start.shape)
    lines = _between(branch, name, site)
    rest: dict[str, Any] = {}
    ends = []
    for move in (step, -step):
        values: dict[str, Any] = {name: start.astype(np.float64)}
        values[name][place] += move
        for line in lines:
            if cancelled():
                return None
            operands = [
                values[operand] if operand in values else _widened(branch, operand, rest)
                for operand in line.inputs
            ]
            values[line.site] = line.op.forward(*operands)
        result = values[site] if site in values else branch.value_of(site)
        ends.append(float(result))
    upper, lower = ends
    return Difference((upper - lower) / (2.0 * step), step, upper, lower)


def _between(tape: Tape, name: str, site: str) -> list[Instruction]:
    """The lines that lead from a name to a site, in order."""
    lines = tape.plan.instructions[: tape.plan.number(site) + 1]
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
