"""Probabilities as text: every digit holds, and what is small stays small."""

from __future__ import annotations

import math

from visualizer.lenses.numbers import power_of_ten

# From so near to 1 on, what is missing says more than the digits.
NEARLY_ONE = 6e-4
LEAST_PLAIN = 1e-4
SMALLEST = "<5e-324"


def probability(p: float) -> str:
    """Three significant digits: "0.781", "0.00750", "3.20e-7", "1 - 4.1e-5"; never a false 0 or 1.

    p: 0 and 1 themselves are "0" and "1"
    """
    p = float(p)
    if p in (0.0, 1.0) or not math.isfinite(p):
        return f"{p:g}"
    if 0.0 < 1.0 - p < NEARLY_ONE:
        return f"1 - {power_of_ten(f'{1.0 - p:.1e}')}"
    if p < LEAST_PLAIN:
        return power_of_ten(f"{p:.2e}")
    return f"{p:.{2 - math.floor(math.log10(p))}f}"


def expected(count: float) -> str:
    """How often something is expected: "171.4", "0.0310", "2.1e-7"."""
    if count >= 10.0:
        return f"{count:.1f}"
    return probability(count) if count < 1.0 else f"{count:.2f}"


def amount(value: float) -> str:
    """A perplexity, an entropy or a statistic: "1.734", "212.0", "6.000e5", "1+3.1e-6"."""
    if not math.isfinite(value):
        return f"{value:g}".replace("inf", "∞")
    if value < 0.1:
        return probability(value)
    if value == 1.0:
        return "1"
    if 0.0 < value - 1.0 < NEARLY_ONE:
        return f"1+{power_of_ten(f'{value - 1.0:.1e}')}"
    if value >= 1e5:
        return power_of_ten(f"{value:.3e}")
    places = 3 if value < 10.0 else 2 if value < 100.0 else 1
    return f"{value:.{places}f}"
