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
from visualizer.widgets.canvas import LEFT, RIGHT, Canvas, ink, write
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
# How long the scale of colours is.
SCALE = 3.6


class FilmPair(Canvas):
    """The earlier frame, the later one and the difference of their weights, later minus earlier.

    Rows are the tokens that a frame's own output was read as, which may differ: there is a
    difference where both frames read the same.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self._frames: tuple[Frame, ...] = ()
        self._title = self._empty = self._words = self._expected = self._partly = ""
        self._key: tuple[object, ...] = ()
        self._cell: tuple[int, int] | None = None

    def set_pair(
        self,
        frames: tuple[Frame, ...],
        difference: str,
        empty: str,
        cell: str,
        expected: str = "",
        partly: str = "",
    ) -> None:
        """difference: the title of the third picture; empty: what is said without two frames

        cell: what a cell says, with {row}, {column} and {weight}; expected: what should have come
        partly: of how many rows there is a difference, with {n} and {all}
        """
        key = (difference, empty, *(frame.key for frame in frames))
        if key == self._key:
            return
        self._key, self._frames, self._title, self._empty = key, frames, difference, empty
        self._words, self._expected, self._partly = cell, expected, partly
        words = [f"{frame.title}: {frame.output}" for frame in frames]
        self.describe(", ".join(words) or empty)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(60 * self.em), round(14 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(30 * self.em), round(8.5 * self.em))

    def difference(self) -> np.ndarray:
        """(T,S) the later weights minus the earlier ones, as far as both go; NaN where they do
        not read the same.
        """
        first, second = self._frames
        rows, columns = np.minimum(first.weights.shape, second.weights.shape)
        change = second.weights[:rows, :columns] - first.weights[:rows, :columns]
        same = np.outer(alike(first.rows, second.rows), alike(first.columns, second.columns))
        return np.where(same[:rows, :columns], change, np.float32(np.nan))

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
            self._draw_scale(painter, number, "sequential", "0", "1")
            self._draw_output(painter, self.picture_rect(number), frame)
        change = self.difference()
        pairs = zip(first.rows, second.rows, strict=False)
        rows = tuple(a if a == b else "" for a, b in pairs)[: len(change)]
        columns = second.columns[: change.shape[1]]
        image = change_image(np.nan_to_num(change), self.theme)
        self._draw(painter, 2, self._title, image, rows, columns)
        self._draw_scale(painter, 2, "diverging", "-1", "1")
        known = np.isfinite(change)
        self._cover(painter, ~known)
        room, told = self._line(self.picture_rect(2)), int(known.any(axis=1).sum())
        if self._expected:
            write(painter, room, self._expected, self.face(), self.theme.muted, LEFT)
            room = self._line(self.picture_rect(2), 1)
        most = max(len(first.rows), len(second.rows))
        if self._partly and told < most and not self._is_pointed_at(change):
            words = self._partly.format(n=told, all=most)
            write(painter, room, words, self.face(fonts.SMALL), self.theme.muted, LEFT)
        self._draw_pointed(painter, change)

    def _cover(self, painter: QPainter, unknown: np.ndarray) -> None:
        """Nothing where there is nothing to compare. unknown: (T,S) bool"""
        rect = self.picture_rect(2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        whole, ground = unknown.all(axis=1), ink(self.theme.sunken)
        for row in range(len(unknown)):
            if whole[row]:
                across = cell_rect(rect, (row, 0), unknown.shape)
                across.setWidth(rect.width())
                painter.fillRect(across, ground)
                continue
            for column in np.flatnonzero(unknown[row]).tolist():
                painter.fillRect(cell_rect(rect, (row, column), unknown.shape), ground)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _draw_scale(
        self, painter: QPainter, number: int, palette: str, low: str, high: str
    ) -> None:
        """Which colour is which number, at the right of a picture's heading."""
        em, theme, rect, small = self.em, self.theme, self.picture_rect(number), self.face(LABEL)
        after = small.width(high) + 0.4 * em
        bar = QRectF(rect.right() - after - SCALE * em, 0.5 * em, SCALE * em, 0.55 * em)
        draw_attention(painter, bar, as_image(theme.packed_table(palette)[None, :]))
        frame_around(painter, bar, theme.color("border"), 1.0)
        middle = QRectF(0, bar.center().y() - 0.6 * em, bar.left() - 0.4 * em, 1.2 * em)
        write(painter, middle, low, small, theme.muted, RIGHT)
        middle = QRectF(bar.right() + 0.4 * em, middle.top(), after, middle.height())
        write(painter, middle, high, small, theme.muted, LEFT)

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
            if not np.isfinite(values[row, column]):
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

    def _is_pointed_at(self, change: np.ndarray) -> bool:
        """Whether the line below the difference tells of a cell."""
        if self._cell is None:
            return False
        row, column = self._cell
        inside = row < change.shape[0] and column < change.shape[1]
        return inside and bool(np.isfinite(change[row, column]))

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


def alike(first: tuple[str, ...], second: tuple[str, ...]) -> np.ndarray:
    """(n,) bool: where both have the same token."""
    return np.array([a == b for a, b in zip(first, second, strict=False)], bool)


def change_image(change: np.ndarray, theme: Theme) -> QImage:
    """(T,S) numbers from -1 to 1, a pixel each."""
    return as_image(theme.packed_table("diverging")[colour_indices(change, -1.0, 1.0)])
