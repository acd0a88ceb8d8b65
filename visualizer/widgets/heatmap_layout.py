"""Where everything of a labelled heatmap lies, in the space there is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from PySide6.QtCore import QRectF

from visualizer import fonts
from visualizer.lenses.picture import Matrix
from visualizer.widgets import figures
from visualizer.widgets.canvas import Canvas

Slant = Literal["flat", "tilted", "upright"]
TILT = 45.0
# The line of the words under column labels, in parts of the font's size.
NOTE_LINE = 1.1
# Row labels become this small, in parts of the font's size, before some are left out.
SMALLEST_LABEL = 0.72


@dataclass(frozen=True, eq=False)
class Cells:
    """The grid. x (columns + 1,), y (rows + 1,): ascending edges in whole device pixels."""

    x: np.ndarray
    y: np.ndarray
    ratio: float
    gap: int

    def at(self, px: float, py: float) -> tuple[int, int] | None:
        """The cell at a logical position; the very edges that were painted decide."""
        dx, dy = math.floor(px * self.ratio), math.floor(py * self.ratio)
        if not (self.x[0] <= dx < self.x[-1] and self.y[0] <= dy < self.y[-1]):
            return None
        column = int(np.searchsorted(self.x, dx, side="right")) - 1
        row = int(np.searchsorted(self.y, dy, side="right")) - 1
        return row, column

    def rect(self, row: int, column: int) -> QRectF:
        """A cell without its gap, in logical pixels."""
        x0, x1 = int(self.x[column]), int(self.x[column + 1]) - self.gap
        y0, y1 = int(self.y[row]), int(self.y[row + 1]) - self.gap
        r = self.ratio
        return QRectF(x0 / r, y0 / r, (x1 - x0) / r, (y1 - y0) / r)

    def bounds(self) -> QRectF:
        r = self.ratio
        x0, y0 = int(self.x[0]), int(self.y[0])
        width, height = int(self.x[-1]) - self.gap - x0, int(self.y[-1]) - self.gap - y0
        return QRectF(x0 / r, y0 / r, width / r, height / r)

    def column_centres(self) -> np.ndarray:
        return (self.x[:-1] + self.x[1:] - self.gap) / (2 * self.ratio)

    def row_centres(self) -> np.ndarray:
        return (self.y[:-1] + self.y[1:] - self.gap) / (2 * self.ratio)


@dataclass(frozen=True, eq=False)
class Layout:
    """All places in logical pixels; label columns as (left, right).

    row_title: where the rows' title lies flat, above their labels
    row_title_x: where it stands upright beside them
    """

    cells: Cells
    slant: Slant
    column_scale: float
    row_scale: float
    column_step: int
    row_step: int
    row_labels: tuple[float, float]
    row_notes: tuple[float, float] | None
    row_title_x: float | None
    row_title: QRectF | None
    caption_right: float
    head_height: float
    colour_bar: QRectF | None
    legend: QRectF | None


def edges(start: float, cell: float, count: int, ratio: float) -> np.ndarray:
    """count + 1 whole device pixels; large cells are all equally large."""
    first = round(start * ratio)
    size = cell * ratio
    if size >= 6:
        return first + np.arange(count + 1) * int(size)
    return first + np.round(np.arange(count + 1) * size).astype(np.int64)


def whole_pixels(size: float, ratio: float) -> float:
    """A row's height as whole device pixels, where rows are high enough to look unequal else."""
    if size * ratio < 6:
        return max(size, 1.0 / ratio)
    return math.floor(size * ratio) / ratio


def shown_labels(count: int, step: int, current: int | None) -> list[int]:
    """Every step-th label, and the current one in place of those it would touch."""
    places = list(range(0, count, step))
    if current is None or not 0 <= current < count or current % step == 0:
        return places
    return sorted([p for p in places if abs(p - current) >= step] + [current])


def round_step(least: float) -> int:
    """The next of 1, 2, 5, 10, 20, 50 … that is not below `least`."""
    power = 1
    while True:
        for digit in (1, 2, 5):
            if digit * power >= least:
                return digit * power
        power *= 10


def arrange(canvas: Canvas, matrix: Matrix, legend: str, width: float, height: float) -> Layout:
    """Give the cells as much room as the labels leave, and the labels what they need."""
    upright = _arrange(canvas, matrix, legend, width, height)
    title = canvas.face(fonts.SMALL).width(matrix.row_title)
    if title <= upright.cells.bounds().height() + 2 * canvas.em:
        return upright
    # beside so few rows the title would run out above and below them
    return _arrange(canvas, matrix, legend, width, height, flat_title=True)


def _arrange(
    canvas: Canvas,
    matrix: Matrix,
    legend: str,
    width: float,
    height: float,
    flat_title: bool = False,
) -> Layout:
    em = canvas.em
    ratio = canvas.devicePixelRatioF()
    rows, columns = matrix.values.shape
    small, large = canvas.face(fonts.SMALL), canvas.face(fonts.LARGE)

    row_widest = max((large.width(t) for t in matrix.row_labels), default=0.0)
    note_widest = max((small.width(t) for t in matrix.row_notes), default=0.0)
    title_w = 1.9 * em if matrix.row_title and not flat_title else 0.0
    label_w = min(row_widest, max(0.2 * width, 4 * em))
    note_w = min(note_widest, max(0.16 * width, 4 * em))
    left = title_w + label_w + (note_w + 0.7 * em if note_w else 0.0) + 0.7 * em
    lines = 0
    if flat_title:
        left = max(left, min(small.width(matrix.row_title) + 1.2 * em, 9 * em))
        lines = math.ceil(small.width(matrix.row_title) / (0.85 * (left - 0.9 * em)))

    has_bar = matrix.palette != "mask"
    legend = legend if matrix.hidden is not None or matrix.palette == "mask" else ""
    right = 0.0
    if has_bar:
        ends = (figures.bound(v) for v in (matrix.low, matrix.high, (matrix.low + matrix.high) / 2))
        right = 2.4 * em + max(small.width(t) for t in ends)
    if legend:
        right = max(right, min(2.6 * em + small.width(legend), 9 * em))

    room = max(width - left - right, 2 * em)
    widest = max(5.3 * em, min(8.4 * em, 0.12 * width))
    cell_w = min(room / columns, widest)
    slant, column_scale, column_step, head, overhang = _head(canvas, matrix, cell_w)
    if overhang > right + (room - cell_w * columns):
        room = max(width - left - overhang, 2 * em)
        cell_w = min(room / columns, widest)
    head = max(head, lines * 1.3 * em + 0.5 * em)

    foot = 1.9 * em if matrix.column_title else 0.4 * em
    room_h = max(height - head - foot, em)
    cell_h = min(room_h / rows, max(4.7 * em, min(7.4 * em, 0.16 * height)))
    cell_h = min(cell_h, max(cell_w, 2.7 * em))
    words = 0.0
    if slant == "flat" and column_step == 1 and matrix.column_labels:
        face = canvas.face(column_scale)
        words = max(face.width(t) for t in matrix.column_labels) + 0.5 * em
    cell_w = min(cell_w, max(1.3 * cell_h, 3.2 * em, words))

    used = left + cell_w * columns + right
    x0 = max((width - used) / 2, 0.0) + left
    gap = 0
    least = min(cell_w, cell_h) * ratio
    if least >= 7:
        gap = max(1, round(ratio * (1.5 if least >= 18 * ratio else 1)))
    # a matrix that needs less than its room stands in it a little above the middle
    top = head + 0.4 * max(room_h - rows * cell_h, 0.0)
    cells = Cells(edges(x0, cell_w, columns, ratio), edges(top, cell_h, rows, ratio), ratio, gap)

    row_scale = min(max(cell_h / (2.6 * em), fonts.SMALL), fonts.LARGE)
    row_scale = min(row_scale, max(cell_h / (1.2 * em), SMALLEST_LABEL))
    row_line = 1.2 * em * row_scale
    row_step = 1 if cell_h >= row_line - 0.5 else round_step(row_line / cell_h)
    area = cells.bounds()
    note_right = area.left() - 0.7 * em
    note_left = note_right - note_w
    label_right = note_left - 0.7 * em if note_w else note_right
    label_left = label_right - label_w

    bar = key = None
    bar_left = area.right() + 1.1 * em
    if has_bar:
        tall = min(area.height(), 15 * em)
        bar = QRectF(bar_left, area.top(), 0.85 * em, tall)
    if legend:
        below = bar.bottom() + 1.0 * em if bar is not None else area.top()
        if below + 1.2 * em <= height:
            key = QRectF(bar_left, below, width - bar_left, 1.2 * em)
    beside = key is not None and key.bottom() > area.bottom() + 0.2 * em
    title = None
    if flat_title:
        title = QRectF(0.3 * em, 0.0, area.left() - 0.9 * em, area.top() - 0.4 * em)
    return Layout(
        cells=cells,
        slant=slant,
        column_scale=column_scale,
        row_scale=row_scale,
        column_step=column_step,
        row_step=row_step,
        row_labels=(max(label_left, title_w), label_right),
        row_notes=(note_left, note_right) if note_w else None,
        row_title_x=label_left - 1.2 * em if title_w else None,
        row_title=title,
        caption_right=bar_left - 0.6 * em if beside else width + 0.5 * em,
        head_height=head,
        colour_bar=bar,
        legend=key,
    )


def _head(canvas: Canvas, matrix: Matrix, cell_w: float) -> tuple[Slant, float, int, float, float]:
    """How column labels are written: slant, type scale, step, height, reach to the right."""
    em = canvas.em
    labels = matrix.column_labels
    if not labels:
        return "flat", fonts.NORMAL, 1, 0.6 * em, 0.0
    below = NOTE_LINE * em if any(matrix.column_notes) else 0.0
    for scale in (fonts.LARGE, fonts.NORMAL, fonts.SMALL):
        widest = max(canvas.face(scale).width(t) for t in labels)
        if widest + 0.5 * em <= cell_w:
            return "flat", scale, 1, 2.2 * em + below, 0.0
    if below:
        labels = tuple(map(" ".join, zip(labels, matrix.column_notes, strict=True)))
    small = canvas.face(fonts.SMALL)
    widest = max(small.width(t) for t in labels)
    line = 1.3 * em * fonts.SMALL
    if all(t.lstrip("-").isdecimal() for t in labels):
        return "flat", fonts.SMALL, round_step((widest + 0.5 * em) / cell_w), 1.7 * em, 0.0
    longest = min(widest, 7 * em)
    if cell_w >= 1.45 * line:
        reach = longest * math.cos(math.radians(TILT))
        # How far the labels stick out beyond the last cell; the last one not always the farthest.
        cosine = math.cos(math.radians(TILT))
        beyond = max(
            min(small.width(t), longest) * cosine - (len(labels) - i - 0.5) * cell_w
            for i, t in enumerate(labels)
        )
        return "tilted", fonts.SMALL, 1, reach + 1.1 * em, max(beyond + 0.8 * em, 0.0)
    step = 1 if cell_w >= line else round_step(line / cell_w)
    return "upright", fonts.SMALL, step, longest + 0.9 * em, 0.0
