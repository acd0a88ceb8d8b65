"""One muted line of words at the left, and behind it what one should not overlook."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.widgets.canvas import LEFT, Canvas, write
from visualizer.widgets.glossary_link import Links


class QuietLine(Canvas):
    """It keeps its height without words too; what has no room stands in the tooltip.

    The terms of the glossary in its words are `links`.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._words = self._warning = ""
        self.links = Links(self)

    def set_words(self, words: str, warning: str = "") -> None:
        if (words, warning) == (self._words, self._warning):
            return
        self._words, self._warning = words, warning
        self.describe(self.text())
        self.setToolTip(self.text())
        self.update()

    def text(self) -> str:
        """All of it."""
        return " · ".join(filter(None, (self._words, self._warning)))

    def sizeHint(self) -> QSize:
        return QSize(round(24 * self.em), round(1.3 * self.em))

    def paint(self, painter: QPainter) -> None:
        face, theme = self.face(fonts.SMALL), self.theme
        self.links.clear()
        rect = QRectF(self.rect())
        for words, colour in ((self._words, theme.muted), (self._warning, theme.warning_text)):
            if not words:
                continue
            if rect.left() > 0:
                words = f" · {words}"
            write(painter, rect, words, face, colour, LEFT)
            self.links.add(rect, words, face)
            rect = rect.adjusted(face.width(words), 0, 0, 0)
            if rect.width() <= 0:
                break
        self.links.underline(painter)
