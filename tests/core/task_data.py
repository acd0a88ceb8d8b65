"""Sentences and batches of the built-in tasks; en-fr takes a while to be drawn: once for all."""

from __future__ import annotations

from functools import cache

import numpy as np

from model_core.model import Model
from model_core.training import tasks
from model_core.training.batching import Batch, Example, collate
from model_core.training.datasets import Dataset
from model_core.training.loop import Recipe
from model_core.training.tasks.measuring import numbered_examples


@cache
def sentences_of(name: str) -> Dataset:
    """The task's sentences, drawn with its recipe's seed."""
    module = tasks.TASKS[name]
    return module.generate(module.recipe.SEED)


def some_examples(name: str, model: Model, count: int) -> list[Example]:
    """So many training examples of the task."""
    module = tasks.TASKS[name]
    sentences = [module.sentence(np.random.default_rng(n)) for n in range(count)]
    if name != "chat-zh":
        return numbered_examples(sentences, model)
    words = model.tokenizer
    return [
        Example(words.encode_source(module.prompt(e)).ids, words.encode_target(e.answer).ids)
        for e in sentences
    ]


def a_batch(name: str, model: Model) -> tuple[Batch, Recipe]:
    """A few training examples of the task, and its recipe."""
    return collate(some_examples(name, model, 6), 0, 1, 2), tasks.TASKS[name].recipe.RECIPE
