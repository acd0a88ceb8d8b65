"""Every op: how it explains a cell, and the NumPy text it prints."""

from __future__ import annotations

import math

import numpy as np
import pytest
import ziamath

from model_core import ops
from model_core.ops import ALL_OPS, EVALUATION_NAMES, Explanation, Operand
from model_core.ops.base import number, own_index, total
from tests.core.op_cases import CASES, Case

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
NAMES = "abc"


def refuse(*inputs: object, **options: object) -> np.ndarray:
    raise AssertionError("an explanation called forward")


def evaluated(text: str) -> float:
    return eval(text, {"__builtins__": {}}, dict(EVALUATION_NAMES))


def agree(found: float, wanted: float, terms: tuple, tolerance: float) -> bool:
    """As design.md section 6 defines it."""
    if math.isinf(wanted) or math.isinf(found):
        return found == wanted
    return abs(found - wanted) <= tolerance * (abs(wanted) + sum(abs(t.value) for t in terms))


def explained(case: Case, dtype: str) -> list[tuple[Explanation, float, list[Operand]]]:
    """Up to 40 cells of a case: the explanation, the value that forward gave, the operands."""
    result = case.op.forward(*case.inputs(dtype))
    operands = [Operand(*pair) for pair in zip(NAMES, case.inputs(dtype), strict=False)]
    cells = list(np.ndindex(result.shape))
    np.random.default_rng(5).shuffle(cells)
    return [
        (case.op.explain(tuple(map(int, index)), operands), float(result[tuple(index)]), operands)
        for index in cells[:40]
    ]


@every_case
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_explanation_agrees_with_the_value_and_with_its_own_text(case, dtype):
    if isinstance(case.op, ops.SinusoidalPosition) and case.op.table == np.float32:
        dtype = "float32"
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    for explanation, wanted, _ in explained(case, dtype):
        assert isinstance(explanation.value, float)
        assert agree(explanation.value, wanted, explanation.terms, tolerance)
        assert agree(
            evaluated(explanation.text), explanation.value, explanation.terms, tolerance=1e-12
        )


@every_case
def test_an_explanation_never_calls_forward(case, monkeypatch):
    result = case.op.forward(*case.inputs())
    for op in ALL_OPS:
        monkeypatch.setattr(op, "forward", refuse)
    operands = [Operand(*pair) for pair in zip(NAMES, case.inputs(), strict=False)]
    last = tuple(size - 1 for size in result.shape)
    assert case.op.explain(last, operands).value == pytest.approx(float(result[last]), abs=1e-7)


@every_case
def test_terms_name_cells_of_the_inputs_and_add_up(case):
    for explanation, _, operands in explained(case, "float64"):
        by_name = {operand.name: operand.value for operand in operands}
        for term in explanation.terms:
            source = by_name[term.site]
            assert isinstance(term.value, float) and term.label
            assert all(type(place) is int for place in term.index)
            if isinstance(source, np.ndarray):
                assert np.shape(source[term.index]) == ()
                assert all(place >= 0 for place in term.index)
        if case.additive:
            added = math.fsum(term.value for term in explanation.terms)
            assert agree(explanation.value, added, explanation.terms, 1e-12)


@every_case
def test_a_terms_share_is_the_product_of_its_factors(case):
    for explanation, _, _ in explained(case, "float64"):
        for term in explanation.terms:
            if term.factors:
                assert math.prod(term.factors) == pytest.approx(term.value, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize(
    ("scale", "label"),
    [(0.5, "q[1] * k[1] / √4"), (1.0, "q[1] * k[1]"), (0.3, "q[1] * k[1] * 0.3")],
)
def test_a_scores_terms_say_how_they_are_scaled(scale, label):
    """A share of 0.5 · 6 labelled 2 · 3 would be a false sum."""
    q, k = np.array([[[1.0, 2.0, 0.0, 0.0]]]), np.array([[[1.0, 3.0, 0.0, 0.0]]])
    explanation = ops.Scores(scale).explain((0, 0, 0), [Operand("q", q), Operand("k", k)])
    assert explanation.terms[1].label == label
    assert explanation.terms[1].value == 6 * scale
    assert explanation.terms[1].factors == (2.0, 3.0, scale)
    assert explanation.steps == {"product": 7.0, "scale": scale, "width": 4.0}
    assert explanation.value == 7 * scale


@pytest.mark.parametrize("level", [-900.0, 0.0, 20.0, 900.0])
def test_the_steps_of_a_softmax_stay_finite_and_give_the_share(level):
    scores = np.array([[level, level + 1.5, -math.inf]])
    explanation = ops.Softmax().explain((0, 1), [Operand("s", scores)])
    steps = explanation.steps
    assert steps["power"] == pytest.approx(math.exp(level + 1.5 - steps["shift"]), rel=1e-12)
    assert steps["power"] / steps["sum"] == pytest.approx(explanation.value, rel=1e-12)
    assert steps["shift"] == (0.0 if abs(level) < 30 else level + 1.5)


def test_the_steps_of_a_normalised_cell_give_it():
    x = np.array([[1.0, 3.0, 8.0]])
    mean, variance = np.array([[4.0]]), np.array([[26 / 3]])
    operands = [Operand("x", x), Operand("m", mean), Operand("v", variance)]
    explanation = ops.Normalise(1e-5).explain((0, 2), operands)
    steps = explanation.steps
    assert explanation.terms[0].factors[0] == 8.0
    root = math.sqrt(steps["variance"] + steps["eps"])
    assert explanation.value == pytest.approx((8.0 - steps["mean"]) / root, rel=1e-15)


@every_case
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_printed_numpy_gives_the_value(case, dtype):
    result = case.op.forward(*case.inputs(dtype))
    inputs = case.inputs(dtype)
    names = list(NAMES[: len(inputs)])
    scope = {"np": np, "math": math, **dict(zip(names, inputs, strict=True))}
    printed = eval(case.op.expression(names), scope)
    assert np.shape(printed) == result.shape
    tolerance = 1e-5 if result.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(printed, result, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("op", ALL_OPS, ids=lambda op: op.name)
def test_the_formula_can_be_drawn(op):
    assert ziamath.Latex(op.formula).getsize()[0] > 0


def test_a_unary_op_has_its_input_as_its_one_term():
    x = np.array([[-1.5, 2.0]])
    for op in (ops.Relu(), ops.Gelu(), ops.GeluTanh(), ops.Silu()):
        (term,) = op.explain((0, 1), [Operand("h", x)]).terms
        assert (term.site, term.index, term.value) == ("h", (0, 1), 2.0)


def test_a_row_of_softmax_has_one_share_for_every_key():
    scores = np.array([[math.log(1), math.log(3), -math.inf, math.log(4)]])
    explanation = ops.Softmax().explain((0, 1), [Operand("s", scores)])
    assert explanation.value == pytest.approx(3 / 8, rel=1e-15)
    assert [term.index for term in explanation.terms] == [(0, 0), (0, 1), (0, 2), (0, 3)]
    shares = [term.value for term in explanation.terms]
    assert shares == pytest.approx([1 / 8, 3 / 8, 0, 1 / 2], rel=1e-14)
    assert shares[2] == 0.0


def test_a_fully_masked_row_explains_itself_as_zero():
    explanation = ops.Softmax().explain((0, 0), [Operand("s", np.full((1, 3), -math.inf))])
    assert explanation.value == evaluated(explanation.text) == 0.0
    assert [term.value for term in explanation.terms] == [0.0, 0.0, 0.0]


def test_a_hidden_cell_names_the_mask_as_its_reason():
    operands = [
        Operand("s", np.zeros((1, 2, 2, 3))),
        Operand("m", np.array([[[[True, False, 1]]]])),
    ]
    operands[1] = Operand("m", np.array([[[[True, False, True]]]]))
    explanation = ops.MaskedScores().explain((0, 1, 1, 1), operands)
    assert explanation.value == evaluated(explanation.text) == -math.inf
    assert [(term.site, term.index) for term in explanation.terms] == [("m", (0, 0, 0, 1))]


@pytest.mark.parametrize("n_terms", [1, 256, 257, 70_000])
def test_a_sum_of_any_length_can_be_evaluated(n_terms):
    assert evaluated(total(["0.5"] * n_terms)) == n_terms / 2


def test_the_empty_sum_is_zero():
    assert evaluated(total([])) == 0.0


@pytest.mark.parametrize("value", [0.1, -0.1, 1e300, -5e-324, -0.0, math.inf, -math.inf])
def test_a_number_reads_back_to_the_same_bits(value):
    read = evaluated(f"1.0 * {number(value)}")
    assert (read, math.copysign(1, read)) == (value, math.copysign(1, value))


def test_a_broadcast_input_is_read_at_its_own_cell():
    assert own_index((1, 2, 3), (4, 5)) == (2, 3)
    assert own_index((1, 2, 3), (2, 1, 5)) == (1, 0, 3)
    assert own_index((), ()) == ()
