"""The word tables beside this file, read once: nouns, adjectives, verbs, times."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

TABLES = Path(__file__).parent
UNKNOWN_TEXT = "<UNK>"


@dataclass(frozen=True)
class Noun:
    """A noun. No plural: it has none here; no measure word: it cannot be counted."""

    en: str
    plural: str
    zh: str
    measure: str
    tags: frozenset[str]
    colours: frozenset[str]


@dataclass(frozen=True)
class Adjective:
    """An adjective: `zh` before a noun, `predicate` after "is".

    sort: colour, size, old (its Chinese depends on the noun), state (it passes), taste (said of
    animals as a predicate only) or plain.
    """

    en: str
    zh: str
    predicate: str
    sort: str
    goes_with: frozenset[str]

    def describes(self, noun: Noun) -> bool:
        if self.sort == "colour":
            return self.en in noun.colours
        return noun.en in self.goes_with or not self.goes_with.isdisjoint(noun.tags)


@dataclass(frozen=True)
class Verb:
    """A verb in one of its senses: which subjects and objects it takes as tags or nouns.

    preposition: what stands before the object in English ("wait for").
    flags:
      stative   没有 and 了 are not said, in the past neither; no -ing
      no_le     了 is not said
      have      denied by 没有 alone
      lasting   -ing is 着 and not 正在
      result    看见: no -ing; denied by `not_zh`, 看不见
      skill     "can" is 会 and not 能
      special   this sense is known by its subject or object
      seat      the place stands behind the verb in Chinese too
      place     a place may follow an intransitive verb
      anywhere  on, under and behind something too
      here      no place goes with it
      water     it happens in rivers
      dwelling, den   it happens where people, or animals, live
      long      it goes on for weeks
      common    drawn twice as often: a learner's first verbs, and those with a single sense
    """

    en: str
    third: str
    past: str
    ing: str
    zh: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    preposition: str
    flags: frozenset[str]
    not_zh: str = ""

    @property
    def same_past(self) -> bool:
        """Whether past and present look the same, so that only a time phrase tells them apart."""
        return self.past == self.en


@dataclass(frozen=True)
class Time:
    """A time phrase: its Chinese tokens, each with the number of the English word it is from."""

    tense: str
    en: str
    zh: tuple[tuple[str, int], ...]


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
            row["zh"],
            row["measure"],
            frozenset(row["tags"].split()),
            frozenset(row["colours"].split()),
        )
        for row in rows("nouns.tsv")
    )


@cache
def adjectives() -> tuple[Adjective, ...]:
    return tuple(
        Adjective(
            row["en"],
            row["zh"],
            row["predicate"],
            row["sort"],
            frozenset(row["goes_with"].split()),
        )
        for row in rows("adjectives.tsv")
    )


@cache
def verbs() -> tuple[Verb, ...]:
    table = []
    for row in rows("verbs.tsv"):
        flags = row["flags"].split()
        table.append(
            Verb(
                row["en"],
                row["third"],
                row["past"],
                row["ing"],
                row["zh"],
                tuple(row["subjects"].split()),
                tuple(row["objects"].split()),
                row["with"],
                frozenset(flag for flag in flags if "=" not in flag),
                "".join(flag[4:] for flag in flags if flag.startswith("not=")),
            )
        )
    return tuple(table)


@cache
def times(tense: str) -> tuple[Time, ...]:
    """The time phrases that go with "present", "now" (is -ing), "past" or "future".

    A phrase is in there as often as its weight says.
    """
    found = []
    for row in rows("times.tsv"):
        if row["tense"] == tense:
            parts = [part.split(":") for part in row["zh"].split()]
            zh = tuple((token, int(number)) for token, number in parts)
            found += [Time(tense, row["en"], zh)] * int(row["weight"])
    return tuple(found)


@cache
def nouns_with(*wanted: str) -> tuple[Noun, ...]:
    """The nouns that are named or carry one of these tags, in the table's order."""
    return tuple(n for n in nouns() if n.en in wanted or not n.tags.isdisjoint(wanted))


@cache
def adjectives_for(noun: Noun) -> tuple[Adjective, ...]:
    return tuple(a for a in adjectives() if a.describes(noun))


@cache
def adjectives_before(noun: Noun) -> tuple[Adjective, ...]:
    """Those that may stand before the noun, whatever it does."""
    living = "animal" in noun.tags
    return tuple(a for a in adjectives_for(noun) if not (living and a.sort == "taste"))


@cache
def unknown_noun(like: Noun) -> Noun:
    """A noun nobody knows, used as `like` is: counted with 个, never with 们."""
    return replace(
        like,
        en=UNKNOWN_TEXT,
        plural=UNKNOWN_TEXT if like.plural else "",
        zh=UNKNOWN_TEXT,
        measure="个",
        tags=like.tags - {"person"} | {"unknown"},
    )


@cache
def unknown_adjective(like: Adjective) -> Adjective:
    return replace(like, en=UNKNOWN_TEXT, zh=UNKNOWN_TEXT, predicate=UNKNOWN_TEXT, sort="plain")


@cache
def unknown_verb(like: Verb) -> Verb:
    """A verb nobody knows; its tense shows in auxiliaries and time phrases alone."""
    return replace(
        like,
        en=UNKNOWN_TEXT,
        third=UNKNOWN_TEXT,
        past=UNKNOWN_TEXT,
        ing=UNKNOWN_TEXT,
        zh=UNKNOWN_TEXT,
        flags=like.flags & {"place", "here", "anywhere", "water"},
        not_zh="",
    )
