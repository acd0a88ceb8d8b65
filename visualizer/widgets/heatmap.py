"""The stage's large heatmap: one labelled matrix with its colour bar."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.lenses.picture import Matrix
from visualizer.widgets import figures
from visualizer.widgets.canvas import CENTRE, LEFT, RIGHT, Canvas, box, write
from visualizer.widgets.heatmap_cells import CellPainter, as_image, hatch
from visualizer.widgets.heatmap_layout import NOTE_LINE, TILT, Layout, arrange, shown_labels


class HeatMap(Canvas):
    """Draws a `Matrix`, tells which cell the pointer is on.

    cellHovered(row, column) when the pointer enters a cell, left() when it leaves the cells,
    cellClicked(row, column), and cellDoubleClicked(row, column) of the second click.
    """

    cellHovered = Signal(int, int)
    cellClicked = Signal(int, int)
    cellDoubleClicked = Signal(int, int)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._matrix: Matrix | None = None
        self._layout: Layout | None = None
        self._image: QImage | None = None
        self._cells = CellPainter(self)
        self._selected: tuple[int, int] | None = None
        self._hovered: tuple[int, int] | None = None
        self._empty = ""
        self._legend = ""

    # Setters.

    def set_matrix(self, matrix: Matrix | None) -> None:
        """None, or a matrix without cells, shows the empty text."""
        if matrix is not None and matrix.values.size == 0:
            matrix = None
        same_places = (
            matrix is not None
            and self._matrix is not None
            and _places_key(matrix) == _places_key(self._matrix)
        )
        self._matrix = matrix
        self._image = None
        if not same_places:
            # no signal: it tells what the pointer does, and the owner knows the new matrix
            self._layout = self._hovered = None
        self.update()

    def set_selected(self, cell: tuple[int, int] | None) -> None:
        if cell != self._selected:
            self._selected = cell
            self.update()

    def set_empty_text(self, text: str) -> None:
        self._empty = text
        self.update()

    def set_hidden_legend(self, text: str) -> None:
        """The word beside the hatched swatch, shown when the matrix has hidden cells."""
        self._legend = text
        self.relayout()
        self.update()

    # What can be asked.

    @property
    def matrix(self) -> Matrix | None:
        return self._matrix

    @property
    def hovered(self) -> tuple[int, int] | None:
        return self._hovered

    def cell_at(self, pos: QPointF) -> tuple[int, int] | None:
        """(row, column) of the cell painted at a logical position."""
        layout = self._ready()
        return layout.cells.at(pos.x(), pos.y()) if layout is not None else None

    def cell_rect(self, row: int, column: int) -> QRectF:
        """Where a cell is painted, in logical pixels; empty where nothing is drawn."""
        layout = self._ready()
        return layout.cells.rect(row, column) if layout is not None else QRectF()

    def sizeHint(self) -> QSize:
        return QSize(round(40 * self.em), round(30 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(16 * self.em), round(12 * self.em))

    # Painting.

    def relayout(self) -> None:
        self._layout = None
        self._image = None

    def _ready(self) -> Layout | None:
        if self._matrix is None:
            return None
        if self._layout is None or self._layout.cells.ratio != self.devicePixelRatioF():
            pad = self.em
            self._layout = arrange(
                self, self._matrix, self._legend, self.width() - pad, self.height() - 0.4 * pad
            )
            self._image = None
        return self._layout

    def paint(self, painter: QPainter) -> None:
        matrix, layout = self._matrix, self._ready()
        if matrix is None or layout is None:
            painter.fillRect(self.rect(), QColor(self.theme.surface))
            room = QRectF(self.rect()).adjusted(self.em, self.em, -self.em, -self.em)
            painter.setFont(self.face(fonts.LARGE).font)
            painter.setPen(QColor(self.theme.muted))
            painter.drawText(room, CENTRE | Qt.TextFlag.TextWordWrap, self._empty)
            return
        key = (*_places_key(matrix), matrix.current_row, matrix.current_column, self._legend)
        self.layer(painter, "labels", key, lambda p: self._draw_labels(p, matrix, layout))
        if self._image is None:
            self._image = self._cells.image(matrix, layout.cells)
        painter.drawImage(layout.cells.bounds().topLeft(), self._image)
        if self._hovered is not None and self._hovered != self._selected:
            self._frame(painter, layout, self._hovered, 1.0, self.theme.text)
        if self._selected is not None:
            self._frame(painter, layout, self._selected, 2.0, self.theme.accent)

    def _frame(
        self, painter: QPainter, layout: Layout, cell: tuple[int, int], width: float, colour: str
    ) -> None:
        """Round the cell, with a seam of the ground colour so that it shows on any cell colour.

        All of it lies outside: of a cell two pixels wide nothing would be left.
        """
        matrix = self._matrix
        if matrix is None:
            return
        rows, columns = matrix.values.shape
        if not (0 <= cell[0] < rows and 0 <= cell[1] < columns):
            return
        rect = layout.cells.rect(*cell)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self.theme.surface), 1.0))
        painter.drawRect(rect.adjusted(-0.5, -0.5, 0.5, 0.5))
        out = 1.0 + width / 2
        pen = QPen(QColor(colour), width)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        painter.drawRect(rect.adjusted(-out, -out, out, out))

    def _draw_labels(self, painter: QPainter, matrix: Matrix, layout: Layout) -> None:
        self._draw_row_labels(painter, matrix, layout)
        self._draw_column_labels(painter, matrix, layout)
        self._draw_titles(painter, matrix, layout)
        if layout.colour_bar is not None:
            self._draw_colour_bar(painter, matrix, layout.colour_bar)
        if layout.legend is not None:
            self._draw_legend(painter, layout.legend)

    def _draw_row_labels(self, painter: QPainter, matrix: Matrix, layout: Layout) -> None:
        theme, em = self.theme, self.em
        centres = layout.cells.row_centres()
        face, small = self.face(layout.row_scale), self.face(min(layout.row_scale, fonts.SMALL))
        left, right = layout.row_labels
        for row in shown_labels(len(matrix.row_labels), layout.row_step, matrix.current_row):
            y = float(centres[row]) - em
            colour = theme.accent if row == matrix.current_row else theme.text
            label = QRectF(left, y, right - left, 2 * em)
            write(painter, label, matrix.row_labels[row], face, colour, RIGHT)
            if layout.row_notes is not None and row < len(matrix.row_notes):
                start, end = layout.row_notes
                note = QRectF(start, y, end - start, 2 * em)
                shade = theme.accent if row == matrix.current_row else theme.muted
                write(painter, note, matrix.row_notes[row], small, shade, LEFT)

    def _draw_column_labels(self, painter: QPainter, matrix: Matrix, layout: Layout) -> None:
        theme, em = self.theme, self.em
        labels = matrix.column_labels
        centres = layout.cells.column_centres()
        bounds = layout.cells.bounds()
        face = self.face(layout.column_scale)
        cell = bounds.width() / max(len(labels), 1)
        notes = matrix.column_notes or ("",) * len(labels)
        lift = NOTE_LINE * em if any(notes) else 0.0
        for column in shown_labels(len(labels), layout.column_step, matrix.current_column):
            colour = theme.accent if column == matrix.current_column else theme.text
            text, x = labels[column], float(centres[column])
            if layout.slant == "flat":
                room = max(cell * layout.column_step, face.width(text))
                rect = QRectF(x - room / 2, bounds.top() - 1.75 * em - lift, room, 1.6 * em)
                write(painter, rect, text, face, colour)
                if notes[column]:
                    rect = QRectF(x - cell / 2, bounds.top() - 1.4 * em, cell, 1.2 * em)
                    write(painter, rect, notes[column], self.face(fonts.SMALL), theme.muted)
                continue
            text = f"{text} {notes[column]}".rstrip()
            painter.save()
            angle = TILT if layout.slant == "tilted" else 90.0
            sink = face.cap_height / 2 * (1.0 if angle == 90.0 else 0.6)
            painter.translate(x + sink, bounds.top() - 0.45 * em)
            painter.rotate(-angle)
            length = (layout.head_height - 0.7 * em) / math.sin(math.radians(angle))
            painter.setFont(face.font)
            painter.setPen(QColor(colour))
            painter.drawText(QPointF(0, 0), face.elided(text, length))
            painter.restore()

    def _draw_titles(self, painter: QPainter, matrix: Matrix, layout: Layout) -> None:
        small, em = self.face(fonts.SMALL), self.em
        bounds = layout.cells.bounds()
        if matrix.column_title:
            width = layout.caption_right - bounds.left()
            rect = QRectF(bounds.left(), bounds.bottom() + 0.35 * em, width, 1.5 * em)
            # what comes behind a dot is left out before anything is cut
            title = matrix.column_title
            while small.width(title) > width and " · " in title:
                title = title.rsplit(" · ", 1)[0]
            write(painter, rect, title, small, self.theme.muted, LEFT)
        if matrix.row_title and layout.row_title is not None:
            painter.setFont(small.font)
            painter.setPen(QColor(self.theme.muted))
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom
            painter.drawText(layout.row_title, flags | Qt.TextFlag.TextWordWrap, matrix.row_title)
        elif matrix.row_title and layout.row_title_x is not None:
            length = min(max(bounds.height(), small.width(matrix.row_title)), self.height() - em)
            middle = max(bounds.center().y(), length / 2 + 0.4 * em)
            painter.save()
            painter.translate(layout.row_title_x, middle)
            painter.rotate(-90)
            rect = QRectF(-length / 2, -0.7 * em, length, 1.4 * em)
            write(painter, rect, matrix.row_title, small, self.theme.muted, CENTRE)
            painter.restore()

    def _draw_colour_bar(self, painter: QPainter, matrix: Matrix, bar: QRectF) -> None:
        small, em = self.face(fonts.SMALL), self.em
        column = self.theme.packed_table(matrix.palette)[::-1].reshape(256, 1)
        painter.drawImage(bar, as_image(column))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(QColor(self.theme.border_strong), 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(bar)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        half = small.cap_height / 2
        marks = [(matrix.high, bar.top() + half), (matrix.low, bar.bottom() - half)]
        if bar.height() >= 4 * em:
            marks.append(((matrix.low + matrix.high) / 2, bar.center().y()))
        for value, y in marks:
            rect = QRectF(bar.right() + 0.4 * em, y - 0.7 * em, 5 * em, 1.4 * em)
            write(painter, rect, figures.bound(value), small, self.theme.muted, LEFT)

    def _draw_legend(self, painter: QPainter, rect: QRectF) -> None:
        em, ratio = self.em, self.devicePixelRatioF()
        side = round(0.85 * em * ratio)
        swatch = as_image(hatch(side, side, ratio, self.theme))
        swatch.setDevicePixelRatio(ratio)
        top = self.snap(rect.center().y() - side / ratio / 2)
        painter.drawImage(QPointF(self.snap(rect.left()), top), swatch)
        box(painter, QRectF(rect.left(), top, side / ratio, side / ratio), None, self.theme.border)
        text = rect.adjusted(1.25 * em, 0, 0, 0)
        write(painter, text, self._legend, self.face(fonts.SMALL), self.theme.muted, LEFT)

    # The pointer.

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.cell_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)

    def _hover(self, cell: tuple[int, int] | None) -> None:
        if cell == self._hovered:
            return
        self._hovered = cell
        self.update()
        if cell is None:
            self.left.emit()
        else:
            self.cellHovered.emit(*cell)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position())
        if cell is not None and event.button() == Qt.MouseButton.LeftButton:
            self.cellClicked.emit(*cell)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position())
        if cell is not None and event.button() == Qt.MouseButton.LeftButton:
            self.cellDoubleClicked.emit(*cell)


def _places_key(matrix: Matrix) -> tuple[object, ...]:
    """What decides where things lie and which words are written, but not the numbers."""
    return (
        matrix.values.shape,
        matrix.row_labels,
        matrix.column_labels,
        matrix.row_notes,
        matrix.column_notes,
        matrix.row_title,
        matrix.column_title,
        matrix.palette,
        matrix.low,
        matrix.high,
        matrix.hidden is not None,
    )
