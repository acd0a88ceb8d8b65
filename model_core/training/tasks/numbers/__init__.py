"""Figures to English words: one figure may be two words, one word or none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from model_core.model import Model
from model_core.tokenizers import GluedTokenizer
from model_core.training.batching import Example
from model_core.training.cards import card_of
from model_core.training.datasets import Dataset, Pair
from model_core.training.loop import Recipe
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.measuring import check_pairs, numbered_examples
from model_core.training.tasks.numbers import recipe, splits

NAME = "numbers"

# Numbers to start from, a different thing to see in each; training sees them all.
EXAMPLES = ("123456", "2024", "105", "1,005", "40", "313", "700000", "90,019", "7", "0")


def generate(seed: int = 0) -> Dataset:
    """The splits "train" and "held_out"; the same seed gives the same numbers."""
    shown = frozenset(int(example.replace(",", "")) for example in EXAMPLES)
    return splits.split(NAME, seed, shown)


def sentence(rng: np.random.Generator) -> Pair:
    """One fresh number."""
    chance = Chance(rng)
    return splits.written(chance, splits.drawn(chance))


def tokenizer(data: Dataset) -> GluedTokenizer:
    """The figures and the comma; the words, "twenty-" apart from "twenty"."""
    return GluedTokenizer.build(data.texts(), source_characters=True)


def examples(data: Dataset, model: Model) -> list[Example]:
    """The training numbers as ids."""
    return numbered_examples(data["train"], model)


def card(data: Dataset, model: Model, used: Recipe) -> dict[str, Any]:
    """The card of a freshly trained model."""
    return card_of(data, model, used, recipe.TITLE, recipe.ABOUT, EXAMPLES)


def check(data: Dataset, model: Model) -> Iterator[str]:
    """Measure a model and say in lines what came out."""
    yield from check_pairs(data, model, recipe.RECIPE.guided)


__all__ = ["EXAMPLES", "NAME", "card", "check", "examples", "generate", "recipe", "sentence"]
__all__ += ["tokenizer"]
