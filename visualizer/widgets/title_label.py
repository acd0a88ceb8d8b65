"""A line of words that may hold a file's name: it never asks for more room than there is."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget

from visualizer import fonts

# The least width, in parts of the font's size.
LEAST = 6.0


class TitleLabel(QLabel):
    """Where it has no room the middle is left out, and all of it stands in the tooltip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)

    def minimumSizeHint(self) -> QSize:
        hint = self.sizeHint()
        return QSize(min(hint.width(), round(LEAST * fonts.em(self.font()))), hint.height())

    def shown(self) -> str:
        """What of the words is written."""
        room = self.contentsRect().width()
        return self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideMiddle, room)

    def paintEvent(self, event: QPaintEvent) -> None:
        shown = self.shown()
        self.setToolTip(self.text() if shown != self.text() else "")
        painter = QPainter(self)
        painter.setFont(self.font())
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.contentsRect(), self.alignment(), shown)
        painter.end()
