"""Three small buttons: larger, smaller, all of it."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QWidget

from visualizer import fonts
from visualizer.theme import LIGHT, Theme
from visualizer.widgets.canvas import box, ink
from visualizer.widgets.heatmap_layout import BETWEEN, BUTTON

Sign = Literal["larger", "smaller", "fit"]


class ZoomButton(QAbstractButton):
    """The sign is drawn, because no font has all of them."""

    def __init__(self, sign: Sign, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # the keys stay with the stage, which has keys for the same
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.theme: Theme = LIGHT
        self._sign = sign

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.update()

    def describe(self, name: str) -> None:
        self.setAccessibleName(name.split("  ")[0])
        self.setToolTip(name)

    def sizeHint(self) -> QSize:
        side = round(BUTTON * fonts.em(self.font()))
        return QSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        try:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint(painter)
        finally:
            painter.end()

    def _paint(self, painter: QPainter) -> None:
        theme, em, rect = self.theme, fonts.em(self.font()), QRectF(self.rect())
        fill, border, colour = theme.surface, theme.border_strong, theme.text
        if self.isDown():
            fill = theme.accent_tint
        elif self.underMouse() and self.isEnabled():
            fill = theme.chip
        if not self.isEnabled():
            fill, border, colour = theme.sunken, theme.border, theme.border_strong
        box(painter, rect, fill, border, 0.35 * em)
        x, y, r = round(rect.center().x()), round(rect.center().y()), round(0.36 * em)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(ink(colour), max(round(0.13 * em), 1)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self._sign == "fit":
            # the corners of a frame
            for left in (-1, 1):
                for up in (-1, 1):
                    corner = QPointF(x + left * r, y + up * r)
                    painter.drawLine(corner, corner - QPointF(left * 0.6 * r, 0))
                    painter.drawLine(corner, corner - QPointF(0, up * 0.6 * r))
            return
        painter.drawLine(QPointF(x - r, y), QPointF(x + r, y))
        if self._sign == "larger":
            painter.drawLine(QPointF(x, y - r), QPointF(x, y + r))


class ZoomButtons(QWidget):
    """larger(), smaller(), fit()."""

    larger = Signal()
    smaller = Signal()
    fit = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.buttons = tuple(ZoomButton(sign, self) for sign in ("larger", "smaller", "fit"))
        for button, told in zip(self.buttons, (self.larger, self.smaller, self.fit), strict=True):
            button.clicked.connect(told)

    def describe(self, larger: str, smaller: str, fit: str) -> None:
        for button, name in zip(self.buttons, (larger, smaller, fit), strict=True):
            button.describe(name)

    def set_theme(self, theme: Theme) -> None:
        for button in self.buttons:
            button.set_theme(theme)

    def set_whole(self, whole: bool) -> None:
        """All of it is on show: there is nothing smaller."""
        for button in self.buttons[1:]:
            button.setEnabled(not whole)

    def place(self, rect: QRectF) -> None:
        em = fonts.em(self.font())
        self.setGeometry(rect.toAlignedRect())
        side = round(BUTTON * em)
        for number, button in enumerate(self.buttons):
            button.setGeometry(round(number * (BUTTON + BETWEEN) * em), 0, side, side)
