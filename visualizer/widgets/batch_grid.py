"""A batch token by token: each with its id below it, padding hatched, what counts tinted."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.lenses.step_batch import BatchCell, BatchGrid, BatchRow, CellKind
from visualizer.widgets.canvas import CENTRE, LEFT, Canvas, box, ink, write

# In parts of the font's size: a line of tokens, the room between pairs, the legend.
LINE, BETWEEN, LEGEND = 2.5, 0.7, 1.9
# A cell and the room beside its token.
LEAST_CELL, AROUND = 2.2, 0.9
# Where all of it has room that large, it is drawn larger.
SCALES = 1.5, 1.3, 1.15


class BatchCells(Canvas):
    """The wheel reaches pairs that have no room, and with Shift positions that have none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._grid: BatchGrid | None = None
        self._empty = ""
        # the first pair and the pixels at the left that are out of sight
        self._first, self._left = 0, 0.0
        self._scale = 1.0

    def set_empty_text(self, text: str) -> None:
        self._empty = text
        self.update()

    def set_grid(self, grid: BatchGrid | None) -> None:
        if grid == self._grid:
            return
        self._grid = grid
        said = "" if grid is None else "; ".join(map(_said, grid.rows[:30]))
        self.describe("" if grid is None else ", ".join(text for _, text in grid.legend), said)
        self.relayout()
        self.update()

    @property
    def grid(self) -> BatchGrid | None:
        return self._grid

    def sizeHint(self) -> QSize:
        return QSize(round(30 * self.em), round(20 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(16 * self.em), self.height_of(1))

    # Places.

    def height_of(self, pairs: int) -> int:
        """What so many pairs take, with the thumb below them."""
        return round((LEGEND + pairs * (3 * LINE + BETWEEN)) * self.em)

    def fair_height(self) -> int:
        """What half of the pairs take; as much as one where there are none yet."""
        return self.height_of(max((self._pairs() + 1) // 2, 1))

    def relayout(self) -> None:
        if self._grid is None:
            return
        for self._scale in (*SCALES, 1.0):
            height = LEGEND * self.em + self._pairs() * self._pair_height
            if height <= self.height() and self._widest() <= self._room():
                break
        self._scroll_to(self._first, self._left)

    @property
    def unit(self) -> float:
        """The font's size, or more where there is room."""
        return self.em * self._scale

    @property
    def _pair_height(self) -> float:
        return (3 * LINE + BETWEEN) * self.unit

    def _widest(self) -> float:
        return max(sum(self.column_widths(side)) for side in ("source", "target"))

    def _room(self) -> float:
        """For the cells, beside the words."""
        return self.width() - self._label_width() - 0.8 * self.em

    def _pairs(self) -> int:
        return 0 if self._grid is None else len(self._grid.rows) // 3

    def _fit(self) -> int:
        room = self.height() - LEGEND * self.em + BETWEEN * self.unit
        return max(int(room / self._pair_height), 1)

    def _label_width(self) -> float:
        assert self._grid is not None
        small = self.face(fonts.SMALL * self._scale)
        number = small.widest(tuple(row.pair for row in self._grid.rows))
        return number + small.widest(tuple(row.reads for row in self._grid.rows)) + 2.4 * self.em

    def column_widths(self, side: str) -> list[float]:
        """Of the positions of one side: as wide as the widest token there, all pairs alike."""
        assert self._grid is not None
        face, em = self.face(self._scale), self.unit
        rows = [row.cells for row in self._grid.rows if row.side == side]
        widths = [LEAST_CELL * em] * max((len(cells) for cells in rows), default=0)
        for cells in rows:
            for number, cell in enumerate(cells):
                widths[number] = max(widths[number], face.width(cell.text) + AROUND * em)
        return widths

    def _scroll_to(self, first: int, left: float) -> None:
        if self._grid is None:
            return
        widest, room = self._widest(), self._room()
        first = max(min(first, self._pairs() - self._fit()), 0)
        left = max(min(left, widest - room), 0.0)
        if (first, left) != (self._first, self._left):
            self._first, self._left = first, left
            self.update()

    def move_by(self, pairs: int, share: float = 0.0) -> None:
        """By so many pairs down, and by a share of the width to the right."""
        self._scroll_to(self._first + pairs, self._left + share * self.width())

    # Painting.

    def paint(self, painter: QPainter) -> None:
        grid, em = self._grid, self.em
        if grid is None:
            write(painter, QRectF(self.rect()), self._empty, self.face(), self.theme.muted)
            return
        self._draw_legend(painter, grid)
        widths = {side: self.column_widths(side) for side in ("source", "target")}
        label = self._label_width()
        top = LEGEND * em
        last = min(self._first + self._fit(), self._pairs())
        for pair in range(self._first, self._pairs()):
            for number, row in enumerate(grid.rows[3 * pair : 3 * pair + 3]):
                y = top + number * LINE * self.unit
                # of the last pair, as many lines as there is room for
                if y + LINE * self.unit > self.height() - 0.4 * em:
                    break
                self._draw_words(painter, row, y)
                painter.save()
                painter.setClipRect(QRectF(label, y, self._room(), LINE * self.unit))
                self._draw_cells(painter, row, widths[row.side], QPointF(label - self._left, y))
                painter.restore()
            top += self._pair_height
        self._draw_thumb(painter, last)

    def _draw_legend(self, painter: QPainter, grid: BatchGrid) -> None:
        em, small, x = self.em, self.face(fonts.SMALL), 0.4 * self.em
        for kind, text in grid.legend:
            self._draw_ground(painter, QRectF(x, 0.3 * em, 1.6 * em, 1.0 * em), kind)
            wide = small.width(text)
            spot = QRectF(x + 2.1 * em, 0, wide + 1, 1.6 * em)
            write(painter, spot, text, small, self.theme.muted, LEFT)
            x += wide + 4 * em

    def _draw_words(self, painter: QPainter, row: BatchRow, y: float) -> None:
        theme, small = self.theme, self.face(fonts.SMALL * self._scale)
        em = self.unit
        assert self._grid is not None
        number = small.widest(tuple(r.pair for r in self._grid.rows))
        room = QRectF(0.4 * em, y, number + 1, LINE * em)
        write(painter, room, row.pair, small, theme.text, LEFT)
        room = QRectF(number + 1.2 * em, y, self._label_width(), LINE * em)
        write(painter, room, row.reads, small, theme.muted, LEFT)

    def _draw_cells(
        self, painter: QPainter, row: BatchRow, widths: list[float], at: QPointF
    ) -> None:
        em, x = self.unit, at.x()
        face, small = self.face(self._scale), self.face(0.72 * self._scale)
        for cell, wide in zip(row.cells, widths, strict=False):
            rect = QRectF(x, at.y() + 0.1 * em, wide - 0.15 * em, (LINE - 0.2) * em)
            x += wide
            if rect.right() < 0 or rect.left() > self.width():
                continue
            self._draw_ground(painter, rect, cell.kind, cell.counts)
            ids = self.theme.muted
            upper = QRectF(rect.left(), rect.top() + 0.1 * em, rect.width(), 1.35 * em)
            write(painter, upper, cell.text, face, self._ink(cell), CENTRE)
            lower = QRectF(rect.left(), rect.top() + 1.35 * em, rect.width(), 0.85 * em)
            write(painter, lower, str(cell.id), small, ids, CENTRE)

    def _ink(self, cell: BatchCell) -> str:
        if cell.kind == "padding":
            return self.theme.muted
        return self.theme.error_text if cell.kind == "unknown" else self.theme.text

    def _draw_ground(
        self, painter: QPainter, rect: QRectF, kind: CellKind, counts: bool = False
    ) -> None:
        theme, em = self.theme, self.em
        fill = theme.accent_tint if counts or kind == "counted" else theme.chip
        fill = None if kind == "padding" else fill
        border = {"unknown": theme.error, "padding": theme.border}.get(kind)
        box(painter, rect, fill, border, 0.25 * em)
        if kind != "padding":
            return
        painter.save()
        painter.setClipRect(rect)
        painter.setPen(QPen(ink(theme.border), 1.0))
        x = rect.left() - rect.height()
        while x < rect.right():
            painter.drawLine(QPointF(x, rect.bottom()), QPointF(x + rect.height(), rect.top()))
            x += 0.5 * em
        painter.restore()

    def _draw_thumb(self, painter: QPainter, last: int) -> None:
        count, em, theme = self._pairs(), self.em, self.theme
        top, label = LEGEND * em, self._label_width()
        if count > last - self._first:
            room = self.height() - top
            start, shown = room * self._first / count, room * (last - self._first) / count
            thumb = QRectF(self.width() - 0.4 * em, top + start, 0.3 * em, shown)
            box(painter, thumb, theme.border_strong, None, 0.15 * em)
        widest, room = self._widest(), self._room()
        if widest > room:
            start, shown = room * self._left / widest, room * room / widest
            thumb = QRectF(label + start, self.height() - 0.35 * em, shown, 0.3 * em)
            box(painter, thumb, theme.border_strong, None, 0.15 * em)

    # What the user does.

    def wheelEvent(self, event: QWheelEvent) -> None:
        down, right = event.angleDelta().y() / 120, event.angleDelta().x() / 120
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            down, right = 0.0, down + right
        self.move_by(-round(down), -0.2 * right)
        event.accept()


def _said(row: BatchRow) -> str:
    return " ".join((row.pair, row.reads, *(cell.text for cell in row.cells))).strip()
