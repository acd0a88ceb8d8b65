"""The stage's picture of a sublayer: several records as strips, figures beside, a plot below."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts, glossary
from visualizer.lenses.numbers import in_unit
from visualizer.lenses.strips import Figures, Stack
from visualizer.widgets.canvas import LEFT, RIGHT, Canvas, box, write
from visualizer.widgets.curve_plot import CurvePlot, Spot
from visualizer.widgets.heatmap_cells import CellPainter, cell_told, reduced
from visualizer.widgets.strip_layout import (
    StackLayout,
    arrange_stack,
    is_numbered,
)
from visualizer.widgets.strip_words import write_columns, write_notes, write_rows

MOST_LAYOUTS = 8


class StripStack(Canvas):
    """Draws a `Stack`, tells which record and which of its cells the pointer is on.

    cellHovered(site, row, column), left(), cellClicked(site, row, column); a click on a strip's
    title is titleClicked(site).
    """

    cellHovered = Signal(str, int, int)
    cellClicked = Signal(str, int, int)
    titleClicked = Signal(str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._stack: Stack | None = None
        self._layout: StackLayout | None = None
        self._plot: CurvePlot | None = None
        self._images: list[QImage] = []
        # Pictures of different build take turns while one steps: each keeps its places, its
        # labels and the memory of its cells.
        self._layouts: dict[tuple[object, ...], StackLayout] = {}
        self._painters: dict[tuple[int, int], CellPainter] = {}
        # what decides where everything lies and which labels are written
        self._key: tuple[object, ...] = ()
        self._hovered: Spot | None = None

    # Setters.

    def set_stack(self, stack: Stack | None) -> None:
        before = self._stack
        self._stack = stack
        self._plot = None
        key = _layout_key(stack)
        if key != self._key:
            self._key, self._layout, self._images = key, self._layouts.get(key), []
        if stack is None or before is None or not _same_numbers(stack, before):
            self._images = []
            # no signal: it tells what the pointer does, and the owner knows the new picture
            self._hovered = None
        self.update()

    # What can be asked.

    @property
    def stack(self) -> Stack | None:
        return self._stack

    @property
    def hovered(self) -> Spot | None:
        return self._hovered

    def spot_at(self, pos: QPointF) -> Spot | None:
        """(site, row, column) of the cell, the figure or the point of a curve at a position."""
        stack, layout = self._stack, self._ready()
        if stack is None or layout is None:
            return None
        for strip, place in zip(stack.strips, layout.strips, strict=True):
            cell = cell_told(strip.matrix, place.cells, pos.x(), pos.y())
            if cell is not None:
                return (strip.site, *cell)
        for figures, rect in self._figure_columns(stack, layout):
            if rect.contains(pos):
                place = layout.strips[figures.strip]
                cell = place.cells.at(place.cells.bounds().left(), pos.y())
                return None if cell is None else (figures.site, cell[0], 0)
        return self._plot.spot_at(pos) if self._plot is not None else None

    def cell_rect(self, site: str, row: int, column: int) -> QRectF:
        """Where a cell of a strip is painted, in logical pixels; empty where it is not."""
        stack, layout = self._stack, self._ready()
        if stack is None or layout is None:
            return QRectF()
        for strip, place in zip(stack.strips, layout.strips, strict=True):
            if strip.site == site:
                return place.cells.rect(row, column)
        return QRectF()

    def figure_rect(self, site: str, row: int) -> QRectF:
        """Where the number of a row is written beside a strip."""
        stack, layout = self._stack, self._ready()
        if stack is None or layout is None:
            return QRectF()
        for figures, rect in self._figure_columns(stack, layout):
            if figures.site == site:
                line = layout.strips[figures.strip].cells.rect(row, 0)
                return QRectF(rect.left(), line.top(), rect.width(), line.height())
        return QRectF()

    def point_of(self, spot: Spot) -> QPointF | None:
        """Where a cell's point lies on the plot."""
        self._ready()
        return self._plot.place_of(spot) if self._plot is not None else None

    def sizeHint(self) -> QSize:
        return QSize(round(40 * self.em), round(30 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(16 * self.em), round(12 * self.em))

    # Painting.

    def relayout(self) -> None:
        self._layout = self._plot = None
        self._images = []
        self._layouts.clear()

    def _ready(self) -> StackLayout | None:
        stack = self._stack
        if stack is None:
            return None
        ratio = self.devicePixelRatioF()
        if self._layout is None or self._layout.strips[0].cells.ratio != ratio:
            self._layout = arrange_stack(self, stack)
            self._plot, self._images = None, []
            while len(self._layouts) >= MOST_LAYOUTS:
                self._layouts.pop(next(iter(self._layouts)))
            self._layouts[self._key] = self._layout
        layout = self._layout
        if self._plot is None and stack.curves is not None and layout.plot is not None:
            cells = layout.strips[layout.plot_strip].cells
            self._plot = CurvePlot(self, stack.curves, layout.plot, cells)
        return layout

    def paint(self, painter: QPainter) -> None:
        stack, layout = self._stack, self._ready()
        if stack is None or layout is None:
            painter.fillRect(self.rect(), QColor(self.theme.surface))
            return
        name = f"labels of {len(stack.strips)}"
        key = (self._key, stack.row)
        self.layer(painter, name, key, lambda p: self._draw_labels(p, stack, layout))
        if not self._images:
            numbers, count = is_numbered(stack), len(stack.strips)
            for number, (strip, place) in enumerate(zip(stack.strips, layout.strips)):
                cells = self._painters.setdefault((count, number), CellPainter(self))
                matrix = strip.matrix
                if place.cells.rows is not None and place.cells.columns is not None:
                    matrix = reduced(matrix, place.cells.rows, place.cells.columns)
                self._images.append(cells.image(matrix, place.cells, numbers))
        for image, place in zip(self._images, layout.strips):
            painter.drawImage(place.cells.bounds().topLeft(), image)
        self._draw_titles(painter, stack, layout)
        self._draw_figures(painter, stack, layout)
        if self._plot is not None:
            self._plot.draw(painter)
        self._draw_marks(painter, stack, layout)

    def _draw_labels(self, painter: QPainter, stack: Stack, layout: StackLayout) -> None:
        """What does not change while one steps through the records."""
        if layout.legend is not None:
            small = self.face(fonts.SMALL)
            write(painter, layout.legend, stack.legend, small, self.theme.muted, LEFT)
        for strip, place in zip(stack.strips, layout.strips, strict=True):
            labels = strip.matrix.row_labels
            write_rows(self, painter, stack, place, labels, str, *place.labels)
            if place.notes is not None:
                write_notes(self, painter, stack, place, strip.matrix.row_notes)
            if place.flat is not None:
                write_columns(self, painter, strip.matrix, place)

    def _draw_figures(self, painter: QPainter, stack: Stack, layout: StackLayout) -> None:
        for figures, column in self._figure_columns(stack, layout):
            place = layout.strips[figures.strip]
            said = partial(in_unit, decimals=stack.decimals, unit=figures.unit)
            write_rows(
                self, painter, stack, place, figures.values, said, column.left(), column.right()
            )

    def _draw_titles(self, painter: QPainter, stack: Stack, layout: StackLayout) -> None:
        em, theme = self.em, self.theme
        bold, small = self.face(bold=True), self.face(fonts.SMALL)
        for strip, place in zip(stack.strips, layout.strips, strict=True):
            text = f"{strip.sign}  {strip.title}" if strip.sign else strip.title
            rect = QRectF(place.title)
            rect.setBottom(rect.bottom() - 0.1 * em)
            wide = min(bold.width(text), rect.width())
            if strip.current:
                chip = QRectF(
                    rect.left() - 0.4 * em, rect.top() + 0.05 * em, wide + 0.8 * em, 1.3 * em
                )
                box(painter, chip, theme.accent_fill, None, 0.35 * em)
            ink = theme.on_accent if strip.current else theme.text
            write(painter, rect, text, bold, ink, LEFT)
            free = rect.adjusted(wide + 1.1 * em, 0, 0, 0)
            for words in (strip.scale, strip.note):
                if words and free.width() >= min(small.width(words), 2.4 * em):
                    write(painter, free, words, small, theme.muted, LEFT)
                    free = free.adjusted(small.width(words) + 1.1 * em, 0, 0, 0)
        for figures, column in self._figure_columns(stack, layout):
            title = layout.strips[figures.strip].title
            rect = QRectF(column.left(), title.top(), column.width(), title.height() - 0.1 * em)
            if figures.current:
                wide = small.width(figures.title) + 0.9 * em
                chip = QRectF(
                    rect.right() - wide + 0.35 * em, rect.top() + 0.05 * em, wide, 1.3 * em
                )
                box(painter, chip, theme.accent_fill, None, 0.35 * em)
            ink = theme.on_accent if figures.current else theme.muted
            write(painter, rect, figures.title, small, ink, RIGHT)

    def _draw_marks(self, painter: QPainter, stack: Stack, layout: StackLayout) -> None:
        theme, em = self.theme, self.em
        for strip, place in zip(stack.strips, layout.strips, strict=True):
            rows, columns = strip.matrix.values.shape
            if stack.row is None or stack.row >= rows:
                continue
            line = place.cells.rect(stack.row, 0)
            left = place.cells.bounds().left() - 0.32 * em
            painter.fillRect(
                QRectF(left, line.top(), 0.16 * em, line.height()), QColor(theme.accent)
            )
            if stack.column is None or strip.lane != stack.lane or stack.column >= columns:
                continue
            self._frame(painter, place.cells.rect(stack.row, stack.column), 2.0, theme.accent)
        if any(figures.current for figures in stack.figures) and stack.row is not None:
            current = next(figures for figures in stack.figures if figures.current)
            rect = self.figure_rect(current.site, stack.row)
            # of a row that is lower than its number, around the number
            more = max(1.1 * em - rect.height(), 0.0) / 2
            rect = rect.adjusted(0, -more, 0.3 * em, more).intersected(QRectF(self.rect()))
            self._frame(painter, rect, 1.5, theme.accent)
        if self._plot is not None and stack.column is not None and stack.row is not None:
            for strip in stack.strips:
                point = self._plot.place_of((strip.site, stack.row, stack.column))
                if point is not None and strip.lane == stack.lane:
                    box(painter, _round(point, 0.34 * em), theme.accent, theme.surface, 0.34 * em)
        self._draw_hover(painter)

    def _draw_hover(self, painter: QPainter) -> None:
        if self._hovered is None:
            return
        rect = self.cell_rect(*self._hovered)
        if rect.isEmpty():
            rect = self.figure_rect(*self._hovered[:2])
        if not rect.isEmpty():
            self._frame(painter, rect, 1.0, self.theme.text)
        point = self._plot.place_of(self._hovered) if self._plot is not None else None
        if point is not None:
            half = 0.34 * self.em
            box(painter, _round(point, half), self.theme.surface, self.theme.text, half, 1.5)

    def _frame(self, painter: QPainter, rect: QRectF, width: float, colour: str) -> None:
        """Inside the cell, so that it covers nothing beside it.

        A seam of the ground colour lets it show on any cell colour, where the cell has room for
        it. A cell that is narrower than two lines is framed by them from outside.
        """
        out = max(2 * width + 1 - rect.width(), 0.0) / 2
        outer = rect.adjusted(width / 2 - out, width / 2, out - width / 2, -width / 2)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if min(outer.width(), outer.height()) >= 8:
            inset = width / 2 + 0.5
            painter.setPen(QPen(QColor(self.theme.surface), 1.0))
            painter.drawRect(outer.adjusted(inset, inset, -inset, -inset))
        pen = QPen(QColor(colour), width)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        painter.drawRect(outer)

    def _figure_columns(self, stack: Stack, layout: StackLayout) -> list[tuple[Figures, QRectF]]:
        """Every column of figures and where it lies, without its title."""
        taken: dict[int, int] = {}
        found = []
        for figures in stack.figures:
            place = layout.strips[figures.strip]
            number = taken.get(figures.strip, 0)
            taken[figures.strip] = number + 1
            left, right = place.figures[number]
            bounds = place.cells.bounds()
            found.append((figures, QRectF(left, bounds.top(), right - left, bounds.height())))
        return found

    # The pointer.

    def title_at(self, pos: QPointF) -> str | None:
        stack, layout = self._stack, self._ready()
        if stack is None or layout is None:
            return None
        for strip, place in zip(stack.strips, layout.strips, strict=True):
            if place.title.contains(pos):
                return strip.site
        return None

    def term_at(self, pos: QPointF) -> str:
        """What a right click there asks about: the record of the strip."""
        spot, title = self.spot_at(pos), self.title_at(pos)
        return glossary.entry_of_site(spot[0] if spot is not None else title or "")

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        pos = event.position()
        self._hover(self.spot_at(pos))
        points = self._hovered is not None or self.title_at(pos) is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if points else Qt.CursorShape.ArrowCursor)

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
        if event.button() != Qt.MouseButton.LeftButton:
            return
        spot, title = self.spot_at(event.position()), self.title_at(event.position())
        if spot is not None:
            self.cellClicked.emit(*spot)
        elif title is not None:
            self.titleClicked.emit(title)


def _round(centre: QPointF, half: float) -> QRectF:
    return QRectF(centre.x() - half, centre.y() - half, 2 * half, 2 * half)


def _same_numbers(one: Stack, other: Stack) -> bool:
    return one.run is other.run and one.key == other.key


def _layout_key(stack: Stack | None) -> tuple[object, ...]:
    """What decides where everything lies, beside the widget's size and font."""
    if stack is None:
        return ()
    strips = tuple(
        (
            strip.matrix.values.shape,
            strip.matrix.row_labels,
            strip.matrix.row_notes,
            (strip.matrix.column_labels, strip.matrix.column_title) if stack.across else (),
        )
        for strip in stack.strips
    )
    curves = stack.curves
    plot = () if curves is None else (curves.share, curves.aligned)
    figures = tuple(figures.strip for figures in stack.figures)
    return (stack.across, strips, figures, plot, stack.decimals, stack.legend)
