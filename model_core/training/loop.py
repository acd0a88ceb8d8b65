"""The training loop, as a generator: whoever asks for the next step decides when it ends."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from model_core.model import Model
from model_core.ops import AlignmentLoss, CrossEntropy, WeightedSum
from model_core.runner import Runner
from model_core.tape import Tape
from model_core.training.arena import Arena
from model_core.training.batching import Batch, Example, collate, epoch, n_batches
from model_core.training.guard import Guard
from model_core.training.held_out import Evaluation, HeldOut
from model_core.training.norms import LayerNorms, layer_norms
from model_core.training.optimiser import (
    Adam,
    Moments,
    clipped_norm,
    clipping,
    gradient_norm,
    learning_rate_at,
)
from model_core.transformer import Dropout

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class GuidedHead:
    """One cross-attention head that is taught to look at the aligned source word."""

    layer: int
    head: int
    coefficient: float

    @property
    def site(self) -> str:
        return f"decoder.layers.{self.layer}.cross_attn.weights"


@dataclass(frozen=True)
class Recipe:
    """Everything that decides a training run apart from the data and the first parameters."""

    steps: int
    learning_rate: float
    warmup_steps: int
    batch_size: int = 64
    final_share: float = 0.02
    beta1: float = 0.9
    beta2: float = 0.98
    epsilon: float = 1e-9
    max_norm: float = 1.0
    label_smoothing: float = 0.0
    dropout: Dropout = field(default_factory=Dropout)
    guided: GuidedHead | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("steps", 0), ("warmup_steps", 0), ("batch_size", 1), ("seed", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name} is {value!r}, expected a whole number >= {least}")
        for name in ("learning_rate", "epsilon", "max_norm"):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and math.isfinite(value) and value > 0):
                raise ValueError(f"{name} is {value!r}, expected a finite number above 0")
        for name in ("beta1", "beta2", "label_smoothing"):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and 0 <= value < 1):
                raise ValueError(f"{name} is {value!r}, expected 0 to below 1")


@dataclass(frozen=True)
class Progress:
    """What one training step did; counts from 1.

    gradient_norm is the one before clipping, clipped_norm the one after it; norms and evaluation
    are of the steps that were asked for them.
    """

    step: int
    epoch: int
    loss: float
    alignment_loss: float | None
    gradient_norm: float
    learning_rate: float
    tokens: int
    clipped_norm: float = 0.0
    norms: tuple[LayerNorms, ...] = ()
    evaluation: Evaluation | None = None


@dataclass(frozen=True, eq=False)
class Position:
    """All that a run needs to go on, beside recipe and data.

    order: the state of the stream that shuffles, at the start of the epoch of which `batches`
    batches are done; noise: that of dropout, now
    """

    step: int
    epoch: int
    batches: int
    order: Mapping[str, Any]
    noise: Mapping[str, Any]
    parameters: Mapping[str, Array]
    moments: Moments | None


def train(
    model: Model,
    examples: Sequence[Example],
    recipe: Recipe,
    *,
    held_out: Sequence[Example] = (),
    evaluate_every: int = 0,
    norms_every: int = 0,
) -> Iterator[Progress]:
    """Train the model's parameters in place, yielding after every step.

    Every random number (order, dropout) comes from the recipe's seed. DivergedError where the
    loss is no number any more or runs away; the model then has its last good parameters.
    evaluate_every, norms_every: measure at every so-manieth step and the last; 0 is never
    """
    trainer = Trainer(model, examples, recipe)
    trainer.norms_every = norms_every
    if evaluate_every:
        trainer.measure_on(held_out, evaluate_every)
    while not trainer.is_finished:
        yield trainer.advance()


class Trainer:
    """One training run that is asked for each of its steps; whoever asks can pause it or stop."""

    def __init__(self, model: Model, examples: Sequence[Example], recipe: Recipe) -> None:
        if not examples:
            raise ValueError("there is nothing to train on: the data has no examples")
        self.model, self.recipe = model, recipe
        self._examples = examples
        streams = np.random.SeedSequence(recipe.seed).spawn(2)
        self._order, self._noise = (np.random.default_rng(stream) for stream in streams)
        self._runner = Runner(model.config, model.parameters, model.dtype, recipe.dropout)
        self._adam = Adam(recipe.learning_rate, recipe.beta1, recipe.beta2, recipe.epsilon)
        self._guard = Guard(model.parameters, model.config.tgt_vocab_size, recipe.learning_rate)
        self._arena = Arena(self._runner)
        self._held_out: HeldOut | None = None
        self._evaluate_every = 0
        self.norms_every = 0
        self.step, self.epoch, self._batches_done = 0, 0, 0
        self._order_at_start = self._order.bit_generator.state
        self._batches: Iterator[list[Example]] = iter(())
        # false within a step, and for good once one was broken off
        self._is_whole = True

    @property
    def is_finished(self) -> bool:
        return self.step >= self.recipe.steps

    @property
    def steps_per_epoch(self) -> int:
        """How many batches all examples give."""
        return n_batches(len(self._examples), self.recipe.batch_size)

    def measure_on(self, examples: Sequence[Example], every: int) -> None:
        """Evaluate on these examples at every so-manieth step and the last."""
        self._held_out, self._evaluate_every = HeldOut(self.model, examples), every

    def evaluate(self) -> Evaluation | None:
        """The model as it is now on the held-out examples, None where there are none."""
        return None if self._held_out is None else self._held_out.measure(self.step)

    def advance(self) -> Progress:
        """The next step, whether or not the recipe ends before it.

        ValueError after a step that was broken off: weights, moments and noise no longer fit.
        """
        self._refuse_half_a_step()
        self._is_whole = False
        # an overflow is no warning here but what the guard stops at
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            progress = self._advance()
        self._is_whole = True
        return progress

    def _refuse_half_a_step(self) -> None:
        if not self._is_whole:
            raise half_a_step(self.step + 1)

    def _advance(self) -> Progress:
        recipe, model = self.recipe, self.model
        tokenizer, batch = model.tokenizer, self.next_batch()
        rate = learning_rate_at(
            self.step, recipe.learning_rate, recipe.warmup_steps, recipe.steps, recipe.final_share
        )
        shape = (*batch.source_ids.shape, batch.target_ids.shape[1])
        tape = forward(self._runner, batch, self._noise, self._arena.lend(shape))
        target = record_losses(tape, batch, recipe, tokenizer.pad_id)
        gradients = tape.parameter_gradients(target)
        norm = gradient_norm(gradients)
        loss = float(tape["loss"].value)
        self._guard.check(self.step + 1, loss, norm, rate)
        measured = _is_due(self.step + 1, self.norms_every, recipe.steps)
        self._adam.keep_update = measured
        self._adam.learning_rate = rate
        self._adam.step(model.parameters, gradients, clipping(norm, recipe.max_norm))
        self.step += 1
        self._batches_done += 1
        guided = float(tape["alignment_loss"].value) if recipe.guided else None
        self._arena.keep(shape, tape)
        due = _is_due(self.step, self._evaluate_every, recipe.steps)
        return Progress(
            self.step,
            self.epoch,
            loss,
            guided,
            norm,
            rate,
            int(batch.target_mask.sum()),
            clipped_norm(norm, recipe.max_norm),
            layer_norms(model.parameters, self._adam.update) if measured else (),
            self.evaluate() if due else None,
        )

    def next_batch(self) -> Batch:
        """What the next step is taken on; it counts as taken from then on."""
        chosen = next(self._batches, None)
        if chosen is None:
            self._order_at_start = self._order.bit_generator.state
            self._batches = epoch(self._examples, self.recipe.batch_size, self._order)
            self.epoch += 1
            self._batches_done = 0
            chosen = next(self._batches)
        words = self.model.tokenizer
        return collate(chosen, words.pad_id, words.start_id, words.end_id)

    def position(self) -> Position:
        """Where the run stands; its arrays are the run's own and change with the next step.

        ValueError within a step, and after one that was broken off.
        """
        self._refuse_half_a_step()
        return Position(
            self.step,
            self.epoch,
            self._batches_done,
            self._order_at_start,
            self._noise.bit_generator.state,
            self.model.parameters,
            self._adam.moments,
        )

    def go_to(self, position: Position, losses: Iterable[float] = ()) -> None:
        """Stand where another run of the same recipe and data stood; its moments become ours.

        losses: of all steps so far, by which the next ones are judged
        """
        for name, value in self.model.parameters.items():
            value[...] = position.parameters[name]
        if position.moments is not None:
            self._adam.restore(position.moments)
        self.step, self.epoch = position.step, position.epoch
        self._order.bit_generator.state = dict(position.order)
        self._noise.bit_generator.state = dict(position.noise)
        self._order_at_start, self._batches_done = position.order, position.batches
        self._batches = iter(())
        if position.epoch:
            self._batches = epoch(self._examples, self.recipe.batch_size, self._order)
            for _ in range(position.batches):
                next(self._batches)
        self._guard.keep(self.step)
        self._guard.remember(losses)
        self._is_whole = True


def half_a_step(step: int) -> ValueError:
    """What is said of a run whose step (from 1) did not come to its end."""
    return ValueError(
        f"the run was broken off within step {step}, and half a step can be neither saved nor "
        "gone on with; take its last checkpoint, or begin anew"
    )


def _is_due(step: int, every: int, last: int) -> bool:
    return bool(every) and (step % every == 0 or step == last)


def forward(
    runner: Runner, batch: Batch, noise: np.random.Generator, reuse: Tape | None = None
) -> Tape:
    """One forward pass over a batch, dropout included."""
    return runner.trace(
        batch.source_ids,
        batch.target_ids,
        batch.source_mask,
        batch.target_mask,
        generator=noise,
        reuse=reuse,
    )


def record_losses(tape: Tape, batch: Batch, recipe: Recipe, pad_id: int) -> str:
    """Record the losses behind the pass; the name of the one to be minimised."""
    tape.add(
        "loss",
        CrossEntropy(recipe.label_smoothing, pad_id),
        "log_probs",
        "labels",
        axes=(),
        labels=batch.labels,
    )
    if recipe.guided is None:
        return "loss"
    tape.add(
        "alignment_loss",
        AlignmentLoss(recipe.guided.head),
        recipe.guided.site,
        "aligned",
        axes=(),
        aligned=batch.aligned,
    )
    total = WeightedSum(recipe.guided.coefficient)
    tape.add("total_loss", total, "loss", "alignment_loss", axes=())
    return "total_loss"
