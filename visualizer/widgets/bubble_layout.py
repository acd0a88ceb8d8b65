"""Where the bubbles of a conversation lie, and the lines that their words are broken into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import QTextLayout, QTextOption

from visualizer import fonts
from visualizer.lenses.chat import Bubble, Divider, Talk
from visualizer.widgets.canvas import Face

# In parts of the font's size.
WIDEST, PAD_X, PAD_Y = 44.0, 0.85, 0.42
LINE, SMALL_LINE, DIVIDER = 1.55, 1.3, 2.2
BETWEEN, APART, EDGE = 0.45, 0.95, 0.5
# A bubble leaves so much of the width to the other side.
SHARE = 0.78

Lines = tuple[str, ...]


@dataclass(frozen=True)
class Laid:
    """A bubble or a divider at its place.

    rect: of the bubble, or of the whole divider    lines: of its text
    below: rect, text and whether it warns, of each small line below it
    """

    item: Bubble | Divider
    rect: QRectF
    lines: Lines
    below: tuple[tuple[QRectF, str, bool], ...] = ()

    @property
    def bottom(self) -> float:
        return self.below[-1][0].bottom() if self.below else self.rect.bottom()


class Breaker:
    """Breaks texts into lines, each once."""

    KEPT = 2000

    def __init__(self) -> None:
        self._found: dict[tuple[str, int, str], Lines] = {}

    def lines(self, text: str, room: float, face: Face) -> Lines:
        key = (text, round(room), face.font.key())
        found = self._found.get(key)
        if found is None:
            if len(self._found) > self.KEPT:
                self._found.clear()
            found = self._found[key] = _broken(text, room, face)
        return found


def _broken(text: str, room: float, face: Face) -> Lines:
    layout = QTextLayout(text, face.font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    lines: list[str] = []
    layout.beginLayout()
    while (line := layout.createLine()).isValid():
        line.setLineWidth(room)
        start, length = line.textStart(), line.textLength()
        lines.append(text[start : start + length].rstrip())
    layout.endLayout()
    return tuple(lines) or ("",)


def laid_out(
    talk: Talk, width: float, em: float, face: Callable[[float], Face], breaker: Breaker
) -> tuple[tuple[Laid, ...], float]:
    """Everything at its place from the top down, and the height that it takes."""
    found: list[Laid] = []
    y = EDGE * em
    for item in talk:
        if isinstance(item, Divider):
            rect = QRectF(0, y, width, DIVIDER * em)
            found.append(Laid(item, rect, (item.text,)))
        else:
            found.append(_bubble(item, y, width, em, face, breaker))
        asked = isinstance(item, Bubble) and item.side == "user"
        y = found[-1].bottom + (BETWEEN if asked else APART) * em
    return tuple(found), y - (APART - EDGE) * em if found else 0.0


def _bubble(
    item: Bubble,
    top: float,
    width: float,
    em: float,
    face: Callable[[float], Face],
    breaker: Breaker,
) -> Laid:
    text, small = face(fonts.LARGE), face(fonts.SMALL)
    most = min(SHARE * width, WIDEST * em)
    lines = breaker.lines(item.text, most - 2 * PAD_X * em, text)
    wide = max(max(map(text.width, lines)) + 2 * PAD_X * em, 2.6 * em)
    high = (len(lines) * LINE + 2 * PAD_Y) * em
    right = item.side == "user"
    rect = QRectF(width - EDGE * em - wide if right else EDGE * em, top, wide, high)
    below = []
    y = rect.bottom() + 0.15 * em
    for words, warns in ((item.note, False), (item.warning, True)):
        for line in breaker.lines(words, most, small) if words else ():
            long = min(small.width(line) + 1.0, width)
            x = rect.right() - long - 0.2 * em if right else rect.left() + 0.2 * em
            below.append((QRectF(x, y, long, SMALL_LINE * em), line, warns))
            y += SMALL_LINE * em
    return Laid(item, rect, lines, tuple(below))
