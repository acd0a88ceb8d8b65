"""Numbers as text: short for cells, exact for whoever asks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# Beyond these a fixed number of decimals says nothing or takes the whole line.
_SMALLEST, _LARGEST = 1e-4, 1e5


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
    return f"{value:.{decimals}f}"


def exact(value: Any) -> str:
    """The shortest text that reads back to the same bits of the same type."""
    if isinstance(value, np.generic):
        return str(value)
    return repr(value)
