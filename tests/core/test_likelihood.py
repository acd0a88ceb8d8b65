"""How likely a text was: against products written by hand."""

from __future__ import annotations

import math

import pytest

from model_core.likelihood import likelihood
from tests.core.models import small_model


def test_a_text_is_as_likely_as_its_tokens_together():
    found = likelihood([math.log(0.5), math.log(0.25), math.log(0.5)])
    assert found.tokens == 3
    assert found.probability == pytest.approx(1 / 16, rel=1e-12)
    assert found.per_token == pytest.approx((1 / 16) ** (1 / 3), rel=1e-12)
    assert found.log_prob == pytest.approx(-4 * math.log(2), rel=1e-12)
    assert found.mean_log_prob == found.log_prob / 3


def test_no_token_at_all_is_certain():
    assert likelihood([]) == (0, 0.0, 0.0, 1.0, 1.0)


def test_the_steps_of_a_decoding_are_told_as_they_come():
    told, positions = [], []
    result = small_model("float32").generate(
        "s4 s5", max_new_tokens=4, on_token=told.append, on_step=positions.append
    )
    assert [step.id for step in told] == result.ids[1:]
    assert positions == [step.position for step in told]
