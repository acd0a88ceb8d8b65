"""Where the nodes of a beam search's tree lie, and the curves between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainterPath

from visualizer import fonts
from visualizer.lenses.beam_tree import BeamTree
from visualizer.widgets.canvas import Canvas, Face

# Heights of a row in parts of the font's size: with the score below the token, and beside it.
TALL, LEAST_TALL, FLAT, LEAST_FLAT = 4.1, 2.65, 2.0, 1.62
# The longest token that is written in full, and the room between two columns.
LONGEST, LEAST_GAP, MOST_GAP = 6.5, 2.0, 5.0
EDGE = 0.6
# What is left of the type where the tree is zoomed out.
SMALLEST_TYPE = 0.72


@dataclass(frozen=True, eq=False)
class Places:
    """Everything's place, in logical pixels.

    nodes, scores: boxes of the tokens and of the numbers, by the nodes' places
    rests: of what is summed up    flat: whether scores stand inside the boxes
    """

    nodes: list[QRectF]
    scores: list[QRectF]
    rests: list[QRectF]
    flat: bool
    width: float
    height: float
    token_face: Face
    score_face: Face

    def node_at(self, pos: QPointF) -> int | None:
        for place, rect in enumerate(self.nodes):
            if rect.united(self.scores[place]).contains(pos):
                return place
        return None

    def rest_at(self, pos: QPointF) -> int | None:
        for place, rect in enumerate(self.rests):
            if rect.contains(pos):
                return place
        return None

    def curve(self, parent: int, child: int, down: float = 0.0) -> QPainterPath:
        """From a node to its child.   down: how far below the middle"""
        start, end = self.nodes[parent], self.nodes[child]
        x0, y0 = start.right(), start.center().y() + down
        x1, y1 = end.left(), end.center().y() + down
        bend = min((x1 - x0) / 2, 2.2 * (end.height()))
        path = QPainterPath(QPointF(x0, y0))
        # a long way is straight first, so that what shares its start shares its beginning
        path.cubicTo(QPointF(x0 + bend, y0), QPointF(x1 - bend, y1), QPointF(x1, y1))
        return path


def arrange(
    canvas: Canvas, tree: BeamTree, texts: Sequence[str], room: tuple[float, float], zoom: float
) -> Places:
    """As wide and as high as there is room, but never so narrow that nothing can be read.

    texts: what stands below the nodes    room: (width, height)
    """
    em, (width, height) = canvas.em, room
    kind = min(max(zoom, SMALLEST_TYPE), 1.15)
    pad, pitch = EDGE * em, (height - 2 * EDGE * em) / max(tree.rows, 1)
    flat = pitch < LEAST_TALL * em
    pitch = min(max(pitch, LEAST_FLAT * em), FLAT * em) if flat else min(pitch, TALL * em)
    token_face, score_face = canvas.face(kind), canvas.face(fonts.SMALL * kind)
    tokens = tuple(node.token for node in tree.nodes)
    token_width = min(token_face.widest(tokens), LONGEST * em * kind) + 1.1 * em
    score_width = score_face.widest(tuple(texts))
    own = token_width + score_width + 0.3 * em if flat else max(token_width, score_width, 3.2 * em)
    gaps = max(tree.columns - 1, 1)
    free = (width - 2 * pad - 1.4 * em - tree.columns * own) / gaps
    gap = min(max(free, LEAST_GAP * em), MOST_GAP * em) * zoom
    high = min(0.82 * pitch, 1.5 * em) if flat else min(pitch - 1.15 * em, 1.75 * em)
    total = 2 * pad + tree.rows * pitch
    top = pad + max(min((height - total) / 2, 1.5 * em), 0.0)
    nodes, scores = [], []
    for node in tree.nodes:
        x, y = pad + node.column * (own + gap), top + node.row * pitch
        box = QRectF(canvas.snap(x), canvas.snap(y), canvas.snap(own), canvas.snap(high))
        nodes.append(box)
        if flat:
            scores.append(QRectF(box.right() - score_width - 0.45 * em, y, score_width, high))
        else:
            scores.append(QRectF(x - 0.4 * gap, box.bottom(), own + 0.8 * gap, 1.15 * em))
    rests = [
        QRectF(pad + r.column * (own + gap), top + r.row * pitch, own + 0.8 * gap, high)
        for r in tree.rests
    ]
    across = 2 * pad + 1.4 * em + tree.columns * own + gaps * gap
    return Places(
        nodes, scores, rests, flat, across, max(total, top + tree.rows * pitch), token_face,
        score_face,
    )  # fmt: skip
