"""Where a picture has more cells than pixels: the largest cell of each block stands for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from visualizer.lenses.picture import Matrix

Array = np.ndarray[Any, Any]

# What may be read for one picture. Of larger ones a part of each block is read, evenly spread.
MOST_READ = 1_500_000


@dataclass(frozen=True)
class Span:
    """The cells of one axis: `count` from `first` on, in blocks of `block`, the last may be less.

    read: how many of a block are read, evenly spread; all of them where it equals `block`
    """

    first: int
    count: int
    block: int = 1
    read: int = 1

    @property
    def blocks(self) -> int:
        return -(-self.count // self.block)

    def cells_of(self, block: int) -> Array:
        """The indices that are read of one block."""
        within = block * self.block + np.arange(self.read) * self.block // self.read
        return self.first + within[within < self.count]

    def take(self, values: Array, axis: int) -> Array:
        """The cells that are read along an axis."""
        end = self.first + self.count
        if self.read == self.block:
            return values[self.first : end] if axis == 0 else values[:, self.first : end]
        read = np.arange(self.read) * self.block // self.read
        read = (np.arange(self.blocks)[:, None] * self.block + read).ravel()
        return values.take(self.first + read[read < self.count], axis=axis)


def spans(
    shape: tuple[int, int],
    room: tuple[int, int],
    view: tuple[int, int, int, int] | None = None,
    most: int = MOST_READ,
) -> tuple[Span, Span]:
    """How rows and columns are put together to leave a pixel for each.

    room: pixels down and across    view: (first row, rows, first column, columns), else all
    """
    first_row, rows, first_column, columns = view or (0, shape[0], 0, shape[1])
    down, across = (-(-n // max(pixels, 1)) for n, pixels in zip((rows, columns), room))
    read_down, read_across = down, across
    # whole columns of a block first: neighbours of one row lie side by side in memory
    blocks = -(-rows // down) * -(-columns // across)
    if blocks * read_down * read_across > most:
        read_down = max(min(down, most // (blocks * read_across)), 1)
    if blocks * read_down * read_across > most:
        read_across = max(min(across, most // (blocks * read_down)), 1)
    return (
        Span(first_row, rows, down, read_down),
        Span(first_column, columns, across, read_across),
    )


def masked(matrix: Matrix, values: Array, hidden: Array | None) -> Array | None:
    """The cells that are drawn hatched: hidden ones, closed cells of a mask, and no numbers.

    values, hidden: the cells of the matrix that are looked at
    """
    if matrix.palette == "mask":
        closed = ~values if values.dtype == np.bool_ else np.asarray(values, np.float64) < 0.5
        hidden = closed if hidden is None else hidden | closed
    if values.dtype.kind == "f":
        with np.errstate(invalid="ignore", over="ignore"):
            # a sum is a number only where all of them are, so that the cells need not be searched
            suspicious = bool(np.isnan(values.sum()))
        if suspicious:
            broken = np.isnan(values)
            if broken.any():
                hidden = broken if hidden is None else hidden | broken
    return hidden


def largest(matrix: Matrix, rows: Span, columns: Span) -> tuple[Array, Array | None]:
    """Of each block the number that stands for it, and whether all of it is drawn hatched.

    That is the largest of the cells that are not hatched; of signed numbers the farthest from 0.
    returns: (row blocks, column blocks) each; the second is None where nothing is hatched
    """
    part = columns.take(rows.take(matrix.values, 0), 1)
    hidden = matrix.hidden
    covered = masked(
        matrix, part, None if hidden is None else columns.take(rows.take(hidden, 0), 1)
    )
    if covered is not None and not covered.any():
        covered = None
    if rows.block == columns.block == 1:
        return part, covered
    if part.dtype == np.bool_:
        found = _reduced(np.logical_or, part, rows, columns)
    else:
        signed = is_signed(matrix)
        if covered is not None:
            # what is hidden becomes the least there is, of signed numbers 0
            part = np.where(covered, part.dtype.type(0) if signed else _least(part.dtype), part)
        found = _reduced(np.maximum, part, rows, columns)
        if signed:
            least = _reduced(np.minimum, part, rows, columns)
            found = np.where(-least > found, least, found)
    return found, None if covered is None else _reduced(np.logical_and, covered, rows, columns)


def largest_cell(
    matrix: Matrix, rows: Span, columns: Span, block: tuple[int, int]
) -> tuple[int, int]:
    """Which cell it is that stands for a block."""
    down, across = rows.cells_of(block[0]), columns.cells_of(block[1])
    there = np.ix_(down, across)
    part = matrix.values[there]
    covered = masked(matrix, part, None if matrix.hidden is None else matrix.hidden[there])
    sizes = np.abs(part) if is_signed(matrix) else part
    if covered is not None and not covered.all():
        # below every number that is shown, -inf included
        sizes = np.where(covered, np.nan, sizes.astype(np.float64))
        place = int(np.nanargmax(sizes))
    else:
        place = 0 if covered is not None else int(sizes.argmax())
    return int(down[place // across.size]), int(across[place % across.size])


@dataclass(frozen=True, eq=False)
class Picture:
    """What `largest` gave for so many rows and columns."""

    rows: int
    columns: int
    values: Array
    closed: Array | None


def continued(matrix: Matrix, rows: Span, columns: Span, before: Picture | None) -> Picture:
    """`largest`, given what it gave before for more or fewer cells of the same picture.

    At the next token a record is longer by a row: the blocks that were full stay as they are.
    """
    found, closed = None, None
    if before is not None and (rows.block > 1 or columns.block > 1):
        down = min(before.rows, rows.count) // rows.block
        across = min(before.columns, columns.count) // columns.block
        if (before.rows, before.columns) == (rows.count, columns.count):
            return before
        if down and across:
            shape = rows.blocks, columns.blocks
            found = np.empty(shape, before.values.dtype)
            closed = np.zeros(shape, np.bool_)
            found[:down, :across] = before.values[:down, :across]
            if before.closed is not None:
                closed[:down, :across] = before.closed[:down, :across]
            above, below = _split(rows, down)
            right = _split(columns, across)[1]
            for place, part in (
                (np.s_[down:, :], (below, columns)),
                (np.s_[:down, across:], (above, right)),
            ):
                if part[0].count and part[1].count:
                    values, hidden = largest(matrix, *part)
                    found[place] = values
                    if hidden is not None:
                        closed[place] = hidden
            return Picture(rows.count, columns.count, found, closed if closed.any() else None)
    found, closed = largest(matrix, rows, columns)
    return Picture(rows.count, columns.count, found, closed)


def _split(span: Span, blocks: int) -> tuple[Span, Span]:
    """The first `blocks` full blocks, and the rest."""
    cells = blocks * span.block
    return (
        replace(span, count=cells),
        replace(span, first=span.first + cells, count=span.count - cells),
    )


def _reduced(combine: np.ufunc, part: Array, rows: Span, columns: Span) -> Array:
    # NumPy is fast along whole rows, so each row of a block is laid over the first
    if rows.read > 1:
        found = part[:: rows.read].copy()
        for place in range(1, rows.read):
            more = part[place :: rows.read]
            combine(found[: len(more)], more, out=found[: len(more)])
        part = found
    if columns.read > 1:
        found = part[:, :: columns.read].copy()
        for place in range(1, columns.read):
            more = part[:, place :: columns.read]
            there = found[:, : more.shape[1]]
            combine(there, more, out=there)
        part = found
    return part


def _least(dtype: np.dtype[Any]) -> Any:
    return np.iinfo(dtype).min + 1 if dtype.kind in "iu" else dtype.type(-np.inf)


def is_signed(matrix: Matrix) -> bool:
    """Whether the size of a number counts, and not its sign."""
    return matrix.palette == "diverging"
