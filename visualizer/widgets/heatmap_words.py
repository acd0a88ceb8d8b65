"""What is written around the cells of a heatmap: labels, titles, colour bar, legend."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from visualizer import fonts
from visualizer.lenses.picture import Matrix
from visualizer.widgets import figures
from visualizer.widgets.canvas import CENTRE, LEFT, RIGHT, Canvas, box, write
from visualizer.widgets.column_heads import NOTE_LINE, TILT
from visualizer.widgets.glossary_link import Word, first_term, word_in
from visualizer.widgets.heatmap_cells import as_image, hatch
from visualizer.widgets.heatmap_layout import Layout, shown_labels

# A title that has room beside the column labels ends above the row labels.
ROW_TITLE = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom


def draw_words(
    canvas: Canvas,
    painter: QPainter,
    matrix: Matrix,
    layout: Layout,
    legend: str = "",
    note: str = "",
) -> None:
    """legend: the word for the hatch    note: what a pixel stands for, where it is not a cell"""
    _draw_row_labels(canvas, painter, matrix, layout)
    _draw_column_labels(canvas, painter, matrix, layout)
    _draw_column_title(canvas, painter, matrix, layout, note)
    _draw_row_title(canvas, painter, matrix, layout)
    if layout.colour_bar is not None:
        _draw_colour_bar(canvas, painter, matrix, layout.colour_bar)
    if layout.legend is not None:
        _draw_legend(canvas, painter, layout.legend, legend)


def title_words(canvas: Canvas, matrix: Matrix, layout: Layout, note: str = "") -> list[Word]:
    """The titles of the two axes, as they are painted: their terms lead to the glossary."""
    small, found = canvas.face(fonts.SMALL), []
    if matrix.column_title or note:
        found.append(word_in(*_column_title(canvas, matrix, layout, note), small))
    if matrix.row_title and layout.row_title is not None:
        flags = int(ROW_TITLE | Qt.TextFlag.TextWordWrap)
        rect = small.metrics.boundingRect(layout.row_title, flags, matrix.row_title)
        found += [Word(rect, matrix.row_title, small, first_term(matrix.row_title))]
    elif matrix.row_title and layout.row_title_x is not None:
        middle, length = _upright_title(canvas, matrix, layout)
        long, em = min(small.width(matrix.row_title), length), canvas.em
        rect = QRectF(layout.row_title_x - 0.7 * em, middle - long / 2, 1.4 * em, long)
        found.append(Word(rect, matrix.row_title, small, upright=True))
    return found


def _draw_row_labels(canvas: Canvas, painter: QPainter, matrix: Matrix, layout: Layout) -> None:
    theme, em, rows = canvas.theme, canvas.em, layout.rows
    face = canvas.face(layout.row_scale)
    small = canvas.face(min(layout.row_scale, fonts.SMALL))
    left, right = layout.row_labels
    count = min(rows.count, len(matrix.row_labels) - rows.first)
    for row in shown_labels(count, layout.row_step, matrix.current_row, rows.first):
        y = layout.cells.row_centre(row) - em
        colour = _label_colour(canvas, row, matrix.current_row, matrix.quiet_rows)
        label = QRectF(left, y, right - left, 2 * em)
        write(painter, label, matrix.row_labels[row], face, colour, RIGHT)
        if layout.row_notes is not None and row < len(matrix.row_notes):
            start, end = layout.row_notes
            note = QRectF(start, y, end - start, 2 * em)
            shade = theme.accent if row == matrix.current_row else theme.muted
            write(painter, note, matrix.row_notes[row], small, shade, LEFT)


def _draw_column_labels(canvas: Canvas, painter: QPainter, matrix: Matrix, layout: Layout) -> None:
    theme, em, columns = canvas.theme, canvas.em, layout.columns
    labels, bounds = matrix.column_labels, layout.cells.bounds()
    face = canvas.face(layout.column_scale)
    cell = bounds.width() / max(columns.count, 1)
    lift = NOTE_LINE * em if any(matrix.column_notes) else 0.0
    count = min(columns.count, len(labels) - columns.first)
    for column in shown_labels(count, layout.column_step, matrix.current_column, columns.first):
        colour = _label_colour(canvas, column, matrix.current_column, matrix.quiet_columns)
        text, x = labels[column], layout.cells.column_centre(column)
        note = matrix.column_notes[column] if matrix.column_notes else ""
        if layout.slant == "flat":
            room = max(cell * layout.column_step, face.width(text))
            rect = QRectF(x - room / 2, bounds.top() - 1.75 * em - lift, room, 1.6 * em)
            write(painter, rect, text, face, colour)
            if note:
                rect = QRectF(x - cell / 2, bounds.top() - 1.4 * em, cell, 1.2 * em)
                write(painter, rect, note, canvas.face(fonts.SMALL), theme.muted)
            continue
        text = f"{text} {note}".rstrip()
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


def _label_colour(canvas: Canvas, number: int, current: int | None, quiet: Sequence[bool]) -> str:
    if number == current:
        return canvas.theme.accent
    return canvas.theme.muted if any(quiet[number : number + 1]) else canvas.theme.text


def _draw_column_title(
    canvas: Canvas, painter: QPainter, matrix: Matrix, layout: Layout, note: str
) -> None:
    if matrix.column_title or note:
        rect, title = _column_title(canvas, matrix, layout, note)
        write(painter, rect, title, canvas.face(fonts.SMALL), canvas.theme.muted, LEFT)


def _column_title(canvas: Canvas, matrix: Matrix, layout: Layout, note: str) -> tuple[QRectF, str]:
    """Where the title of the columns is written, and how much of it."""
    small, em = canvas.face(fonts.SMALL), canvas.em
    bounds = layout.cells.bounds()
    width = layout.caption_right - bounds.left()
    rect = QRectF(bounds.left(), bounds.bottom() + 0.35 * em, width, 1.5 * em)
    # what comes behind a dot is left out before anything is cut, the note last
    first, *more = matrix.column_title.split(" · ")
    parts = [part for part in (first, note, *more) if part]
    while len(parts) > 1 and small.width(" · ".join(parts)) > width:
        if parts[-1] == note:
            parts = [note]
        else:
            parts.pop()
    return rect, " · ".join(parts)


def _upright_title(canvas: Canvas, matrix: Matrix, layout: Layout) -> tuple[float, float]:
    """The middle and the length of the room for a title that is read upwards."""
    bounds, em = layout.cells.bounds(), canvas.em
    wide = canvas.face(fonts.SMALL).width(matrix.row_title)
    length = min(max(bounds.height(), wide), canvas.height() - em)
    return max(bounds.center().y(), length / 2 + 0.4 * em), length


def _draw_row_title(canvas: Canvas, painter: QPainter, matrix: Matrix, layout: Layout) -> None:
    small, em = canvas.face(fonts.SMALL), canvas.em
    if matrix.row_title and layout.row_title is not None:
        painter.setFont(small.font)
        painter.setPen(QColor(canvas.theme.muted))
        painter.drawText(layout.row_title, ROW_TITLE | Qt.TextFlag.TextWordWrap, matrix.row_title)
    elif matrix.row_title and layout.row_title_x is not None:
        middle, length = _upright_title(canvas, matrix, layout)
        painter.save()
        painter.translate(layout.row_title_x, middle)
        painter.rotate(-90)
        rect = QRectF(-length / 2, -0.7 * em, length, 1.4 * em)
        write(painter, rect, matrix.row_title, small, canvas.theme.muted, CENTRE)
        painter.restore()


def _draw_colour_bar(canvas: Canvas, painter: QPainter, matrix: Matrix, bar: QRectF) -> None:
    small, em, theme = canvas.face(fonts.SMALL), canvas.em, canvas.theme
    column = theme.packed_table(matrix.palette)[::-1].reshape(256, 1)
    painter.drawImage(bar, as_image(column))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(QPen(QColor(theme.border_strong), 1.0))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(bar)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    half = small.cap_height / 2
    marks = [(matrix.high, bar.top() + half), (matrix.low, bar.bottom() - half)]
    if bar.height() >= 4 * em:
        marks.append(((matrix.low + matrix.high) / 2, bar.center().y()))
    for value, y in marks:
        rect = QRectF(bar.right() + 0.4 * em, y - 0.7 * em, 5 * em, 1.4 * em)
        write(painter, rect, figures.bound(value), small, theme.muted, LEFT)


def _draw_legend(canvas: Canvas, painter: QPainter, rect: QRectF, legend: str) -> None:
    em, ratio, theme = canvas.em, canvas.devicePixelRatioF(), canvas.theme
    side = round(0.85 * em * ratio)
    swatch = as_image(hatch(side, side, ratio, theme))
    swatch.setDevicePixelRatio(ratio)
    top = canvas.snap(rect.center().y() - side / ratio / 2)
    painter.drawImage(QPointF(canvas.snap(rect.left()), top), swatch)
    box(painter, QRectF(rect.left(), top, side / ratio, side / ratio), None, theme.border)
    text = rect.adjusted(1.25 * em, 0, 0, 0)
    write(painter, text, legend, canvas.face(fonts.SMALL), theme.muted, LEFT)
