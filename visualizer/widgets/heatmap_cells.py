"""The cells of a heatmap as an image: colours, gaps, the hatch of masked cells, numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from visualizer import fonts
from visualizer.lenses import blocks
from visualizer.lenses.keeping import kept, store
from visualizer.lenses.picture import Matrix
from visualizer.theme import INK_DARK, INK_LIGHT, Theme
from visualizer.widgets import figures
from visualizer.widgets.canvas import Canvas, Face
from visualizer.widgets.heatmap_layout import Cells


def colour_indices(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """uint8 places in a 256-entry table; -inf and NaN get the lowest, +inf the highest."""
    if values.dtype == bool:
        return np.where(values, np.uint8(255), np.uint8(0))
    span = high - low
    if not span > 0:
        return np.full(values.shape, 128, np.uint8)
    kind = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        place = np.subtract(values, low, dtype=kind)
        place *= 255.0 / span
        place += 0.5
    # fmax takes the number where the other is none
    np.fmax(place, 0.0, out=place)
    np.minimum(place, 255.0, out=place)
    return place.astype(np.uint8)


def masked(matrix: Matrix) -> np.ndarray | None:
    """The cells that are drawn hatched: hidden ones, and the closed cells of a mask."""
    return blocks.masked(matrix, matrix.values, matrix.hidden)


def reduced(matrix: Matrix, rows: blocks.Span, columns: blocks.Span) -> Matrix:
    """The part on show with one cell per block, kept where it had to be looked for."""
    if rows.block == columns.block == 1:
        values, hidden = blocks.largest(matrix, rows, columns)
    else:
        # neither the shape nor the counts: the next token's picture continues this one's
        places = (rows.first, rows.block, rows.read, columns.first, columns.block, columns.read)
        key = (matrix.source, matrix.palette, *places)
        before = kept(matrix.owner, "largest", key)
        found = blocks.continued(matrix, rows, columns, before)
        store(matrix.owner, "largest", key, found, most=128)
        values, hidden = found.values, found.closed
    return replace(matrix, values=values, hidden=hidden)


def cell_told(matrix: Matrix, cells: Cells, x: float, y: float) -> tuple[int, int] | None:
    """The cell whose colour is at a position: of several the largest."""
    rows, columns = cells.rows, cells.columns
    if rows is None or columns is None or rows.block == columns.block == 1:
        return cells.at(x, y)
    block = cells.block_at(x, y)
    return None if block is None else blocks.largest_cell(matrix, rows, columns, block)


def thumbnail(matrix: Matrix, theme: Theme) -> QImage:
    """One pixel per cell; masked cells get the hatch's plain colour."""
    table = theme.packed_table(matrix.palette)
    pixels = table[colour_indices(matrix.values, matrix.low, matrix.high)]
    hidden = masked(matrix)
    if hidden is not None:
        pixels = np.where(hidden, _rgb32(theme.hatch), pixels)
    return as_image(pixels)


def hatch_over(
    matrix: Matrix, theme: Theme, width: int, height: int, ratio: float
) -> QImage | None:
    """The hatch of a thumbnail's masked cells, clear elsewhere; None where there are none.

    width, height: of the whole thumbnail, in device pixels
    """
    hidden = masked(matrix)
    if hidden is None or not hidden.any() or width < 1 or height < 1:
        return None
    rows, columns = hidden.shape
    at_y = np.arange(height) * rows // height
    at_x = np.arange(width) * columns // width
    period = max(3, round(4 * ratio))
    lines = (np.arange(height)[:, None] + np.arange(width)[None, :]) % period < max(1, round(ratio))
    covered = hidden[at_y[:, None], at_x[None, :]]
    pixels = np.where(covered & lines, _rgb32(theme.hatch_line), np.uint32(0))
    pixels = np.ascontiguousarray(pixels, dtype=np.uint32)
    image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_ARGB32_Premultiplied)
    return image.copy()


def as_image(pixels: np.ndarray) -> QImage:
    """(h, w) uint32 0xffRRGGBB -> an image that owns its pixels."""
    pixels = np.ascontiguousarray(pixels, dtype=np.uint32)
    height, width = pixels.shape
    return QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGB32).copy()


def _rgb32(colour: str) -> np.uint32:
    return np.uint32(0xFF000000 | int(colour[1:], 16))


def hatch(height: int, width: int, ratio: float, theme: Theme) -> np.ndarray:
    """Diagonal lines (height, width) uint32, about one line in six logical pixels."""
    period = max(4, round(6 * ratio))
    thick = max(1, round(1.2 * ratio))
    diagonal = (np.arange(height)[:, None] + np.arange(width)[None, :]) % period
    return np.where(diagonal < thick, _rgb32(theme.hatch_line), _rgb32(theme.hatch))


def _owners(edges: np.ndarray) -> np.ndarray:
    """Of every pixel along an axis the cell that it belongs to."""
    return np.repeat(np.arange(len(edges) - 1), np.diff(edges))


class CellPainter:
    """Paints a matrix's cells; keeps the image and what only depends on the grid."""

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self._image = QImage()
        self._pixels = np.zeros((0, 0), np.uint32)
        self._hatch: tuple[tuple[int, int, float, str], np.ndarray] | None = None

    def image(self, matrix: Matrix, cells: Cells, numbers: bool = True) -> QImage:
        """The whole grid at device resolution, with its numbers where they are wanted and fit.

        The same image every time, painted over: fresh memory for it costs more than the painting.
        """
        theme = self._canvas.theme
        index = colour_indices(matrix.values, matrix.low, matrix.high)
        hidden = masked(matrix)
        self._make_room(cells)
        self._fill(theme.packed_table(matrix.palette)[index], cells)
        if hidden is not None and hidden.any():
            where = hidden.take(_owners(cells.x), axis=1).take(_owners(cells.y), axis=0)
            np.copyto(self._pixels, self._hatched(*self._pixels.shape, cells.ratio), where=where)
            if cells.gap:
                self._cut_gaps(cells)
        if numbers:
            self._numbers(self._image, matrix, cells, index, hidden)
        return self._image

    def _make_room(self, cells: Cells) -> None:
        height, width = int(cells.y[-1] - cells.y[0]), int(cells.x[-1] - cells.x[0])
        if self._pixels.shape != (height, width):
            self._image = QImage(width, height, QImage.Format.Format_RGB32)
            self._pixels = np.frombuffer(self._image.bits(), np.uint32).reshape(height, width)
        self._image.setDevicePixelRatio(cells.ratio)

    def _fill(self, colours: np.ndarray, cells: Cells) -> None:
        """Colours (rows, columns) onto the cells, gaps included."""
        ground = _rgb32(self._canvas.theme.surface)
        lines = colours.take(_owners(cells.x), axis=1)
        right, bottom = cells.x[1:] - cells.x[0], cells.y[1:] - cells.y[0]
        for step in range(1, cells.gap + 1):
            lines[:, right - step] = ground
        # "clip" writes where it shall; checking the indices first would take a copy
        np.take(lines, _owners(cells.y), axis=0, out=self._pixels, mode="clip")
        for step in range(1, cells.gap + 1):
            self._pixels[bottom - step] = ground

    def _hatched(self, height: int, width: int, ratio: float) -> np.ndarray:
        key = (height, width, ratio, self._canvas.theme.name)
        if self._hatch is None or self._hatch[0] != key:
            self._hatch = (key, hatch(height, width, ratio, self._canvas.theme))
        return self._hatch[1]

    def _cut_gaps(self, cells: Cells) -> None:
        ground = _rgb32(self._canvas.theme.surface)
        right, bottom = cells.x[1:] - cells.x[0], cells.y[1:] - cells.y[0]
        for step in range(1, cells.gap + 1):
            self._pixels[:, right - step] = ground
            self._pixels[bottom - step, :] = ground

    def _numbers(
        self,
        image: QImage,
        matrix: Matrix,
        cells: Cells,
        index: np.ndarray,
        hidden: np.ndarray | None,
    ) -> None:
        cell = cells.smallest()
        chosen = self._choose(matrix, cell.width(), cell.height())
        if chosen is None:
            return
        face, texts = chosen
        columns = matrix.values.shape[1]
        white = self._canvas.theme.ink(matrix.palette)[index].ravel().tolist()
        covered = hidden.ravel().tolist() if hidden is not None else [False] * len(texts)
        xs = (cells.column_centres() - cells.x[0] / cells.ratio).tolist()
        ys = (cells.row_centres() - cells.y[0] / cells.ratio).tolist()
        # QStaticText draws from the top of the line; the capitals shall be centred.
        lift = face.ascent - face.cap_height / 2
        ys = [round(y - lift) for y in ys]
        light: list[int] = []
        dark: list[int] = []
        faint: list[int] = []
        for place, text in enumerate(texts):
            if not covered[place]:
                (light if white[place] else dark).append(place)
            elif text == "-∞" or matrix.palette == "mask":
                faint.append(place)
        theme, em = self._canvas.theme, self._canvas.em
        ready = {text: (face.width(text), face.laid_out(text)) for text in set(texts)}
        painter = QPainter(image)
        try:
            painter.setFont(face.font)
            for places, colour in ((light, INK_LIGHT), (dark, INK_DARK), (faint, theme.text)):
                painter.setPen(QColor(colour))
                for place in places:
                    (width, text), y = ready[texts[place]], ys[place // columns]
                    x = xs[place % columns] - width / 2
                    if places is faint:
                        # the lines of the hatch would run through the word
                        tall = face.cap_height + 0.5 * em
                        middle = y + face.ascent - face.cap_height / 2
                        ground = QRectF(x - 0.2 * em, middle - tall / 2, width + 0.4 * em, tall)
                        painter.fillRect(ground, theme.color("hatch"))
                    painter.drawStaticText(QPointF(x, y), text)
        finally:
            painter.end()

    def _choose(self, matrix: Matrix, width: float, height: float) -> tuple[Face, list[str]] | None:
        """The most telling format at the largest size that fits the cell, if any does."""
        em = self._canvas.em
        if width < 1.3 * em or height < 0.95 * em:
            return None
        one_sided = matrix.palette == "sequential"
        values = matrix.values if matrix.unit == 1.0 else matrix.values / matrix.unit
        for form in figures.cell_formats(values, one_sided, matrix.decimals):
            texts = figures.cell_texts(values, form)
            texts = [t.replace("inf", "∞") for t in texts]
            longest = max(texts, key=len)
            for scale in (fonts.NORMAL, 0.92, fonts.SMALL, 0.76, 0.7):
                face = self._canvas.face(scale)
                room = width - 0.35 * em * scale
                if face.width(longest) <= room and 1.35 * em * scale <= height + 1:
                    return face, texts
        return None
