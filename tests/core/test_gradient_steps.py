"""Gradients that can be worked out by hand, and the steps that their explanations name."""

from __future__ import annotations

import math

import numpy as np
import pytest

from model_core import ops
from model_core.ops import EVALUATION_NAMES, Explanation, Operand
from model_core.ops.base import Array


def told(op: ops.Op, which: int, index: tuple[int, ...], d_out: Array, *inputs: Array):
    out = op.forward(*inputs)
    operands = [Operand(*pair) for pair in zip("abc", inputs, strict=False)]
    gradient, value = Operand("y", np.asarray(d_out)), Operand("y", out)
    explanation = op.explain_backward(which, index, gradient, value, operands)
    check_text(explanation)
    return explanation


def check_text(explanation: Explanation) -> None:
    value = eval(explanation.text, {"__builtins__": {}}, dict(EVALUATION_NAMES))
    assert value == pytest.approx(explanation.value, rel=1e-12, abs=1e-15)


def test_a_score_gets_its_share_of_what_its_own_gradient_lies_above_the_average():
    scores = np.log([[1.0, 3.0, 4.0]])
    explanation = told(ops.Softmax(), 0, (0, 1), [[8.0, 16.0, 0.0]], scores)
    # shares 1/8, 3/8, 1/2: the average of 8, 16, 0 is 1 + 6 + 0
    assert explanation.steps == pytest.approx({"share": 3 / 8, "own": 16.0, "along": 7.0})
    assert explanation.value == pytest.approx(3 / 8 * 9)
    assert [term.value for term in explanation.terms] == pytest.approx([6, -3 / 8, -9 / 4, 0])


def test_a_hidden_key_and_a_hidden_row_get_no_gradient():
    scores = np.array([[-math.inf, 0.0], [-math.inf, -math.inf]])
    for index in ((0, 0), (1, 0), (1, 1)):
        assert told(ops.Softmax(), 0, index, np.ones((2, 2)), scores).value == 0.0


def test_the_gradient_of_one_log_probability_is_one_minus_its_chance_and_minus_the_others():
    scores = np.log([[1.0, 3.0, 4.0]])
    chosen = [[0.0, 1.0, 0.0]]
    for token, wanted in enumerate((-1 / 8, 5 / 8, -1 / 2)):
        explanation = told(ops.LogSoftmax(), 0, (0, token), chosen, scores)
        assert explanation.value == pytest.approx(wanted)
        assert explanation.steps["along"] == 1.0


def test_a_number_that_was_not_picked_gets_no_gradient():
    x = np.arange(6.0).reshape(1, 2, 3)
    for index in np.ndindex(x.shape):
        explanation = told(ops.Pick((0, 1, 2)), 0, index, np.array(2.5), x)
        assert explanation.value == (2.5 if index == (0, 1, 2) else 0.0)
        assert len(explanation.terms) == (index == (0, 1, 2))


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_gradient_of_a_log_probability_says_how_it_is_counted(smoothing):
    log_probs, labels = np.full((1, 3, 4), -1.0), np.array([[2, 0, 1]])
    op = ops.CrossEntropy(smoothing, 0)
    own = told(op, 0, (0, 0, 2), np.array(3.0), log_probs, labels)
    assert own.steps == {"n": 2.0, "label": 2.0, "smoothing": smoothing, "own": 3.0}
    assert own.value == pytest.approx(-3 * (1 - smoothing + smoothing / 4) / 2)
    other = told(op, 0, (0, 0, 3), np.array(3.0), log_probs, labels)
    assert other.value == pytest.approx(-3 * smoothing / 4 / 2)
    padding = told(op, 0, (0, 1, 0), np.array(3.0), log_probs, labels)
    assert (padding.value, padding.terms) == (0.0, ())


def test_only_the_aligned_weight_of_the_guided_head_gets_a_gradient():
    weights = np.full((1, 2, 2, 4), 0.25)
    weights[0, 1, 1, 0] = 0.0
    aligned = np.array([[3, 0]])
    for index in np.ndindex(weights.shape):
        explanation = told(ops.AlignmentLoss(1), 0, index, np.array(1.0), weights, aligned)
        # the other aligned weight is 0 and counts as the smallest one
        assert explanation.value == (-2.0 if index == (0, 1, 0, 3) else 0.0)
        assert explanation.steps["n"] == 2.0


def test_a_silu_far_below_zero_is_recomputed_to_all_its_digits():
    x = np.array([-20.0, -50.0, -87.0, -90.0, -800.0])
    scope = {"np": np, "math": math, "x": x}
    with np.errstate(over="raise", invalid="raise"):
        recomputed = eval(ops.Silu().expression(["x"]), scope)
    wanted = [value * math.exp(value) / (1 + math.exp(value)) for value in x.tolist()]
    np.testing.assert_allclose(recomputed, wanted, rtol=1e-14)
    single = ops.Silu().forward(x.astype(np.float32))
    assert (np.abs(single - recomputed) <= 1e-5 * ops.Silu().magnitude(recomputed, [x])).all()


def test_a_share_too_small_for_float32_is_no_error_of_the_softmax():
    x = np.array([[0.0, -60.0, -95.0, -120.0, -1000.0]])
    single = ops.Softmax().forward(x.astype(np.float32))
    value = eval(ops.Softmax().expression(["x"]), {"np": np, "x": x})
    assert (np.abs(single - value) <= 1e-5 * ops.Softmax().magnitude(value, [x])).all()
    # but a share that is one thousandth too large is
    value[0, 1] *= 1.001
    assert (np.abs(single - value) > 1e-5 * ops.Softmax().magnitude(value, [x])).any()
