"""Pearson's chi-square: whether what was drawn fits the distribution that it was drawn from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

# Cells of fewer expected draws are put together: below it the statistic is no chi-square.
LEAST_EXPECTED = 5.0


@dataclass(frozen=True)
class ChiSquare:
    """statistic: the sum of (observed - expected)^2 / expected over `cells`

    p_value: how often draws that do follow the distribution would fit no better
    pooled: how many tokens were put together because too few draws of each are expected
    """

    statistic: float
    cells: int
    pooled: int
    p_value: float

    @property
    def degrees(self) -> int:
        """Degrees of freedom."""
        return self.cells - 1


def chi_square(observed: Any, probabilities: Any) -> ChiSquare:
    """How well counts fit probabilities.

    observed: (V,) whole numbers   probabilities: (V,) that sum to 1; what has none was never
    drawn, or nothing fits: an infinite statistic. Tokens with an expected count below 5 are one
    cell, together with the least expected of the others where even that would stay below 5.
    ValueError where nothing was drawn, or for shapes that differ.
    """
    counts = np.asarray(observed, dtype=np.float64)
    shares = np.asarray(probabilities, dtype=np.float64)
    times = float(counts.sum())
    if counts.shape != shares.shape or counts.ndim != 1:
        raise ValueError(
            f"counts have the shape {counts.shape}, expected {shares.shape}, one per probability"
        )
    if not times > 0.0:
        raise ValueError("nothing was drawn, expected at least one count")
    possible = shares > 0.0
    if counts[~possible].any():
        return ChiSquare(math.inf, int(np.count_nonzero(possible)), 0, 0.0)
    found, wanted = counts[possible], times * shares[possible]
    small = wanted < LEAST_EXPECTED
    together = float(wanted[small].sum())
    if 0.0 < together < LEAST_EXPECTED and not small.all():
        small[np.argmin(np.where(small, np.inf, wanted))] = True
    pooled = int(np.count_nonzero(small))
    cells = [(found[~small], wanted[~small])]
    if pooled:
        cells.append((found[small].sum(keepdims=True), wanted[small].sum(keepdims=True)))
    observed_cells, expected_cells = (np.concatenate(part) for part in zip(*cells, strict=True))
    statistic = float(((observed_cells - expected_cells) ** 2 / expected_cells).sum())
    size = int(observed_cells.size)
    return ChiSquare(statistic, size, pooled, survival(statistic, size - 1))


def survival(statistic: float, degrees: int) -> float:
    """The share of a chi-square distribution above `statistic`.

    A whole number of degrees makes the incomplete gamma function a finite sum of positive terms
    (Abramowitz and Stegun 1964, 26.4.4 and 26.4.5), each of which is taken from its logarithm.
    degrees: 0 for a distribution without any spread
    """
    if not statistic >= 0.0 or degrees < 0:
        raise ValueError(
            f"statistic is {statistic}, degrees are {degrees}, expected numbers of 0 or more"
        )
    if statistic == 0.0 or degrees == 0:
        # one cell always fits, but for rounding
        return 1.0
    if math.isinf(statistic):
        return 0.0
    half = statistic / 2.0
    odd = degrees % 2
    powers = (n + odd / 2.0 for n in range(degrees // 2))
    terms = [math.exp(p * math.log(half) - half - math.lgamma(p + 1.0)) for p in powers]
    tail = math.erfc(math.sqrt(half)) if odd else 0.0
    return min(math.fsum((tail, *terms)), 1.0)
