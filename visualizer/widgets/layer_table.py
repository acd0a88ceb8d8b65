"""Residual stream and LayerNorm of one layer, one line per token: strip, μ, σ, strip."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.lenses.layer import LayerRows
from visualizer.lenses.numbers import in_unit
from visualizer.lenses.picture import Matrix
from visualizer.widgets.canvas import LEFT, RIGHT, Canvas, write
from visualizer.widgets.heatmap_cells import as_image, colour_indices
from visualizer.widgets.heatmap_layout import Cells, edges, round_step, shown_labels, whole_pixels

Spot = tuple[str, int, int]

# The lines there is room for, by the window's height; more tokens than these share it.
LEAST_LINES, MOST_LINES = 5, 10
SHARE = 0.17


class Bands(Cells):
    """Cells with a gap between the rows alone: the numbers of a token are one band."""

    def rect(self, row: int, column: int) -> QRectF:
        r = self.ratio
        x0, x1 = int(self.x[column]), int(self.x[column + 1])
        y0, y1 = int(self.y[row]), int(self.y[row + 1]) - self.gap
        return QRectF(x0 / r, y0 / r, (x1 - x0) / r, (y1 - y0) / r)

    def band(self, row: int) -> QRectF:
        first, last = self.rect(row, 0), self.rect(row, len(self.x) - 2)
        return first.united(last)


class LayerTable(Canvas):
    """cellHovered(site, row, column), left(), cellClicked(site, row, column)."""

    cellHovered = Signal(str, int, int)
    cellClicked = Signal(str, int, int)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._rows: LayerRows | None = None
        self._words = ("", "")
        self._places: tuple[Bands, Bands] | None = None
        self._images: list[QImage] = []
        self._decimals = 2
        self._lines = MOST_LINES
        # what is kept of the picture of one norm is not another's
        self._generation = 0
        self._hovered: Spot | None = None

    # Setters.

    def set_words(self, token: str, norm: str) -> None:
        """The headings that do not depend on the layer."""
        self._words = (token, norm)
        self._generation += 1
        self.update()

    def set_rows(self, rows: LayerRows | None, decimals: int = 2) -> None:
        before, before_decimals = self._rows, self._decimals
        self._rows, self._decimals = rows, min(decimals, 4)
        if _shape(before) != _shape(rows) or self._decimals != before_decimals:
            self._places = self._hovered = None
        elif _key(before) == _key(rows):
            return
        self._images = []
        self._generation += 1
        self.update()

    def fit(self, height: int) -> None:
        """Take so many lines as suit the window's height: what lies below never moves."""
        lines = int((SHARE * height - self._head()) / self._line())
        lines = min(max(lines, LEAST_LINES), MOST_LINES)
        if lines != self._lines:
            self._lines = lines
            self.updateGeometry()

    # What can be asked.

    @property
    def rows(self) -> LayerRows | None:
        return self._rows

    def spot_at(self, pos: QPointF) -> Spot | None:
        """(site, row, column) of what is painted at a position."""
        rows, places = self._rows, self._ready()
        if rows is None or places is None:
            return None
        for site, cells in zip((rows.read_site, rows.normed_site), places, strict=True):
            cell = cells.at(pos.x(), pos.y())
            if cell is not None:
                return (site, *cell)
        line = places[0].at(places[0].bounds().left(), pos.y())
        for site, (left, right) in zip((rows.mean_site, rows.variance_site), self._figures()):
            if line is not None and left <= pos.x() < right:
                return (site, line[0], 0)
        return None

    def cell_rect(self, site: str, row: int, column: int) -> QRectF:
        """Where a cell is painted, in logical pixels; empty where it is not."""
        rows, places = self._rows, self._ready()
        if rows is None or places is None:
            return QRectF()
        for own, cells in zip((rows.read_site, rows.normed_site), places, strict=True):
            if own == site:
                return cells.rect(row, column)
        for own, (left, right) in zip((rows.mean_site, rows.variance_site), self._figures()):
            if own == site:
                line = places[0].rect(row, 0)
                return QRectF(left, line.top(), right - left, line.height())
        return QRectF()

    # Places.

    def _line(self) -> float:
        return 1.3 * self.em

    def _head(self) -> float:
        return 1.5 * self.em

    def sizeHint(self) -> QSize:
        return QSize(round(20 * self.em), round(self._head() + self._lines * self._line()))

    def relayout(self) -> None:
        self._places = None
        self._images = []
        self._generation += 1

    def _label(self) -> float:
        """Room for the tokens and, behind them, for what each of them predicts."""
        return self._token() + self._note()

    def _token(self) -> float:
        return min(5.0 * self.em, 0.17 * self.width())

    def _note(self) -> float:
        """Always there where it may be wanted, so that the strips stay where they are."""
        if self._rows is None or not any(self._rows.read.row_notes):
            return 0.0
        return min(4.6 * self.em, 0.145 * self.width())

    def _figure(self) -> float:
        return (1.9 + 0.6 * self._decimals) * self.em

    def _strip(self) -> float:
        return (self.width() - self._label() - 2 * self._figure() - 1.4 * self.em) / 2

    def _figures(self) -> tuple[tuple[float, float], tuple[float, float]]:
        start = self._label() + self._strip() + 0.2 * self.em
        middle = start + self._figure()
        return (start, middle), (middle, middle + self._figure())

    def _ready(self) -> tuple[Bands, Bands] | None:
        rows, ratio = self._rows, self.devicePixelRatioF()
        if rows is None or not rows.read.values.size:
            return None
        if self._places is None or self._places[0].ratio != ratio:
            count, columns = rows.read.values.shape
            line = min((self.height() - self._head()) / count, 1.2 * self._line())
            line = whole_pixels(line, ratio)
            down = edges(self._head(), line, count, ratio)
            gap = round(0.22 * line * ratio)
            found = []
            wide = max(self._strip(), 2.0)
            for left in (self._label(), self.width() - wide - 0.3 * self.em):
                steps = np.round(np.arange(columns + 1) * (wide * ratio / columns))
                found.append(Bands(round(left * ratio) + steps.astype(int), down, ratio, gap))
            self._places = (found[0], found[1])
            self._images = []
        return self._places

    # Painting.

    def paint(self, painter: QPainter) -> None:
        rows, places = self._rows, self._ready()
        if rows is None or places is None:
            return
        self.layer(painter, "whole", self._generation, lambda p: self._draw(p, rows, places))
        if self._hovered is not None:
            self._frame(painter, self.cell_rect(*self._hovered), self.theme.text)

    def _draw(self, painter: QPainter, rows: LayerRows, places: tuple[Bands, Bands]) -> None:
        self._draw_heads(painter, rows, places)
        theme, em = self.theme, self.em
        if not self._images:
            pairs = zip((rows.read, rows.normed), places)
            self._images = [self._image(matrix, cells) for matrix, cells in pairs]
        count = rows.read.values.shape[0]
        line = (places[0].y[1] - places[0].y[0]) / places[0].ratio
        step = 1 if line >= 0.8 * em else round_step(0.8 * em / line)
        face = self.face(fonts.SMALL if line >= em else 0.76)
        for image, cells in zip(self._images, places):
            painter.drawImage(cells.bounds().topLeft(), image)
        figures = self._figures()
        for row in shown_labels(count, step, rows.row):
            ink = theme.accent if row == rows.row else theme.text
            middle = places[0].rect(row, 0).center().y()
            rect = QRectF(0, middle - 0.8 * em, self._token() - 0.3 * em, 1.6 * em)
            write(painter, rect, rows.read.row_labels[row], face, ink, LEFT)
            if rows.read.row_notes:
                rect = QRectF(self._token(), rect.top(), self._note() - 0.3 * em, 1.6 * em)
                note = theme.accent if row == rows.row else theme.muted
                write(painter, rect, rows.read.row_notes[row], self.face(0.72), note, LEFT)
            for values, (left, right) in zip((rows.mean, rows.sigma), figures):
                text = in_unit(values[row], self._decimals, rows.unit)
                rect = QRectF(left, middle - 0.8 * em, right - left - 0.4 * em, 1.6 * em)
                write(painter, rect, text, face, ink, RIGHT)
        if rows.row is not None and rows.row < count:
            for cells in places:
                self._frame(painter, cells.band(rows.row), theme.accent)

    def _draw_heads(self, painter: QPainter, rows: LayerRows, places: tuple[Bands, Bands]) -> None:
        small, muted, height = self.face(fonts.SMALL), self.theme.muted, self._head()
        token, norm = self._words
        write(painter, QRectF(0, 0, self._label(), height), token, small, muted, LEFT)
        # a number's column is wider than its heading, so these may reach into it
        starts = [cells.bounds().left() for cells in places]
        wanted = self.width() - small.width(norm) - 1
        starts[1] = max(min(starts[1], wanted), starts[1] - 0.8 * self.em)
        ends = (self._figures()[0][1] - 1.2 * self.em, self.width())
        for text, start, end in zip((rows.read_title, norm), starts, ends):
            write(painter, QRectF(start, 0, end - start, height), text, small, muted, LEFT)
        for text, (left, right) in zip(rows.heads, self._figures()):
            rect = QRectF(left, 0, right - left - 0.4 * self.em, height)
            write(painter, rect, text, small, muted, RIGHT)

    def _image(self, matrix: Matrix, cells: Bands) -> QImage:
        """All bands in device pixels, with the ground between them."""
        index = colour_indices(matrix.values, matrix.low, matrix.high)
        colours = self.theme.packed_table(matrix.palette)[index]
        lines = np.repeat(colours, np.diff(cells.x), axis=1)
        pixels = np.repeat(lines, np.diff(cells.y), axis=0)
        bottom = cells.y[1:] - cells.y[0]
        for step in range(1, cells.gap + 1):
            pixels[bottom - step] = self.theme.color("surface").rgb()
        image = as_image(pixels)
        image.setDevicePixelRatio(cells.ratio)
        return image

    def _frame(self, painter: QPainter, rect: QRectF, colour: str) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colour), 1.0))
        painter.drawRect(rect.adjusted(-1, -1, 1, 1))

    # The pointer.

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.spot_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)

    def _hover(self, spot: Spot | None) -> None:
        if spot == self._hovered:
            return
        self._hovered = spot
        self.update()
        if spot is None:
            self.left.emit()
        else:
            self.cellHovered.emit(*spot)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        spot = self.spot_at(event.position())
        if spot is not None and event.button() == Qt.MouseButton.LeftButton:
            self.cellClicked.emit(*spot)


def _key(rows: LayerRows | None) -> tuple[object, ...]:
    """What decides the picture, beside the language's words."""
    if rows is None:
        return ()
    words = (rows.read_title, rows.read.row_labels, rows.read.row_notes)
    return (id(rows.run), id(rows.read.owner), rows.read_site, rows.normed_site, rows.row, words)


def _shape(rows: LayerRows | None) -> tuple[int, ...]:
    return () if rows is None else (*rows.read.values.shape, bool(rows.read.row_notes))
