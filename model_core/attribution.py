"""Gradient times input: how much each token's embedding as it is moves the target."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from model_core.expressions import in_float64
from model_core.gradients import GradientTape
from model_core.ops.base import Array

# What a side's first layer reads: one vector per token, its position included.
READ = {"encoder": "encoder.embed.out", "decoder": "decoder.embed.out"}


class Attribution(NamedTuple):
    """One signed number per token that is read, in float64.

    source: (S,), of the encoder's tokens      target: (T,), of the decoder's
    A side that embeds nothing has none.
    """

    source: Array
    target: Array


def gradient_x_input(gradients: GradientTape) -> Attribution:
    """The sum over dimensions of each token's embedding times its gradient.

    That is how fast the target changes when the one token's vector is scaled up: a first-order
    number. All of them add up to the change for scaling every vector at once, the directional
    derivative, and not to the target itself.
    """
    return Attribution(*(_of_rows(gradients, READ[side]) for side in ("encoder", "decoder")))


def _of_rows(gradients: GradientTape, site: str) -> Array:
    if site not in gradients:
        return np.zeros(0)
    value = in_float64(gradients.value_of(site))
    slope = in_float64(gradients.gradient_of(site))
    return np.asarray((value[0] * slope[0]).sum(axis=-1))
