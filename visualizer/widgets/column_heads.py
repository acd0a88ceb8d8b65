"""How the labels of columns are written: level, tilted or upright, and which of them."""

from __future__ import annotations

import math
from typing import Literal

from visualizer import fonts
from visualizer.lenses.numbers import round_step
from visualizer.lenses.picture import Matrix
from visualizer.widgets.canvas import Canvas
from visualizer.widgets.label_widths import are_numbers, widest

Slant = Literal["flat", "tilted", "upright"]
TILT = 45.0
# The line of the words under column labels, in parts of the font's size.
NOTE_LINE = 1.1


def column_head(
    canvas: Canvas, matrix: Matrix, cell_w: float, zoomed: bool
) -> tuple[Slant, float, int, float, float]:
    """How column labels are written: slant, type scale, step, height, reach to the right."""
    em = canvas.em
    labels = matrix.column_labels
    if not labels:
        return "flat", fonts.NORMAL, 1, 0.6 * em, 0.0
    below = NOTE_LINE * em if any(matrix.column_notes) else 0.0
    for scale in (fonts.LARGE, fonts.NORMAL, fonts.SMALL):
        if widest(canvas.face(scale), labels) + 0.5 * em <= cell_w:
            return "flat", scale, 1, 2.2 * em + below, 0.0
    if below:
        labels = tuple(map(" ".join, zip(labels, matrix.column_notes, strict=True)))
    small = canvas.face(fonts.SMALL)
    most = widest(small, labels)
    line = 1.3 * em * fonts.SMALL
    if are_numbers(labels):
        return "flat", fonts.SMALL, round_step((most + 0.5 * em) / cell_w), 1.7 * em, 0.0
    longest = min(most, 7 * em)
    if cell_w >= 1.45 * line:
        reach = longest * math.cos(math.radians(TILT))
        # How far the labels stick out beyond the last cell; the last one not always the farthest.
        cosine = math.cos(math.radians(TILT))
        if zoomed:
            # any label may come last
            return "tilted", fonts.SMALL, 1, reach + 1.1 * em, longest * cosine - cell_w / 2
        beyond = max(
            min(small.width(t), longest) * cosine - (len(labels) - i - 0.5) * cell_w
            for i, t in enumerate(labels)
        )
        return "tilted", fonts.SMALL, 1, reach + 1.1 * em, max(beyond + 0.8 * em, 0.0)
    step = 1 if cell_w >= line else round_step(line / cell_w)
    return "upright", fonts.SMALL, step, longest + 0.9 * em, 0.0
