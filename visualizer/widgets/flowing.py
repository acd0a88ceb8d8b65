"""What is as high as its lines take at the width that it has."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent, QShowEvent

from visualizer.widgets.canvas import Canvas


class Flowing(Canvas):
    """LINE: the height of a line, in parts of the font's size."""

    LINE = 1.4

    def needed(self) -> int:
        """How many lines there are at the present width."""
        raise NotImplementedError

    def sizeHint(self) -> QSize:
        # what was never on screen has no width to go by, and must not make the window grow
        lines = self.needed() if self.isVisible() else 1
        return QSize(round(16 * self.em), round(lines * self.LINE * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(8 * self.em), self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.updateGeometry()
