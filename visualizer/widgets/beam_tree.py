"""The tree of a beam search, drawn: what was kept, pruned and finished, and why it was the best."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import ClassVar

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QScrollArea, QToolTip, QWidget

from visualizer import fonts
from visualizer.lenses.beam_tree import BeamTree, Ids, Node
from visualizer.lenses.beam_words import (
    node_tip,
    path_words,
    rest_text,
    rest_tip,
    score_of,
    score_text,
)
from visualizer.theme import Theme
from visualizer.tree_view import ScoreKind
from visualizer.widgets.beam_layout import Places, arrange
from visualizer.widgets.canvas import LEFT, NO_PEN, RIGHT, Canvas, box, ink, write
from visualizer.widgets.heatmap_layout import BETWEEN, BUTTON
from visualizer.widgets.zoom_buttons import ZoomButtons

# What is left of the tree while a path is lit.
FADED_TO = 0.35
STEP = 1.25
DASHES = [3.0, 2.5]
# Curves to pruned and kept ones, of the traced path and of the best: colour and width.
EDGES = (("border_strong", 0.09), ("muted", 0.09), ("accent", 0.18), ("output", 0.24))


def _strength(node: Node) -> int:
    """The place in EDGES of the curve that leads to a node; what is stronger is drawn later."""
    return 3 if node.best else 2 if node.traced else int(node.kept)


def diamond(painter: QPainter, middle: QPointF, reach: float, colour: QColor | str) -> None:
    """The mark of what is finished."""
    x, y = middle.x(), middle.y()
    painter.setPen(NO_PEN)
    painter.setBrush(ink(colour))
    painter.drawPolygon(
        QPolygonF(
            [
                QPointF(x - reach, y),
                QPointF(x, y - reach),
                QPointF(x + reach, y),
                QPointF(x, y + reach),
            ]
        )
    )


class BeamTreeCanvas(Canvas):
    """hovered(ids of the token under the pointer, None beside them all), clicked(ids),
    zoomWanted(factor).
    """

    hovered = Signal(object)
    clicked = Signal(object)
    zoomWanted = Signal(float)
    # (flag of a node, how far from the middle, colour, width): the paths laid on the tree
    LAID: ClassVar = (("greedy", -0.16, "text", DASHES), ("sampled", 0.16, "decoder", None))

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.set_ground("surface")
        self._tree: BeamTree | None = None
        self._score: ScoreKind = "normalised"
        self._zoom = 1.0
        self._room = (0, 0)
        self._bar = 0
        self._places: Places | None = None
        self._texts: tuple[str, ...] = ()
        self._at: int | None = None

    def set_tree(self, tree: BeamTree | None, score: ScoreKind, zoom: float) -> None:
        """zoom: 1 as wide as there is room"""
        if tree is self._tree and (score, zoom) == (self._score, self._zoom):
            return
        before, self._tree = self._tree, tree
        ids = before.nodes[self._at].ids if before is not None and self._at is not None else None
        same = tree is not None and before is not None and tree.search is before.search
        self._at = tree.place_of(ids) if same and tree is not None and ids is not None else None
        self._score, self._zoom = score, zoom
        self._texts = ()
        if tree is not None:
            texts = (score_text(score_of(node, score)) for node in tree.nodes[1:])
            self._texts = ("", *texts)
        self._fit()

    def set_room(self, width: int, height: int, bar: int) -> None:
        """What of it can be seen at once.   bar: what a scroll bar takes of that"""
        if (width, height, bar) != (*self._room, self._bar):
            self._room, self._bar = (width, height), bar
            self._fit()

    def _fit(self) -> None:
        self._places = None
        if self._tree is not None:
            places = self.places()
            # what fits to a hair fits
            self.resize(math.ceil(places.width - 0.01), math.ceil(places.height - 0.01))
        else:
            self.resize(*self._room)
        self.update()

    @property
    def tree(self) -> BeamTree | None:
        return self._tree

    @property
    def texts(self) -> tuple[str, ...]:
        """What stands below the nodes, by their places."""
        return self._texts

    @property
    def lit(self) -> int | None:
        """The place of the node whose path is lit."""
        return self._at

    # Places.

    def relayout(self) -> None:
        self._places = None

    def places(self) -> Places:
        assert self._tree is not None
        if self._places is None:
            self._places = arrange(self, self._tree, self._texts, self._room, self._bar, self._zoom)
        return self._places

    def node_at(self, pos: QPointF) -> int | None:
        """The place of the node at a position."""
        return None if self._tree is None else self.places().node_at(pos)

    def node_rect(self, place: int) -> QRectF:
        return self.places().nodes[place]

    # Painting.

    def paint(self, painter: QPainter) -> None:
        tree = self._tree
        if tree is None:
            return
        if self._at is not None:
            painter.setOpacity(FADED_TO)
        key = (tree, self._score, self._zoom, self._room)
        self.layer(painter, "tree", key, self._draw_tree)
        painter.setOpacity(1.0)
        if self._at is not None:
            self._draw_lit(painter, tree.path(self._at))

    def _draw_tree(self, painter: QPainter) -> None:
        tree, places = self._tree, self.places()
        assert tree is not None
        seen = self._seen(painter)
        shown = [p for p in range(len(tree.nodes)) if seen.intersects(places.nodes[p])]
        painter.setBrush(Qt.BrushStyle.NoBrush)
        pens = [self._edge(strength) for strength in range(len(EDGES))]
        for place in sorted(shown, key=lambda p: _strength(tree.nodes[p])):
            node = tree.nodes[place]
            if node.parent is not None and node.hypothesis is not None:
                painter.setPen(pens[_strength(node)])
                painter.drawPath(places.curve(node.parent, place))
        self._draw_laid(painter, tree)
        for place in shown:
            self._draw_node(painter, place, tree.nodes[place])
        for rest, rect in zip(tree.rests, places.rests, strict=True):
            write(painter, rect, rest_text(rest), places.score_face, self.theme.muted, LEFT)

    def _seen(self, painter: QPainter) -> QRectF:
        """What of the tree comes to the screen, with the curves that lead there."""
        if painter.device() is not self:
            return QRectF(self.rect())
        seen, wide = QRectF(self.visibleRegion().boundingRect()), self.places().nodes[0].width()
        return seen.adjusted(-2 * wide, -self.height(), 2 * wide, self.height())

    def _edge(self, strength: int) -> QPen:
        colour, width = EDGES[strength]
        return QPen(self.theme.color(colour), width * self.em)

    def _draw_laid(self, painter: QPainter, tree: BeamTree) -> None:
        """The paths of other ways of choosing, beside the edges that they share."""
        places = self.places()
        for name, side, colour, dashes in self.LAID:
            pen = QPen(self.theme.color(colour), 0.11 * self.em)
            if dashes is not None:
                pen.setDashPattern(dashes)
            path = QPainterPath()
            for place, node in enumerate(tree.nodes):
                if getattr(node, name) and node.parent is not None:
                    down = side * self.em if node.hypothesis is not None else 0.0
                    path.addPath(places.curve(node.parent, place, down))
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(path)

    def _draw_node(self, painter: QPainter, place: int, node: Node) -> None:
        theme, em, places = self.theme, self.em, self.places()
        rect, aside = places.nodes[place], node.hypothesis is None and node.parent is not None
        fill, border, text = theme.chip, theme.border_strong, theme.text
        if node.best:
            fill, border, text = theme.output_fill, theme.output_fill, theme.on_output
        elif aside or not node.kept:
            fill, border, text = theme.surface, theme.border, theme.muted
        if node.traced and not node.best:
            fill = theme.accent_tint
        width = 0.14 * em if node.traced and not node.best else 1.0
        if node.traced and not node.best:
            border, text = theme.accent, theme.text
        box(painter, rect, fill, border, 0.4 * em, width, dash=aside)
        inner = rect.adjusted(0.35 * em, 0, -0.35 * em, 0)
        if places.flat and node.parent is not None:
            inner.setRight(places.scores[place].left() - 0.15 * em)
            write(painter, inner, node.token, places.token_face, text, LEFT)
        else:
            write(painter, inner, node.token, places.token_face, text)
        if node.parent is not None:
            number = text if places.flat else theme.muted
            align = RIGHT if places.flat else Qt.AlignmentFlag.AlignCenter
            write(
                painter, places.scores[place], self._texts[place], places.score_face, number, align
            )
        if node.finished:
            self._draw_end(painter, rect, node)

    def _draw_end(self, painter: QPainter, rect: QRectF, node: Node) -> None:
        theme, em = self.theme, self.em
        colour = theme.output if node.best else theme.text if node.kept else theme.muted
        # inside the last pixels of the box it would hide a long token
        middle = QPointF(rect.right() + 0.1 * em, rect.center().y())
        diamond(painter, middle, 0.45 * em, theme.surface)
        diamond(painter, middle, 0.34 * em, colour)
        if node.rank is not None:
            beside = QRectF(rect.right() + 0.55 * em, rect.top(), 1.4 * em, rect.height())
            write(painter, beside, str(node.rank + 1), self.face(0.75), theme.muted, LEFT)

    def _draw_lit(self, painter: QPainter, path: list[int]) -> None:
        tree, places, theme = self._tree, self.places(), self.theme
        assert tree is not None
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color("accent"), 0.24 * self.em))
        for parent, child in pairwise(path):
            painter.drawPath(places.curve(parent, child))
        for place in path:
            self._draw_node(painter, place, tree.nodes[place])
        frame = places.nodes[path[-1]].adjusted(-2, -2, 2, 2)
        box(painter, frame, None, theme.accent, 0.5 * self.em, 0.14 * self.em)

    # The pointer.

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point_at(self.node_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._point_at(None)

    def _point_at(self, place: int | None) -> None:
        tree = self._tree
        # nothing is chosen at the root
        place = None if tree is not None and place is not None and not place else place
        if place == self._at or tree is None:
            return
        self._at = place
        shape = Qt.CursorShape.ArrowCursor
        if place is not None and tree.nodes[place].hypothesis is not None and tree.search.done:
            shape = Qt.CursorShape.PointingHandCursor
        self.setCursor(shape)
        self.setAccessibleDescription("" if place is None else path_words(tree, place))
        self.update()
        self.hovered.emit(None if place is None else tree.nodes[place].ids)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place, tree = self.node_at(event.position()), self._tree
        if event.button() != Qt.MouseButton.LeftButton or not place or tree is None:
            return
        # what a laid path alone has is no hypothesis; and a search that goes on would start anew
        if tree.nodes[place].hypothesis is not None and tree.search.done:
            self.clicked.emit(tree.nodes[place].ids)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoomWanted.emit(STEP ** (event.angleDelta().y() / 120))
            event.accept()
        else:
            event.ignore()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.tip(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def tip(self, pos: QPointF) -> str:
        """All numbers of what lies there."""
        tree, place = self._tree, self.node_at(pos)
        if tree is None:
            return ""
        if place is not None:
            return node_tip(tree.nodes[place])
        rest = self.places().rest_at(pos)
        return "" if rest is None else rest_tip(tree.rests[rest])


class BeamTreeView(QScrollArea):
    """The tree in the room there is; what has none is scrolled to."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.canvas = BeamTreeCanvas()
        self.setWidget(self.canvas)
        self.setCornerWidget(QWidget())
        # whoever has the view puts them where they hide nothing
        self.zoom_buttons = ZoomButtons()
        em = fonts.em(self.font())
        size = QRectF(0, 0, (3 * BUTTON + 2 * BETWEEN) * em, BUTTON * em)
        self.zoom_buttons.place(size)
        self.zoom_buttons.setFixedSize(size.toAlignedRect().size())
        self.zoom_buttons.larger.connect(lambda: self.canvas.zoomWanted.emit(STEP))
        self.zoom_buttons.smaller.connect(lambda: self.canvas.zoomWanted.emit(1 / STEP))
        self.zoom_buttons.fit.connect(lambda: self.canvas.zoomWanted.emit(0.0))

    def set_tree(self, tree: BeamTree | None, score: ScoreKind, zoom: float) -> None:
        self.canvas.set_tree(tree, score, zoom)
        if tree is not None and not tree.search.done:
            # where it grows
            bar = self.horizontalScrollBar()
            bar.setValue(bar.maximum())

    def show_ids(self, ids: Ids) -> None:
        """Have a node in view."""
        tree = self.canvas.tree
        place = None if tree is None else tree.place_of(ids)
        if place is not None:
            middle, em = self.canvas.node_rect(place).center(), round(5 * self.canvas.em)
            self.ensureVisible(round(middle.x()), round(middle.y()), em, em)

    def set_theme(self, theme: Theme) -> None:
        self.viewport().setStyleSheet(f"background: {theme.surface}")

    def minimumSizeHint(self) -> QSize:
        em = fonts.em(self.font())
        return QSize(round(24 * em), round(9 * em))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        size = self.maximumViewportSize()
        bar = self.verticalScrollBar().sizeHint().width()
        self.canvas.set_room(size.width(), size.height(), bar)
