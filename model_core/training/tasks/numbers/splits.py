"""Numbers for training, and numbers that training sees in no way of writing."""

from __future__ import annotations

import numpy as np

from model_core.training.datasets import Dataset, Pair
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.keeping import kept
from model_core.training.tasks.numbers.spelling import pair_of

LONGEST = 6
TRAIN_SIZE = 16_000
HELD_OUT_SIZE = 1_000
HELD_OUT_PERMILLE = 100
# Below this, training sees every number.
SHORT = 100
# Noughts leave out words, so that they are drawn more often than other figures.
NOUGHTS = 0.25
COMMAS = 0.25


def drawn(chance: Chance) -> int:
    """A number of 1 to 6 figures, each length as likely."""
    length = 1 + chance.below(LONGEST)
    value = chance.below(10) if length == 1 else 1 + chance.below(9)
    for _ in range(length - 1):
        value = 10 * value + (0 if chance.happens(NOUGHTS) else chance.below(10))
    return value


def written(chance: Chance, value: int) -> Pair:
    return pair_of(value, chance.happens(COMMAS))


def is_kept(seed: int, value: int, shown: frozenset[int]) -> bool:
    """Whether training must not see this number."""
    if value < SHORT or value in shown:
        return False
    return kept(seed, f"number:{value}", HELD_OUT_PERMILLE)


def split(name: str, seed: int, shown: frozenset[int]) -> Dataset:
    """Training pairs, all short numbers and `shown` among them, and numbers apart from them."""
    streams = [Chance(np.random.default_rng(s)) for s in np.random.SeedSequence(seed).spawn(2)]
    train = [pair_of(value) for value in (*range(SHORT), *sorted(shown))]
    while len(train) < TRAIN_SIZE:
        value = drawn(streams[0])
        if not is_kept(seed, value, shown):
            train.append(written(streams[0], value))
    held_out: dict[int, Pair] = {}
    while len(held_out) < HELD_OUT_SIZE:
        value = drawn(streams[1])
        if is_kept(seed, value, shown):
            held_out[value] = written(streams[1], value)
    return Dataset(name, {"train": train, "held_out": list(held_out.values())})
