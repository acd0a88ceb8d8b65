"""Clipping as two bars, and the loss of two trainings as curves."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer.lenses.step_tables import Norms, digits
from visualizer.lenses.strips import Curves
from visualizer.widgets.canvas import LEFT, Canvas, box, ink, write
from visualizer.widgets.curve_plot import CurvePlot

WRAPPED = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)


class NormBars(Canvas):
    """The gradients' norm before and after clipping, and the line that it is cut at."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._norms: Norms | None = None
        self._words = ("", "", "")

    def set_norms(self, norms: Norms | None, words: tuple[str, str, str]) -> None:
        """words: before, after, and what the line is"""
        if (norms, words) != (self._norms, self._words):
            self._norms, self._words = norms, words
            said = "" if norms is None else f"{digits(norms.before)}, {digits(norms.after)}"
            self.describe(" / ".join(words), said)
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(30 * self.em), round(7.4 * self.em))

    def paint(self, painter: QPainter) -> None:
        norms, theme, em = self._norms, self.theme, self.em
        if norms is None:
            return
        face = self.face()
        label = max(face.width(word) for word in self._words[:2]) + em
        room = self.width() - label - 7 * em
        whole = max(norms.before, norms.most)
        rows = ((self._words[0], norms.before), (self._words[1], norms.after))
        for number, (word, value) in enumerate(rows):
            top = (1.9 + 2.5 * number) * em
            write(painter, QRectF(0, top, label, 1.8 * em), word, face, theme.text, LEFT)
            wide = max(room * value / whole, 1.0)
            colour = theme.bar_off if number == 0 and norms.before > norms.most else theme.accent
            box(painter, QRectF(label, top, wide, 1.8 * em), colour, None, 0.25 * em)
            spot = QRectF(label + wide + 0.5 * em, top, 7 * em, 1.8 * em)
            write(painter, spot, digits(value), face, theme.text, LEFT)
        x = self.snap(label + room * norms.most / whole) + 0.5
        painter.setPen(QPen(ink(theme.error), 1.5))
        painter.drawLine(QPointF(x, 1.5 * em), QPointF(x, 6.6 * em))
        said = f"{self._words[2]} {digits(norms.most)}"
        wide = face.width(said)
        left = min(max(x - wide / 2, 0.0), self.width() - wide)
        write(painter, QRectF(left, 0, wide + 2, 1.5 * em), said, face, theme.error_text, LEFT)


class LossCurves(Canvas):
    """Two trainings side by side in one plot; without them, words in as many lines as they take."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._curves: Curves | None = None
        self._empty = ""

    def set_curves(self, curves: Curves | None, empty: str) -> None:
        self._curves, self._empty = curves, empty
        said = "" if curves is None else "; ".join(line.label for line in curves.lines)
        self.describe("" if curves is None else curves.title, said)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(30 * self.em), round(14 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(16 * self.em), round(8 * self.em))

    def paint(self, painter: QPainter) -> None:
        if self._curves is None:
            painter.setFont(self.face().font)
            painter.setPen(ink(self.theme.muted))
            painter.drawText(QRectF(self.rect()), WRAPPED, self._empty)
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        CurvePlot(self, self._curves, QRectF(self.rect()), None, filled=True).draw(painter)
