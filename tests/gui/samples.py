"""Invented pictures for the tests of the drawing layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt

from visualizer import fonts
from visualizer.lenses.picture import Matrix

ROOT = Path(__file__).parents[2]
FONT = ROOT / "resources" / "fonts" / fonts.FILE_NAME
LEFT_BUTTON = Qt.MouseButton.LeftButton


def matrix(rows: int, columns: int, **more) -> Matrix:
    values = np.linspace(0, 1, rows * columns, dtype=np.float32).reshape(rows, columns)
    more = {"values": values, "hidden": None, "palette": "sequential", **more}
    labels = {
        "row_labels": tuple(f"r{i}" for i in range(rows)),
        "column_labels": tuple(f"c{i}" for i in range(columns)),
    }
    return Matrix(**{**labels, **more})


def at(point: QPointF) -> QPoint:
    return point.toPoint()
