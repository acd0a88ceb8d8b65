"""How wide the widest of many labels is, without measuring each of them at every step."""

from __future__ import annotations

from functools import lru_cache
from heapq import nlargest

from visualizer.widgets.canvas import Face

# Of more labels than these only those are measured that have the most characters.
MEASURED = 1500
# From here on characters are about twice as wide as Latin letters.
WIDE = "\u2e80"


def widest(face: Face, labels: tuple[str, ...]) -> float:
    """The width of the widest label, 0 without labels."""
    return face.widest(_longest(labels) if len(labels) > MEASURED else labels)


@lru_cache(maxsize=32)
def are_numbers(labels: tuple[str, ...]) -> bool:
    return all(label.lstrip("-").isdecimal() for label in labels)


@lru_cache(maxsize=32)
def _longest(labels: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(nlargest(MEASURED // 10, set(labels), key=_length))


def _length(text: str) -> int:
    return len(text) if text.isascii() else sum(2 if char >= WIDE else 1 for char in text)
