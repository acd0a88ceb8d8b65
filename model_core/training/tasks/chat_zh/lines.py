"""The lines of the tables: answers with their questions, follow-ups, facts told and asked back."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TABLES = Path(__file__).parent
BETWEEN = " | "


@dataclass(frozen=True)
class Answer:
    """One reply with all that may be asked to get it.

    why, more: what "为什么" and "还有呢" get after it; empty where there is nothing to say.
    """

    text: str
    questions: tuple[str, ...]
    why: str = ""
    more: str = ""


@dataclass(frozen=True)
class FollowUp:
    """A question about the reply before it: kind "why", "more" or "again".

    otherwise: what it gets where the reply before has nothing for it (a repeated reply always
    has); alone: what it gets where nothing was said before.
    """

    kind: str
    questions: tuple[str, ...]
    otherwise: str
    alone: str


@dataclass(frozen=True)
class Fact:
    """Something that a person tells of himself and asks back; {} stands for one of the values."""

    kind: str
    values: tuple[str, ...]
    told: tuple[str, ...]
    reply: str
    questions: tuple[str, ...]
    answer: str
    untold: str


def rows(name: str) -> Iterator[dict[str, str]]:
    """The lines of one table, by the names of its columns."""
    with open(TABLES / f"{name}.tsv", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


def parts(text: str) -> tuple[str, ...]:
    return tuple(text.split(BETWEEN))


@cache
def answers() -> tuple[Answer, ...]:
    return tuple(
        Answer(row["answer"], parts(row["questions"]), row["why"], row["more"])
        for row in rows("answers")
    )


@cache
def follow_ups() -> tuple[FollowUp, ...]:
    return tuple(
        FollowUp(row["kind"], parts(row["questions"]), row["otherwise"], row["alone"])
        for row in rows("follow_ups")
    )


@cache
def facts() -> tuple[Fact, ...]:
    return tuple(
        Fact(
            row["kind"],
            tuple(row["values"].split()),
            parts(row["told"]),
            row["reply"],
            parts(row["questions"]),
            row["answer"],
            row["untold"],
        )
        for row in rows("facts")
    )


def rephrasings(name: str) -> list[tuple[str, str]]:
    """Questions that training never sees, each with its answer: "unseen" or "tuning"."""
    return [(row["question"], row["answer"]) for row in rows(name)]
