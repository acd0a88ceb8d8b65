"""Whether a gradient is what a finite difference says, as far as either can tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from model_core.finite_difference import Difference, central_difference
from model_core.gradient_audit import largest_of
from model_core.gradients import GradientTape
from model_core.tape import Tape

STEP = 1e-5
# Numbers that agree differ by no more than this share of the larger one, beside what rounding does.
TOLERANCE = 1e-4
# Rounding errors that add up in a sum, and those of a run in float64 on its way to the target.
IN_A_SUM, IN_A_RUN = 4.0, 16.0
# Of the largest gradient of the run: what lies below is nothing.
LEAST_SHARE = 1e-9


class Agreement(NamedTuple):
    """A gradient beside its finite difference.

    relative: their distance as a share of the larger one
    tolerance: how large that may be, what rounding makes of numbers of this size included
    noise: what rounding alone may make of the number
    verdict: "too_small" where it leaves nothing to compare
    """

    gradient: float
    difference: Difference
    relative: float
    tolerance: float
    noise: float
    verdict: Literal["agrees", "differs", "too_small"]


def check_gradient(
    tape: Tape,
    gradients: GradientTape,
    name: str,
    index: Sequence[int],
    cancelled: Callable[[], bool] = lambda: False,
) -> Agreement | None:
    """The gradient of one cell of a site or parameter against a finite difference in float64.

    tape: the run that the gradients are of
    None once `cancelled` says so. ValueError for numbers without a gradient: ids, masks.
    """
    found = central_difference(tape, gradients.target, name, index, STEP, cancelled)
    if found is None:
        return None
    own = gradients.gradient_of(name)
    gradient, slope = float(own[tuple(index)]), found.value
    precision = float(np.finfo(own.dtype).eps)
    height = max(abs(found.upper), abs(found.lower), 1.0)
    of_difference = IN_A_RUN * float(np.finfo(np.float64).eps) * height / found.step
    noise = of_difference + IN_A_SUM * precision * _largest(own)
    size = max(abs(gradient), abs(slope))
    least = max(2.0 * noise, LEAST_SHARE * largest_of(gradients, lambda: None))
    # terms that cancel out, as in the gradient of a key's bias, leave their rounding errors
    cancelling = max(
        (_largest(share.d_out.value) for share in gradients.shares_of(name)), default=0
    )
    left = 2.0 * IN_A_SUM * precision * cancelling
    nothing = abs(slope) <= 2.0 * of_difference and abs(gradient) <= max(left, least)
    tolerance = TOLERANCE + (noise / size if size else 0.0)
    relative = abs(gradient - slope) / size if size else 0.0
    verdict: Literal["agrees", "differs", "too_small"]
    if size <= least or nothing:
        verdict = "too_small"
    else:
        verdict = "agrees" if relative <= tolerance else "differs"
    return Agreement(gradient, found, relative, tolerance, max(noise, least / 2.0), verdict)


def _largest(values: np.ndarray) -> float:
    sizes = np.abs(values)
    return float(sizes.max(initial=0.0, where=np.isfinite(sizes)))
