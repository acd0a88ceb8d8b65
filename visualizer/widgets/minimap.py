"""The whole matrix in small, with a frame around what is on show."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from visualizer.lenses.blocks import spans
from visualizer.lenses.picture import Matrix
from visualizer.theme import Theme
from visualizer.widgets.canvas import Canvas, box, ink
from visualizer.widgets.heatmap_cells import reduced, thumbnail
from visualizer.widgets.viewport import Viewport

# The frame is never smaller than this, in logical pixels.
LEAST_FRAME = 5.0


class Minimap(Canvas):
    """moved(row, column): the cell that shall be in the middle, on a click and while dragging."""

    moved = Signal(float, float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_ground("surface")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._matrix: Matrix | None = None
        self._view: Viewport | None = None
        self._image: QImage | None = None
        # from the pointer to the middle of the frame, in cells, while the frame is dragged
        self._grip: tuple[float, float] | None = None

    def set_matrix(self, matrix: Matrix | None) -> None:
        if matrix is not self._matrix:
            self._matrix, self._image = matrix, None
            self.update()

    def set_view(self, view: Viewport) -> None:
        if view != self._view:
            self._view = view
            self.update()

    def set_theme(self, theme: Theme) -> None:
        self._image = None
        super().set_theme(theme)

    def relayout(self) -> None:
        self._image = None

    def frame(self) -> QRectF:
        """Where what is on show lies, in logical pixels."""
        view = self._view
        if view is None:
            return QRectF()
        area = self._area()
        down, across = area.height() / view.rows.size, area.width() / view.columns.size
        rect = QRectF(
            area.left() + view.columns.first * across,
            area.top() + view.rows.first * down,
            view.columns.count * across,
            view.rows.count * down,
        )
        more = QPointF(max(LEAST_FRAME - rect.width(), 0), max(LEAST_FRAME - rect.height(), 0)) / 2
        return rect.adjusted(-more.x(), -more.y(), more.x(), more.y())

    def _area(self) -> QRectF:
        return QRectF(self.rect()).adjusted(2, 2, -2, -2)

    def paint(self, painter: QPainter) -> None:
        matrix, area = self._matrix, self._area()
        if matrix is None or self._view is None or area.isEmpty():
            return
        if self._image is None:
            ratio = self.devicePixelRatioF()
            room = round(area.height() * ratio), round(area.width() * ratio)
            self._image = thumbnail(reduced(matrix, *spans(matrix.values.shape, room)), self.theme)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.drawImage(area, self._image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        box(painter, QRectF(self.rect()), None, self.theme.border_strong)
        frame = self.frame().intersected(QRectF(self.rect()).adjusted(1, 1, -1, -1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for colour, width in ((self.theme.surface, 4.0), (self.theme.accent, 2.0)):
            pen = QPen(ink(colour), width)
            pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
            painter.setPen(pen)
            painter.drawRect(frame)

    # The pointer.

    def _cell(self, pos: QPointF) -> tuple[float, float]:
        assert self._view is not None
        area, view = self._area(), self._view
        row = (pos.y() - area.top()) / max(area.height(), 1.0) * view.rows.size
        return row, (pos.x() - area.left()) / max(area.width(), 1.0) * view.columns.size

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._view is None:
            return
        row, column = self._cell(event.position())
        rows, columns = self._view.rows, self._view.columns
        self._grip = (0.0, 0.0)
        if self.frame().contains(event.position()):
            # taken where it is, it does not jump
            self._grip = (
                rows.first + rows.count / 2 - row,
                columns.first + columns.count / 2 - column,
            )
        self._move(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._grip is not None:
            self._move(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._grip = None

    def _move(self, pos: QPointF) -> None:
        assert self._grip is not None
        row, column = self._cell(pos)
        # the middle of a cell is half a cell behind its start
        self.moved.emit(row + self._grip[0] - 0.5, column + self._grip[1] - 0.5)
