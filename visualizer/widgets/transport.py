"""Play controls: buttons with a drawn sign, because no font has all of them."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from visualizer import fonts
from visualizer.theme import LIGHT, Theme
from visualizer.widgets.canvas import Face, box, triangle, write

Sign = Literal["first", "back", "play", "pause", "forward", "last"]


class TransportButton(QAbstractButton):
    """A sign, and a word beside it where `text` is set. `primary` fills it with colour."""

    def __init__(self, sign: Sign, primary: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.theme: Theme = LIGHT
        self._sign, self._primary = sign, primary

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.update()

    def set_sign(self, sign: Sign) -> None:
        self._sign = sign
        self.update()

    def describe(self, name: str, tooltip: str = "") -> None:
        self.setAccessibleName(name)
        self.setToolTip(tooltip or name)

    def setText(self, text: str) -> None:
        super().setText(text)
        self.updateGeometry()

    def _face(self) -> Face:
        font = fonts.scaled(self.font(), fonts.NORMAL)
        return Face(font, QFontMetricsF(font, self))

    def sizeHint(self) -> QSize:
        em = fonts.em(self.font())
        word = self._face().width(self.text()) + 0.5 * em if self.text() else 0.0
        return QSize(round(2.7 * em + word), round(2.3 * em))

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
        rect = QRectF(self.rect())
        fill, border, ink = theme.surface, theme.border_strong, theme.text
        if self._primary:
            fill = border = theme.encoder_fill
            ink = theme.on_encoder
        elif self.isDown():
            fill = theme.accent_tint
        elif self.underMouse() and self.isEnabled():
            fill = theme.chip
        if not self.isEnabled():
            fill, border, ink = theme.sunken, theme.border, theme.border_strong
        if self.hasFocus():
            border = theme.text if self._primary else theme.encoder
        box(painter, rect, fill, border, 0.5 * em)
        if not self.text():
            self._draw_sign(painter, rect.center().x(), rect.center().y(), 0.36 * em, ink)
            return
        face = self._face()
        word = face.width(self.text())
        left = rect.center().x() - (word + 1.25 * em) / 2
        self._draw_sign(painter, left + 0.36 * em, rect.center().y(), 0.36 * em, ink)
        room = QRectF(left + 1.25 * em, rect.top(), word + 1, rect.height())
        write(painter, room, self.text(), face, ink)

    def _draw_sign(self, painter: QPainter, x: float, y: float, r: float, ink: str) -> None:
        x, y = round(x), round(y)
        if self._sign == "pause":
            for side in (-1, 1):
                bar = QRectF(x + side * 0.55 * r - 0.3 * r, y - r, 0.6 * r, 2 * r)
                box(painter, bar, ink, None, 0.1 * r)
            return
        way = -1 if self._sign in ("first", "back") else 1
        triangle(
            painter,
            [(x - way * 0.85 * r, y - r), (x - way * 0.85 * r, y + r), (x + way * r, y)],
            ink,
        )
        if self._sign in ("first", "last"):
            edge = x + way * 1.15 * r
            box(painter, QRectF(edge - 0.16 * r, y - r, 0.32 * r, 2 * r), ink, None)
