"""Residual stream and LayerNorm of one layer, one line per token: strip, μ, σ, strip."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPen, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts, glossary
from visualizer.lenses.blocks import Span, spans
from visualizer.lenses.layer import LayerRows
from visualizer.lenses.numbers import in_unit
from visualizer.lenses.picture import Matrix
from visualizer.widgets.canvas import LEFT, RIGHT, Canvas, box, write
from visualizer.widgets.glossary_link import Links, Word, word_in
from visualizer.widgets.heatmap_cells import as_image, cell_told, colour_indices, reduced
from visualizer.widgets.heatmap_layout import Cells, edges, round_step, shown_labels, whole_pixels

Spot = tuple[str, int, int]

# The lines there is room for, by the window's height; more tokens than these share it.
# The last is for where something else takes some of the others.
LEAST_LINES, MOST_LINES, FEWEST_LINES = 5, 10, 2
# Lines as low as this are all shown; where they would be lower, some of them at a height that can
# be read. In parts of the font's size.
LOWEST, READABLE = 0.25, 0.86
SHARE = 0.17
# So little, in parts of the font's size, is had from what lies below.
SLACK = 0.1


class Bands(Cells):
    """Cells with a gap between the rows alone: the numbers of a token are one band."""

    def rect(self, row: int, column: int) -> QRectF:
        rect = super().rect(row, column)
        return rect.adjusted(0, 0, self.gap / self.ratio, 0) if not rect.isNull() else rect

    def band(self, row: int) -> QRectF:
        rect = self.rect(row, 0)
        rect.setRight(int(self.x[-1]) / self.ratio)
        return rect


class LayerTable(Canvas):
    """cellHovered(site, row, column), left(), cellClicked(site, row, column)."""

    cellHovered = Signal(str, int, int)
    cellClicked = Signal(str, int, int)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.links = Links(self, self._head_words)
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
        # the first line on show, where they are not all; None around the current token's
        self._first: int | None = None

    # Setters.

    def set_words(self, token: str, norm: str) -> None:
        """The headings that do not depend on the layer."""
        self._words = (token, norm)
        self._generation += 1
        self.update()

    def set_rows(self, rows: LayerRows | None, decimals: int = 2) -> None:
        before, before_decimals = self._rows, self._decimals
        self._rows, self._decimals = rows, min(decimals, 4)
        if before is None or rows is None or before.row != rows.row:
            self._first = self._places = None
        if _shape(before) != _shape(rows) or self._decimals != before_decimals:
            self._places = self._hovered = None
        elif _key(before) == _key(rows):
            return
        self._images = []
        self._generation += 1
        self.update()

    def fit(self, height: int, taken: int = 0) -> bool:
        """Take so many lines as suit the window's height: what lies below never moves.

        taken: pixels to be given up, in whole lines; whether enough of them are left
        """
        lines = int((SHARE * height - self._head()) / self._line())
        given = math.ceil((taken - SLACK * self.em) / self._line())
        lines = min(max(lines, LEAST_LINES), MOST_LINES) - given
        has_room = lines >= FEWEST_LINES
        if lines != self._lines and has_room:
            self._lines = lines
            self.updateGeometry()
        return has_room

    # What can be asked.

    @property
    def rows(self) -> LayerRows | None:
        return self._rows

    def spot_at(self, pos: QPointF) -> Spot | None:
        """(site, row, column) of what is painted at a position."""
        rows, places = self._rows, self._ready()
        if rows is None or places is None:
            return None
        pictures = (rows.read_site, rows.read), (rows.normed_site, rows.normed)
        for (site, matrix), cells in zip(pictures, places, strict=True):
            cell = cell_told(matrix, cells, pos.x(), pos.y())
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
            shown = self._shown(rows)
            wide = max(self._strip(), 2.0)
            across = spans(rows.read.values.shape, (1, int(wide * ratio)))[1]
            line = min((self.height() - self._head()) / shown.count, 1.2 * self._line())
            line = whole_pixels(line, ratio)
            down = edges(self._head(), line, shown.count, ratio)
            gap = round(0.22 * line * ratio)
            found = []
            for left in (self._label(), self.width() - wide - 0.3 * self.em):
                steps = np.round(np.arange(across.blocks + 1) * (wide * ratio / across.blocks))
                right = round(left * ratio) + steps.astype(int)
                found.append(Bands(right, down, ratio, gap, shown, across))
            self._places = (found[0], found[1])
            self._images = []
        return self._places

    def _shown(self, rows: LayerRows) -> Span:
        """As many lines as can be read, around the current token's or where the wheel has led."""
        total = rows.read.values.shape[0]
        room = self.height() - self._head()
        if room >= LOWEST * self.em * total:
            return Span(0, total)
        fit = min(max(int(room / (READABLE * self.em)), 1), total)
        first = (rows.row or 0) - fit // 2 if self._first is None else self._first
        return Span(min(max(first, 0), total - fit), fit)

    # Painting.

    def paint(self, painter: QPainter) -> None:
        rows, places = self._rows, self._ready()
        if rows is None or places is None:
            return
        key = self._generation, places[0].rows
        self.layer(painter, "whole", key, lambda p: self._draw(p, rows, places))
        if self._hovered is not None:
            self._frame(painter, self.cell_rect(*self._hovered), self.theme.text)
        self.links.underline(painter)

    def _draw(self, painter: QPainter, rows: LayerRows, places: tuple[Bands, Bands]) -> None:
        self._draw_heads(painter, rows, places)
        theme, em = self.theme, self.em
        if not self._images:
            pairs = zip((rows.read, rows.normed), places)
            self._images = [self._image(matrix, cells) for matrix, cells in pairs]
        lines = places[0].rows
        assert lines is not None
        line = (places[0].y[1] - places[0].y[0]) / places[0].ratio
        step = 1 if line >= 0.8 * em else round_step(0.8 * em / line)
        face = self.face(fonts.SMALL if line >= em else 0.76)
        for image, cells in zip(self._images, places):
            painter.drawImage(cells.bounds().topLeft(), image)
        figures = self._figures()
        for row in shown_labels(lines.count, step, rows.row, lines.first):
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
        if rows.row is not None and places[0].shows(rows.row, 0):
            for cells in places:
                self._frame(painter, cells.band(rows.row), theme.accent)
        self._draw_scroll_mark(painter, lines, rows.read.values.shape[0])

    def _draw_scroll_mark(self, painter: QPainter, lines: Span, total: int) -> None:
        if lines.count == total:
            return
        room = self.height() - self._head()
        size = max(room * lines.count / total, 1.2 * self.em)
        top = self._head() + (room - size) * lines.first / (total - lines.count)
        mark = QRectF(self.width() - 0.2 * self.em, top, 0.2 * self.em, size)
        box(painter, mark, self.theme.border_strong, None, 0.1 * self.em)

    def _draw_heads(self, painter: QPainter, rows: LayerRows, places: tuple[Bands, Bands]) -> None:
        small, muted = self.face(fonts.SMALL), self.theme.muted
        for rect, text, align in self._heads(rows, places):
            write(painter, rect, text, small, muted, align)

    def _heads(
        self, rows: LayerRows, places: tuple[Bands, Bands]
    ) -> Iterator[tuple[QRectF, str, Qt.AlignmentFlag]]:
        """Where each column's heading is written."""
        small, height = self.face(fonts.SMALL), self._head()
        token, norm = self._words
        yield QRectF(0, 0, self._label(), height), token, LEFT
        # a number's column is wider than its heading, so these may reach into it
        starts = [cells.bounds().left() for cells in places]
        wanted = self.width() - small.width(norm) - 1
        starts[1] = max(min(starts[1], wanted), starts[1] - 0.8 * self.em)
        ends = (self._figures()[0][1] - 1.2 * self.em, self.width())
        for text, start, end in zip((rows.read_title, norm), starts, ends):
            yield QRectF(start, 0, end - start, height), text, LEFT
        for text, (left, right) in zip(rows.heads, self._figures()):
            yield QRectF(left, 0, right - left - 0.4 * self.em, height), text, RIGHT

    def _head_words(self) -> Iterator[Word]:
        """The headings for the glossary; "r = x + s" is what the record is in its place."""
        rows, places, small = self._rows, self._ready(), self.face(fonts.SMALL)
        if rows is not None and places is not None:
            for rect, text, align in self._heads(rows, places):
                about = rows.read_site if text == rows.read_title else ""
                term = glossary.entry_of_site(about) if about else ""
                yield word_in(rect, text, small, term, align is RIGHT)

    def _image(self, matrix: Matrix, cells: Bands) -> QImage:
        """All bands in device pixels, with the ground between them."""
        assert cells.rows is not None and cells.columns is not None
        matrix = reduced(matrix, cells.rows, cells.columns)
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

    def term_at(self, pos: QPointF) -> str:
        """What a right click there asks about: the record of the number."""
        spot = self.spot_at(pos)
        return "" if spot is None else glossary.entry_of_site(spot[0])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.spot_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)

    def wheelEvent(self, event: QWheelEvent) -> None:
        rows = self._rows
        shown = None if rows is None or not rows.read.values.size else self._shown(rows)
        if rows is None or shown is None or shown.count == rows.read.values.shape[0]:
            event.ignore()
            return
        first = shown.first - round(event.angleDelta().y() / 120 * 3)
        self._first = min(max(first, 0), rows.read.values.shape[0] - shown.count)
        self._places = None
        self._images = []
        self.update()
        self._hover(self.spot_at(event.position()))

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
