"""What a mistake does to the loss: the same short training with it and without."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from model_core.model import Model
from model_core.ops.base import Array
from model_core.parameters import initialise, pack_projections
from model_core.runner import Runner
from model_core.training.batching import Example, collate, epoch
from model_core.training.loop import Recipe, forward, record_losses
from model_core.training.mistakes import NO_CORRECTION, altered_plan, checked
from model_core.training.optimiser import Adam, clip_gradients, learning_rate_at


class Curves(NamedTuple):
    """The loss of each step taken so far, without the mistakes and with them."""

    right: tuple[float, ...]
    wrong: tuple[float, ...]
    steps: int

    def smoothed(self, over: int = 10) -> tuple[Array, Array]:
        """Both with the mean of each loss and those before it, as far back as `over` reaches.

        One batch is harder than another, which would hide the course of a curve.
        """
        right, wrong = (
            np.array(
                [np.mean(losses[max(end - over, 0) : end]) for end in range(1, len(losses) + 1)]
            )
            for losses in (self.right, self.wrong)
        )
        return right, wrong


def run_with(
    mistake: str | Collection[str],
    model: Model,
    examples: Sequence[Example],
    recipe: Recipe,
    steps: int = 50,
    cancelled: Callable[[], bool] = lambda: False,
) -> Curves:
    """Train a fresh model of this one's shape twice, with the mistake and without.

    Both start from the same weights and see the same batches and dropout masks; the model itself
    is not touched. Cancelled, the curves are those of the steps done.
    """
    found = Curves((), (), steps)
    for curves in loss_curves(mistake, model, examples, recipe, steps):
        found = curves
        if cancelled():
            break
    return found


def loss_curves(
    mistake: str | Collection[str],
    model: Model,
    examples: Sequence[Example],
    recipe: Recipe,
    steps: int = 50,
) -> Iterator[Curves]:
    """`run_with`, yielding the curves as they grow by a step each."""
    names = checked([mistake] if isinstance(mistake, str) else mistake)
    recipe = replace(recipe, steps=steps, warmup_steps=min(recipe.warmup_steps, steps // 5))
    right: tuple[float, ...] = ()
    wrong: tuple[float, ...] = ()
    both = zip(
        _losses(model, examples, recipe, frozenset()),
        _losses(model, examples, recipe, names),
        strict=True,
    )
    for without, with_it in both:
        right, wrong = (*right, without), (*wrong, with_it)
        yield Curves(right, wrong, steps)


def _losses(
    model: Model, examples: Sequence[Example], recipe: Recipe, mistakes: frozenset[str]
) -> Iterator[float]:
    """The loss before each update of a training of its own."""
    seeds = np.random.SeedSequence(recipe.seed).spawn(3)
    first, order, noise = (np.random.default_rng(seed) for seed in seeds)
    parameters = pack_projections(initialise(model.config, first, model.dtype))
    plan = altered_plan(model.config, model.dtype, recipe.dropout, mistakes)
    runner = Runner(model.config, parameters, model.dtype, recipe.dropout, plan)
    adam = Adam(
        recipe.learning_rate,
        recipe.beta1,
        recipe.beta2,
        recipe.epsilon,
        NO_CORRECTION.name not in mistakes,
    )
    words = model.tokenizer
    batches: Iterator[list[Example]] = iter(())
    for step in range(recipe.steps):
        chosen = next(batches, None)
        if chosen is None:
            batches = epoch(examples, recipe.batch_size, order)
            chosen = next(batches)
        batch = collate(chosen, words.pad_id, words.start_id, words.end_id)
        tape = forward(runner, batch, noise)
        target = record_losses(tape, batch, recipe, words.pad_id)
        gradients, _ = clip_gradients(tape.parameter_gradients(target), recipe.max_norm)
        adam.learning_rate = learning_rate_at(
            step, recipe.learning_rate, recipe.warmup_steps, recipe.steps, recipe.final_share
        )
        adam.step(parameters, gradients)
        yield float(tape["loss"].value)
