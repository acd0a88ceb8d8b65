"""Where and when: place phrases (在 … 里) and time phrases."""

from __future__ import annotations

from functools import cache

from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_zh.lexicon import Noun, Time, Verb, nouns_with
from model_core.training.tasks.en_zh.noun_phrases import (
    KNOWN_PLACE,
    Determiners,
    NounPhrase,
    noun_phrase,
)
from model_core.training.tasks.en_zh.phrase import Phrase, Word, words

SIDES = {"in": "里", "on": "上", "under": "下面", "next to": "旁边", "behind": "后面"}

INSIDE = ("outdoors", "building", "home", "cleaned", "town")
NEAR = ("building", "waters", "tree", "shelter", "doorway", "park", "garden")
LANDMARKS = ("building", "tree", "shelter", "door", "park")


def nouns_at(side: str, *, water: bool = False) -> tuple[Noun, ...]:
    """The nouns that something can be in, on, under, next to or behind."""
    if side == "in":
        return nouns_with("waters") if water else nouns_with(*INSIDE)
    tags = {"on": ("surface",), "under": ("shelter",), "next to": NEAR, "behind": LANDMARKS}
    return nouns_with(*tags[side])


def beside(side: str, place: NounPhrase) -> Phrase:
    """A place phrase; the preposition gives both 在 and the word behind the place."""
    preposition = words(side)
    chinese = (("在", preposition[0]), *place.chinese, (SIDES[side], preposition[0]))
    facts = (*place.facts, *(f"place:{side} {head}" for head in place.heads))
    return Phrase(preposition + place.english, chinese, facts)


def place_phrase(
    chance: Chance,
    side: str,
    *,
    water: bool = False,
    nouns: tuple[Noun, ...] = (),
    determiners: Determiners = KNOWN_PLACE,
) -> Phrase:
    noun = chance.one_of(nouns or nouns_at(side, water=water))
    place = noun_phrase(chance, noun, determiners, adjectives=0.16, plural=0.0)
    return beside(side, place)


def at_home_or_school(chance: Chance) -> Phrase:
    at = Word("at")
    english, chinese = chance.one_of((("home", "家"), ("school", "学校")))
    place = Word(english)
    return Phrase((at, place), (("在", at), (chinese, place), ("里", at)), (f"place:at {english}",))


@cache
def animals() -> frozenset[str]:
    return frozenset({"it", *(noun.en for noun in nouns_with("animal"))})


def place_of_action(chance: Chance, verb: Verb, doers: tuple[str, ...]) -> Phrase:
    """A place where the verb's action may well happen; `doers` are the subject's heads."""
    if "water" in verb.flags:
        return place_phrase(chance, "in", water=True)
    if chance.happens(0.14):
        return at_home_or_school(chance)
    if "anywhere" in verb.flags:
        weights = ((40, "in"), (28, "on"), (14, "under"), (10, "next to"), (8, "behind"))
    else:
        weights = ((82, "in"), (0, "on"), (6, "under"), (8, "next to"), (4, "behind"))
    side = chance.weighted(*weights)
    if side == "under" and not ("anywhere" in verb.flags and animals().issuperset(doers)):
        return place_phrase(chance, side, nouns=nouns_with("tree"))
    return place_phrase(chance, side)


def place_to_stay(chance: Chance, verb: Verb, doers: tuple[str, ...]) -> Phrase:
    """Where somebody sits or lives."""
    for home in ("dwelling", "den"):
        if home in verb.flags:
            return place_phrase(chance, "in", nouns=nouns_with(home))
    side = chance.weighted((26, "in"), (46, "on"), (14, "under"), (14, "next to"))
    if side == "under" and not animals().issuperset(doers):
        return place_phrase(chance, side, nouns=nouns_with("tree"))
    return place_phrase(chance, side)


def in_time(time: Time) -> Phrase:
    """A time phrase, in Chinese always at the front of the sentence."""
    english = words(time.en)
    chinese = tuple((token, english[number]) for token, number in time.zh)
    return Phrase(english, chinese)
