"""Tables of the training lab: norms layer by layer, held-out examples."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize
from PySide6.QtGui import QHelpEvent, QPainter, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from visualizer import fonts
from visualizer.lenses.lab_picture import NormBar, Sample
from visualizer.widgets.canvas import LEFT, RIGHT, Canvas, Face, box, write
from visualizer.widgets.verdict import draw_verdict

LINE = 1.45
# So many letters tell which word of a heading was cut.
LEAST_TOLD = 3
# What a turn of the wheel by one notch is, and how many lines go by then.
NOTCH, LINES_A_NOTCH = 120, 3


class Lines(Canvas):
    """A heading and lines below it; where there is not room for all of them the wheel goes
    through them, and a bar at the right says where one is.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._first, self._turned = 0, 0

    def count(self) -> int:
        """How many lines there are."""
        raise NotImplementedError

    def words_of(self, number: int) -> str:
        """All that a line says."""
        raise NotImplementedError

    def blocks(self) -> int:
        """How many columns of lines there are beside each other."""
        return 1

    def line_at(self, pos: QPointF) -> int | None:
        """The number of the line at a position."""
        row = int(pos.y() / (LINE * self.em)) - 1
        block = int(pos.x() / max(self.width() / self.blocks(), 1))
        found = self.first() + block * self.room() + row
        return found if 0 <= row < self.room() and found < self.count() else None

    def sizeHint(self) -> QSize:
        return QSize(round(30 * self.em), round((self.count() + 1) * LINE * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(16 * self.em), round(4 * self.em))

    def room(self) -> int:
        """How many lines there is room for below the heading, in one column."""
        return max(int(self.height() / self.em / LINE + 0.05) - 1, 1)

    def first(self) -> int:
        """The first line on show."""
        return max(min(self._first, self.count() - self.room() * self.blocks()), 0)

    def shown(self) -> range:
        """The lines on show."""
        first = self.first()
        return range(first, min(first + self.room() * self.blocks(), self.count()))

    def content(self) -> float:
        """The width that is left beside the bar."""
        return self.width() - (0.9 * self.em if len(self.shown()) < self.count() else 0.0)

    def draw_bar(self, painter: QPainter) -> None:
        """Where one is in what there is not room for at once."""
        shown, count, em = self.shown(), self.count(), self.em
        if len(shown) >= count:
            return
        top, high = LINE * em, self.room() * LINE * em
        wide = 0.3 * em
        groove = QRectF(self.width() - wide, top, wide, high)
        box(painter, groove, self.theme.chip, None, wide / 2)
        handle = QRectF(groove)
        handle.setTop(top + high * shown.start / count)
        handle.setHeight(max(high * len(shown) / count, em))
        box(painter, handle, self.theme.border_strong, None, wide / 2)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if len(self.shown()) >= self.count():
            event.ignore()
            return
        self._turned += event.angleDelta().y()
        notches = int(self._turned / NOTCH * LINES_A_NOTCH)
        self._turned -= notches * NOTCH // LINES_A_NOTCH
        most = self.count() - self.room() * self.blocks()
        self._first = min(max(self.first() - notches, 0), most)
        self.update()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            number = self.line_at(QPointF(event.pos()))
            QToolTip.showText(
                event.globalPos(), "" if number is None else self.words_of(number), self
            )
            return True
        return bool(super().event(event))


class NormTable(Lines):
    """A line for each layer: its name, the norms as bars of equal ratios, and the numbers."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
            self.update()

    def count(self) -> int:
        return len(self._bars)

    def words_of(self, number: int) -> str:
        bar = self._bars[number]
        return f"{bar.label}   {'   '.join(bar.texts)}"

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
        bars = QRectF(names, 0, max(self.content() - names - numbers, 0.0), 0)
        self._write_line(painter, 0, self._heads[0], self._heads[1:], widths, theme.muted)
        for place, number in enumerate(self.shown(), 1):
            bar = self._bars[number]
            self._write_line(painter, place, bar.label, bar.texts, widths, theme.text)
            self._draw_bars(painter, place, bar, bars)
        self.draw_bar(painter)

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
        wide = max(self.content() - sum(widths) - 0.9 * em * len(widths), 0.0)
        room = QRectF(0, top, wide, height)
        label = whole_head(label, room.width(), small) if number == 0 else label
        write(painter, room, label, small, colour, LEFT)
        right = self.content()
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


def whole_head(head: str, room: float, face: Face) -> str:
    """A heading with all of its words, or with as many as are told by what is left of the last one.

    The first part is a step, which stays whole: a number that is cut would be read as another one.
    """
    if face.width(head) <= room:
        return head
    step, _, words = head.partition(" · ")
    least = face.width(f"{step} · {words[:LEAST_TOLD]}…")
    return head if least <= room else step


def shared(wished: list[float], room: float) -> list[float]:
    """Widths of columns within a room: those that wish for less than an equal share have it all."""
    widths, left = [0.0] * len(wished), room
    for done, place in enumerate(sorted(range(len(wished)), key=wished.__getitem__)):
        widths[place] = min(wished[place], left / (len(wished) - done))
        left -= widths[place]
    return widths


class SampleTable(Lines):
    """A line for each held-out example: what was read, what should come, what came; in several
    columns where there is room and more than one has.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._samples: tuple[Sample, ...] = ()
        self._heads: tuple[str, ...] = ("", "", "")
        self._empty = ""
        self._wished: tuple[float, list[float]] | None = None

    def set_samples(self, samples: tuple[Sample, ...], heads: tuple[str, ...], empty: str) -> None:
        """heads: of what is read, what should come and what came; without the last of the three
        nothing has come yet
        """
        if (samples, heads, empty) != (self._samples, self._heads, self._empty):
            self._samples, self._heads, self._empty = samples, heads, empty
            self._wished = None
            said = (f"{s.source}: {s.output} ({s.expected})" for s in samples)
            self.describe(", ".join(heads), "; ".join(said))
            self.update()

    def count(self) -> int:
        return len(self._samples)

    def words_of(self, number: int) -> str:
        return "   ".join(text for text in self._texts(self._samples[number]) if text)

    def _texts(self, sample: Sample) -> tuple[str, ...]:
        return (sample.source, sample.expected, sample.output)[: len(self._heads)]

    def wished(self) -> list[float]:
        """How wide each column of texts would be with all of its words."""
        if self._wished is None or self._wished[0] != self.em:
            small, table = self.face(fonts.SMALL), [self._heads, *map(self._texts, self._samples)]
            count = range(len(self._heads))
            wide = [max(small.width(row[n]) for row in table) + self.em for n in count]
            self._wished = self.em, wide
        return self._wished[1]

    @property
    def _margin(self) -> float:
        """Room for what says whether it is right."""
        return 1.4 * self.em if len(self._heads) > 2 else 0.0

    def blocks(self) -> int:
        if len(self._heads) < 3 or len(self._samples) <= self.room():
            return 1
        each = self._margin + sum(self.wished()) + self.em
        most = math.ceil(len(self._samples) / self.room())
        return min(max(int(self.width() / each), 1), most)

    def paint(self, painter: QPainter) -> None:
        small = self.face(fonts.SMALL)
        if not self._samples:
            write(painter, QRectF(self.rect()), self._empty, small, self.theme.muted)
            return
        blocks, shown, room = self.blocks(), self.shown(), self.room()
        each = self.content() / blocks
        margin, gap = self._margin, self.em if blocks > 1 else 0.0
        widths = shared(self.wished(), each - margin - gap)
        for block in range(blocks):
            left = block * each + margin
            self._write_line(painter, left, 0, self._heads, widths, None)
            for place, number in enumerate(shown[block * room : (block + 1) * room], 1):
                sample = self._samples[number]
                texts = self._texts(sample)
                self._write_line(painter, left, place, texts, widths, sample.is_right)
        self.draw_bar(painter)

    def _write_line(
        self,
        painter: QPainter,
        left: float,
        place: int,
        texts: tuple[str, ...],
        widths: list[float],
        right: bool | None,
    ) -> None:
        """right: None for the heading"""
        em, theme, small = self.em, self.theme, self.face(fonts.SMALL)
        x, top = left, place * LINE * em
        last = theme.output if right else theme.error_text
        for number, (text, wide) in enumerate(zip(texts, widths, strict=True)):
            colour = theme.muted if right is None else last if number == 2 else theme.text
            rect = QRectF(x, top, wide - 0.5 * em, LINE * em)
            text = whole_head(text, rect.width(), small) if right is None else text
            write(painter, rect, text or "–", small, colour, LEFT)
            x += wide
        if right is not None and self._margin:
            middle = QPointF(left - 0.9 * em, top + 0.5 * LINE * em)
            draw_verdict(painter, middle, em, right, theme)
