"""Decoding: the next token chosen again and again, greedily or by a seeded draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from model_core.ops.base import Array
from model_core.runner import GrowingRun
from model_core.sampling import Distribution, distribution, draw, uniforms

# Below this a temperature only sharpens an argmax into overflow, so it means greedy.
GREEDY_TEMPERATURE = 0.1


@dataclass(frozen=True)
class Strategy:
    """How a token is chosen; `temperature`, `top_k`, `top_p` and `seed` only count for "sample"."""

    name: str = "greedy"
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.name not in ("greedy", "sample"):
            raise ValueError(f'strategy is {self.name!r}, expected "greedy" or "sample"')
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise ValueError(f"temperature is {self.temperature}, expected a finite number >= 0")
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k is {self.top_k}, expected 1 or more")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise ValueError(f"top_p is {self.top_p}, expected more than 0 and at most 1")
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}, expected 0 or more")

    @property
    def is_greedy(self) -> bool:
        return self.name == "greedy" or self.temperature < GREEDY_TEMPERATURE


@dataclass(frozen=True, eq=False)
class Step:
    """One token chosen: where, which, how likely, and the distribution it was taken from.

    `log_prob` is the model's own (temperature and truncation aside); `uniform` is the number
    that drew the token, None when the choice was greedy or forced by a prefix.
    """

    position: int
    id: int
    token: str
    log_prob: float
    logits: Array = field(repr=False)
    strategy: Strategy = field(repr=False)
    uniform: float | None = None

    @cached_property
    def distribution(self) -> Distribution:
        """Every stage from the logits to the probabilities that the token was taken from."""
        if self.strategy.is_greedy:
            return distribution(self.logits)
        return distribution(
            self.logits, self.strategy.temperature, self.strategy.top_k, self.strategy.top_p
        )


def decode_batch(
    run: GrowingRun,
    batch: int,
    start_id: int,
    end_id: int,
    strategy: Strategy,
    max_new_tokens: int,
    prefix_ids: Sequence[int] = (),
    name: Callable[[int], str] = str,
) -> Iterator[list[Step | None]]:
    """Yield, for each new position, one step per sentence (None once it has ended).

    Every sentence draws from its own stream of the same seed, so that a batch gives what each
    of its sentences gives alone. The forced prefix is read but not yielded.
    """
    streams = [uniforms(strategy.seed) for _ in range(batch)]
    ended = [False] * batch
    ids = np.tile(np.array([[start_id, *prefix_ids]], dtype=np.int64), (batch, 1))
    for position in range(max_new_tokens):
        log_probs = run.advance(ids)[:, -1]
        logits = run.logits[:, -1]
        steps: list[Step | None] = []
        for row in range(batch):
            if ended[row]:
                steps.append(None)
                continue
            uniform = staged = None
            if strategy.is_greedy:
                chosen = int(logits[row].argmax())
            else:
                uniform = next(streams[row])
                staged = distribution(
                    logits[row], strategy.temperature, strategy.top_k, strategy.top_p
                )
                chosen = draw(staged, uniform)
            log_prob = float(log_probs[row, chosen])
            step = Step(position, chosen, name(chosen), log_prob, logits[row], strategy, uniform)
            if staged is not None:
                step.__dict__["distribution"] = staged
            ended[row] = chosen == end_id
            steps.append(step)
        yield steps
        if all(ended):
            return
        ids = np.array([[end_id if step is None else step.id] for step in steps], dtype=np.int64)
