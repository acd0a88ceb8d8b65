"""A plot of a few lines and dots, painted into a part of a canvas."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from visualizer import fonts
from visualizer.lenses.strips import Curves, Line
from visualizer.widgets import figures
from visualizer.widgets.canvas import CENTRE, LEFT, RIGHT, Canvas, write
from visualizer.widgets.heatmap_layout import Cells

Spot = tuple[str, int, int]

# The piece of line before a name in the legend; long enough to show dashes.
SWATCH = 1.3
# The type of the figures at the axes.
AXIS = 0.76


class CurvePlot:
    """Where the points of the lines lie in `area`, in logical pixels.

    cells: the columns that an aligned plot follows    filled: the lines take all of the width,
    and the legend stands above them
    """

    def __init__(
        self,
        canvas: Canvas,
        curves: Curves,
        area: QRectF,
        cells: Cells | None,
        filled: bool = False,
    ) -> None:
        self.canvas, self.curves, self.area = canvas, curves, area
        self.filled = filled
        em = canvas.em
        self.cells = cells if curves.aligned else None
        self.y_low, self.y_high = _bounds([line.y for line in curves.lines])
        head = (4.0 if filled else 1.5) * em
        foot = 1.5 * em if curves.x_title else 0.4 * em
        if self.cells is not None:
            bounds = self.cells.bounds()
            left, right = bounds.left(), bounds.right()
        elif filled:
            left, right = area.left() + self._figures_width() + 0.6 * em, area.right() - 0.4 * em
        else:
            # as far to the right as the legend needs
            left = cells.bounds().left() if cells is not None else area.left() + 5 * em
            right = area.right() - self._legend_width() - em
            right = min(right, left + 62 * em)
        top, bottom = area.top() + head, area.bottom() - foot
        self.plot = QRectF(left, top, max(right - left, 1.0), max(bottom - top, 1.0))
        self.x_low, self.x_high = _span([line.x for line in curves.lines])
        self.points = [self._place(line) for line in curves.lines]

    def _legend_width(self) -> float:
        face = self.canvas.face(fonts.SMALL)
        widest = max((face.width(line.label) for line in self.curves.lines), default=0.0)
        return widest + (SWATCH + 1.3) * self.canvas.em if widest else 0.0

    def _figures_width(self) -> float:
        ends = tuple(figures.bound(value) for value in (self.y_low, 0.0, self.y_high))
        return self.canvas.face(AXIS).widest(ends)

    def _place(self, line: Line) -> np.ndarray:
        """(n, 2) the places of a line's points."""
        x, y = np.asarray(line.x, np.float64), np.asarray(line.y, np.float64)
        if self.cells is not None:
            centres = self.cells.column_centres()
            # where columns share a place, it is the place of all of them
            block = 1 if self.cells.columns is None else self.cells.columns.block
            px = np.interp(x, np.arange(len(centres)) * block + (block - 1) / 2, centres)
        else:
            px = self._across(x)
        return np.stack([px, self._up(y)], axis=1)

    def _across(self, x: np.ndarray) -> np.ndarray:
        return self.plot.left() + (x - self.x_low) / (self.x_high - self.x_low) * self.plot.width()

    def _up(self, y: np.ndarray) -> np.ndarray:
        share = (y - self.y_low) / (self.y_high - self.y_low)
        return self.plot.bottom() - share * self.plot.height()

    # The pointer.

    def spot_at(self, pos: QPointF) -> Spot | None:
        """The record's cell whose point is nearest to the pointer, if one is near."""
        em = self.canvas.em
        if not self.plot.adjusted(-em, -em, em, em).contains(pos):
            return None
        best: tuple[float, Spot] | None = None
        for line, places in zip(self.curves.lines, self.points, strict=True):
            if line.cells is None or not len(places):
                continue
            dx, dy = np.abs(places[:, 0] - pos.x()), np.abs(places[:, 1] - pos.y())
            # under the strips the column decides, and then the nearer of the lines
            distance = dx * 1e3 + dy if self.cells is not None else np.hypot(dx, dy)
            nearest = int(distance.argmin())
            if self.cells is None and distance[nearest] > em:
                continue
            row, column = (int(n) for n in line.cells[nearest])
            if best is None or distance[nearest] < best[0]:
                best = (float(distance[nearest]), (line.site, row, column))
        return best[1] if best is not None else None

    def place_of(self, spot: Spot) -> QPointF | None:
        """Where a cell's point is drawn, if the plot has one."""
        for line, places in zip(self.curves.lines, self.points, strict=True):
            if line.cells is None or line.site != spot[0]:
                continue
            found = np.flatnonzero((line.cells == spot[1:]).all(axis=1))
            if found.size:
                return QPointF(*places[found[0]])
        return None

    # Painting.

    def draw(self, painter: QPainter) -> None:
        canvas, em, theme = self.canvas, self.canvas.em, self.canvas.theme
        left = self.area.left() if self.filled else self.plot.left()
        heading = QRectF(left, self.area.top(), self.area.width(), 1.4 * em)
        write(painter, heading, self.curves.title, canvas.face(bold=True), theme.text, LEFT)
        self._draw_axes(painter)
        for line, places in zip(self.curves.lines, self.points, strict=True):
            colour = QColor(getattr(theme, line.colour))
            shape = [QPointF(x, y) for x, y in places.tolist()]
            painter.setBrush(Qt.BrushStyle.NoBrush)
            if line.style == "dots":
                pen = QPen(colour, 0.38 * em)
                pen.setCapStyle(Qt.PenCapStyle.RoundCap)
                painter.setPen(pen)
                painter.drawPoints(QPolygonF(shape))
            elif line.style == "bars":
                self._draw_bars(painter, line, places, colour)
            elif line.style == "dashed":
                painter.setPen(_dashed(colour, 1.2))
                # dashes that begin anew at each point would close on short pieces
                painter.drawPolyline(QPolygonF(shape))
            else:
                pen = QPen(colour, 1.6 if line.style == "line" else 1.0)
                painter.setPen(pen)
                # one polyline through the stroker takes five times as long
                painter.drawLines([QLineF(a, b) for a, b in pairwise(shape)])
        self._draw_legend(painter)

    def _draw_bars(self, painter: QPainter, line: Line, places: np.ndarray, colour: QColor) -> None:
        """From 0; the lines that are bars share the width of a column."""
        bars = [other for other in self.curves.lines if other.style == "bars"]
        count = len(places)
        wide = min(0.7 * self.plot.width() / max(count, 1), 9 * self.canvas.em) / len(bars)
        shift = (bars.index(line) - len(bars) / 2) * wide
        zero = float(self._up(np.float64(0.0)))
        for x, y in places.tolist():
            bar = QRectF(x + shift + 1, min(zero, y), max(wide - 2, 1.0), max(abs(y - zero), 1.0))
            painter.fillRect(bar, colour)

    def _draw_axes(self, painter: QPainter) -> None:
        canvas, em, theme, plot = self.canvas, self.canvas.em, self.canvas.theme, self.plot
        small = canvas.face(AXIS)
        painter.setPen(QPen(QColor(theme.border_strong), 1.0))
        zero = canvas.snap(float(self._up(np.float64(0.0)))) + 0.5
        painter.drawLine(QPointF(plot.left(), zero), QPointF(plot.right(), zero))
        if self.cells is None and self.x_low < 0 < self.x_high:
            x = canvas.snap(float(self._across(np.float64(0.0)))) + 0.5
            painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
        ticks = [(self.y_high, plot.top() + 0.35 * em), (self.y_low, plot.bottom() - 0.35 * em)]
        ticks = [tick for tick in ticks if abs(tick[1] - zero) > 0.9 * em]
        for value, y in [*ticks, (0.0, zero)]:
            rect = QRectF(plot.left() - 5 * em, y - 0.6 * em, 4.6 * em, 1.2 * em)
            write(painter, rect, figures.bound(value), small, theme.muted, RIGHT)
        if self.curves.x_title:
            for value, align in ((self.x_low, LEFT), (self.x_high, RIGHT)):
                rect = QRectF(plot.left(), plot.bottom() + 0.15 * em, plot.width(), 1.2 * em)
                write(painter, rect, figures.bound(value), small, theme.muted, align)
            rect = rect.adjusted(4 * em, 0, -4 * em, 0)
            write(painter, rect, self.curves.x_title, small, theme.muted, CENTRE)
        if self.curves.y_title:
            x = plot.left() if self.x_low >= 0 else float(self._across(np.float64(0.0)))
            rect = QRectF(x + 0.4 * em, plot.top() - 0.4 * em, 12 * em, 1.2 * em)
            write(painter, rect, self.curves.y_title, small, theme.muted, LEFT)

    def _draw_legend(self, painter: QPainter) -> None:
        canvas, em, theme = self.canvas, self.canvas.em, self.canvas.theme
        face = canvas.face(fonts.SMALL)
        named = [line for line in self.curves.lines if line.label]
        line_height = min(1.25 * em, (self.plot.height() + em) / max(len(named), 1))
        x, y = self.plot.right() + 0.8 * em, self.plot.top() - 0.3 * em
        if self.filled:
            x, y = self.area.left(), self.area.top() + 1.7 * em
        for line in named:
            middle = canvas.snap(y + line_height / 2) + 0.5
            colour = QColor(getattr(theme, line.colour))
            painter.setPen(_dashed(colour, 1.8) if line.style == "dashed" else QPen(colour, 2.0))
            painter.drawLine(QPointF(x, middle), QPointF(x + SWATCH * em, middle))
            start = x + (SWATCH + 0.35) * em
            rect = QRectF(start, y, self.canvas.width() - start, line_height)
            write(painter, rect, line.label, face, theme.text, LEFT)
            if self.filled:
                x = start + face.width(line.label) + 1.2 * em
            else:
                y += line_height


def _dashed(colour: QColor, width: float) -> QPen:
    pen = QPen(colour, width)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    pen.setDashPattern([4.0, 2.6])
    return pen


def _bounds(values: list[np.ndarray]) -> tuple[float, float]:
    """The range of the finite numbers, with 0 in it and never empty."""
    finite = [v[np.isfinite(v)] for v in values]
    low = min((float(v.min()) for v in finite if v.size), default=0.0)
    high = max((float(v.max()) for v in finite if v.size), default=0.0)
    low, high = min(low, 0.0), max(high, 0.0)
    return (low, high) if high > low else (low - 1.0, high + 1.0)


def _span(values: list[np.ndarray]) -> tuple[float, float]:
    low = min((float(v.min()) for v in values if v.size), default=0.0)
    high = max((float(v.max()) for v in values if v.size), default=1.0)
    return (low, high) if high > low else (low, low + 1.0)
