"""What a check of a record says, and how numbers are compared with what they should be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from model_core.blocks import Place
from model_core.expressions import in_float64
from model_core.ops.base import Array, Index

# |a - b| <= tolerance · (|b| + sum of |terms|)
TOLERANCES = {"float32": 1e-5, "float64": 1e-11}


@dataclass(frozen=True)
class Check:
    """One thing that should hold of a record, and what was found.

    holds: None where something is stated that nobody has to judge
    cells, agreeing: how many cells or rows were looked at, and how many are as they should be
    bad: the full index of the worst cell    found, wanted: its numbers, or those of its row
    values: more numbers for the sentence, by name
    """

    key: str
    holds: bool | None
    cells: int
    agreeing: int
    bad: Index | None = None
    found: float | None = None
    wanted: float | None = None
    values: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Audit:
    """All checks of one record, the one against float64 last."""

    site: str
    checks: tuple[Check, ...]
    direction: str = "forward"

    @property
    def holds(self) -> bool:
        """Whether no check is broken."""
        return all(check.holds is not False for check in self.checks)

    @property
    def bad(self) -> Index | None:
        """The cell that the first broken check names."""
        return next((check.bad for check in self.checks if check.holds is False), None)


def tolerance_of(value: Array) -> float:
    """How far apart numbers of this type may lie, measured by their terms; 0 for exact ones."""
    return TOLERANCES.get(value.dtype.name, 0.0)


def excess(found: Array, wanted: Array, size: Array, tolerance: float, tiny: float) -> Array:
    """How far beyond the tolerance each cell lies, 1 at its very edge; infinities must be exact.

    size: the sum of the sizes of each cell's terms    tiny: the smallest number in full precision
    """
    with np.errstate(all="ignore"):
        found, wanted = in_float64(found), in_float64(wanted)
        if found.dtype.kind != "f":
            return np.where(found == wanted, 0.0, np.inf)
        # the smallest numbers of a type have fewer digits than the others
        allowed = tolerance * (np.abs(wanted) + size) + tiny
        beyond = np.abs(found - wanted) / allowed
        both = np.isfinite(found) & np.isfinite(wanted)
        same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        return np.where(both, beyond, np.where(same, 0.0, np.inf))


class Worst:
    """Counts what is looked at and remembers the cell that is furthest from what it should be."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.cells = self.failing = 0
        self.bad: Index | None = None
        self.found = self.wanted = 0.0
        self._most = 1.0

    def look(self, place: Place, beyond: Array, found: Array, wanted: Array) -> bool:
        """beyond, found, wanted: what lies at `place`; returns whether this is the worst yet."""
        self.cells += beyond.size
        failing = ~(beyond <= 1.0)
        count = int(np.count_nonzero(failing))
        self.failing += count
        if not count:
            return False
        within = np.unravel_index(int(np.argmax(np.where(failing, beyond, -1.0))), beyond.shape)
        most = float(beyond[within])
        if self.bad is not None and most <= self._most:
            return False
        self._most = most
        self.bad = tuple(int(i) + part.start for i, part in zip(within, place, strict=True))
        self.found, self.wanted = float(found[within]), float(wanted[within])
        return True

    def check(self, *values: tuple[str, float]) -> Check:
        agreeing = self.cells - self.failing
        if self.bad is None:
            return Check(self.key, True, self.cells, agreeing, values=values)
        return Check(
            self.key, False, self.cells, agreeing, self.bad, self.found, self.wanted, values
        )


def tiny_of(value: Array) -> float:
    """The smallest number that the type has in full precision."""
    return float(np.finfo(value.dtype).tiny) if value.dtype.kind == "f" else 0.0


class WorstRow(Worst):
    """The same for rows: found and wanted are of the row, and its worst cell is named."""

    def check_row(self, cell_of: Callable[[Index], Index]) -> Check:
        """cell_of: from a row's index to that of the cell that makes it wrong"""
        if self.bad is not None:
            self.bad = cell_of(self.bad[:-1])
        return self.check()

    def look_at_rows(self, place: Place, found: Array, wanted: Array, allowed: Array) -> None:
        """found, wanted, allowed: one number per row that lies at `place`, (..., 1)"""
        with np.errstate(all="ignore"):
            beyond = np.abs(found - wanted) / allowed
        self.look((*place[:-1], slice(0, 1)), beyond, found, wanted)
