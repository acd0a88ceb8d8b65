"""Where the columns of the decoding bench lie: heads, rows, labels, bars, the scroll bar."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF

from visualizer.lenses.board import Board, Column

# All in em: the three lines of a head, a row, the room between columns, the scroll bar.
HEAD_LINES = (1.6, 1.25, 1.25)
ROW = 1.62
# So many rows are always in view: where room is short they are lower, down to this.
LEAST_ROWS, LEAST_ROW = 5, 1.35
GAP = 1.2
BAR = 0.55
# A column narrower than this has no labels of its own; below that, stages that change nothing go.
LABELLED, LEAST = 12.5, 8.5
LEAST_LABEL, MOST_LABEL = 2.6, 5.5


def head_height(em: float) -> float:
    """The height of title and figures above the rows."""
    return sum(HEAD_LINES) * em + 0.3 * em


@dataclass(frozen=True)
class Layout:
    """columns: those on show, with their left ends; all are `width` wide

    labels: the room of tokens, in every column or in the first alone   gutter: of the ids
    first, rows: which rows are in view   line: the height of one
    """

    em: float
    head: float
    columns: tuple[tuple[Column, float], ...]
    width: float
    gutter: float
    label: float
    labelled: bool
    first: int
    rows: int
    total: int
    line: float
    track: QRectF

    def row_rect(self, row: int) -> QRectF:
        """A row across all columns."""
        top = self.head + (row - self.first) * self.line
        return QRectF(0.0, top, self.track.left() - 0.4 * self.em, self.line)

    def label_at(self, place: int) -> float | None:
        """Where the token of a row stands in a column; None where it has no room for it."""
        x = self.columns[place][1]
        return x if self.labelled or not place else None

    def bars_at(self, place: int) -> tuple[float, float]:
        """Left end and width of what a column has for bars and numbers."""
        x = self.columns[place][1]
        taken = self.label + 0.4 * self.em if self.labelled or not place else 0.0
        own = self.label + 0.4 * self.em if not self.labelled and not place else 0.0
        return x + taken, self.width + own - taken

    def head_rect(self, place: int) -> QRectF:
        x = self.columns[place][1]
        return QRectF(x, 0.0, self.bars_at(place)[0] + self.bars_at(place)[1] - x, self.head)

    def place_at(self, pos: QPointF) -> int | None:
        """The column under a position."""
        found = None
        for place, (_, x) in enumerate(self.columns):
            if pos.x() >= x - GAP * self.em / 2:
                found = place
        return found

    def row_at(self, pos: QPointF) -> int | None:
        """The row under a position, counted from the first of all."""
        if pos.y() < self.head or pos.x() >= self.track.left() - 0.2 * self.em:
            return None
        row = self.first + int((pos.y() - self.head) / self.line)
        return row if row < min(self.first + self.rows, self.total) else None

    @property
    def thumb(self) -> QRectF:
        """The handle of the scroll bar; empty where everything is in view."""
        if self.rows >= self.total:
            return QRectF()
        track = self.track
        high = max(track.height() * self.rows / self.total, 1.6 * self.em)
        share = self.first / (self.total - self.rows)
        return QRectF(
            track.left(), track.top() + share * (track.height() - high), BAR * self.em, high
        )

    def first_at(self, y: float, grip: float) -> int:
        """The first row in view once the handle, held `grip` below its top, is at y."""
        thumb = self.thumb
        room = self.track.height() - thumb.height()
        share = (y - grip - self.track.top()) / room if room > 0 else 0.0
        return round(min(max(share, 0.0), 1.0) * (self.total - self.rows))


def row_height(height: float, em: float) -> float:
    """The height of a row where the whole has this one."""
    room = (height - head_height(em)) / LEAST_ROWS
    return min(max(room, LEAST_ROW * em), ROW * em)


def rows_in(height: float, em: float) -> int:
    """How many whole rows fit."""
    # a sum of parts may come out a hair larger than what they were taken from
    return max(int((height - head_height(em)) / row_height(height, em) + 1e-6), 1)


def least_height(em: float) -> float:
    """What the fewest rows need."""
    return head_height(em) + LEAST_ROWS * LEAST_ROW * em


def lay_out(
    board: Board, width: float, height: float, em: float, first: int, label: float, gutter: float
) -> Layout:
    """label: width of the widest token in view   gutter: of the widest id"""
    head = head_height(em)
    rows = min(rows_in(height, em), board.size)
    track = QRectF(width - BAR * em, head, BAR * em, height - head)
    room = track.left() - 0.6 * em - gutter
    columns = list(board.columns)
    label = min(max(label, LEAST_LABEL * em), MOST_LABEL * em)
    wide, labelled = _wide(room, len(columns), label, em)
    while wide < LEAST * em and any(column.folds for column in columns):
        columns.remove(next(column for column in columns if column.folds))
        wide, labelled = _wide(room, len(columns), label, em)
    extra = 0.0 if labelled else label + 0.4 * em
    places = [gutter + n * (wide + GAP * em) + (extra if n else 0.0) for n in range(len(columns))]
    return Layout(
        em,
        head,
        tuple(zip(columns, places, strict=True)),
        wide,
        gutter,
        label,
        labelled,
        min(first, board.size - rows),
        rows,
        board.size,
        row_height(height, em),
        track,
    )


def _wide(room: float, count: int, label: float, em: float) -> tuple[float, bool]:
    """The width of a column, and whether each has its own labels."""
    wide = (room - (count - 1) * GAP * em) / count
    if wide >= LABELLED * em:
        return wide, True
    return (room - label - 0.4 * em - (count - 1) * GAP * em) / count, False
