"""Generation constraints against their definitions written out for small cases."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from model_core.constraints import Constraints, ConstraintStage, unsupported
from tests.core.models import small_model

LOGITS = [1.0, -2.0, 3.0, 0.5, -0.5, 2.0]
INF = math.inf
END = 2


def stages(
    settings: dict[str, Any],
    ids: list[int],
    prompt: int = 1,
    longest: int = 9,
    log_probabilities: bool = False,
) -> list[ConstraintStage]:
    bound = Constraints.from_settings(settings).at(6, (END,), prompt, longest)
    assert bound.is_active
    return bound.stages(LOGITS, ids, log_probabilities)


# settings, ids so far -> the logits of ids 0 to 5 afterwards, and which of them it touched
SMALL_CASES: list[tuple[dict[str, Any], list[int], list[float], list[int]]] = [
    # a positive logit is divided, a negative one multiplied; one met twice but once
    ({"repetition_penalty": 2.0}, [1, 5, 5], [1.0, -4.0, 3.0, 0.5, -0.5, 1.0], [1, 5]),
    ({"repetition_penalty": 0.5}, [4], [1.0, -2.0, 3.0, 0.5, -0.25, 2.0], [4]),
    # 4 5 and 4 3 have been: after another 4 neither may follow
    ({"no_repeat_ngram_size": 2}, [1, 4, 5, 4, 3, 4], [1.0, -2.0, 3.0, -INF, -0.5, -INF], [3, 5]),
    ({"no_repeat_ngram_size": 1}, [1, 5], [1.0, -INF, 3.0, 0.5, -0.5, -INF], [1, 5]),
    ({"no_repeat_ngram_size": 3}, [1, 4, 5, 3, 4, 5], [1.0, -2.0, 3.0, -INF, -0.5, 2.0], [3]),
    ({"no_repeat_ngram_size": 3}, [1, 4], LOGITS, []),
    ({"no_repeat_ngram_size": 3}, [1], LOGITS, []),
    ({"bad_words_ids": [[0], [4, 5]]}, [1, 3], [-INF, -2.0, 3.0, 0.5, -0.5, 2.0], [0]),
    ({"bad_words_ids": [[0], [4, 5]]}, [1, 4], [-INF, -2.0, 3.0, 0.5, -0.5, -INF], [0, 5]),
    ({"bad_words_ids": [[3, 4, 5]]}, [4], LOGITS, []),
    # the end token alone is left out, as a part of more it counts
    ({"bad_words_ids": [[END], [0], [4, END]]}, [4], [-INF, -2.0, -INF, 0.5, -0.5, 2.0], [0, 2]),
    ({"min_length": 3}, [1, 4], [1.0, -2.0, -INF, 0.5, -0.5, 2.0], [2]),
    ({"min_length": 3}, [1, 4, 4], LOGITS, []),
    ({"min_new_tokens": 2}, [1, 4], [1.0, -2.0, -INF, 0.5, -0.5, 2.0], [2]),
    ({"min_new_tokens": 2}, [1, 4, 4], LOGITS, []),
    ({"forced_bos_token_id": 3}, [1], [-INF, -INF, -INF, 0.0, -INF, -INF], [0, 1, 2, 3, 4, 5]),
    ({"forced_bos_token_id": 3}, [1, 3], LOGITS, []),
    ({"forced_eos_token_id": 2}, [1] * 8, [-INF, -INF, 0.0, -INF, -INF, -INF], [0, 1, 2, 3, 4, 5]),
    ({"forced_eos_token_id": 2}, [1] * 7, LOGITS, []),
    ({"suppress_tokens": [0, 2]}, [1, 4], [-INF, -2.0, -INF, 0.5, -0.5, 2.0], [0, 2]),
    ({"begin_suppress_tokens": [5]}, [1], [1.0, -2.0, 3.0, 0.5, -0.5, -INF], [5]),
    ({"begin_suppress_tokens": [5]}, [1, 5], LOGITS, []),
]


@pytest.mark.parametrize(("settings", "ids", "after", "touched"), SMALL_CASES, ids=str)
def test_each_constraint_is_a_stage_that_does_what_it_says(
    settings: dict[str, Any], ids: list[int], after: list[float], touched: list[int]
) -> None:
    [stage] = stages(settings, ids)
    assert [stage.name] == list(settings)
    assert stage.before.tolist() == LOGITS
    assert stage.after.tolist() == after
    assert stage.touched.tolist() == touched
    assert not stage.after.flags.writeable


def test_a_prompt_counts_for_the_length_and_not_for_the_new_tokens() -> None:
    [old] = stages({"min_length": 3}, [1, 4, 4], prompt=3)
    assert not old.touched.size
    [new] = stages({"min_new_tokens": 3}, [1, 4, 4], prompt=3)
    assert new.touched.tolist() == [END]
    [first] = stages({"begin_suppress_tokens": [5]}, [1, 4], prompt=2)
    assert first.touched.tolist() == [5]
    # a forced first token puts the first free one a place later
    _, later = stages({"begin_suppress_tokens": [5], "forced_bos_token_id": 3}, [1, 3])
    assert later.touched.tolist() == [5]


def test_all_constraints_act_in_the_order_of_transformers() -> None:
    settings = {
        "renormalize_logits": True,
        "begin_suppress_tokens": [0],
        "suppress_tokens": [1],
        "forced_eos_token_id": 2,
        "forced_bos_token_id": 3,
        "min_new_tokens": 1,
        "min_length": 1,
        "bad_words_ids": [[4]],
        "no_repeat_ngram_size": 2,
        "repetition_penalty": 1.5,
    }
    found = stages(settings, [1, 3, 5], log_probabilities=True)
    assert [stage.name for stage in found] == list(settings)[::-1]
    for before, after in pairwise(found):
        assert after.before is before.after
    assert np.exp(found[-1].after).sum() == pytest.approx(1.0, abs=1e-15)
    # before a softmax of its own it would change nothing
    assert len(stages(settings, [1, 3, 5])) == len(settings) - 1


def test_nothing_set_is_nothing_done() -> None:
    assert not Constraints().at(6, (END,), 1, 9).is_active
    assert Constraints.from_settings({"num_beams": 4, "min_length": None}) == Constraints()


def test_settings_that_act_elsewhere_and_not_here_are_named() -> None:
    settings = {"num_beams": 4, "min_p": 0.1, "guidance_scale": 1.0, "sequence_bias": None}
    assert unsupported(settings) == ["min_p"]


@pytest.mark.parametrize(
    "settings",
    [
        {"repetition_penalty": 0.0},
        {"repetition_penalty": "1"},
        {"repetition_penalty": math.nan},
        {"no_repeat_ngram_size": -1},
        {"no_repeat_ngram_size": 2.0},
        {"min_length": True},
        {"min_new_tokens": "2"},
        {"max_length": 1},
        {"max_length": "long"},
        {"forced_bos_token_id": -3},
        {"forced_bos_token_id": [3]},
        {"forced_eos_token_id": "2"},
        {"suppress_tokens": 4},
        {"suppress_tokens": [4, -1]},
        {"begin_suppress_tokens": [None]},
        {"bad_words_ids": [4]},
        {"bad_words_ids": [[]]},
        {"bad_words_ids": "x"},
        {"bad_words_ids": {"x": 1}},
        {"renormalize_logits": 1},
        {"forced_bos_token_id": 3, "suppress_tokens": [3]},
    ],
    ids=str,
)
def test_nonsense_is_refused_with_a_sentence(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"expected|forbids"):
        Constraints.from_settings(settings)


@pytest.mark.parametrize(
    "settings",
    [{"suppress_tokens": [6]}, {"bad_words_ids": [[1, 7]]}, {"forced_eos_token_id": 99}],
    ids=str,
)
def test_ids_outside_the_vocabulary_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected token ids from 0 to 5"):
        stages(settings, [1])


@pytest.mark.parametrize("strategy", ["greedy", "sample", "beam"])
def test_constraints_hold_in_every_strategy(strategy: str) -> None:
    model = small_model("float64", seed=3)
    rules = Constraints.from_settings(
        {
            "forced_bos_token_id": 9,
            "forced_eos_token_id": 2,
            "min_length": 6,
            "no_repeat_ngram_size": 2,
            "bad_words_ids": [[4], [5, 6]],
            "suppress_tokens": [0, 3],
        }
    )
    for text in ("s4 s5", "s6 s7 s8", "s9"):
        found = model.generate(text, strategy, max_new_tokens=9, constraints=rules)
        ids = found.ids
        assert ids[1] == 9
        assert ids[-1] == 2
        assert 6 < len(ids) <= 10
        assert not {0, 3, 4} & set(ids)
        pairs = list(pairwise(ids))
        assert len(set(pairs)) == len(pairs)
        assert (5, 6) not in pairs
        step = found.steps[1]
        names = [stage.name for stage in step.constrained]
        assert names[0] == "no_repeat_ngram_size"
        assert names[-1] == "suppress_tokens"
        assert step.distribution.probabilities[[0, 3, 4]].sum() == 0.0
        assert step.distribution.kept[step.id]


def test_a_batch_is_constrained_as_each_sentence_is_alone() -> None:
    model = small_model("float64", seed=3)
    rules = Constraints(no_repeat_ngram_size=1, repetition_penalty=1.7)
    texts = ["s4", "s5 s6 s7 s8 s9", "s10 s4 s4"]
    together = model.generate(texts, max_new_tokens=5, constraints=rules)
    for text, found in zip(texts, together, strict=True):
        assert found.ids == model.generate(text, max_new_tokens=5, constraints=rules).ids
        assert len(set(found.ids)) == len(found.ids)


def test_a_checkpoints_own_settings_act_unless_they_are_switched_off() -> None:
    model = small_model("float64")
    free = model.generate("s4 s5 s6").ids
    model.card["generation"] = {"forced_bos_token_id": 8, "max_length": 5, "num_beams": 4}
    assert model.constraints == Constraints(forced_bos_token_id=8, max_length=5)
    held = model.generate("s4 s5 s6")
    assert (held.ids[1], len(held.ids)) == (8, 5)
    assert [step.id for step in model.decode("s4 s5 s6")] == held.ids[1:]
    assert model.generate("s4 s5 s6", constraints=False).ids == free
    assert len(model.generate("s4 s5 s6", max_new_tokens=7).ids) == 8
    other = replace(model.constraints, forced_bos_token_id=9)
    assert model.generate("s4 s5 s6", constraints=other).ids[1] == 9
    with pytest.raises(ValueError, match="expected True, False or a Constraints"):
        model.generate("s4", constraints={"min_length": 2})


def test_where_no_token_is_left_a_sentence_says_so() -> None:
    model = small_model("float64")
    nothing = Constraints(suppress_tokens=tuple(range(11)))
    for strategy in ("greedy", "sample", "beam"):
        with pytest.raises(ValueError, match="leave no token at position 1"):
            model.generate("s4", strategy, constraints=nothing)
