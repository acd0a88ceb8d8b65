"""A line of reckoning: pieces that are never cut, and the numbers in them that lead somewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from model_core.ops.base import Origin

Kind = Literal["plain", "muted", "chip"]


class Link(NamedTuple):
    """The letters from `start` up to `end` are a number that was read at `origin`."""

    start: int
    end: int
    origin: Origin


@dataclass(frozen=True)
class Marked:
    """Text with links in it; texts and marked texts are put together with +."""

    text: str
    links: tuple[Link, ...] = ()

    def __add__(self, other: Marked | str) -> Marked:
        if isinstance(other, str):
            return replace(self, text=self.text + other)
        shift = len(self.text)
        moved = tuple(Link(a + shift, b + shift, origin) for a, b, origin in other.links)
        return Marked(self.text + other.text, self.links + moved)

    def __radd__(self, other: str) -> Marked:
        return Marked(other) + self


def mark(text: str, origin: Origin | None) -> Marked:
    """A text that leads to where it was read; without brackets round it, which are no part."""
    if origin is None:
        return Marked(text)
    inset = 1 if text.startswith("(") and text.endswith(")") else 0
    return Marked(text, (Link(inset, len(text) - inset, origin),))


@dataclass(frozen=True)
class Piece:
    """A stretch of the line that is never cut; a glued one stays beside the one before it.

    kind: "chip" for a number that came out, "muted" for words
    share: the number of the part of a gradient that a click spells out, None for no such thing
    tip: what there is to say of it
    """

    text: str
    kind: Kind = "plain"
    glued: bool = False
    links: tuple[Link, ...] = ()
    share: int | None = None
    tip: str = ""


Line = tuple[Piece, ...]
# The same line with fewer and fewer of its terms, for less and less room.
Lines = tuple[Line, ...]


def piece(marked: Marked | str, kind: Kind = "plain", glued: bool = False) -> Piece:
    """A piece of marked or plain text."""
    if isinstance(marked, str):
        return Piece(marked, kind, glued)
    return Piece(marked.text, kind, glued, marked.links)


def enclosed(lines: Lines, before: str, after: str) -> Lines:
    """Words before the first piece and behind the last one, without a space."""
    found = []
    for first, *others in lines:
        pieces = [piece(before + Marked(first.text, first.links)), *others]
        pieces[-1] = replace(pieces[-1], text=pieces[-1].text + after)
        found.append(tuple(pieces))
    return tuple(found)


def plain_text(line: Line) -> str:
    """The line as text."""
    return " ".join(piece.text for piece in line)
