"""Where things are and happen, and with whom."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_fr.lexicon import Noun, nouns_with
from model_core.training.tasks.en_fr.noun_phrases import COMPANY, PLACE, noun_phrase
from model_core.training.tasks.en_fr.phrase import English, French, tokens, words


class Where(NamedTuple):
    """A prepositional phrase; `place` names it in facts: "in garden"."""

    english: English = ()
    french: French = ()
    facts: tuple[str, ...] = ()
    place: str = ""


# Preposition, French, and the kinds of noun that stand behind it.
IN = ("in", "dans", ("room", "bag"))
AT = ("at", "à", ("goal",))
ON = ("on", "sur", ("furniture",))
UNDER = ("under", "sous", ("furniture", "tree", "umbrella"))
BEHIND = ("behind", "derrière", ("house", "tree", "door", "church", "school", "hotel", "car"))
BEFORE = ("in front of", "devant", ("house", "door", "church", "school", "hotel", "window"))
NEAR = ("near", "près de", ("place", "tree", "door", "window", "table", "bed"))
WITH = ("with", "avec", ("person", "dog", "cat"))

Preposition = tuple[str, str, tuple[str, ...]]


@lru_cache(4096)
def nouns_behind(preposition: Preposition, but: tuple[str, ...]) -> tuple[Noun, ...]:
    _, _, kinds = preposition
    nouns = tuple(noun for noun in nouns_with(*kinds) if noun.en not in but)
    return tuple(noun for noun in nouns if preposition != IN or noun.en != "bag")


def where(chance: Chance, preposition: Preposition, but: tuple[str, ...] = ()) -> Where:
    """A place behind this preposition; none of the nouns `but`."""
    english, french, _ = preposition
    noun = chance.one_of(nouns_behind(preposition, but))
    determiners = COMPANY if preposition is WITH else PLACE
    phrase = noun_phrase(chance, noun, determiners, adjectives=0.18, plural=0.2)
    said = words(english)
    # "près de" and "devant" are from the word that carries the meaning, "near" and "front"
    cause = said[1] if len(said) > 1 else said[0]
    name = f"{english} {phrase.heads[0]}"
    return Where(
        (*said, *phrase.english), tokens(french, cause) + phrase.french, phrase.facts, name
    )


def place_of_action(chance: Chance, but: tuple[str, ...]) -> Where:
    """Where somebody does something."""
    preposition = chance.weighted(
        (35, IN), (18, AT), (10, WITH), (6, BEHIND), (6, BEFORE), (8, NEAR)
    )
    return where(chance, preposition, but)


def place_to_be(chance: Chance, but: tuple[str, ...], small: bool) -> Where:
    """Where somebody or something is; small things lie on and under furniture."""
    near: tuple[tuple[float, Preposition], ...] = ((12, ON), (9, UNDER)) if small else ((20, AT),)
    preposition = chance.weighted((24, IN), (9, BEHIND), (9, BEFORE), (10, NEAR), *near)
    return where(chance, preposition, but)
