"""What a benchmark gives: a figure with its spread and, where there is one, its target."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """Some measurements of one thing. `unit` is "×" for a ratio; `note` says against what."""

    name: str
    values: Sequence[float]
    unit: str = "×"
    target: float | None = None
    note: str = ""

    def __str__(self) -> str:
        low, middle, high = min(self.values), statistics.median(self.values), max(self.values)
        text = (
            f"{self.name}: {middle:.3g} {self.unit} (min {low:.3g}, median {middle:.3g}, "
            f"max {high:.3g}; {len(self.values)} records)"
        )
        if self.target is not None:
            verdict = "met" if middle <= self.target else "missed"
            text += f", target {self.target:g}: {verdict}"
        return f"{text}. {self.note}".rstrip()


@dataclass(frozen=True)
class LeftOut:
    """A figure that cannot be taken here, and why."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: left out, {self.reason}."


def ratio(
    name: str,
    ours: Sequence[float],
    theirs: Sequence[float],
    target: float | None = None,
    note: str = "",
) -> Figure:
    """The ratio of two contestants' times, round by round."""
    values = [a / b for a, b in zip(ours, theirs, strict=True)]
    times = f"{milliseconds(ours)} against {milliseconds(theirs)}"
    return Figure(name, values, "×", target, f"{times}. {note}".rstrip())


def milliseconds(seconds: Sequence[float]) -> str:
    """The median, to read."""
    return f"{1000 * statistics.median(seconds):.3g} ms"
