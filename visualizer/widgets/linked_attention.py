"""All attention at once: tokens in two columns, and a curve for every weight."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPainterPath, QPen, QPixmap
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from visualizer import fonts
from visualizer.lenses.attentions import Kind
from visualizer.lenses.linked import (
    FADED,
    ONE_STEP_ON,
    OWN,
    Array,
    LinkedTokens,
    Token,
    joined_tokens,
    lit,
)
from visualizer.widgets.canvas import LEFT, RIGHT, Canvas, write
from visualizer.widgets.heatmap_layout import shown_labels
from visualizer.widgets.linked_layout import (
    Column,
    Places,
    arrange_linked,
    distances,
    measured,
)

COLOURS: dict[Kind, str] = {"encoder": "encoder", "cross": "accent", "decoder": "decoder"}
# What is left of the curves while a token's paths are lit.
FADED_TO = 0.16
# Opacity of a weight of 0 and what a weight of 1 has beyond it: in the picture, one step on, lit.
OPACITY = {FADED: (0.2, 0.45), ONE_STEP_ON: (0.3, 0.5), OWN: (0.55, 0.45)}
# Curves of nearly one weight are painted in one go; strokes wider than this cost ten times more.
LEVELS, THIN = 24, 1.3
# How near the pointer must come to a curve, in parts of the font's size.
NEAR = 0.3

Edge = tuple[Kind, int, int]


class LinkedAttention(Canvas):
    """Pointing at a token lights its paths through all three attentions.

    tokenHovered(side, place), edgeHovered(kind, query, key) and left(); tokenClicked(side, place),
    edgeClicked(kind, query, key), groundClicked().
    """

    # what a right click asks about
    term = "attention_weights"
    tokenHovered = Signal(str, int)
    edgeHovered = Signal(str, int, int)
    left = Signal()
    tokenClicked = Signal(str, int)
    edgeClicked = Signal(str, int, int)
    groundClicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.set_ground("surface")
        self._picture: LinkedTokens | None = None
        self._titles: dict[Kind, str] = {}
        self._places: Places | None = None
        self._curves: tuple[Array, ...] | None = None
        self._measured: Array | None = None
        self._kept: tuple[Hashable, QPixmap] | None = None
        self._token: Token | None = None
        self._edge: Edge | None = None

    def set_titles(self, titles: dict[Kind, str]) -> None:
        """The names of the three parts."""
        self._titles = titles
        self.update()

    def set_picture(self, picture: LinkedTokens | None) -> None:
        before, self._picture = self._picture, picture
        same = picture is not None and before is not None
        if not same or picture.run is not before.run or picture.key != before.key:
            self._forget()
            self._token = self._edge = None
        self.update()

    @property
    def picture(self) -> LinkedTokens | None:
        return self._picture

    @property
    def looked_at(self) -> Token | None:
        """The token whose paths are lit: under the pointer, else pinned."""
        if self._token is not None or self._picture is None:
            return self._token
        return self._picture.pinned

    def sizeHint(self) -> QSize:
        return QSize(round(40 * self.em), round(30 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(16 * self.em), round(10 * self.em))

    # Places.

    def relayout(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._places = self._curves = self._measured = self._kept = None

    def places(self) -> Places:
        assert self._picture is not None
        if self._places is None:
            self._places = arrange_linked(self, self._picture)
        return self._places

    def curves(self) -> tuple[Array, ...]:
        """(n, 4, 2) per part: the curve of each edge."""
        if self._curves is None:
            assert self._picture is not None
            self._curves = tuple(map(self.places().curves, self._picture.edges))
        return self._curves

    def token_point(self, token: Token) -> QPointF:
        """The middle of a token's word."""
        column = self.places().columns[token[0]]
        return QPointF(sum(column.words) / 2, float(column.y[token[1]]))

    def edge_point(self, edge: Edge, part: float = 0.5) -> QPointF:
        """A point on the curve of an edge; part: 0 at the token that is read, 1 at the reader."""
        assert self._picture is not None
        for edges, curves in zip(self._picture.edges, self.curves(), strict=True):
            if edges.kind == edge[0]:
                (number,) = np.nonzero((edges.readers == edge[1]) & (edges.keys == edge[2]))[0]
                points = measured(curves[number : number + 1])[0]
                return QPointF(*points[round(part * (len(points) - 1))].tolist())
        raise LookupError(f"no edge {edge}")

    def token_at(self, pos: QPointF) -> Token | None:
        return self.places().token_at(pos.x(), pos.y()) if self._picture is not None else None

    def edge_at(self, pos: QPointF) -> Edge | None:
        """The curve under a position; of several that touch it a lit one, then the strongest."""
        picture = self._picture
        if picture is None or not picture.edges:
            return None
        if self._measured is None:
            self._measured = measured(np.concatenate(self.curves()))
        away = distances(self._measured, pos.x(), pos.y())
        weights = np.concatenate([edges.weights for edges in picture.edges])
        near = away <= np.maximum(self.widths(weights) / 2, NEAR * self.em)
        if not near.any():
            return None
        token = self.looked_at
        levels = np.concatenate(lit(picture, token)) if token is not None else 0
        best = int(np.where(near, levels + weights, -1.0).argmax())
        for edges in picture.edges:
            if best < len(edges.weights):
                return edges.kind, int(edges.readers[best]), int(edges.keys[best])
            best -= len(edges.weights)
        raise AssertionError("an edge beyond the last")

    def widths(self, weights: Array) -> Array:
        """How wide the curves of weights are."""
        return np.maximum(weights * self.places().widest, 1.0)

    # Painting.

    def paint(self, painter: QPainter) -> None:
        picture = self._picture
        if picture is None:
            return
        token = self.looked_at
        if token is not None:
            painter.setOpacity(FADED_TO)
        painter.drawPixmap(0, 0, self._unlit(picture))
        painter.setOpacity(1.0)
        levels = lit(picture, token)
        for level in (ONE_STEP_ON, OWN):
            self._draw_edges(painter, [one == level for one in levels], level)
        if self._edge is not None:
            self._draw_pointed(painter, self._edge)
        self._draw_words(painter, picture, levels, token)
        for kind, rect in self.places().titles.items():
            text, small = self._titles.get(kind, ""), self.face(fonts.SMALL)
            write(painter, rect, text, small, self.theme.muted)

    def _unlit(self, picture: LinkedTokens) -> QPixmap:
        """All curves as they are with nothing lit, kept until something else is shown."""
        ratio = self.devicePixelRatioF()
        key = (self.width(), self.height(), ratio, self.theme, self.font().key())
        if self._kept is None or self._kept[0] != key:
            pixmap = QPixmap(round(self.width() * ratio), round(self.height() * ratio))
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(self.theme.color("surface"))
            painter = QPainter(pixmap)
            try:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                every = [np.ones(len(edges.weights), bool) for edges in picture.edges]
                self._draw_edges(painter, every, FADED)
            finally:
                painter.end()
            self._kept = (key, pixmap)
        return self._kept[1]

    def _draw_edges(self, painter: QPainter, chosen: Iterable[Array], level: int) -> None:
        """The chosen edges of each part, the strongest last."""
        assert self._picture is not None
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for edges, curves, which in zip(self._picture.edges, self.curves(), chosen, strict=True):
            colour = self.theme.color(COLOURS[edges.kind])
            numbers = np.nonzero(which)[0]
            steps = np.minimum(edges.weights[numbers] * LEVELS, LEVELS - 1).astype(int)
            for step in np.unique(steps).tolist():
                same = numbers[steps == step]
                weight = (step + 0.5) / LEVELS
                painter.setPen(self._pen(colour, weight, level))
                painter.drawPath(_path(curves[same]))

    def _pen(self, colour: QColor, weight: float, level: int) -> QPen:
        least, more = OPACITY[level]
        width = weight * self.places().widest
        opacity = least + more * weight
        if width < THIN:
            # a thin line's width is its opacity, and costs a tenth of the time
            opacity *= max(min(width, 1.0), 0.5)
            width = 1.0
        colour = QColor(colour)
        colour.setAlphaF(opacity)
        pen = QPen(colour, width)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        return pen

    def _draw_pointed(self, painter: QPainter, edge: Edge) -> None:
        assert self._picture is not None
        chosen = [
            (edges.readers == edge[1]) & (edges.keys == edge[2])
            if edges.kind == edge[0]
            else np.zeros(len(edges.weights), bool)
            for edges in self._picture.edges
        ]
        for edges, curves, which in zip(self._picture.edges, self.curves(), chosen, strict=True):
            for number in np.nonzero(which)[0].tolist():
                width = float(self.widths(edges.weights[number : number + 1])[0])
                painter.setPen(QPen(self.theme.color("text"), width + 1.0))
                painter.drawPath(_path(curves[number : number + 1]))

    def _draw_words(
        self,
        painter: QPainter,
        picture: LinkedTokens,
        levels: tuple[Array, ...],
        token: Token | None,
    ) -> None:
        joined = joined_tokens(picture, levels)
        if self._edge is not None:
            joined |= _ends(self._edge)
        current = ("decoder", picture.row) if token is None else token
        if token is None:
            most = self._most_read(picture)
            joined = frozenset({current, *most})
        for side, column in self.places().columns.items():
            words = picture.sources if side == "encoder" else picture.targets
            notes = picture.source_notes if side == "encoder" else picture.target_notes
            here = current[1] if current[0] == side else None
            for place in shown_labels(len(words), column.step, here):
                this = (side, place)
                strong = this == current or (token is None and this in joined)
                ink = self.theme.text if token is None or this in joined else self.theme.muted
                ink = self.theme.accent if strong else ink
                self._write_token(painter, column, place, words[place], ink, this == current)
                if notes and column.notes is not None:
                    ink = self.theme.accent if this == current else self.theme.muted
                    self._write_note(painter, column, place, notes[place], ink)

    def _most_read(self, picture: LinkedTokens) -> tuple[Token, ...]:
        """The source token that the current row reads most."""
        across = picture.weights.get("cross")
        if across is None or picture.row is None:
            return ()
        return (("encoder", int(across[picture.row].argmax())),)

    def _write_token(
        self, painter: QPainter, column: Column, place: int, text: str, ink: str, bold: bool
    ) -> None:
        em, y = self.em, float(column.y[place])
        rect = QRectF(column.words[0], y - 0.8 * em, column.words[1] - column.words[0], 1.6 * em)
        align = RIGHT if column.side == "encoder" else LEFT
        write(painter, rect, text, self.face(column.scale, bold), ink, align)

    def _write_note(
        self, painter: QPainter, column: Column, place: int, text: str, ink: str
    ) -> None:
        assert column.notes is not None
        em, y = self.em, float(column.y[place])
        rect = QRectF(column.notes[0], y - 0.8 * em, column.notes[1] - column.notes[0], 1.6 * em)
        face = self.face(min(fonts.SMALL, column.scale))
        write(painter, rect, text, face, ink, RIGHT if column.side == "encoder" else LEFT)

    # The pointer.

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._picture is None:
            return
        token = self.token_at(event.position())
        edge = self.edge_at(event.position()) if token is None else None
        if (token, edge) == (self._token, self._edge):
            return
        self._token, self._edge = token, edge
        over = token is not None or edge is not None
        shape = Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor
        self.setCursor(shape)
        self.update()
        if token is not None:
            self.tokenHovered.emit(*token)
        elif edge is not None:
            self.edgeHovered.emit(*edge)
        else:
            self.left.emit()

    def leaveEvent(self, event: QEvent) -> None:
        if self._token is not None or self._edge is not None:
            self._token = self._edge = None
            self.update()
            self.left.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._picture is None or event.button() != Qt.MouseButton.LeftButton:
            return
        token = self.token_at(event.position())
        if token is not None:
            self.tokenClicked.emit(*token)
            return
        edge = self.edge_at(event.position())
        if edge is not None:
            self.edgeClicked.emit(*edge)
        else:
            self.groundClicked.emit()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self._tip(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def _tip(self, pos: QPointF) -> str:
        """A word that was cut off or left out, in full."""
        token = self.token_at(pos)
        if token is None or self._picture is None:
            return ""
        side, place = token
        return (self._picture.sources if side == "encoder" else self._picture.targets)[place]


def _path(curves: Array) -> QPainterPath:
    """Cubic curves as one path.   curves: (n, 4, 2)"""
    path = QPainterPath()
    for x0, y0, x1, y1, x2, y2, x3, y3 in curves.reshape(-1, 8).tolist():
        path.moveTo(x0, y0)
        path.cubicTo(x1, y1, x2, y2, x3, y3)
    return path


def _ends(edge: Edge) -> frozenset[Token]:
    kind, row, key = edge
    reader: Token = ("encoder" if kind == "encoder" else "decoder", row)
    return frozenset({reader, ("decoder" if kind == "decoder" else "encoder", key)})
