"""What is said of an attention head, against matrices whose facts one knows."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from model_core.attention_facts import all_head_facts, head_facts, means, row_facts, summed_up

CAUSAL = np.tri(4, dtype=bool)


def facts(weights, allowed=None, own_tokens=True):
    return head_facts(np.array(weights, np.float32), allowed, own_tokens=own_tokens)


def test_a_head_that_reads_itself_has_no_entropy_and_all_of_its_share_on_the_diagonal():
    found = facts(np.eye(4))
    assert (found.entropy, found.diagonal, found.previous, found.sharpness) == (0, 1, 0, 1)
    # only one row of four reads the first token, and one the last
    assert (found.first, found.last, found.sink, found.rows) == (0.25, 0.25, 0.25, 4)


def test_a_head_that_reads_all_alike_has_the_entropy_of_their_number():
    found = facts(np.full((8, 8), 1 / 8))
    assert found.entropy == 3.0
    shares = (found.diagonal, found.previous, found.first, found.last, found.sink, found.sharpness)
    assert shares == (1 / 8,) * 6


def test_a_head_that_reads_the_token_before_has_all_of_its_share_there():
    shifted = np.eye(5, k=-1)
    shifted[0, 0] = 1
    found = facts(shifted)
    # the first row has no token before, and the mean is over the other four
    assert (found.previous, found.entropy, found.sharpness) == (1, 0, 1)
    assert found.diagonal == pytest.approx(1 / 5)
    assert (found.sink, found.sink_key) == (pytest.approx(2 / 5), 0)


def test_a_head_that_always_reads_one_token_has_its_sink_there():
    weights = np.zeros((4, 6))
    weights[:, 5] = 0.7
    weights[:, 2] = 0.3
    found = facts(weights, own_tokens=False)
    assert (found.sink_key, found.last, found.first) == (5, pytest.approx(0.7), 0)
    assert found.sink == found.sharpness == pytest.approx(0.7)
    assert found.entropy == pytest.approx(-0.7 * math.log2(0.7) - 0.3 * math.log2(0.3), rel=1e-6)


def test_queries_and_keys_that_are_different_tokens_have_no_diagonal():
    found = facts(np.eye(3), own_tokens=False)
    assert math.isnan(found.diagonal) and math.isnan(found.previous)
    assert found.first == found.last == pytest.approx(1 / 3)


def test_a_causal_row_is_judged_by_what_it_may_see():
    uniform = np.tri(4) / np.arange(1, 5)[:, None]
    found = facts(uniform, CAUSAL)
    seen = [1, 1 / 2, 1 / 3, 1 / 4]
    mean = sum(seen) / 4
    # the last token that a row may see is its own
    for share in (found.diagonal, found.first, found.last, found.sharpness, found.sink):
        assert share == pytest.approx(mean)
    assert found.sink_key == 0
    assert found.previous == pytest.approx(sum(seen[1:]) / 3)
    assert found.entropy == pytest.approx(sum(map(math.log2, range(1, 5))) / 4)


def test_the_last_key_is_the_last_that_is_no_padding():
    weights = [[0.25, 0.75, 0.0], [0.5, 0.5, 0.0]]
    allowed = np.array([[True, True, False]] * 2)
    assert facts(weights, allowed, own_tokens=False).last == pytest.approx(0.625)


def test_a_row_that_may_see_nothing_is_left_out():
    weights = [[0.5, 0.5], [0.0, 0.0]]
    found = facts(weights, np.array([[True, True], [False, False]]))
    assert found.rows == 1
    assert (found.entropy, found.sharpness, found.first, found.diagonal) == (1, 0.5, 0.5, 0.5)
    assert math.isnan(found.previous)
    nothing = facts(np.zeros((2, 2)), np.zeros((2, 2), bool))
    assert nothing.rows == 0 and nothing.sink_key == -1
    assert all(math.isnan(v) for k, v in dataclasses.asdict(nothing).items() if "_k" not in k and v)


def test_a_single_token_reads_itself():
    found = facts([[1.0]])
    assert (found.entropy, found.diagonal, found.first, found.last, found.sink) == (0, 1, 1, 1, 1)
    assert math.isnan(found.previous)


def test_all_heads_at_once_are_the_heads_one_by_one_and_a_beginning_is_its_own_attention():
    generator = np.random.default_rng(3)
    weights = np.where(CAUSAL, generator.random((3, 4, 4)), 0).astype(np.float32)
    weights /= weights.sum(axis=-1, keepdims=True)
    together = all_head_facts(weights, CAUSAL, own_tokens=True)
    for head, found in zip(weights, together, strict=True):
        alone = head_facts(head, CAUSAL, own_tokens=True)
        for name, value in dataclasses.asdict(alone).items():
            assert getattr(found, name) == pytest.approx(value, rel=1e-6), name
    rows = row_facts(weights, CAUSAL, own_tokens=True)
    begun = summed_up(weights, rows, rows=2)[1]
    alone = head_facts(weights[1, :2, :2], CAUSAL[:2, :2], own_tokens=True)
    for name, value in dataclasses.asdict(alone).items():
        assert getattr(begun, name) == pytest.approx(value, rel=1e-6), name
    assert means(rows, 1)["entropy"].tolist() == [0, 0, 0]
