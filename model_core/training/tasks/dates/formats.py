"""A date written in sixteen ways, each piece with the part of the date that it tells."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from model_core.training.datasets import NONE, Pair

MONTHS = (
    "January February March April May June July August September October November December"
).split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
FIRST, LAST = date(1950, 1, 1), date(2049, 12, 31)
DAYS = (LAST - FIRST).days + 1
# Two-digit years from here on are of the twentieth century, those below of the twenty-first.
PIVOT = 50

# A piece of text, and what it tells: "y", "m", "d", or "" for what is not in the output.
Pieces = list[tuple[str, str]]


def ordinal(day: int) -> str:
    """ "1st", "2nd", "11th"."""
    if day in (11, 12, 13):
        return f"{day}th"
    return f"{day}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th') }"


def pieces(pattern: str, day: date) -> Pieces:
    """The text of a pattern such as "{W}, {d} {M} {y}"."""
    found: Pieces = []
    rest = pattern
    while rest:
        if rest[0] == "{":
            field, rest = rest[1:].split("}", 1)
            found.append(FIELDS[field](day))
        else:
            found.append((rest[0], ""))
            rest = rest[1:]
    return found


FIELDS: dict[str, Callable[[date], tuple[str, str]]] = {
    "y": lambda day: (str(day.year), "y"),
    "yy": lambda day: (f"{day.year % 100:02}", "y"),
    "m": lambda day: (str(day.month), "m"),
    "mm": lambda day: (f"{day.month:02}", "m"),
    "M": lambda day: (MONTHS[day.month - 1], "m"),
    "Mon": lambda day: (MONTHS[day.month - 1][:3], "m"),
    "d": lambda day: (str(day.day), "d"),
    "dd": lambda day: (f"{day.day:02}", "d"),
    "dth": lambda day: (ordinal(day.day), "d"),
    "W": lambda day: (WEEKDAYS[day.weekday()], ""),
    "Wkd": lambda day: (WEEKDAYS[day.weekday()][:3], ""),
}
PATTERNS = (
    "{y}-{mm}-{dd}",
    "{y}/{m}/{d}",
    "{y}{mm}{dd}",
    "{y}年{m}月{d}日",
    "{dd}.{mm}.{y}",
    "{d}/{m}/{y}",
    "{dd}/{mm}/{yy}",
    "{d} {M} {y}",
    "{d} {Mon} {y}",
    "{d}-{Mon}-{yy}",
    "{M} {d}, {y}",
    "{Mon} {d} {y}",
    "{dth} of {M} {y}",
    "{W}, {d} {M} {y}",
    "{Wkd} {d} {Mon} {y}",
    "{W}, {M} {dth}, {y}",
)


def pair_of(day: date, pattern: str, lower: bool = False) -> Pair:
    """A date in one way of writing and in ISO 8601, figure by figure from where it is told.

    Of a month's name both figures are from its first letter; of a one-figure day or month both
    are from that figure; the century of a two-digit year is from the first of these.
    """
    text = ""
    at: dict[str, tuple[int, str]] = {}
    for piece, tells in pieces(pattern, day):
        if tells:
            at[tells] = (len(text), piece)
        text += piece
    year = figures(*at["y"])
    if len(year) == 2:
        year = [year[0], *year[:1], *year]
    month, number = two(figures(*at["m"])), two(figures(*at["d"]))
    aligned = (*year, NONE, *month, NONE, *number, NONE)
    source = tuple(text.lower() if lower else text)
    return Pair(source, tuple(day.isoformat()), aligned, pattern, (f"date:{day}",), "", "")


def figures(start: int, piece: str) -> list[int]:
    """The positions of a piece's figures; of a name, that of its first letter."""
    return [start + i for i, character in enumerate(piece) if character.isdigit()] or [start]


def two(positions: list[int]) -> list[int]:
    return positions if len(positions) == 2 else positions * 2


def day_number(number: int) -> date:
    """The days that there are, counted from 0."""
    return FIRST + timedelta(days=number)
