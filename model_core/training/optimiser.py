"""Adam, gradient clipping and the learning rate's rise and fall."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# So many numbers, their moments and the working memory fit the second cache.
STRETCH = 2**16


def gradient_norm(gradients: Mapping[str, Array]) -> float:
    """The Euclidean norm of all gradients taken as one vector."""
    return math.sqrt(sum(float(np.vdot(g, g)) for g in gradients.values()))


def clip_gradients(
    gradients: Mapping[str, Array], max_norm: float
) -> tuple[dict[str, Array], float]:
    """Scale all gradients by max_norm / (norm + 1e-6) where that is below 1.

    returns: the gradients and their norm before. Source: Pascanu et al. 2013, algorithm 1.
    """
    norm = gradient_norm(gradients)
    coefficient = clipping(norm, max_norm)
    if coefficient == 1.0:
        return dict(gradients), norm
    return {name: g * coefficient for name, g in gradients.items()}, norm


def clipping(norm: float, max_norm: float) -> float:
    """What `clip_gradients` multiplies gradients of this norm by; 1 where they are small enough."""
    coefficient = max_norm / (norm + 1e-6)
    return 1.0 if coefficient >= 1.0 else coefficient


def clipped_norm(norm: float, max_norm: float) -> float:
    """The norm that `clip_gradients` leaves of gradients of this norm."""
    return norm * clipping(norm, max_norm)


def learning_rate_at(
    step: int, peak: float, warmup_steps: int, total_steps: int, final_share: float = 0.02
) -> float:
    """The rate of a step (from 0): linear warm-up to the peak, then a cosine to its final share.

    Source: Goyal et al. 2017 (warm-up); Loshchilov and Hutter 2017, equation 5 (cosine).
    """
    if step < warmup_steps:
        return peak * (step + 1) / warmup_steps
    span = max(1, total_steps - warmup_steps)
    progress = min(1.0, (step - warmup_steps) / span)
    return peak * (final_share + (1.0 - final_share) * 0.5 * (1.0 + math.cos(math.pi * progress)))


@dataclass(frozen=True, eq=False)
class Moments:
    """What Adam remembers: of which parameters, after how many steps, both moments (n,)."""

    names: tuple[str, ...]
    steps: int
    first: Array
    second: Array


class Adam:
    """Adam with bias correction (Kingma and Ba 2015, algorithm 1); changes parameters in place.

    All parameters are updated as one long vector, in stretches that stay in the caches.
    """

    def __init__(
        self,
        learning_rate: float = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.98,
        epsilon: float = 1e-9,
        bias_correction: bool = True,
    ) -> None:
        self.learning_rate, self.beta1, self.beta2 = learning_rate, beta1, beta2
        self.epsilon = epsilon
        # left out only to see what becomes of training then
        self.bias_correction = bias_correction
        self.steps = 0
        self._names: list[str] = []
        self._first: Array | None = None
        self._second: Array | None = None
        # whether to hold on to what the last step took off the parameters, for `update`
        self.keep_update = False
        # gradients and then the update, laid behind each other
        self._flat: Array | None = None
        self._update: tuple[Array, Mapping[str, Array]] | None = None

    @property
    def moments(self) -> Moments | None:
        """The moments as they are, not copied; None before the first step."""
        if self._first is None or self._second is None:
            return None
        return Moments(tuple(self._names), self.steps, self._first, self._second)

    def restore(self, moments: Moments) -> None:
        """Go on from these moments, which become this optimiser's own."""
        self._names, self.steps = list(moments.names), moments.steps
        self._first, self._second = moments.first, moments.second
        self._flat = None

    @property
    def update(self) -> dict[str, Array]:
        """What the last step took off each parameter, while `keep_update` is on."""
        if self._update is None:
            return {}
        flat, parameters = self._update
        pieces, start = {}, 0
        for name in self._names:
            shape, size = parameters[name].shape, parameters[name].size
            pieces[name] = flat[start : start + size].reshape(shape)
            start += size
        return pieces

    @property
    def corrections(self) -> tuple[float, float]:
        """What the moments are divided by, as they started from zero: their shares of the past."""
        if not self.bias_correction:
            return 1.0, 1.0
        return 1.0 - self.beta1**self.steps, 1.0 - self.beta2**self.steps

    def step(
        self,
        parameters: Mapping[str, Array],
        gradients: Mapping[str, Array],
        coefficient: float = 1.0,
    ) -> None:
        """One update of every parameter that has a gradient.

        coefficient: what the gradients are multiplied by before (see `clipping`)
        """
        names = [name for name in parameters if name in gradients]
        if self._first is None or self._second is None:
            self._names = names
            size = sum(parameters[name].size for name in names)
            dtype = parameters[names[0]].dtype
            self._first, self._second = np.zeros(size, dtype), np.zeros(size, dtype)
        elif names != self._names:
            raise ValueError("the parameters with a gradient changed between two steps of Adam")
        first, second = self._first, self._second
        if self._flat is None:
            self._flat = np.empty_like(first)
        flat = np.concatenate([gradients[name].reshape(-1) for name in names], out=self._flat)
        self.steps += 1
        for start in range(0, flat.size, STRETCH):
            part = slice(start, start + STRETCH)
            self._turn_into_update(flat[part], first[part], second[part], coefficient)
        start = 0
        for name in names:
            value = parameters[name]
            value -= flat[start : start + value.size].reshape(value.shape)
            start += value.size
        self._update = (flat, parameters) if self.keep_update else None
        if self.keep_update:
            # what is kept of this step must not be the memory of the next
            self._flat = None

    def _turn_into_update(
        self, flat: Array, first: Array, second: Array, coefficient: float
    ) -> None:
        """Gradients become what is to be taken off their parameters; the moments follow them."""
        if coefficient != 1.0:
            flat *= coefficient
        first *= self.beta1
        first += (1.0 - self.beta1) * flat
        second *= self.beta2
        np.multiply(flat, flat, out=flat)
        flat *= 1.0 - self.beta2
        second += flat
        # the corrections are Python floats, so that float32 stays float32
        first_share, second_share = self.corrections
        rate = self.learning_rate / first_share
        np.divide(second, second_share, out=flat)
        np.sqrt(flat, out=flat)
        flat += self.epsilon
        np.divide(first, flat, out=flat)
        flat *= rate
