"""What the widgets of the training lab draw: curves, frames of the film, bars, examples. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

EMPTY = np.zeros(0)


@dataclass(frozen=True, eq=False)
class ChartLine:
    """One curve: its name, the theme's colour, its points; what it is now stands behind its name.

    axis: its points lie between 0 and `most` of an axis of their own, without ticks; None for the
    axis of the chart
    """

    label: str
    colour: str
    x: np.ndarray = field(default_factory=lambda: EMPTY)
    y: np.ndarray = field(default_factory=lambda: EMPTY)
    now: str = ""
    most: float | None = None
    faint: bool = False
    dots: bool = False


@dataclass(frozen=True, eq=False)
class Chart:
    """Curves over the steps of a training, 0 to `last`; `here` is the step they have come to.

    ticks: what is written beside the axis, and where; log: whether equal ratios take equal room
    legend_below: whether the names of the curves stand at the bottom, for curves that rise
    key: equal for charts that look the same
    """

    title: str
    lines: tuple[ChartLine, ...]
    ticks: tuple[tuple[float, str], ...]
    low: float
    high: float
    last: int
    here: int
    log: bool = False
    legend_below: bool = False
    key: tuple = ()


@dataclass(frozen=True, eq=False)
class Frame:
    """A picture of the film: the attention of one head (T,S) after a step, and the output then.

    mark: "" or the letter under which two frames are compared
    """

    step: int
    title: str
    weights: np.ndarray
    output: str
    is_right: bool = False
    chosen: bool = False
    mark: str = ""
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class NormBar:
    """A layer's parameter norm and its last update's, and their ratio as text."""

    label: str
    parameters: float
    update: float
    texts: tuple[str, str, str]


@dataclass(frozen=True)
class Sample:
    """A held-out example: what was read, what should come, what came."""

    source: str
    expected: str
    output: str
    is_right: bool
