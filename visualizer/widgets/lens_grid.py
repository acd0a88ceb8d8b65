"""The logit lens over a whole sentence: per decoder row and state the likeliest token."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from visualizer import fonts
from visualizer.lenses.logit_lens import LensGrid
from visualizer.theme import INK_DARK, INK_LIGHT
from visualizer.widgets import figures
from visualizer.widgets.canvas import CENTRE, LEFT, RIGHT, Canvas, Face, box, triangle, write
from visualizer.widgets.heatmap_cells import as_image, colour_indices
from visualizer.widgets.heatmap_layout import Cells, edges, round_step, shown_labels, whole_pixels
from visualizer.widgets.lens_bars import PATIENCE

# Cells grow no larger than this, in em: beyond it the eye loses the line.
WIDEST, HIGHEST = 9.5, 4.2
# From here on, in em, a cell has room for its token, and for a number below it.
TOKEN_HEIGHT, ROOMY_WIDTH = 1.15, 2.2
NUMBER_WIDTH, NUMBER_HEIGHT = 3.2, 2.5
# In narrower cells tokens are written only where so many of them need not be cut.
WHOLE = 0.6


@dataclass(frozen=True, eq=False)
class Layout:
    """The cells, where labels and notes of the rows lie (left, right), what there is room for.

    named: the sublayers    lettered: the tokens    numbered: their probabilities
    """

    cells: Cells
    labels: tuple[float, float]
    notes: tuple[float, float]
    row_step: int
    named: bool
    lettered: bool
    numbered: bool


class LensCells(Canvas):
    """cellHovered(row, column), left(), cellClicked(row, column)."""

    # what a right click asks about
    term = "logit_lens"
    cellHovered = Signal(int, int)
    cellClicked = Signal(int, int)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._grid: LensGrid | None = None
        self._layout: Layout | None = None
        self._empty = ""
        self._words = ("", "", "")
        self._generation = 0
        self._hovered: tuple[int, int] | None = None
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE)
        self._patience.timeout.connect(self._give_up)

    # Setters.

    def set_words(self, colour: str, number: str, settled: str) -> None:
        """What the colours tell, the numbers, and a marked corner."""
        self._words = (colour, number, settled)
        self._generation += 1
        self.update()

    def set_empty_text(self, text: str) -> None:
        if text != self._empty:
            self._empty = text
            self.update()

    def set_grid(self, grid: LensGrid | None, waits: bool = False) -> None:
        """waits: the readings are on their way; for a moment the last ones stay on show."""
        if grid is None and waits and self._grid is not None:
            if not self._patience.isActive():
                self._patience.start()
            return
        self._patience.stop()
        same, here = _key(grid) == _key(self._grid), _here(grid) == _here(self._grid)
        if same and here:
            return
        self._grid = grid
        if not same:
            self._hovered = None
            self.relayout()
        self.update()

    def _give_up(self) -> None:
        self.set_grid(None)

    # What can be asked.

    @property
    def grid(self) -> LensGrid | None:
        return self._grid

    def cell_at(self, pos: QPointF) -> tuple[int, int] | None:
        layout = self._ready()
        return None if layout is None else layout.cells.at(pos.x(), pos.y())

    def cell_rect(self, row: int, column: int) -> QRectF:
        layout = self._ready()
        return QRectF() if layout is None else layout.cells.rect(row, column)

    def sizeHint(self) -> QSize:
        return QSize(round(40 * self.em), round(24 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(16 * self.em), round(10 * self.em))

    # Places.

    def relayout(self) -> None:
        self._layout = None
        self._generation += 1

    def _ready(self) -> Layout | None:
        grid, ratio = self._grid, self.devicePixelRatioF()
        if grid is None:
            return None
        if self._layout is None or self._layout.cells.ratio != ratio:
            self._layout = self._arranged(grid, ratio)
        return self._layout

    def _arranged(self, grid: LensGrid, ratio: float) -> Layout:
        em, face, small = self.em, self.face(), self.face(fonts.SMALL)
        rows, columns = len(grid.row_labels), len(grid.columns)
        label = max(face.width(text) for text in grid.row_labels)
        label = min(label, max(0.16 * self.width(), 4 * em))
        note = max((small.width(text) for text in grid.row_notes), default=0.0)
        note = min(note, max(0.12 * self.width(), 4 * em))
        start = label + note + 1.4 * em
        head, foot = 3.1 * em, 2.2 * em
        wide = min((self.width() - start - 0.5 * em) / columns, WIDEST * em)
        high = min((self.height() - head - foot) / rows, HIGHEST * em)
        wide, high = whole_pixels(max(wide, 1.0), ratio), whole_pixels(max(high, 0.5), ratio)
        spare = self.width() - start - wide * columns
        left = max(min(spare / 2, 4 * em), 0.0)
        gap = round(ratio) if min(wide, high) * ratio >= 6 else 0
        cells = Cells(
            edges(left + start, wide, columns, ratio), edges(head, high, rows, ratio), ratio, gap
        )
        return Layout(
            cells=cells,
            labels=(left, left + label),
            notes=(left + label + 0.6 * em, left + label + note + 0.7 * em),
            row_step=1 if high >= 1.15 * em else round_step(1.15 * em / high),
            lettered=high >= TOKEN_HEIGHT * em and self._have_room(grid, wide),
            numbered=wide >= NUMBER_WIDTH * em and high >= NUMBER_HEIGHT * em,
            named=wide >= max(self.face(0.76).width(text) for text in grid.columns) + 0.3 * em,
        )

    def _have_room(self, grid: LensGrid, wide: float) -> bool:
        """Whether cells of this width can show their tokens, most of them whole."""
        if wide >= ROOMY_WIDTH * self.em:
            return True
        ids, counts = np.unique(grid.lens.top_ids, return_counts=True)
        face, room = self._token_face(wide, math.inf), wide - 0.3 * self.em
        fits = [face.width(grid.vocabulary[token]) <= room for token in ids.tolist()]
        return bool(counts[np.array(fits)].sum() >= WHOLE * counts.sum())

    def _token_face(self, wide: float, high: float) -> Face:
        if wide < ROOMY_WIDTH * self.em:
            return self.face(0.76)
        return self.face(fonts.NORMAL if high >= 1.5 * self.em else fonts.SMALL)

    # Painting.

    def paint(self, painter: QPainter) -> None:
        grid, layout = self._grid, self._ready()
        if grid is None or layout is None:
            room = QRectF(self.rect()).adjusted(self.em, self.em, -self.em, -self.em)
            painter.setFont(self.face(fonts.LARGE).font)
            painter.setPen(QColor(self.theme.muted))
            painter.drawText(room, CENTRE | Qt.TextFlag.TextWordWrap, self._empty)
            return
        # a step moves the marks alone
        self.layer(painter, "cells", self._generation, lambda p: self._draw(p, grid, layout))
        self._draw_heads(painter, grid, layout)
        self._draw_rows(painter, grid, layout)
        if grid.current_row is not None and grid.current_column is not None:
            rect = layout.cells.rect(grid.current_row, grid.current_column)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(self.theme.accent), 2.0))
            painter.drawRect(rect.adjusted(-1, -1, 1, 1))
        if self._hovered is not None:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(self.theme.text), 1.5))
            painter.drawRect(layout.cells.rect(*self._hovered).adjusted(-1, -1, 1, 1))

    def _draw(self, painter: QPainter, grid: LensGrid, layout: Layout) -> None:
        index = colour_indices(grid.final_probability, 0.0, 1.0)
        self._draw_cells(painter, layout.cells, index)
        self._draw_tokens(painter, grid, layout, index)
        self._draw_legend(painter, layout)

    def _draw_cells(self, painter: QPainter, cells: Cells, index: np.ndarray) -> None:
        colours = self.theme.packed_table("sequential")[index]
        lines = np.repeat(colours, np.diff(cells.x), axis=1)
        pixels = np.repeat(lines, np.diff(cells.y), axis=0)
        if cells.gap:
            ground = self.theme.color("surface").rgb()
            for step in range(1, cells.gap + 1):
                pixels[cells.y[1:] - cells.y[0] - step] = ground
                pixels[:, cells.x[1:] - cells.x[0] - step] = ground
        image = as_image(pixels)
        image.setDevicePixelRatio(cells.ratio)
        painter.drawImage(cells.bounds().topLeft(), image)

    def _draw_heads(self, painter: QPainter, grid: LensGrid, layout: Layout) -> None:
        """The layers, each with a line over its states, and the sublayers where they fit."""
        theme, em, cells = self.theme, self.em, layout.cells
        top, small = cells.bounds().top(), self.face(fonts.SMALL)
        widest = max((small.width(title) for title, *_ in grid.groups), default=0.0)
        for title, number, first, count in grid.groups:
            span = cells.rect(0, first).united(cells.rect(0, first + count - 1))
            here = grid.current_column is not None and first <= grid.current_column < first + count
            ink = theme.accent if here else theme.muted
            if title and span.width() >= 0.6 * em:
                line = QRectF(span.left(), self.snap(top - 1.75 * em), span.width(), 1.0)
                painter.fillRect(line, QColor(theme.border_strong))
                text = title if span.width() >= widest else number
                place = QRectF(span.left(), top - 3.1 * em, span.width(), 1.3 * em)
                write(painter, place, text, small, ink)
            if not layout.named and title:
                continue
            for column in range(first, first + count):
                rect = cells.rect(0, column)
                own = theme.accent if column == grid.current_column else theme.text
                # a narrow column's name may reach over the labels of the rows
                room = max(rect.width(), self.face(0.76).width(grid.columns[column]))
                place = QRectF(rect.right() - room, top - 1.6 * em, room, 1.5 * em)
                write(painter, place, grid.columns[column], self.face(0.76), own)

    def _draw_rows(self, painter: QPainter, grid: LensGrid, layout: Layout) -> None:
        theme, em = self.theme, self.em
        centres = layout.cells.row_centres()
        face, small = self.face(), self.face(fonts.SMALL)
        for row in shown_labels(len(grid.row_labels), layout.row_step, grid.current_row):
            current = row == grid.current_row
            top = float(centres[row]) - em
            left, right = layout.labels
            place = QRectF(left, top, right - left, 2 * em)
            ink = theme.accent if current else theme.text
            write(painter, place, grid.row_labels[row], face, ink, RIGHT)
            if row < len(grid.row_notes):
                left, right = layout.notes
                place = QRectF(left, top, right - left, 2 * em)
                ink = theme.accent if current else theme.muted
                write(painter, place, grid.row_notes[row], small, ink, LEFT)

    def _draw_tokens(
        self, painter: QPainter, grid: LensGrid, layout: Layout, index: np.ndarray
    ) -> None:
        if not layout.lettered:
            return
        em, first = self.em, layout.cells.rect(0, 0)
        white = self.theme.ink("sequential")[index]
        settled = grid.settled
        face, small = self._token_face(first.width(), first.height()), self.face(0.76)
        narrow = first.width() < ROOMY_WIDTH * em
        rows, columns = index.shape
        for row in range(rows):
            for column in range(columns):
                rect = layout.cells.rect(row, column)
                ink = INK_LIGHT if white[row, column] else INK_DARK
                if settled[row, column]:
                    self._mark(painter, rect, ink)
                inner = rect.adjusted(0.15 * em, 0, -0.15 * em, 0)
                if layout.numbered:
                    half = rect.height() / 2
                    upper = QRectF(inner.left(), rect.top() + 0.12 * half, inner.width(), half)
                    lower = QRectF(inner.left(), rect.center().y(), inner.width(), 0.88 * half)
                    write(painter, upper, grid.token(row, column), face, ink)
                    text = figures.percent_short(grid.probability(row, column))
                    write(painter, lower, text, small, ink)
                elif not narrow or face.width(grid.token(row, column)) <= inner.width():
                    # of a token cut off in so narrow a cell only the dots would be seen
                    write(painter, inner, grid.token(row, column), face, ink)

    def _draw_legend(self, painter: QPainter, layout: Layout) -> None:
        """The colours from 0 to 1 and what they tell, below the cells."""
        em, small, theme = self.em, self.face(fonts.SMALL), self.theme
        bounds = layout.cells.bounds()
        top, left = bounds.bottom() + 0.6 * em, layout.labels[0] + 0.2 * em
        bar = QRectF(self.snap(left + em), self.snap(top + 0.3 * em), 6 * em, 0.8 * em)
        row = self.theme.packed_table("sequential").reshape(1, 256)
        painter.drawImage(bar, as_image(row))
        write(painter, QRectF(left, top, 0.8 * em, 1.4 * em), "0", small, theme.muted, LEFT)
        end = QRectF(bar.right() + 0.4 * em, top, 0.8 * em, 1.4 * em)
        write(painter, end, "1", small, theme.muted, LEFT)
        colour, number, settled = self._words
        text = f"{colour} · {number}" if layout.numbered else colour
        x, right = end.right() + 0.6 * em, float(self.width())
        marked = small.width(settled) + 3.2 * em
        for said in (text, colour):
            if x + small.width(said) + marked <= right:
                break
        room = QRectF(x, top, min(small.width(said) + 1, right - x), 1.4 * em)
        write(painter, room, said, small, theme.muted, LEFT)
        if room.right() + marked <= right and layout.lettered:
            swatch = QRectF(room.right() + 1.2 * em, top + 0.25 * em, 0.95 * em, 0.9 * em)
            box(painter, swatch, theme.chip, theme.border_strong)
            self._mark(painter, swatch, theme.text)
            rest = QRectF(swatch.right() + 0.5 * em, top, small.width(settled) + 1, 1.4 * em)
            write(painter, rest, settled, small, theme.muted, LEFT)

    def _mark(self, painter: QPainter, rect: QRectF, colour: str) -> None:
        """A filled corner: what the cell says is what the model says in the end."""
        side = min(0.5 * self.em, rect.height() / 2)
        x, y = rect.right(), rect.top()
        triangle(painter, [(x - side, y), (x, y), (x, y + side)], colour)

    # The pointer.

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.cell_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)

    def _hover(self, cell: tuple[int, int] | None) -> None:
        if cell == self._hovered:
            return
        self._hovered = cell
        shape = Qt.CursorShape.ArrowCursor if cell is None else Qt.CursorShape.PointingHandCursor
        self.setCursor(shape)
        self.update()
        if cell is None:
            self.left.emit()
        else:
            self.cellHovered.emit(*cell)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position())
        if cell is not None and event.button() == Qt.MouseButton.LeftButton:
            self.cellClicked.emit(*cell)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            cell = self.cell_at(QPointF(event.pos()))
            text = ""
            if cell is not None and self._grid is not None:
                text = "\n".join(self._grid.reading(*cell).hover)
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)


def _key(grid: LensGrid | None) -> tuple[object, ...] | None:
    """What decides the picture, the marks left aside."""
    return None if grid is None else (id(grid.lens), grid.titles, grid.columns)


def _here(grid: LensGrid | None) -> tuple[int | None, int | None]:
    return (None, None) if grid is None else (grid.current_row, grid.current_column)
