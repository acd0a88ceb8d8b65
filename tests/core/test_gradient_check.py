"""The check of a gradient: it tells a right one from a wrong one, and says when it cannot."""

from __future__ import annotations

import numpy as np
import pytest

from model_core.gradient_check import check_gradient
from model_core.gradients import GradientTape, Target, gradients_of
from tests.core.models import small_model


class Wrong(GradientTape):
    """Every gradient is one percent too large."""

    def gradient_of(self, name: str) -> np.ndarray:
        return super().gradient_of(name) * np.float32(1.01)


def run(dtype: str = "float32"):
    return small_model(dtype).trace(source_ids=[4, 7, 5, 9], target_ids=[1, 4, 6])


def largest_cell(gradients: GradientTape, name: str) -> tuple[int, ...]:
    values = np.abs(gradients.gradient_of(name))
    return tuple(int(i) for i in np.unravel_index(values.argmax(), values.shape))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_largest_gradients_of_all_sites_and_parameters_agree(dtype):
    tape = run(dtype)
    gradients = gradients_of(tape, Target("log_prob", 2, 5))
    names = [s for s in gradients.sites if gradients.value_of(s).dtype.kind == "f"]
    for name in (*names, *gradients.parameters):
        found = check_gradient(tape, gradients, name, largest_cell(gradients, name))
        unread = not gradients.gradient_of(name).any() or name.endswith("b_k")
        assert found.verdict == ("too_small" if unread else "agrees"), (name, found)


def test_a_wrong_gradient_differs():
    tape = run()
    gradients = gradients_of(tape, Target("log_prob", 2, 5))
    name = "encoder.layers.0.ffn.W_1"
    place = largest_cell(gradients, name)
    planted = Wrong(gradients.tape, gradients.target_site, gradients.target)
    found = check_gradient(tape, planted, name, place)
    assert found.verdict == "differs"
    assert found.relative == pytest.approx(0.01, rel=0.05)


def test_a_keys_bias_is_too_small_to_tell():
    tape = run()
    gradients = gradients_of(tape, Target("log_prob", 2, 5))
    name = "decoder.layers.0.cross_attn.b_k"
    for column in range(gradients.gradient_of(name).size):
        assert check_gradient(tape, gradients, name, (column,)).verdict == "too_small"


def test_a_check_that_is_no_longer_wanted_gives_nothing():
    tape = run()
    gradients = gradients_of(tape, Target("log_prob", 2, 5))
    assert check_gradient(tape, gradients, "encoder.embed.out", (0, 0, 0), lambda: True) is None
