"""The stages from logits to probabilities: nothing is found in sound ones, everything in others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from model_core.distribution_audit import audit_distribution
from model_core.sampling import Distribution, distribution

LOGITS = np.random.default_rng(1).normal(0, 3, 40)
SETTINGS = [
    {},
    {"temperature": 0.3},
    {"temperature": 3.0, "top_k": 5},
    {"top_p": 0.8},
    {"temperature": 0.7, "top_k": 20, "top_p": 0.95},
    {"top_k": 1},
    {"top_p": 1e-6},
]


def sound(**settings: float) -> Distribution:
    return distribution(LOGITS, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("settings", SETTINGS)
def test_nothing_is_found_in_a_distribution_as_it_is_drawn_from(settings: dict) -> None:
    audited = audit_distribution(sound(**settings))
    assert audited.holds
    told = {check.key: dict(check.values) for check in audited.checks}
    assert told["tempered"]["temperature"] == pytest.approx(settings.get("temperature", 1.0))
    assert ("top_k_kept" in told) == ("top_k" in settings)
    assert ("top_p_kept" in told) == ("top_p" in settings)
    if "top_k" in settings:
        assert told["top_k_kept"]["kept"] == settings["top_k"]


def test_ties_hidden_logits_and_huge_ones_are_no_mistakes() -> None:
    for logits in ([1.0, 1.0, 1.0, 0.0], [-np.inf, 2.0, -np.inf], [1e30, 0.0], [0.0, 0.0]):
        for settings in ({}, {"top_k": 2}, {"top_p": 0.5}):
            assert audit_distribution(distribution(logits, **settings)).holds


def test_a_wrong_number_in_any_stage_is_named_by_its_token() -> None:
    drawn = sound(temperature=2.0, top_k=20, top_p=0.95)
    kept = int(np.flatnonzero(drawn.kept)[3])
    gone = int(np.flatnonzero(~drawn.kept)[3])
    for stage, key, token, number in (
        ("tempered", "tempered", kept, 9.0),
        ("after_top_k", "top_k_kept", kept, 9.0),
        ("after_top_p", "top_p_kept", kept, 9.0),
        ("after_top_k", "top_k_kept", int(drawn.tempered.argmax()), -np.inf),
        ("probabilities", "probabilities_sum_to_one", kept, 0.5),
        ("probabilities", "nothing_outside_kept", gone, 0.1),
    ):
        planted = getattr(drawn, stage).copy()
        planted[token] = number
        audited = audit_distribution(replace(drawn, **{stage: planted}))
        found = {check.key: check for check in audited.checks}[key]
        assert (found.holds, found.bad) == (False, (token,)), stage
        assert found.found == number
