"""Tables of the training lab: norms layer by layer, held-out examples."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.lenses.lab_picture import NormBar, Sample
from visualizer.widgets.canvas import LEFT, RIGHT, Canvas, box, write
from visualizer.widgets.verdict import draw_verdict

LINE = 1.45


class NormTable(Canvas):
    """A line for each layer: its name, the norms as bars of equal ratios, and the numbers."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._bars: tuple[NormBar, ...] = ()
        self._heads: tuple[str, str, str, str] = ("", "", "", "")
        self._empty = ""

    def set_norms(
        self, bars: tuple[NormBar, ...], heads: tuple[str, str, str, str], empty: str
    ) -> None:
        """heads: of the layers, the parameter norms, the update norms and the ratios"""
        if (bars, heads, empty) != (self._bars, self._heads, self._empty):
            self._bars, self._heads, self._empty = bars, heads, empty
            said = (f"{bar.label}: {', '.join(bar.texts)}" for bar in bars)
            self.describe(", ".join(heads), "; ".join(said))
            self.setToolTip("\n".join(f"{bar.label}   {'   '.join(bar.texts)}" for bar in bars))
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(30 * self.em), round((len(self._bars) + 1) * LINE * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(16 * self.em), round(4 * self.em))

    def paint(self, painter: QPainter) -> None:
        em, theme, small = self.em, self.theme, self.face(fonts.SMALL)
        if not self._bars:
            write(painter, QRectF(self.rect()), self._empty, small, theme.muted)
            return
        texts = [self._heads[1:], *(bar.texts for bar in self._bars)]
        widths = [max(small.width(row[n]) for row in texts) for n in range(3)]
        names = max(small.width(bar.label) for bar in self._bars)
        names = max(names, small.width(self._heads[0])) + 0.9 * em
        numbers = sum(widths) + 3.0 * em
        bars = QRectF(names, 0, max(self.width() - names - numbers, 0.0), 0)
        lines = max(min(len(self._bars), int(self.height() / em / LINE) - 1), 1)
        self._write_line(painter, 0, self._heads[0], self._heads[1:], widths, theme.muted)
        for number, bar in enumerate(self._bars[:lines], 1):
            self._write_line(painter, number, bar.label, bar.texts, widths, theme.text)
            self._draw_bars(painter, number, bar, bars)

    def _write_line(
        self,
        painter: QPainter,
        number: int,
        label: str,
        texts: tuple[str, ...],
        widths: list[float],
        colour: str,
    ) -> None:
        em, small = self.em, self.face(fonts.SMALL)
        top, height = number * LINE * em, LINE * em
        write(painter, QRectF(0, top, self.width(), height), label, small, colour, LEFT)
        right = float(self.width())
        for text, wide in zip(reversed(texts), reversed(widths), strict=True):
            room = QRectF(right - wide, top, wide, height)
            write(painter, room, text, small, colour, RIGHT)
            right -= wide + 0.9 * em

    def _draw_bars(self, painter: QPainter, number: int, bar: NormBar, room: QRectF) -> None:
        """Both norms over one logarithmic scale, from the least to the largest of the table."""
        em, theme = self.em, self.theme
        values = [v for b in self._bars for v in (b.parameters, b.update) if v > 0]
        if not values or room.width() < 2 * em:
            return
        low, high = math.log(min(values) / 2), math.log(max(values))
        middle = (number + 0.5) * LINE * em
        thick = 0.34 * em
        for value, colour, y in (
            (bar.parameters, theme.encoder, middle - thick),
            (bar.update, theme.decoder, middle),
        ):
            if value > 0:
                share = (math.log(value) - low) / (high - low)
                rect = QRectF(room.left(), y, share * room.width(), thick)
                box(painter, rect, colour, None, 0.1 * em)


class SampleTable(Canvas):
    """A line for each held-out example: what was read, what should come, what came."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._samples: tuple[Sample, ...] = ()
        self._heads: tuple[str, ...] = ("", "", "")
        self._empty = ""

    def set_samples(self, samples: tuple[Sample, ...], heads: tuple[str, ...], empty: str) -> None:
        """heads: of what is read, what should come and what came; without the last of the three
        nothing has come yet
        """
        if (samples, heads, empty) != (self._samples, self._heads, self._empty):
            self._samples, self._heads, self._empty = samples, heads, empty
            said = (f"{s.source}: {s.output} ({s.expected})" for s in samples)
            self.describe(", ".join(heads), "; ".join(said))
            self.setToolTip("\n".join(f"{s.source}   {s.expected}   {s.output}" for s in samples))
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(30 * self.em), round((len(self._samples) + 1) * LINE * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(16 * self.em), round(4 * self.em))

    def paint(self, painter: QPainter) -> None:
        em, theme, small = self.em, self.theme, self.face(fonts.SMALL)
        if not self._samples:
            write(painter, QRectF(self.rect()), self._empty, small, theme.muted)
            return
        count = len(self._heads)
        judged = count > 2
        rows = [(s.source, s.expected, s.output)[:count] for s in self._samples]
        table = [self._heads, *rows]
        wished = [max(small.width(row[n]) for row in table) + em for n in range(count)]
        margin = 1.4 * em if judged else 0.0
        room = self.width() - margin
        scale = min(1.0, room / sum(wished))
        widths = [scale * wide for wide in wished]
        lines = max(min(len(rows), int(self.height() / em / LINE) - 1), 1)
        for number, row in enumerate([self._heads, *rows[:lines]]):
            x, top = margin, number * LINE * em
            right = number and self._samples[number - 1].is_right
            for place, (text, wide) in enumerate(zip(row, widths, strict=True)):
                last = theme.output if right else theme.error_text
                colour = theme.muted if not number else last if place == 2 else theme.text
                rect = QRectF(x, top, wide - 0.5 * em, LINE * em)
                write(painter, rect, text or "–", small, colour, LEFT)
                x += wide
            if number and judged:
                middle = QPointF(0.5 * em, top + 0.5 * LINE * em)
                draw_verdict(painter, middle, em, bool(right), theme)
