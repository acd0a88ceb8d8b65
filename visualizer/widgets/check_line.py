"""What the check of a gradient has brought: one line, green, red or grey."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.lenses.check import CheckText
from visualizer.widgets.canvas import RIGHT, Canvas, box, write


class CheckLine(Canvas):
    """As wide as its text where there is room; the tooltip has all of it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Expanding)
        self._check: CheckText | None = None

    def set_check(self, check: CheckText | None) -> None:
        if check == self._check:
            return
        self._check = check
        self.setToolTip("" if check is None else check.full)
        self.setAccessibleName("" if check is None else check.text)
        self.updateGeometry()
        self.update()

    @property
    def check(self) -> CheckText | None:
        return self._check

    def sizeHint(self) -> QSize:
        text = "" if self._check is None else self._check.text
        wide = self.face(fonts.SMALL).width(text) + 1.2 * self.em if text else 0.0
        return QSize(round(wide), round(1.6 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, round(1.6 * self.em))

    def paint(self, painter: QPainter) -> None:
        check, theme, em = self._check, self.theme, self.em
        if check is None:
            return
        grounds = {
            "good": (theme.output_tint, theme.output),
            "bad": (theme.surface, theme.error_text),
        }
        rect = QRectF(self.rect()).adjusted(0.5, 0.1 * em, -0.5, -0.1 * em)
        ink = theme.muted
        if check.tone in grounds:
            fill, border = grounds[check.tone]
            box(painter, rect, fill, border, 0.35 * em)
            ink = theme.text if check.tone == "good" else theme.error_text
        elif check.tone == "quiet":
            box(painter, rect, theme.chip, None, 0.35 * em)
        inner = rect.adjusted(0.5 * em, 0, -0.5 * em, 0)
        write(painter, inner, check.text, self.face(fonts.SMALL), ink, RIGHT)
