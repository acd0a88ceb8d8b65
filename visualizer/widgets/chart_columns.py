"""A curve that has more points than the screen has columns of pixels: what it does in each."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter

# First, lowest, highest and last.
PER_COLUMN = 4


def thinned(x: np.ndarray, y: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The finite points that are first, lowest, highest or last of a column; all at its first x.

    x: (n,) rising    edges: (m,) rising, where columns begin
    returns: x and y, (4k,), of the k columns that have points
    """
    finite = np.isfinite(y)
    if not finite.all():
        x, y = x[finite], y[finite]
    bounds = np.unique(np.concatenate([[0], np.searchsorted(x, edges.astype(x.dtype))]))
    starts = bounds[bounds < len(x)]
    if not len(starts):
        return x, y
    last = y[np.append(starts[1:], len(x)) - 1]
    values = y[starts], np.minimum.reduceat(y, starts), np.maximum.reduceat(y, starts), last
    return np.repeat(x[starts], PER_COLUMN), np.stack(values, axis=1).ravel()


def zigzags(points: np.ndarray, thick: float) -> bool:
    """Whether a thinned curve goes both up and down in a tenth of its columns or more, by more
    than it is thick.

    points: (4k, 2) where those of `thinned` are painted
    """
    y = points[:, 1].reshape(-1, PER_COLUMN)
    both_ways = np.ptp(y, axis=1) - np.abs(y[:, -1] - y[:, 0])
    return bool(len(y)) and bool(np.quantile(both_ways, 0.9) > thick)


def without_still_columns(points: np.ndarray, least: float) -> np.ndarray:
    """Of columns in which a thinned curve moves by less than this only the first point."""
    y = points[:, 1].reshape(-1, PER_COLUMN)
    moves = np.repeat(np.ptp(y, axis=1) >= least, PER_COLUMN)
    moves[::PER_COLUMN] = True
    return points[moves]


def column_runs(points: np.ndarray, ratio: float) -> np.ndarray:
    """What a curve does in each column of pixels: how far it goes up and down there, and what lies
    between it and the column before.

    points: (n, 2), from left to right    ratio: pixels to a logical one
    returns: (m, 4) x, the first y, the lowest and the highest, m columns that have a point
    """
    column = np.floor(points[:, 0] * ratio).astype(np.int64)
    starts = np.flatnonzero(np.diff(column, prepend=column[0] - 1))
    y = points[:, 1]
    first, last = y[starts], y[np.append(starts[1:], len(y)) - 1]
    before = np.concatenate([first[:1], last[:-1]])
    lows = np.minimum(np.minimum.reduceat(y, starts), before)
    highs = np.maximum(np.maximum.reduceat(y, starts), before)
    return np.stack([column[starts] / ratio, first, lows, highs], axis=1)


def draw_runs(
    painter: QPainter, runs: np.ndarray, colour: QColor, thick: float, wide: float
) -> None:
    """A curve that goes up and down in every column of pixels, as what it covers of each.

    thick: of the line    wide: of a column
    """
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawRects(
        [QRectF(x, low - thick / 2, wide, high - low + thick) for x, _, low, high in runs.tolist()]
    )
    painter.restore()
