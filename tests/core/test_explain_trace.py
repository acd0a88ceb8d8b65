"""Any cell of a traced sentence says how it came about, without running the op again."""

from __future__ import annotations

import contextlib
import io
import math
from typing import Any

import numpy as np
import pytest

import model_core
from model_core.ops import ALL_OPS, EVALUATION_NAMES
from model_core.ops.base import Explanation
from model_core.tape import Tape

TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def tape() -> Tape:
    return model_core.open_checkpoint("en-zh").trace(source="the black cat sleeps on the table")


def random_cells(tape: Tape, count: int, seed: int) -> list[tuple[str, tuple[int, ...]]]:
    """Cells spread evenly over the records."""
    generator = np.random.default_rng(seed)
    cells = []
    for i in range(count):
        record = tape[tape.sites[i % len(tape.sites)]]
        shape = record.value.shape
        cells.append((record.site, tuple(int(generator.integers(size)) for size in shape)))
    return cells


def agrees(value: float, explanation: Explanation) -> bool:
    """|a - b| <= tol · (|b| + sum of |terms|), infinities exactly."""
    truth = explanation.value
    if math.isinf(value) or math.isinf(truth):
        return value == truth
    size = abs(truth) + sum(abs(t.value) for t in explanation.terms if math.isfinite(t.value))
    return abs(value - truth) <= TOLERANCE * size


def forbid_forward(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **named: Any) -> None:
        raise AssertionError("explain called a forward")

    for op in ALL_OPS:
        monkeypatch.setattr(op, "forward", refuse)


def test_a_thousand_random_cells_are_explained_without_any_forward(
    tape: Tape, monkeypatch: pytest.MonkeyPatch
) -> None:
    for record in tape:
        record.value.sum()  # a tape grown while decoding joins its rows when first read
    forbid_forward(monkeypatch)
    cells = random_cells(tape, 1000, 1)
    assert {site for site, _ in cells} == set(tape.sites)
    for site, index in cells:
        record = tape[site]
        assert agrees(float(record.value[index]), record.explain(index)), (site, index)


def test_the_text_of_a_hundred_explanations_evaluates_to_the_cell(tape: Tape) -> None:
    for site, index in random_cells(tape, len(tape.sites), 2)[:: max(1, len(tape.sites) // 100)]:
        explanation = tape[site].explain(index)
        value = eval(explanation.text, {"__builtins__": {}}, dict(EVALUATION_NAMES))
        assert agrees(float(value), explanation), (site, index)
        assert agrees(float(tape[site].value[index]), explanation), (site, index)


def test_the_printed_numpy_of_every_record_runs_and_prints_the_value(tape: Tape) -> None:
    for site in tape.sites:
        record = tape[site]
        names: dict[str, Any] = {}
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(record.numpy(), names)
        got, wanted = np.asarray(names["value"]), record.value
        assert got.shape == wanted.shape, site
        assert printed.getvalue().strip(), site
        finite = np.isfinite(wanted.astype(float))
        assert np.array_equal(np.isfinite(got.astype(float)), finite), site
        scale = max(1.0, float(np.abs(wanted[finite]).max(initial=0)))
        error = np.abs(got[finite].astype(float) - wanted[finite].astype(float)).max(initial=0)
        assert error <= TOLERANCE * scale, site


def test_the_numbers_in_the_printed_numpy_are_the_printed_value(tape: Tape) -> None:
    record = tape["decoder.layers.0.cross_attn.weights"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(record.numpy(), {})
    numbers = printed.getvalue().replace("[", " ").replace("]", " ").split()
    got = np.array([float(n) for n in numbers]).reshape(record.value.shape)
    assert np.allclose(got, record.value, atol=1e-6)


def test_a_cell_that_does_not_exist_is_refused(tape: Tape) -> None:
    with pytest.raises(IndexError, match="logits"):
        tape["logits"].explain((0, 99, 0))
    with pytest.raises(IndexError, match="logits"):
        tape["logits"].explain((0, 0))
