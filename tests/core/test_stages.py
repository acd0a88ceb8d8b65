"""The stages on show: the reference data through them, their figures by definition, their draws."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_core.constraints import Constraints
from model_core.sampling import RankedLogits, distribution, draw, draw_counts, drawn, uniforms
from model_core.stages import Pipeline

DATA = Path(__file__).parent.parent / "data" / "sampling"
REFERENCE = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))
with np.load(DATA / "sampling.npz", allow_pickle=False) as archive:
    ARRAYS = {name: archive[name] for name in archive.files}
PIPELINES = {name: Pipeline(x) for name, x in ARRAYS.items() if name.startswith("logits")}
NAMES = ["logits", "tempered", "after_top_k", "after_top_p", "renormalised"]


@pytest.mark.parametrize("case", REFERENCE["cases"], ids=lambda case: case["case"])
def test_every_reference_case_passes_through_the_stages(case):
    # one pipeline for all cases of the same logits, as under a slider
    staged = PIPELINES[case["logits"]].staged(case["temperature"], case["top_k"], case["top_p"])
    found, expected = staged["renormalised"].probabilities, ARRAYS[f"probs_{case['case']}"]
    plain = distribution(
        ARRAYS[case["logits"]], case["temperature"], case["top_k"], case["top_p"]
    ).probabilities
    np.testing.assert_array_equal(found, plain)
    if case["tie_break_dependent"]:
        found, expected = np.sort(found), np.sort(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert [stage.name for stage in staged.stages] == NAMES
    assert staged["renormalised"].kept_count == case["kept"]
    positive = expected[expected > 0.0]
    entropy = -(positive * np.log2(positive)).sum()
    assert staged["renormalised"].entropy == pytest.approx(entropy, abs=1e-9)


@pytest.mark.parametrize("refused", REFERENCE["invalid_arguments"], ids=lambda case: str(case))
def test_reference_nonsense_is_refused(refused):
    call = dict(refused["call"])
    nonsense = {
        "all -inf": [-np.inf, -np.inf],
        "contains NaN": [0.0, np.nan, 1.0],
        "contains +inf": [0.0, np.inf, 1.0],
    }
    logits = nonsense[call.pop("logits")] if "logits" in call else [0.5, 1.5]
    with pytest.raises(ValueError, match="expected"):
        Pipeline(logits).staged(**call)


def shares(values):
    weights = np.exp(np.asarray(values, np.float64) - np.max(values))
    return weights / weights.sum()


some_logits = st.lists(
    st.one_of(st.integers(-3, 3).map(float), st.floats(-30, 30), st.just(-np.inf)),
    min_size=1,
    max_size=40,
).filter(lambda values: max(values) > -np.inf)
temperatures = st.floats(0.1, 5.0)
ranks = st.one_of(st.none(), st.integers(1, 45))
masses = st.one_of(st.none(), st.floats(0.01, 1.0))


@given(some_logits, temperatures, ranks, masses)
def test_the_figures_of_a_stage_are_what_they_are_called(logits, temperature, top_k, top_p):
    staged = Pipeline(logits).staged(temperature, top_k, top_p)
    before, total = shares(logits), 1.0
    for stage in staged.stages:
        kept = stage.values > -np.inf
        if stage.name == "renormalised":
            kept = stage.values > 0.0
        assert stage.kept_count <= np.count_nonzero(kept)
        if stage.name in ("after_top_k", "after_top_p"):
            assert stage.kept_mass == pytest.approx(before[kept].sum(), rel=1e-9)
            total *= stage.kept_mass
        else:
            assert stage.kept_mass == 1.0
        assert stage.total_mass == pytest.approx(total, rel=1e-9)
        p = stage.probabilities
        assert p.sum() == pytest.approx(1.0)
        entropy = -sum(x * math.log2(x) for x in p if x > 0.0)
        assert stage.entropy == pytest.approx(entropy, abs=1e-9)
        assert stage.perplexity == pytest.approx(2.0**entropy, rel=1e-8)
        before = p
    assert staged["tempered"].is_off == (temperature == 1.0)
    assert staged["after_top_k"].is_off == (top_k is None or top_k >= len(logits))
    assert staged["after_top_p"].is_off == (top_p is None or top_p == 1.0)


@given(some_logits, temperatures, ranks, masses)
def test_a_ranking_changes_no_bit(logits, temperature, top_k, top_p):
    ranked = RankedLogits(logits)
    plain = distribution(logits, temperature, top_k, top_p)
    quick = distribution(ranked, temperature, top_k, top_p)
    for name, array in vars(plain).items():
        np.testing.assert_array_equal(getattr(quick, name), array)
    expected = sorted(range(len(logits)), key=lambda i: (-logits[i], i))
    assert ranked.order.tolist() == expected


def test_constraints_stand_between_the_logits_and_the_temperature():
    logits = np.log([0.5, 0.2, 0.2, 0.1])
    bound = Constraints(suppress_tokens=(0,), min_length=2).at(4, (2,), 1, 9)
    staged = Pipeline(logits, bound.stages(logits, [1, 3])).staged(0.5)
    assert [stage.name for stage in staged.stages] == [
        "logits",
        "min_length",
        "suppress_tokens",
        *NAMES[1:],
    ]
    idle, cut = staged["min_length"], staged["suppress_tokens"]
    assert (idle.is_off, idle.kept_mass, idle.touched.tolist()) == (True, 1.0, [])
    assert (cut.is_off, cut.kept_count, cut.touched.tolist()) == (False, 3, [0])
    assert cut.kept_mass == pytest.approx(0.5)
    assert staged["renormalised"].total_mass == pytest.approx(0.5)
    np.testing.assert_allclose(staged["renormalised"].values, np.array([0, 4, 4, 1]) / 9)
    with pytest.raises(KeyError, match="no stage 'softmax' among logits"):
        staged["softmax"]


@given(some_logits, st.floats(0.0, 1.0))
def test_a_draw_tells_its_piece_of_the_cumulative(logits, uniform):
    given_ = distribution(logits)
    found = drawn(given_, uniform)
    assert found.id == draw(given_, uniform)
    assert found.below <= uniform
    assert uniform <= found.upto or found.upto == pytest.approx(1.0)
    assert found.upto - found.below == pytest.approx(given_.probabilities[found.id], abs=1e-12)
    sums = np.cumsum(given_.probabilities)
    inner = [sums[i] for i in np.flatnonzero(given_.probabilities)[:-1]]
    # the last tokens may be too unlikely to lift the sum: then there is no boundary either
    inner = [s for s in inner if s < sums[-1]]
    assert found.near_boundary == any(abs(s - uniform) <= 1e-6 for s in inner)


def test_many_draws_are_the_draws_one_by_one():
    given_ = distribution(np.random.default_rng(5).normal(0, 2, 50), 0.8, 30, 0.9)
    one_by_one = [draw(given_, u) for u in islice(uniforms(11), 700)]
    np.testing.assert_array_equal(
        draw_counts(given_, 11, 700), np.bincount(one_by_one, minlength=50)
    )
    np.testing.assert_array_equal(
        draw_counts(given_, 11, 500, skip=200), np.bincount(one_by_one[200:], minlength=50)
    )
    assert draw_counts(given_, 11, 0).sum() == 0


@pytest.mark.parametrize("call", [{"times": -1}, {"times": 1.5}, {"skip": True}, {"seed": -1}])
def test_nonsense_draws_are_refused(call):
    with pytest.raises(ValueError, match="expected"):
        draw_counts(distribution([0.0, 1.0]), **{"seed": 0, "times": 3, **call})


def chi_square_tail(statistic, degrees):
    """The chance of more; closed for an even number of degrees of freedom."""
    assert degrees % 2 == 0
    half = statistic / 2
    return math.exp(-half) * sum(half**i / math.factorial(i) for i in range(degrees // 2))


@pytest.mark.parametrize("seed", [0, 1, 2026])
def test_ten_thousand_draws_follow_the_displayed_probabilities(seed):
    logits = np.random.default_rng(3).normal(0, 1, 200)
    staged = Pipeline(logits).staged(temperature=1.3, top_k=41)
    shown = staged["renormalised"].probabilities
    counts = staged.counts(seed, 10_000)
    assert counts.sum() == 10_000
    expected = 10_000 * shown[shown > 0.0]
    assert len(expected) == 41
    assert expected.min() > 5
    assert counts[shown == 0.0].sum() == 0
    statistic = ((counts[shown > 0.0] - expected) ** 2 / expected).sum()
    assert chi_square_tail(statistic, 40) > 0.001
    # the same tokens at another temperature are told apart
    other = 10_000 * distribution(logits, 1.0, 41).probabilities[shown > 0.0]
    assert chi_square_tail(((counts[shown > 0.0] - other) ** 2 / other).sum(), 40) < 0.001


def test_known_values_of_the_chi_square_tail():
    # Abramowitz and Stegun, table 26.8
    assert chi_square_tail(13.8155, 2) == pytest.approx(0.001, rel=1e-4)
    assert chi_square_tail(73.402, 40) == pytest.approx(0.001, rel=1e-3)


def test_a_seed_gives_the_same_uniforms_in_another_process():
    program = (
        "from itertools import islice; from model_core.sampling import uniforms;"
        "print([u.hex() for u in islice(uniforms(77), 20)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout.strip() == str([u.hex() for u in islice(uniforms(77), 20)])
