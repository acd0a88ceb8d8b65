"""Two frames of the film side by side, and what has changed from one to the other."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QImage, QMouseEvent, QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.lenses.lab_picture import Frame
from visualizer.theme import Theme
from visualizer.widgets import figures
from visualizer.widgets.canvas import LEFT, RIGHT, Canvas, Face, write
from visualizer.widgets.film_strip import attention_image, draw_attention, frame_around
from visualizer.widgets.heatmap_cells import as_image, colour_indices

GAP = 1.6


class FilmPair(Canvas):
    """The earlier frame, the later one and the difference of their weights, later minus earlier.

    Rows are the tokens that a frame's own output was read as, which may differ: a cell of the
    difference is there where both have one.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self._frames: tuple[Frame, ...] = ()
        self._title = self._empty = ""
        self._cell: tuple[int, int] | None = None

    def set_pair(self, frames: tuple[Frame, ...], difference: str, empty: str) -> None:
        """difference: the title of the third picture; empty: what is said without two frames"""
        self._frames, self._title, self._empty = frames, difference, empty
        words = [f"{frame.title}: {frame.output}" for frame in frames]
        self.describe(", ".join(words) or empty)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(60 * self.em), round(14 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(30 * self.em), round(8.5 * self.em))

    def difference(self) -> np.ndarray:
        """(T,S) the later weights minus the earlier ones, as far as both go."""
        first, second = (frame.weights for frame in self._frames)
        rows, columns = np.minimum(first.shape, second.shape)
        return np.asarray(second[:rows, :columns] - first[:rows, :columns])

    def picture_rect(self, number: int) -> QRectF:
        """Where the cells of the first, the second frame or the difference are painted."""
        em, small = self.em, self.face(0.72)
        names = {name for frame in self._frames for name in frame.rows}
        label = min(max(map(small.width, names), default=0.0) + 0.5 * em, 5 * em)
        wide = (self.width() - 2 * GAP * em) / 3 - label
        top = 1.9 * em + 1.1 * em
        high = min(self.height() - top - 2.1 * em, 0.95 * wide)
        wide = min(wide, 2.2 * high)
        left = label + number * (wide + label + GAP * em)
        return QRectF(round(left), round(top), max(round(wide), 1), max(round(high), 1))

    def paint(self, painter: QPainter) -> None:
        if len(self._frames) != 2:
            write(painter, QRectF(self.rect()), self._empty, self.face(), self.theme.muted)
            return
        first, second = self._frames
        for number, frame in enumerate((first, second)):
            title = f"{frame.mark}  {frame.title}"
            image = attention_image(frame.weights, self.theme)
            self._draw(painter, number, title, image, frame.rows, frame.columns)
            rect = self.picture_rect(number)
            below = QRectF(rect.left(), rect.bottom() + 0.4 * self.em, rect.width() + self.em, 0)
            below.setHeight(1.4 * self.em)
            ink = self.theme.output if frame.is_right else self.theme.text
            write(painter, below, frame.output or "–", self.face(), ink, LEFT)
        change = self.difference()
        rows = second.rows[: len(change)] if second.rows == first.rows else ()
        columns = second.columns[: change.shape[1]]
        self._draw(painter, 2, self._title, change_image(change, self.theme), rows, columns)
        self._draw_pointed(painter, change)

    def _draw(
        self,
        painter: QPainter,
        number: int,
        title: str,
        image: QImage,
        rows: tuple[str, ...],
        columns: tuple[str, ...],
    ) -> None:
        em, theme, rect, small = self.em, self.theme, self.picture_rect(number), self.face(0.72)
        head = QRectF(rect.left(), 0, rect.width() + em, 1.5 * em)
        write(painter, head, title, self.face(bold=True), theme.text, LEFT)
        draw_attention(painter, rect, image)
        frame_around(painter, rect, theme.color("border"), 1.0)
        write_rows(painter, rect, rows, small, theme, em)
        write_columns(painter, rect, columns, small, theme, em)

    def _draw_pointed(self, painter: QPainter, change: np.ndarray) -> None:
        """What the cell under the pointer is in each, with its digits."""
        if self._cell is None:
            return
        em, theme = self.em, self.theme
        row, column = self._cell
        if row >= change.shape[0] or column >= change.shape[1]:
            return
        for number, values in enumerate((*(f.weights for f in self._frames), change)):
            rect = self.picture_rect(number)
            wide, high = rect.width() / values.shape[1], rect.height() / values.shape[0]
            cell = QRectF(rect.left() + column * wide, rect.top() + row * high, wide, high)
            frame_around(painter, cell, theme.color("accent"), 0.12 * em)
            if number == 2:
                below = QRectF(rect.left(), rect.bottom() + 0.4 * em, rect.width(), 1.4 * em)
                text = f"{figures.exact(values[row, column])}"
                write(painter, below, text, self.face(fonts.SMALL), theme.muted, LEFT)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._cell = self._cell_at(event.position()) if len(self._frames) == 2 else None
        self.update()

    def leaveEvent(self, event: object) -> None:
        self._cell = None
        self.update()

    def _cell_at(self, pos: QPointF) -> tuple[int, int] | None:
        shapes = (*(frame.weights.shape for frame in self._frames), self.difference().shape)
        for number, (rows, columns) in enumerate(shapes):
            rect = self.picture_rect(number)
            if rect.contains(pos) and rows and columns:
                row = int((pos.y() - rect.top()) / rect.height() * rows)
                column = int((pos.x() - rect.left()) / rect.width() * columns)
                return min(row, rows - 1), min(column, columns - 1)
        return None


def change_image(change: np.ndarray, theme: Theme) -> QImage:
    """(T,S) numbers from -1 to 1, a pixel each."""
    return as_image(theme.packed_table("diverging")[colour_indices(change, -1.0, 1.0)])


def write_rows(
    painter: QPainter, rect: QRectF, names: tuple[str, ...], face: Face, theme: Theme, em: float
) -> None:
    """Labels at the left of a picture, as many as do not touch each other."""
    if not names:
        return
    high = rect.height() / len(names)
    every = max(1, int(np.ceil(0.95 * em / high)))
    for number in range(0, len(names), every):
        room = QRectF(rect.left() - 5.4 * em, rect.top() + number * high, 5 * em, high)
        write(painter, room, names[number], face, theme.muted, RIGHT)


def write_columns(
    painter: QPainter, rect: QRectF, names: tuple[str, ...], face: Face, theme: Theme, em: float
) -> None:
    """Labels above a picture, as many as do not touch each other."""
    if not names:
        return
    wide = rect.width() / len(names)
    most = max(map(face.width, names)) + 0.3 * em
    every = max(1, int(np.ceil(min(most, 4 * em) / wide)))
    for number in range(0, len(names), every):
        left = rect.left() + number * wide
        room = QRectF(left, rect.top() - 1.15 * em, every * wide - 0.2 * em, 1.1 * em)
        if every == 1:
            write(painter, room, names[number], face, theme.muted)
        else:
            write(painter, room, names[number], face, theme.muted, LEFT)
