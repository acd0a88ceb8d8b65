"""The whole model at a glance: norms of the residual stream, token by token, layer by layer."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QImage, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from visualizer import fonts
from visualizer.lenses.blocks import Span
from visualizer.lenses.flow import Flow, FlowSide, flow_words
from visualizer.lenses.picture import Matrix
from visualizer.widgets import figures
from visualizer.widgets.canvas import CENTRE, LEFT, RIGHT, Canvas, box, write
from visualizer.widgets.heatmap_cells import CellPainter, as_image, cell_told, reduced
from visualizer.widgets.heatmap_layout import Cells, edges, round_step, shown_labels, whole_pixels

# Room for the colour bar and its numbers, in parts of the font's size.
SCALE = 5.0
# Between the stream and what is added, the words below the stream included.
BETWEEN = 2.3


@dataclass(frozen=True, eq=False)
class FlowPlace:
    """One heat strip of one side: the stream, or what was added."""

    side: int
    added: bool
    cells: Cells


Spot = tuple[int, bool, int, int]


class LayerFlow(Canvas):
    """Above the stream, below what each sublayer adds; the encoder left, the decoder right.

    cellHovered(whose it is, what was made of which record, the number) and left();
    recordClicked(site, row) for a cell's record.
    """

    # what a right click asks about
    term = "residual_stream"
    cellHovered = Signal(str, str, str)
    recordClicked = Signal(str, int)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._flow: Flow | None = None
        self._places: tuple[FlowPlace, ...] | None = None
        self._painters: dict[tuple[int, bool], CellPainter] = {}
        self._images: dict[tuple[int, bool], QImage] = {}
        self._hovered: Spot | None = None

    def set_flow(self, flow: Flow | None) -> None:
        before, self._flow = self._flow, flow
        if flow is None or before is None or not _same_numbers(flow, before):
            self._places = self._hovered = None
            self._images = {}
        self.update()

    @property
    def flow(self) -> Flow | None:
        return self._flow

    def sizeHint(self) -> QSize:
        return QSize(round(40 * self.em), round(30 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(16 * self.em), round(12 * self.em))

    # Places.

    def relayout(self) -> None:
        self._places = None
        self._images = {}

    def _label(self, part: FlowSide) -> float:
        face = self.face(fonts.SMALL)
        widest = max((face.width(text) for text in part.tokens), default=0.0)
        return min(widest, 6 * self.em) + self._notes(part) + 0.7 * self.em

    def _notes(self, part: FlowSide) -> float:
        widest = max(map(self.face(0.76).width, part.notes), default=0.0)
        return min(widest, 6 * self.em) + 0.4 * self.em if widest else 0.0

    def _head(self) -> float:
        """The names of the sublayers, written upwards, and the numbers of the layers."""
        face = self.face(fonts.SMALL)
        assert self._flow is not None
        names = (station.title for part in self._flow.sides for station in part.stations)
        return min(max(face.width(name) for name in names), 8.5 * self.em) + 0.9 * self.em

    def _ready(self) -> tuple[FlowPlace, ...]:
        flow, ratio = self._flow, self.devicePixelRatioF()
        if flow is None:
            return ()
        if self._places is not None and self._places[0].cells.ratio == ratio:
            return self._places
        em, head = self.em, self._head()
        labels = [self._label(part) for part in flow.sides]
        gap = 2.4 * em
        columns = sum(len(part.stations) for part in flow.sides)
        free = self.width() - sum(labels) - gap * (len(labels) - 1) - SCALE * em
        cell = min(max(free / columns, 2.0), 5.0 * em)
        title = 1.6 * em
        tallest = max(len(part.tokens) for part in flow.sides)
        room = (self.height() - head - title - (BETWEEN + 1.8) * em) / 2
        # of more tokens than pixels so many share one
        together = max(math.ceil(tallest / max(room * ratio, 1.0)), 1)
        lines = math.ceil(tallest / together)
        line = whole_pixels(min(room / max(lines, 1), 2.1 * em), ratio)
        spaced = 1 if min(cell, line) * ratio >= 6 else 0
        first = title + head
        second = first + lines * line + BETWEEN * em
        found, left = [], 0.0
        for number, (part, label) in enumerate(zip(flow.sides, labels, strict=True)):
            for added, top in ((False, first), (True, second)):
                across = edges(left + label, cell, len(part.stations), ratio)
                rows = Span(0, len(part.tokens), together, together)
                columns = Span(0, len(part.stations))
                down = edges(top, line, rows.blocks, ratio)
                cells = Cells(across, down, ratio, spaced, rows, columns)
                found.append(FlowPlace(number, added, cells))
            left = found[-1].cells.bounds().right() + gap
        self._places, self._images = tuple(found), {}
        return self._places

    def spot_at(self, pos: QPointF) -> Spot | None:
        """(side, added?, row, column) of a cell that shows a number."""
        for place in self._ready():
            if not place.cells.bounds().contains(pos) or self._flow is None:
                continue
            matrix = self._matrix(self._flow, place, self._flow.sides[place.side])
            cell = cell_told(matrix, place.cells, pos.x(), pos.y())
            if cell is not None and self._shows(place, cell[1]):
                return (place.side, place.added, *cell)
        return None

    def _shows(self, place: FlowPlace, column: int) -> bool:
        assert self._flow is not None
        return not place.added or bool(self._flow.sides[place.side].stations[column].added)

    def cell_rect(self, spot: Spot) -> QRectF:
        """Where a cell is painted."""
        for place in self._ready():
            if (place.side, place.added) == spot[:2]:
                return place.cells.rect(*spot[2:])
        return QRectF()

    def words_at(self, spot: Spot) -> tuple[str, str, str]:
        """Whose number it is, of which record and how it was made, in full precision."""
        assert self._flow is not None
        return flow_words(self._flow.sides[spot[0]], spot[2], spot[3], spot[1])

    # Painting.

    def paint(self, painter: QPainter) -> None:
        painter.fillRect(self.rect(), QColor(self.theme.surface))
        flow = self._flow
        if flow is None:
            return
        for place in self._ready():
            part = flow.sides[place.side]
            self._draw_cells(painter, flow, place, part)
            self._draw_rows(painter, place, part)
            if not place.added:
                self._draw_columns(painter, place, part)
        self._draw_titles(painter, flow)
        self._draw_scale(painter, flow)
        if self._hovered is not None:
            self._frame(painter, self.cell_rect(self._hovered), self.theme.text, 1.0)

    def _draw_cells(self, painter: QPainter, flow: Flow, place: FlowPlace, part: FlowSide) -> None:
        key = (place.side, place.added)
        if key not in self._images:
            self._images[key] = self._image(flow, place, part)
        painter.drawImage(place.cells.bounds().topLeft(), self._images[key])
        for column in range(len(part.stations)):
            if not self._shows(place, column):
                top, end = (
                    place.cells.rect(0, column),
                    place.cells.rect(len(part.tokens) - 1, column),
                )
                painter.fillRect(top.united(end), QColor(self.theme.surface))
        current = next((n for n, station in enumerate(part.stations) if station.current), None)
        if current is not None and self._shows(place, current):
            top = place.cells.rect(0, current)
            column_rect = top.united(place.cells.rect(len(part.tokens) - 1, current))
            self._frame(painter, column_rect, self.theme.accent, 2.0)

    def _matrix(self, flow: Flow, place: FlowPlace, part: FlowSide) -> Matrix:
        values = part.added if place.added else part.stream
        return Matrix(
            values=np.where(np.isnan(values), np.float32(0), values),
            hidden=None,
            row_labels=(),
            column_labels=(),
            palette="sequential",
            low=0.0,
            high=flow.high,
            unit=flow.unit,
        )

    def _image(self, flow: Flow, place: FlowPlace, part: FlowSide) -> QImage:
        matrix = self._matrix(flow, place, part)
        if place.cells.rows is not None and place.cells.columns is not None:
            matrix = reduced(matrix, place.cells.rows, place.cells.columns)
        cells = self._painters.setdefault((place.side, place.added), CellPainter(self))
        return cells.image(matrix, place.cells)

    def _draw_rows(self, painter: QPainter, place: FlowPlace, part: FlowSide) -> None:
        em, face = self.em, self.face(fonts.SMALL)
        together = 1 if place.cells.rows is None else place.cells.rows.block
        line = (place.cells.y[1] - place.cells.y[0]) / place.cells.ratio / together
        step = 1 if line >= 0.85 * em else round_step(0.85 * em / line)
        right, notes = place.cells.bounds().left() - 0.4 * em, self._notes(part)
        for row in shown_labels(len(part.tokens), step, part.row):
            middle = place.cells.rect(row, 0).center().y()
            rect = QRectF(right - notes - 6 * em, middle - 0.8 * em, 6 * em, 1.6 * em)
            ink = self.theme.accent if row == part.row else self.theme.text
            write(painter, rect, part.tokens[row], face, ink, RIGHT)
            if notes:
                start = right - notes + 0.4 * em
                rect = QRectF(start, rect.top(), right - start, rect.height())
                ink = self.theme.accent if row == part.row else self.theme.muted
                write(painter, rect, part.notes[row], self.face(0.76), ink, LEFT)

    def _draw_columns(self, painter: QPainter, place: FlowPlace, part: FlowSide) -> None:
        face, em = self.face(fonts.SMALL), self.em
        centres, top = place.cells.column_centres(), place.cells.bounds().top()
        for station, x in zip(part.stations, centres.tolist()):
            text = f"{station.group} {station.title}".strip()
            painter.save()
            painter.translate(x + face.cap_height / 2, top - 0.45 * em)
            painter.rotate(-90)
            painter.setFont(face.font)
            painter.setPen(QColor(self.theme.accent if station.current else self.theme.text))
            painter.drawText(QPointF(0, 0), face.elided(text, self._head() - 0.6 * em))
            painter.restore()

    def _draw_titles(self, painter: QPainter, flow: Flow) -> None:
        bold, em = self.face(bold=True), self.em
        for place in self._ready():
            bounds = place.cells.bounds()
            if not place.added:
                part = flow.sides[place.side]
                width = max(bounds.width(), 8 * em)
                head = QRectF(
                    bounds.left(), bounds.top() - self._head() - 1.6 * em, width, 1.5 * em
                )
                wide = bold.width(part.title) + 1.4 * em
                chip = QRectF(head.left(), head.top(), wide, 1.45 * em)
                box(painter, chip, self.theme.color(f"{part.side}_fill"), None, 0.7 * em)
                ink = self.theme.color(f"on_{part.side}")
                write(painter, chip, part.title, bold, ink, CENTRE)
            if place.side:
                continue
            text = flow.added_title if place.added else flow.stream_title
            rect = QRectF(bounds.left(), bounds.bottom() + 0.3 * em, self.width(), 1.4 * em)
            write(painter, rect, text, self.face(fonts.SMALL), self.theme.muted, LEFT)

    def _draw_scale(self, painter: QPainter, flow: Flow) -> None:
        """One colour bar for all cells, from 0 to the longest row."""
        em, small = self.em, self.face(0.84)
        last = self._ready()[-2].cells.bounds()
        top = min(place.cells.bounds().top() for place in self._ready())
        tall = max(last.height(), 6 * em)
        bar = QRectF(last.right() + 1.2 * em, top, 0.85 * em, tall)
        column = self.theme.packed_table("sequential")[::-1].reshape(256, 1)
        painter.drawImage(bar, as_image(column))
        half = small.cap_height / 2
        marks = (
            (flow.high, bar.top() + half),
            (flow.high / 2, bar.center().y()),
            (0.0, bar.bottom() - half),
        )
        for value, y in marks:
            rect = QRectF(bar.right() + 0.4 * em, y - 0.7 * em, 3 * em, 1.4 * em)
            text = figures.bound(value / flow.unit)
            write(painter, rect, text, small, self.theme.muted, LEFT)

    def _frame(self, painter: QPainter, rect: QRectF, colour: str, width: float) -> None:
        if rect.isEmpty():
            return
        pen = QPen(QColor(colour), width)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen)
        out = width / 2
        painter.drawRect(rect.adjusted(-out, -out, out, out))

    # The pointer.

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        spot = self.spot_at(event.position())
        if spot != self._hovered:
            self._hovered = spot
            shape = (
                Qt.CursorShape.ArrowCursor if spot is None else Qt.CursorShape.PointingHandCursor
            )
            self.setCursor(shape)
            self.update()
            if spot is None:
                self.left.emit()
            else:
                self.cellHovered.emit(*self.words_at(spot))

    def leaveEvent(self, event: QEvent) -> None:
        if self._hovered is not None:
            self._hovered = None
            self.update()
            self.left.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        spot = self.spot_at(event.position())
        if spot is None or event.button() != Qt.MouseButton.LeftButton or self._flow is None:
            return
        station = self._flow.sides[spot[0]].stations[spot[3]]
        self.recordClicked.emit(station.added if spot[1] else station.stream, spot[2])

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            spot = self.spot_at(QPointF(event.pos()))
            text = "\n".join(self.words_at(spot)) if spot is not None else ""
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)


def _same_numbers(one: Flow, other: Flow) -> bool:
    """Whether two flows differ in their marks alone."""
    if one.owner is not other.owner or len(one.sides) != len(other.sides):
        return False
    pairs = zip(one.sides, other.sides, strict=True)
    return all(
        (a.tokens, a.notes, a.title, [s.title + s.group for s in a.stations])
        == (b.tokens, b.notes, b.title, [s.title + s.group for s in b.stations])
        for a, b in pairs
    )
