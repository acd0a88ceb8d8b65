"""English to French at word level: word order, agreement, elision, from a template grammar."""

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
from model_core.training.tasks.en_fr import recipe, sentences, splits
from model_core.training.tasks.measuring import check_pairs, numbered_examples

NAME = "en-fr"

# Sentences to start from, a different thing to see in each.
EXAMPLES = (
    "the black cat sleeps in the garden today",
    "I love you",
    "the girl is eating a green apple",
    "he did not see the beautiful tree",
    "she went to the market yesterday",
    "my old friend does not drink coffee",
    "there are many birds in front of the church",
    "does the doctor like hot soup",
    "the boy's dog wants to sleep",
    "where are my keys",
)
# What the examples say, and what a newcomer types first, is never kept from training.
SHOWN = (
    "triple:cat/sleep/in garden",
    "triple:girl/eat/apple",
    "triple:he/see/tree",
    "triple:she/go/to market",
    "triple:friend/drink/coffee",
    "triple:bird/there/in front of church",
    "triple:doctor/like/soup",
    "triple:cat/eat/apple",
    "triple:I/eat/apple",
    "triple:dog/see/cat",
    "triple:she/drink/water",
    "triple:cat/drink/milk",
    "triple:cat/be/on table",
    "adjective:black cat",
    "adjective:white cat",
    "adjective:green apple",
    "adjective:red apple",
    "adjective:beautiful tree",
    "adjective:old friend",
    "adjective:hot soup",
    "adjective:big dog",
    "adjective:red car",
    "adjective:white house",
)


def generate(seed: int = 0) -> Dataset:
    """The splits "train", "held_out" and "unseen_pairs"; the same seed gives the same sentences."""
    return splits.split(NAME, seed, SHOWN)


def sentence(rng: np.random.Generator) -> Pair:
    """One fresh sentence of known words."""
    return sentences.drawn(Chance(rng), whole=True)


def tokenizer(data: Dataset) -> GluedTokenizer:
    """All words of the training sentences; "l'" is a word of its own."""
    return GluedTokenizer.build(data.texts())


def examples(data: Dataset, model: Model) -> list[Example]:
    """The training sentences as ids."""
    return numbered_examples(data["train"], model)


def card(data: Dataset, model: Model, used: Recipe) -> dict[str, Any]:
    """The card of a freshly trained model."""
    return card_of(data, model, used, recipe.TITLE, recipe.ABOUT, EXAMPLES)


def check(data: Dataset, model: Model) -> Iterator[str]:
    """Measure a model and say in lines what came out."""
    yield from check_pairs(data, model, recipe.RECIPE.guided)


__all__ = ["EXAMPLES", "NAME", "card", "check", "examples", "generate", "recipe", "sentence"]
__all__ += ["tokenizer"]
