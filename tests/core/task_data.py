"""The sentences of the built-in tasks, made once for all tests: en-fr takes a while."""

from __future__ import annotations

from functools import cache

from model_core.training import tasks
from model_core.training.datasets import Dataset


@cache
def sentences_of(name: str) -> Dataset:
    """The task's sentences, drawn with its recipe's seed."""
    module = tasks.TASKS[name]
    return module.generate(module.recipe.SEED)
