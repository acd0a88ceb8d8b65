"""Gradient times input against the change for scaling one token's vector, found by trying."""

from __future__ import annotations

import numpy as np
import pytest

from model_core.attribution import READ, gradient_x_input
from model_core.gradients import Target, gradients_of
from model_core.tape import Tape
from tests.core.models import small_model

STEP = 1e-5
TARGETS = (Target("log_prob", 2, 5), Target("loss", labels=(4, 6, 5)))


def run(**traits: object) -> Tape:
    model = small_model("float64", **traits)
    return model.trace(source_ids=[4, 7, 5, 9], target_ids=[1, 4, 6])


def replayed(tape: Tape, site: str, value: np.ndarray) -> np.ndarray:
    """log p of every row and token with another value at a site, op by op."""
    values = {site: value}
    for line in tape.plan.instructions:
        if line.site != site and any(name in values for name in line.inputs):
            operands = [values.get(n) if n in values else tape.value_of(n) for n in line.inputs]
            values[line.site] = line.op.forward(*operands)
    return values["log_probs"]


def number(log_probs: np.ndarray, target: Target) -> float:
    if target.kind == "log_prob":
        return float(log_probs[0, target.row, target.token])
    return float(-np.mean([log_probs[0, t, label] for t, label in enumerate(target.labels)]))


def slope(tape: Tape, site: str, rows: slice, target: Target) -> float:
    ends = []
    for step in (STEP, -STEP):
        value = tape.value_of(site).copy()
        value[0, rows] *= 1 + step
        ends.append(number(replayed(tape, site, value), target))
    return (ends[0] - ends[1]) / (2 * STEP)


@pytest.mark.parametrize("traits", [{}, {"norm_position": "pre"}])
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.kind)
def test_a_tokens_number_is_the_slope_for_scaling_its_vector(target, traits):
    tape = run(**traits)
    found = gradient_x_input(gradients_of(tape, target))
    for side, values in (("encoder", found.source), ("decoder", found.target)):
        wanted = [slope(tape, READ[side], slice(t, t + 1), target) for t in range(len(values))]
        np.testing.assert_allclose(values, wanted, rtol=1e-6, atol=1e-9)
        assert np.abs(values).max() > 1e-3


def test_the_numbers_add_up_to_the_slope_for_scaling_all_vectors_and_not_to_the_target():
    tape, target = run(), TARGETS[0]
    gradients = gradients_of(tape, target)
    found = gradient_x_input(gradients)
    whole = slope(tape, READ["encoder"], slice(None), target)
    assert found.source.sum() == pytest.approx(whole, rel=1e-6)
    assert found.source.sum() + found.target.sum() != pytest.approx(
        number(tape.value_of("log_probs"), target), rel=0.01
    )


def test_what_is_read_after_the_targets_row_adds_nothing():
    found = gradient_x_input(gradients_of(run(), Target("log_prob", 0, 5)))
    assert found.target[0] != 0 and not found.target[1:].any()
