"""How one cell came about: its name, its terms, its value; below it what the pointer is on."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.widgets.canvas import LEFT, RIGHT, Canvas, Face, box, write


class CellLine(Canvas):
    """Two lines: "猫 → cat   terms = value" and "row → column   value   site"."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._name = self._terms = self._sign = self._value = ""
        self._exact = self._site = ""

    def set_cell(self, name: str, terms: str, sign: str, value: str, exact: str, site: str) -> None:
        """Empty texts are left out. exact, site: the second line's two ends."""
        self._name, self._terms, self._sign, self._value = name, terms, sign, value
        self._exact, self._site = exact, site
        self.describe(f"{name} {terms} {sign} {value}".strip(), f"{exact} {site}".strip())
        self.setToolTip(f"{name}  {terms} {sign} {value}\n{exact}  {site}".strip())
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(30 * self.em), round(3.35 * self.em))

    def paint(self, painter: QPainter) -> None:
        em, theme = self.em, self.theme
        bold, body, small = self.face(bold=True), self.face(), self.face(fonts.SMALL)
        upper = QRectF(0, 0, self.width(), 1.8 * em)
        lower = QRectF(0, 1.8 * em, self.width(), 1.5 * em)
        value_w = body.width(self._value) + 0.8 * em if self._value else 0.0
        sign_w = body.width(self._sign) + 0.5 * em if self._sign else 0.0
        x = self._draw(painter, upper, 0.0, 0.45 * upper.width(), self._name, bold, theme.text)
        room = upper.width() - x - value_w - sign_w - 1.4 * em
        x = self._draw(painter, upper, x, room, self._terms, body, theme.text)
        x = self._draw(painter, upper, x, sign_w, self._sign, body, theme.muted)
        if self._value:
            chip = QRectF(x, upper.center().y() - 0.8 * em, value_w, 1.6 * em)
            box(painter, chip, theme.accent_tint, None, 0.25 * em)
            write(painter, chip, self._value, body, theme.text)
        site_w = small.width(self._site)
        write(painter, lower, self._site, small, theme.muted, RIGHT)
        left = lower.adjusted(0, 0, -site_w - em, 0)
        write(painter, left, self._exact, small, theme.muted, LEFT)

    def _draw(
        self,
        painter: QPainter,
        line: QRectF,
        x: float,
        room: float,
        text: str,
        face: Face,
        colour: str,
    ) -> float:
        """Write at x; where the next part begins."""
        if not text or room <= 0:
            return x
        width = min(face.width(text), room)
        write(painter, QRectF(x, line.top(), width, line.height()), text, face, colour, LEFT)
        return x + width + 0.7 * self.em
