"""Dates in sixteen ways of writing to ISO 8601, character by character."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np

from model_core.model import Model
from model_core.tokenizers import CharTokenizer
from model_core.training.batching import Example
from model_core.training.cards import card_of
from model_core.training.datasets import Dataset, Pair
from model_core.training.loop import Recipe
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.dates import recipe, splits
from model_core.training.tasks.measuring import check_pairs, numbered_examples

NAME = "dates"

# Dates to start from, a different way of writing in each.
EXAMPLES = (
    "Tuesday, 5 March 2024",
    "March 5, 2024",
    "2024年3月5日",
    "31-Dec-99",
    "05/03/24",
    "1st of january 2000",
    "20 Jul 1969",
    "Saturday, November 30th, 1974",
    "20380119",
    "4/7/1976",
)
# What the examples say is never kept from training.
SHOWN = frozenset(
    date(*day)
    for day in (
        (2024, 3, 5),
        (1999, 12, 31),
        (2000, 1, 1),
        (1969, 7, 20),
        (1974, 11, 30),
        (2038, 1, 19),
        (1976, 7, 4),
    )
)


def generate(seed: int = 0) -> Dataset:
    """The splits "train" and "held_out"; the same seed gives the same dates."""
    return splits.split(NAME, seed, SHOWN)


def sentence(rng: np.random.Generator) -> Pair:
    """One fresh date."""
    chance = Chance(rng)
    return splits.written(chance, splits.drawn(chance))


def tokenizer(data: Dataset) -> CharTokenizer:
    """All characters of the training dates."""
    return CharTokenizer.build(data.texts())


def examples(data: Dataset, model: Model) -> list[Example]:
    """The training dates as ids."""
    return numbered_examples(data["train"], model)


def card(data: Dataset, model: Model, used: Recipe) -> dict[str, Any]:
    """The card of a freshly trained model."""
    return card_of(data, model, used, recipe.TITLE, recipe.ABOUT, EXAMPLES)


def check(data: Dataset, model: Model) -> Iterator[str]:
    """Measure a model and say in lines what came out."""
    yield from check_pairs(data, model, recipe.RECIPE.guided)


__all__ = ["EXAMPLES", "NAME", "card", "check", "examples", "generate", "recipe", "sentence"]
__all__ += ["tokenizer"]
