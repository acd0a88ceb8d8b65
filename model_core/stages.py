"""The way from logits to the drawn token as a list of named stages over the whole vocabulary.

Logits → each active constraint → ÷ temperature → top-k → top-p → renormalised → the draw. What a
panel shows is `distribution`'s own arrays, with the figures of each stage beside them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from model_core.constraints import ConstraintStage
from model_core.sampling import (
    Distribution,
    Draw,
    Floats,
    Ids,
    RankedLogits,
    distribution,
    draw_counts,
    drawn,
)

TEMPERED, AFTER_TOP_K, AFTER_TOP_P = "tempered", "after_top_k", "after_top_p"
LOGITS, RENORMALISED = "logits", "renormalised"


@dataclass(frozen=True, eq=False)
class Stage:
    """One stage: its values (V,) in id order and what it leaves.

    values: logits, -inf where a token is out; of "renormalised", the probabilities themselves
    kept_count: tokens that can still be drawn   kept_mass: their share of what the stage before
    left, 1 where nothing was cut   total_mass: their share of the model's own distribution where
    only cut and tempered, so the product of all kept masses since the logits
    entropy: bits, of the distribution that the stage leaves when renormalised
    touched: the ids that a constraint changed, None for other stages
    """

    name: str
    values: Floats
    kept_count: int
    kept_mass: float
    total_mass: float
    entropy: float
    touched: Ids | None = None
    is_off: bool = False

    @property
    def perplexity(self) -> float:
        """2 to the entropy: among how many equally likely tokens the choice would be as open."""
        return 2.0**self.entropy

    @cached_property
    def probabilities(self) -> Floats:
        """What would be drawn from if this stage were the last (V,)."""
        if self.name == RENORMALISED:
            return self.values
        shares = np.exp(self.values - self.values.max())
        shares /= shares.sum()
        shares.setflags(write=False)
        return shares


@dataclass(frozen=True, eq=False)
class Staged:
    """All stages for one setting of temperature, top-k and top-p."""

    stages: tuple[Stage, ...]
    distribution: Distribution

    def __getitem__(self, name: str) -> Stage:
        for stage in self.stages:
            if stage.name == name:
                return stage
        raise KeyError(f"there is no stage {name!r} among {', '.join(s.name for s in self.stages)}")

    def draw(self, uniform: float) -> Draw:
        """The token at `uniform` on the cumulative distribution, and its piece of it."""
        return drawn(self.distribution, uniform)

    def counts(self, seed: int, times: int, skip: int = 0) -> Ids:
        """How often each token is drawn (V,) by so many uniforms of a seed."""
        return draw_counts(self.distribution, seed, times, skip)


class Pipeline:
    """The logits of one position, ready to be looked at under any temperature, top-k and top-p.

    What those do not change is worked out once: the constraints, the ranking, the softmax of the
    logits. At 60,000 tokens a new setting then takes a few milliseconds.
    """

    def __init__(self, logits: Any, constraints: Sequence[ConstraintStage] = ()) -> None:
        """logits: (V,), the model's own   constraints: what was made of them, in order"""
        raw = RankedLogits(logits)
        self.ranked = RankedLogits(constraints[-1].after) if constraints else raw
        stages = [_first(raw.logits)]
        for constraint in constraints:
            stages.append(_constrained(stages[-1], constraint))
        self._before = tuple(stages)
        self._sums = _Sums.of(self.ranked.logits)

    @property
    def order(self) -> Ids:
        """All ids, most probable first, equal ones by id: so at every stage from here on."""
        return self.ranked.order

    def staged(
        self, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
    ) -> Staged:
        """All stages; the arguments and what is refused are those of `distribution`."""
        found = distribution(self.ranked, temperature, top_k, top_p)
        stages, total = list(self._before), self._before[-1].total_mass
        before, sums = self.ranked.logits, self._sums
        for name, values in (
            (TEMPERED, found.tempered),
            (AFTER_TOP_K, found.after_top_k),
            (AFTER_TOP_P, found.after_top_p),
        ):
            mass, is_off = 1.0, values is before
            if not is_off:
                after = _Sums.of(values)
                if name != TEMPERED:
                    # the largest stays, so both sums are shifted alike
                    mass = after.total / sums.total
                    total *= mass
                sums = after
            stages.append(Stage(name, values, sums.count, mass, total, sums.entropy, is_off=is_off))
            before = values
        kept = int(np.count_nonzero(found.kept))
        stages.append(Stage(RENORMALISED, found.probabilities, kept, 1.0, total, sums.entropy))
        return Staged(tuple(stages), found)


@dataclass(frozen=True)
class _Sums:
    """Sums over the tokens that are not out: how many, their exp(x - peak), the entropy in bits."""

    count: int
    total: float
    entropy: float

    @classmethod
    def of(cls, values: Floats) -> _Sums:
        finite = values if values.min() > -np.inf else values[values > -np.inf]
        shifted = finite - finite.max()
        weights = np.exp(shifted)
        total = float(weights.sum())
        # a weight that has run out to 0 can no more be drawn
        count = int(np.count_nonzero(weights))
        # -sum p ln p with p = weight / total, without a logarithm for each; and without BLAS,
        # whose threads take longer to meet than one takes for the sum
        weights *= shifted
        nats = math.log(total) - float(weights.sum()) / total
        return cls(count, total, max(nats, 0.0) / math.log(2.0))


def _first(logits: Floats) -> Stage:
    sums = _Sums.of(logits)
    return Stage(LOGITS, logits, sums.count, 1.0, 1.0, sums.entropy)


def _constrained(before: Stage, constraint: ConstraintStage) -> Stage:
    after, touched = constraint.after, constraint.touched
    if not touched.size:
        return Stage(
            constraint.name,
            after,
            before.kept_count,
            1.0,
            before.total_mass,
            before.entropy,
            touched,
            is_off=True,
        )
    sums = _Sums.of(after)
    mass = float(before.probabilities[after > -np.inf].sum())
    return Stage(
        constraint.name,
        after,
        sums.count,
        mass,
        before.total_mass * mass,
        sums.entropy,
        touched,
    )
