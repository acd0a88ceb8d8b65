"""What a training run will take: parameters, memory, time; the time by trying a few steps."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from model_core.parameters import parameter_count
from model_core.training.batching import Example, epoch, n_batches
from model_core.training.held_out import rows_at_a_time
from model_core.training.lab_data import Facts, Prepared
from model_core.training.loop import Trainer
from model_core.training.settings import Settings
from model_core.training.tape_memory import BYTES, tape_bytes
from model_core.transformer import Dropout

# Values, gradients, clipped gradients, Adam's two moments, its two working vectors, the guard's.
COPIES_OF_PARAMETERS = 8
# The walk back holds, at its widest, about this share of a tape's records besides.
SHARE_OF_GRADIENTS = 0.5
MOST_BATCHES_TRIED = 6


@dataclass(frozen=True)
class Estimate:
    """seconds are None until a few steps were tried; memory is of the run alone, in bytes."""

    parameters: int
    file_bytes: int
    memory: int
    steps_per_epoch: int
    total_steps: int
    seconds_per_step: float | None = None

    @property
    def seconds_per_epoch(self) -> float | None:
        if self.seconds_per_step is None:
            return None
        return self.seconds_per_step * min(self.steps_per_epoch, self.total_steps)

    @property
    def seconds(self) -> float | None:
        """Of the whole run, evaluations aside."""
        return None if self.seconds_per_step is None else self.seconds_per_step * self.total_steps


def estimate(settings: Settings, facts: Facts) -> Estimate:
    """What can be said at once; settings without problems are expected."""
    config = settings.sized(facts.n_source_tokens, facts.n_target_tokens)
    count = parameter_count(config)
    shapes = batch_shapes(settings, facts)
    dropout = settings.dropout
    tape = max((tape_bytes(config, dropout, shape) for shape in set(shapes)), default=0)
    memory = _memory(count, tape, _measured(settings, facts))
    fitting = max(1, facts.n_train - facts.longer_than(settings.max_seq_len))
    return Estimate(
        parameters=count,
        file_bytes=count * BYTES + 20 * (facts.n_source_tokens + facts.n_target_tokens),
        memory=memory,
        steps_per_epoch=n_batches(fitting, settings.batch_size),
        total_steps=settings.total_steps(fitting),
    )


def memory_at_most(settings: Settings, facts: Facts) -> tuple[int, tuple[int, int, int]]:
    """The memory where the longest texts of both sides meet in one batch, and its shape (B,S,T).

    Quick, other than `estimate`: it is asked for while settings are typed.
    """
    shape = largest_batch(settings, facts)
    config = settings.sized(facts.n_source_tokens, facts.n_target_tokens)
    tape = tape_bytes(config, settings.dropout, shape)
    return _memory(parameter_count(config), tape, _measured(settings, facts)), shape


def _memory(count: int, tape: int, measured: int) -> int:
    # all passes lie in one block but the first one of a shape; gradients are gone while measuring
    passes = max(int((2 + SHARE_OF_GRADIENTS) * tape), 2 * tape + measured)
    return count * BYTES * COPIES_OF_PARAMETERS + passes


def _measured(settings: Settings, facts: Facts) -> int:
    """The bytes of the records of a batch that is measured on."""
    if not facts.n_held_out:
        return 0
    config = settings.sized(facts.n_source_tokens, facts.n_target_tokens)
    _, sources, targets = largest_batch(settings, facts)
    rows = min(rows_at_a_time(max(sources, targets)), facts.n_held_out)
    return tape_bytes(config, Dropout(), (rows, sources, targets))


def largest_batch(settings: Settings, facts: Facts) -> tuple[int, int, int]:
    """(B,S,T) of a batch of the longest texts that max_seq_len lets in."""
    fitting = facts.lengths[facts.lengths.max(axis=1) <= settings.max_seq_len]
    sources, targets = fitting.max(axis=0, initial=1).tolist()
    return min(settings.batch_size, max(1, facts.n_train)), sources, targets


def timed(found: Estimate, prepared: Prepared, settings: Settings, budget: float = 1.5) -> Estimate:
    """The estimate with the time of a step, by training a few batches of all lengths.

    prepared: changed by it, so it must not be the one that is to be trained
    budget: in seconds; at least one batch is tried
    """
    batches = spread_batches(prepared.train, settings)
    start, costs = time.perf_counter(), []
    for batch in batches:
        trainer = Trainer(prepared.model, batch, settings.recipe(len(prepared.train)))
        # the first step of a shape finds out and allocates what later ones reuse
        trainer.advance()
        before = time.perf_counter()
        trainer.advance()
        costs.append(time.perf_counter() - before)
        if time.perf_counter() - start > budget:
            break
    return replace(found, seconds_per_step=sum(costs) / len(costs))


def spread_batches(examples: Sequence[Example], settings: Settings) -> list[list[Example]]:
    """A few of an epoch's batches, from short to long, the middle ones first."""
    batches = list(epoch(examples, settings.batch_size, np.random.default_rng(0)))
    batches.sort(key=lambda batch: max(len(e.source) + len(e.target) for e in batch))
    count = min(MOST_BATCHES_TRIED, len(batches))
    places = [int((i + 0.5) * len(batches) / count) for i in range(count)]
    places.sort(key=lambda place: abs(place - len(batches) / 2))
    return [batches[place] for place in places]


def batch_shapes(settings: Settings, facts: Facts) -> list[tuple[int, int, int]]:
    """(B,S,T) of the batches of an epoch, as far as the lengths of the sample tell."""
    fitting = facts.lengths[facts.lengths.max(axis=1) <= settings.max_seq_len]
    examples = [Example(range(int(s)), range(int(t) - 1)) for s, t in fitting]
    if not examples:
        return []
    # the sample may be smaller than a batch
    scale = max(1, min(settings.batch_size, facts.n_train) // len(examples))
    return [
        (len(rows) * scale, max(len(e.source) for e in rows), max(len(e.target) for e in rows) + 1)
        for rows in epoch(examples, settings.batch_size, np.random.default_rng(0))
    ]
