"""A plain table: texts in columns, a tick or a cross behind them, one line chosen."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPen, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.lenses.step_tables import Mark, Table
from visualizer.widgets.canvas import LEFT, RIGHT, box, ink, write
from visualizer.widgets.glossary_link import Links
from visualizer.widgets.pointing import PointedCanvas

LINE = 1.55
# The least room for bars behind the columns.
BAR = 8.0
# Between columns, and behind a name: farther away a number is no longer read with its name.
GAP, WIDE_GAP, BEHIND = 1.0, 3.0, 4.0


class StepTable(PointedCanvas):
    """rowClicked(key of the line). The wheel and the arrow keys reach what has no room.

    leads: how many columns, from the left, hold words; the others hold numbers
    wide: which of the words' columns takes the room that is left
    """

    rowClicked = Signal(str)

    def __init__(self, leads: int = 1, wide: int = 0, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self._leads, self._wide = leads, wide
        self._table: Table | None = None
        self.links = Links(self)
        self._first = 0
        self._empty = ""

    def set_empty_text(self, text: str) -> None:
        self._empty = text
        self.update()

    def set_table(self, table: Table | None) -> None:
        """A line that is newly chosen comes into view."""
        if table == self._table:
            return
        before = self._table
        self._table = table
        if table is not None and (before is None or before.selected != table.selected):
            keys = [row.key for row in table.rows]
            if table.selected in keys:
                self._reveal(keys.index(table.selected))
        self._scroll_to(self._first)
        said = "" if table is None else "; ".join(", ".join(r.cells) for r in table.rows[:40])
        self.describe("" if table is None else ", ".join(table.heads), said)
        self.update()

    @property
    def table(self) -> Table | None:
        return self._table

    def sizeHint(self) -> QSize:
        return QSize(round(24 * self.em), round(20 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(10 * self.em), round(5 * self.em))

    # Places.

    def _fit(self) -> int:
        return max(int(self.height() / self.em / LINE) - 1, 1)

    def _reveal(self, row: int) -> None:
        if not self._first <= row < self._first + self._fit():
            self._first = row - self._fit() // 2

    def _scroll_to(self, first: int) -> None:
        count = 0 if self._table is None else len(self._table.rows)
        first = max(min(first, count - self._fit()), 0)
        if first != self._first:
            self._first = first
            self.update()

    def row_rect(self, row: int) -> QRectF:
        """Where a line is painted; empty where it has no room."""
        line = row - self._first
        if not 0 <= line < self._fit():
            return QRectF()
        height = LINE * self.em
        return QRectF(0, (line + 1) * height, self.width() - 0.6 * self.em, height)

    def thing_at(self, pos: QPointF) -> int | None:
        row = self.row_at(pos)
        return row if row is not None and self._table and self._table.rows[row].key else None

    def row_at(self, pos: QPointF) -> int | None:
        """The line at a position."""
        line = int(pos.y() // (LINE * self.em)) - 1
        row = self._first + line
        count = 0 if self._table is None else len(self._table.rows)
        return row if 0 <= line < self._fit() and row < count else None

    def relayout(self) -> None:
        """In another height the line that is chosen stays in view."""
        if self._table is not None and self._table.selected:
            keys = [row.key for row in self._table.rows]
            if self._table.selected in keys:
                self._reveal(keys.index(self._table.selected))
        self._scroll_to(self._first)

    # Painting.

    def paint(self, painter: QPainter) -> None:
        table, theme, em = self._table, self.theme, self.em
        small = self.face(fonts.SMALL)
        self.links.clear()
        if table is None or not table.rows:
            write(painter, QRectF(self.rect()), self._empty, self.face(), theme.muted)
            return
        columns = self._columns(table)
        head = QRectF(0, 0, self.width(), LINE * em)
        for text, (left, wide, align) in zip(table.heads, columns, strict=True):
            room = QRectF(left, 0, wide, head.height())
            write(painter, room, text, small, theme.muted, align)
            self.links.add(room, text, small, right=align is RIGHT)
        painter.setPen(QPen(ink(theme.border), 1.0))
        y = self.snap(head.bottom()) - 0.5
        painter.drawLine(QPointF(0, y), QPointF(self.width(), y))
        for row in range(self._first, min(self._first + self._fit(), len(table.rows))):
            self._draw_row(painter, table, row, columns)
        self._draw_thumb(painter, len(table.rows))
        self.links.underline(painter)

    def _draw_row(
        self,
        painter: QPainter,
        table: Table,
        row: int,
        columns: list[tuple[float, float, Qt.AlignmentFlag]],
    ) -> None:
        theme, small, line = self.theme, self.face(fonts.SMALL), table.rows[row]
        rect = self.row_rect(row)
        if line.key and line.key == table.selected:
            box(painter, rect, theme.accent_tint, None, 0.3 * self.em)
        elif row == self._hovered:
            box(painter, rect, theme.chip, None, 0.3 * self.em)
        colour = theme.muted if line.quiet else theme.accent if line.stands_out else theme.text
        for text, (left, wide, align) in zip(line.cells, columns, strict=True):
            room = QRectF(left, rect.top(), wide, rect.height())
            if small.width(text) > wide:
                # the end of a name says more than its middle
                text = small.metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, wide)
            write(painter, room, text, small, colour, align)
        if line.bar is not None:
            self._draw_bar(painter, line.bar, rect, columns[-1])
        if line.mark:
            last = columns[-1]
            x = min(last[0] + last[1] + 1.4 * self.em, rect.right() - 0.8 * self.em)
            self._draw_mark(painter, line.mark, QPointF(x, rect.center().y()))

    def _columns(self, table: Table) -> list[tuple[float, float, Qt.AlignmentFlag]]:
        """Left edge, width and side of each column."""
        em, small = self.em, self.face(fonts.SMALL)
        gap = GAP * em
        widths = [
            small.widest(tuple(row.cells[n] for row in table.rows) + (head,))
            for n, head in enumerate(table.heads)
        ]
        marks = 1.6 * em if any(row.mark for row in table.rows) else 0.0
        room = self.width() - 1.2 * em - marks
        taken = sum(widths) - widths[self._wide] + gap * (len(widths) - 1)
        barred = any(row.bar is not None for row in table.rows)
        own = widths[self._wide]
        if barred:
            most = min(own, room - taken - BAR * em)
        else:
            most = min(own + BEHIND * em, room - taken)
            # what is left between the columns, as far as that helps the eye
            spare = (room - taken - most) / max(len(widths) - 1, 1)
            gap = min(gap + max(spare, 0.0), WIDE_GAP * em)
        widths[self._wide] = max(most, 4 * em)
        found, x = [], 0.4 * em
        for number, wide in enumerate(widths):
            found.append((x, wide, LEFT if number < self._leads else RIGHT))
            x += wide + gap
        return found

    def _draw_bar(
        self,
        painter: QPainter,
        share: float,
        rect: QRectF,
        last: tuple[float, float, Qt.AlignmentFlag],
    ) -> None:
        """In the room behind the last column."""
        em = self.em
        left = last[0] + last[1] + 1.2 * em
        room = rect.right() - 0.4 * em - left
        if room > em:
            wide = max(room * share, 1.0)
            bar = QRectF(left, rect.top() + 0.35 * em, wide, rect.height() - 0.7 * em)
            box(painter, bar, self.theme.accent, None, 0.2 * em)

    def _draw_mark(self, painter: QPainter, mark: Mark, centre: QPointF) -> None:
        """A tick or a cross, in lines: the font has no such signs."""
        em, theme = self.em, self.theme
        pen = QPen(ink(theme.output if mark == "ok" else theme.error), 0.14 * em)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)

        def at(x: float, y: float) -> QPointF:
            return centre + QPointF(x * em, y * em)

        if mark == "ok":
            painter.drawPolyline([at(-0.3, 0.02), at(-0.08, 0.25), at(0.32, -0.25)])
        else:
            painter.drawLine(at(-0.24, -0.24), at(0.24, 0.24))
            painter.drawLine(at(-0.24, 0.24), at(0.24, -0.24))

    def _draw_thumb(self, painter: QPainter, count: int) -> None:
        fit, em = self._fit(), self.em
        if count <= fit:
            return
        top, room = LINE * em, fit * LINE * em
        thumb = QRectF(
            self.width() - 0.4 * em, top + room * self._first / count, 0.3 * em, room * fit / count
        )
        box(painter, thumb, self.theme.border_strong, None, 0.15 * em)

    # What the user does.

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._scroll_to(self._first - round(3 * event.angleDelta().y() / 120))
        self._hovered = None
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        row = self.thing_at(event.position())
        if row is not None and self._table and event.button() == Qt.MouseButton.LeftButton:
            self.rowClicked.emit(self._table.rows[row].key)

    def scroll(self, by: int) -> None:
        """Go up or down by lines; nothing is chosen."""
        self._scroll_to(self._first + by)

    def step(self, by: int) -> None:
        """Choose the line above or below, as the arrow keys do."""
        if self._table is None:
            return
        keys = [row.key for row in self._table.rows if row.key]
        if not keys:
            self._scroll_to(self._first + by)
            return
        here = keys.index(self._table.selected) if self._table.selected in keys else 0
        self.rowClicked.emit(keys[min(max(here + by, 0), len(keys) - 1)])
