"""Which cells of a matrix are on show, in whole cells. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace

# Fewer rows or columns than these are no picture any more.
LEAST_SPAN = 4
# Along one axis alone until cells are no narrower, and no flatter, than this against each other.
NARROWEST, FLATTEST = 1.0, 0.35
# Of a cell that is shown, so many are shown around it too, where there are more.
MARGIN = 1


@dataclass(frozen=True)
class Axis:
    """`count` cells from `first` on, of `size`."""

    size: int
    first: int
    count: int

    @classmethod
    def all_of(cls, size: int) -> Axis:
        return cls(size, 0, size)

    @property
    def is_whole(self) -> bool:
        return self.count >= self.size

    @property
    def end(self) -> int:
        return self.first + self.count

    def scaled(self, factor: float, at: float) -> Axis:
        """`factor` times as many cells; what lies at the share `at` of the width stays there."""
        count = round(self.count * factor)
        if count == self.count and factor != 1.0:
            count += 1 if factor > 1.0 else -1
        count = min(max(count, min(LEAST_SPAN, self.size)), self.size)
        return self._from(self.first + at * (self.count - count), count)

    def moved(self, cells: int) -> Axis:
        return self._from(self.first + cells, self.count)

    def showing(self, cell: int) -> Axis:
        """Moved no farther than it takes to have the cell in view, with a neighbour."""
        margin = min(MARGIN, (self.count - 1) // 2)
        first = min(max(self.first, cell + margin + 1 - self.count), cell - margin)
        return self._from(first, self.count)

    def centred(self, cell: float) -> Axis:
        return self._from(cell + 0.5 - self.count / 2, self.count)

    def carried(self, size: int) -> Axis:
        """The same cells of an axis of another size, all of it where it has not got them."""
        if self.is_whole or self.end > size:
            return Axis.all_of(size)
        return replace(self, size=size)

    def _from(self, first: float, count: int) -> Axis:
        return Axis(self.size, min(max(round(first), 0), self.size - count), count)


@dataclass(frozen=True)
class Viewport:
    """A window on a matrix of (rows.size, columns.size) cells."""

    rows: Axis
    columns: Axis

    @classmethod
    def whole(cls, shape: tuple[int, int]) -> Viewport:
        return cls(Axis.all_of(shape[0]), Axis.all_of(shape[1]))

    @property
    def shape(self) -> tuple[int, int]:
        """Of the whole matrix."""
        return self.rows.size, self.columns.size

    @property
    def is_whole(self) -> bool:
        return self.rows.is_whole and self.columns.is_whole

    @property
    def window(self) -> tuple[int, int, int, int]:
        """First row, rows, first column, columns."""
        return self.rows.first, self.rows.count, self.columns.first, self.columns.count

    def contains(self, row: int, column: int) -> bool:
        rows, columns = self.rows, self.columns
        return rows.first <= row < rows.end and columns.first <= column < columns.end

    def zoomed(self, factor: float, down: float, across: float, aspect: float) -> Viewport:
        """`factor` times as many cells, about the point at these shares of height and width.

        Where cells are narrow the columns come first, until they are about square, where they
        are flat the rows: a matrix of few long rows is not cut down to fewer rows.
        aspect: width through height of the whole picture
        """
        cell = aspect * self.rows.count / self.columns.count
        rows, columns = self.rows, self.columns
        if cell >= NARROWEST or (columns.is_whole and factor > 1.0):
            rows = rows.scaled(factor, down)
        if cell <= 1.0 / FLATTEST or (rows.is_whole and factor > 1.0):
            columns = columns.scaled(factor, across)
        if (rows, columns) == (self.rows, self.columns):
            # the axis whose turn it was has come to its end
            rows, columns = rows.scaled(factor, down), columns.scaled(factor, across)
        return Viewport(rows, columns)

    def moved(self, rows: int, columns: int) -> Viewport:
        return Viewport(self.rows.moved(rows), self.columns.moved(columns))

    def showing(self, row: int, column: int) -> Viewport:
        """Moved no farther than it takes to have the cell in view."""
        return Viewport(self.rows.showing(row), self.columns.showing(column))

    def centred(self, row: float, column: float) -> Viewport:
        return Viewport(self.rows.centred(row), self.columns.centred(column))


class Memory:
    """What was last looked at, so that stepping away and back finds the place again.

    Rows are tokens of the same sentence everywhere and are kept as far as there are so many;
    columns are kept among columns of one kind.
    """

    def __init__(self) -> None:
        self._columns: dict[object, Axis] = {}

    def carried(self, old: Viewport, kind: object, shape: tuple[int, int], new: object) -> Viewport:
        """The viewport for a matrix of this shape, after `old` with columns of another kind."""
        self._columns[kind] = old.columns
        columns = old.columns if kind == new else self._columns.get(new)
        return Viewport(
            old.rows.carried(shape[0]),
            Axis.all_of(shape[1]) if columns is None else columns.carried(shape[1]),
        )

    def forget(self) -> None:
        self._columns.clear()
