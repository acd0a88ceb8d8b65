"""Give the bundled font's shared punctuation the width it has in Latin text.

    pip install fonttools && python tools/proportional_signs.py IN.otf OUT.otf

Noto Sans CJK SC draws … · × and the curly quotes one em wide, as Chinese typesetting wants them;
"Open…" and "2+2 layers · 4 heads" then fall apart. The subset has no layout features that could
choose the proportional forms, so the outlines are moved and the advances set here.
"""

from __future__ import annotations

import sys

from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont

# sign -> white on each side, in thousandths of an em
SIDES = {"·": 60, "×": 50, "‘": 50, "’": 50, "“": 50, "”": 50}


def redraw(font: TTFont, name: str, source: str, shifts: tuple[float, ...], advance: int) -> None:
    """Replace a glyph by copies of `source`, moved to the right by each of `shifts`."""
    glyphs = font.getGlyphSet()
    top = font["CFF "].cff.topDictIndex[0]
    old = top.CharStrings[name]
    nominal = old.private.nominalWidthX
    pen = T2CharStringPen(advance - nominal, glyphs)
    for shift in shifts:
        glyphs[source].draw(TransformPen(pen, (1, 0, 0, 1, shift, 0)))
    top.CharStrings[name] = pen.getCharString(old.private, old.globalSubrs)
    bounds = BoundsPen(font.getGlyphSet())
    font.getGlyphSet()[name].draw(bounds)
    font["hmtx"][name] = (advance, round(bounds.bounds[0]))


def main(source: str, target: str) -> None:
    font = TTFont(source)
    names = font.getBestCmap()
    for sign, side in SIDES.items():
        name = names[ord(sign)]
        bounds = BoundsPen(font.getGlyphSet())
        font.getGlyphSet()[name].draw(bounds)
        left, _, right, _ = bounds.bounds
        redraw(font, name, name, (side - left,), round(right - left) + 2 * side)
    period = names[ord(".")]
    step = font["hmtx"][period][0]
    redraw(font, names[ord("…")], period, (0, step, 2 * step), 3 * step)
    font.save(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
