"""Curves of more points than columns of pixels look as they would with all of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from visualizer.widgets.chart_columns import (
    column_runs,
    thinned,
    without_still_columns,
    zigzags,
)


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
def test_a_dense_curve_covers_every_point_and_has_no_gap(ratio):
    rng = np.random.default_rng(5)
    points = np.stack([np.sort(rng.uniform(3, 40, 700)), rng.normal(size=700)], axis=1)
    runs = column_runs(points, ratio)
    assert len(runs) <= 38 * ratio
    for x, y in points:
        number = np.searchsorted(runs[:, 0], x + 1e-9, side="right") - 1
        assert runs[number, 0] <= x < runs[number, 0] + 1 / ratio + 1e-9
        assert runs[number, 2] <= y <= runs[number, 3]
    for before, after in pairwise(runs):
        assert before[2] <= after[3] and after[2] <= before[3]


@pytest.mark.parametrize("missing", [0, 40, 900])
@pytest.mark.parametrize("columns", [1, 7, 60, 2000])
def test_a_thinned_curve_keeps_what_the_columns_show(missing, columns):
    rng = np.random.default_rng(columns + missing)
    x, y = np.arange(1, 901, dtype=np.float32), rng.normal(size=900).astype(np.float32)
    y[rng.choice(900, missing, replace=False)] = rng.choice([np.nan, np.inf, -np.inf])
    edges = np.linspace(0, 950, columns + 1)
    few_x, few_y = thinned(x, y, edges)
    assert len(few_x) == len(few_y) and np.all(np.diff(few_x) >= 0)
    seen = 0
    for low, high in pairwise([*edges, np.inf]):
        inside = y[(x >= low) & (x < high) & np.isfinite(y)]
        few = few_y[(few_x >= low) & (few_x < high)]
        if not len(inside):
            assert not len(few)
            continue
        assert few.tolist() == [inside[0], inside.min(), inside.max(), inside[-1]]
        seen += 1
    assert bool(seen) == (missing < 900)


def test_a_spike_in_a_still_curve_stays_in_what_is_painted():
    x = np.arange(1, 3001, dtype=np.float32)
    y = np.ones(3000, np.float32)
    y[[701, 1999]] = 9, -4
    edges = np.arange(0.0, 3000.0, 10.0)
    points = np.stack(thinned(x, y, edges), axis=1)
    assert not zigzags(points, 1.7)
    painted = without_still_columns(points, 0.5)
    # the first of each of 300 columns, and all of the two that move
    assert len(painted) == 300 + 2 * 3
    assert {9, -4, 1} == set(painted[:, 1].tolist())


def test_a_steep_smooth_curve_is_no_zigzag_and_a_noisy_one_is():
    x, edges = np.arange(1, 3001, dtype=np.float32), np.linspace(0, 3000, 301)
    steep = (100 * np.sin(x / 300)).astype(np.float32)
    points = np.stack(thinned(x, steep, edges), axis=1)
    assert not zigzags(points, 1.2)
    noisy = np.random.default_rng(3).normal(0, 9, 3000).astype(np.float32)
    assert zigzags(np.stack(thinned(x, noisy, edges), axis=1), 1.7)
