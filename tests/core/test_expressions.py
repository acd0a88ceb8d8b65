"""The expressions of the ops are worked out as Python would, and nothing else is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from model_core.expressions import evaluated
from tests.core.op_cases import CASES, Case


def texts(case: Case) -> list[str]:
    """All expressions of an op over the inputs a, b, c …, its value y and its gradient d."""
    names = list("abcdef"[: len(case.inputs())])
    found = [case.op.expression(names)]
    for which in range(len(names)):
        try:
            found.append(case.op.backward_expression(which, "d", "y", names))
        except ValueError:
            # an input without a gradient
            continue
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_ops_expressions_give_what_python_gives(case: Case) -> None:
    out = np.asarray(case.op.forward(*case.inputs()))
    gradient = np.random.default_rng(1).standard_normal(out.shape)
    for text in texts(case):
        fixed: dict[str, Any] = {"np": np, "math": math, "y": out, "d": gradient}
        # a generator moves on as it is read, so that each side has its own
        got = evaluated(text, fixed | dict(zip("abcdef", case.inputs(), strict=False)))
        wanted = eval(text, fixed | dict(zip("abcdef", case.inputs(), strict=False)))
        assert got.dtype == np.float64
        assert np.array_equal(got, np.asarray(wanted, dtype=np.float64), equal_nan=True), text


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "open('x')",
        "x.__class__",
        "x.tofile('x')",
        "np.load('x')",
        "np.fromfile('x')",
        "np.random.default_rng()",
        "math.__loader__",
        "(lambda: 1)()",
        "[i for i in x]",
        "x if x.size else x",
        "(y := x)",
        "x.sum(**x)",
        "1 < 2 < 3",
        "unknown + 1",
        "f'{x}'",
    ],
)
def test_what_no_op_needs_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no place for"):
        evaluated(text, {"x": np.ones(3)})
