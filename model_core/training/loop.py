"""The training loop, as a generator: whoever asks for the next step decides when it ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from model_core.model import Model
from model_core.ops import AlignmentLoss, CrossEntropy, WeightedSum
from model_core.runner import Runner
from model_core.tape import Tape
from model_core.training.batching import Batch, Example, collate, epoch
from model_core.training.optimiser import Adam, clip_gradients, learning_rate_at
from model_core.transformer import Dropout

KEPT_TAPES = 48


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


@dataclass(frozen=True)
class Progress:
    """What one training step did; counts from 1."""

    step: int
    epoch: int
    loss: float
    alignment_loss: float | None
    gradient_norm: float
    learning_rate: float
    tokens: int


def train(model: Model, examples: Sequence[Example], recipe: Recipe) -> Iterator[Progress]:
    """Train the model's parameters in place, yielding after every step.

    Every random number (order, dropout) comes from the recipe's seed.
    """
    if not examples:
        raise ValueError("there is nothing to train on: the data has no examples")
    tokenizer = model.tokenizer
    order, noise = (np.random.default_rng(s) for s in np.random.SeedSequence(recipe.seed).spawn(2))
    runner = Runner(model.config, model.parameters, model.dtype, recipe.dropout)
    adam = Adam(recipe.learning_rate, recipe.beta1, recipe.beta2, recipe.epsilon)
    # one finished tape a shape: its arrays are written over by the next batch of that shape;
    # only of the shapes met last, for those of all lengths together would fill gigabytes
    finished: dict[tuple[int, ...], Tape] = {}
    step, round_number = 0, 0
    while True:
        round_number += 1
        for chosen in epoch(examples, recipe.batch_size, order):
            batch = collate(chosen, tokenizer.pad_id, tokenizer.start_id, tokenizer.end_id)
            rate = learning_rate_at(
                step, recipe.learning_rate, recipe.warmup_steps, recipe.steps, recipe.final_share
            )
            shape = (*batch.source_ids.shape, batch.target_ids.shape[1])
            tape = forward(runner, batch, noise, finished.pop(shape, None))
            target = record_losses(tape, batch, recipe, tokenizer.pad_id)
            gradients, norm = clip_gradients(tape.parameter_gradients(target), recipe.max_norm)
            adam.learning_rate = rate
            adam.step(model.parameters, gradients)
            step += 1
            guided = float(tape["alignment_loss"].value) if recipe.guided else None
            loss = float(tape["loss"].value)
            finished[shape] = tape
            if len(finished) > KEPT_TAPES:
                del finished[next(iter(finished))]
            yield Progress(
                step, round_number, loss, guided, norm, rate, int(batch.target_mask.sum())
            )
            if step == recipe.steps:
                return


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
