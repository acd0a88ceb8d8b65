"""Sentences for training, and test splits of sentences that say what training never says.

A fact is "triple:subject/verb/object" or "adjective:…": the splits of a grammar's sentences are
kept apart by the facts that each pair carries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np

from model_core.training.datasets import Dataset, Pair
from model_core.training.tasks.chance import Chance

Keep = Callable[[Pair], bool]
Draw = Callable[[], Pair]


class Secrets:
    """Which facts training must not see, decided by the seed alone; `shown` ones it always may."""

    def __init__(self, seed: int, shown: Iterable[str] = ()) -> None:
        self._seed = seed
        self._shown = frozenset(shown)

    def has(self, fact: str) -> bool:
        """Whether this fact is kept from training."""
        raise NotImplementedError

    def for_training(self, pair: Pair) -> bool:
        return not any(map(self.has, pair.facts))

    def for_held_out(self, pair: Pair) -> bool:
        """A sentence of secret triples alone, and of no secret pair."""
        triples, others = facts_of(pair)
        return bool(triples) and all(map(self.has, triples)) and not any(map(self.has, others))

    def for_unseen(self, pair: Pair) -> bool:
        """A sentence with a secret pair, and with no secret triple."""
        triples, others = facts_of(pair)
        return any(map(self.has, others)) and not any(map(self.has, triples))


def facts_of(pair: Pair) -> tuple[list[str], list[str]]:
    """The triples of a sentence, and its other facts."""
    triples = [fact for fact in pair.facts if fact.startswith("triple:")]
    return triples, [fact for fact in pair.facts if not fact.startswith("triple:")]


def training(
    draw: Draw,
    size: int,
    keep: Keep,
    words: Callable[[Pair], Sequence[Hashable]],
    most_copies: int,
    least_seen: int,
) -> list[Pair]:
    """`size` sentences that may be kept, then more with those words that are still rare.

    words: those of a pair, in both languages
    most_copies: how often the same sentence may occur    least_seen: below it a word is rare
    """
    pairs: list[Pair] = []
    copies: Counter[tuple[str, ...]] = Counter()
    seen: Counter[Hashable] = Counter()
    rare: set[Hashable] = set()
    while len(pairs) < size or rare:
        pair = draw()
        spoken = words(pair)
        # of the many that follow few are wanted: what rules out most of them comes first
        if len(pairs) >= size and rare.isdisjoint(spoken):
            continue
        if copies[pair.source] == most_copies or not keep(pair):
            continue
        copies[pair.source] += 1
        pairs.append(pair)
        seen.update(spoken)
        if len(pairs) >= size:
            rare = {word for word, count in seen.items() if count < least_seen}
    return pairs


def unheard(draw: Draw, size: int, keep: Keep, seen: set[tuple[str, ...]]) -> list[Pair]:
    """`size` different sentences that may be kept, none of them `seen` before."""
    pairs: list[Pair] = []
    while len(pairs) < size:
        pair = draw()
        if pair.source not in seen and keep(pair):
            seen.add(pair.source)
            pairs.append(pair)
    return pairs


def dataset(
    name: str,
    seed: int,
    secrets: Secrets,
    train: Callable[[Chance], list[Pair]],
    whole: Callable[[Chance], Pair],
    held_out: int,
    unseen: int,
) -> Dataset:
    """All splits; each has its own random stream, so its size does not change the others.

    train: makes the training sentences    whole: draws a sentence without unknown words
    held_out, unseen: the sizes of the test splits
    """
    streams = [Chance(np.random.default_rng(s)) for s in np.random.SeedSequence(seed).spawn(3)]
    pairs = train(streams[0])
    seen = {pair.source for pair in pairs}
    splits = {
        "train": pairs,
        "held_out": unheard(lambda: whole(streams[1]), held_out, secrets.for_held_out, seen),
        "unseen_pairs": unheard(lambda: whole(streams[2]), unseen, secrets.for_unseen, seen),
    }
    return Dataset(name, splits)
