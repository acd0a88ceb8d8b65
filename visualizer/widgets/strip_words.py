"""The words along the rows and columns of a strip."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter

from visualizer.lenses.picture import Matrix
from visualizer.lenses.strips import Stack
from visualizer.widgets.canvas import RIGHT, Canvas, write
from visualizer.widgets.heatmap_layout import shown_labels
from visualizer.widgets.strip_layout import NOTE_SCALE, StripPlace


def write_columns(canvas: Canvas, painter: QPainter, matrix: Matrix, place: StripPlace) -> None:
    """Above the cells the labels, and the titles of the two axes where they have any."""
    face, em = canvas.face(place.column_scale), canvas.em
    bounds, labels = place.cells.bounds(), matrix.column_labels
    muted, small = canvas.theme.muted, canvas.face(0.76)
    row_end = place.labels[1]
    title = QRectF(place.labels[0], bounds.top() - 1.6 * em, row_end - place.labels[0], 1.4 * em)
    write(painter, title, matrix.row_title, small, muted, RIGHT)
    title = QRectF(bounds.left(), bounds.bottom() + 0.15 * em, bounds.width(), 1.2 * em)
    write(painter, title, matrix.column_title, small, muted)
    for column in range(0, len(labels), place.column_step):
        text, x = labels[column], place.cells.column_centre(column)
        if place.flat:
            half = face.width(text) / 2 + 1
            rect = QRectF(x - half, bounds.top() - 1.6 * em, 2 * half, 1.4 * em)
            write(painter, rect, text, face, canvas.theme.text)
            continue
        painter.save()
        painter.translate(x + face.cap_height / 2, bounds.top() - 0.4 * em)
        painter.rotate(-90)
        painter.setFont(face.font)
        painter.setPen(QColor(canvas.theme.text))
        painter.drawText(QPointF(0, 0), face.elided(text, 5.5 * em))
        painter.restore()


def write_rows(
    canvas: Canvas,
    painter: QPainter,
    stack: Stack,
    place: StripPlace,
    things: Sequence[Any],
    text_of: Callable[[Any], str],
    left: float,
    right: float,
) -> None:
    """A text beside each row, ended at the right; many of them, so nothing is done twice.

    things: one per row, of which `text_of` makes the texts that are shown
    """
    face = canvas.face(place.label_scale)
    lift = face.ascent - face.cap_height / 2
    # the first of many low rows is not written into the title above it
    top = place.cells.bounds().top() + (0.8 * face.cap_height if place.row_step > 1 else 0.0)
    last = -math.inf
    painter.setFont(face.font)
    painter.setPen(QColor(canvas.theme.text))
    for row in shown_labels(len(things), place.row_step, stack.row):
        text = face.elided(text_of(things[row]), right - left)
        middle = max(place.cells.row_centre(row), top)
        if middle - last < 1.25 * face.cap_height and place.row_step > 1 and row != stack.row:
            continue
        last = middle
        spot = QPointF(right - face.width(text), round(middle - lift))
        if row == stack.row:
            painter.setPen(QColor(canvas.theme.accent))
        painter.drawStaticText(spot, face.laid_out(text))
        if row == stack.row:
            painter.setPen(QColor(canvas.theme.text))


def write_notes(
    canvas: Canvas, painter: QPainter, stack: Stack, place: StripPlace, texts: tuple[str, ...]
) -> None:
    """Beside each label what the row predicts, so that the arrows stand below each other."""
    assert place.notes is not None
    face = canvas.face(min(NOTE_SCALE, place.label_scale))
    lift = face.ascent - face.cap_height / 2
    left, right = place.notes
    painter.setFont(face.font)
    for row in shown_labels(len(texts), place.row_step, stack.row):
        ink = canvas.theme.accent if row == stack.row else canvas.theme.muted
        painter.setPen(QColor(ink))
        text = face.elided(texts[row], right - left)
        painter.drawStaticText(
            QPointF(left, round(place.cells.row_centre(row) - lift)), face.laid_out(text)
        )
