"""The draw: the cumulative distribution as one bar, and where the uniform falls on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from model_core.sampling import Distribution
from visualizer import fonts
from visualizer.lenses.pipeline import Chosen
from visualizer.lenses.pipeline_words import DrawWords
from visualizer.widgets import figures
from visualizer.widgets.canvas import LEFT, Canvas, box, triangle, write
from visualizer.widgets.columns_layout import HEAD_LINES, head_height

# Neighbours differ; the token taken has a colour of its own.
COLOURS = ("encoder", "decoder", "accent")
LINE = 1.2


class DrawBar(Canvas):
    """Pieces in the order of the ids, from 0 at the top to 1; `r` is marked where it falls.

    Pieces that are thinner than a pixel are painted as one ground. tokenHovered(id), left(),
    tokenClicked(id).
    """

    term = "sampling"
    tokenHovered = Signal(int)
    left = Signal()
    tokenClicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self._words: DrawWords | None = None
        self._given: Distribution | None = None
        self._taken: Chosen | None = None
        self._tokens: Sequence[str] = ()
        self._pieces: list[tuple[int, QRectF]] | None = None
        self._hovered: int | None = None
        self._pointed: int | None = None

    def set_draw(
        self,
        words: DrawWords | None,
        given: Distribution | None,
        taken: Chosen | None,
        tokens: Sequence[str],
    ) -> None:
        """given: what is drawn from   taken: the token, and the uniform if there is one"""
        self._words, self._given, self._taken, self._tokens = words, given, taken, tokens
        self.relayout()
        self.update()

    def point_at(self, token: int | None) -> None:
        """Another widget has this token under the pointer."""
        if token != self._pointed:
            self._pointed = token
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(13.5 * self.em), round(20 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(13.5 * self.em), round(8 * self.em))

    def relayout(self) -> None:
        self._pieces = None

    # Places.

    def bar_rect(self) -> QRectF:
        top = head_height(self.em) + 0.35 * self.em
        return QRectF(
            0.6 * self.em, top, 4.2 * self.em, max(self.height() - top - 0.5 * self.em, 1)
        )

    def y_of(self, share: float) -> float:
        """Where a share of the whole lies."""
        bar = self.bar_rect()
        return bar.top() + share * bar.height()

    def pieces(self) -> list[tuple[int, QRectF]]:
        """Ids and places of all pieces that are at least a pixel high, from the top."""
        if self._pieces is None:
            self._pieces = []
            if self._given is not None:
                bar, sums = self.bar_rect(), self._given.cumulative
                high = np.flatnonzero(self._given.probabilities * bar.height() >= 1.0)
                below = np.where(high > 0, sums[high - 1], 0.0)
                tops = (bar.top() + below * bar.height()).tolist()
                bottoms = (bar.top() + sums[high] * bar.height()).tolist()
                self._pieces = [
                    (token, QRectF(bar.left(), top, bar.width(), bottom - top))
                    for token, top, bottom in zip(high.tolist(), tops, bottoms, strict=True)
                ]
        return self._pieces

    def token_at(self, pos: QPointF) -> int | None:
        """The token whose piece, or whose line of the bar, is under a position."""
        bar = self.bar_rect()
        if self._given is None or not bar.contains(pos):
            return None
        sums = self._given.cumulative
        token = int(np.searchsorted(sums, (pos.y() - bar.top()) / bar.height(), side="right"))
        return token if token < sums.size and self._given.kept[token] else None

    # Painting.

    def paint(self, painter: QPainter) -> None:
        if self._words is None or self._given is None or self._taken is None:
            return
        theme, em = self.theme, self.em
        self._draw_head(painter, self._words)
        bar = self.bar_rect()
        box(painter, bar, theme.bar_off)
        pointed = self._hovered if self._hovered is not None else self._pointed
        inks = {role: theme.color(role) for role in ("output", *COLOURS)}
        for number, (token, rect) in enumerate(self.pieces()):
            role = "output" if token == self._taken.id else COLOURS[number % len(COLOURS)]
            gap = min(1.0, rect.height() / 3)
            if token == pointed:
                box(painter, rect.adjusted(-0.3 * em, 0, 0.3 * em, 0), theme.text)
            painter.fillRect(rect.adjusted(0, 0, 0, -gap), inks[role])
        self._draw_names(painter, bar)
        if self._taken.draw is not None:
            self._draw_uniform(painter, bar, self._taken.draw.uniform)

    def _draw_head(self, painter: QPainter, words: DrawWords) -> None:
        theme, em, top = self.theme, self.em, 0.0
        faces = (self.face(bold=True), self.face(fonts.SMALL), self.face(fonts.SMALL))
        inks = (theme.text, theme.muted, theme.muted)
        lines = (words.title, *words.lines)
        for line, face, colour, high in zip(lines, faces, inks, HEAD_LINES, strict=True):
            room = QRectF(0.6 * em, top, self.width() - 0.6 * em, high * em)
            write(painter, room, line, face, colour, LEFT)
            top += high * em

    def _draw_names(self, painter: QPainter, bar: QRectF) -> None:
        """The token taken at its piece, others where they have room."""
        assert self._taken is not None
        theme, em = self.theme, self.em
        x = bar.right() + 2.4 * em
        room, line = self.width() - x, LINE * em
        pieces = dict(self.pieces())
        own = pieces.get(self._taken.id)
        at = own.center().y() if own is not None else None
        if self._taken.draw is not None:
            draw = self._taken.draw
            at = self.y_of(draw.uniform)
        taken = [at] if at is not None else []
        most = int(bar.height() / line) + 1
        if at is not None:
            rect = QRectF(x, at - line / 2, room, line)
            write(painter, rect, self._name(), self.face(bold=True), theme.text, LEFT)
        for token, rect in sorted(self.pieces(), key=lambda piece: -piece[1].height()):
            if len(taken) >= most:
                break
            middle = rect.center().y()
            if token == self._taken.id or any(abs(middle - y) < line for y in taken):
                continue
            taken.append(middle)
            place = QRectF(x, middle - line / 2, room, line)
            write(painter, place, self._tokens[token], self.face(0.9), theme.muted, LEFT)

    def _name(self) -> str:
        assert self._taken is not None
        return self._tokens[self._taken.id]

    def _draw_uniform(self, painter: QPainter, bar: QRectF, uniform: float) -> None:
        theme, em, y = self.theme, self.em, self.y_of(uniform)
        line = QRectF(bar.left() - 0.5 * em, self.snap(y) - 1.0, bar.width() + 1.0 * em, 2.0)
        box(painter, line, theme.text)
        x = bar.right() + 0.6 * em
        points = [(x, y), (x + 0.6 * em, y - 0.35 * em), (x + 0.6 * em, y + 0.35 * em)]
        triangle(painter, points, theme.text)
        room = QRectF(x + 0.8 * em, y - em, em, 2 * em)
        write(painter, room, "r", self.face(fonts.SMALL), theme.text, LEFT)

    # The pointer.

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.token_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)

    def _hover(self, token: int | None) -> None:
        if token == self._hovered:
            return
        self._hovered = token
        self.setCursor(
            Qt.CursorShape.ArrowCursor if token is None else Qt.CursorShape.PointingHandCursor
        )
        self.update()
        if token is None:
            self.left.emit()
        else:
            self.tokenHovered.emit(token)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        token = self.token_at(event.position())
        if token is not None and event.button() == Qt.MouseButton.LeftButton:
            self.tokenClicked.emit(token)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            token, text = self.token_at(QPointF(event.pos())), ""
            if token is not None and self._given is not None:
                sums = self._given.cumulative
                below = float(sums[token - 1]) if token else 0.0
                text = f"{self._tokens[token]}   {figures.exact(self._given.probabilities[token])}"
                text += f"\n{figures.exact(below)} … {figures.exact(float(sums[token]))}"
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)
