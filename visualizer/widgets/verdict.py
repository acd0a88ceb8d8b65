"""A tick or a cross, drawn: the bundled font has no tick."""

from __future__ import annotations

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPen

from visualizer.theme import Theme
from visualizer.widgets.canvas import ink

TICK = ((-1.0, 0.0, -0.2, 1.0), (-0.2, 1.0, 1.0, -1.0))
CROSS = ((-1.0, -1.0, 1.0, 1.0), (-1.0, 1.0, 1.0, -1.0))


def draw_verdict(painter: QPainter, middle: QPointF, em: float, right: bool, theme: Theme) -> None:
    """Whether an output is as expected, told by shape as well as by colour.

    em: the font's size in pixels
    """
    painter.setPen(QPen(ink(theme.output if right else theme.error), 0.14 * em))
    x, y, s = middle.x(), middle.y(), 0.26 * em
    for x1, y1, x2, y2 in TICK if right else CROSS:
        a = round(x + s * x1), round(y + s * y1)
        painter.drawLine(*a, round(x + s * x2), round(y + s * y2))
