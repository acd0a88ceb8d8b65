"""A chart of the training lab: curves over the steps, painted; a line marks where training is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.i18n import tr
from visualizer.lenses.lab_picture import Chart, ChartLine
from visualizer.lenses.numbers import brief
from visualizer.widgets.canvas import CENTRE, LEFT, RIGHT, Canvas, box, write
from visualizer.widgets.chart_columns import (
    column_runs,
    draw_runs,
    thinned,
    without_still_columns,
    zigzags,
)
from visualizer.widgets.glossary_link import Links

# So many points to a column of pixels are no longer painted one by one.
DENSE = 1.2
# Marks of what is cut off are so far from each other at least, in parts of the font's size.
CLOSEST = 0.5


class LabChart(Canvas):
    """A card with a heading, a line with names and newest values, an axis at the left, and one at
    the right where curves need it.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self.links = Links(self)
        self.chart: Chart | None = None
        self._pointed: float | None = None

    def set_chart(self, chart: Chart) -> None:
        if self.chart is not None and chart.key and chart.key == self.chart.key:
            return
        self.chart = chart
        now = ", ".join(f"{line.label} {line.now}".strip() for line in chart.lines)
        self.describe(chart.title, " · ".join([*chart.notes[:1], now]))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(20 * self.em), round(12 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(12 * self.em), round(8.5 * self.em))

    # Places.

    def plot_rect(self) -> QRectF:
        """Where the curves lie."""
        em, small = self.em, self.face(0.76)
        chart = self.chart
        ticks, others = ((), ()) if chart is None else (chart.ticks, chart.right)
        left = max((small.width(text) for _, text in ticks), default=0.0) + 1.9 * em
        right = max((small.width(text) + 0.6 * em for _, text in others), default=0.5 * em) + em
        return QRectF(self.rect()).adjusted(left, 3.9 * em, -right, -1.6 * em)

    def places(self, line: ChartLine) -> np.ndarray:
        """(n, 2) where a line's points are painted."""
        chart, plot = self.chart, self.plot_rect()
        assert chart is not None
        x = plot.left() + np.asarray(line.x, np.float64) / max(chart.last, 1) * plot.width()
        y = np.asarray(line.y, np.float64)
        if line.most is not None:
            share = y / line.most if line.most > 0 else np.zeros_like(y)
        elif chart.log:
            with np.errstate(divide="ignore", invalid="ignore"):
                share = (np.log(np.maximum(y, chart.low)) - np.log(chart.low)) / (
                    np.log(chart.high) - np.log(chart.low)
                )
        else:
            share = (y - chart.low) / (chart.high - chart.low)
        finite = np.isfinite(share)
        x, share = x[finite], share[finite]
        up = plot.bottom() - np.clip(share, 0.0, 1.0) * plot.height()
        return np.stack([x, up], axis=1)

    # Painting.

    def paint(self, painter: QPainter) -> None:
        em, theme, chart = self.em, self.theme, self.chart
        box(painter, QRectF(self.rect()), theme.surface, theme.border, 0.65 * em)
        if chart is None:
            return
        head = QRectF(1.0 * em, 0.55 * em, self.width() - 2 * em, 1.5 * em)
        write(painter, head, chart.title, self.face(bold=True), theme.text, LEFT)
        self.links.clear()
        self.links.add(head, chart.title, self.face(bold=True))
        self._draw_note(painter, chart)
        self._draw_grid(painter, chart)
        if chart.looked is not None:
            self._draw_looked(painter, chart, chart.looked)
        for line in chart.lines:
            self._draw_line(painter, line)
        self._draw_cut(painter)
        plot = self.plot_rect()
        if chart.here:
            x = self.snap(plot.left() + chart.here / max(chart.last, 1) * plot.width()) + 0.5
            pen = QPen(QColor(theme.text), 1.0)
            pen.setDashPattern([3.0, 2.5])
            painter.setPen(pen)
            painter.drawLine(QPointF(x, plot.top() - 0.3 * em), QPointF(x, plot.bottom()))
        if chart.waiting and not any(len(line.x) for line in chart.lines):
            small = self.face(fonts.SMALL)
            ground = QRectF(0, 0, small.width(chart.waiting) + 0.8 * em, 1.4 * em)
            ground.moveCenter(plot.center())
            painter.fillRect(ground, QColor(theme.surface))
            write(painter, ground, chart.waiting, small, theme.muted, CENTRE)
        self._draw_legend(painter, chart)
        if self._pointed is not None:
            self._draw_pointed(painter, chart)
        self.links.underline(painter)

    def cut_places(self) -> list[QPointF]:
        """Where a curve of the left axis goes on above it, not closer than marks can stand."""
        chart, plot = self.chart, self.plot_rect()
        assert chart is not None
        found: list[QPointF] = []
        for line in chart.lines:
            if line.most is None:
                above = line.x[np.isfinite(line.y) & (line.y > chart.high)].astype(np.float64)
                for x in (plot.left() + above / max(chart.last, 1) * plot.width()).tolist():
                    if not found or abs(x - found[-1].x()) > CLOSEST * self.em:
                        found.append(QPointF(x, plot.top()))
        return found

    def _draw_cut(self, painter: QPainter) -> None:
        """A small arrow upwards wherever the axis cuts a curve off."""
        em, chart = self.em, self.chart
        assert chart is not None
        colour = getattr(self.theme, chart.colours[0])
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colour))
        for at in self.cut_places():
            foot, wide = at.y() - 0.1 * em, 0.24 * em
            painter.drawPolygon(
                [
                    QPointF(at.x() - wide, foot),
                    QPointF(at.x(), foot - 0.36 * em),
                    QPointF(at.x() + wide, foot),
                ]
            )
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _draw_note(self, painter: QPainter, chart: Chart) -> None:
        """Beside the title what is to be known of the values, in as many words as have room."""
        em, small = self.em, self.face(0.76)
        left = 2.0 * em + self.face(bold=True).width(chart.title)
        right = self.width() - 1.0 * em
        text = next((text for text in chart.notes if small.width(text) <= right - left), "")
        if text:
            place = QRectF(left, 0.55 * em, right - left, 1.5 * em)
            write(painter, place, text, small, self.theme.muted, RIGHT)

    def _draw_looked(self, painter: QPainter, chart: Chart, step: int) -> None:
        """A quiet line at the step that is looked at, with its number below."""
        em, plot, small = self.em, self.plot_rect(), self.face(0.76)
        x = self.snap(plot.left() + step / max(chart.last, 1) * plot.width()) + 0.5
        painter.setPen(QPen(QColor(self.theme.muted), 1.0))
        painter.drawLine(QPointF(x, plot.top() - 0.3 * em), QPointF(x, plot.bottom() + 0.3 * em))
        text = f"{step:,}"
        # between the numbers at the ends of the axis
        wide = small.width(text)
        least = plot.left() + small.width("0") + 0.5 * em
        most = plot.right() - small.width(f"{chart.last:,}") - 0.5 * em - wide
        if step and least <= most:
            left = min(max(x - wide / 2, least), most)
            place = QRectF(left, plot.bottom() + 0.2 * em, wide, 1.2 * em)
            write(painter, place, text, small, self.theme.text, LEFT)

    def _draw_grid(self, painter: QPainter, chart: Chart) -> None:
        em, theme, plot, small = self.em, self.theme, self.plot_rect(), self.face(0.76)
        # where they are too close every second or only the ends are named
        room = plot.height() / max(len(chart.ticks) - 1, 1)
        every = next((n for n in (1, 2) if n * room >= 0.95 * em), max(len(chart.ticks) - 1, 1))
        for number, (value, text) in enumerate(chart.ticks):
            if chart.log:
                share = np.log(value / chart.low) / np.log(chart.high / chart.low)
            else:
                share = (value - chart.low) / (chart.high - chart.low)
            y = self.snap(plot.bottom() - float(share) * plot.height()) + 0.5
            painter.setPen(QPen(QColor(theme.border), 1.0))
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            if number % every == 0:
                place = QRectF(0, y - 0.6 * em, plot.left() - 0.7 * em, 1.2 * em)
                write(painter, place, text, small, getattr(theme, chart.colours[0]), RIGHT)
        for share, text in chart.right[::every]:
            y = self.snap(plot.bottom() - share * plot.height()) + 0.5
            place = QRectF(plot.right() + 0.6 * em, y - 0.6 * em, self.width(), 1.2 * em)
            write(painter, place, text, small, getattr(theme, chart.colours[1]), LEFT)
        foot = QRectF(plot.left(), plot.bottom() + 0.2 * em, plot.width(), 1.2 * em)
        write(painter, foot, "0", small, theme.muted, LEFT)
        if chart.axis:
            place = QRectF(0, foot.top(), plot.left() - 0.7 * em, foot.height())
            write(painter, place, chart.axis, small, theme.muted, RIGHT)
            self.links.add(place, chart.axis, small, right=True)
        write(painter, foot, f"{chart.last:,}", small, theme.muted, RIGHT)

    def _draw_line(self, painter: QPainter, line: ChartLine) -> None:
        if not len(line.x):
            return
        colour = QColor(getattr(self.theme, line.colour))
        if line.faint:
            # through which nothing shines: that takes fifty times as long to paint
            colour = mixed(colour, QColor(self.theme.surface), 0.22)
        wide = 1.2 if line.faint else 1.7
        ratio = self.devicePixelRatioF()
        if len(line.x) > DENSE * self.plot_rect().width() * ratio:
            places = self.places(self._thinned(line, ratio))
            if zigzags(places, wide):
                draw_runs(painter, column_runs(places, ratio), colour, wide, 1 / ratio)
                return
            places = without_still_columns(places, 0.5 / ratio)
        else:
            places = self.places(line)
        shape = [QPointF(x, y) for x, y in places.tolist()]
        if line.dots or len(shape) == 1:
            pen = QPen(colour, 0.34 * self.em)
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            painter.setPen(pen)
            painter.drawPoints(shape)
        painter.setPen(QPen(colour, wide))
        # one polyline through the stroker takes five times as long
        painter.drawLines([QLineF(a, b) for a, b in pairwise(shape)])

    def _thinned(self, line: ChartLine, ratio: float) -> ChartLine:
        """A curve that looks the same, of as few points as the columns of pixels need."""
        chart, plot = self.chart, self.plot_rect()
        assert chart is not None
        columns = np.arange(math.floor(plot.left() * ratio), math.ceil(plot.right() * ratio) + 1)
        edges = (columns / ratio - plot.left()) / plot.width() * max(chart.last, 1)
        x, y = thinned(line.x, line.y, edges)
        return replace(line, x=x, y=y)

    def _draw_legend(self, painter: QPainter, chart: Chart) -> None:
        """Names and newest values below the heading, where no curve runs."""
        em, theme = self.em, self.theme
        lines = chart.lines
        texts = [f"{line.label} {line.now}".rstrip() for line in lines]
        room = self.width() - 2.0 * em
        dash, gap = 0.9 * em, 0.9 * em
        small = self.face(fonts.SMALL)
        used = (
            sum(map(small.width, texts)) + len(texts) * (dash + 0.3 * em) + (len(texts) - 1) * gap
        )
        if used > room:
            small, dash, gap = self.face(0.76), 0.5 * em, 0.5 * em
            for wording in shorter_legends(chart.lines):
                lines, texts = wording
                used = sum(map(small.width, texts)) + len(texts) * (dash + 0.8 * em) - gap
                if used <= room:
                    break
        share = min(1.0, room / max(used, 1.0))
        x = 1.0 * em
        for line, text in zip(lines, texts, strict=True):
            colour = QColor(getattr(theme, line.colour))
            middle = 2.65 * em
            if line.faint:
                colour = mixed(colour, QColor(theme.surface), 0.35)
            painter.setPen(QPen(colour, 2.0))
            painter.drawLine(QPointF(x, middle), QPointF(x + dash, middle))
            x += dash + 0.3 * em
            wide = small.width(text) * share
            rect = QRectF(x, middle - 0.65 * em, wide, 1.3 * em)
            write(painter, rect, text, small, getattr(theme, line.colour), LEFT)
            self.links.add(rect, text, small)
            x += wide + gap

    # The pointer: what the curves say at a step.

    def _draw_pointed(self, painter: QPainter, chart: Chart) -> None:
        em, plot, small = self.em, self.plot_rect(), self.face(0.78)
        assert self._pointed is not None
        step = round((self._pointed - plot.left()) / plot.width() * chart.last)
        said = pointed_texts(chart, step)
        if not said:
            return
        x = self.snap(self._pointed) + 0.5
        painter.setPen(QPen(QColor(self.theme.border_strong), 1.0))
        painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
        ground = self.pointed_rect(x, said)
        box(painter, ground, self.theme.surface, self.theme.border_strong, 0.3 * em)
        for number, (colour, text) in enumerate(said):
            y = ground.top() + (0.2 + 1.2 * number) * em
            rect = QRectF(ground.left() + 0.45 * em, y, ground.width(), 1.2 * em)
            write(painter, rect, text, small, getattr(self.theme, colour), LEFT)

    def pointed_rect(self, x: float, said: list[tuple[str, str]]) -> QRectF:
        """Where the texts of a step stand: beside the pointer, and inside the card."""
        em, small = self.em, self.face(0.78)
        wide, high = max(small.width(text) for _, text in said) + 0.9 * em, 1.2 * len(said) * em
        left = x + 0.4 * em if x + wide + em < self.width() else x - wide - 0.4 * em
        # where neither side has room it lies over the line
        left = min(max(left, 0.3 * em), max(self.width() - wide - 0.3 * em, 0.0))
        return QRectF(left, self.plot_rect().bottom() - high - 0.5 * em, wide, high + 0.4 * em)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        plot, x = self.plot_rect(), event.position().x()
        self._pointed = x if plot.left() <= x <= plot.right() else None
        # a narrow chart has no room for it beside the title
        chart, near = self.chart, abs(event.position().y() - plot.top()) < self.em
        marked = near and chart is not None and bool(self.cut_places())
        self.setToolTip(chart.notes[0] if marked and chart is not None else "")
        self.update()

    def leaveEvent(self, event: object) -> None:
        self._pointed = None
        self.update()


def shorter_legends(
    lines: tuple[ChartLine, ...],
) -> Iterator[tuple[tuple[ChartLine, ...], list[str]]]:
    """Ever shorter wordings of a legend: the names of the last curves become brief first.

    A faint curve has its colour from another one, and can do without a name.
    """
    named = tuple(line for line in lines if not line.faint)
    # the first name says over how many steps a mean is taken: it stays as long as it can
    whole = [(some, n) for some in (lines, named) for n in _cuts(some)]
    for some, n in (*whole, (lines, 0), (named, 0)):
        names = [line.label if at < n else line.brief or line.label for at, line in enumerate(some)]
        yield some, [f"{name} {line.now}".rstrip() for name, line in zip(names, some, strict=True)]


def _cuts(lines: tuple[ChartLine, ...]) -> range:
    """How many names are whole: all of them, down to those up to the first that is not faint."""
    return range(len(lines), sum(line.faint for line in lines), -1)


def mixed(colour: QColor, ground: QColor, share: float) -> QColor:
    """So much of a colour on a ground."""
    pairs = zip(colour.getRgb()[:3], ground.getRgb()[:3], strict=True)
    return QColor(*(round(share * c + (1 - share) * g) for c, g in pairs))


def pointed_texts(chart: Chart, step: int) -> list[tuple[str, str]]:
    """Colour and text of the step, and of what each curve says at its last point up to it."""
    said = [("muted", tr("lab.chart.step", step=f"{step:,}"))]
    for line in chart.lines:
        at = int(np.searchsorted(line.x, step, side="right")) - 1
        if at >= 0:
            value = float(line.y[at])
            text = f"{100 * value:.1f} %" if chart.key[:1] == ("exact",) else brief(value)
            if int(line.x[at]) != step:
                text = tr("lab.curve.older", value=text, step=f"{int(line.x[at]):,}")
            said.append((line.colour, f"{line.label} {text}"))
    return said if len(said) > 1 else []
