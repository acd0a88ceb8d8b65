"""Every op: how it explains its gradients, where its numbers were read, what a cell needs."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
import ziamath

from model_core import ops
from model_core.ops import ALL_OPS, EVALUATION_NAMES, Explanation, Operand
from model_core.ops.base import Array, Index
from tests.core.op_cases import CASES, Case

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
every_type = pytest.mark.parametrize("dtype", ["float32", "float64"])
NAMES = "abc"
CELLS = 40
# The four-point central difference is off by STEP ** 4, rounding by 1e-16 / STEP.
STEP = 1e-3


class Ran(NamedTuple):
    """A case that ran forward and backward with random gradients of its result."""

    op: ops.Op
    inputs: tuple[Any, ...]
    out: Array
    d_out: Array
    gradients: tuple[Array | None, ...]

    @property
    def operands(self) -> list[Operand]:
        return [Operand(*pair) for pair in zip(NAMES, self.inputs, strict=False)]

    @property
    def differentiable(self) -> list[int]:
        return [i for i, gradient in enumerate(self.gradients) if gradient is not None]

    def told(self, which: int, index: Index) -> Explanation:
        d_out, out = Operand("y", self.d_out), Operand("y", self.out)
        return self.op.explain_backward(which, index, d_out, out, self.operands)

    def printed(self, which: int) -> Array:
        names = list(NAMES[: len(self.inputs)])
        scope = {"np": np, "math": math, "d": self.d_out, "y": self.out}
        scope |= dict(zip(names, self.inputs, strict=True))
        return eval(self.op.backward_expression(which, "d", "y", names), scope)


def run(case: Case, dtype: str = "float64") -> Ran:
    out = case.op.forward(*case.inputs(dtype))
    # a new generator: the first one moved on
    inputs = case.inputs(dtype)
    real = out.dtype if out.dtype.kind == "f" else np.dtype(dtype)
    d_out = np.asarray(np.random.default_rng(1).standard_normal(out.shape)).astype(real)
    out.setflags(write=False)
    d_out.setflags(write=False)
    gradients = case.op.backward(d_out, out, *inputs)
    return Ran(case.op, inputs, out, d_out, gradients)


def some_cells(shape: tuple[int, ...]) -> list[Index]:
    cells = list(np.ndindex(shape))
    chosen = np.random.default_rng(5).permutation(len(cells))[:CELLS]
    return [cells[i] for i in chosen]


def evaluated(text: str) -> float:
    return eval(text, {"__builtins__": {}}, dict(EVALUATION_NAMES))


def size(explanation: Explanation) -> float:
    return sum(abs(term.value) for term in explanation.terms)


def agree(found: float, wanted: float, terms: float, tolerance: float) -> bool:
    """As design.md section 6 defines it; terms: the sum of their sizes."""
    if math.isinf(wanted) or math.isinf(found):
        return found == wanted
    return abs(found - wanted) <= tolerance * (abs(wanted) + terms)


@every_case
@every_type
def test_an_explained_gradient_agrees_with_the_one_walked_back(case, dtype):
    ran = run(case, dtype)
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    for which in ran.differentiable:
        gradient = ran.gradients[which]
        for index in some_cells(gradient.shape):
            told = ran.told(which, index)
            assert isinstance(told.value, float)
            assert agree(told.value, float(gradient[index]), size(told), tolerance), (which, index)


@every_case
def test_an_explained_gradient_is_its_text_and_the_sum_of_its_terms(case):
    ran = run(case)
    for which in ran.differentiable:
        for index in some_cells(ran.inputs[which].shape):
            told = ran.told(which, index)
            added = math.fsum(term.value for term in told.terms)
            assert agree(evaluated(told.text), told.value, size(told), 1e-12), (which, index)
            assert agree(added, told.value, size(told), 1e-12), (which, index)


def difference(ran: Ran, which: int, index: Index) -> float:
    """How the result, summed with the weights d_out, follows one cell of an input."""
    sums = []
    for steps in (-2, -1, 1, 2):
        moved = ran.inputs[which].copy()
        moved[index] += steps * STEP
        result = ran.op.forward(*ran.inputs[:which], moved, *ran.inputs[which + 1 :])
        sums.append(float(np.sum(np.where(np.isfinite(result), result, 0.0) * ran.d_out)))
    return (sums[0] - 8 * sums[1] + 8 * sums[2] - sums[3]) / (12 * STEP)


@every_case
def test_an_explained_gradient_agrees_with_central_differences(case):
    ran = run(case)
    largest = max((np.abs(ran.gradients[i]).max() for i in ran.differentiable), default=0.0)
    for which in ran.differentiable:
        scale = max(np.abs(ran.gradients[which]).max(), largest / 1000)
        for index in some_cells(ran.inputs[which].shape):
            error = abs(ran.told(which, index).value - difference(ran, which, index))
            assert error <= 1e-6 * scale, (which, index)


def refuse(*inputs: object, **options: object) -> None:
    raise AssertionError("an explanation called forward or backward")


@every_case
def test_explaining_a_gradient_calls_neither_forward_nor_backward(case, monkeypatch):
    ran = run(case)
    for op in ALL_OPS:
        monkeypatch.setattr(op, "forward", refuse)
        monkeypatch.setattr(op, "backward", refuse)
    for which in ran.differentiable:
        for index in some_cells(ran.inputs[which].shape)[:3]:
            ran.told(which, index)


@every_case
def test_an_input_without_gradient_is_refused(case):
    ran = run(case)
    for which in set(range(len(ran.inputs))) - set(ran.differentiable):
        shape = getattr(ran.inputs[which], "shape", ())
        with pytest.raises(ValueError, match="gradient"):
            ran.told(which, (0,) * len(shape))
        with pytest.raises(ValueError, match="gradient"):
            ran.printed(which)


@every_case
@every_type
def test_the_printed_numpy_gives_the_gradient(case, dtype):
    ran = run(case, dtype)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    for which in ran.differentiable:
        gradient, printed = ran.gradients[which], ran.printed(which)
        assert np.shape(printed) == gradient.shape
        np.testing.assert_allclose(printed, gradient, rtol=tolerance, atol=tolerance)


@every_case
def test_every_gradient_has_a_formula_that_can_be_drawn(case):
    ran = run(case)
    formulas = case.op.backward_formulas
    # an op may do without its last input, a bias
    assert len(formulas) >= len(ran.inputs)
    for which, formula in enumerate(formulas[: len(ran.inputs)]):
        assert bool(formula) == (which in ran.differentiable)
    for formula in filter(None, formulas):
        assert ziamath.Latex(formula).getsize()[0] > 0


def check_origins(explanation: Explanation, arrays: dict[tuple[str, str], Array]) -> None:
    """Every factor, and every number that is none, is found where its term says."""
    for term in explanation.terms:
        assert isinstance(term.value, float) and term.label
        own = term.factors or (term.value,)
        if term.factors:
            assert math.prod(own) == pytest.approx(term.value, rel=1e-12, abs=1e-300)
        if not term.origins:
            assert len(own) == 1, f"{term.label} has several factors, but no origins"
            assert float(arrays[term.site, "value"][term.index]) == own[0], term
            continue
        assert len(term.origins) >= len(own), term
        for number, origin in zip(own, term.origins, strict=False):
            if origin is not None:
                assert float(arrays[origin.name, origin.of][origin.index]) == number, term
        for origin in filter(None, term.origins):
            array = arrays[origin.name, origin.of]
            assert all(type(place) is int and place >= 0 for place in origin.index), term
            assert np.shape(array[origin.index]) == ()


@every_case
def test_the_factors_of_a_gradient_are_found_where_its_terms_say(case):
    ran = run(case)
    arrays = {(name, "value"): value for name, value in ran.operands}
    arrays |= {("y", "value"): ran.out, ("y", "gradient"): ran.d_out}
    for which in ran.differentiable:
        for index in some_cells(ran.inputs[which].shape):
            check_origins(ran.told(which, index), arrays)


@every_case
def test_the_factors_of_a_cell_are_found_where_its_terms_say(case):
    ran = run(case)
    arrays = {(name, "value"): value for name, value in ran.operands}
    for index in some_cells(ran.out.shape):
        check_origins(case.op.explain(index, ran.operands), arrays)


@every_case
@every_type
def test_what_a_cell_reads_gives_the_cell(case, dtype):
    out = case.op.forward(*case.inputs(dtype))
    tolerance = 1e-5 if out.dtype == np.float32 else 1e-12
    for index in some_cells(out.shape):
        inputs = case.inputs(dtype)
        operands = [Operand(*pair) for pair in zip(NAMES, inputs, strict=False)]
        parts, place = case.op.reads(index, operands)
        assert len(parts) == len(inputs)
        read = [
            value[part] if isinstance(value, np.ndarray) else value
            for value, part in zip(inputs, parts, strict=True)
        ]
        assert list(map(np.ndim, read)) == list(map(np.ndim, inputs))
        scope = {"np": np, "math": math, **dict(zip(NAMES, read, strict=False))}
        result = eval(case.op.expression(list(NAMES[: len(inputs)])), scope)
        np.testing.assert_allclose(result[place], out[index], rtol=tolerance, atol=tolerance)


def sizes_read(op: ops.Op, index: Index, *shapes: tuple[int, ...]) -> list[tuple[int, ...]]:
    arrays = [np.zeros(shape) for shape in shapes]
    operands = [Operand(*pair) for pair in zip(NAMES, arrays, strict=False)]
    parts, _ = op.reads(index, operands)
    return [array[part].shape for array, part in zip(arrays, parts, strict=True)]


@pytest.mark.parametrize(
    ("op", "index", "shapes", "wanted"),
    [
        (ops.Linear(), (1, 2, 4), [(2, 3, 4), (4, 5), (5,)], [(1, 1, 4), (4, 1), (1,)]),
        (ops.TiedLinear(), (1, 2, 4), [(2, 3, 4), (5, 4), (5,)], [(1, 1, 4), (1, 4), (1,)]),
        (ops.Scores(0.5), (1, 0, 2, 4), [(2, 2, 3, 4), (2, 2, 5, 4)], [(1, 1, 1, 4)] * 2),
        (ops.Softmax(), (1, 0, 2, 4), [(2, 2, 3, 5)], [(1, 1, 1, 5)]),
        (
            ops.Context(),
            (1, 0, 2, 1),
            [(2, 2, 3, 5), (2, 2, 5, 4)],
            [(1, 1, 1, 5), (1, 1, 5, 1)],
        ),
        (ops.SplitHeads(4), (1, 2, 0, 3), [(2, 3, 20)], [(1, 1, 4)]),
        (ops.MergeHeads(), (1, 2, 13), [(2, 4, 3, 5)], [(1, 1, 1, 1)]),
        (ops.Residual(), (1, 2, 3), [(2, 3, 4)] * 2, [(1, 1, 1)] * 2),
    ],
    ids=lambda value: value.name if isinstance(value, ops.Op) else None,
)
def test_a_cell_reads_no_more_than_its_own_numbers(op, index, shapes, wanted):
    assert sizes_read(op, index, *shapes) == wanted


@every_case
def test_a_magnitude_is_the_sum_of_the_sizes_of_a_cells_terms(case):
    ran = run(case)
    found = case.op.magnitude(ran.out, ran.inputs)
    assert np.shape(found) == ran.out.shape
    for index in some_cells(ran.out.shape):
        magnitude, value = float(found[index]), abs(float(ran.out[index]))
        assert magnitude >= value * (1 - 1e-12)
        if case.additive:
            # the terms of what adds up are what a rounding error is measured against
            terms = size(case.op.explain(index, ran.operands))
            assert magnitude == pytest.approx(terms, rel=1e-12, abs=1e-300)


def test_a_table_row_says_which_id_chose_it():
    table, ids = np.arange(12.0).reshape(4, 3), np.array([[2, 0]])
    told = ops.EmbeddingRows().explain((0, 0, 1), [Operand("E", table), Operand("ids", ids)])
    (term,) = told.terms
    assert [(origin.name, origin.index) for origin in term.origins] == [
        ("E", (2, 1)),
        ("ids", (0, 0)),
    ]


def test_a_table_row_that_nobody_reads_gets_no_gradient():
    d_out, operands = np.ones((1, 2, 3)), [Operand("E", np.ones((4, 3)))]
    operands.append(Operand("ids", np.array([[2, 2]])))
    op, y = ops.EmbeddingRows(), Operand("y", d_out)
    unread = op.explain_backward(0, (1, 0), y, y, operands)
    assert (unread.value, evaluated(unread.text), unread.terms) == (0.0, 0.0, ())
    twice = op.explain_backward(0, (2, 0), y, y, operands)
    assert [term.index for term in twice.terms] == [(0, 0, 0), (0, 1, 0)]


def test_a_hidden_score_gets_no_gradient_however_large_it_is():
    scores, mask = np.zeros((1, 1, 1, 2)), np.array([True, False])
    operands = [Operand("s", scores), Operand("m", mask)]
    d_out = Operand("y", np.full(scores.shape, math.inf))
    told = ops.MaskedScores().explain_backward(0, (0, 0, 0, 1), d_out, d_out, operands)
    assert told.value == evaluated(told.text) == 0.0
    assert [(term.site, term.index) for term in told.terms] == [("m", (1,))]
