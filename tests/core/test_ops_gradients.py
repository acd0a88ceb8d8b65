"""Every op: its gradients against central differences, and what holds for every forward."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module

import numpy as np
import pytest

from model_core import ops
from model_core.ops import ALL_OPS, Op
from tests.core.op_cases import CASES, Case

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
# The four-point central difference is off by STEP ** 4, rounding by 1e-16 / STEP.
STEP = 1e-3
TOLERANCE = 1e-6


def found_ops() -> set[type[Op]]:
    """Every op class that any file of the package defines."""
    found = set()
    for module in pkgutil.iter_modules(ops.__path__, "model_core.ops."):
        for _, value in inspect.getmembers(import_module(module.name), inspect.isclass):
            if issubclass(value, Op) and value is not Op:
                found.add(value)
    return found


def arrays(inputs: tuple) -> list[np.ndarray]:
    return [value for value in inputs if isinstance(value, np.ndarray)]


def test_every_op_is_listed_and_has_a_case():
    assert found_ops() == set(ALL_OPS)
    assert {type(case.op) for case in CASES} == set(ALL_OPS)


def test_every_op_has_its_own_name_and_words():
    for words in ("name", "sentence"):
        assert len({getattr(op, words) for op in ALL_OPS}) == len(ALL_OPS)
    assert all(op.formula for op in ALL_OPS)


def weighted(case: Case, inputs: tuple, weights: np.ndarray) -> float:
    """The result summed with fixed weights, hidden cells left out."""
    result = case.op.forward(*inputs)
    return float(np.sum(np.where(np.isfinite(result), result, 0.0) * weights))


def by_differences(case: Case, inputs: tuple, which: int, weights: np.ndarray) -> np.ndarray:
    """The gradient with regard to one input, cell by cell."""
    gradient = np.zeros(inputs[which].shape)
    for place in np.ndindex(gradient.shape):
        values = []
        for steps in (-2, -1, 1, 2):
            moved = inputs[which].copy()
            moved[place] += steps * STEP
            values.append(weighted(case, (*inputs[:which], moved, *inputs[which + 1 :]), weights))
        gradient[place] = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * STEP)
    return gradient


@every_case
def test_gradients_agree_with_central_differences(case):
    inputs = case.inputs("float64")
    out = case.op.forward(*inputs)
    weights = np.random.default_rng(1).standard_normal(out.shape)
    gradients = case.op.backward(weights, out, *inputs)
    assert len(gradients) == len(inputs)

    wanted = {}
    for which, (value, gradient) in enumerate(zip(inputs, gradients, strict=True)):
        is_float = isinstance(value, np.ndarray) and value.dtype == np.float64
        if not is_float or which in case.constants:
            assert gradient is None
            continue
        assert gradient.shape == value.shape
        assert gradient.dtype == np.float64
        wanted[which] = by_differences(case, inputs, which, weights)
    largest = max((np.abs(gradient).max() for gradient in wanted.values()), default=0.0)
    for which, gradient in wanted.items():
        scale = max(np.abs(gradient).max(), largest / 1000)
        assert np.abs(gradients[which] - gradient).max() <= TOLERANCE * scale


@every_case
def test_float32_stays_float32_and_agrees_with_float64(case):
    singles, doubles = case.inputs("float32"), case.inputs("float64")
    single, double = case.op.forward(*singles), case.op.forward(*doubles)
    assert single.shape == double.shape
    if double.dtype == bool or isinstance(case.op, ops.SinusoidalPosition):
        assert single.dtype == double.dtype
        return
    assert (single.dtype, double.dtype) == (np.float32, np.float64)
    finite = np.isfinite(double)
    assert np.array_equal(single[~finite], double[~finite].astype(np.float32))
    sizes = [np.abs(value[np.isfinite(value)]).max(initial=0) for value in arrays(doubles)]
    np.testing.assert_allclose(single[finite], double[finite], rtol=1e-4, atol=1e-6 * max(sizes))
    for gradient in case.op.backward(np.ones_like(single), single, *singles):
        assert gradient is None or gradient.dtype == np.float32


@every_case
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_writing_into_out_gives_the_same_bits(case, dtype):
    result = case.op.forward(*case.inputs(dtype))
    assert isinstance(result, np.ndarray)
    out = np.full(result.shape, True if result.dtype == bool else np.nan, result.dtype)
    written = case.op.forward(*case.inputs(dtype), out=out)
    if case.op.is_view:
        assert np.shares_memory(case.op.forward(*(inputs := case.inputs(dtype))), inputs[0])
    else:
        assert written is out
    assert written.tobytes() == result.tobytes()


@every_case
def test_out_may_lie_strided_in_memory(case):
    result = case.op.forward(*case.inputs())
    if case.op.is_view or result.ndim == 0:
        return
    wider = np.zeros([size + 1 for size in result.shape], result.dtype)
    part = wider[tuple(slice(size) for size in result.shape)]
    case.op.forward(*case.inputs(), out=part)
    np.testing.assert_allclose(part, result, rtol=1e-14, atol=1e-14)
    part[...] = 0
    assert not wider.any()


@every_case
def test_inputs_are_left_as_they_were(case):
    inputs, before = case.inputs(), case.inputs()
    out = case.op.forward(*inputs)
    out.setflags(write=False)
    d_out = np.ones(out.shape)
    d_out.setflags(write=False)
    case.op.backward(d_out, out, *inputs)
    for value, old in zip(arrays(inputs), arrays(before), strict=True):
        assert value.tobytes() == old.tobytes()


@every_case
def test_forward_and_backward_raise_no_floating_point_warning(case):
    # Underflow is how the share of a distant score becomes 0.
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        for dtype in ("float32", "float64"):
            inputs = case.inputs(dtype)
            out = case.op.forward(*inputs)
            d_out = np.where(np.isfinite(out), 1.0, 0.0).astype(out.dtype)
            case.op.backward(d_out, out, *inputs)


def test_masked_scores_let_no_gradient_through_hidden_cells():
    scores, mask = np.zeros((1, 1, 2, 2)), np.array([[True, False], [True, True]])
    op = ops.MaskedScores()
    d_scores, d_mask = op.backward(
        np.array([[[[1.0, np.inf], [3.0, 4.0]]]]), op.forward(scores, mask), scores, mask
    )
    assert d_scores.tolist() == [[[[1.0, 0.0], [3.0, 4.0]]]]
    assert d_mask is None


def test_a_clamped_weight_gets_no_gradient_from_the_alignment_loss():
    weights = np.array([[[[0.0, 1.0], [0.5, 0.5]]]])
    aligned = np.array([[0, 0]])
    op = ops.AlignmentLoss(0)
    loss = op.forward(weights, aligned)
    assert loss == pytest.approx((-np.log(1e-9) - np.log(0.5)) / 2)
    gradient, _ = op.backward(np.ones(()), loss, weights, aligned)
    assert gradient.tolist() == [[[[0.0, 0.0], [-1.0, 0.0]]]]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(5,), (4, 5), (2, 3, 5)])
def test_norm_at_once_equals_its_four_steps(dtype, shape):
    rng = np.random.default_rng(3)
    x, d_out = (rng.standard_normal(shape).astype(dtype) for _ in range(2))
    gamma, beta = (rng.standard_normal(shape[-1]).astype(dtype) for _ in range(2))
    steps = ops.Mean(), ops.Variance(), ops.Normalise(1e-5), ops.ScaleShift()
    mean = steps[0].forward(x)
    variance = steps[1].forward(x, mean)
    normalised = steps[2].forward(x, mean, variance)
    out = steps[3].forward(normalised, gamma, beta)
    fused = ops.layer_norm(x, gamma, beta, 1e-5)
    for mine, wanted in zip(fused, (mean, variance, normalised, out), strict=True):
        assert mine.tobytes() == wanted.tobytes()

    d_normalised, d_gamma, d_beta = steps[3].backward(d_out, out, normalised, gamma, beta)
    d_x, d_mean, d_variance = steps[2].backward(d_normalised, normalised, x, mean, variance)
    for_x, for_mean = steps[1].backward(d_variance, variance, x, mean)
    d_x = d_x + for_x + steps[0].backward(d_mean + for_mean, mean, x)[0]

    fused = ops.layer_norm_backward(d_out, normalised, variance, 1e-5, gamma)
    for mine, wanted in zip(fused, (d_x, d_gamma, d_beta), strict=True):
        assert (mine.shape, mine.dtype) == (wanted.shape, np.dtype(dtype))
        tolerance = 1e-12 if dtype == "float64" else 1e-5
        np.testing.assert_allclose(mine, wanted, rtol=tolerance, atol=tolerance)
