"""Where everything of a labelled heatmap lies, in the space there is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF

from visualizer import fonts
from visualizer.lenses.blocks import Span, spans
from visualizer.lenses.numbers import round_step
from visualizer.lenses.picture import Matrix
from visualizer.widgets import figures
from visualizer.widgets.canvas import Canvas
from visualizer.widgets.column_heads import Slant, column_head
from visualizer.widgets.label_widths import widest
from visualizer.widgets.viewport import Viewport

# Row labels become this small, in parts of the font's size, before some are left out.
SMALLEST_LABEL = 0.72
# In cells smaller than this no number can be read, in parts of the font's size.
READABLE = (1.3, 0.95)
# The buttons below the colour bar and the small picture of the whole.
BUTTON, BETWEEN, MINIMAP = 1.7, 0.25, 8.5


@dataclass(frozen=True, eq=False)
class Cells:
    """The grid. x (columns + 1,), y (rows + 1,): ascending edges in whole device pixels.

    rows, columns: which cells of the matrix these are, where they are not all of them, and how
    many of them are put together where there are more cells than pixels
    """

    x: np.ndarray
    y: np.ndarray
    ratio: float
    gap: int
    rows: Span | None = None
    columns: Span | None = None

    def block_at(self, px: float, py: float) -> tuple[int, int] | None:
        """What is painted at a logical position; the very edges that were painted decide."""
        dx, dy = math.floor(px * self.ratio), math.floor(py * self.ratio)
        if not (self.x[0] <= dx < self.x[-1] and self.y[0] <= dy < self.y[-1]):
            return None
        column = int(np.searchsorted(self.x, dx, side="right")) - 1
        row = int(np.searchsorted(self.y, dy, side="right")) - 1
        return row, column

    def at(self, px: float, py: float) -> tuple[int, int] | None:
        """The cell at a logical position, of several that are put together the first."""
        found = self.block_at(px, py)
        if found is None:
            return None
        return _cell_in(self.rows, found[0]), _cell_in(self.columns, found[1])

    def shows(self, row: int, column: int) -> bool:
        return 0 <= _place_in(self.rows, row) < len(self.y) - 1 and (
            0 <= _place_in(self.columns, column) < len(self.x) - 1
        )

    def rect(self, row: int, column: int) -> QRectF:
        """A cell without its gap, in logical pixels; empty where it is not on show."""
        if not self.shows(row, column):
            return QRectF()
        row, column = _place_in(self.rows, row), _place_in(self.columns, column)
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

    def column_centre(self, column: int) -> float:
        place = _place_in(self.columns, column)
        return float(self.x[place] + self.x[place + 1] - self.gap) / (2 * self.ratio)

    def row_centre(self, row: int) -> float:
        place = _place_in(self.rows, row)
        return float(self.y[place] + self.y[place + 1] - self.gap) / (2 * self.ratio)

    def smallest(self) -> QRectF:
        """The room that every cell has at least, without its gap."""
        width = (int(np.diff(self.x).min()) - self.gap) / self.ratio
        height = (int(np.diff(self.y).min()) - self.gap) / self.ratio
        return QRectF(0, 0, width, height)


def _cell_in(span: Span | None, place: int) -> int:
    return place if span is None else span.first + place * span.block


def _place_in(span: Span | None, cell: int) -> int:
    if span is None:
        return cell
    return (cell - span.first) // span.block if cell < span.first + span.count else -1


@dataclass(frozen=True, eq=False)
class Layout:
    """All places in logical pixels; label columns as (left, right).

    row_title: where the rows' title lies flat, above their labels
    row_title_x: where it stands upright beside them
    legend: of the hatch     buttons: that zoom     minimap: the whole, where a part is on show
    readable: whether numbers would find room in the cells
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
    buttons: QRectF | None
    minimap: QRectF | None
    readable: bool

    @property
    def rows(self) -> Span:
        """The rows on show."""
        return self.cells.rows or Span(0, len(self.cells.y) - 1)

    @property
    def columns(self) -> Span:
        """The columns on show."""
        return self.cells.columns or Span(0, len(self.cells.x) - 1)


def edges(start: float, cell: float, count: int, ratio: float) -> np.ndarray:
    """count + 1 whole device pixels; large cells are all equally large."""
    first = round(start * ratio)
    size = cell * ratio
    if size >= 6:
        return first + np.arange(count + 1) * int(size)
    return first + np.round(np.arange(count + 1) * size).astype(np.int64)


def _shared(start: float, cell: float, count: int, ratio: float) -> np.ndarray:
    """Edges that use the room to the pixel, so that nothing around a part moves with its size."""
    return round(start * ratio) + np.round(np.arange(count + 1) * cell * ratio).astype(np.int64)


def whole_pixels(size: float, ratio: float) -> float:
    """A row's height as whole device pixels, where rows are high enough to look unequal else."""
    if size * ratio < 6:
        return max(size, 1.0 / ratio)
    return math.floor(size * ratio) / ratio


def shown_labels(count: int, step: int, current: int | None, first: int = 0) -> list[int]:
    """Every step-th label, and the current one in place of those it would touch.

    first: the first of the `count` labels that there is room for
    """
    places = list(range(-(-first // step) * step, first + count, step))
    if current is None or not first <= current < first + count or current % step == 0:
        return places
    return sorted([p for p in places if abs(p - current) >= step] + [current])


def arrange(
    canvas: Canvas,
    matrix: Matrix,
    legend: str,
    width: float,
    height: float,
    view: Viewport | None = None,
) -> Layout:
    """Give the cells as much room as the labels leave, and the labels what they need."""
    view = view or Viewport.whole(matrix.values.shape)
    room = _Room(canvas, matrix, legend, width, height, view)
    layout = room.arranged(tools=not view.is_whole)
    tools = not view.is_whole or not layout.readable
    if tools and view.is_whole:
        layout = room.arranged(tools=True)
    title = canvas.face(fonts.SMALL).width(matrix.row_title)
    if title <= layout.cells.bounds().height() + 2 * canvas.em:
        return layout
    # beside so few rows the title would run out above and below them
    return room.arranged(tools, flat_title=True)


@dataclass(frozen=True, eq=False)
class _Room:
    """What has to be placed, and where."""

    canvas: Canvas
    matrix: Matrix
    legend: str
    width: float
    height: float
    view: Viewport

    def arranged(self, tools: bool, flat_title: bool = False) -> Layout:
        canvas, matrix, width, height = self.canvas, self.matrix, self.width, self.height
        em, ratio, zoomed = canvas.em, canvas.devicePixelRatioF(), not self.view.is_whole
        small, large = canvas.face(fonts.SMALL), canvas.face(fonts.LARGE)

        title_w = 1.9 * em if matrix.row_title and not flat_title else 0.0
        label_w = min(widest(large, matrix.row_labels), max(0.2 * width, 4 * em))
        note_w = min(widest(small, matrix.row_notes), max(0.16 * width, 4 * em))
        left = title_w + label_w + (note_w + 0.7 * em if note_w else 0.0) + 0.7 * em
        lines = 0
        if flat_title:
            left = max(left, min(small.width(matrix.row_title) + 1.2 * em, 9 * em))
            lines = math.ceil(small.width(matrix.row_title) / (0.85 * (left - 0.9 * em)))
        right = self._right(tools)

        room = max(width - left - right, 2 * em)
        most = max(5.3 * em, min(8.4 * em, 0.12 * width))
        across = spans(matrix.values.shape, (1, int(room * ratio)), self.view.window)[1]
        columns = across.blocks
        cell_w = room / columns if zoomed else min(room / columns, most)
        heads = column_head(canvas, matrix, cell_w / across.block, zoomed)
        slant, column_scale, column_step, head, overhang = heads
        if overhang > right + (room - cell_w * columns):
            room = max(width - left - overhang, 2 * em)
            cell_w = room / columns if zoomed else min(room / columns, most)
        head = max(head, lines * 1.3 * em + 0.5 * em)

        foot = 1.9 * em if matrix.column_title else 0.4 * em
        room_h = max(height - head - foot, em)
        pixels = int(room_h * ratio), int(room * ratio)
        down, across = spans(matrix.values.shape, pixels, self.view.window)
        rows, columns = down.blocks, across.blocks
        cell_h = room_h / rows
        if not zoomed:
            cell_h = min(cell_h, max(4.7 * em, min(7.4 * em, 0.16 * height)))
            cell_h = min(cell_h, max(cell_w, 2.7 * em))
            words = 0.0
            if slant == "flat" and column_step == 1 and matrix.column_labels:
                words = widest(canvas.face(column_scale), matrix.column_labels) + 0.5 * em
            cell_w = min(cell_w, max(1.3 * cell_h, 3.2 * em, words))

        used = left + cell_w * columns + right
        x0 = max((width - used) / 2, 0.0) + left
        gap = 0
        least = min(cell_w, cell_h) * ratio
        if least >= 7:
            gap = max(1, round(ratio * (1.5 if least >= 18 * ratio else 1)))
        # a matrix that needs less than its room stands in it a little above the middle
        top = head + 0.4 * max(room_h - rows * cell_h, 0.0)
        lines_at = _shared if zoomed else edges
        x, y = lines_at(x0, cell_w, columns, ratio), lines_at(top, cell_h, rows, ratio)
        cells = Cells(x, y, ratio, gap, down, across)

        cell_h /= down.block
        row_scale = min(max(cell_h / (2.6 * em), fonts.SMALL), fonts.LARGE)
        row_scale = min(row_scale, max(cell_h / (1.2 * em), SMALLEST_LABEL))
        row_line = 1.2 * em * row_scale
        row_step = 1 if cell_h >= row_line - 0.5 else round_step(row_line / cell_h)
        area = cells.bounds()
        note_right = area.left() - 0.7 * em
        note_left = note_right - note_w
        label_right = note_left - 0.7 * em if note_w else note_right
        label_left = label_right - label_w
        title = None
        if flat_title:
            title = QRectF(0.3 * em, 0.0, area.left() - 0.9 * em, area.top() - 0.4 * em)
        bar, key, buttons, minimap = self._beside(area, tools)
        lowest = max((r.bottom() for r in (key, buttons, minimap) if r is not None), default=0.0)
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
            caption_right=area.right() + 0.5 * em
            if lowest > area.bottom() + 0.2 * em
            else width + 0.5 * em,
            head_height=head,
            colour_bar=bar,
            legend=key,
            buttons=buttons,
            minimap=minimap,
            readable=cell_w >= READABLE[0] * em and cell_h >= READABLE[1] * em,
        )

    @property
    def _has_bar(self) -> bool:
        return self.matrix.palette != "mask"

    @property
    def _has_legend(self) -> bool:
        matrix = self.matrix
        return bool(self.legend) and (matrix.hidden is not None or matrix.palette == "mask")

    def _right(self, tools: bool) -> float:
        """What stands to the right of the cells needs so much."""
        em, small, matrix = self.canvas.em, self.canvas.face(fonts.SMALL), self.matrix
        right = 0.0
        if self._has_bar:
            ends = (matrix.low, matrix.high, (matrix.low + matrix.high) / 2)
            right = 2.4 * em + max(small.width(figures.bound(value)) for value in ends)
        if self._has_legend:
            right = max(right, min(2.6 * em + small.width(self.legend), 9 * em))
        if tools:
            needed = 3 * BUTTON + 2 * BETWEEN if self.view.is_whole else MINIMAP
            right = max(right, (needed + 1.3) * em)
        return right

    def _beside(
        self, area: QRectF, tools: bool
    ) -> tuple[QRectF | None, QRectF | None, QRectF | None, QRectF | None]:
        """Colour bar, legend, buttons and minimap, one below the other."""
        em = self.canvas.em
        left = area.right() + 1.1 * em
        buttons = minimap = None
        end = area.bottom()
        if tools:
            size = (0.0, 0.0) if self.view.is_whole else self._minimap_size(area)
            tall = BUTTON * em + (size[1] + 0.5 * em if size[1] else 0.0)
            # below a picture of few rows, as far as there is room
            end = min(max(area.bottom(), area.top() + tall + 4 * em), self.height)
            if size[1]:
                minimap = QRectF(left, end - size[1], size[0], size[1])
            wide = (3 * BUTTON + 2 * BETWEEN) * em
            buttons = QRectF(left, end - tall, wide, BUTTON * em)
            end = buttons.top() - 0.8 * em
        bar = key = None
        if self._has_bar:
            under = 2.2 * em if self._has_legend and tools else 0.0
            high = min(area.height(), 15 * em, max(end - area.top() - under, 2.5 * em))
            bar = QRectF(left, area.top(), 0.85 * em, high)
        if self._has_legend:
            below = bar.bottom() + 1.0 * em if bar is not None else area.top()
            if below + 1.2 * em <= (end if tools else self.height):
                key = QRectF(left, below, self.width - left, 1.2 * em)
        return bar, key, buttons, minimap

    def _minimap_size(self, area: QRectF) -> tuple[float, float]:
        """As the matrix is shaped, within bounds; none beside a picture that is too low for it."""
        em = self.canvas.em
        rows, columns = self.view.shape
        most_w, most_h = MINIMAP * em, min(MINIMAP * em, 0.42 * area.height())
        if most_h < 1.5 * em:
            return 0.0, 0.0
        scale = min(most_w / columns, most_h / rows)
        least = 1.5 * em
        return max(columns * scale, least), max(rows * scale, least)
