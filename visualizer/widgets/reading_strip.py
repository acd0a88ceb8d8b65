"""The words of a source sentence, each on a tint as strong as the weight that it was read with."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.widgets.canvas import LEFT, RIGHT, Canvas, box, write

# Smaller weights would be written as 0.00: their words stand alone.
TOLD = 0.005


class ReadingStrip(Canvas):
    """A heading, and below it the words, each with its weight beside it; or one sentence alone."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._head, self._record, self._said = "", "", ""
        self._words: tuple[str, ...] = ()
        self._weights: Any = None

    def say(self, sentence: str) -> None:
        """There is nothing to show yet."""
        self._head, self._record, self._said, self._words = "", "", sentence, ()
        self.setAccessibleName(sentence)
        self.update()

    def set_reading(self, head: str, record: str, words: tuple[str, ...], weights: Any) -> None:
        """record: which cells the weights are    weights: (words,), from 0 to 1"""
        self._head, self._record, self._said = head, record, ""
        self._words, self._weights = words, weights
        told = (f"{word} {weight:.2f}" for word, weight in zip(words, weights, strict=True))
        self.setAccessibleName(f"{head} {' '.join(told)}")
        self.update()

    @property
    def record(self) -> str:
        """The name of what is on show; empty where that is a sentence."""
        return self._record

    @property
    def weights(self) -> Any:
        return self._weights if self._words else None

    def sizeHint(self) -> QSize:
        return QSize(round(30 * self.em), round(3.3 * self.em))

    def shown(self) -> list[int]:
        """The words there is room for: all of them, else those that were read most."""
        room = self.width() + 0.3 * self.em
        chosen: list[int] = []
        for place in np.argsort(-np.asarray(self._weights), kind="stable").tolist():
            room -= self._width(place) + 0.3 * self.em
            if room < 0:
                break
            chosen.append(place)
        return sorted(chosen)

    def _width(self, place: int) -> float:
        return self.face().width(self._words[place]) + self._number_width(place) + 0.9 * self.em

    def _number_width(self, place: int) -> float:
        if self._weights[place] < TOLD:
            return 0.0
        return self.face(fonts.SMALL).width(f"{self._weights[place]:.2f}") + 0.45 * self.em

    def paint(self, painter: QPainter) -> None:
        em, theme, small = self.em, self.theme, self.face(fonts.SMALL)
        line = QRectF(0, 0, self.width(), 1.5 * em)
        if not self._words:
            write(painter, line, self._said, small, theme.muted, LEFT)
            return
        bold = self.face(bold=True)
        write(painter, line, self._head, bold, theme.text, LEFT)
        beside = line.adjusted(bold.width(self._head) + 0.7 * em, 0, 0, 0)
        write(painter, beside, self._record, small, theme.muted, LEFT)
        x = 0.0
        for place in self.shown():
            own, weight = self._width(place), float(self._weights[place])
            cell = QRectF(x, 1.6 * em, own, 1.6 * em)
            box(painter, cell, theme.chip, None, 0.35 * em)
            painter.setOpacity(min(max(weight, 0.0), 1.0))
            box(painter, cell, theme.accent_soft, None, 0.35 * em)
            painter.setOpacity(1.0)
            inner = cell.adjusted(0.45 * em, 0, -0.4 * em, 0)
            told = weight >= TOLD
            write(painter, inner, self._words[place], self.face(),
                  theme.text if told else theme.muted, LEFT)  # fmt: skip
            if told:
                write(painter, inner, f"{weight:.2f}", small, theme.text, RIGHT)
            x += own + 0.3 * em
