"""Training sentences, and two test splits that say things no training sentence says.

A triple is (subject, verb, object): lemmas of the head noun or pronoun, the verb, and the object's
head or the place with its preposition ("cat/sleep/in garden"). Every sentence of "held_out" has
triples, none of which occurs in training. Every sentence of "unseen_pairs" has an adjective-noun
pair ("red apple", "the apple is red") that never occurs in training.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np

from model_core.training.datasets import Dataset, Pair
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_fr.lexicon import adjectives_for, nouns
from model_core.training.tasks.en_fr.noun_phrases import OBJECT_PRONOUNS, SUBJECT_PRONOUNS
from model_core.training.tasks.en_fr.sentences import drawn
from model_core.training.tasks.keeping import kept

TRAIN_SIZE = 40_000
HELD_OUT_SIZE = 1_000
UNSEEN_SIZE = 500
UNKNOWN_SHARE = 0.1
# Short sentences are few, and a model that meets them once does not learn them.
MOST_COPIES = 16
# Words of either language.
LEAST_SEEN = 40
# Shares of all possible triples and pairs that are kept from training.
HELD_OUT_PERMILLE = 100
UNSEEN_PERMILLE = 70

Keep = Callable[[Pair], bool]


class Secrets:
    """Which triples and adjective-noun pairs training must not see, decided by the seed alone."""

    def __init__(self, seed: int, shown: Iterable[str] = ()) -> None:
        self._seed = seed
        self._shown = frozenset(shown)

    def has(self, fact: str) -> bool:
        """Whether this fact is kept from training; those `shown` in examples never are."""
        if fact in self._shown:
            return False
        if fact.startswith("triple:"):
            subject, _, thing = fact.removeprefix("triple:").split("/")
            # there are few of two pronouns, and they are what a newcomer types first
            if subject in SUBJECT_PRONOUNS and thing in OBJECT_PRONOUNS:
                return False
            return kept(self._seed, fact, HELD_OUT_PERMILLE)
        return kept(self._seed, fact, UNSEEN_PERMILLE)

    def unseen_pairs(self) -> list[str]:
        """The adjective-noun pairs that are kept from training."""
        pairs = [f"{a.en} {noun.en}" for noun in nouns() for a in adjectives_for(noun)]
        return [pair for pair in pairs if self.has(f"adjective:{pair}")]

    def for_training(self, pair: Pair) -> bool:
        return not any(map(self.has, pair.facts))

    def for_held_out(self, pair: Pair) -> bool:
        triples = [fact for fact in pair.facts if fact.startswith("triple:")]
        pairs = [fact for fact in pair.facts if not fact.startswith("triple:")]
        return bool(triples) and all(map(self.has, triples)) and not any(map(self.has, pairs))

    def for_unseen(self, pair: Pair) -> bool:
        triples = [fact for fact in pair.facts if fact.startswith("triple:")]
        pairs = [fact for fact in pair.facts if not fact.startswith("triple:")]
        return any(map(self.has, pairs)) and not any(map(self.has, triples))


def training(chance: Chance, size: int, keep: Keep) -> list[Pair]:
    """`size` sentences that may be kept, then more with those words that are still rare.

    The same sentence occurs a few times at most.
    """
    pairs: list[Pair] = []
    copies: Counter[tuple[str, ...]] = Counter()
    seen: Counter[tuple[str, str]] = Counter()
    rare: set[tuple[str, str]] = set()
    while len(pairs) < size or rare:
        pair = drawn(chance, with_unknown=chance.happens(UNKNOWN_SHARE))
        if copies[pair.source] == MOST_COPIES or not keep(pair):
            continue
        # "long" is a word of both languages
        words = [*(("en", word) for word in pair.source), *(("fr", word) for word in pair.target)]
        if len(pairs) >= size and rare.isdisjoint(words):
            continue
        copies[pair.source] += 1
        pairs.append(pair)
        seen.update(words)
        if len(pairs) >= size:
            rare = {word for word, count in seen.items() if count < LEAST_SEEN}
    return pairs


def unheard(chance: Chance, size: int, keep: Keep, seen: set[tuple[str, ...]]) -> list[Pair]:
    """`size` different sentences that may be kept, none of them `seen` before."""
    pairs: list[Pair] = []
    while len(pairs) < size:
        pair = drawn(chance, whole=True)
        if pair.source not in seen and keep(pair):
            seen.add(pair.source)
            pairs.append(pair)
    return pairs


def split(name: str, seed: int, shown: Iterable[str] = ()) -> Dataset:
    """All splits; each has its own random stream, so its size does not change the others."""
    secrets = Secrets(seed, shown)
    streams = [Chance(np.random.default_rng(s)) for s in np.random.SeedSequence(seed).spawn(3)]
    train = training(streams[0], TRAIN_SIZE, secrets.for_training)
    seen = {pair.source for pair in train}
    held_out = unheard(streams[1], HELD_OUT_SIZE, secrets.for_held_out, seen)
    unseen = unheard(streams[2], UNSEEN_SIZE, secrets.for_unseen, seen)
    return Dataset(name, {"train": train, "held_out": held_out, "unseen_pairs": unseen})
