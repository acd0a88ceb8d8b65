"""Several records of one sublayer as strips in one picture, with curves and columns beside them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from model_core.tape import Tape
from visualizer.lenses.labels import Words, axis_labels, row_notes
from visualizer.lenses.matrix import Range, picture, range_of, single_row
from visualizer.lenses.numbers import unit_text
from visualizer.lenses.picture import Matrix
from visualizer.lenses.stage import focus_cell, shown_rows, words
from visualizer.navigation import current_place, current_walk
from visualizer.state import Cell, Run, ViewState, current_tape, shown_site
from visualizer.walkthrough import Place, Walk

Array = np.ndarray[Any, Any]
Colour = Literal["accent", "decoder", "encoder", "output", "muted", "text"]
Style = Literal["line", "thin", "dashed", "dots", "bars"]


@dataclass(frozen=True, eq=False)
class Strip:
    """One record of the picture; a click goes to `site`.

    sign: "x", "+ s", "→" before the title     note: muted words behind it
    scale: how far its colours reach, "±4.5"; strips with the same one compare
    lane: strips of one lane have the same columns, so that a cell is marked in all of them
    current: the cursor stands on this record
    """

    site: str
    matrix: Matrix
    sign: str
    title: str
    note: str = ""
    lane: str = "D"
    current: bool = False
    scale: str = ""


@dataclass(frozen=True, eq=False)
class Figures:
    """One number per row, written to the right of a strip.

    values: (rows,), of the record `site`, or σ of its variance
    strip: the place of the strip in the picture
    unit: the power of ten that they are written in, that of the strip
    """

    strip: int
    site: str
    title: str
    values: Array
    current: bool = False
    unit: float = 1.0


@dataclass(frozen=True, eq=False)
class Line:
    """A curve, or dots, through the points x, y (n,).

    site, cells: the record and (n, 2) the rows and columns in its picture that the points are;
    without cells the line is for the eye and cannot be pointed at
    """

    label: str
    colour: Colour
    x: Array
    y: Array
    site: str = ""
    cells: Array | None = None
    style: Style = "line"


@dataclass(frozen=True, eq=False)
class Curves:
    """A plot below the strips.

    aligned: x counts the columns of the first strip, and the plot lies below its cells
    x_title, y_title: what the axes are where that is not plain
    share: of the picture's height
    """

    title: str
    lines: tuple[Line, ...]
    aligned: bool = False
    x_title: str = ""
    y_title: str = ""
    share: float = 0.2


@dataclass(frozen=True, eq=False)
class Stack:
    """Strips one below the other, or side by side where `across`.

    run, key: two stacks with the same run and equal keys show the same numbers at the same places
    marked: the cell (row, column) in the lane `lane` that is looked at; row alone marks the row
    decimals: of the figures
    legend: what the colours are, below all strips
    """

    run: Run
    key: Hashable
    strips: tuple[Strip, ...]
    figures: tuple[Figures, ...] = ()
    curves: Curves | None = None
    across: bool = False
    row: int | None = None
    column: int | None = None
    lane: str = ""
    decimals: int = 2
    legend: str = ""

    def strip_of(self, site: str) -> Strip | None:
        return next((strip for strip in self.strips if strip.site == site), None)


@dataclass(frozen=True, eq=False)
class View:
    """What every stack reads of the state: the place, the tape, the words, the cell looked at."""

    state: ViewState
    run: Run
    tape: Tape
    place: Place
    along: Walk
    words: Words
    rows: int
    matrix: Matrix
    cell: Cell | None

    def sites(self) -> tuple[str, ...]:
        """The records of the current sublayer, in order."""
        block = self.along.route.block(self.place.block)
        return () if block is None else block.sites

    def place_of(self, site: str) -> Place:
        return self.along.route.place(site)

    def strip(
        self,
        site: str,
        sign: str,
        title: str,
        note: str = "",
        *,
        colours: Range | None = None,
        lane: str = "D",
    ) -> Strip:
        """A record as a strip."""
        place = self.place_of(site)
        bare = picture(
            place, self.tape, self.words, rows=self.rows, colours=colours, labelled=False
        )
        # of all labels a strip shows but these
        axes, (height, width) = self.tape[site].axes, bare.values.shape
        matrix = replace(
            bare,
            row_labels=axis_labels(axes[-2], height, self.tape, self.words, single_row(place)),
            column_labels=axis_labels(axes[-1], width, self.tape, self.words, ""),
            row_notes=row_notes(axes[-2], height, self.tape, self.words),
        )
        scale = f"±{matrix.high / matrix.unit:.2g}" if matrix.palette == "diverging" else ""
        if matrix.unit != 1.0:
            scale += f" × {unit_text(matrix.unit)}"
        return Strip(site, matrix, sign, title, note, lane, site == self.place.site, scale)

    def common_range(self, *sites: str) -> Range:
        """One range for several records, so that their colours compare."""
        ranges = [range_of(self.place_of(site), self.tape) for site in sites]
        bound = max(max(-r.low, r.high) for r in ranges)
        return Range("diverging", -bound, bound)

    def stack(self, strips: tuple[Strip, ...], **more: Any) -> Stack:
        """The stack of these strips, with the marks of the view."""
        row, column = self.cell if self.cell is not None else (None, None)
        here = next((strip for strip in strips if strip.current), None)
        language_and_place = (
            self.place.block,
            self.place.sublayer,
            self.rows,
            self.words.count_from,
            self.state.decimals,
            (self.tape.direction, getattr(self.tape, "target", None)),
            tuple(
                (s.site, s.title, s.matrix.row_labels, s.matrix.row_notes, s.matrix.high)
                for s in strips
            ),
        )
        return Stack(
            run=self.run,
            key=language_and_place,
            strips=strips,
            row=row,
            column=column if here is not None else None,
            lane=here.lane if here is not None else "",
            decimals=self.state.decimals,
            **more,
        )


def view_of(state: ViewState, matrix: Matrix | None) -> View | None:
    """What a stack reads; None where nothing was computed.

    matrix: the heatmap of the record at the cursor
    """
    place, tape, along = current_place(state), current_tape(state), current_walk(state)
    if place is None or tape is None or along is None or matrix is None or state.run is None:
        return None
    # the pointer moves over the picture without changing it
    still = replace(state, hovered=None) if state.hovered is not None else state
    return View(
        state=state,
        run=state.run,
        tape=tape,
        place=place,
        along=along,
        words=words(state),
        rows=shown_rows(state),
        matrix=matrix,
        cell=focus_cell(still, matrix),
    )


def standing_on(state: ViewState, site: str) -> ViewState:
    """The view as it were with the cursor on another record: for the words about its cells."""
    if site == shown_site(state):
        return state
    return replace(state, cursor=replace(state.cursor, site=site))
