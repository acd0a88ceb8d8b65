"""Decoding: the next token chosen again and again, greedily, by a seeded draw or a beam search."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np

from model_core.beams import (
    BeamSettings,
    BeamStep,
    EarlyStopping,
    Hypothesis,
    Wording,
    beam_search,
)
from model_core.constraints import BoundConstraints, ConstraintStage
from model_core.ops.base import Array
from model_core.runner import GrowingRun
from model_core.sampling import (
    GREEDY_TEMPERATURE,
    Distribution,
    distribution,
    draw,
    log_probabilities,
    near_boundary,
    uniforms,
)

# After so many steps of a beam search the rows of pruned hypotheses are given up.
STEPS_BETWEEN_CLEARING = 16


@dataclass(frozen=True)
class Strategy:
    """How a token is chosen.

    `temperature`, `top_k`, `top_p` and `seed` only count for "sample"; `beams`, `length_penalty`,
    `early_stopping` and `n_best` only for "beam" (model_core.beams.BeamSettings).
    """

    name: str = "greedy"
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    seed: int = 0
    beams: int = 4
    length_penalty: float = 1.0
    early_stopping: EarlyStopping = False
    n_best: int | None = None

    def __post_init__(self) -> None:
        if self.name not in ("greedy", "sample", "beam"):
            raise ValueError(f'strategy is {self.name!r}, expected "greedy", "sample" or "beam"')
        heat: Any = self.temperature
        if not (_is_number(heat) and math.isfinite(heat) and heat >= 0):
            raise ValueError(f"temperature is {heat!r}, expected a finite number >= 0")
        top_k: Any = self.top_k
        if top_k is not None and not (_is_whole(top_k) and top_k >= 1):
            raise ValueError(f"top_k is {top_k!r}, expected 1 or more")
        top_p: Any = self.top_p
        if top_p is not None and not (_is_number(top_p) and 0 < top_p <= 1):
            raise ValueError(f"top_p is {top_p!r}, expected more than 0 and at most 1")
        seed: Any = self.seed
        if not (_is_whole(seed) and seed >= 0):
            raise ValueError(f"seed is {seed!r}, expected 0 or more")
        # made for what it refuses
        _ = self.beam_settings

    @property
    def is_greedy(self) -> bool:
        """Whether each token is the likeliest one."""
        return self.name == "greedy" or (
            self.name == "sample" and self.temperature < GREEDY_TEMPERATURE
        )

    @property
    def beam_settings(self) -> BeamSettings:
        return BeamSettings(self.beams, self.length_penalty, self.early_stopping, self.n_best)


@dataclass(frozen=True, eq=False)
class Step:
    """One token chosen: where, which, how likely, and the distribution it was taken from.

    `log_prob` is the model's own (temperature, truncation and constraints aside); `uniform` is
    the number that drew the token, None when the choice was greedy or forced by a prefix.

    Of a beam search it is the hypothesis with the largest sum at this step: its `log_prob`, after
    the constraints, and the logits that it came from. `beam` is the whole step.
    """

    position: int
    id: int
    token: str
    log_prob: float
    logits: Array = field(repr=False)
    strategy: Strategy = field(repr=False)
    uniform: float | None = None
    rules: BoundConstraints | None = field(default=None, repr=False)
    # what the constraints act on: what was there before, and of a beam search its log-probabilities
    before: Sequence[int] = field(default=(), repr=False)
    scored: Array | None = field(default=None, repr=False)
    beam: BeamStep | None = field(default=None, repr=False)

    @cached_property
    def constrained(self) -> list[ConstraintStage]:
        """The stages of the constraints, the last of which the token was chosen from."""
        if self.rules is None:
            return []
        # made again when asked for: of a large vocabulary and a long text they fill the memory
        if self.scored is not None:
            return self.rules.stages(self.scored, self.before, log_probabilities=True)
        return self.rules.stages(self.logits, self.before)

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """All that a step of a beam search looked at, kept and pruned; empty otherwise."""
        return () if self.beam is None else self.beam.hypotheses

    @property
    def near_boundary(self) -> bool:
        """Whether another computation of the same run may draw another token here."""
        return self.uniform is not None and near_boundary(self.distribution, self.uniform)

    @cached_property
    def distribution(self) -> Distribution:
        """Every stage from the (constrained) logits to what the token was taken from."""
        logits = self.constrained[-1].after if self.constrained else self.logits
        if self.strategy.name != "sample" or self.strategy.is_greedy:
            return distribution(logits)
        return distribution(
            logits, self.strategy.temperature, self.strategy.top_k, self.strategy.top_p
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def decode_batch(
    run: GrowingRun,
    batch: int,
    start_id: int,
    end_id: int,
    strategy: Strategy,
    max_new_tokens: int,
    prefix_ids: Sequence[int] = (),
    name: Callable[[int], str] = str,
    rules: BoundConstraints | None = None,
) -> Iterator[list[Step | None]]:
    """Yield, for each new position, one step per sentence (None once it has ended).

    Every sentence draws from its own stream of the same seed, so that a batch gives what each
    of its sentences gives alone. The forced prefix is read but not yielded; its uniforms are left
    out, so that the token behind it is drawn as it would be if the prefix had been drawn too.
    """
    streams = [uniforms(strategy.seed, skip=len(prefix_ids)) for _ in range(batch)]
    ended = [False] * batch
    ids = np.tile(np.array([[start_id, *prefix_ids]], dtype=np.int64), (batch, 1))
    so_far = [[start_id, *prefix_ids] for _ in range(batch)]
    for position in range(max_new_tokens):
        run.advance(ids)
        logits = run.logits[:, -1]
        log_probs = log_probabilities(logits)
        steps: list[Step | None] = []
        for row in range(batch):
            if ended[row]:
                steps.append(None)
                continue
            uniform = staged = None
            constrained = () if rules is None else rules.stages(logits[row], so_far[row])
            read = constrained[-1].after if constrained else logits[row]
            if strategy.is_greedy:
                chosen = int(read.argmax())
            else:
                uniform = next(streams[row])
                staged = distribution(read, strategy.temperature, strategy.top_k, strategy.top_p)
                chosen = draw(staged, uniform)
            log_prob = float(log_probs[row, chosen])
            step = Step(
                position,
                chosen,
                name(chosen),
                log_prob,
                logits[row],
                strategy,
                uniform,
                rules,
                () if rules is None else tuple(so_far[row]),
            )
            if staged is not None:
                step.__dict__["distribution"] = staged
            ended[row] = chosen == end_id
            so_far[row].append(chosen)
            steps.append(step)
        yield steps
        if all(ended):
            return
        ids = np.array([[end_id if step is None else step.id] for step in steps], dtype=np.int64)


def decode_beams(
    run: GrowingRun,
    wording: Wording,
    end_id: int,
    strategy: Strategy,
    max_new_tokens: int,
    rules: BoundConstraints | None = None,
) -> Iterator[Step]:
    """Yield the steps of a beam search over one sentence, the running hypotheses as a batch."""
    log_probs = np.empty((0, 0))

    def advance(parents: Sequence[int] | None, ids: Array) -> Array:
        nonlocal log_probs
        if parents is not None:
            run.reorder(parents)
        run.advance(ids)
        log_probs = log_probabilities(run.logits[:, -1])
        return log_probs

    def constrain(log_probs: Array, ids: Sequence[int]) -> Array:
        assert rules is not None
        return rules.stages(log_probs, ids, log_probabilities=True)[-1].after

    for step in beam_search(
        advance,
        strategy.beam_settings,
        wording,
        end_id,
        max_new_tokens,
        None if rules is None else constrain,
    ):
        if (step.position + 1) % STEPS_BETWEEN_CLEARING == 0:
            _clear(run, step)
        if not step.hypotheses:
            # no hypothesis could go on, so that the ranking is still that of the step before
            return
        best = step.hypotheses[0]
        parent = best.rows[-1]
        yield Step(
            step.position,
            best.id,
            best.token,
            best.log_prob,
            run.logits[parent, -1].copy(),
            strategy,
            rules=rules,
            before=() if rules is None else best.ids[:-1],
            scored=None if rules is None else log_probs[parent].copy(),
            beam=step,
        )


def _clear(run: GrowingRun, step: BeamStep) -> None:
    """Give up the rows that no hypothesis still in the search came through."""
    needed: list[set[int]] = [set() for _ in range(step.position + 1)]
    for hypothesis in (*step.running, *step.ranking):
        for rows, row in zip(needed, hypothesis.rows, strict=False):
            rows.add(row)
    run.hold_only([sorted(rows) for rows in needed])
