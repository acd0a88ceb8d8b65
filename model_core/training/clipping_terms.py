"""How the factor comes about that a step's gradients are scaled down by: formulas with numbers.

Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks" (2013),
algorithm 1; the norm is that of all gradients together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from model_core.training.step import GlassStep
from model_core.training.update_terms import Near, factor_text, latex, read_factor, written

# So many of the parameters' norms are written out, the largest ones.
NORMS = 3


class ClippingStep(NamedTuple):
    """One formula of clipping, with its numbers in place.

    name: "norm", "factor" or "clipped"    filled: LaTeX, it holds as it is written    value: what
    it comes to in full precision
    """

    name: str
    filled: str
    value: float


def explain_clipping(step: GlassStep) -> list[ClippingStep]:
    """The norm of all gradients from those of the parameters, the factor, the norm after it."""
    return [_norm(step), _factor(step), _clipped(step)]


def _norm(step: GlassStep) -> ClippingStep:
    falling = sorted(step.norms.values(), reverse=True)
    largest, others = falling[:NORMS], falling[NORMS:]
    rest = math.fsum(size**2 for size in others)

    def fill(digits: int) -> str:
        found = [_square(latex(size, digits)) for size in largest]
        if others:
            found.append(rf"(\ldots = {latex(rest, digits)})")
        return rf"\sqrt{{{' + '.join(found)}}}"

    def reckon(near: Near) -> float:
        return math.sqrt(math.fsum(near(size) ** 2 for size in largest) + near(rest))

    return _step("norm", r"\| g \| = ", step.optimised.norm, fill, reckon)


def _factor(step: GlassStep) -> ClippingStep:
    most, norm = step.recipe.max_norm, step.optimised.norm
    return _step(
        "factor",
        r"\min\left(1, c / (\| g \| + 10^{-6})\right) = ",
        step.optimised.coefficient,
        lambda digits: factor_text(norm, most, digits),
        lambda near: read_factor(norm, most, near),
    )


def _clipped(step: GlassStep) -> ClippingStep:
    norm, factor = step.optimised.norm, step.optimised.coefficient
    return _step(
        "clipped",
        r"\| g' \| = ",
        step.optimised.clipped_norm,
        lambda digits: rf"{latex(norm, digits)} \cdot {latex(factor, digits)}",
        lambda near: near(norm) * near(factor),
    )


def _step(
    name: str,
    left: str,
    value: float,
    fill: Callable[[int], str],
    reckon: Callable[[Near], float],
) -> ClippingStep:
    filled, result = written(value, fill, reckon)
    return ClippingStep(name, rf"{left}{filled} = {result}", value)


def _square(text: str) -> str:
    return rf"({text})^2" if "cdot" in text else f"{text}^2"
