"""Where the nodes of a beam search's tree lie, and the curves between them."""

from __future__ import annotations

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
# What the mark and the place of a finished one take behind the last column.
BEHIND = 1.4
# What is left of the type where the tree is zoomed out, and how large it becomes.
SMALLEST_TYPE, LARGEST_TYPE = 0.72, 1.15


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
        middle = start.height() / 2 + down
        x0, y0, x1, y1 = start.right(), start.top() + middle, end.left(), end.top() + middle
        bend = min((x1 - x0) / 2, 4.4 * middle)
        path = QPainterPath(QPointF(x0, y0))
        # a long way is straight first, so that what shares its start shares its beginning
        path.cubicTo(QPointF(x0 + bend, y0), QPointF(x1 - bend, y1), QPointF(x1, y1))
        return path


@dataclass(frozen=True)
class Measures:
    """The sizes that all of a tree shares.

    own, gap: the width of a column and from one to the next    pitch: from row to row
    high: of a box    score: the width of the widest number
    """

    flat: bool
    own: float
    gap: float
    pitch: float
    high: float
    score: float
    width: float
    height: float


def arrange(
    canvas: Canvas,
    tree: BeamTree,
    texts: tuple[str, ...],
    room: tuple[float, float],
    bar: float,
    zoom: float,
) -> Places:
    """As wide and as high as there is room, but never so narrow that nothing can be read.

    texts: what stands below the nodes    room: (width, height)    bar: what a scroll bar takes
    """
    kind = min(max(zoom, SMALLEST_TYPE), LARGEST_TYPE)
    faces = canvas.face(kind), canvas.face(fonts.SMALL * kind)
    tokens = tuple(node.token for node in tree.nodes)
    token = min(faces[0].widest(tokens), LONGEST * canvas.em * kind) + 1.1 * canvas.em
    score = faces[1].widest(texts)
    sizes = _measured(canvas.em, tree, room, token, score, zoom)
    across, down = sizes.width > room[0], sizes.height > room[1]
    if across or down:
        # a bar takes room from the other way
        room = (room[0] - bar * down, room[1] - bar * across)
        sizes = _measured(canvas.em, tree, room, token, score, zoom)
    return _placed(canvas, tree, sizes, room, faces)


def _measured(
    em: float,
    tree: BeamTree,
    room: tuple[float, float],
    token: float,
    score: float,
    zoom: float,
) -> Measures:
    pad = EDGE * em
    pitch = (room[1] - 2 * pad) / max(tree.rows, 1)
    flat = pitch < LEAST_TALL * em
    pitch = min(max(pitch, LEAST_FLAT * em), FLAT * em) if flat else min(pitch, TALL * em)
    own = token + score + 0.3 * em if flat else max(token, score, 3.2 * em)
    gaps = max(tree.columns - 1, 1)
    free = (room[0] - 2 * pad - BEHIND * em - tree.columns * own) / gaps
    gap = min(max(free, LEAST_GAP * em), MOST_GAP * em) * zoom
    high = min(0.82 * pitch, 1.5 * em) if flat else min(pitch - 1.15 * em, 1.75 * em)
    across = 2 * pad + BEHIND * em + tree.columns * own + gaps * gap
    down = 2 * pad + tree.rows * pitch
    return Measures(flat, own, gap, pitch, high, score, across, down)


def _placed(
    canvas: Canvas,
    tree: BeamTree,
    sizes: Measures,
    room: tuple[float, float],
    faces: tuple[Face, Face],
) -> Places:
    em, snap, own, gap, high = canvas.em, canvas.snap, sizes.own, sizes.gap, sizes.high
    pad = EDGE * em
    # a tree that is lower than its room lies near its upper end
    top = pad + max(min((room[1] - sizes.height) / 2, 1.5 * em), 0.0)
    xs = [snap(pad + column * (own + gap)) for column in range(tree.columns)]
    ys = [snap(top + row * sizes.pitch) for row in range(tree.rows)]
    wide, tall = snap(own), snap(high)
    nodes = [QRectF(xs[node.column], ys[node.row], wide, tall) for node in tree.nodes]
    if sizes.flat:
        inset = wide - sizes.score - 0.45 * em
        scores = [QRectF(xs[n.column] + inset, ys[n.row], sizes.score, tall) for n in tree.nodes]
    else:
        more, line = 0.4 * gap, 1.15 * em
        scores = [
            QRectF(xs[n.column] - more, ys[n.row] + tall, wide + 2 * more, line) for n in tree.nodes
        ]
    rests = [QRectF(xs[r.column], ys[r.row], wide + 0.8 * gap, tall) for r in tree.rests]
    height = max(sizes.height, top + tree.rows * sizes.pitch)
    return Places(nodes, scores, rests, sizes.flat, sizes.width, height, *faces)
