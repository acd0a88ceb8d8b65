"""Sampling against the reference data, and against the plain definitions of its stages."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_core.sampling import (
    argmax,
    distribution,
    draw,
    near_boundary,
    uniform_at,
    uniforms,
)

DATA = Path(__file__).parent.parent / "data" / "sampling"
REFERENCE = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))
with np.load(DATA / "sampling.npz", allow_pickle=False) as archive:
    ARRAYS = {name: archive[name] for name in archive.files}

NONSENSE_LOGITS = {
    "all -inf": [-np.inf, -np.inf],
    "contains NaN": [0.0, np.nan, 1.0],
    "contains +inf": [0.0, np.inf, 1.0],
}


def arguments(case):
    return {name: case[name] for name in ("temperature", "top_k", "top_p")}


@pytest.mark.parametrize("case", REFERENCE["cases"], ids=lambda case: case["case"])
def test_probabilities_agree_with_the_reference(case):
    result = distribution(ARRAYS[case["logits"]], **arguments(case))
    found, expected = result.probabilities, ARRAYS[f"probs_{case['case']}"]
    if case["tie_break_dependent"]:
        found, expected = np.sort(found), np.sort(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert np.count_nonzero(found) == np.count_nonzero(expected)
    assert np.count_nonzero(result.kept) == case["kept"]


@pytest.mark.parametrize("case", REFERENCE["cases"], ids=lambda case: case["case"])
def test_every_stage_is_the_tempered_logits_or_minus_infinity(case):
    logits = ARRAYS[case["logits"]]
    result = distribution(logits, **arguments(case))
    np.testing.assert_array_equal(result.logits, logits)
    np.testing.assert_allclose(result.tempered, logits / case["temperature"], rtol=1e-15)
    for stage in (result.after_top_k, result.after_top_p):
        assert np.all((stage == result.tempered) | (stage == -np.inf))
    assert np.all(result.after_top_p[result.kept] > -np.inf)
    assert not result.probabilities[~result.kept].any()
    for array in vars(result).values():
        assert not array.flags.writeable
        assert array.shape == logits.shape


@pytest.mark.parametrize("refused", REFERENCE["invalid_arguments"], ids=lambda case: str(case))
def test_reference_nonsense_is_refused(refused):
    call = dict(refused["call"])
    logits = NONSENSE_LOGITS[call.pop("logits")] if "logits" in call else [0.5, 1.5]
    with pytest.raises(ValueError, match="expected"):
        distribution(logits, **call)


@pytest.mark.parametrize(
    "call",
    [
        {"temperature": np.nan},
        {"temperature": np.inf},
        {"temperature": None},
        {"temperature": "1"},
        {"temperature": True},
        {"temperature": 1e-320},
        {"top_k": 2.0},
        {"top_k": True},
        {"top_k": "2"},
        {"top_p": 0.0},
        {"top_p": np.nan},
        {"top_p": True},
        {"top_p": "0.5"},
        {"logits": []},
        {"logits": 1.0},
        {"logits": [[0.0, 1.0]]},
        {"logits": ["0", "1"]},
        {"logits": [True, False]},
        {"logits": [1j, 0]},
        {"logits": [None, 1.0]},
    ],
    ids=str,
)
def test_other_nonsense_is_refused(call):
    with pytest.raises(ValueError, match="expected"):
        distribution(**{"logits": [0.5, 1.5], **call})


def test_float32_logits_are_sampled_in_float64():
    logits = np.array([0.1, 0.2, -1.0], np.float32)
    result = distribution(logits, temperature=0.7)
    expected = np.exp(logits.astype(np.float64) / 0.7)
    np.testing.assert_allclose(result.probabilities, expected / expected.sum(), rtol=1e-14)
    assert result.probabilities.dtype == np.float64


def test_given_logits_may_change_afterwards():
    logits = np.array([1.0, 2.0])
    result = distribution(logits)
    logits[:] = 9.0
    np.testing.assert_array_equal(result.logits, [1.0, 2.0])


few_logits = st.lists(
    st.one_of(st.integers(-3, 3).map(float), st.floats(-30, 30), st.just(-np.inf)),
    min_size=1,
    max_size=40,
).filter(lambda values: max(values) > -np.inf)


@given(few_logits, st.floats(0.1, 5.0), st.integers(1, 45), st.floats(0.01, 1.0))
def test_stages_agree_with_their_definitions(logits, temperature, top_k, top_p):
    result = distribution(logits, temperature, top_k, top_p)
    # Top-k: a token stays where fewer than k are strictly better.
    better = (result.tempered[None, :] > result.tempered[:, None]).sum(axis=1)
    np.testing.assert_array_equal(
        result.after_top_k, np.where(better < top_k, result.tempered, -np.inf)
    )
    # Top-p: walk down the sorted tokens until their mass reaches p.
    weights = np.exp(result.after_top_k - result.after_top_k.max())
    mass = weights / weights.sum()
    ranked = sorted(range(len(logits)), key=lambda i: (-result.after_top_k[i], i))
    kept = np.flatnonzero(result.kept)
    assert len(kept) >= 1
    assert set(kept) == set(ranked[: len(kept)])
    if top_p < 1.0:
        assert mass[kept].sum() >= top_p - 1e-12
        assert mass[ranked[: len(kept) - 1]].sum() < top_p + 1e-12
    assert abs(result.probabilities.sum() - 1.0) < 1e-12


def test_equal_tokens_are_kept_lowest_id_first():
    result = distribution([0.0, 1.0, 1.0, 1.0, 1.0], top_p=0.4)
    np.testing.assert_array_equal(np.flatnonzero(result.kept), [1, 2])


@pytest.mark.parametrize("top_p", [1e-300, 1e-17, 0.5])
def test_a_tiny_nucleus_keeps_one_token(top_p):
    result = distribution([0.0, 9.0, 1.0], top_p=top_p)
    np.testing.assert_array_equal(result.probabilities, [0.0, 1.0, 0.0])


def test_entropy_of_known_distributions():
    assert distribution([0.3] * 8).entropy == pytest.approx(3.0, abs=1e-12)
    assert distribution([0.3, 1.0], top_k=1).entropy == 0.0
    assert distribution(np.log([0.5, 0.25, 0.25])).entropy == pytest.approx(1.5, abs=1e-12)


@given(few_logits, st.one_of(st.none(), st.integers(1, 8)))
def test_order_is_by_probability_then_id(logits, top_k):
    result = distribution(logits, top_k=top_k)
    expected = sorted(range(len(logits)), key=lambda i: (-result.probabilities[i], i))
    assert result.order.tolist() == expected
    for count in (0, 1, 3, len(logits), len(logits) + 5):
        assert result.top(count).tolist() == expected[:count]


@given(few_logits, st.floats(0.0, 1.0))
def test_draw_is_the_inverse_of_the_cumulative_distribution(logits, uniform):
    result = distribution(logits)
    drawn = draw(result, uniform)
    assert result.probabilities[drawn] > 0.0
    below, upto = result.probabilities[:drawn].sum(), result.probabilities[: drawn + 1].sum()
    assert below - 1e-12 <= uniform <= upto + 1e-12


@pytest.mark.parametrize("uniform", [0.0, np.nextafter(1.0, 0.0), 1.0])
def test_impossible_tokens_at_the_ends_are_never_drawn(uniform):
    # Ten equal shares sum to 0.9999999999999999, below the largest uniform.
    result = distribution([-np.inf] * 3 + [0.0] * 10 + [-np.inf] * 3)
    assert draw(result, uniform) == (3 if uniform == 0.0 else 12)


def test_draws_follow_the_probabilities():
    result = distribution(np.log([0.5, 0.2, 0.3]), top_k=3)
    counts = np.bincount([draw(result, u) for u in islice(uniforms(7), 20_000)], minlength=3)
    # Five standard deviations of a binomial count.
    spread = 5 * np.sqrt(20_000 * result.probabilities * (1 - result.probabilities))
    assert np.all(np.abs(counts - 20_000 * result.probabilities) < spread)


@pytest.mark.parametrize("uniform", [-0.1, 1.1, np.nan, "0.5", None])
def test_a_uniform_outside_the_unit_interval_is_refused(uniform):
    with pytest.raises(ValueError, match="expected"):
        draw(distribution([0.0, 1.0]), uniform)


def test_near_boundary_tells_draws_that_rounding_could_change():
    result = distribution(np.log([0.25, 0.25, 0.5]))
    assert near_boundary(result, 0.5 + 1e-7)
    assert near_boundary(result, 0.25 - 1e-7)
    assert not near_boundary(result, 0.4)
    # The outer ends do not move: below the first token and above the last there is nothing.
    assert not near_boundary(result, 0.0)
    assert not near_boundary(result, 1.0)
    assert not near_boundary(distribution([1.0]), 0.5)
    assert near_boundary(result, 0.3, tolerance=0.06)


def test_uniforms_are_the_named_stream():
    generator = np.random.Generator(np.random.PCG64(42))
    expected = generator.random(5).tolist()
    assert list(islice(uniforms(42), 5)) == expected
    assert list(islice(uniforms(np.int64(42)), 5)) == expected
    assert list(islice(uniforms(43), 5)) != expected


@pytest.mark.parametrize("skip", [0, 1, 7, 200])
def test_a_uniform_is_found_without_those_before_it(skip):
    assert uniform_at(42, skip) == list(islice(uniforms(42), skip + 1))[-1]


@pytest.mark.parametrize("seed", [-1, 1.5, None, "1", True])
def test_nonsense_seeds_are_refused(seed):
    with pytest.raises(ValueError, match="expected"):
        uniforms(seed)


def test_log_prob_is_the_models_own_whatever_the_sampling():
    logits = np.array([1.0, 2.0, -np.inf, 0.5])
    expected = logits - np.log(np.exp(logits).sum())
    result = distribution(logits, temperature=0.2, top_k=1)
    for token, value in enumerate(expected):
        assert result.log_prob_of(token) == pytest.approx(value, abs=1e-14)
    huge = distribution([10_000.0, 9_999.0])
    assert huge.log_prob_of(0) == pytest.approx(-np.log1p(np.exp(-1.0)), abs=1e-11)
    for outside in (-1, 4):
        with pytest.raises(ValueError, match="expected"):
            result.log_prob_of(outside)


def test_greedy_takes_the_lowest_of_equal_ids():
    assert argmax([0.0, 2.0, 2.0]) == 1
    assert argmax(np.array([-np.inf, -5.0], np.float32)) == 1
    with pytest.raises(ValueError, match="nan"):
        argmax([0.0, np.nan])
