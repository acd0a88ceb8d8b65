"""Paint parts of matrices at the process's own scale; exit 1 where a pixel and `cell_at` disagree.

Run by test_zoom.py with QT_SCALE_FACTOR set, because the scale belongs to the whole process.
Every cell of a part has a colour of its own; of a matrix with more cells than pixels every pixel
has the colour of the cell that is told there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from visualizer.lenses.picture import Matrix
from visualizer.widgets.heatmap import HeatMap
from visualizer.widgets.heatmap_cells import colour_indices
from visualizer.widgets.viewport import Axis, Viewport


def drawn(values: np.ndarray, window: tuple[int, int, int, int] | None) -> HeatMap:
    rows, columns = values.shape
    heatmap = HeatMap()
    heatmap.resize(330, 260)
    heatmap.set_matrix(
        Matrix(
            values=values,
            hidden=None,
            row_labels=tuple(f"r{n}" for n in range(rows)),
            column_labels=tuple(f"c{n}" for n in range(columns)),
            palette="sequential",
            high=255.0,
        )
    )
    if window is not None:
        first, count, left, wide = window
        heatmap.set_viewport(Viewport(Axis(rows, first, count), Axis(columns, left, wide)))
    return heatmap


def lines_of_pixels(width: int, height: int) -> Iterator[tuple[int, int]]:
    """Every pixel along some lines down and across: edges lie on them in all directions."""
    for line in range(1, 8):
        yield from ((x, line * height // 8) for x in range(width))
        yield from ((line * width // 8, y) for y in range(height))


def disagreements(heatmap: HeatMap, scale: float) -> Iterator[str]:
    picture = heatmap.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    if picture.width() != round(heatmap.width() * scale):
        yield f"the picture is {picture.width()} wide, not {heatmap.width()} times {scale}"
    table = heatmap.theme.packed_table("sequential")
    values = heatmap.matrix.values
    colours = table[colour_indices(values, 0.0, 255.0)]
    ground = heatmap.theme.color("surface").rgb()
    seen = 0
    for x, y in lines_of_pixels(picture.width(), picture.height()):
        told = heatmap.cell_at(QPointF((x + 0.5) / scale, (y + 0.5) / scale))
        if told is None:
            continue
        pixel = picture.pixel(x, y)
        # the gap to the next cell belongs to the cell
        if pixel == int(colours[told]):
            seen += 1
        elif pixel != ground:
            yield f"pixel {x},{y} is said to be {told} and has another colour"
    if seen < 1000:
        yield f"only {seen} pixels are cells"


def main() -> int:
    app = QApplication([])
    scale = float(sys.argv[1])
    wrong = []
    rng = np.random.default_rng(0)
    small = np.arange(20 * 30).reshape(20, 30).astype(np.float32) % 251
    for window in ((3, 8, 5, 13), (0, 5, 21, 9), (12, 8, 0, 30), (0, 20, 17, 13)):
        heatmap = drawn(small, window)
        for row in range(window[0], window[0] + window[1]):
            for column in range(window[2], window[2] + window[3]):
                if heatmap.cell_at(heatmap.cell_rect(row, column).center()) != (row, column):
                    wrong.append(f"{window}: the middle of {row},{column} is another cell")
        wrong += [f"{window}: {lie}" for lie in disagreements(heatmap, scale)]
    large = rng.integers(0, 255, (700, 1100)).astype(np.float32)
    for window in (None, (100, 600, 0, 1100), (100, 50, 40, 700)):
        wrong += [f"{window}: {lie}" for lie in disagreements(drawn(large, window), scale)]
    print("\n".join(wrong[:20]))
    app.quit()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
