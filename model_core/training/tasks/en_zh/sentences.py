"""The sentence patterns and how often each is drawn."""

from __future__ import annotations

from collections.abc import Callable

from model_core.training.datasets import Pair
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_zh import actions, being, fragments, questions, whereabouts
from model_core.training.tasks.en_zh.lexicon import UNKNOWN_TEXT

LONGEST_SOURCE = 14
UNKNOWN_CANDIDATES = 4

PATTERNS: tuple[tuple[float, Callable[[Chance], Pair]], ...] = (
    (40.0, actions.transitive),
    (5.0, actions.with_pronoun),
    (20.0, actions.intransitive),
    (5.0, actions.seated),
    (3.5, actions.going),
    (3.0, actions.giving),
    (9.0, being.quality),
    (0.7, being.weather),
    (5.0, being.identity),
    (5.0, whereabouts.location),
    (4.0, whereabouts.existence),
    (6.5, questions.whether_done),
    (1.8, questions.whether_doing),
    (3.0, questions.whether_being),
    (2.0, questions.where),
    (3.0, questions.what),
    (1.8, questions.who),
    (0.6, questions.how),
)


# No sentences, but what people type before one is finished, or first of all.
SHORT_PATTERNS: tuple[tuple[float, Callable[[Chance], Pair]], ...] = (
    (4.0, fragments.noun_alone),
    (1.2, fragments.greeting),
)
ALL_PATTERNS = PATTERNS + SHORT_PATTERNS


def drawn(chance: Chance, *, with_unknown: bool = False, whole: bool = False) -> Pair:
    """One sentence or, unless it shall be `whole`, a fragment; of 14 words at most.

    with_unknown: one of its words is unknown.
    """
    while True:
        pattern = chance.weighted(*(PATTERNS if whole else ALL_PATTERNS))
        chance.start_sentence(chance.below(UNKNOWN_CANDIDATES) if with_unknown else -1)
        pair = pattern(chance)
        if len(pair.source) > LONGEST_SOURCE:
            continue
        if with_unknown and UNKNOWN_TEXT not in pair.source:
            continue
        return pair
