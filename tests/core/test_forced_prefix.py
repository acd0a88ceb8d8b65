"""A forced prefix: its rows are those of a whole pass, and no draw behind it shifts."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from model_core.constraints import Constraints
from model_core.sampling import distribution, draw, uniform_at, uniforms
from tests.core.models import TRAITS, small_model

TEXT = "s4 s7 s5 s9"
HOT = {"strategy": "sample", "temperature": 1.4, "top_k": 8, "top_p": 0.97}


def test_uniforms_left_out_are_those_in_front():
    everything = list(islice(uniforms(5), 12))
    for skip in (0, 1, 4, 11):
        assert list(islice(uniforms(5, skip), 12 - skip)) == everything[skip:]
        assert next(uniforms(5, skip)) == uniform_at(5, skip)


@pytest.mark.parametrize("seed", range(6))
def test_forcing_what_was_drawn_anyway_changes_no_later_draw(seed):
    model = small_model("float64")
    free = model.generate(TEXT, seed=seed, max_new_tokens=12, **HOT)
    count = len(free.ids) - 1
    for forced in range(1, count):
        again = model.generate(
            TEXT,
            seed=seed,
            max_new_tokens=12 - forced,
            prefix_ids=free.ids[1 : forced + 1],
            **HOT,
        )
        assert again.ids == free.ids
        assert [s.uniform for s in again.steps] == [s.uniform for s in free.steps[forced:]]


def test_the_uniform_of_a_position_is_its_own_whatever_was_forced():
    model = small_model("float64")
    for prefix in ((), (5,), (9, 4, 4, 6)):
        found = model.generate(TEXT, seed=3, max_new_tokens=6, prefix_ids=prefix, **HOT)
        for step in found.steps:
            assert step.uniform == uniform_at(3, len(prefix) + step.position)
            assert step.id == draw(step.distribution, step.uniform)


def test_a_batch_draws_behind_a_prefix_what_each_sentence_draws_alone():
    model = small_model("float64")
    texts = [TEXT, "s4", "s10 s5 s5"]
    together = model.generate(texts, seed=2, max_new_tokens=7, prefix_ids=(6, 7), **HOT)
    for text, found in zip(texts, together, strict=True):
        alone = model.generate(text, seed=2, max_new_tokens=7, prefix_ids=(6, 7), **HOT)
        assert found.ids == alone.ids


@pytest.mark.parametrize("strategy", ["greedy", "sample", "beam"])
@pytest.mark.parametrize("traits", TRAITS, ids=str)
def test_rows_behind_and_within_a_prefix_are_those_of_a_trace_with_the_same_ids(traits, strategy):
    model = small_model("float32", **traits)
    generator = np.random.default_rng(4)
    for length in (1, 2, 5):
        prefix = generator.integers(4, 11, length).tolist()
        options = {"seed": 1} if strategy != "sample" else {"seed": 1, **HOT}
        options = {**options, "strategy": strategy}
        found = model.generate(TEXT, max_new_tokens=6, prefix_ids=prefix, **options)
        # a PAD that was drawn is a token like any other
        read = np.array([found.ids[:-1]])
        whole = model.trace(TEXT, target_ids=read, target_mask=np.ones_like(read, dtype=bool))
        assert found.tape.target_ids.tolist() == [found.ids[:-1]]
        for record in whole:
            grown = found.tape[record.site].value
            if record.value.dtype.kind != "f":
                assert np.array_equal(grown, record.value), record.site
            else:
                np.testing.assert_allclose(grown, record.value, rtol=1e-4, atol=1e-5)
        log_probs = whole["log_probs"].value[0]
        for row, (value, token) in enumerate(
            zip(found.log_probs, found.ids[1 + length :], strict=True), length
        ):
            assert abs(value - log_probs[row, token]) < 1e-5
        if strategy == "sample":
            for row, step in enumerate(found.steps, length):
                own = distribution(whole["logits"].value[0, row], 1.4, 8, 0.97)
                assert np.abs(step.distribution.probabilities - own.probabilities).max() < 1e-5


def test_constraints_read_the_prefix_and_leave_the_draws_where_they_are():
    model = small_model("float64")
    rules = Constraints(no_repeat_ngram_size=2, repetition_penalty=1.3, suppress_tokens=(7,))
    options = {"seed": 8, "constraints": rules, **HOT}
    free = model.generate(TEXT, max_new_tokens=10, **options)
    for forced in range(1, len(free.ids) - 1):
        prefix = free.ids[1 : forced + 1]
        again = model.generate(TEXT, max_new_tokens=10 - forced, prefix_ids=prefix, **options)
        assert again.ids == free.ids
