"""Every forward against what it should be: the standard library's maths, algebra, plain loops."""

from __future__ import annotations

import math
import threading
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_core import ops
from model_core.ops.erf import erf, normal_below

counts = st.lists(st.integers(1, 10**6), min_size=1, max_size=40)


# Softmax: e^log(n) is n, so the shares are fractions that whole numbers give exactly.


@given(counts, st.floats(-1000, 1000))
def test_softmax_of_logarithms_gives_exact_fractions(numbers, shift):
    shares = ops.Softmax().forward(np.log(np.array(numbers, float)) + shift)
    wanted = [float(Fraction(n, sum(numbers))) for n in numbers]
    np.testing.assert_allclose(shares, wanted, rtol=1e-11)
    assert shares.sum() == pytest.approx(1, abs=1e-14)


@given(counts)
def test_log_softmax_of_logarithms_gives_exact_fractions(numbers):
    logs = ops.LogSoftmax().forward(np.log(np.array([numbers], float)))
    wanted = [math.log(Fraction(n, sum(numbers))) for n in numbers]
    np.testing.assert_allclose(logs[0], wanted, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_keys", [1, 5, 32, 33, 100])
def test_masked_key_gets_zero_weight_and_a_fully_masked_row_only_zeros(dtype, n_keys):
    scores = np.random.default_rng(0).standard_normal((2, 3, 4, n_keys)).astype(dtype)
    scores[..., 0] = -np.inf
    scores[1, 2, 3] = -np.inf
    weights = ops.Softmax().forward(scores)
    assert not weights[..., 0].any() and not weights[1, 2, 3].any()
    sums = weights.sum(axis=-1)
    expected = np.ones((2, 3, 4)) if n_keys > 1 else np.zeros((2, 3, 4))
    expected[1, 2, 3] = 0
    np.testing.assert_allclose(sums, expected, rtol=1e-6)


@pytest.mark.parametrize("scores", [[1e4, -1e4, 0.0], [-1e4, -1e4, -1e4], [3e4, 3e4, -np.inf]])
def test_extreme_scores_give_shares_and_no_nan(scores):
    x = np.array(scores, np.float32)
    weights, logs = ops.Softmax().forward(x), ops.LogSoftmax().forward(x)
    assert weights.sum() == pytest.approx(1)
    assert np.isfinite(logs[np.isfinite(x)]).all()
    # log-probabilities do not stop at the smallest float
    np.testing.assert_allclose(logs - logs.max(), x - x.max(), rtol=1e-6)


# Activations against the math module.


def test_erf_agrees_with_the_standard_library_to_the_last_bits():
    x = np.concatenate([np.linspace(-7, 7, 20_001), [-0.46875, 0.46875, -4, 4, 1e-300, 50, -1e300]])
    wanted = np.array([math.erf(value) for value in x])
    assert np.abs(erf(x) - wanted).max() <= 1e-15
    small = x[np.abs(x) < 0.4]
    near_zero = np.array([math.erf(value) for value in small])
    np.testing.assert_allclose(erf(small), near_zero, rtol=1e-15)


def test_the_normal_distribution_in_float32_is_off_by_two_units_in_the_last_place_of_one():
    x = np.linspace(-9, 9, 100_001).astype(np.float32)
    wanted = np.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in x.tolist()])
    assert np.abs(normal_below(x) - wanted).max() <= 2 * np.finfo(np.float32).eps
    assert normal_below(x).dtype == np.float32


def by_cell(function, x):
    return np.array([function(value) for value in x.tolist()])


ACTIVATION_FORMULAS = {
    "relu": lambda v: max(v, 0.0),
    "gelu": lambda v: v * math.erfc(-v / math.sqrt(2)) / 2,
    "gelu_tanh": lambda v: v / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))),
    "silu": lambda v: v / (1 + math.exp(-v)),
}


@pytest.mark.parametrize("name", sorted(ACTIVATION_FORMULAS))
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 3e-15), ("float32", 2e-6)])
def test_an_activation_agrees_with_its_formula(name, dtype, tolerance):
    x = np.linspace(-12, 12, 4801).astype(dtype)
    wanted = by_cell(ACTIVATION_FORMULAS[name], x)
    np.testing.assert_allclose(ops.activation(name).forward(x), wanted, rtol=0, atol=tolerance * 4)


@pytest.mark.parametrize("name", sorted(ACTIVATION_FORMULAS))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_activation_of_huge_numbers_is_x_or_zero(name, dtype):
    op, x = ops.activation(name), np.array([-1e6, -1e3, 1e3, 1e6], dtype)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        out = op.forward(x)
        (slope,) = op.backward(np.ones_like(x), out, x)
    assert np.abs(out[:2]).max() < 1e-30
    assert out[2:].tolist() == [1e3, 1e6]
    np.testing.assert_allclose(slope, [0, 0, 1, 1], atol=1e-6)


def test_an_unknown_activation_is_named():
    with pytest.raises(ValueError, match="activation is 'swish', expected one of relu, gelu"):
        ops.activation("swish")


# Layer norm.


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_norm_gives_every_row_mean_zero_and_variance_one(dtype):
    x = (5 + 3 * np.random.default_rng(0).standard_normal((2, 6, 48))).astype(dtype)
    mean = ops.Mean().forward(x)
    variance = ops.Variance().forward(x, mean)
    exact = x.astype(np.longdouble)
    np.testing.assert_allclose(mean[..., 0], exact.sum(-1) / 48, rtol=1e-6)
    np.testing.assert_allclose(variance[..., 0], exact.var(-1), rtol=1e-5)
    y = ops.Normalise(0.0).forward(x, mean, variance).astype(np.float64)
    np.testing.assert_allclose(y.mean(-1), 0, atol=1e-6)
    np.testing.assert_allclose((y**2).mean(-1), 1, rtol=1e-5)


def test_a_constant_row_is_normalised_to_zeros():
    x = np.full((1, 1, 7), 3.0, np.float32)
    mean, variance, normalised, _ = ops.layer_norm(x, np.ones(7, "f4"), np.zeros(7, "f4"), 1e-5)
    assert (mean.item(), variance.item()) == (3.0, 0.0)
    assert not normalised.any()


# Positions.


def test_sinusoidal_positions_follow_the_paper():
    table = ops.SinusoidalPosition(6, "float64", "float64").forward(np.arange(200))
    for position in (0, 1, 17, 199):
        for i in range(3):
            angle = position / 10000 ** (2 * i / 6)
            assert table[position, 2 * i] == pytest.approx(math.sin(angle), abs=1e-14)
            assert table[position, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-14)


@pytest.mark.parametrize("width", [5, 6])
def test_halves_hold_the_same_waves_sorted_sines_first(width):
    positions = np.arange(9)
    paper = ops.SinusoidalPosition(width).forward(positions)
    halves = ops.SinusoidalPosition(width, layout="halves").forward(positions)
    assert np.array_equal(halves, np.hstack([paper[:, 0::2], paper[:, 1::2]]))


def test_a_float32_table_is_rounded_once_in_both_types():
    positions = np.arange(50)
    exact = ops.SinusoidalPosition(8, "float64", "float64").forward(positions)
    single = ops.SinusoidalPosition(8, "float32", "float32").forward(positions)
    rounded = ops.SinusoidalPosition(8, "float32", "float64").forward(positions)
    assert (single.dtype, rounded.dtype) == (np.float32, np.float64)
    assert np.array_equal(single, exact.astype(np.float32))
    assert np.array_equal(rounded, single)


def test_a_position_does_not_depend_on_how_far_the_table_reaches():
    op, far = ops.SinusoidalPosition(8), ops.SinusoidalPosition(8)
    first = op.forward(np.arange(3))
    far.forward(np.array([5000]))
    op.forward(np.array([700]))
    assert np.array_equal(op.forward(np.arange(3)), first)
    assert np.array_equal(far.forward(np.arange(3)), first)
    assert op.forward(np.arange(0)).shape == (0, 8)


def test_threads_that_lengthen_the_table_at_once_all_read_right_rows():
    op, exact = ops.SinusoidalPosition(4), ops.SinusoidalPosition(4).forward(np.arange(3000))
    wrong = []

    def read(seed: int) -> None:
        for length in np.random.default_rng(seed).integers(1, 3000, 60):
            if not np.array_equal(op.forward(np.arange(length)), exact[:length]):
                wrong.append(length)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_learned_positions_refuse_a_sentence_longer_than_their_table():
    table = np.zeros((4, 2))
    with pytest.raises(ValueError, match=r"max_seq_len 4, the sentence has 6 tokens"):
        ops.LearnedPosition().forward(table, np.arange(6))


# Embeddings, heads, masks.


@settings(max_examples=40)
@given(st.lists(st.integers(0, 5), max_size=30), st.integers(1, 4))
def test_every_row_of_an_embedding_collects_the_gradients_of_its_tokens(ids, width):
    rows = np.random.default_rng(len(ids)).standard_normal((len(ids), width))
    gradient, _ = ops.EmbeddingRows().backward(
        rows, rows, np.zeros((6, width)), np.array(ids, dtype=np.int64)
    )
    for token in range(6):
        mine = [row for row, own in zip(rows, ids) if own == token]
        np.testing.assert_allclose(gradient[token], np.sum(mine, axis=0), atol=1e-12)


def test_split_and_merge_undo_each_other_and_a_context_merges_without_a_copy():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 5, 12))
    heads = ops.SplitHeads(3).forward(x)
    assert heads.shape == (2, 3, 5, 4)
    assert np.array_equal(heads[1, 2, 4], x[1, 4, 8:])
    assert np.array_equal(ops.MergeHeads().forward(heads), x)
    context = ops.Context().forward(rng.random((2, 3, 5, 5)), heads)
    assert np.shares_memory(ops.MergeHeads().forward(context), context)


def test_masks_say_who_may_be_attended_to():
    real = np.array([[True, True, False], [True, True, True]])
    padding = ops.PaddingMask().forward(real)
    ahead = ops.LookAheadMask().forward(np.arange(3), np.arange(3))
    both = ops.BothMasks().forward(padding, ahead)
    assert both.shape == (2, 1, 3, 3)
    for batch, query, key in np.ndindex(2, 3, 3):
        assert both[batch, 0, query, key] == (key <= query and real[batch, key])


# Dropout.


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dropout_drops_at_its_rate_and_keeps_the_average(rate, dtype):
    x = np.zeros((100, 999), dtype)
    mask = ops.DropoutMask(rate).forward(x, np.random.default_rng(0))
    assert (mask.shape, mask.dtype) == (x.shape, np.dtype(dtype))
    kept = mask != 0
    assert np.unique(mask[kept]).tolist() == [np.dtype(dtype).type(1 / (1 - rate))]
    # five standard deviations
    assert abs((~kept).mean() - rate) <= 5 * math.sqrt(rate * (1 - rate) / x.size)
    assert mask.mean(dtype=float) == pytest.approx(1, abs=0.02)


def test_dropout_masks_follow_from_the_generator_and_differ_from_draw_to_draw():
    op, x = ops.DropoutMask(0.5), np.zeros((7, 9))
    one, other = np.random.default_rng(1), np.random.default_rng(1)
    first = op.forward(x, one)
    assert np.array_equal(first, op.forward(x, other))
    assert not np.array_equal(first, op.forward(x, one))


@pytest.mark.parametrize("rate", [-0.1, 1.0, math.nan])
def test_a_dropout_rate_outside_zero_to_one_is_refused(rate):
    with pytest.raises(ValueError, match="dropout rate is"):
        ops.DropoutMask(rate)


# Losses.


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.6])
def test_cross_entropy_is_the_distance_from_the_smoothed_target(smoothing):
    rng = np.random.default_rng(0)
    log_probs = ops.LogSoftmax().forward(rng.standard_normal((2, 4, 5)))
    labels = np.array([[3, 1, 4, 0], [2, 0, 0, 0]])
    each = []
    for batch, place in np.argwhere(labels != 0):
        target = np.full(5, smoothing / 5)
        target[labels[batch, place]] += 1 - smoothing
        each.append(-(target * log_probs[batch, place]).sum())
    loss = ops.CrossEntropy(smoothing, 0).forward(log_probs, labels)
    assert loss.shape == ()
    assert float(loss) == pytest.approx(np.mean(each), rel=1e-13)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_batch_of_padding_alone_has_no_loss_and_no_gradient(smoothing):
    op, log_probs, labels = (
        ops.CrossEntropy(smoothing),
        np.full((1, 2, 3), -1.0),
        np.zeros((1, 2), int),
    )
    loss = op.forward(log_probs, labels)
    assert float(loss) == 0
    assert not op.backward(np.ones(()), loss, log_probs, labels)[0].any()


def test_alignment_loss_reads_one_head_and_skips_tokens_without_a_partner():
    weights = np.full((1, 2, 3, 4), 0.25)
    weights[0, 1, 0] = [0.1, 0.2, 0.3, 0.4]
    weights[0, 1, 2] = [0.7, 0.1, 0.1, 0.1]
    loss = ops.AlignmentLoss(1).forward(weights, np.array([[3, -1, 0]]))
    assert float(loss) == pytest.approx(-(math.log(0.4) + math.log(0.7)) / 2)


def test_a_weighted_sum_adds_a_share_of_the_second_loss():
    loss = ops.WeightedSum(0.25).forward(np.array(2.0), np.array(4.0))
    assert (loss.shape, float(loss)) == ((), 3.0)
