"""The stage's large heatmap: one labelled matrix with its colour bar, all of it or a part."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts, glossary
from visualizer.lenses.picture import Matrix
from visualizer.widgets.canvas import CENTRE
from visualizer.widgets.glossary_link import Links, Word
from visualizer.widgets.heatmap_cells import CellPainter, cell_told, reduced
from visualizer.widgets.heatmap_layout import Layout, arrange
from visualizer.widgets.heatmap_words import draw_words, title_words
from visualizer.widgets.zoomable import Zoomable


class HeatMap(Zoomable):
    """Draws a `Matrix`, tells which cell the pointer is on.

    cellHovered(row, column) when the pointer enters a cell, left() when it leaves the cells,
    cellClicked(row, column), and cellDoubleClicked(row, column) of the second click.

    Where several cells share a pixel, the largest of them is shown and told.
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
        self._image: QImage | None = None
        self._cells = CellPainter(self)
        self._hovered: tuple[int, int] | None = None
        self._empty = ""
        self._legend = ""
        self.links = Links(self, self._title_words)

    # Setters.

    def set_matrix(self, matrix: Matrix | None) -> None:
        """None, or a matrix without cells, shows the empty text.

        The part on show stays as far as the new matrix has it.
        """
        if matrix is not None and matrix.values.size == 0:
            matrix = None
        before = self._matrix
        same_places = (
            matrix is not None and before is not None and _places_key(matrix) == _places_key(before)
        )
        if matrix is not None:
            self.carry_view(before, matrix)
        self._matrix = matrix
        self._image = None
        if not same_places:
            # no signal: it tells what the pointer does, and the owner knows the new matrix
            self._layout = self._hovered = None
        self.minimap.set_matrix(matrix)
        self._settle()
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
        layout, matrix = self._ready(), self._matrix
        if layout is None or matrix is None:
            return None
        return cell_told(matrix, layout.cells, pos.x(), pos.y())

    def cell_rect(self, row: int, column: int) -> QRectF:
        """Where a cell is painted, in logical pixels; empty where nothing of it is on show."""
        layout = self._ready()
        return layout.cells.rect(row, column) if layout is not None else QRectF()

    def sizeHint(self) -> QSize:
        return QSize(round(40 * self.em), round(30 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(16 * self.em), round(7 * self.em))

    # Painting.

    def relayout(self) -> None:
        self._layout = None
        self._image = None
        self._settle()

    def _ready(self) -> Layout | None:
        if self._matrix is None:
            return None
        if self._layout is None or self._layout.cells.ratio != self.devicePixelRatioF():
            pad = self.em
            size = self.width() - pad, self.height() - 0.4 * pad
            self._layout = arrange(self, self._matrix, self._legend, *size, self._view)
            self._image = None
        return self._layout

    def paint(self, painter: QPainter) -> None:
        matrix, settled = self._matrix, self._layout
        layout = self._ready()
        if layout is not settled:
            # on another screen; what lies on this one is not moved while it is painted
            QTimer.singleShot(0, self._settle)
        if matrix is None or layout is None:
            painter.fillRect(self.rect(), QColor(self.theme.surface))
            room = QRectF(self.rect()).adjusted(self.em, self.em, -self.em, -self.em)
            painter.setFont(self.face(fonts.LARGE).font)
            painter.setPen(QColor(self.theme.muted))
            painter.drawText(room, CENTRE | Qt.TextFlag.TextWordWrap, self._empty)
            return
        note = self._note(layout)
        key = (
            *_places_key(matrix),
            matrix.current_row,
            matrix.current_column,
            self._legend,
            note,
            self._view,
        )
        self.layer(
            painter,
            "labels",
            key,
            lambda p: draw_words(self, p, matrix, layout, self._legend, note),
        )
        if self._image is None:
            shown = reduced(matrix, layout.rows, layout.columns)
            self._image = self._cells.image(shown, layout.cells)
        painter.drawImage(layout.cells.bounds().topLeft(), self._image)
        if self._hovered is not None and self._hovered != self._selected:
            self._frame(painter, layout, self._hovered, 1.0, self.theme.text)
        if self._selected is not None:
            self._frame(painter, layout, self._selected, 2.0, self.theme.accent)
        self.links.underline(painter)

    def _title_words(self) -> list[Word]:
        matrix, layout = self._matrix, self._ready()
        if matrix is None or layout is None:
            return []
        return title_words(self, matrix, layout, self._note(layout))

    def _note(self, layout: Layout) -> str:
        """What a pixel stands for, where it is not one cell."""
        rows, columns = layout.rows, layout.columns
        whole, read = rows.block * columns.block, rows.read * columns.read
        if whole == 1:
            return ""
        text = self._words.largest if read == whole else self._words.sampled
        return text.format(n=read, all=whole)

    def _frame(
        self, painter: QPainter, layout: Layout, cell: tuple[int, int], width: float, colour: str
    ) -> None:
        """Round the cell, with a seam of the ground colour so that it shows on any cell colour.

        All of it lies outside: of a cell two pixels wide nothing would be left.
        """
        if not layout.cells.shows(*cell):
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

    # The pointer.

    def term_at(self, pos: QPointF) -> str:
        """What a right click there asks about: the record on show."""
        matrix = self._matrix
        return "" if matrix is None else glossary.entry_of_site(matrix.source.split("[")[0])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._turn_to(self._gestures.drag(event.position(), self._area()))
            if self._gestures.dragging:
                self.setCursor(Qt.CursorShape.ClosedHandCursor)
                return
        self._hover(self.cell_at(event.position()))

    def _hover_at(self, pos: QPointF) -> None:
        self._hover(self.cell_at(pos))

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
        if cell is None or event.button() != Qt.MouseButton.LeftButton:
            return
        if self._view is None or self._view.is_whole:
            self.cellClicked.emit(*cell)
        else:
            # the release tells whether it was a click or a drag
            self._gestures.press(event.position(), self._view)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self.unsetCursor()
        if self._gestures.release():
            cell = self.cell_at(event.position())
            if cell is not None:
                self.cellClicked.emit(*cell)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        cell = self.cell_at(event.position())
        if cell is not None:
            self.cellDoubleClicked.emit(*cell)
        else:
            self.fit()


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
        matrix.quiet_rows,
        matrix.quiet_columns,
        matrix.palette,
        matrix.low,
        matrix.high,
        matrix.hidden is not None,
    )
