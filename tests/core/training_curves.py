"""Runs of the built-in tasks' recipes without dropout, to be compared with PyTorch's."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from model_core.model import Model
from model_core.parameters import initialise
from model_core.threads import limit_blas_threads
from model_core.training import tasks
from model_core.training.batching import Example, collate, epoch
from model_core.training.loop import Recipe, Trainer
from model_core.transformer import Dropout
from tests.core.task_data import sentences_of


class Losses(NamedTuple):
    """The cross-entropy of one step, and the alignment loss of a recipe that has one."""

    loss: float
    alignment_loss: float | None


def undropped(name: str) -> Recipe:
    """A task's recipe without dropout, whose random numbers no other program draws alike."""
    return replace(tasks.TASKS[name].recipe.RECIPE, dropout=Dropout())


def short_recipe(name: str, steps: int) -> Recipe:
    """The same as a run of so many steps: up to the highest rate in a quarter, then down."""
    recipe = undropped(name)
    return replace(recipe, steps=steps, warmup_steps=min(recipe.warmup_steps, steps // 4))


def first_model(name: str, dtype: str = "float32") -> Model:
    """A task's model as its training begins."""
    module = tasks.TASKS[name]
    tokenizer = module.tokenizer(sentences_of(name))
    config = module.recipe.config(tokenizer)
    limit_blas_threads(config)
    generator = np.random.default_rng([module.recipe.RECIPE.seed, 1])
    return Model(config, initialise(config, generator, dtype), tokenizer)


def examples_of(name: str, model: Model) -> list[Example]:
    return list(tasks.TASKS[name].examples(sentences_of(name), model))


def our_losses(
    model: Model, examples: Sequence[Example], recipe: Recipe, steps: int
) -> list[Losses]:
    """The losses of the first steps by the project's own loop."""
    trainer = Trainer(model, examples, recipe)
    made = (trainer.advance() for _ in range(steps))
    return [Losses(progress.loss, progress.alignment_loss) for progress in made]


def digest(examples: Sequence[Example], recipe: Recipe, model: Model, steps: int) -> str:
    """Of the parameters' shapes and of the first epoch's batches, up to so many."""
    order = np.random.default_rng(np.random.SeedSequence(recipe.seed).spawn(2)[0])
    found = hashlib.sha256(repr([(n, p.shape) for n, p in model.parameters.items()]).encode())
    words = model.tokenizer
    for chosen in islice(epoch(examples, recipe.batch_size, order), steps):
        batch = collate(chosen, words.pad_id, words.start_id, words.end_id)
        for ids in (batch.source_ids, batch.labels, batch.aligned):
            found.update(repr(ids.tolist()).encode())
    return found.hexdigest()[:16]
