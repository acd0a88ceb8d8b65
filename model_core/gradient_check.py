"""Whether a gradient is what a finite difference says, as far as either can tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from model_core.finite_difference import Difference, central_difference
from model_core.gradient_audit import OF_ALL, largest_of
from model_core.gradients import GradientTape

STEP = 1e-5
# Numbers that agree differ by no more than this share of the larger one, beside what rounding does.
TOLERANCE = 1e-4
# Beyond this there is no telling whether two numbers agree.
COARSEST = 0.5
# Rounding errors that add up in a long sum, and in the float64 run of a finite difference.
IN_A_SUM, IN_A_RUN = 16.0, 16.0
LEAST_SHARE = 1e-9


class Agreement(NamedTuple):
    """A gradient beside its finite difference.

    relative: their distance as a share of the larger one      tolerance: how large it may be
    noise: what rounding alone may make of the number     largest: of all gradients of the run
    verdict: "too_small" where rounding leaves nothing to compare
    """

    gradient: float
    difference: Difference
    relative: float
    tolerance: float
    noise: float
    largest: float
    verdict: Literal["agrees", "differs", "too_small"]


def check_gradient(
    gradients: GradientTape,
    name: str,
    index: Sequence[int],
    cancelled: Callable[[], bool] = lambda: False,
) -> Agreement | None:
    """The gradient of one cell of a site or parameter against a finite difference in float64.

    None once `cancelled` says so. ValueError for numbers without a gradient: ids, masks.
    """
    found = central_difference(gradients.tape, gradients.target, name, index, STEP, cancelled)
    if found is None:
        return None
    own = gradients.gradient_of(name)
    gradient = float(own[tuple(index)])
    largest = largest_of(gradients, lambda: None)
    precision = float(np.finfo(own.dtype).eps)
    scale = max(float(np.abs(own).max(initial=0.0)), OF_ALL * largest)
    height = max(abs(found.upper), abs(found.lower), 1.0)
    noise = IN_A_SUM * precision * scale + IN_A_RUN * np.finfo(np.float64).eps * height / STEP
    tolerance = TOLERANCE + precision / (_steepest(gradients) or precision)
    size = max(abs(gradient), abs(found.value))
    relative = abs(gradient - found.value) / size if size else 0.0
    verdict: Literal["agrees", "differs", "too_small"] = "differs"
    if size <= max(2.0 * noise, LEAST_SHARE * largest) or tolerance > COARSEST:
        verdict = "too_small"
    elif abs(gradient - found.value) <= tolerance * size + noise:
        verdict = "agrees"
    return Agreement(gradient, found, relative, tolerance, float(noise), largest, verdict)


def _steepest(gradients: GradientTape) -> float:
    """The largest gradient of a logit.

    It is a difference, 1 - p of the target's token: where the model is sure, most of its digits
    are lost to rounding, and everything behind it has as few.
    """
    if "logits" not in gradients:
        return 1.0
    return float(np.abs(gradients.gradient_of("logits")).max(initial=0.0))
