"""Chi-square against printed tables, against the integral of its density, and over many draws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from model_core.chi_square import chi_square, survival
from model_core.sampling import distribution, draw_counts

# Critical values as printed in every table (Pearson and Hartley 1966, table 8).
TABLE = [
    (0.05, 1, 3.841),
    (0.05, 2, 5.991),
    (0.05, 3, 7.815),
    (0.01, 4, 13.277),
    (0.001, 5, 20.515),
    (0.05, 10, 18.307),
    (0.95, 10, 3.940),
    (0.01, 30, 50.892),
    (0.05, 100, 124.342),
    (0.001, 100, 149.449),
]


@pytest.mark.parametrize(("share", "degrees", "statistic"), TABLE)
def test_the_share_above_a_value_is_that_of_the_printed_tables(share, degrees, statistic):
    # three decimals of a value leave its share open by this much
    assert survival(statistic, degrees) == pytest.approx(share, rel=2e-3)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 7, 20, 51, 200])
@pytest.mark.parametrize("ratio", [0.3, 1.0, 1.7])
def test_the_share_above_a_value_is_the_integral_of_the_density(degrees, ratio):
    start = degrees * ratio
    at = np.linspace(start, start + 60 * math.sqrt(2 * degrees) + 100, 400_001)
    half = degrees / 2
    density = np.exp((half - 1) * np.log(at) - at / 2 - math.lgamma(half) - half * math.log(2))
    width = at[1] - at[0]
    simpson = width / 3 * (density[0] + density[-1])
    simpson += width / 3 * (4 * density[1:-1:2].sum() + 2 * density[2:-1:2].sum())
    assert survival(start, degrees) == pytest.approx(simpson, rel=1e-8)


def test_the_ends_of_the_distribution():
    assert survival(0.0, 3) == survival(0.0, 0) == 1.0
    assert survival(math.inf, 3) == 0.0
    assert survival(5000.0, 2) == 0.0
    assert survival(1e-12, 900) == 1.0
    for nonsense in ((-1.0, 2), (math.nan, 2), (1.0, -1)):
        with pytest.raises(ValueError, match="expected"):
            survival(*nonsense)


def test_a_die_by_hand():
    # (5-10)^2 + (8-10)^2 + (9-10)^2 + (8-10)^2 + (10-10)^2 + (20-10)^2 = 134, over 10
    found = chi_square([5, 8, 9, 8, 10, 20], [1 / 6] * 6)
    assert found.statistic == pytest.approx(13.4)
    assert (found.cells, found.degrees, found.pooled) == (6, 5, 0)
    assert found.p_value == pytest.approx(0.0199, abs=1e-4)


def test_tokens_that_are_hardly_expected_are_one_cell():
    # expected: 80, 12, 4, 4 of 100; the last two make 8
    found = chi_square([82, 10, 5, 3], [0.8, 0.12, 0.04, 0.04])
    assert (found.cells, found.pooled) == (3, 2)
    assert found.statistic == pytest.approx(4 / 80 + 4 / 12 + 0.0)
    # 92 and 8, where those above would leave a cell of 3 expected
    found = chi_square([90, 8, 2], [0.9, 0.07, 0.03])
    assert (found.cells, found.pooled) == (2, 2)
    assert found.statistic == 0.0 and found.p_value == 1.0


def test_what_cannot_be_drawn_fits_nothing_once_it_was_drawn():
    assert chi_square([9, 1], [1.0, 0.0]).p_value == 0.0
    assert chi_square([9, 0], [1.0, 0.0]).p_value == 1.0


@pytest.mark.parametrize("counts", [[0, 0], [1, 2, 3], [[1, 2]]])
def test_nonsense_counts_are_refused(counts):
    with pytest.raises(ValueError, match="expected"):
        chi_square(counts, [0.5, 0.5])


def test_draws_fit_as_often_as_their_p_value_says():
    given = distribution(np.linspace(0.0, 3.0, 12), temperature=0.9, top_p=0.95)
    values = np.array(
        [
            chi_square(draw_counts(given, seed, 2000), given.probabilities).p_value
            for seed in range(400)
        ]
    )
    for share in (0.1, 0.5, 0.9):
        # five standard deviations of a binomial count
        spread = 5 * math.sqrt(400 * share * (1 - share))
        assert abs(np.count_nonzero(values <= share) - 400 * share) < spread
    skewed = distribution(np.linspace(0.0, 2.0, 12), temperature=0.9, top_p=0.95)
    assert chi_square(draw_counts(given, 1, 2000), skewed.probabilities).p_value < 1e-6
