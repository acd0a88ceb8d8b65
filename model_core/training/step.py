"""One whole training step with nothing hidden: forward, loss, backward, clipping, Adam.

The model stays as it is until the step is applied.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from model_core.gradients import GradientTape, Target
from model_core.model import Model
from model_core.ops import DropoutMask, Explanation, Operand
from model_core.ops.base import Array, Index
from model_core.parameters import pack_projections
from model_core.runner import Runner
from model_core.tape import Tape, checked_index
from model_core.training.batching import Batch
from model_core.training.loop import Recipe, forward, record_losses
from model_core.training.mistakes import NO_CORRECTION, altered_plan, checked
from model_core.training.optimiser import Adam, Moments, clip_gradients, learning_rate_at
from model_core.training.pairs import Pairs, batch_of

# A number, what streams are spawned from, or the state of a stream, as training keeps it.
Seed = int | np.random.SeedSequence | dict[str, Any]
# What is added to the norm before it divides, in `clip_gradients`.
NORM_GUARD = 1e-6


@dataclass(frozen=True, eq=False)
class AdamCells:
    """What the optimiser does to one parameter; every array has the parameter's shape.

    gradient: before clipping    first, second: the moments m and v    corrected: divided by their
    shares of the past    update: what is taken off
    """

    before: Array
    gradient: Array
    clipped: Array
    first_before: Array
    second_before: Array
    first: Array
    second: Array
    first_corrected: Array
    second_corrected: Array
    update: Array
    after: Array


@dataclass(frozen=True, eq=False)
class Optimised:
    """The optimiser's share of a step, before and after.

    coefficient: what the gradients were multiplied with    count: how many steps Adam has made now
    corrections: what its moments are divided by
    """

    norm: float
    coefficient: float
    clipped_norm: float
    learning_rate: float
    count: int
    corrections: tuple[float, float]
    gradients: Mapping[str, Array]
    clipped: Mapping[str, Array]
    before: Moments
    after: Moments
    parameters: Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class GlassStep:
    """One training step, recorded.

    tape: the forward pass, dropout masks and losses included    target: what is minimised, "loss"
    or "total_loss"    gradients: of the target, read like a tape    parameters: before the step
    """

    model: Model
    batch: Batch
    recipe: Recipe
    seed: Seed
    step: int
    mistakes: frozenset[str]
    tape: Tape
    target: str
    gradients: GradientTape
    parameters: Mapping[str, Array]
    optimised: Optimised

    @property
    def loss(self) -> float:
        """What is minimised, as a number."""
        return float(self.tape[self.target].value)

    @cached_property
    def loss_after(self) -> float:
        """What is minimised, of the same batch with the same dropout masks, after the step."""
        new = pack_projections({n: v.copy() for n, v in self.optimised.parameters.items()})
        return float(self._taken_with(new)[self.target].value)

    def _taken_with(self, parameters: Mapping[str, Array]) -> Tape:
        model, recipe = self.model, self.recipe
        plan = altered_plan(model.config, model.dtype, recipe.dropout, self.mistakes)
        runner = Runner(model.config, parameters, model.dtype, recipe.dropout, plan)
        tape = forward(runner, self.batch, stream_of(self.seed))
        record_losses(tape, self.batch, recipe, model.tokenizer.pad_id)
        return tape

    @property
    def first_move(self) -> float | None:
        """How far Adam's first step moves a weight whose gradient is much larger than epsilon.

        The gradient's size cancels out. None for a step whose averages are not empty.
        """
        done, recipe = self.optimised, self.recipe
        if done.before.steps:
            return None
        first, second = done.corrections
        kept = (1.0 - recipe.beta1) / first, (1.0 - recipe.beta2) / second
        return done.learning_rate * kept[0] / math.sqrt(kept[1])

    @cached_property
    def counted(self) -> Array:
        """(B,T) True where a position counts in the loss."""
        return np.asarray(self.batch.labels != self.model.tokenizer.pad_id)

    @cached_property
    def losses(self) -> Array:
        """(B,T) in float64, -log p of each label, smoothed as in the loss; nan where not counted.

        Their mean is the loss.
        """
        log_probs = np.asarray(self.tape["log_probs"].value, np.float64)
        own = np.take_along_axis(log_probs, self.batch.labels[..., None], axis=-1)[..., 0]
        smooth = self.recipe.label_smoothing
        each = -((1.0 - smooth) * own + smooth * log_probs.mean(axis=-1))
        return np.where(self.counted, each, np.nan)

    @cached_property
    def label_probabilities(self) -> Array:
        """(B,T) in float64, how likely the model thought each label."""
        log_probs = np.asarray(self.tape["log_probs"].value, np.float64)
        return np.exp(np.take_along_axis(log_probs, self.batch.labels[..., None], axis=-1)[..., 0])

    @cached_property
    def dropout_sites(self) -> tuple[str, ...]:
        """The dropout masks, in the order in which they were drawn."""
        return tuple(r.site for r in self.tape if isinstance(r.kind, DropoutMask))

    @cached_property
    def gradient_sizes(self) -> dict[str, float]:
        """The largest gradient of every site that one flows to, from the loss back to the start."""
        found = {}
        for record in reversed(list(self.gradients)):
            if record.site == self.target or record.shares:
                found[record.site] = float(np.abs(record.value).max(initial=0.0))
        return found

    @cached_property
    def value_sizes(self) -> dict[str, float]:
        """The largest number, by its size, of every site from the start to what is minimised.

        What a mask has set to minus infinity does not count; sites of yes and no are left out.
        """
        found = {}
        for record in self.tape:
            if record.value.dtype != np.bool_:
                sizes = np.abs(record.value)
                found[record.site] = float(sizes.max(initial=0.0, where=np.isfinite(sizes)))
        return found

    @cached_property
    def norms(self) -> dict[str, float]:
        """The norm of every parameter's gradient, before clipping."""
        gradients = self.optimised.gradients
        return {name: float(np.linalg.norm(g)) for name, g in gradients.items()}

    def dropped_share(self, site: str) -> float:
        """How much of what a dropout mask lies on was dropped."""
        return float((self.tape[site].value == 0.0).mean())

    def explain_mask(self, site: str, index: Sequence[int]) -> Explanation:
        """How a cell of a dropout mask was drawn, from the random stream as it was before."""
        generator = stream_of(self.seed)
        for name in self.dropout_sites:
            record = self.tape[name]
            if name == site:
                place = checked_index(site, index, record.value.shape)
                read = Operand("generator", generator)
                return record.kind.explain(place, (record.operands[0], read))
            record.kind.forward(record.operands[0].value, generator)
        raise KeyError(f"no dropout mask {site!r} was drawn in this step")

    def cells(self, name: str) -> AdamCells:
        """What the optimiser does to one parameter; KeyError for a name that is none."""
        if name not in self.parameters:
            raise KeyError(f"this model has no parameter {name!r}")
        done, value = self.optimised, self.parameters[name]
        first, second = _part(done.after, self.parameters, name)
        first_share, second_share = done.corrections
        corrected = first / first_share, second / second_share
        update = corrected[0] / (np.sqrt(corrected[1]) + self.recipe.epsilon) * done.learning_rate
        return AdamCells(
            value,
            done.gradients[name],
            done.clipped[name],
            *_part(done.before, self.parameters, name),
            first,
            second,
            *corrected,
            update,
            done.parameters[name],
        )

    def place_of_largest(self, name: str) -> Index:
        """The cell of a parameter that has the largest gradient."""
        sizes = np.abs(self.optimised.gradients[name])
        return tuple(int(i) for i in np.unravel_index(int(sizes.argmax()), sizes.shape))

    def apply(self) -> None:
        """Give the model the new weights; ValueError where it has changed since."""
        own = self.model.parameters
        if any(not np.array_equal(own[name], value) for name, value in self.parameters.items()):
            raise ValueError("the model's weights are no longer those that this step began with")
        for name, value in self.optimised.parameters.items():
            own[name][...] = value


def glass_step(
    model: Model,
    batch: Batch | Pairs,
    recipe: Recipe,
    seed: Seed = 0,
    mistakes: Collection[str] = (),
    *,
    step: int = 0,
    moments: Moments | None = None,
) -> GlassStep:
    """Take one training step on copies of the model's weights and keep all that happens.

    batch: padded ids, or pairs of texts    seed: of the dropout masks
    step: how many were taken before, for the learning rate    moments: Adam's, None for its first
    ValueError with a sentence where the texts make no batch for this model.
    """
    chosen = checked(mistakes)
    if not isinstance(batch, Batch):
        batch = batch_of(model, batch)
    plan = altered_plan(model.config, model.dtype, recipe.dropout, chosen)
    parameters = pack_projections({name: v.copy() for name, v in model.parameters.items()})
    runner = Runner(model.config, parameters, model.dtype, recipe.dropout, plan)
    tape = forward(runner, batch, stream_of(seed))
    _name_tokens(tape, model)
    target = record_losses(tape, batch, recipe, model.tokenizer.pad_id)
    labels = tuple(int(label) for label in batch.labels.reshape(-1))
    gradients = GradientTape(tape, target, Target("loss", labels=labels))
    optimised = _optimise(
        tape.parameter_gradients(target), parameters, recipe, chosen, step, moments
    )
    return GlassStep(
        model, batch, recipe, seed, step, chosen, tape, target, gradients, parameters, optimised
    )


def _optimise(
    gradients: dict[str, Array],
    parameters: Mapping[str, Array],
    recipe: Recipe,
    mistakes: Collection[str],
    step: int,
    moments: Moments | None,
) -> Optimised:
    """Clip and have Adam itself change copies of the parameters."""
    clipped, norm = clip_gradients(gradients, recipe.max_norm)
    coefficient = min(1.0, recipe.max_norm / (norm + NORM_GUARD))
    rate = learning_rate_at(
        step, recipe.learning_rate, recipe.warmup_steps, recipe.steps, recipe.final_share
    )
    corrects = NO_CORRECTION.name not in mistakes
    adam = Adam(rate, recipe.beta1, recipe.beta2, recipe.epsilon, corrects)
    if moments is None:
        size = sum(value.size for value in parameters.values())
        dtype = next(iter(parameters.values())).dtype
        moments = Moments(tuple(parameters), 0, np.zeros(size, dtype), np.zeros(size, dtype))
    adam.restore(Moments(moments.names, moments.steps, moments.first.copy(), moments.second.copy()))
    after = {name: value.copy() for name, value in parameters.items()}
    adam.step(after, clipped)
    held = adam.moments
    assert held is not None
    return Optimised(
        norm,
        coefficient,
        norm * coefficient,
        rate,
        adam.steps,
        adam.corrections,
        gradients,
        clipped,
        moments,
        held,
        after,
    )


def _part(moments: Moments, parameters: Mapping[str, Array], name: str) -> tuple[Array, Array]:
    """Both moments of one parameter, in its shape."""
    start = 0
    for other in moments.names:
        value = parameters[other]
        if other == name:
            cells = slice(start, start + value.size)
            return moments.first[cells].reshape(value.shape), moments.second[cells].reshape(
                value.shape
            )
        start += value.size
    raise KeyError(f"Adam has no moments of {name!r}")


def stream_of(seed: Seed) -> np.random.Generator:
    """The random stream at its start, or where it stood; a new one each time."""
    if not isinstance(seed, dict):
        return np.random.default_rng(deepcopy(seed))
    stream = np.random.default_rng()
    stream.bit_generator.state = seed
    return stream


def _name_tokens(tape: Tape, model: Model) -> None:
    words: Any = model.tokenizer
    source = [words.source_tokens(row) for row in tape.source_ids.tolist()]
    target = [words.target_tokens(row) for row in tape.target_ids.tolist()]
    predicted = [words.target_tokens(row) for row in tape.predicted_ids.tolist()]
    single = len(source) == 1
    tape.source_tokens = source[0] if single else source
    tape.target_tokens = target[0] if single else target
    tape.predicted_tokens = predicted[0] if single else predicted
