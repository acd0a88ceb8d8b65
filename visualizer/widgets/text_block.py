"""A few wrapped lines of plain text in a place that never changes its height."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QTextLayout, QTextOption
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer.widgets.canvas import Canvas
from visualizer.widgets.glossary_link import Links


class TextBlock(Canvas):
    """One sentence, and behind it another, muted, where it fits into `lines` lines as a whole.

    A first sentence that is too long gives way to its brief form, if it has one, and ends in an
    ellipsis where that is too long too. The tooltip has everything. Terms of the glossary are
    `links`.
    scale: of the type
    """

    def __init__(self, lines: int = 2, parent: QWidget | None = None, scale: float = 1.0) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._most, self._scale = lines, scale
        self._sentences: tuple[str, ...] = ()
        self._brief = ""
        self.links = Links(self)

    def set_sentences(self, *sentences: str, brief: str = "") -> None:
        """brief: of the first, for where that is too long"""
        sentences = tuple(sentence for sentence in sentences if sentence)
        if (sentences, brief) == (self._sentences, self._brief):
            return
        self._sentences, self._brief = sentences, brief
        self.setAccessibleName(" ".join(sentences))
        self.setToolTip(" ".join(sentences))
        self.update()

    def set_lines(self, lines: int) -> None:
        """Take room for so many lines."""
        if lines != self._most:
            self._most = lines
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(30 * self.em), round(self._most * self._line()))

    def _line(self) -> float:
        return 1.5 * self._scale * self.em

    def paint(self, painter: QPainter) -> None:
        self.links.clear()
        self._paint_lines(painter)
        self.links.underline(painter)

    def shown(self) -> tuple[str, str, bool]:
        """What is written, the sentence that it begins with, and whether that is all of it."""
        first = self._sentences[0] if self._sentences else ""
        forms = [(" ".join(self._sentences), first), (first, first)]
        if self._brief:
            forms.append((self._brief, self._brief))
        found = next((form for form in forms if self._broken(form[0])[1]), None)
        return (*(found or forms[-1]), found is not None)

    def _paint_lines(self, painter: QPainter) -> None:
        if not self._sentences:
            return
        text, first, fits = self.shown()
        lines, _ = self._broken(text)
        face = self.face(self._scale)
        painter.setFont(face.font)
        for number, (start, length) in enumerate(lines):
            words = text[start : start + length]
            if not fits and number == self._most - 1:
                words = face.metrics.elidedText(
                    text[start:], Qt.TextElideMode.ElideRight, self.width()
                )
            baseline = round((number + 0.5) * self._line() + face.metrics.capHeight() / 2)
            self._draw_line(painter, words, max(len(first) - start, 0), baseline)
            line = QRectF(0, number * self._line(), self.width(), self._line())
            self.links.add(line, words, face)

    def _broken(self, text: str) -> tuple[list[tuple[int, int]], bool]:
        """Start and length of each line, and whether that is the whole text."""
        layout = QTextLayout(text, self.face(self._scale).font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        lines: list[tuple[int, int]] = []
        layout.beginLayout()
        while len(lines) < self._most:
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(self.width())
            lines.append((line.textStart(), line.textLength()))
        layout.endLayout()
        return lines, not lines or sum(lines[-1]) >= len(text)

    def _draw_line(self, painter: QPainter, words: str, strong: int, baseline: int) -> None:
        head, tail = words[:strong], words[strong:]
        painter.setPen(QColor(self.theme.text))
        painter.drawText(QPointF(0, baseline), head)
        painter.setPen(QColor(self.theme.muted))
        painter.drawText(QPointF(self.face(self._scale).width(head), baseline), tail)
