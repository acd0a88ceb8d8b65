"""Dates for training, and dates that training sees in no way of writing."""

from __future__ import annotations

from datetime import date

import numpy as np

from model_core.training.datasets import Dataset, Pair
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.dates.formats import DAYS, PATTERNS, day_number, pair_of
from model_core.training.tasks.keeping import kept

TRAIN_SIZE = 16_000
HELD_OUT_SIZE = 1_000
HELD_OUT_PERMILLE = 100
LOWER_CASED = 0.25


def drawn(chance: Chance) -> date:
    """Any day of the hundred years, each as likely."""
    return day_number(chance.below(DAYS))


def written(chance: Chance, day: date) -> Pair:
    """The date in one of the sixteen ways, a quarter of them in small letters."""
    pattern = chance.one_of(PATTERNS)
    return pair_of(day, pattern, chance.happens(LOWER_CASED))


def is_kept(seed: int, day: date, shown: frozenset[date]) -> bool:
    """Whether training must not see this day."""
    return day not in shown and kept(seed, f"date:{day}", HELD_OUT_PERMILLE)


def split(name: str, seed: int, shown: frozenset[date]) -> Dataset:
    """Training pairs and, apart from all their days, test pairs."""
    streams = [Chance(np.random.default_rng(s)) for s in np.random.SeedSequence(seed).spawn(2)]
    train: list[Pair] = []
    while len(train) < TRAIN_SIZE:
        day = drawn(streams[0])
        if not is_kept(seed, day, shown):
            train.append(written(streams[0], day))
    held_out: dict[date, Pair] = {}
    while len(held_out) < HELD_OUT_SIZE:
        day = drawn(streams[1])
        if is_kept(seed, day, shown):
            held_out[day] = written(streams[1], day)
    return Dataset(name, {"train": train, "held_out": list(held_out.values())})
