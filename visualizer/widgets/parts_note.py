"""A muted note at the right that finds words and lines for the room it is given."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.widgets.canvas import RIGHT, Canvas, Face, write

BETWEEN = " · "
LINE = 1.15


class PartsNote(Canvas):
    """Several facts in one line; where there is no room for it with fewer words, in two lines of
    smaller type, and without the last facts, or without any.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._wordings: tuple[tuple[str, ...], ...] = ()
        self._cut = False

    def set_wordings(self, *wordings: tuple[str, ...], cut: bool = False) -> None:
        """The facts in many words, then in fewer.

        cut: whether the first one is a name, which is cut in its middle before it is left out
        """
        if (wordings, cut) != (self._wordings, self._cut):
            self._wordings, self._cut = wordings, cut
            self.describe(BETWEEN.join(wordings[0]) if wordings else "")
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(8 * self.em), round(1.6 * self.em))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def lines(self) -> tuple[Face, list[str]]:
        """What is written, and in which face."""
        face, small, room = self.face(), self.face(fonts.SMALL), float(self.width())
        whole = [BETWEEN.join(parts) for parts in self._wordings]
        for text in whole:
            if face.width(text) <= room:
                return face, [text]
        least = self._wordings[-1] if self._wordings else ()
        fewer = (least[:count] for count in range(len(least) - 1, 0, -1))
        halves: list[str] = []
        for parts in (*self._wordings, *fewer):
            halves = min(in_two(parts), key=lambda two: small.widest(tuple(two)))
            if small.widest(tuple(halves)) <= room:
                return small, halves
        if self._cut and least:
            return small, [small.metrics.elidedText(least[0], Qt.TextElideMode.ElideMiddle, room)]
        # half a fact would be read as another one
        return small, []

    def paint(self, painter: QPainter) -> None:
        face, lines = self.lines()
        high = LINE * self.em
        top = (self.height() - len(lines) * high) / 2
        for number, text in enumerate(lines):
            room = QRectF(0, top + number * high, self.width(), high)
            write(painter, room, text, face, self.theme.muted, RIGHT)


def in_two(parts: tuple[str, ...]) -> Iterable[list[str]]:
    """All ways to break facts into two lines."""
    if len(parts) < 2:
        yield list(parts)
    for place in range(1, len(parts)):
        yield [BETWEEN.join(parts[:place]), BETWEEN.join(parts[place:])]
