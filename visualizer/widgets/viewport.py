"""Which cells of a matrix are on show, in whole cells. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

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

    def has(self, cell: int) -> bool:
        return self.first <= cell < self.end

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
        """As many cells of an axis of another size, the same ones where it has them."""
        if self.is_whole or self.count >= size:
            return Axis.all_of(size)
        return Axis(size, min(self.first, size - self.count), self.count)

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
        return self.rows.has(row) and self.columns.has(column)

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
    """What was last looked at along each kind of axis, so that stepping away and back finds it.

    The kinds are letters: source tokens, target tokens, numbers of a vector.
    """

    def __init__(self) -> None:
        self._axes: dict[tuple[bool, str], Axis] = {}

    def carried(
        self,
        old: Viewport,
        kinds: tuple[str, str],
        shape: tuple[int, int],
        new_kinds: tuple[str, str],
    ) -> Viewport:
        """The viewport for a matrix of this shape with axes of these kinds, after `old`."""
        found = []
        for down in (True, False):
            axis, place = (old.rows, 0) if down else (old.columns, 1)
            self._axes[down, kinds[place]] = axis
            kept = self._axes.get((down, new_kinds[place]))
            size = shape[place]
            found.append(Axis.all_of(size) if kept is None else kept.carried(size))
        return Viewport(found[0], found[1])

    def forget(self) -> None:
        self._axes.clear()
