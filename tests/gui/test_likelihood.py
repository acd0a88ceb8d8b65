"""Probabilities as text: no digit misleads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from visualizer.lenses.likelihood import amount, expected, probability


@given(st.floats(5e-324, 1.0, exclude_max=True))
def test_a_probability_is_never_written_as_nothing_or_as_certain(p):
    text = probability(p)
    assert text not in ("0", "1")
    if " - " in text:
        whole, _, missing = text.partition(" - ")
        assert whole == "1" and float(missing) == pytest.approx(1.0 - p, rel=0.05)
    else:
        # a subnormal number has few digits of its own
        assert float(text) == pytest.approx(p, rel=6e-3, abs=5e-324)
        assert 0.0 < float(text) < 1.0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.781, "0.781"),
        (0.0075, "0.00750"),
        (0.0008, "0.000800"),
        (3.2e-7, "3.20e-7"),
        (0.99996, "1 - 4.0e-5"),
        (1.0, "1"),
        (0.0, "0"),
    ],
)
def test_probabilities_have_three_digits_that_hold(value, text):
    assert probability(value) == text


def test_other_figures_are_rounded_to_nothing_false_either():
    assert (amount(1.0), amount(1.0 + 3.8e-4), amount(212.04)) == ("1", "1+3.8e-4", "212.0")
    assert (amount(8.1e-5), amount(0.0), amount(6e5)) == ("8.10e-5", "0", "6.000e5")
    assert (expected(171.43), expected(0.0021), expected(4.5)) == ("171.4", "0.00210", "4.50")
