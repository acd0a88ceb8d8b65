"""What all pictures of the film share: the cells, their edge, labels, bars of probabilities."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from visualizer.lenses.lab_picture import Frame
from visualizer.theme import Theme
from visualizer.widgets import figures
from visualizer.widgets.canvas import LEFT, NO_PEN, RIGHT, Face, ink, write
from visualizer.widgets.heatmap_cells import as_image, colour_indices

# The least height of a line of labels, in parts of the font's size.
LINE = 0.92
# How far the last label of the columns may reach beyond the picture.
OVERHANG = 2.1


def attention_image(weights: np.ndarray, theme: Theme) -> QImage:
    """(T,S) weights from 0 to 1, a pixel each."""
    return as_image(theme.packed_table("sequential")[colour_indices(weights, 0.0, 1.0)])


def draw_attention(painter: QPainter, rect: QRectF, image: QImage) -> None:
    """The pixels as sharp cells."""
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
    painter.drawImage(rect, image)


def frame_around(painter: QPainter, rect: QRectF, colour: QColor, width: float) -> None:
    """An edge just outside a picture."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(colour, width))
    inset = width / 2 + 1
    painter.drawRect(rect.adjusted(-inset, -inset, inset, inset))
    painter.setPen(NO_PEN)


def cell_at(rect: QRectF, pos: QPointF, shape: tuple[int, ...]) -> tuple[int, int] | None:
    """Row and column of the cell at a position, of a picture with (rows, columns) cells."""
    rows, columns = shape
    if not rect.contains(pos) or not rows or not columns:
        return None
    row = int((pos.y() - rect.top()) / rect.height() * rows)
    column = int((pos.x() - rect.left()) / rect.width() * columns)
    return min(row, rows - 1), min(column, columns - 1)


def cell_rect(rect: QRectF, cell: tuple[int, int], shape: tuple[int, ...]) -> QRectF:
    """Where a cell is painted."""
    wide, high = rect.width() / shape[1], rect.height() / shape[0]
    return QRectF(rect.left() + cell[1] * wide, rect.top() + cell[0] * high, wide, high)


def named(names: tuple[str, ...], number: int) -> str:
    """A token in quotes, in words."""
    return f"“{names[number]}”" if number < len(names) else "–"


def every_nth(count: int, room: float, least: float) -> int:
    """Of so many labels one out of how many is written, so that each has its least room."""
    return max(1, math.ceil(least * count / max(room, 1.0)))


def write_rows(
    painter: QPainter, rect: QRectF, names: tuple[str, ...], face: Face, theme: Theme, em: float
) -> None:
    """Labels at the left of a picture, as many as do not touch each other."""
    if not names:
        return
    high = rect.height() / len(names)
    for number in range(0, len(names), every_nth(len(names), rect.height(), LINE * em)):
        room = QRectF(rect.left() - 5.4 * em, rect.top() + number * high, 5 * em, high)
        write(painter, room, names[number], face, theme.muted, RIGHT)


def upright_height(names: tuple[str, ...], wide: float, face: Face, em: float) -> float:
    """How high the labels above columns are where they do not fit beside each other: 0 if they do.

    wide: of a column
    """
    if not names or most_width(names, face) + 0.2 * em <= wide or wide < 0.5 * em:
        return 0.0
    # letters are read at every second or third place
    letters = sum(len(name) == 1 for name in names)
    return 0.0 if 2 * letters > len(names) else min(face.widest(names), 5 * em)


def most_width(names: tuple[str, ...], face: Face) -> float:
    """The width of a label but for a fifth that may be longer: they need not cost the others
    their place.
    """
    return sorted(map(face.width, names))[-1 - len(names) // 5]


def write_columns(
    painter: QPainter,
    rect: QRectF,
    names: tuple[str, ...],
    face: Face,
    theme: Theme,
    em: float,
    upright: float = 0.0,
) -> None:
    """Labels above a picture, as many as do not touch each other; upright: so high, if turned."""
    if not names:
        return
    wide = rect.width() / len(names)
    if upright:
        for number in range(0, len(names), every_nth(len(names), rect.width(), LINE * em)):
            painter.save()
            painter.translate(rect.left() + (number + 0.5) * wide, rect.top() - 0.3 * em)
            painter.rotate(-90)
            room = QRectF(0, -0.6 * em, upright, 1.2 * em)
            write(painter, room, names[number], face, theme.muted, LEFT)
            painter.restore()
        return
    most = min(most_width(names, face) + 0.2 * em, 4 * em)
    every = every_nth(len(names), rect.width(), most)
    for number in range(0, len(names), every):
        name, left = names[number], rect.left() + (number + 0.5 - every / 2) * wide
        room = QRectF(left, rect.top() - 1.15 * em, every * wide, 1.1 * em)
        if number + every >= len(names) and face.width(name) > room.width():
            # the last one has room beyond the picture
            room.setLeft(rect.left() + number * wide)
            room.setWidth(wide + OVERHANG * em)
            write(painter, room, name, face, theme.muted, LEFT)
            continue
        more = max(min(face.width(name), room.width() + em) - room.width(), 0) / 2
        write(painter, room.adjusted(-more, 0, more, 0), name, face, theme.muted)


def draw_sureness(painter: QPainter, rect: QRectF, frame: Frame, theme: Theme) -> None:
    """A bar for each token of the output, as high as its probability, beside each other."""
    count = len(frame.sure)
    if not count:
        return
    wide = rect.width() / count
    gap = min(0.2 * wide, 3.0)
    painter.setPen(NO_PEN)
    for number, probability in enumerate(frame.sure):
        left = rect.left() + number * wide
        room = QRectF(left, rect.top(), wide - gap, rect.height())
        painter.fillRect(room, ink(theme.chip))
        room.setTop(room.bottom() - probability * room.height())
        painter.fillRect(room, ink(theme.output))


def sure_words(frame: Frame) -> str:
    """Each token of the output with its probability, a line each."""
    pairs = zip(frame.tokens, frame.sure, strict=False)
    return "\n".join(f"{token}   {figures.percent(p)}" for token, p in pairs)
