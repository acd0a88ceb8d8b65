"""The bars of one column of the decoding bench."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from visualizer.lenses.board import Column
from visualizer.widgets.canvas import NO_PEN, Canvas, box
from visualizer.widgets.columns_layout import Layout

# (place among the rows in view, id)
Rows = list[tuple[int, int]]
COLOURS = {"logits": "encoder", "shares": "output", "draws": "accent"}


def draw_bars(
    canvas: Canvas,
    painter: QPainter,
    layout: Layout,
    column: Column,
    rows: Rows,
    reach: tuple[float, float],
    log: bool,
) -> list[float]:
    """Returns where the rows' numbers may start.

    reach: where bars start, how long they can be   log: whether their scale is logarithmic
    """
    theme, em = canvas.theme, canvas.em
    start, full = reach
    high = 0.86 * em
    ends: list[float] = []
    gone: list[QRectF] = []
    marks: list[QRectF] = []
    # a change of the brush takes as long as a bar
    painter.setPen(NO_PEN)
    painter.setBrush(theme.color("bar_off" if column.off else COLOURS[column.kind]))
    for n, token in rows:
        rect = layout.row_rect(layout.first + n)
        zero, end = column.share(token, log)
        top = canvas.snap(rect.top() + (rect.height() - high) / 2)
        x0, x1 = start + zero * full, start + end * full
        if column.out[token]:
            gone.append(QRectF(canvas.snap(x0), top, 1.0, high))
        elif x1 != x0 or column.kind != "draws":
            # what is there at all is seen
            wide = max(abs(x1 - x0), 2.0)
            round_by = min(0.18 * em, wide / 2)
            painter.drawRoundedRect(QRectF(min(x0, x1), top, wide, high), round_by, round_by)
        mark = column.mark(token, log)
        if mark is not None:
            x = canvas.snap(start + min(mark, 1.0) * full)
            marks.append(QRectF(x, top - 0.15 * em, 2.0, high + 0.3 * em))
            x1 = max(x1, x)
        ends.append(max(x0 + 2.0, x1))
    for colour, lines in ((theme.border_strong, gone), (theme.text, marks)):
        for line in lines:
            box(painter, line, colour)
    return ends
