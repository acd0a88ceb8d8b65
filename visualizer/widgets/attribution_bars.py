"""Signed bars per token, source and target beside each other."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from visualizer import fonts
from visualizer.lenses.attribution import Attributions, TokenShares, share_text
from visualizer.lenses.numbers import in_unit
from visualizer.widgets.canvas import CENTRE, LEFT, RIGHT, box, write
from visualizer.widgets.pointing import PointedCanvas

# Milliseconds that the numbers of the sentence before may stay while new ones are found.
PATIENCE = 300


class AttributionBars(PointedCanvas):
    """Where not all tokens fit, those with the largest numbers, in their order.

    tokenClicked(site, row).
    """

    # what a right click asks about
    term = "gradient_times_input"
    tokenClicked = Signal(str, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._shares: Attributions | None = None
        self._empty = ""
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE)
        self._patience.timeout.connect(self._give_up)

    def set_empty_text(self, text: str) -> None:
        self._empty = text
        self.update()

    def set_shares(self, shares: Attributions | None, waits: bool = False) -> None:
        """waits: new ones are on their way; for a moment the last ones stay on show."""
        if shares is None and waits and self._shares is not None:
            if not self._patience.isActive():
                self._patience.start()
            return
        self._patience.stop()
        if _key(shares) != _key(self._shares):
            self._shares = shares
            self._hovered = None
            self.update()

    def _give_up(self) -> None:
        self.set_shares(None)

    @property
    def shares(self) -> Attributions | None:
        return self._shares

    def sizeHint(self) -> QSize:
        return QSize(round(18 * self.em), round(16 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(10 * self.em), round(5 * self.em))

    # Places.

    def _head(self) -> float:
        return 1.5 * self.em

    def _line(self) -> float:
        """As high as all lines can be, within what can be read."""
        shares = self._shares
        most = max((len(side.tokens) for side in shares.sides), default=1) if shares else 1
        return min(max((self.height() - self._head()) / most, 1.12 * self.em), 1.5 * self.em)

    def rows_of(self, side: TokenShares) -> list[int]:
        """The tokens of a side that are on show, in their order."""
        fit = max(int((self.height() - self._head() + 0.5) / self._line()), 1)
        if len(side.tokens) <= fit:
            return list(range(len(side.tokens)))
        largest = np.argsort(-np.abs(side.values), kind="stable")[:fit]
        return sorted(largest.tolist())

    def _columns(self) -> list[tuple[TokenShares, list[int], float, float]]:
        """Each side with its rows, its left edge and its width."""
        if self._shares is None or not self._shares.sides:
            return []
        sides = self._shares.sides
        gap = 1.2 * self.em
        wide = (self.width() - gap * (len(sides) - 1)) / len(sides)
        return [(s, self.rows_of(s), n * (wide + gap), wide) for n, s in enumerate(sides)]

    def line_rect(self, site: str, row: int) -> QRectF:
        """Where a token is painted; empty where it is not."""
        for side, rows, left, wide in self._columns():
            if side.site == site and row in rows:
                top = self._head() + rows.index(row) * self._line()
                return QRectF(left, top, wide, self._line())
        return QRectF()

    def spot_at(self, pos: QPointF) -> tuple[TokenShares, int] | None:
        """The side and the token at a position."""
        for side, rows, left, wide in self._columns():
            line = int((pos.y() - self._head()) // self._line())
            if left <= pos.x() < left + wide and 0 <= line < len(rows):
                return side, rows[line]
        return None

    def thing_at(self, pos: QPointF) -> int | None:
        spot = self.spot_at(pos)
        if spot is None or self._shares is None:
            return None
        side, row = spot
        before = 0 if side is self._shares.sides[0] else len(self._shares.sides[0].tokens)
        return before + row

    # Painting.

    def paint(self, painter: QPainter) -> None:
        shares = self._shares
        if shares is None or not shares.sides:
            write(painter, QRectF(self.rect()), self._empty, self.face(), self.theme.muted, CENTRE)
            return
        before = 0
        for side, rows, left, wide in self._columns():
            self._draw_side(painter, shares, side, rows, QRectF(left, 0, wide, self.height()))
            if self._hovered is not None and 0 <= self._hovered - before < len(side.tokens):
                rect = self.line_rect(side.site, self._hovered - before)
                box(painter, rect.adjusted(0, 1, 0, -1), None, self.theme.border_strong, 3)
            before += len(side.tokens)

    def _draw_side(
        self,
        painter: QPainter,
        shares: Attributions,
        side: TokenShares,
        rows: list[int],
        room: QRectF,
    ) -> None:
        theme, em, line = self.theme, self.em, self._line()
        small, face = self.face(fonts.SMALL), self.face(min(line / (1.5 * em), 1.0) * 0.95)
        head = QRectF(room.left(), 0, room.width(), self._head())
        cut = "" if len(rows) == len(side.tokens) else f"  {len(rows)} / {len(side.tokens)}"
        write(painter, head, side.title + cut, self.face(0.76), theme.muted, LEFT)
        if side is shares.sides[0]:
            self._draw_unit(painter, shares, side.title + cut, head)
        texts = [in_unit(side.values[row], 2, shares.unit) for row in rows]
        number = max(small.width(text) for text in texts) + 0.3 * em
        label = min(
            max(face.width(side.tokens[row]) for row in rows) + 0.5 * em, 0.36 * room.width()
        )
        start = room.left() + label
        full = max(room.width() - label - number - 0.3 * em, em)
        low = max(-min(float(s.values.min()) for s in shares.sides), 0.0)
        high = max(max(float(s.values.max()) for s in shares.sides), 0.0)
        scale = full / ((low + high) or 1.0)
        zero = start + low * scale
        for place, row in enumerate(rows):
            top = self._head() + place * line
            current = row == side.row
            if current:
                ground = QRectF(room.left(), top + 1, room.width(), line - 2)
                box(painter, ground, theme.accent_tint, None, 0.3 * em)
            ink = theme.accent if current else theme.text
            where = QRectF(room.left() + 0.2 * em, top, label - 0.4 * em, line)
            write(painter, where, side.tokens[row], face, ink, LEFT)
            value = float(side.values[row]) * scale
            colour = theme.diverging[-2] if value >= 0 else theme.diverging[1]
            if value:
                bar = QRectF(min(zero, zero + value), top + 0.24 * line, abs(value), 0.52 * line)
                box(painter, bar.adjusted(0, 0, max(1.0 - bar.width(), 0), 0), colour, None, 0)
            end = QRectF(room.right() - number, top, number, line)
            write(painter, end, texts[place], small, theme.muted, RIGHT)
        axis = QRectF(self.snap(zero), self._head(), 1, line * len(rows))
        box(painter, axis, theme.border_strong, None, 0)

    def _draw_unit(self, painter: QPainter, shares: Attributions, title: str, head: QRectF) -> None:
        faint = self.face(0.76)
        if faint.width(title) + faint.width(shares.unit_text) + self.em <= head.width():
            write(painter, head, shares.unit_text, faint, self.theme.muted, RIGHT)

    # The pointer.

    def mousePressEvent(self, event: QMouseEvent) -> None:
        spot = self.spot_at(event.position())
        if spot is not None and event.button() == Qt.MouseButton.LeftButton:
            self.tokenClicked.emit(spot[0].site, spot[1])

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            spot = self.spot_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), "" if spot is None else share_text(*spot), self)
            return True
        return super().event(event)


def _key(shares: Attributions | None) -> tuple[object, ...]:
    """What decides the picture."""
    if shares is None:
        return ()
    return (id(shares.owner), *((side.title, side.tokens) for side in shares.sides))
