"""Every stage from the logits to the draw as bars, side by side, over the whole vocabulary."""

from __future__ import annotations

import math
from collections.abc import Hashable

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from visualizer import fonts
from visualizer.lenses.board import Board
from visualizer.widgets.canvas import (
    CENTRE,
    LEFT,
    RIGHT,
    Canvas,
    Face,
    box,
    triangle,
    write,
)
from visualizer.widgets.column_bars import Rows, draw_bars
from visualizer.widgets.columns_layout import HEAD_LINES, Layout, lay_out, least_height, rows_in

NOTCH = 120
ROWS_PER_NOTCH = 3


class PipelineColumns(Canvas):
    """tokenHovered(id, column), left(), tokenClicked(id), sortWanted(name of a stage).

    tokenMarked(id) on a click with Shift held.

    The wheel and the bar at the right scroll; a click on a head sorts by its stage.
    """

    term = "sampling"
    tokenHovered = Signal(int, int)
    left = Signal()
    tokenClicked = Signal(int)
    tokenMarked = Signal(int)
    sortWanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._board: Board | None = None
        self._layout: Layout | None = None
        self._first = 0
        self._wheel = 0
        self._grip: float | None = None
        self._hovered: tuple[int, int] | None = None
        self._pointed: int | None = None
        self._empty = ""

    # Setters.

    def set_board(self, board: Board | None) -> None:
        old, self._board = self._board, board
        if board is not None and (old is None or old.key != board.key):
            self._first = 0
            if old is not None and old.sort != board.sort and board.selected is not None:
                self._reveal(board.selected)
        self.relayout()
        self.update()

    def set_empty_text(self, text: str) -> None:
        self._empty = text
        self.update()

    def point_at(self, token: int | None) -> None:
        """Another widget has this token under the pointer."""
        if token != self._pointed:
            self._pointed = token
            self.update()

    def scroll_to(self, row: int) -> None:
        """Have this row at the top, as far as the vocabulary reaches."""
        if self._board is None:
            return
        last = max(self._board.size - rows_in(self.height(), self.em), 0)
        first = min(max(row, 0), last)
        if first != self._first:
            self._first = first
            self.relayout()
            self.update()

    def reveal(self, token: int) -> None:
        """Have a token in view, moving no farther than that takes."""
        self._reveal(token)
        self.relayout()
        self.update()

    def _reveal(self, token: int) -> None:
        assert self._board is not None
        row, rows = self._board.row_of(token), rows_in(self.height(), self.em)
        if not self._first <= row < self._first + rows:
            self._first = max(min(row - rows // 2, self._board.size - rows), 0)

    # What can be asked.

    @property
    def board(self) -> Board | None:
        return self._board

    def sizeHint(self) -> QSize:
        return QSize(round(60 * self.em), round(20 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(30 * self.em), math.ceil(least_height(self.em)))

    def layout_now(self) -> Layout | None:
        """Where everything lies; None without a board."""
        if self._board is None:
            return None
        if self._layout is None:
            rows = rows_in(self.height(), self.em)
            first = min(self._first, max(self._board.size - rows, 0))
            self._first = first
            seen = range(first, min(first + rows, self._board.size))
            names = tuple(self._board.tokens[self._board.token_at(row)] for row in seen)
            small = self.face(0.78)
            self._layout = lay_out(
                self._board,
                self.width(),
                self.height(),
                self.em,
                first,
                max((self.face().width(name) for name in names), default=0.0),
                small.width("0" * len(str(self._board.size))) + 0.7 * self.em,
            )
        return self._layout

    def shown(self) -> list[int]:
        """The ids in view, from the top."""
        layout = self.layout_now()
        if layout is None or self._board is None:
            return []
        return [self._board.token_at(layout.first + n) for n in range(layout.rows)]

    def relayout(self) -> None:
        self._layout = None

    # Painting.

    def paint(self, painter: QPainter) -> None:
        board, layout = self._board, self.layout_now()
        if board is None or layout is None:
            write(painter, QRectF(self.rect()), self._empty, self.face(), self.theme.muted, CENTRE)
            return
        tokens = self.shown()
        everything = list(enumerate(tokens))
        still = [place for place, (column, _) in enumerate(layout.columns) if column.still]
        self.layer(
            painter,
            "still",
            self._still(board, layout, tokens),
            lambda inner: self._draw_rows(inner, layout, everything, still, True),
        )
        # the token that is taken changes with a slider: its row is painted over the others'
        taken = [(n, token) for n, token in everything if token == board.chosen]
        self._draw_rows(painter, layout, taken, still)
        moving = [place for place in range(len(layout.columns)) if place not in still]
        for place in moving:
            self._draw_head(painter, layout, place)
            self._draw_column(painter, layout, place, everything)
        thumb = layout.thumb
        if thumb.height():
            colour = self.theme.border_strong if self._grip is not None else self.theme.bar_off
            box(painter, thumb, colour, None, thumb.width() / 2)

    def _still(self, board: Board, layout: Layout, tokens: list[int]) -> Hashable:
        """What is painted before anything that a slider moves: nothing else changes it."""
        columns = tuple((c.name, c.titles, c.lines, x) for c, x in layout.columns if c.still)
        out = tuple(column.out[tokens].tobytes() for column, _ in layout.columns)
        place = (layout.first, layout.rows, layout.width, layout.label, layout.gutter)
        return board.owner, board.key, columns, out, board.selected, self._under(), place

    def _under(self) -> int | None:
        """The token that is pointed at, here or elsewhere."""
        return self._pointed if self._hovered is None else self._hovered[0]

    def _draw_rows(
        self, painter: QPainter, layout: Layout, rows: Rows, places: list[int], heads: bool = False
    ) -> None:
        """Bands, ids and tokens of some rows, and their bars in the columns at `places`."""
        assert self._board is not None
        for n, token in rows:
            self._draw_band(painter, layout.row_rect(layout.first + n), token, not heads)
        taken = None if heads else self._board.chosen
        self._draw_tokens(painter, layout, rows, taken)
        for place in places:
            if heads:
                self._draw_head(painter, layout, place)
            self._draw_column(painter, layout, place, rows)

    def _draw_head(self, painter: QPainter, layout: Layout, place: int) -> None:
        assert self._board is not None
        column, em, theme = layout.columns[place][0], self.em, self.theme
        rect = layout.head_rect(place)
        bold, small = self.face(bold=True), self.face(fonts.SMALL)
        sorts = column.name == self._board.sort
        room = rect.width() - (1.1 * em if sorts else 0.0)
        title, words = (
            QRectF(rect.left(), 0.0, room, HEAD_LINES[0] * em),
            _fit(column.titles, bold, room),
        )
        write(painter, title, words, bold, theme.muted if column.off else theme.text, LEFT)
        if sorts:
            x = rect.left() + min(bold.width(words), room) + 0.7 * em
            y = title.center().y()
            points = [(x - 0.3 * em, y - 0.15 * em), (x + 0.3 * em, y - 0.15 * em)]
            triangle(painter, [*points, (x, y + 0.25 * em)], theme.muted)
        top = title.bottom()
        for lines, high in zip(column.lines, HEAD_LINES[1:], strict=True):
            place, line = (
                QRectF(rect.left(), top, rect.width(), high * em),
                _fit(lines, small, rect.width()),
            )
            write(painter, place, line, small, theme.muted, LEFT)
            top += high * em

    def _draw_band(self, painter: QPainter, rect: QRectF, token: int, taken: bool) -> None:
        """What lies under a row: the token taken, the one pointed at, the one clicked."""
        assert self._board is not None
        theme, board = self.theme, self._board
        inside = rect.adjusted(0, 1, 0, -1)
        radius = 0.3 * self.em
        if taken:
            painter.fillRect(rect, theme.color(self._ground or "surface"))
            box(painter, inside, theme.output_tint, None, radius)
        if token == self._under():
            box(painter, inside, theme.output_soft if taken else theme.chip, None, radius)
        if token == board.selected:
            box(painter, inside, None, theme.accent, radius)

    def _draw_tokens(
        self, painter: QPainter, layout: Layout, rows: Rows, taken: int | None
    ) -> None:
        """Ids, and the tokens in every column that has room for them."""
        assert self._board is not None
        board, theme, em = self._board, self.theme, self.em
        face, bold, small = self.face(), self.face(bold=True), self.face(0.78)
        numbers = layout.gutter - 0.5 * em
        for n, token in rows:
            rect = layout.row_rect(layout.first + n)
            place = QRectF(0.0, rect.top(), numbers, rect.height())
            write(painter, place, str(token), small, theme.muted, RIGHT)
            name, lettering = board.tokens[token], bold if token == taken else face
            for column, (stage, _) in enumerate(layout.columns):
                x = layout.label_at(column)
                if x is not None:
                    ink = theme.muted if stage.out[token] else theme.text
                    place = QRectF(x, rect.top(), layout.label, rect.height())
                    write(painter, place, name, lettering, ink, LEFT)

    def _draw_column(self, painter: QPainter, layout: Layout, place: int, rows: Rows) -> None:
        column, digits, em = layout.columns[place][0], self.face(0.9), self.em
        texts = {token: column.text(token) for token in self.shown()}
        start, room = layout.bars_at(place)
        # measuring all of them, which are new with every move, would take longer than painting
        number = digits.width(max(texts.values(), key=len, default="")) + 0.4 * em
        full = max(room - number - 0.2 * em, 0.0)
        tops = [layout.row_rect(layout.first + n).top() for n, _ in rows]
        assert self._board is not None
        reach = start, full
        ends = draw_bars(self, painter, layout, column, rows, reach, self._board.log)
        # no number comes again, so that laying them out for later would be lost
        painter.setFont(digits.font)
        down = (layout.line + digits.cap_height) / 2
        for role in ("text", "muted"):
            painter.setPen(self.theme.color(role))
            for (_, token), top, at in zip(rows, tops, ends, strict=True):
                if (role == "muted") == (column.off or bool(column.out[token])):
                    painter.drawText(QPointF(at + 0.4 * em, round(top + down)), texts[token])

    # The pointer.

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        layout = self.layout_now()
        if layout is None or self._board is None:
            return
        if self._grip is not None:
            self.scroll_to(layout.first_at(event.position().y(), self._grip))
            return
        self._hover_at(event.position())

    def _hover_at(self, pos: QPointF) -> None:
        layout = self.layout_now()
        if layout is None or self._board is None:
            return
        row, place = layout.row_at(pos), layout.place_at(pos)
        on_head = row is None and place is not None and pos.y() < layout.head
        hand = row is not None or on_head
        shape = Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.ArrowCursor
        if self.cursor().shape() != shape:
            self.setCursor(shape)
        if row is None:
            self._hover(None)
        else:
            self._hover((self._board.token_at(row), place or 0))

    def _hover(self, thing: tuple[int, int] | None) -> None:
        """thing: an id and the column that it is pointed at in"""
        if thing == self._hovered:
            return
        old, self._hovered = self._hovered, thing
        if thing is None or old is None or thing[0] != old[0]:
            self.update()
        if thing is None:
            self.left.emit()
        else:
            self.tokenHovered.emit(*thing)

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        layout, pos = self.layout_now(), event.position()
        if layout is None or self._board is None or event.button() != Qt.MouseButton.LeftButton:
            return
        if pos.x() >= layout.track.left() - 0.2 * self.em and layout.thumb.height():
            thumb = layout.thumb
            inside = thumb.top() <= pos.y() <= thumb.bottom()
            self._grip = pos.y() - thumb.top() if inside else thumb.height() / 2
            self.scroll_to(layout.first_at(pos.y(), self._grip))
            return
        row, place = layout.row_at(pos), layout.place_at(pos)
        if row is not None:
            marks = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            (self.tokenMarked if marks else self.tokenClicked).emit(self._board.token_at(row))
        elif place is not None and pos.y() < layout.head:
            self.sortWanted.emit(layout.columns[place][0].name)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._grip is not None:
            self._grip = None
            self.update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self._board is None:
            event.ignore()
            return
        self._wheel += event.angleDelta().y()
        rows = int(self._wheel * ROWS_PER_NOTCH / NOTCH)
        if rows:
            self._wheel -= int(rows * NOTCH / ROWS_PER_NOTCH)
            self.scroll_to(self._first - rows)
            self._hover_at(event.position())
        event.accept()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            layout, pos = self.layout_now(), QPointF(event.pos())
            place = None if layout is None else layout.place_at(pos)
            text = ""
            if layout is not None and place is not None:
                column, row = layout.columns[place][0], layout.row_at(pos)
                if pos.y() < layout.head:
                    text = f"{column.title}\n{column.tip}"
                elif row is not None and self._board is not None:
                    token = self._board.token_at(row)
                    text = f"{self._board.tokens[token]}   {column.exact(token)}"
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)


def _fit(words: tuple[str, ...], face: Face, room: float) -> str:
    """The longest of them that fits, the shortest where none does."""
    return next((text for text in words if face.width(text) <= room), words[-1])
