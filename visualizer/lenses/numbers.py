"""Numbers as text: short for cells, exact for whoever asks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# Beyond these a fixed number of decimals says nothing or takes the whole line.
_SMALLEST, _LARGEST = 1e-4, 1e5
LARGEST_TYPED = 1e6


def short(value: Any, decimals: int) -> str:
    """A value with a fixed number of decimals, in powers of ten where that would mislead."""
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return str(int(value))
    value = float(value)
    if not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "-∞"}.get(value, "nan")
    size = abs(value)
    if size >= _LARGEST or 0 < size < _SMALLEST:
        return f"{value:.{decimals}e}"
    text = f"{value:.{decimals}f}"
    # a small negative number rounds to zero, and "-0.00" would only puzzle
    return text.removeprefix("-") if not float(text) else text


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


def exact(value: Any) -> str:
    """The shortest text that reads back to the same bits of the same type."""
    if isinstance(value, np.generic):
        return str(value)
    return repr(value)
