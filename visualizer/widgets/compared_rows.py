"""Two outputs below each other, position by position, and where they part."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from visualizer import fonts
from visualizer.widgets.canvas import LEFT, RIGHT, box, triangle, write
from visualizer.widgets.late import LateCanvas

LINE = 2.5
NUMBERS = 0.76


@dataclass(frozen=True)
class TokenRow:
    """One output: its heading, its tokens, a number below each, and the sums at the right."""

    title: str
    tokens: tuple[str, ...]
    numbers: tuple[str, ...]
    sums: str
    tips: tuple[str, ...] = ()
    sums_tip: str = ""


class ComparedRows(LateCanvas):
    """positionChosen(i) on a click. What does not fit scrolls; the current position is in view."""

    term = "log_prob"
    positionChosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self._rows: tuple[TokenRow, ...] = ()
        self._parting: int | None = None
        self._current: int | None = None
        self._scroll = 0.0
        self._places: list[tuple[float, float]] | None = None

    def set_rows(
        self, rows: tuple[TokenRow, ...], parting: int | None, current: int | None
    ) -> None:
        """parting, current: a position from 0"""
        if (rows, parting, current) == (self._rows, self._parting, self._current):
            return
        if rows != self._rows:
            self._places = None
        self._rows, self._parting, self._current = rows, parting, current
        self._reveal()
        self.update()

    @property
    def rows(self) -> tuple[TokenRow, ...]:
        return self._rows

    @property
    def parting(self) -> int | None:
        return self._parting

    def sizeHint(self) -> QSize:
        return QSize(round(40 * self.em), round(2 * LINE * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(20 * self.em), round(2 * LINE * self.em))

    # Places.

    def relayout(self) -> None:
        self._places = None
        self._reveal()

    def _head(self) -> float:
        face = self.face(fonts.SMALL)
        return max((face.width(row.title) for row in self._rows), default=0.0) + 0.8 * self.em

    def _tail(self) -> float:
        face = self.face(fonts.SMALL)
        return max((face.width(row.sums) for row in self._rows), default=0.0) + self.em

    def _room(self) -> QRectF:
        """Where the tokens are."""
        left = self._head()
        return QRectF(left, 0.0, max(self.width() - left - self._tail(), 0.0), self.height())

    def _columns(self) -> list[tuple[float, float]]:
        """Left end and width of each position, nothing scrolled."""
        if self._places is None:
            face, small, x = self.face(), self.face(NUMBERS), 0.0
            self._places = []
            for position in range(max((len(row.tokens) for row in self._rows), default=0)):
                there = [row for row in self._rows if position < len(row.tokens)]
                widest = max(face.width(row.tokens[position]) for row in there)
                number = max(small.width(row.numbers[position]) for row in there)
                wide = max(min(widest, 9 * self.em), number) + 0.9 * self.em
                self._places.append((x, self.snap(wide)))
                x += self.snap(wide) + 0.2 * self.em
        return self._places

    def rect_of(self, position: int) -> QRectF:
        """The column of a position, both rows."""
        x, wide = self._columns()[position]
        return QRectF(self.snap(self._room().left() + x - self._scroll), 0.0, wide, self.height())

    def _reach(self) -> float:
        columns = self._columns()
        return max(sum(columns[-1]) - self._room().width(), 0.0) if columns else 0.0

    def _reveal(self) -> None:
        columns = self._columns()
        if self._current is not None and 0 <= self._current < len(columns):
            (x, wide), margin = columns[self._current], 2.5 * self.em
            self._scroll = max(self._scroll, x + wide + margin - self._room().width())
            self._scroll = min(self._scroll, x - margin)
        self._scroll = min(max(self._scroll, 0.0), self._reach())

    # Painting.

    def paint(self, painter: QPainter) -> None:
        room, em, small = self._room(), self.em, self.face(fonts.SMALL)
        self.dim(painter)
        painter.save()
        painter.setClipRect(room)
        for position in range(len(self._columns())):
            rect = self.rect_of(position)
            if rect.right() >= room.left() and rect.left() <= room.right():
                self._draw_position(painter, position, rect)
        painter.restore()
        for number, row in enumerate(self._rows):
            top = number * LINE * em
            head = QRectF(0.0, top, room.left() - 0.4 * em, LINE * em)
            write(painter, head, row.title, small, self.theme.muted, LEFT)
            tail = QRectF(room.right(), top, self.width() - room.right(), LINE * em)
            write(painter, tail, row.sums, small, self.theme.text, RIGHT)
        if self._scroll > 0.5:
            self._draw_more(painter, room.left() + 0.1 * em, -1.0)
        if self._scroll < self._reach() - 0.5:
            self._draw_more(painter, room.right() + 0.4 * em, 1.0)

    def _draw_position(self, painter: QPainter, position: int, rect: QRectF) -> None:
        theme, em = self.theme, self.em
        parts = position == self._parting
        inside = rect.adjusted(0, 1, 0, -1)
        if parts:
            box(painter, inside, theme.warning_tint, theme.warning, 0.35 * em)
        elif position == self._hovered:
            box(painter, inside, theme.chip, None, 0.35 * em)
        if position == self._current:
            box(painter, inside, None, theme.output, 0.35 * em, 2.0, dash=True)
        later = self._parting is not None and position > self._parting
        for number, row in enumerate(self._rows):
            if position >= len(row.tokens):
                continue
            top = number * LINE * em
            upper = QRectF(rect.left(), top + 0.15 * em, rect.width(), 1.25 * em)
            lower = QRectF(rect.left(), top + 1.35 * em, rect.width(), 0.95 * em)
            ink = theme.warning_text if parts else theme.muted if later else theme.text
            write(painter, upper, row.tokens[position], self.face(bold=parts), ink)
            write(painter, lower, row.numbers[position], self.face(NUMBERS), theme.muted)

    def _draw_more(self, painter: QPainter, x: float, way: float) -> None:
        em, middle = self.em, self.height() / 2
        points = [(x, middle - 0.4 * em), (x + way * 0.45 * em, middle), (x, middle + 0.4 * em)]
        triangle(painter, points, self.theme.muted)

    # The pointer.

    def thing_at(self, pos: QPointF) -> int | None:
        if not self._room().contains(pos):
            return None
        found = (i for i in range(len(self._columns())) if self.rect_of(i).contains(pos))
        return next(found, None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        position = self.thing_at(event.position())
        if position is not None and event.button() == Qt.MouseButton.LeftButton:
            self.positionChosen.emit(position)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self._reach() <= 0:
            event.ignore()
            return
        turn = event.angleDelta().y() or event.angleDelta().x()
        self._scroll = min(max(self._scroll - turn / 120 * 3 * self.em, 0.0), self._reach())
        self.update()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.tip_at(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def tip_at(self, pos: QPointF) -> str:
        """What is said of the place: a token's number with every digit, or the sums."""
        number = int(pos.y() / (LINE * self.em))
        if not 0 <= number < len(self._rows):
            return ""
        row, position = self._rows[number], self.thing_at(pos)
        if position is None:
            return row.sums_tip if pos.x() > self._room().right() else ""
        return row.tips[position] if position < len(row.tips) else ""
