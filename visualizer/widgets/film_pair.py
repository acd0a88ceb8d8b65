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
from visualizer.widgets.canvas import LEFT, Canvas, write
from visualizer.widgets.film_labels import (
    LINE,
    OVERHANG,
    attention_image,
    cell_at,
    cell_rect,
    draw_attention,
    draw_sureness,
    frame_around,
    named,
    upright_height,
    write_columns,
    write_rows,
)
from visualizer.widgets.heatmap_cells import as_image, colour_indices
from visualizer.widgets.verdict import draw_verdict

# In parts of the font's size: between two pictures, above and below each, the tallest row.
GAP, HEAD, BELOW, TALLEST_ROW = 1.6, 1.6, 4.2, 4.0
LABEL = 0.76


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
        self._title = self._empty = self._words = self._expected = ""
        self._key: tuple[object, ...] = ()
        self._cell: tuple[int, int] | None = None

    def set_pair(
        self, frames: tuple[Frame, ...], difference: str, empty: str, cell: str, expected: str = ""
    ) -> None:
        """difference: the title of the third picture; empty: what is said without two frames

        cell: what a cell says, with {row}, {column} and {weight}; expected: what should have come
        """
        key = (difference, empty, *(frame.key for frame in frames))
        if key == self._key:
            return
        self._key, self._frames, self._title, self._empty = key, frames, difference, empty
        self._words, self._expected = cell, expected
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
        em, small = self.em, self.face(LABEL)
        names = {name for frame in self._frames for name in frame.rows}
        label = min(max(map(small.width, names), default=0.0) + 0.5 * em, 5 * em)
        slot = (self.width() - (2 * GAP + OVERHANG) * em) / 3
        room = self.height() - (HEAD + BELOW) * em
        turned = self._upright(slot - label, room)
        top = HEAD * em + max(turned + 0.5 * em, 1.2 * em)
        high = self.height() - top - BELOW * em
        cells = max((len(frame.weights) for frame in self._frames), default=1)
        high = min(high, 0.95 * (slot - label), TALLEST_ROW * em * cells)
        left = label + number * (slot + GAP * em)
        return QRectF(round(left), round(top), max(round(slot - label), 1), max(round(high), 1))

    def _upright(self, wide: float, room: float) -> float:
        """How high column labels are if turned; 0 where they are not, or would take too much."""
        em, frame = self.em, self._frames[0]
        each = wide / max(len(frame.columns), 1)
        turned = upright_height(frame.columns, each, self.face(LABEL), em)
        return turned if room - turned >= LINE * em * len(frame.weights) else 0.0

    def paint(self, painter: QPainter) -> None:
        if len(self._frames) != 2:
            write(painter, QRectF(self.rect()), self._empty, self.face(), self.theme.muted)
            return
        first, second = self._frames
        for number, frame in enumerate((first, second)):
            title = f"{frame.mark}  {frame.title}"
            image = attention_image(frame.weights, self.theme)
            self._draw(painter, number, title, image, frame.rows, frame.columns)
            self._draw_output(painter, self.picture_rect(number), frame)
        change = self.difference()
        rows = second.rows[: len(change)] if second.rows == first.rows else ()
        columns = second.columns[: change.shape[1]]
        self._draw(painter, 2, self._title, change_image(change, self.theme), rows, columns)
        if self._expected:
            room = self._line(self.picture_rect(2))
            write(painter, room, self._expected, self.face(), self.theme.muted, LEFT)
        self._draw_pointed(painter, change)

    def _line(self, rect: QRectF, number: int = 0) -> QRectF:
        """A line of words below a picture."""
        em = self.em
        top = rect.bottom() + (0.35 + 1.4 * number) * em
        return QRectF(rect.left(), top, rect.width() + 0.6 * em, 1.4 * em)

    def _draw_output(self, painter: QPainter, rect: QRectF, frame: Frame) -> None:
        em, theme, room = self.em, self.theme, self._line(rect)
        if frame.expected is not None:
            middle = QPointF(rect.left() + 0.4 * em, room.center().y())
            draw_verdict(painter, middle, em, frame.is_right, theme)
            room.setLeft(rect.left() + 1.1 * em)
        write(painter, room, frame.output or "–", self.face(), theme.text, LEFT)
        bars = QRectF(rect.left(), rect.bottom() + 1.8 * em, rect.width(), 0.8 * em)
        draw_sureness(painter, bars, frame, theme)

    def _draw(
        self,
        painter: QPainter,
        number: int,
        title: str,
        image: QImage,
        rows: tuple[str, ...],
        columns: tuple[str, ...],
    ) -> None:
        em, theme, rect, small = self.em, self.theme, self.picture_rect(number), self.face(LABEL)
        head = QRectF(rect.left(), 0, rect.width() + em, 1.5 * em)
        write(painter, head, title, self.face(bold=True), theme.text, LEFT)
        draw_attention(painter, rect, image)
        frame_around(painter, rect, theme.color("border"), 1.0)
        write_rows(painter, rect, rows, small, theme, em)
        room = self.height() - (HEAD + BELOW) * em
        upright = self._upright(rect.width(), room)
        write_columns(painter, rect, columns, small, theme, em, upright)

    def _draw_pointed(self, painter: QPainter, change: np.ndarray) -> None:
        """What the cell under the pointer is in each, with its tokens and all its digits."""
        if self._cell is None:
            return
        em, theme, small = self.em, self.theme, self.face(fonts.SMALL)
        row, column = self._cell
        first, second = self._frames
        for number, values in enumerate((first.weights, second.weights, change)):
            if row >= values.shape[0] or column >= values.shape[1]:
                continue
            rect = self.picture_rect(number)
            where = cell_rect(rect, self._cell, values.shape)
            frame_around(painter, where, theme.color("accent"), 0.12 * em)
            text = f"{self._title}: {figures.exact(values[row, column])}"
            if number < 2:
                frame = self._frames[number]
                text = self._words.format(
                    row=named(frame.rows, row),
                    column=named(frame.columns, column),
                    weight=figures.exact(values[row, column]),
                )
            room = QRectF(rect.left(), rect.bottom() + 2.75 * em, rect.width() + 0.6 * em, 1.3 * em)
            write(painter, room, text, small, theme.text, LEFT)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._cell = self._cell_at(event.position()) if len(self._frames) == 2 else None
        self.update()

    def leaveEvent(self, event: object) -> None:
        self._cell = None
        self.update()

    def _cell_at(self, pos: QPointF) -> tuple[int, int] | None:
        shapes = (*(frame.weights.shape for frame in self._frames), self.difference().shape)
        found = (cell_at(self.picture_rect(n), pos, shape) for n, shape in enumerate(shapes))
        return next((cell for cell in found if cell is not None), None)


def change_image(change: np.ndarray, theme: Theme) -> QImage:
    """(T,S) numbers from -1 to 1, a pixel each."""
    return as_image(theme.packed_table("diverging")[colour_indices(change, -1.0, 1.0)])
