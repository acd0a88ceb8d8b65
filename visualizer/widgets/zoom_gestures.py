"""From wheel, pinch and drag to another viewport."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QNativeGestureEvent, QWheelEvent
from PySide6.QtWidgets import QApplication

from visualizer.widgets.viewport import Viewport

# One notch of a wheel, and one press of a button, shows so many times as many cells.
NOTCH = 1.25
# A notch moves by so much of what is on show.
SHARE = 0.12
# Less than this is kept until more comes: a pinch comes in many small parts.
LEAST_ZOOM = 0.08


class ZoomGestures:
    """Each gesture gives the viewport that it asks for, or None while it asks for nothing yet."""

    def __init__(self) -> None:
        self._zoom = 0.0
        self._rows = self._columns = 0.0
        self._start: tuple[QPointF, Viewport] | None = None
        self._dragged = False

    @property
    def dragging(self) -> bool:
        return self._dragged

    def forget(self) -> None:
        self.__init__()  # type: ignore[misc]

    def wheel(self, event: QWheelEvent, view: Viewport, area: QRectF) -> Viewport | None:
        """With Ctrl it zooms at the pointer; else it scrolls, with Shift sideways."""
        turn, pixels = event.angleDelta(), event.pixelDelta()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            return self._zoomed(-turn.y() / 120 * math.log(NOTCH), event.position(), view, area)
        if not pixels.isNull():
            down = -pixels.y() / max(area.height(), 1.0) * view.rows.count
            across = -pixels.x() / max(area.width(), 1.0) * view.columns.count
        else:
            down = -turn.y() / 120 * max(SHARE * view.rows.count, 1.0)
            across = -turn.x() / 120 * max(SHARE * view.columns.count, 1.0)
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and not across:
            across = down / view.rows.count * view.columns.count
            down = 0.0
        self._rows += down
        self._columns += across
        rows, columns = int(self._rows), int(self._columns)
        self._rows -= rows
        self._columns -= columns
        return view.moved(rows, columns)

    def pinch(self, event: QNativeGestureEvent, view: Viewport, area: QRectF) -> Viewport | None:
        kind = event.gestureType()
        if kind == Qt.NativeGestureType.ZoomNativeGesture:
            more = -math.log(max(1.0 + event.value(), 0.1))
            return self._zoomed(more, event.position(), view, area)
        if kind == Qt.NativeGestureType.BeginNativeGesture:
            self._zoom = 0.0
        return None

    def _zoomed(self, more: float, pos: QPointF, view: Viewport, area: QRectF) -> Viewport | None:
        self._zoom += more
        if abs(self._zoom) < LEAST_ZOOM:
            return None
        factor, self._zoom = math.exp(self._zoom), 0.0
        return zoomed(view, factor, area, pos)

    # Dragging.

    def press(self, pos: QPointF, view: Viewport) -> None:
        self._start, self._dragged = (pos, view), False

    def drag(self, pos: QPointF, area: QRectF) -> Viewport | None:
        """The cells follow the pointer, once it has been moved and not only shaken."""
        if self._start is None:
            return None
        start, view = self._start
        way = pos - start
        if not self._dragged and way.manhattanLength() < QApplication.startDragDistance():
            return None
        self._dragged = True
        rows = round(-way.y() / max(area.height(), 1.0) * view.rows.count)
        columns = round(-way.x() / max(area.width(), 1.0) * view.columns.count)
        return view.moved(rows, columns)

    def release(self) -> bool:
        """The button is let go; whether that was a click."""
        clicked = self._start is not None and not self._dragged
        self._start, self._dragged = None, False
        return clicked


def zoomed(view: Viewport, factor: float, area: QRectF, pos: QPointF | None = None) -> Viewport:
    """About a position, else about the middle."""
    middle = area.center() if pos is None else pos
    down = (middle.y() - area.top()) / max(area.height(), 1.0)
    across = (middle.x() - area.left()) / max(area.width(), 1.0)
    aspect = area.width() / max(area.height(), 1.0)
    return view.zoomed(factor, min(max(down, 0.0), 1.0), min(max(across, 0.0), 1.0), aspect)
