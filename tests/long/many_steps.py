"""The slope of a run's loss along many cells of a parameter, every copy of the run at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from model_core.ops import DropoutMask
from model_core.plan import Instruction
from model_core.tape import Tape

Array = np.ndarray[Any, Any]


class ManySteps:
    """A run taken again from the first record that reads a parameter, in many copies.

    Each copy has one cell of the parameter moved. The records that read the parameter are computed
    copy by copy; behind them the copies lie behind each other along the batch axis, so that one
    call of an op's forward serves them all. The numbers at the end are reckoned copy by copy.

    tape: in float64    end: the site of the number whose slope is asked for, or with `measure`
    of the array that it is measured on; a mask of dropout stays as it was drawn
    """

    def __init__(
        self, tape: Tape, end: str, name: str, measure: Callable[[Array], float] = float
    ) -> None:
        self._tape, self._end, self._name, self._measure = tape, end, name, measure
        self._start = np.asarray(tape.value_of(name))
        self._batch = len(np.asarray(tape.value_of(end if measure is not float else "target_ids")))
        self._lines = lines_between(tape, name, end)
        self._tiled: dict[str, Array] = {}
        self._copies = 0

    def slopes(self, cells: Sequence[int], step: float) -> Array:
        """(n,) central differences of the number, by cells counted in the flattened parameter."""
        upper, lower = (self._numbers(cells, move) for move in (step, -step))
        return (upper - lower) / (2.0 * step)

    def _numbers(self, cells: Sequence[int], move: float) -> Array:
        if len(cells) != self._copies:
            self._copies, self._tiled = len(cells), {}
        moved = []
        for cell in cells:
            own = self._start.copy()
            own.reshape(-1)[cell] += move
            moved.append(own)
        stacked: dict[str, Array] = {}
        single: dict[str, list[Any]] = {self._name: moved}
        for line in self._lines:
            if line.axes[:1] != ("B",):
                if line.axes:
                    raise ValueError(f"{line.site} has no batch axis to put copies along")
                single[line.site] = self._copy_by_copy(line, stacked, single)
            elif any(name in single for name in line.inputs):
                stacked[line.site] = np.concatenate(self._copy_by_copy(line, stacked, single))
            else:
                operands = [
                    stacked[name] if name in stacked else self._repeated(name)
                    for name in line.inputs
                ]
                stacked[line.site] = line.op.forward(*operands)
        if self._end in single:
            return np.array([self._measure(value) for value in single[self._end]])
        ends = stacked[self._end].reshape(self._copies, self._batch, *stacked[self._end].shape[1:])
        return np.array([self._measure(value) for value in ends])

    def _copy_by_copy(
        self, line: Instruction, stacked: dict[str, Array], single: dict[str, list[Any]]
    ) -> list[Array]:
        def operand(name: str, copy: int) -> Any:
            if name in single:
                return single[name][copy]
            if name in stacked:
                return stacked[name][copy * self._batch : (copy + 1) * self._batch]
            return self._tape.value_of(name)

        return [
            line.op.forward(*[operand(name, copy) for name in line.inputs])
            for copy in range(self._copies)
        ]

    def _repeated(self, name: str) -> Any:
        """A value that the step does not touch, as often as there are copies."""
        if name in self._tape.parameters:
            return self._tape.value_of(name)
        if name not in self._tiled:
            value = self._tape.value_of(name)
            if name in self._tape and self._tape[name].axes[:1] != ("B",):
                return value
            self._tiled[name] = np.concatenate([np.asarray(value)] * self._copies)
        return self._tiled[name]


def lines_between(tape: Tape, name: str, end: str) -> list[Instruction]:
    """The lines that lead from a parameter to a site, in order; a drawn mask is no line."""
    lines = [line for line in tape.plan.instructions if not isinstance(line.op, DropoutMask)]
    needed = {end}
    for line in reversed(lines):
        if line.site in needed:
            needed.update(line.inputs)
    moved, between = {name}, []
    for line in lines:
        if line.site in needed and not moved.isdisjoint(line.inputs):
            moved.add(line.site)
            between.append(line)
    return between
