"""The loss of a batch before a step and after it, and the reason where it has risen."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.lenses.step_change import LossChange
from visualizer.widgets.canvas import LEFT, Canvas, write
from visualizer.widgets.flowing import Flowing
from visualizer.widgets.text_block import TextBlock

MOST_LINES = 12


class LossNumbers(Canvas):
    """A title, "5.851 → 5.012", and what the two have in common."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._change: LossChange | None = None

    def set_change(self, change: LossChange | None) -> None:
        if change == self._change:
            return
        self._change = change
        if change is not None:
            self.describe(change.title, f"{change.before} → {change.after}, {change.about}")
        self.update()

    @property
    def change(self) -> LossChange | None:
        return self._change

    def sizeHint(self) -> QSize:
        return QSize(round(16 * self.em), round(4.6 * self.em))

    def paint(self, painter: QPainter) -> None:
        change, theme, em = self._change, self.theme, self.em
        if change is None:
            return
        small, large = self.face(fonts.SMALL), self.face(fonts.TITLE, bold=True)
        wide = float(self.width())
        head = QRectF(0, 0, wide, 1.3 * em)
        write(painter, head, small.elided(change.title, wide), small, theme.muted, LEFT)
        x = 0.0
        for text, colour in (
            (change.before, theme.text),
            ("→", theme.muted),
            (change.after, theme.accent),
        ):
            room = QRectF(x, 1.3 * em, large.width(text) + 1, 2 * em)
            write(painter, room, text, large, colour, LEFT)
            x = room.right() + 0.6 * em
        foot = QRectF(0, 3.3 * em, wide, 1.3 * em)
        write(painter, foot, small.elided(change.about, wide), small, theme.muted, LEFT)


class LossReason(Flowing, TextBlock):
    """Why the loss has risen, in as many lines of small type as that takes; none without words."""

    LINE = 1.5 * fonts.SMALL

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(MOST_LINES, parent, fonts.SMALL)

    def set_reason(self, text: str) -> None:
        self.set_sentences(text)
        self.setVisible(bool(text))
        self.updateGeometry()

    def needed(self) -> int:
        return len(self._broken(self.shown()[0])[0])
