"""The frame that is looked at, large: what each row reads, where it looks, what it writes."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QImage, QMouseEvent, QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.lenses.lab_picture import Detail, Frame
from visualizer.theme import Theme
from visualizer.widgets import figures
from visualizer.widgets.canvas import LEFT, RIGHT, Canvas, ink, write
from visualizer.widgets.film_labels import (
    LINE,
    OVERHANG,
    attention_image,
    cell_at,
    cell_rect,
    draw_attention,
    every_nth,
    frame_around,
    named,
    upright_height,
    write_columns,
    write_rows,
)
from visualizer.widgets.verdict import draw_verdict

# In parts of the font's size: the head line, the line below, the tallest row, the
# widest column.
HEAD, FOOT, TALLEST_ROW, WIDEST_COLUMN = 1.7, 1.5, 4.0, 6.0
# Between the picture and the output.
GAP = OVERHANG + 0.3
LABEL = 0.76
# From this height on the output has a line of its own.
TWO_LINES = 15.0


class FilmDetail(Canvas):
    """A picture with labels; beside each row the token it gave and how likely that was.

    Without a title for these tokens the rows are none that write: then the picture stands alone.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self.detail: Detail | None = None
        self._image: tuple[Theme, Frame, QImage] | None = None
        self._cell: tuple[int, int] | None = None

    def set_detail(self, detail: Detail | None) -> None:
        before, self.detail = self.detail, detail
        if detail is not None and before is not None and detail.key == before.key:
            return
        if detail is not None:
            frame = detail.frame
            pairs = zip(frame.tokens, frame.sure, strict=False)
            said = ", ".join(f"{token} {figures.percent(p)}" for token, p in pairs)
            self.describe(f"{frame.title}: {frame.output} {detail.expected}".rstrip(), said)
            self.setToolTip("")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(28 * self.em), round(14 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(19 * self.em), round(8.5 * self.em))

    # Places.

    def _head_height(self) -> float:
        return (2 * HEAD - 0.3 if self.height() >= TWO_LINES * self.em else HEAD) * self.em

    def _beside(self, frame: Frame) -> tuple[float, float, float, float]:
        """Widths: of the labels at the left, of the tokens at the right, their bars, numbers."""
        em, small = self.em, self.face(LABEL)
        assert self.detail is not None
        left = min(max(small.widest(frame.rows), small.width(self.detail.row_title)), 5 * em)
        if not self.detail.token_title:
            return left + 0.5 * em, 0.0, 0.0, 0.0
        tokens = max(small.widest(frame.tokens), small.width(self.detail.token_title))
        tokens = min(tokens, 6 * em)
        numbers = max(map(small.width, map(figures.percent_column, frame.sure)), default=0.0)
        bars = 5 * em if self.width() >= 30 * em else 2.4 * em
        return left + 0.5 * em, tokens + 0.6 * em, bars, numbers + 0.3 * em

    def picture_rect(self) -> QRectF:
        """Where the cells are painted."""
        em = self.em
        assert self.detail is not None
        frame = self.detail.frame
        left, *right = self._beside(frame)
        wide = self.width() - left - sum(right) - (GAP + 0.4) * em
        room = self.height() - self._head_height() - FOOT * em
        turned = self._upright(frame, wide, room)
        top = self._head_height() + max(turned + 0.5 * em, 1.2 * em)
        high = self.height() - top - FOOT * em
        high = min(high, TALLEST_ROW * em * len(frame.weights))
        wide = min(wide, WIDEST_COLUMN * em * frame.weights.shape[1])
        return QRectF(round(left), round(top), max(round(wide), 1), max(round(high), 1))

    def _upright(self, frame: Frame, wide: float, room: float) -> float:
        """How high column labels are if turned; 0 where they are not, or would take too much."""
        em, small = self.em, self.face(LABEL)
        turned = upright_height(frame.columns, wide / max(len(frame.columns), 1), small, em)
        return turned if room - turned >= LINE * em * len(frame.weights) else 0.0

    # Painting.

    def paint(self, painter: QPainter) -> None:
        detail, em, theme = self.detail, self.em, self.theme
        if detail is None:
            return
        frame, rect, small = detail.frame, self.picture_rect(), self.face(LABEL)
        self._draw_head(painter, detail)
        draw_attention(painter, rect, self._picture(frame))
        frame_around(painter, rect, theme.color("border"), 1.0)
        write_rows(painter, rect, frame.rows, small, theme, em)
        turned = max(rect.top() - self._head_height() - 0.5 * em, 0.0)
        upright = turned if turned > 0.8 * em else 0.0
        write_columns(painter, rect, frame.columns, small, theme, em, upright)
        above = QRectF(0, rect.top() - 1.15 * em, rect.left() - 0.4 * em, 1.1 * em)
        write(painter, above, detail.row_title, small, theme.muted, RIGHT)
        self._draw_tokens(painter, detail, rect)
        foot = QRectF(0, rect.bottom() + 0.25 * em, self.width(), 1.3 * em)
        said, colour = detail.hint, theme.muted
        if self._cell is not None and self._cell[0] < len(frame.weights):
            row, column = self._cell
            if column < frame.weights.shape[1]:
                where = cell_rect(rect, self._cell, frame.weights.shape)
                frame_around(painter, where, theme.color("accent"), 0.12 * em)
                said, colour = self.cell_words(row, column), theme.text
        write(painter, foot, said, self.face(fonts.SMALL), colour, LEFT)

    def cell_words(self, row: int, column: int) -> str:
        """What a cell is, with all its digits."""
        assert self.detail is not None
        frame = self.detail.frame
        return self.detail.cell.format(
            row=named(frame.rows, row),
            column=named(frame.columns, column),
            weight=figures.exact(frame.weights[row, column]),
        )

    def _draw_head(self, painter: QPainter, detail: Detail) -> None:
        em, theme, frame = self.em, self.theme, detail.frame
        bold, face = self.face(bold=True), self.face()
        write(painter, QRectF(0, 0, self.width(), HEAD * em), frame.title, bold, theme.accent, LEFT)
        x, y = 0.0, (HEAD - 0.3) * em
        if self._head_height() < 2 * em:
            x, y = bold.width(frame.title) + 1.2 * em, 0.0
        if frame.expected is not None:
            middle = QPointF(x + 0.45 * em, y + HEAD * em / 2)
            draw_verdict(painter, middle, em, frame.is_right, theme)
            x += 1.15 * em
        room = QRectF(x, y, self.width() - x, HEAD * em)
        output, wish = frame.output or "–", detail.expected
        if frame.is_right or not wish:
            write(painter, room, output, face, theme.text, LEFT)
            return
        words = self.face(fonts.SMALL)
        wide = min(face.width(output), max(room.width() - words.width(wish) - em, 4 * em))
        write(painter, QRectF(x, y, wide + 1, HEAD * em), output, face, theme.text, LEFT)
        rest = QRectF(x + wide + em, y, self.width() - x - wide - em, HEAD * em)
        write(painter, rest, wish, words, theme.muted, LEFT)

    def _draw_tokens(self, painter: QPainter, detail: Detail, rect: QRectF) -> None:
        """The output from top to bottom, each token with its probability."""
        em, theme, frame, small = self.em, self.theme, detail.frame, self.face(LABEL)
        _, tokens, bars, numbers = self._beside(frame)
        count = len(frame.sure)
        if not count or not detail.token_title:
            return
        left = rect.right() + GAP * em
        head = QRectF(left, rect.top() - 1.15 * em, tokens, 1.1 * em)
        write(painter, head, detail.token_title, small, theme.muted, LEFT)
        head.setLeft(left + tokens)
        head.setWidth(bars + numbers)
        write(painter, head, detail.sure_title, small, theme.muted, LEFT)
        high = rect.height() / count
        step = every_nth(count, rect.height(), LINE * em)
        for number, (token, p) in enumerate(zip(frame.tokens, frame.sure, strict=False)):
            top = rect.top() + number * high
            thick = min(0.6 * high, 0.7 * em)
            bar = QRectF(left + tokens, top + (high - thick) / 2, bars, thick)
            painter.fillRect(bar, ink(theme.chip))
            bar.setWidth(p * bars)
            painter.fillRect(bar, ink(theme.output))
            if number % step == 0:
                room = QRectF(left, top, tokens - 0.3 * em, high)
                write(painter, room, token, small, theme.text, LEFT)
                room = QRectF(left + tokens + bars, top, numbers, high)
                write(painter, room, figures.percent_column(p), small, theme.text, RIGHT)

    def _picture(self, frame: Frame) -> QImage:
        kept = self._image
        if kept is None or kept[0] is not self.theme or kept[1].cells != frame.cells:
            kept = (self.theme, frame, attention_image(frame.weights, self.theme))
            self._image = kept
        return kept[2]

    # The mouse.

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.detail is None:
            return
        shape = self.detail.frame.weights.shape
        cell = cell_at(self.picture_rect(), event.position(), shape)
        if cell != self._cell:
            self._cell = cell
            self.update()

    def leaveEvent(self, event: object) -> None:
        self._cell = None
        self.update()
