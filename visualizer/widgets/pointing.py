"""What widgets made of separate things share: the thing under the pointer, and the hand over it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent

from visualizer.widgets.canvas import Canvas


class PointedCanvas(Canvas):
    """`_hovered` is the number of the thing under the pointer, None beside them all."""

    _hovered: int | None = None

    def thing_at(self, pos: QPointF) -> int | None:
        """The number of the thing at a logical position."""
        raise NotImplementedError

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        thing = self.thing_at(event.position())
        if thing != self._hovered:
            self._hovered = thing
            self.setCursor(
                Qt.CursorShape.ArrowCursor if thing is None else Qt.CursorShape.PointingHandCursor
            )
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = None
        self.update()
