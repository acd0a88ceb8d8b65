"""Paint small heatmaps at the process's own scale; exit 1 where a pixel and `cell_at` disagree.

Run by test_widgets.py with QT_SCALE_FACTOR set, because the scale belongs to the whole process.
"""

from __future__ import annotations

import sys

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from visualizer.lenses.picture import Matrix
from visualizer.widgets.heatmap import HeatMap


def disagreements(rows: int, columns: int, width: int, height: int, scale: float) -> list[str]:
    values = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
    heatmap = HeatMap()
    heatmap.resize(width, height)
    heatmap.set_matrix(
        Matrix(
            values=values,
            hidden=None,
            row_labels=tuple("abcdefghijklmnop"[:rows]),
            column_labels=tuple("ABCDEFGHIJKLMNOP"[:columns]),
            palette="sequential",
            high=float(rows * columns - 1),
        )
    )
    picture = heatmap.grab().toImage()
    found = []
    if picture.width() != round(width * scale):
        found.append(f"the picture is {picture.width()} wide, not {width} times {scale}")
    table = heatmap.theme.packed_table("sequential")
    # Spread over the table by hand: cell k of n has colour round(k / (n - 1) * 255).
    colours = {
        int(table[int(k / (rows * columns - 1) * 255 + 0.5)]): divmod(k, columns)
        for k in range(rows * columns)
    }
    seen: dict[tuple[int, int], int] = {}
    area = heatmap.cell_rect(0, 0).united(heatmap.cell_rect(rows - 1, columns - 1))
    right = int((area.right() + 1) * scale)
    for y in range(picture.height()):
        for x in range(min(right, picture.width())):
            painted = colours.get(picture.pixel(x, y))
            if painted is None:
                continue
            seen[painted] = seen.get(painted, 0) + 1
            told = heatmap.cell_at(QPointF((x + 0.5) / scale, (y + 0.5) / scale))
            if told != painted:
                found.append(f"pixel {x},{y} shows {painted}, cell_at says {told}")
    for row in range(rows):
        for column in range(columns):
            rect = heatmap.cell_rect(row, column)
            whole = round(rect.width() * scale) * round(rect.height() * scale)
            if seen.get((row, column), 0) != whole:
                found.append(f"cell {row},{column}: {seen.get((row, column), 0)} of {whole} pixels")
    return found


def main() -> int:
    app = QApplication([])
    scale = float(sys.argv[1])
    wrong = []
    # Cells of about 12 logical pixels: too small for numbers, so every pixel is a cell's colour.
    for rows, columns in ((5, 9), (9, 5)):
        for width, height in ((160, 120), (154, 128)):
            wrong += disagreements(rows, columns, width, height, scale)
    print("\n".join(wrong[:20]))
    app.quit()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
