"""What must hold on any traced sentence, whatever the weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import model_core
from model_core.tape import Tape
from tests.core.models import TRAITS, small_model


def tapes() -> list[tuple[Tape, float]]:
    """Traced sentences of models of all kinds, with the eps of their norms."""
    found: list[tuple[Tape, float]] = []
    for traits in TRAITS:
        model = small_model("float64", **traits)
        tape = model.trace(source_ids=[4, 7, 5, 9], target_ids=[1, 6, 4, 8, 5])
        found.append((tape, model.config.norm_eps))
    bundled = model_core.open_checkpoint("en-zh", "float64")
    text = "the dog that chased the cat is very tired"
    found.append((bundled.generate(text).tape, bundled.config.norm_eps))
    return found


@pytest.fixture(scope="module", params=range(len(TRAITS) + 1))
def traced(request: Any) -> tuple[Tape, float]:
    return tapes()[request.param]


def test_normalised_rows_have_mean_0_and_a_variance_just_below_1(
    traced: tuple[Tape, float],
) -> None:
    tape, eps = traced
    sites = [site for site in tape.sites if site.endswith(".normalised")]
    assert sites
    for site in sites:
        rows = tape[site].value
        variance = tape[site.replace(".normalised", ".variance")].value
        assert np.allclose(rows.mean(axis=-1), 0, atol=1e-12), site
        expected = (variance / (variance + eps))[..., 0]
        assert np.allclose(rows.var(axis=-1), expected, atol=1e-12), site


def test_a_residual_is_the_sum_of_its_parts(traced: tuple[Tape, float]) -> None:
    tape, _ = traced
    sites = [site for site in tape.sites if "residual" in site.rsplit(".", 1)[-1]]
    assert sites
    for site in sites:
        stream, added = (tape[name].value for name in tape[site].inputs)
        assert np.array_equal(tape[site].value, stream + added), site


def test_the_last_residual_is_the_embedding_and_all_that_sublayers_add(
    traced: tuple[Tape, float],
) -> None:
    tape, _ = traced
    if "encoder.norm.out" not in tape:
        return  # with post-norm the stream is scaled on the way: it is no plain sum
    for side in ("encoder", "decoder"):
        sites = [s for s in tape.sites if s.startswith(side) and ".residual" in s]
        total = tape[f"{side}.embed.out"].value
        for site in sites:
            total = total + tape[tape[site].inputs[1]].value
        assert np.allclose(tape[sites[-1]].value, total, atol=1e-12)


def test_attention_rows_sum_to_1_and_hidden_keys_get_nothing(traced: tuple[Tape, float]) -> None:
    tape, _ = traced
    for site in (site for site in tape.sites if site.endswith("attn.weights")):
        weights = tape[site].value
        masked = tape[site.replace(".weights", ".masked_scores")].value
        assert np.allclose(weights.sum(axis=-1), 1, atol=1e-12), site
        assert np.all(weights[np.isneginf(masked)] == 0), site
    probabilities = np.exp(tape["log_probs"].value).sum(axis=-1)
    assert np.allclose(probabilities, 1, atol=1e-12)
