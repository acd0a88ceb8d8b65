"""The sentence patterns and how often each is drawn."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from model_core.training.datasets import Pair
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_fr import being, doing, short
from model_core.training.tasks.en_fr.lexicon import UNKNOWN_TEXT

LONGEST_SOURCE = 14
UNKNOWN_CANDIDATES = 3

PATTERNS: tuple[tuple[float, Callable[[Chance], Pair]], ...] = (
    (40.0, doing.transitive),
    (9.0, doing.with_pronoun),
    (16.0, doing.intransitive),
    (6.0, doing.going),
    (14.0, being.quality),
    (2.0, being.profession),
    (7.0, being.location),
    (4.0, being.existence),
    (3.0, being.pointing),
    (8.0, doing.whether_done),
    (2.5, doing.what),
    (1.5, doing.who),
    (3.0, being.whether_being),
    (2.5, being.asked_where),
)
# No sentences, but what people type before one is finished, or first of all.
SHORT_PATTERNS: tuple[tuple[float, Callable[[Chance], Pair]], ...] = (
    (7.0, short.noun_alone),
    (1.0, short.greeting),
)


@cache
def patterns(whole: bool) -> tuple[tuple[float, Callable[[Chance], Pair]], ...]:
    return PATTERNS if whole else PATTERNS + SHORT_PATTERNS


def drawn(chance: Chance, *, with_unknown: bool = False, whole: bool = False) -> Pair:
    """One sentence or, unless it shall be `whole`, a fragment; of 14 words at most.

    with_unknown: one of its nouns is unknown.
    """
    while True:
        pattern = chance.weighted(*patterns(whole))
        chance.start_sentence(chance.below(UNKNOWN_CANDIDATES) if with_unknown else -1)
        pair = pattern(chance)
        if len(pair.source) > LONGEST_SOURCE:
            continue
        if with_unknown and UNKNOWN_TEXT not in pair.source:
            continue
        return pair
