"""A small button with a pencil, drawn because no bundled font has one."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from visualizer import fonts
from visualizer.theme import LIGHT, Theme
from visualizer.widgets.canvas import box, ink


class PencilButton(QAbstractButton):
    """Checkable: pressed in while what it opens is open."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.theme: Theme = LIGHT

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        em = fonts.em(self.font())
        return QSize(round(1.9 * em), round(1.9 * em))

    def changeEvent(self, event: QEvent) -> None:
        self.updateGeometry()
        super().changeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        try:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint(painter)
        finally:
            painter.end()

    def _paint(self, painter: QPainter) -> None:
        theme, em = self.theme, fonts.em(self.font())
        lit = self.underMouse() and self.isEnabled()
        fill = theme.encoder_tint if self.isChecked() else theme.chip if lit else None
        border = theme.encoder if self.hasFocus() or self.isChecked() else None
        if fill is not None or border is not None:
            box(painter, QRectF(self.rect()), fill, border, 0.4 * em)
        colour = theme.text if lit or self.isChecked() else theme.muted
        if not self.isEnabled():
            colour = theme.border_strong
        painter.translate(QRectF(self.rect()).center())
        painter.rotate(45)
        # upright, the point below
        half, top, neck, point = 0.19 * em, -0.62 * em, 0.36 * em, 0.72 * em
        painter.setPen(QPen(ink(colour), max(1.0, 0.09 * em)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        outline = [(-half, top), (half, top), (half, neck), (0.0, point), (-half, neck)]
        painter.drawPolygon(QPolygonF([QPointF(x, y) for x, y in outline]))
        painter.drawLine(QPointF(-half, top + 0.24 * em), QPointF(half, top + 0.24 * em))
        painter.drawLine(QPointF(-half, neck), QPointF(half, neck))
