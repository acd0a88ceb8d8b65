"""Where one share of a row is close to 1, float32 gradients still have all their digits."""

from __future__ import annotations

import math

import numpy as np
import pytest

import model_core
from model_core import ops
from model_core.expressions import evaluated
from model_core.gradients import Target, gradients_of
from model_core.ops import EVALUATION_NAMES, Explanation, Operand
from model_core.ops.base import Array

WIDTH, TOP = 40, 7
# how far the largest score lies above the others: its share is up to 1 - 1e-13
every_lead = pytest.mark.parametrize("lead", [3.0, 8.0, 12.0, 16.0, 20.0, 30.0])
every_op = pytest.mark.parametrize("op", [ops.Softmax(), ops.LogSoftmax()], ids=lambda op: op.name)


def scores(lead: float) -> Array:
    x = np.random.default_rng(2).uniform(-1, 1, (3, WIDTH)).astype(np.float32)
    x[:, TOP] += np.float32(lead)
    return x


def gradients_from_above(op: ops.Op) -> Array:
    """Gradients of the result that lie well apart, so that only a share near 1 can cost digits."""
    d_out = np.zeros((3, WIDTH), np.float32)
    if isinstance(op, ops.LogSoftmax):
        # of one log-probability, the largest or another; and of all, up for one and down for others
        d_out[0, TOP], d_out[1, 3] = 1.0, -0.25
        d_out[2] = np.where(np.arange(WIDTH) == TOP, 0.5, -0.001)
        return d_out
    d_out[...] = 3.0 + np.arange(WIDTH)
    d_out[:, TOP] = [0.5, -2.0, 1.0]
    return d_out


def truth(op: ops.Op, x: Array, d_out: Array) -> Array:
    """The gradient in float64, as a sum over pairs in which nothing cancels that is not equal."""
    x, d_out = x.astype(np.float64), d_out.astype(np.float64)
    p = np.exp(x - x.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    d_x = np.zeros_like(p)
    for r, i in np.ndindex(d_x.shape):
        others = [j for j in range(WIDTH) if j != i]
        if isinstance(op, ops.Softmax):
            d_x[r, i] = math.fsum(p[r, i] * p[r, j] * (d_out[r, i] - d_out[r, j]) for j in others)
        else:
            d_x[r, i] = math.fsum(d_out[r, i] * p[r, j] - p[r, i] * d_out[r, j] for j in others)
    return d_x


def agree(found: Array, wanted: Array, tolerance: float) -> bool:
    return bool((np.abs(found - wanted) <= tolerance * np.abs(wanted)).all())


def told(op: ops.Op, index: tuple[int, ...], d_out: Array, out: Array, x: Array) -> Explanation:
    operands = [Operand("x", x)]
    return op.explain_backward(0, index, Operand("y", d_out), Operand("y", out), operands)


@every_op
@every_lead
def test_a_float32_gradient_agrees_with_float64_in_every_entry(op, lead):
    x, d_out = scores(lead), gradients_from_above(op)
    (d_x,) = op.backward(d_out, op.forward(x), x)
    assert d_x.dtype == np.float32
    assert agree(d_x, truth(op, x, d_out), 1e-5)


@every_op
@every_lead
def test_what_is_told_of_a_gradient_agrees_in_every_entry_too(op, lead):
    x, d_out = scores(lead), gradients_from_above(op)
    out, wanted = op.forward(x), truth(op, x, d_out)
    for index in np.ndindex(x.shape):
        explanation = told(op, index, d_out, out, x)
        value = explanation.value
        assert value == pytest.approx(wanted[index], rel=1e-5, abs=0.0), index
        text = eval(explanation.text, {"__builtins__": {}}, dict(EVALUATION_NAMES))
        assert text == pytest.approx(value, rel=1e-12, abs=0.0), index
        added = math.fsum(term.value for term in explanation.terms)
        assert added == pytest.approx(value, rel=1e-6, abs=0.0), index
        assert all(
            math.prod(term.factors) == pytest.approx(term.value, rel=1e-12, abs=0.0)
            for term in explanation.terms
        )


@every_op
@every_lead
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_printed_numpy_agrees_in_every_entry_too(op, lead, dtype):
    x, d_out = scores(lead), gradients_from_above(op)
    out = op.forward(x)
    text = op.backward_expression(0, "d", "y", ["x"])
    if dtype == "float64":
        values = {"d": d_out.astype(dtype), "y": out.astype(dtype)}
        printed = evaluated(text, values)
    else:
        printed = eval(text, {"np": np, "d": d_out, "y": out})
        assert printed.dtype == np.float32
    assert agree(printed, truth(op, x, d_out), 1e-5)


@every_op
def test_of_several_largest_entries_none_is_counted_twice_and_none_left_out(op):
    x = np.array([[2.0, 2.0, -1.0, 2.0], [0.0, 0.0, 0.0, 0.0]])
    out, d_out = op.forward(x), np.array([[1.0, -2.0, 4.0, 0.5], [0.0, 3.0, 1.0, 1.0]])
    (d_x,) = op.backward(d_out, out, x)
    p = np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)
    if isinstance(op, ops.Softmax):
        wanted = p * (d_out - (p * d_out).sum(axis=-1, keepdims=True))
    else:
        wanted = d_out - p * d_out.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(d_x, wanted, rtol=1e-13, atol=1e-15)
    printed = evaluated(op.backward_expression(0, "d", "y", ["x"]), {"d": d_out, "y": out})
    np.testing.assert_allclose(printed, wanted, rtol=1e-13, atol=1e-15)
    for index in np.ndindex(x.shape):
        assert told(op, index, d_out, out, x).value == pytest.approx(wanted[index], abs=1e-15)


@every_op
def test_an_entry_alone_in_its_row_has_a_gradient_of_zero(op):
    x, d_out = np.full((2, 1), 3.0), np.full((2, 1), 5.0)
    out = op.forward(x)
    assert not op.backward(d_out, out, x)[0].any()
    assert not evaluated(op.backward_expression(0, "d", "y", ["x"]), {"d": d_out, "y": out}).any()
    explanation = told(op, (0, 0), d_out, out, x)
    assert explanation.value == eval(explanation.text, dict(EVALUATION_NAMES)) == 0.0


def test_the_bundled_translator_is_sure_and_its_gradients_are_exact():
    model = model_core.open_checkpoint("en-zh")
    generation = model.generate("the cat sleeps")
    for row, token in enumerate(generation.ids[1:]):
        gradients = gradients_of(generation.tape, Target("log_prob", row, token))
        logits = generation.tape["logits"].value[0, row].astype(np.float64)
        p = np.exp(logits - np.logaddexp.reduce(logits))
        assert p[token] > 0.99
        wanted = -p
        wanted[token] = np.delete(p, token).sum()
        assert agree(gradients["logits"].value[0, row], wanted, 1e-5)
