"""Strings backwards, letter by letter: the simplest alignment there is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from model_core.model import Model
from model_core.tokenizers import CharTokenizer
from model_core.training.batching import Example
from model_core.training.cards import card_of
from model_core.training.datasets import Dataset, Pair
from model_core.training.loop import Recipe
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.measuring import check_pairs, numbered_examples
from model_core.training.tasks.reverse import recipe, strings

NAME = "reverse"

# Words and names, a palindrome, the longest and the shortest; training sees them all.
EXAMPLES = ("attention", "glass", "transformer", "level", "abcdefghijkl", "stressed", "ab", "q")


def generate(seed: int = 0) -> Dataset:
    """The splits "train" and "held_out"; the same seed gives the same strings."""
    return strings.split(NAME, seed, frozenset(EXAMPLES))


def sentence(rng: np.random.Generator) -> Pair:
    """One fresh string."""
    return strings.reversal(strings.drawn(Chance(rng)))


def tokenizer(data: Dataset) -> CharTokenizer:
    """The letters; the unknown character of training stays unknown."""
    unknown = strings.UNKNOWN_CHARACTER
    return CharTokenizer.build(
        (source.replace(unknown, ""), target.replace(unknown, ""))
        for source, target in data.texts()
    )


def examples(data: Dataset, model: Model) -> list[Example]:
    """The training strings as ids."""
    return numbered_examples(data["train"], model)


def card(data: Dataset, model: Model, used: Recipe) -> dict[str, Any]:
    """The card of a freshly trained model."""
    return card_of(data, model, used, recipe.TITLE, recipe.ABOUT, EXAMPLES)


def check(data: Dataset, model: Model) -> Iterator[str]:
    """Measure a model and say in lines what came out."""
    yield from check_pairs(data, model, recipe.RECIPE.guided)


__all__ = ["EXAMPLES", "NAME", "card", "check", "examples", "generate", "recipe", "sentence"]
__all__ += ["tokenizer"]
