"""The word tables beside this file, read once: nouns, adjectives, verbs; and the time phrases."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

TABLES = Path(__file__).parent
UNKNOWN_TEXT = "<UNK>"
# The forms of a French verb: I, you, he or she, we, they.
PERSONS = ("je", "tu", "il", "nous", "ils")
# Tense -> English and its French tokens, each with the number of the English word it is from.
TIMES = {
    "present": (
        ("every day", "tous:0 les:1 jours:1"),
        ("today", "aujourd'hui:0"),
        ("in the morning", "le:1 matin:2"),
        ("on Sunday", "dimanche:1"),
    ),
    "now": (("now", "maintenant:0"), ("today", "aujourd'hui:0")),
    "past": (
        ("yesterday", "hier:0"),
        ("yesterday evening", "hier:0 soir:1"),
        ("last week", "la:1 semaine:1 dernière:0"),
    ),
    "future": (
        ("tomorrow", "demain:0"),
        ("next week", "la:1 semaine:1 prochaine:0"),
        ("on Monday", "lundi:1"),
    ),
}


# A word of the tables is itself alone: it is looked up by what it is, not by what it says.
@dataclass(frozen=True, eq=False)
class Noun:
    """A noun; without a plural it cannot be counted."""

    en: str
    plural: str
    fr: str
    fr_plural: str
    feminine: bool
    tags: frozenset[str]

    def is_a(self, kinds: tuple[str, ...] | frozenset[str]) -> bool:
        """Whether it is named, or carries one of these tags."""
        return self.en in kinds or not self.tags.isdisjoint(kinds)


@dataclass(frozen=True, eq=False)
class Adjective:
    """An adjective with its French forms; `before_vowel` is the masculine one of "bel arbre".

    before: it stands before the noun in French. attributive: it is not said after "is".
    """

    en: str
    masculine: str
    feminine: str
    masculine_plural: str
    feminine_plural: str
    before_vowel: str
    before: bool
    attributive: bool
    colour: bool
    goes_with: frozenset[str]

    def form(self, feminine: bool, plural: bool) -> str:
        if plural:
            return self.feminine_plural if feminine else self.masculine_plural
        return self.feminine if feminine else self.masculine


@dataclass(frozen=True, eq=False)
class Verb:
    """A verb with its subjects and objects as tags or nouns; no past or -ing: not said of it.

    liking: what is liked in general takes "le", "la", "les" in French.
    """

    en: str
    third: str
    past: str
    ing: str
    forms: tuple[str, ...]
    infinitive: str
    participle: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    liking: bool

    @property
    def same_past(self) -> bool:
        """Whether past and present look the same, so that only a time phrase tells them apart."""
        return self.past == self.en


def rows(name: str) -> list[dict[str, str]]:
    """The rows of one table, by column name."""
    with open(TABLES / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@cache
def nouns() -> tuple[Noun, ...]:
    return tuple(
        Noun(
            row["en"],
            row["en_plural"],
            row["fr"],
            row["fr_plural"],
            row["gender"] == "f",
            frozenset(row["tags"].split()),
        )
        for row in rows("nouns.tsv")
    )


@cache
def adjectives() -> tuple[Adjective, ...]:
    return tuple(
        Adjective(
            row["en"],
            row["masculine"],
            row["feminine"],
            row["masculine_plural"],
            row["feminine_plural"],
            row["before_vowel"],
            "before" in row["place"].split(),
            "attributive" in row["place"].split(),
            row["place"] == "colour",
            frozenset(row["goes_with"].split()),
        )
        for row in rows("adjectives.tsv")
    )


@cache
def verbs() -> tuple[Verb, ...]:
    return tuple(
        Verb(
            row["en"],
            row["third"],
            row["past"],
            row["ing"],
            tuple(row[person] for person in PERSONS),
            row["infinitive"],
            row["participle"],
            tuple(row["subjects"].split()),
            tuple(row["objects"].split()),
            row["flags"] == "liking",
        )
        for row in rows("verbs.tsv")
    )


@cache
def nouns_with(*kinds: str) -> tuple[Noun, ...]:
    """The nouns that are named or carry one of these tags, in the table's order."""
    return tuple(noun for noun in nouns() if noun.is_a(kinds))


@cache
def adjectives_for(noun: Noun) -> tuple[Adjective, ...]:
    """Those that fit; "ma belle mère" would be another relation, so kin has none in front."""
    fitting = tuple(a for a in adjectives() if noun.is_a(a.goes_with))
    return tuple(a for a in fitting if not (a.before and "kin" in noun.tags))


@cache
def unknown_noun(like: Noun) -> Noun:
    """A noun nobody knows, used as `like` is: masculine, with no vowel in front."""
    plural = UNKNOWN_TEXT if like.plural else ""
    return replace(
        like, en=UNKNOWN_TEXT, plural=plural, fr=UNKNOWN_TEXT, fr_plural=plural, feminine=False
    )
