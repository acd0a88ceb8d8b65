"""What became of the lines of a file: for each reason how many, and the first of them."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.lenses.lab_file import ReportRow
from visualizer.widgets.canvas import LEFT, RIGHT, Canvas, write

LINE, SMALL_LINE = 1.5, 1.35


class CleaningList(Canvas):
    """As high as its lines; it lies in something that scrolls."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.rows: tuple[ReportRow, ...] = ()

    def set_rows(self, rows: tuple[ReportRow, ...]) -> None:
        if rows == self.rows:
            return
        self.rows = rows
        said = (
            ", ".join((f"{row.count} {row.words}".strip(), *map(" ".join, row.examples)))
            for row in rows
        )
        self.describe("; ".join(said))
        # what an ellipsis stands for
        lines = (f"{where}: {text}" for row in rows for where, text in row.examples)
        self.setToolTip("\n".join(lines))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        height = sum(high for _, high, _, _ in self._lines())
        return QSize(round(20 * self.em), round(height + 0.4 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(12 * self.em), self.sizeHint().height())

    def _lines(self) -> Iterator[tuple[ReportRow, float, str, str]]:
        """(row, height, what stands in the first column, behind it), line after line."""
        for row in self.rows:
            yield row, LINE * self.em, row.count, row.words
            for where, text in row.examples:
                yield row, SMALL_LINE * self.em, where, text
            if row.more:
                yield row, SMALL_LINE * self.em, "", row.more

    def paint(self, painter: QPainter) -> None:
        theme, plain, bold = self.theme, self.face(), self.face(bold=True)
        small, em = self.face(fonts.SMALL), self.em
        counts = max((bold.width(row.count) for row in self.rows), default=0.0)
        places = [where for row in self.rows for where, _ in row.examples]
        inner = max((small.width(where) for where in places), default=0.0)
        top = 0.0
        for row, height, first, text in self._lines():
            if text == row.words and height == LINE * em:
                colour = theme.output if row.is_kept else theme.text
                write(painter, QRectF(0, top, counts, height), first, bold, colour, RIGHT)
                left = counts + 0.6 * em
                room = QRectF(left, top, self.width() - left, height)
                write(painter, room, text, plain, theme.text, LEFT)
            else:
                left = counts + 0.6 * em
                write(painter, QRectF(left, top, inner, height), first, small, theme.muted, LEFT)
                left += inner + 0.8 * em if first else 0.0
                room = QRectF(left, top, self.width() - left, height)
                colour = theme.text if first else theme.muted
                write(painter, room, text, small, colour, LEFT)
            top += height
