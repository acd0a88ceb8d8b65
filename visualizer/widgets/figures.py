"""Numbers as text: as many digits as fit, and never a digit that misleads."""

from __future__ import annotations

import math

import numpy as np

from visualizer.lenses import numbers
from visualizer.lenses.numbers import figure, hundredths, short_power

NO_BREAK_SPACE = "\u00a0"


def percent(probability: float) -> str:
    """A probability with its significant digits: "74.2 %", "0.0031 %", never "0.0 %" or "100.0 %".

    0 and 1 themselves are "0 %" and "100 %"; what only comes near keeps the digits that tell.
    """
    return f"{percent_digits(probability)}{NO_BREAK_SPACE}%"


def percent_digits(probability: float) -> str:
    p = float(probability)
    if not math.isfinite(p):
        return "?"
    if p <= 0 or p >= 1:
        return "0" if p <= 0 else "100"
    share = 100 * p
    rest = 100 * (1 - p)
    if rest < 0.1:
        # Down to the first digit of what is missing to 100.
        return f"{share:.{_places(rest) - 1}f}" if rest > 1e-9 else "100"
    if share >= 1:
        return f"{share:.1f}"
    if share >= 1e-3:
        return f"{share:.{_places(share)}f}"
    # both of two neighbours in a list, whatever the smaller one has
    return figure(share, 1)


def percent_column(probability: float) -> str:
    """For numbers below each other: one decimal, and a bound where that would be 0.0 or 100.0."""
    share = 100 * float(probability)
    if 0 < share < 0.1:
        return f"< 0.1{NO_BREAK_SPACE}%"
    if 99.9 < share < 100:
        return f"> 99.9{NO_BREAK_SPACE}%"
    if 0 < share < 100:
        return f"{share:.1f}{NO_BREAK_SPACE}%"
    return percent(probability)


def bits(entropy: float) -> str:
    """Two decimals, and a bound where they would be 0.00 though something is left to chance."""
    return hundredths(entropy)


def milliseconds(taken: float) -> str:
    """As exact as a time is that differs from one run to the next."""
    return f"{taken:.0f}" if taken >= 9.95 else f"{taken:.1f}"


def percent_short(probability: float) -> str:
    """For a chip: "98 %", "0.31 %", "99.7 %"; near the ends the bounds of a column."""
    share = 100 * float(probability)
    if 1 <= share < 99:
        return f"{share:.0f}{NO_BREAK_SPACE}%"
    return percent(probability) if 0.1 <= share <= 99.9 else percent_column(probability)


def _places(small: float) -> int:
    """Decimals that show two significant digits of a number below 1."""
    return min(max(1 - math.floor(math.log10(small * (1 + 1e-9))), 1), 10)


def bound(value: float) -> str:
    """The end of a colour bar: three significant digits."""
    return short_power(f"{value:.3g}") if value else "0"


def cell_formats(values: np.ndarray, sequential: bool, decimals: int = 2) -> tuple[str, ...]:
    """printf formats for a matrix's cells, from the most telling to the narrowest acceptable."""
    if values.dtype.kind in "biu":
        return ("%d",)
    fine = tuple(f"%.{places}f" for places in range(decimals, 2, -1))
    plain = _plain_formats(values, sequential)
    if decimals < 2:
        return ("%.1f", *(form for form in plain if not form.endswith(("2f", "1f"))))
    return (*fine, *plain)


def _plain_formats(values: np.ndarray, sequential: bool) -> tuple[str, ...]:
    finite = values[np.isfinite(values)]
    largest = float(np.abs(finite).max()) if finite.size else 0.0
    if largest >= 1000:
        return ("%.0f",)
    if largest >= 100:
        return ("%.1f", "%.0f")
    if largest >= 10:
        return ("%.2f", "%.1f", "%.0f")
    return ("%.2f", ".%.2f") if sequential else ("%.2f", "%.1f")


def cell_texts(values: np.ndarray, form: str) -> list[str]:
    """The cells' texts, row by row; ".%.2f" means two decimals without the leading zero."""
    short = form.startswith(".")
    form = form.removeprefix(".")
    texts = [form % v for v in values.ravel().tolist()]
    zero = "-" + form % 0.0
    plain = zero[1:]
    # A small negative number rounds to zero: "-0.00" would only puzzle.
    texts = [plain if t == zero else t for t in texts]
    if short:
        texts = [t[1:] if t.startswith("0.") else t.replace("-0.", "-.") for t in texts]
    return texts


def exact(value: float) -> str:
    """Full precision: the shortest text that reads back as the same number."""
    return numbers.exact(value if isinstance(value, np.floating) else float(value))
