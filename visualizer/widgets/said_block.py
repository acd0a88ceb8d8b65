"""A sentence with words in bold and numbers on a tint, over a few lines."""

from __future__ import annotations

import re

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer.lenses.linked_words import Said, Sentence, plain
from visualizer.widgets.canvas import LEFT, Canvas, Face, box, write

# Where a line may be broken: behind a space, and before any ideograph.
_UNBROKEN = re.compile(r"[^\s\u2e80-\u9fff]+\s*|[\u2e80-\u9fff][，。；：、]?\s*|\s+")


class SaidBlock(Canvas):
    """Always as high as `lines` lines; what has no room there ends in an ellipsis."""

    def __init__(self, lines: int = 2, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.set_ground("surface")
        self._most = lines
        self._sentence: Sentence = ()

    def set_sentence(self, sentence: Sentence) -> None:
        if sentence == self._sentence:
            return
        self._sentence = sentence
        self.setAccessibleName(plain(sentence))
        self.setToolTip(plain(sentence))
        self.update()

    @property
    def sentence(self) -> Sentence:
        return self._sentence

    def sizeHint(self) -> QSize:
        return QSize(round(30 * self.em), round(self._most * self._line()))

    def _line(self) -> float:
        return 1.75 * self.em

    def _face(self, said: Said) -> Face:
        return self.face(bold=said.kind == "bold")

    def _width(self, said: Said) -> float:
        padding = 0.7 * self.em if said.kind == "chip" else 0.0
        return self._face(said).width(said.text) + padding

    def arranged(self) -> list[list[tuple[float, Said]]]:
        """The pieces of each line with their places, as they are painted."""
        lines: list[list[tuple[float, Said]]] = [[]]
        x = 0.0
        for said in _pieces(self._sentence):
            width = self._width(said)
            needed = self._width(Said(said.text.rstrip(), said.kind))
            if x and x + needed > self.width():
                if len(lines) == self._most:
                    lines[-1].append((x, Said("…")))
                    return lines
                lines.append([])
                x = 0.0
            if not x and not said.text.strip():
                continue
            lines[-1].append((x, said))
            x += width
        return lines

    def paint(self, painter: QPainter) -> None:
        em, theme = self.em, self.theme
        for number, line in enumerate(self.arranged()):
            top = number * self._line()
            for x, said in line:
                width = self._width(said)
                rect = QRectF(x, top, min(width, self.width() - x) + 1, self._line())
                if said.kind == "chip":
                    chip = QRectF(x, rect.center().y() - 0.72 * em, width, 1.44 * em)
                    box(painter, chip, theme.accent_tint, None, 0.25 * em)
                    write(painter, chip, said.text, self._face(said), theme.text)
                else:
                    write(painter, rect, said.text, self._face(said), theme.text, LEFT)


def _pieces(sentence: Sentence) -> list[Said]:
    """What is never cut; a comma stays beside the chip before it."""
    found: list[Said] = []
    for said in sentence:
        if said.kind != "plain":
            found.append(said)
        else:
            found += [Said(text) for text in _UNBROKEN.findall(said.text)]
    return found
