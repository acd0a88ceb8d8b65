"""The best of the finished hypotheses: place, score, length, text."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from visualizer import fonts
from visualizer.lenses.beam_words import Ranked
from visualizer.widgets.beam_tree import diamond
from visualizer.widgets.canvas import LEFT, RIGHT, box, write
from visualizer.widgets.pointing import PointedCanvas


class BeamList(PointedCanvas):
    """clicked(ids) of the hypothesis of a line."""

    clicked = Signal(object)
    LINE, LEAST_LINE = 1.75, 1.4

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self._lines: tuple[Ranked, ...] = ()
        self._none, self._tips = "", ()

    def set_lines(self, lines: tuple[Ranked, ...], none: str, tips: tuple[str, ...]) -> None:
        """none: what is said where there is no line    tips: of the lines"""
        if (lines, none, tips) == (self._lines, self._none, self._tips):
            return
        if len(lines) != len(self._lines):
            self.updateGeometry()
        self._lines, self._none, self._tips = lines, none, tips
        self.update()

    @property
    def lines(self) -> tuple[Ranked, ...]:
        return self._lines

    def sizeHint(self) -> QSize:
        lines = max(len(self._lines), 1)
        return QSize(round(18 * self.em), round(lines * self.LINE * self.em))

    def minimumSizeHint(self) -> QSize:
        lines = max(len(self._lines), 2)
        return QSize(round(10 * self.em), round(lines * self.LEAST_LINE * self.em))

    def line_rect(self, number: int) -> QRectF:
        high = self._high()
        return QRectF(0, number * high, self.width(), high)

    def _high(self) -> float:
        lines = max(len(self._lines), 1)
        return min(self.height() / lines, self.LINE * self.em)

    def paint(self, painter: QPainter) -> None:
        em, theme = self.em, self.theme
        if not self._lines:
            write(painter, QRectF(0, 0, self.width(), 1.75 * em), self._none, self.face(),
                  theme.muted, LEFT)  # fmt: skip
            return
        small = self.face(fonts.SMALL)
        score_width = small.widest(tuple(line.score for line in self._lines))
        length_width = small.widest(tuple(str(line.length) for line in self._lines))
        for number, line in enumerate(self._lines):
            rect = self.line_rect(number)
            if line.traced or number == self._hovered:
                fill = theme.accent_tint if line.traced else theme.chip
                box(painter, rect.adjusted(0, 0.08 * em, 0, -0.08 * em), fill, None, 0.3 * em)
            x = 0.3 * em
            ink = theme.output if not number else theme.muted
            place = QRectF(x, rect.top(), 1.3 * em, rect.height())
            write(painter, place, str(number + 1), self.face(fonts.SMALL, bold=True), ink, LEFT)
            x = place.right()
            cell = QRectF(x, rect.top(), score_width, rect.height())
            write(painter, cell, line.score, small, theme.text, RIGHT)
            x = cell.right() + 0.5 * em
            cell = QRectF(x, rect.top(), length_width, rect.height())
            write(painter, cell, str(line.length), small, theme.muted, RIGHT)
            x = cell.right() + 0.5 * em
            if line.ended:
                diamond(painter, QPointF(x + 0.3 * em, rect.center().y()), 0.3 * em, theme.muted)
            x += 0.95 * em
            words = QRectF(x, rect.top(), self.width() - x - 0.3 * em, rect.height())
            write(painter, words, line.text, self.face(), theme.text, LEFT)

    def thing_at(self, pos: QPointF) -> int | None:
        number = int(pos.y() // self._high())
        return number if 0 <= number < len(self._lines) else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        number = self.thing_at(event.position())
        if number is not None and event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(self._lines[number].ids)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            number = self.thing_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), "" if number is None else self._tips[number], self)
            return True
        return super().event(event)
