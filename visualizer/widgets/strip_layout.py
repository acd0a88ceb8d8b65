"""Where the strips of a stack, their words and the plot below them lie."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF

from visualizer import fonts
from visualizer.lenses.blocks import Span
from visualizer.lenses.numbers import round_step
from visualizer.lenses.strips import Stack
from visualizer.widgets.canvas import Canvas
from visualizer.widgets.heatmap_layout import Cells, edges, whole_pixels

# Rows lower than this are read better in two columns of strips; of few cells, whose numbers are
# written, sooner. In parts of the font's size, as all that follows.
LOW_ROW, LOW_NUMBERED_ROW = 1.1, 1.3
# A plot gives the rows of its height down to this: a profile, any other.
LEAST_PROFILE, LEAST_PLOT = 5.2, 8.0
# Lines of one script that are closer than this touch each other.
LINE = 1.02
# What the labels and their notes may take of the width.
MOST_WORDS = 0.36
# Between a label and its note; the note's type scale; rows too low for it, in pixels.
NOTE_GAP, NOTE_SCALE, NOTED_ROW = 0.45, 0.76, 9.5
# Of more cells nobody reads the numbers, and writing them takes longer than a step may.
MOST_NUMBERS = 600
# Of row labels, against the font of the widget.
SMALLEST = 0.7
TALLEST_ROW, WIDEST_CELL = 1.9, 3.6
# So many cells never share a pixel.
FEW = 48


@dataclass(frozen=True, eq=False)
class StripPlace:
    """One strip in logical pixels; labels, figures and notes as (left, right).

    flat: whether the column labels above the cells are written level; None where there are none
    """

    cells: Cells
    title: QRectF
    labels: tuple[float, float]
    label_scale: float
    row_step: int
    figures: tuple[tuple[float, float], ...] = ()
    flat: bool | None = None
    notes: tuple[float, float] | None = None
    column_scale: float = fonts.SMALL
    column_step: int = 1


@dataclass(frozen=True, eq=False)
class StackLayout:
    strips: tuple[StripPlace, ...]
    plot: QRectF | None = None
    # of the strip whose columns the plot follows
    plot_strip: int = 0
    legend: QRectF | None = None


def arrange_stack(canvas: Canvas, stack: Stack) -> StackLayout:
    """Give every strip the same row height and as much of the width as its words leave."""
    return _across(canvas, stack) if stack.across else _down(canvas, stack)


def is_numbered(stack: Stack) -> bool:
    """Whether the cells are few enough to have their numbers in them."""
    return sum(strip.matrix.values.size for strip in stack.strips) <= MOST_NUMBERS


def _label_width(canvas: Canvas, labels: tuple[str, ...], most: float) -> float:
    face = canvas.face()
    return min(max((face.width(text) for text in labels), default=0.0), most * canvas.em)


def _row_words(canvas: Canvas, row: float) -> tuple[float, int]:
    """The type scale of row labels, and that every how-many-th is written."""
    em = canvas.em
    for scale in (fonts.NORMAL, fonts.SMALL, 0.76, SMALLEST):
        if row >= LINE * em * scale:
            return scale, 1
    return SMALLEST, round_step(LINE * SMALLEST * em / max(row, 0.1))


def _together(count: int, cell: float, least: float, ratio: float) -> int:
    """How many of many cells share one place, so that it has at least so many device pixels."""
    if count <= FEW or cell * ratio >= least:
        return 1
    return math.ceil(least / (cell * ratio))


def _even(start: float, cell: float, count: int, ratio: float) -> np.ndarray:
    """Edges that use the whole width, so that strips of other widths end at the same place."""
    if cell * ratio >= 24:
        return edges(start, cell, count, ratio)
    return round(start * ratio) + np.round(np.arange(count + 1) * cell * ratio).astype(np.int64)


def _down(canvas: Canvas, stack: Stack) -> StackLayout:
    em, ratio = canvas.em, canvas.devicePixelRatioF()
    width, height = canvas.width(), canvas.height()
    rows = [max(strip.matrix.values.shape[0], 1) for strip in stack.strips]
    head, gap = 1.45 * em, 0.45 * em
    count = len(rows)
    free = height - count * (head + gap)
    low = (LOW_NUMBERED_ROW if is_numbered(stack) else LOW_ROW) * em
    plot = _plot_height(canvas, stack, free - low * sum(rows))
    row = (free - plot) / sum(rows)
    columns, per_column, in_slot = 1, count, False
    if row < low and count > 2:
        # an odd number of strips leaves a free place for the plot
        per_column = (count + 1) // 2
        in_slot = stack.curves is not None and count % 2 == 1
        fuller = max(sum(rows[:per_column]), sum(rows[per_column:]))
        free = height - per_column * (head + gap)
        below = 0.0 if in_slot else _plot_height(canvas, stack, free - low * fuller)
        two = (free - below) / fuller
        if two > row:
            columns, row = 2, two
        else:
            per_column, in_slot = count, False
    # more rows than pixels: so many of them share one
    together = _together(max(rows), row, 1.0, ratio)
    scale, step = _row_words(canvas, row)
    row = whole_pixels(min(row * together, TALLEST_ROW * em), ratio)
    if together == 1:
        scale, step = _row_words(canvas, row)
    lines = [math.ceil(count / together) for count in rows]
    room = width / columns
    names = max(_label_width(canvas, strip.matrix.row_labels, 7.0) for strip in stack.strips)
    notes = _notes_width(canvas, stack, row)
    if names + notes + 0.6 * em > MOST_WORDS * room:
        notes = 0.0
    labels = min(names + notes + 0.6 * em, MOST_WORDS * room)
    figure = ((2.5 if columns == 1 else 1.7) + 0.6 * stack.decimals) * em
    plot_column = columns - 1 if in_slot else 0
    places = []
    for number, strip in enumerate(stack.strips):
        column, slot = divmod(number, per_column)
        right = 0.9 * em
        if any(figures.strip // per_column == column for figures in stack.figures):
            right = max(right, _figures_beside(stack) * figure + 0.7 * em)
        if column == plot_column:
            right = max(right, _legend(canvas, stack) + 0.7 * em)
        left = column * room + labels
        top = slot * (head + gap) + sum(lines[column * per_column : number]) * row
        across = room - labels - right - (0.8 * em if column < columns - 1 else 0.0)
        strip_columns = max(strip.matrix.values.shape[1], 1)
        cell = min(max(across, 4 * em) / strip_columns, 6 * em)
        beside_each_other = _together(strip_columns, cell, 1.0, ratio)
        wide = Span(0, strip_columns, beside_each_other, beside_each_other)
        cell = max(across, 4 * em) / wide.blocks if wide.block > 1 else cell
        spaced = 1 if cell * ratio >= 6 and row * ratio >= 6 else 0
        cells = Cells(
            _even(left, cell, wide.blocks, ratio),
            edges(top + head, row, lines[number], ratio),
            ratio,
            spaced,
            Span(0, rows[number], together, together),
            wide,
        )
        end = cells.bounds().right() + 0.5 * em
        written = tuple(
            (end + place * figure, end + (place + 1) * figure - 0.4 * em)
            for place in range(sum(figures.strip == number for figures in stack.figures))
        )
        title_end = room * (column + 1) - (right if written else 0.6 * em)
        words = (column * room, left - 0.5 * em - notes)
        beside = (words[1] + NOTE_GAP * em, left - 0.5 * em) if notes else None
        title = QRectF(left, top, title_end - left, head)
        places.append(StripPlace(cells, title, words, scale, step, written, None, beside))
    area, follows = _plot_area(canvas, places, per_column if in_slot else 0, stack, columns)
    return StackLayout(tuple(places), area, follows)


def _plot_height(canvas: Canvas, stack: Stack, spare: float) -> float:
    """As high as it would like to be, less where that leaves the rows room to be read.

    spare: what the rows at their least height leave
    """
    curves = stack.curves
    if curves is None:
        return 0.0
    wished = min(max(curves.share * canvas.height(), 5.2 * canvas.em), 0.5 * canvas.height())
    least = (LEAST_PROFILE if curves.aligned else LEAST_PLOT) * canvas.em
    return min(wished, max(spare, least))


def _notes_width(canvas: Canvas, stack: Stack, row: float) -> float:
    """Room for the words between labels and cells; none where they could not be read."""
    texts = {text for strip in stack.strips for text in strip.matrix.row_notes}
    if not any(texts) or row < NOTED_ROW:
        return 0.0
    face = canvas.face(NOTE_SCALE)
    return min(max(map(face.width, texts)), 6.5 * canvas.em) + NOTE_GAP * canvas.em


def _figures_beside(stack: Stack) -> int:
    """The most columns of figures that a strip has."""
    strips = [figures.strip for figures in stack.figures]
    return max((strips.count(number) for number in strips), default=0)


def _plot_area(
    canvas: Canvas, places: list[StripPlace], second: int, stack: Stack, columns: int
) -> tuple[QRectF | None, int]:
    """Below all strips, or below those from `second` on, in the second column."""
    if stack.curves is None:
        return None, 0
    em, height, width = canvas.em, canvas.height(), canvas.width()
    above = places[second:]
    top = max(place.cells.bounds().bottom() for place in above) + 0.5 * em
    if height - top < 3.2 * em:
        return None, 0
    bottom = min(height, top + 19 * em)
    left = above[0].labels[0]
    right = width if second or columns == 1 or not stack.curves.aligned else width / columns
    return QRectF(left, top, right - left, bottom - top), second


def _legend(canvas: Canvas, stack: Stack) -> float:
    """Room for the names of the lines to the right of a plot that follows the columns.

    The same at every step, so that the strips stay where they are.
    """
    return 4.2 * canvas.em if stack.curves is not None and stack.curves.aligned else 0.0


def _across(canvas: Canvas, stack: Stack) -> StackLayout:
    """Side by side; a strip of one row stands above the next one, to leave the cells the width."""
    em, ratio = canvas.em, canvas.devicePixelRatioF()
    width, height = float(canvas.width()), float(canvas.height())
    groups = _groups(stack)
    shapes = [strip.matrix.values.shape for strip in stack.strips]
    foot = 1.5 * em if any(strip.matrix.column_title for strip in stack.strips) else 0.3 * em
    legend = 1.6 * em if stack.legend else 0.0
    between, beside = 2.0 * em, 0.5 * em
    notes = _notes_width(canvas, stack, NOTED_ROW)
    words = [
        max(_label_width(canvas, stack.strips[n].matrix.row_labels, 6.0) for n in group) + notes
        for group in groups
    ]
    wide = [max(shapes[n][1] for n in group) for group in groups]
    free = width - sum(words) - len(words) * beside - (len(words) - 1) * between - 0.5 * em
    cell_w = max(free, em) / max(sum(wide), 1)
    names = {text for strip in stack.strips for text in strip.matrix.column_labels}
    scale, longest = _level_scale(canvas, names, cell_w)
    flat = scale is not None
    title = 1.6 * em
    head = title + (1.6 * em if flat else longest + 0.8 * em)
    heights = [len(group) * (head + foot) for group in groups]
    tall = [sum(shapes[n][0] for n in group) for group in groups]
    cell_h = min((height - legend - h) / rows for h, rows in zip(heights, tall, strict=True))
    cell_h = max(cell_h, 2 / ratio if max(tall) <= FEW else 0.1)
    cell_h = min(cell_h, cell_w, WIDEST_CELL * em)
    cell_w = min(cell_w, max(1.6 * cell_h, longest + 0.5 * em if flat else 0.0))
    row_scale, step = _row_words(canvas, cell_h)
    abreast = _together(max(wide), cell_w, 2.0, ratio)
    stacked = _together(max(tall), cell_h, 2.0, ratio)
    column_step = math.ceil(1.3 * em * fonts.SMALL / cell_w) if not flat else 1
    cell_w, cell_h = cell_w * abreast, cell_h * stacked
    cell_w, cell_h = (max(math.floor(side * ratio), 2) / ratio for side in (cell_w, cell_h))
    if stacked == 1:
        row_scale, step = _row_words(canvas, cell_h)
    spaced = 1 if min(cell_w, cell_h) * ratio >= 6 else 0
    places: list[StripPlace] = []
    left = 0.0
    for group, word, most in zip(groups, words, wide, strict=True):
        start, top = left + word + beside, 0.0
        across = math.ceil(most / abreast)
        for number in group:
            strip, (rows, columns) = stack.strips[number], shapes[number]
            down, wide_span = Span(0, rows, stacked, stacked), Span(0, columns, abreast, abreast)
            cells = Cells(
                edges(start, cell_w, wide_span.blocks, ratio),
                edges(top + head, cell_h, down.blocks, ratio),
                ratio,
                spaced,
                down,
                wide_span,
            )
            # a title may be wider than its cells
            heading = QRectF(start, top, across * cell_w + between + 0.6 * word, title)
            noted = notes if strip.matrix.row_notes else 0.0
            labels = (left, start - beside - noted)
            note = (labels[1] + NOTE_GAP * em, start - beside) if noted else None
            places.append(
                StripPlace(
                    cells,
                    heading,
                    labels,
                    row_scale,
                    step,
                    (),
                    flat,
                    note,
                    scale or fonts.SMALL,
                    column_step,
                )
            )
            top += head + down.blocks * cell_h + foot
        left = start + across * cell_w + between
    end = max(place.cells.bounds().bottom() for place in places) + foot
    below = QRectF(places[0].cells.bounds().left(), end, width, legend) if stack.legend else None
    return StackLayout(tuple(places), legend=below)


def _groups(stack: Stack) -> list[list[int]]:
    """Which strips stand above each other."""
    groups: list[list[int]] = [[]]
    for number in range(len(stack.strips)):
        if groups[-1] and stack.strips[groups[-1][-1]].matrix.values.shape[0] > 1:
            groups.append([])
        groups[-1].append(number)
    return groups


def _level_scale(canvas: Canvas, names: set[str], cell: float) -> tuple[float | None, float]:
    """The type scale at which all column labels fit level above cells, and the longest of them."""
    longest = 0.0
    for scale in (fonts.SMALL, 0.76, SMALLEST):
        longest = max(map(canvas.face(scale).width, names), default=0.0)
        if longest + 0.35 * canvas.em <= cell:
            return scale, longest
    face = canvas.face(fonts.SMALL)
    return None, min(max(map(face.width, names), default=0.0), 5.5 * canvas.em)
