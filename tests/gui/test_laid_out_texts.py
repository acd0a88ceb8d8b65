"""Texts that are laid out are kept for as long as they are asked for, and not for ever."""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontMetricsF

from visualizer.widgets.canvas import Face, Recent


def held(kept: Recent) -> int:
    return len(kept) + len(kept._before)


def test_a_text_that_is_asked_for_again_and_again_is_made_once():
    made: list[str] = []
    kept = Recent(lambda text: made.append(text) or text.upper())
    for number in range(4000):
        assert kept["often"] == "OFTEN"
        assert kept[f"line {number}"] == f"LINE {number}"
    # a plain dict answers what it has without a word, so a room that filled up asks for it once
    assert made.count("often") <= 1 + 4000 * 30 // Recent.ROOM
    assert len(made) >= 4001


def test_what_is_never_asked_for_again_goes():
    kept = Recent(len)
    for number in range(20_000):
        assert kept[f"{number} " * 40] > 0
    assert held(kept) <= 2 * Recent.ROOM // (Recent.ALONE + 80)


def test_a_picture_of_numbers_fits_in_twice(qapp):
    face = Face(QFont(), QFontMetricsF(QFont()))
    numbers = [f"{number / 100:.2f}" for number in range(900)]
    first = [face.laid_out(text) for text in numbers]
    again = [face.laid_out(text) for text in numbers]
    assert all(a is b for a, b in zip(first, again, strict=True))
    assert face.width("0.25") == face.metrics.horizontalAdvance("0.25")
