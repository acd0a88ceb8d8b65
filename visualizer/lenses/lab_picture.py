"""What the widgets of the training lab draw: curves, frames of the film, bars, examples. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

EMPTY = np.zeros(0)


@dataclass(frozen=True, eq=False)
class ChartLine:
    """One curve: its name, the theme's colour, its points; what it is now stands behind its name.

    brief: a shorter name for narrow places, "" for the same
    most: its points lie between 0 and this on the axis at the right; None for the one at the left
    """

    label: str
    colour: str
    x: np.ndarray = field(default_factory=lambda: EMPTY)
    y: np.ndarray = field(default_factory=lambda: EMPTY)
    now: str = ""
    most: float | None = None
    brief: str = ""
    faint: bool = False
    dots: bool = False


@dataclass(frozen=True, eq=False)
class Chart:
    """Curves over the steps of a training, 0 to `last`; `here` is the step they have come to.

    ticks: what is written beside the axis, and where; log: whether equal ratios take equal room
    axis: what is said of the axis below it
    right: the same of a second axis at the right, from 0 to 1; each axis has its curves' colour
    then, `colours` of the left and of the right one
    looked: an earlier step that the values beside the names are of; None where they are the newest
    notes: wordings of what is said beside the title, the longest first
    waiting: what is said in it as long as no curve has a point
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
    axis: str = ""
    right: tuple[tuple[float, str], ...] = ()
    colours: tuple[str, str] = ("muted", "muted")
    looked: int | None = None
    notes: tuple[str, ...] = ()
    waiting: str = ""
    key: tuple = ()


@dataclass(frozen=True, eq=False)
class Frame:
    """A picture of the film: the attention of one head (T,S) after a step, and the output then.

    mark: "" or the letter under which two frames are compared; expected: None if nobody knows
    tokens: of the output, one by one; sure: with what probability the model chose each; is_ended:
    whether the last one ends it
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
    expected: str | None = None
    tokens: tuple[str, ...] = ()
    sure: tuple[float, ...] = ()
    is_ended: bool = False

    @property
    def is_known(self) -> bool:
        """Whether there is a picture yet; of some snapshots it is still to come."""
        return bool(self.weights.size)

    @property
    def cells(self) -> tuple[object, ...]:
        """Equal for frames with the same cells of the same array, as long as one holds it."""
        return self.weights.__array_interface__["data"][0], self.weights.shape

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for frames that look the same."""
        return self.cells, self.step, self.title, self.output, self.chosen, self.mark, self.expected


@dataclass(frozen=True, eq=False)
class Detail:
    """The frame that is looked at, with words for all there is in it.

    expected: "" where nobody knows; hint: what rows and columns are
    row_title, token_title, sure_title: what stands above each
    cell: what a cell says, with {row}, {column} and {weight} to be put in
    """

    frame: Frame
    expected: str
    hint: str
    row_title: str
    token_title: str
    sure_title: str
    cell: str

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for those that look the same."""
        return self.frame.key, self.expected, self.hint, self.cell


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
