"""Where the tokens and the curves of all attention at once lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QRectF

from visualizer import fonts
from visualizer.lenses.linked import Edges, LinkedTokens, Side, Token
from visualizer.lenses.token_labels import token_labels
from visualizer.widgets.canvas import Canvas
from visualizer.widgets.heatmap_layout import SMALLEST_LABEL, round_step

Array = np.ndarray[Any, Any]

# Points that a curve is measured by where the pointer looks for it.
MEASURED = 25
_STEPS = np.linspace(0.0, 1.0, MEASURED)[:, None]
# Bernstein's polynomials at these: (points, 4)
_BASIS = np.hstack(
    [
        (1 - _STEPS) ** 3,
        3 * _STEPS * (1 - _STEPS) ** 2,
        3 * _STEPS**2 * (1 - _STEPS),
        _STEPS**3,
    ]
)


@dataclass(frozen=True, eq=False)
class Column:
    """The tokens of one side, one below the other.

    y: (tokens,) middles    pitch: from one to the next    scale: of the words
    step: every so manieth word is written    words, notes: (left, right) of the words and of the
    small words beside them; ends: where the curves on its left and on its right begin
    """

    side: Side
    y: Array
    pitch: float
    scale: float
    step: int
    words: tuple[float, float]
    notes: tuple[float, float] | None
    ends: tuple[float, float]

    def at(self, x: float, y: float) -> int | None:
        """The token at a position; between two the nearer one."""
        if not len(self.y) or not self.ends[0] <= x <= self.ends[1]:
            return None
        place = int(np.abs(self.y - y).argmin())
        reach = max(min(self.pitch, 2 * (self.words[1] - self.words[0])) / 2, 4.0)
        return place if abs(float(self.y[place]) - y) <= reach else None


@dataclass(frozen=True, eq=False)
class Places:
    """Everything's place, in logical pixels.

    depths: how far the curves of the encoder and of the decoder reach
    titles: where the name of each part stands, by kind
    """

    columns: dict[Side, Column]
    depths: dict[Side, float]
    titles: dict[str, QRectF]
    widest: float

    def token_at(self, x: float, y: float) -> Token | None:
        for side, column in self.columns.items():
            place = column.at(x, y)
            if place is not None:
                return side, place
        return None

    def curves(self, edges: Edges) -> Array:
        """(n, 4, 2): the points of each edge's cubic curve, from the key to the reader."""
        if edges.kind == "cross":
            source, target = self.columns["encoder"], self.columns["decoder"]
            x0, x1 = source.ends[1], target.ends[0]
            y0, y1 = source.y[edges.keys], target.y[edges.readers]
            # the curves leave a word straight, and cross in the middle
            middle = (x0 + x1) / 2
            return _cubic(x0, y0, middle, middle, x1, y1)
        side: Side = edges.kind
        column = self.columns[side]
        x0 = column.ends[0] if side == "encoder" else column.ends[1]
        sign = -1.0 if side == "encoder" else 1.0
        span = np.abs(edges.readers - edges.keys)
        most = max(len(column.y) - 1, 1)
        depth = self.depths[side] * (0.3 + 0.7 * (np.maximum(span, 1) / most) ** 0.7)
        # reading what comes later lies within reading what came before
        depth = np.where(edges.keys > edges.readers, 0.8 * depth, depth)
        depth = np.where(span == 0, 0.22 * self.depths[side], depth)
        y0, y1 = column.y[edges.keys], column.y[edges.readers]
        # a token that reads itself: a loop
        loop = np.where(span == 0, min(0.42 * column.pitch, 0.5 * self.depths[side]), 0.0)
        reach = x0 + sign * depth * 4 / 3
        found = _cubic(x0, y0, reach, reach, x0, y1)
        found[:, 1, 1] -= loop
        found[:, 2, 1] += loop
        return found


def measured(curves: Array) -> Array:
    """(n, MEASURED, 2): points along each curve."""
    return np.einsum("pk,nkc->npc", _BASIS, curves)


def distances(points: Array, x: float, y: float) -> Array:
    """(n,): how far a position is from each line through its points.   points: (n, p, 2)"""
    start, way = points[:, :-1], np.diff(points, axis=1)
    there = np.array([x, y]) - start
    length = np.maximum((way**2).sum(axis=-1), 1e-12)
    part = np.clip((there * way).sum(axis=-1) / length, 0.0, 1.0)
    apart = there - part[..., None] * way
    return np.sqrt((apart**2).sum(axis=-1).min(axis=1))


def arrange_linked(canvas: Canvas, picture: LinkedTokens) -> Places:
    """The encoder's curves, its tokens, what crosses, the target tokens, the decoder's curves."""
    em, width = canvas.em, float(canvas.width())
    top, bottom = 1.3 * em, canvas.height() - 2.9 * em
    sources, targets = len(picture.sources), picture.all_rows
    large, small = canvas.face(fonts.LARGE), canvas.face(fonts.SMALL)

    def widest(texts: tuple[str, ...], face: Any, most: float) -> float:
        return min(max((face.width(text) for text in texts), default=0.0), most)

    source_w = widest(picture.sources, large, 0.16 * width)
    typed_w = widest(picture.source_notes, small, 0.1 * width)
    # of all rows of the run, so that nothing moves while one steps
    tape = picture.run.tape
    assert tape is not None
    words = token_labels(tape.target_tokens) if targets else ()
    notes = tuple(f"→ {token}" for token in token_labels(tape.predicted_tokens)) if targets else ()
    target_w, note_w = widest(words, large, 0.14 * width), widest(notes, small, 0.12 * width)
    gap = 0.55 * em
    taken = source_w + (typed_w + gap if typed_w else 0.0) + 2 * gap
    if targets:
        taken += target_w + 0.8 * em + note_w + 2 * gap
    free = max(width - taken - 1.6 * em, 6 * em)
    if targets:
        depth, across = min(0.25 * free, 13 * em), min(0.5 * free, 27 * em)
        used = taken + 2 * depth + across
    else:
        depth, across = min(0.7 * free, 24 * em), 0.0
        used = taken + depth
    # half of the room of two sides is worth more than a middle that is too empty
    x = max((width - used) / 2, 0.8 * em) + depth
    span = _span(bottom - top, max(sources, targets), em)
    columns: dict[Side, Column] = {}
    titles: dict[str, QRectF] = {}
    line = canvas.height() - 2.1 * em

    def title(kind: str, left: float, right: float) -> None:
        middle, half = (left + right) / 2, max((right - left) / 2, 7 * em)
        titles[kind] = QRectF(middle - half, line, 2 * half, 1.5 * em)

    start, left = x, x + gap
    typed = None
    if typed_w:
        typed = (left, left + typed_w)
        left += typed_w + gap
    right = left + source_w
    columns["encoder"] = _column(
        "encoder", sources, span, top, bottom, em, (left, right), typed, (start, right + gap)
    )
    title("encoder", start - depth, right)
    if targets:
        x0 = right + gap
        x1 = x0 + across
        words_right = x1 + gap + target_w
        note = (words_right + 0.8 * em, words_right + 0.8 * em + note_w)
        columns["decoder"] = _column(
            "decoder",
            targets,
            span,
            top,
            bottom,
            em,
            (x1 + gap, words_right),
            note,
            (x1, note[1] + gap),
        )
        title("cross", x0, x1)
        title("decoder", note[0], note[1] + gap + depth)
        columns["decoder"] = _shortened(columns["decoder"], len(picture.targets))
    pitch = min(column.pitch for column in columns.values())
    return Places(
        columns,
        {"encoder": depth, "decoder": depth},
        {kind: rect for kind, rect in titles.items() if kind in picture.attentions},
        max(min(0.55 * em, 0.4 * pitch), 1.0),
    )


def _cubic(x0: float, y0: Array, c0: Any, c1: Any, x1: float, y1: Array) -> Array:
    found = np.empty((len(y0), 4, 2))
    found[:, 0, 0], found[:, 1, 0], found[:, 2, 0], found[:, 3, 0] = x0, c0, c1, x1
    found[:, :2, 1], found[:, 2:, 1] = y0[:, None], y1[:, None]
    return found


def _span(room: float, most: int, em: float) -> float:
    """From the first token to the last of the longer side."""
    if most < 2:
        return 0.0
    # a few tokens alone may stand further apart
    apart = max(4.2, 26 / most)
    return min(max(room - 1.6 * em, em), (most - 1) * min(apart, 8.0) * em)


def _column(
    side: Side,
    count: int,
    span: float,
    top: float,
    bottom: float,
    em: float,
    words: tuple[float, float],
    notes: tuple[float, float] | None,
    ends: tuple[float, float],
) -> Column:
    own = min(span, (count - 1) * max(5.0, min(26 / max(count, 1), 8.0)) * em)
    pitch = own / (count - 1) if count > 1 else 3.0 * em
    first = (top + bottom - own) / 2
    scale = min(max(pitch / (1.5 * em), SMALLEST_LABEL), fonts.LARGE)
    line = 1.2 * em * scale
    step = 1 if pitch >= line - 0.5 else round_step(line / pitch)
    return Column(side, first + pitch * np.arange(count), pitch, scale, step, words, notes, ends)


def _shortened(column: Column, count: int) -> Column:
    """The first tokens only, where the whole column puts them."""
    return Column(
        column.side,
        column.y[:count],
        column.pitch,
        column.scale,
        column.step,
        column.words,
        column.notes,
        column.ends,
    )
