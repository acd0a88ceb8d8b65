"""Numbers as text: short for cells, exact for whoever asks."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

# Beyond these a fixed number of decimals says nothing or takes the whole line.
_SMALLEST, _LARGEST = 1e-4, 1e5
LARGEST_TYPED = 1e6
# As Python writes a power of ten: with a sign, and never less than two digits.
LONG_POWER = re.compile(r"(?<![\w./\\-])([-+−]?\d[\d.]*)e(?:\+|(-))0*(\d+)(?![\w/\\-]|\.\w)")
NO_BREAK_SPACE = "\u00a0"


def short(value: Any, decimals: int) -> str:
    """A value with a fixed number of decimals, in powers of ten where that would mislead."""
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return str(int(value))
    value = float(value)
    if not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "-∞"}.get(value, "nan")
    size = abs(value)
    if size >= _LARGEST or 0 < size < _SMALLEST:
        return power_of_ten(f"{value:.{decimals}e}")
    text = f"{value:.{decimals}f}"
    # a small negative number rounds to zero, and "-0.00" would only puzzle
    return text.removeprefix("-") if not float(text) else text


def figure(value: Any, decimals: int) -> str:
    """A number in a line of reckoning: as `short`, but never 0.00 where there is something."""
    text = short(value, decimals)
    if "e" not in text and isinstance(value, float | np.floating):
        if math.isfinite(value) and value and not float(text):
            text = f"{float(value):.1e}"
    return power_of_ten(text, bare=True)


def power_of_ten(text: str, bare: bool = False) -> str:
    """ "1.20e-04" as "1.20e-4", as "1.2e-4" if bare; a text without a power stays as it is.

    But for the sign of a zero, which a sum of small numbers may have: "-0" would only puzzle.
    """
    mantissa, power, exponent = text.partition("e")
    if not mantissa.strip("-0."):
        mantissa = mantissa.removeprefix("-")
    if not power:
        return mantissa
    if bare and "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent)}"


def short_power(text: str) -> str:
    """Every "1e-09" of a text as "1e-9"; what only looks like it, inside a name, stays."""
    return LONG_POWER.sub(r"\1e\2\3", text)


def hundredths(value: float) -> str:
    """Two decimals of what is not below 0, and a bound where they would hide that it is not 0."""
    return "< 0.01" if 0 < value < 0.01 else f"{value:.2f}"


def significant(value: float, digits: int) -> str:
    """So many digits from the first that is not 0: "0.006134", "0.5000", "-6.134e-5"."""
    value = float(value)
    if not value or not math.isfinite(value):
        return short(value, 0)
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    if not _SMALLEST <= abs(value) < _LARGEST:
        return power_of_ten(f"{value:.{digits - 1}e}")
    return f"{value:.{max(digits - 1 - exponent, 0)}f}"


def as_factor(value: Any, decimals: int) -> str:
    """A number behind a sign: a negative one stands in brackets."""
    text = figure(value, decimals)
    return f"({text})" if text.startswith("-") else text


def large(value: float, decimals: int) -> str:
    """A number that may be large: "62 847", "4.842e9"."""
    if 1e9 > value >= 1000:
        return f"{value:,.0f}".replace(",", NO_BREAK_SPACE)
    return power_of_ten(f"{value:.3e}") if value >= 1e9 else figure(value, decimals)


def read_number(text: str) -> float | None:
    """The number that was typed, None where it is none; a comma may stand for the point."""
    text = text.strip().replace("−", "-")
    if text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    try:
        value = float(text)
    except ValueError:
        return None
    # Python reads 1_000 too, and numbers beyond all measure would end as infinities
    return value if "_" not in text and abs(value) <= LARGEST_TYPED else None


def unit_of(bound: float) -> float:
    """The power of ten that numbers up to `bound` are written in; 1 where they can be read so."""
    if not math.isfinite(bound) or not bound or 0.1 <= bound < 1000:
        return 1.0
    return float(f"1e{math.floor(math.log10(bound))}")


def unit_text(unit: float) -> str:
    """ "1e-6"."""
    return f"1e{round(math.log10(unit))}"


def in_unit(value: Any, decimals: int, unit: float = 1.0) -> str:
    """A number in a column whose heading or strip names the unit."""
    if unit == 1.0:
        return short(value, decimals)
    text = f"{float(value) / unit:.{decimals}f}"
    return text if float(text) else text.removeprefix("-")


def exact(value: Any) -> str:
    """The shortest text that reads back to the same bits of the same type: "1.4e-8"."""
    return short_power(str(value) if isinstance(value, np.generic) else repr(value))


def brief(value: float) -> str:
    """A setting: six digits at most, without zeros at the end: "0.05", "1e-9"."""
    return short_power(f"{value:g}")


def round_step(least: float) -> int:
    """The next of 1, 2, 5, 10, 20, 50 … that is not below `least`."""
    power = 1
    while True:
        for digit in (1, 2, 5):
            if digit * power >= least:
                return digit * power
        power *= 10
