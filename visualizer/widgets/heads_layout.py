"""Where the pictures of all heads lie: as large as they can be in the room there is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby

from PySide6.QtCore import QRectF

from visualizer.lenses.heads_overview import Head, HeadGroup, HeadsOverview
from visualizer.widgets.canvas import Canvas

# In parts of the font's size: a section's title, the line below a picture, the gaps.
TITLE, CAPTION, GAP, BETWEEN = 2.0, 1.25, 0.45, 1.6
# A cell is at most so many times as wide as high, or as high as wide; a picture so large.
UNEQUAL, LARGEST = 1.6, 15.0


@dataclass(frozen=True, eq=False)
class HeadPlaces:
    """pictures: where each head's picture is painted    cards: the picture and the line below it
    titles: of each section    layers: what stands left of a layer's heads, by site
    """

    pictures: dict[Head, QRectF]
    cards: dict[Head, QRectF]
    titles: tuple[QRectF, ...]
    layers: dict[str, QRectF]

    def head_at(self, x: float, y: float) -> Head | None:
        for head, card in self.cards.items():
            if card.contains(x, y):
                return head
        return None


@dataclass(frozen=True)
class _Form:
    """One way to arrange them: sections side by side or not, so many heads in a line."""

    across: bool
    per_line: int
    width: float
    height: float


def arrange_heads(canvas: Canvas, whole: HeadsOverview) -> HeadPlaces:
    """The arrangement with the largest pictures."""
    sections = [list(some) for _, some in groupby(whole.groups, lambda g: g.attention.kind)]
    if not sections:
        return HeadPlaces({}, {}, (), {})
    most = max(len(group.values) for group in whole.groups)
    forms = [
        _form(canvas, sections, across, per_line)
        for across in (True, False)
        for per_line in sorted({math.ceil(most / lines) for lines in range(1, most + 1)})
    ]
    best = max(forms, key=lambda form: min(form.width, form.height))
    return _placed(canvas, sections, best)


def _form(canvas: Canvas, sections: list[list[HeadGroup]], across: bool, per_line: int) -> _Form:
    em = canvas.em
    beside = len(sections) if across else 1
    room = (canvas.width() - (beside - 1) * BETWEEN * em) / beside - _label(canvas)
    width = room / per_line - GAP * em
    lines = [sum(_lines(group, per_line) for group in section) for section in sections]
    layers = [len(section) for section in sections]
    tall = max(range(len(sections)), key=lambda n: lines[n]) if across else 0
    count = lines[tall] if across else sum(lines)
    groups = layers[tall] if across else sum(layers)
    titles = 1 if across else len(sections)
    free = canvas.height() - titles * (TITLE + 0.4) * em - groups * 0.5 * em
    height = free / count - (CAPTION + GAP) * em
    return _Form(across, per_line, min(width, LARGEST * em), min(height, LARGEST * em))


def _placed(canvas: Canvas, sections: list[list[HeadGroup]], form: _Form) -> HeadPlaces:
    em, label = canvas.em, _label(canvas)
    beside = len(sections) if form.across else 1
    own = label + form.per_line * (form.width + GAP * em)
    # room for the title above a section of few heads
    own = max(own, min(11 * em, (canvas.width() - (beside - 1) * BETWEEN * em) / beside))
    left = max((canvas.width() - beside * own - (beside - 1) * BETWEEN * em) / 2, 0.0)
    pictures: dict[Head, QRectF] = {}
    cards: dict[Head, QRectF] = {}
    layers: dict[str, QRectF] = {}
    titles = []
    y = 0.0
    for section in sections:
        top = 0.0 if form.across else y
        titles.append(QRectF(left + label, top, own - label, 1.5 * em))
        y = top + TITLE * em
        for group in section:
            layers[group.site] = QRectF(left, y, label - 0.4 * em, form.height)
            for head in range(len(group.values)):
                line, column = divmod(head, form.per_line)
                place = QRectF(
                    canvas.snap(left + label + column * (form.width + GAP * em)),
                    canvas.snap(y + line * (form.height + (CAPTION + GAP) * em)),
                    form.width,
                    max(form.height, 1.0),
                )
                picture = _fitted(canvas, place, group)
                pictures[group.site, head] = picture
                below = max(picture.width(), min(3.2 * em, form.width))
                cards[group.site, head] = QRectF(
                    picture.left(), picture.top(), below, picture.height() + CAPTION * em
                )
            lines = _lines(group, form.per_line)
            y += lines * (form.height + (CAPTION + GAP) * em) + 0.5 * em
        if form.across:
            left += own + BETWEEN * em
        else:
            y += 0.4 * em
    return HeadPlaces(pictures, cards, tuple(titles), layers)


def _fitted(canvas: Canvas, place: QRectF, group: HeadGroup) -> QRectF:
    """The picture in its place: cells of much the same sides, in whole device pixels if large."""
    _, rows, columns = group.values.shape
    wide, high = place.width() / max(columns, 1), place.height() / max(rows, 1)
    wide, high = min(wide, UNEQUAL * high), min(high, UNEQUAL * wide)
    ratio = canvas.devicePixelRatioF()

    def whole(cell: float, count: int) -> float:
        pixels = cell * ratio
        return max((int(pixels) if pixels >= 5 else pixels) * count, 1.0) / ratio

    width, height = canvas.snap(whole(wide, columns)), canvas.snap(whole(high, rows))
    return QRectF(place.left(), place.top(), max(width, 1.0), max(height, 1.0))


def _lines(group: HeadGroup, per_line: int) -> int:
    return math.ceil(len(group.values) / per_line)


def _label(canvas: Canvas) -> float:
    """Room for a layer's number, and for the word above it."""
    return 2.7 * canvas.em
