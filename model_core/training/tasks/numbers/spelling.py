"""Whole numbers below a million as British English spells them, and from which figure each word is.

"and" stands between the hundreds and what follows them, and between the thousands and what is
less than a hundred: 1005 is "one thousand and five". A hyphen joins tens and units.
"""

from __future__ import annotations

from model_core.training.datasets import NONE, Pair

SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
LARGEST = 999_999

# A word, and how many figures from the right the one stands that it is from; -1: from none.
Words = list[tuple[str, int]]


def below_hundred(value: int, place: int) -> Words:
    """1 to 99; `place` is that of the units. Eleven to nineteen are told by their units."""
    if value < 20:
        return [(SMALL[value], place + 1 if value == 10 else place)]
    tens, units = divmod(value, 10)
    if not units:
        return [(TENS[tens], place + 1)]
    return [(f"{TENS[tens]}-", place + 1), (SMALL[units], place)]


def below_thousand(value: int, place: int) -> Words:
    """1 to 999; `place` is that of the units."""
    hundreds, rest = divmod(value, 100)
    words: Words = []
    if hundreds:
        words = [(SMALL[hundreds], place + 2), ("hundred", place + 2)]
        if rest:
            words.append(("and", NONE))
    return words + (below_hundred(rest, place) if rest else [])


def words_of(value: int) -> Words:
    """The number in words, "twenty-" apart from "three"."""
    if not 0 <= value <= LARGEST:
        raise ValueError(f"the number is {value}, expected 0 to {LARGEST}")
    if value == 0:
        return [(SMALL[0], 0)]
    thousands, rest = divmod(value, 1000)
    words: Words = []
    if thousands:
        words = [*below_thousand(thousands, 3), ("thousand", 3)]
        if 0 < rest < 100:
            words.append(("and", NONE))
    return words + (below_thousand(rest, 0) if rest else [])


def pair_of(value: int, comma: bool = False) -> Pair:
    """The number in figures, with a comma before the last three if wished, and in words."""
    figures = f"{value:,}" if comma else str(value)
    # the positions of the figures alone, from the right
    places = [at for at in reversed(range(len(figures))) if figures[at] != ","]
    words = words_of(value)
    aligned = [NONE if place == NONE else places[place] for _, place in words]
    template = f"{len(str(value))} figures" + (" with a comma" if "," in figures else "")
    source, target = tuple(figures), tuple(word for word, _ in words)
    return Pair(source, target, (*aligned, NONE), template, (f"number:{value}",), "", " ")
