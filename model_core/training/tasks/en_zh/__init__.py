"""English to Chinese at word level: a small translator's sentences, from a template grammar."""

from __future__ import annotations

import csv

import numpy as np

from model_core.training.datasets import Dataset, Pair
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_zh import recipe, sentences, splits
from model_core.training.tasks.en_zh.lexicon import TABLES

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


def free_sentences() -> list[tuple[str, tuple[str, ...]]]:
    """Sentences written by hand from the word list, each with its acceptable translations."""
    with open(TABLES / "free_sentences.tsv", encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(row["en"], tuple(row["zh"].split(" | "))) for row in rows]


__all__ = ["EXAMPLES", "NAME", "free_sentences", "generate", "recipe", "sentence"]
