"""English to Chinese at word level: a small translator's sentences, from a template grammar."""

from __future__ import annotations

from typing import Any

import numpy as np

from model_core.model import Model
from model_core.tokenizers import WordTokenizer
from model_core.training.batching import Example
from model_core.training.cards import card_of
from model_core.training.datasets import Dataset, Pair
from model_core.training.loop import Recipe
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_zh import recipe, sentences, splits
from model_core.training.tasks.en_zh.checking import check, free_sentences, numbered_examples

NAME = "en-zh"

# Sentences to start from, a different thing to see in each.
EXAMPLES = (
    "the black cat sleeps on the table today",
    "I love you",
    "the boy is eating an apple",
    "yesterday the clever girl read an interesting book in the garden",
    "my friend gave me two green apples",
    "what does the white rabbit eat",
    "she does not want to drink cold milk",
    "the dog that chased the cat is very tired",
    "there are many birds in the park",
    "the woman wears a red dress",
)
# What the examples say, and what a newcomer types first, is never kept from training.
SHOWN = (
    "triple:cat/sleep/on table",
    "triple:I/love/you",
    "triple:boy/eat/apple",
    "triple:girl/read/book",
    "triple:friend/give/apple",
    "triple:she/drink/milk",
    "triple:dog/chase/cat",
    "triple:dog/be/tired",
    "triple:bird/there/in park",
    "triple:woman/wear/dress",
    "triple:dog/see/cat",
    "triple:she/drink/water",
    "triple:cat/eat/fish",
    "triple:cat/drink/milk",
    "triple:cat/be/black",
    "triple:cat/be/on table",
    "triple:I/be/student",
    "adjective:black cat",
    "adjective:clever girl",
    "adjective:interesting book",
    "adjective:green apple",
    "adjective:red apple",
    "adjective:white rabbit",
    "adjective:cold milk",
    "adjective:tired dog",
    "adjective:red dress",
    "adjective:big dog",
)


def generate(seed: int = 0) -> Dataset:
    """The splits "train", "held_out" and "unseen_pairs"; the same seed gives the same sentences."""
    return splits.split(NAME, seed, SHOWN)


def sentence(rng: np.random.Generator) -> Pair:
    """One fresh sentence of known words."""
    return sentences.drawn(Chance(rng), whole=True)


def tokenizer(data: Dataset) -> WordTokenizer:
    """All words of the training sentences."""
    return WordTokenizer.build(data.texts())


def examples(data: Dataset, model: Model) -> list[Example]:
    """The training sentences as ids."""
    return numbered_examples(list(data["train"]), model)


def card(data: Dataset, model: Model, used: Recipe) -> dict[str, Any]:
    """The card of a freshly trained model."""
    return card_of(data, model, used, recipe.TITLE, recipe.ABOUT, EXAMPLES)


__all__ = ["EXAMPLES", "NAME", "card", "check", "examples", "free_sentences", "generate"]
__all__ += ["recipe", "sentence", "tokenizer"]
