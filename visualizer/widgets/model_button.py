"""The model in use as a button: its name, where it comes from, its size."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from visualizer import fonts
from visualizer.theme import LIGHT, Theme
from visualizer.widgets.canvas import LEFT, Face, box, triangle, write


class ModelButton(QAbstractButton):
    """The name bold, the summary muted and first to be shortened, a sign that a list opens."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.theme: Theme = LIGHT
        self._name = self._summary = ""

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.update()

    def set_model(self, name: str, summary: str) -> None:
        if (name, summary) == (self._name, self._summary):
            return
        self._name, self._summary = name, summary
        self.setToolTip(f"{name}\n{summary}".strip())
        self.updateGeometry()
        self.update()

    def _face(self, factor: float = fonts.NORMAL, bold: bool = False) -> Face:
        font = fonts.scaled(self.font(), factor, bold)
        return Face(font, QFontMetricsF(font, self))

    def sizeHint(self) -> QSize:
        em = fonts.em(self.font())
        name, summary = self._face(bold=True), self._face(fonts.SMALL)
        wide = name.width(self._name) + summary.width(self._summary) + 3.6 * em
        return QSize(round(max(wide, 10 * em)), round(2.5 * em))

    def minimumSizeHint(self) -> QSize:
        em = fonts.em(self.font())
        name = min(self._face(bold=True).width(self._name), 12 * em)
        return QSize(round(name + 2.6 * em), round(2.5 * em))

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
        busy = self.underMouse() or self.isDown()
        border = theme.encoder if self.hasFocus() else theme.border_strong
        box(painter, rect, theme.chip if busy else theme.surface, border, 0.5 * em)
        bold, small = self._face(bold=True), self._face(fonts.SMALL)
        inner = rect.adjusted(0.8 * em, 0, -1.9 * em, 0)
        name_w = min(bold.width(self._name), inner.width())
        write(
            painter,
            QRectF(inner.left(), 0, name_w, rect.height()),
            self._name,
            bold,
            theme.text,
            LEFT,
        )
        rest = inner.adjusted(name_w + 0.6 * em, 0, 0, 0)
        if rest.width() > 3 * em:
            write(painter, rest, self._summary, small, theme.muted, LEFT)
        x, y, r = rect.right() - 1.05 * em, rect.center().y(), 0.3 * em
        triangle(
            painter, [(x - r, y - 0.5 * r), (x + r, y - 0.5 * r), (x, y + 0.7 * r)], theme.muted
        )
