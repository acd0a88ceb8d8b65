"""Classic mistakes: which gradients each one spoils, which it leaves right, what the loss shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from model_core.expressions import recomputed
from model_core.ops import EVALUATION_NAMES
from model_core.tokenizers import GluedTokenizer, WordTokenizer
from model_core.training.batching import Example
from model_core.training.loop import Recipe
from model_core.training.mistake_runs import loss_curves, run_with
from model_core.training.mistakes import MISTAKES, altered_plan, wrong_parameters
from model_core.training.step import glass_step
from model_core.training.step_check import check_step
from model_core.training.step_sources import (
    as_written,
    drawn_examples,
    drawn_pairs,
    fresh,
    recipe_of,
)
from model_core.transformer import Dropout
from tests.core.models import small_model
from tests.core.test_glass_step import BATCH

RECIPE = Recipe(
    steps=40,
    learning_rate=5e-3,
    warmup_steps=0,
    batch_size=16,
    dropout=Dropout(ffn=0.2, sublayer=0.2),
)


def taken(mistake: str, recipe: Recipe = RECIPE, **traits):
    return glass_step(small_model("float64", **traits), BATCH, recipe, 3, [mistake])


def spoiled(step) -> set[str]:
    """The parameters whose gradient the check finds wrong; there is a wide gap between."""
    found = {one.name: one.worst for one in check_step(step, cells=4)}
    assert not any(1e-6 < worst < 1e-4 for worst in found.values()), found
    return {name for name, worst in found.items() if worst > 1e-4}


@pytest.mark.parametrize("traits", [{}, {"norm_position": "pre", "position": "learned"}])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_check_finds_a_mistake_on_the_way_back_exactly_below_it_and_no_other(mistake, traits):
    step = taken(mistake, **traits)
    wrong = spoiled(step)
    assert wrong == wrong_parameters(step.tape.plan, step.model.config)
    assert bool(wrong) == MISTAKES[mistake].found_by_check


def test_dropped_keys_and_values_spoil_what_lies_below_the_encoders_attention():
    wrong = spoiled(taken("no_key_value_gradient"))
    # of the last layer nothing: its own weights are right
    assert not any(name.startswith(("encoder.layers.1", "decoder")) for name in wrong)
    assert {"src_embed.weight", "encoder.layers.0.self_attn.W_k"} <= wrong


def test_the_last_mask_drawn_is_the_one_place_where_a_shared_one_is_right():
    step = taken("shared_dropout")
    wrong = spoiled(step)
    assert "decoder.layers.1.ffn.W_2" not in wrong
    assert "decoder.layers.1.norm3.gamma" not in wrong
    assert "decoder.layers.0.ffn.W_2" in wrong
    # nothing on the way there
    right = glass_step(small_model("float64"), BATCH, RECIPE, 3)
    assert step.loss == right.loss


def test_without_dropout_a_shared_object_does_no_harm():
    step = taken("shared_dropout", replace(RECIPE, dropout=Dropout()))
    assert spoiled(step) == set()


@pytest.mark.parametrize(("mistake", "shift"), [("looks_ahead", 1), ("hides_itself", -1)])
def test_a_mask_off_by_one_shows_the_next_token_or_hides_the_own_one(mistake, shift):
    step = taken(mistake)
    record = step.tape["decoder.look_ahead_mask"]
    rows = record.value.shape[-1]
    assert np.array_equal(record.value[0, 0], np.tri(rows, k=shift, dtype=bool))
    weights = step.tape["decoder.layers.0.self_attn.weights"].value
    assert not weights[..., ~np.tri(rows, k=shift, dtype=bool)].any()
    for place in ((0, 0, 1, 1), (0, 0, 1, 2), (0, 0, 2, 0)):
        told = record.explain(place)
        assert eval(told.text, {"__builtins__": {}}, dict(EVALUATION_NAMES)) == told.value
        assert told.value == record.value[place]
    assert np.array_equal(recomputed(record.kind, record.operands)[0], record.value)


def test_scores_without_scaling_are_the_plain_products():
    right = glass_step(small_model("float64"), BATCH, RECIPE, 3)
    wrong = taken("no_scaling")
    site = "encoder.layers.0.self_attn.scores"
    assert np.allclose(wrong.tape[site].value, right.tape[site].value * 5**0.5)


def test_without_correction_adams_first_step_is_smaller_by_a_known_share():
    right = glass_step(small_model("float64"), BATCH, RECIPE, 3)
    wrong = taken("no_bias_correction")
    name = "decoder.layers.0.ffn.W_2"
    share = (1 - 0.9) / (1 - 0.98) ** 0.5
    large = np.abs(right.optimised.clipped[name]) > 1e-5
    ratio = wrong.cells(name).update[large] / right.cells(name).update[large]
    assert large.any()
    assert np.allclose(ratio, share, rtol=1e-3)
    shares = [(1 - 0.9**t) / (1 - 0.98**t) ** 0.5 for t in range(1, 200)]
    assert (round(shares[0], 2), round(max(shares), 1)) == (0.71, 1.6)
    assert "first 0.71, then up to 1.6" in MISTAKES["no_bias_correction"].in_loss
    # a different size of step, but the same gradient
    assert np.array_equal(wrong.optimised.gradients[name], right.optimised.gradients[name])


def test_a_gradient_with_a_mistake_is_told_as_it_was_reckoned():
    for mistake in ("no_key_value_gradient", "shared_dropout"):
        gradients = taken(mistake).gradients
        for site in ("encoder.layers.0.norm2.out", "encoder.embed.out", "decoder.embed.out"):
            record = gradients[site]
            told = record.explain((0, 1, 2))
            assert told.value == pytest.approx(float(record.value[0, 1, 2]), rel=1e-9)
            assert np.allclose(record.recompute()[0], record.value)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_every_record_of_a_step_with_a_mistake_tells_how_it_came_about(mistake):
    step = taken(mistake)
    for record in step.tape:
        # a mask's own stream has gone on; `explain_mask` tells of it
        if record.op == "dropout_mask":
            continue
        place = tuple(size // 2 for size in record.value.shape)
        own = float(record.value[place])
        assert record.explain(place).value == pytest.approx(own, rel=1e-6, abs=1e-12), record.site
        assert record.snippet(place).text and record.numpy()
        assert np.allclose(recomputed(record.kind, record.operands)[0], record.value), record.site
    for record in step.gradients:
        place = tuple(size // 2 for size in record.value.shape)
        own = float(record.value[place])
        assert record.explain(place).value == pytest.approx(own, rel=1e-6, abs=1e-12), record.site
        assert record.snippet(place).text and record.numpy()
        assert np.allclose(record.recompute()[0], record.value), record.site


def test_an_unknown_mistake_is_refused():
    with pytest.raises(ValueError, match="no mistake is named 'typo'"):
        taken("typo")


def test_the_plan_without_mistakes_is_the_models_own():
    config = small_model().config
    assert altered_plan(config, "float32", Dropout(), frozenset()).sites
    plain = altered_plan(config, "float32", RECIPE.dropout, frozenset())
    for name in MISTAKES:
        other = altered_plan(config, "float32", RECIPE.dropout, frozenset([name]))
        assert other.sites == plain.sites
        changed = [
            a.site
            for a, b in zip(plain.instructions, other.instructions, strict=True)
            if a is not b
        ]
        assert bool(changed) == (name != "no_bias_correction")


# The loss.


def copies(count: int) -> list[Example]:
    """Sentences to be said again: what comes next cannot be told from what went before."""
    generator = np.random.default_rng(4)
    drawn = [generator.integers(4, 11, 5).tolist() for _ in range(count)]
    return [Example([*words, 2], words) for words in drawn]


def model():
    return small_model("float32", n_encoder_layers=1, n_decoder_layers=1, d_model=32, n_heads=2)


def test_both_trainings_start_alike_and_the_model_is_not_touched():
    own = model()
    before = {name: value.copy() for name, value in own.parameters.items()}
    curves = list(loss_curves("no_bias_correction", own, copies(64), RECIPE, steps=6))
    assert [len(c.right) for c in curves] == [1, 2, 3, 4, 5, 6]
    last = curves[-1]
    assert last.right[0] == last.wrong[0]
    assert last.right[1] != last.wrong[1]
    assert all(np.array_equal(before[n], v) for n, v in own.parameters.items())
    same = run_with([], own, copies(64), RECIPE, steps=6)
    assert same.right == same.wrong == last.right


def test_a_mask_that_looks_ahead_brings_the_loss_below_what_honest_training_reaches():
    curves = run_with("looks_ahead", model(), copies(300), RECIPE, steps=60)
    assert len(curves.right) == len(curves.wrong) == 60
    assert np.mean(curves.wrong[-10:]) < 0.8 * np.mean(curves.right[-10:])


def test_a_run_that_is_no_longer_wanted_gives_the_steps_done():
    asked = []
    curves = run_with(
        "no_scaling",
        model(),
        copies(64),
        RECIPE,
        cancelled=lambda: len(asked) > 2 or asked.append(1),
    )
    assert len(curves.right) == len(curves.wrong) == 4


@pytest.mark.parametrize("name", ["en-zh", "chat-zh", "dates"])
def test_pairs_and_examples_are_drawn_anew_from_a_tasks_generator(name):
    import model_core

    pairs = drawn_pairs(name, 3, 4)
    assert len(pairs) == 4 and pairs == drawn_pairs(name, 3, 4) != drawn_pairs(name, 4, 4)
    if name not in model_core.bundled.names():
        return
    model = model_core.open_checkpoint(name)
    recipe = recipe_of(model.card)
    assert recipe.dropout.ffn == model.card["recipe"]["dropout"]["ffn"]
    step = glass_step(fresh(model), pairs, recipe)
    # as good as guessing, at best
    assert step.loss > 0.8 * np.log(model.config.tgt_vocab_size)
    assert not (step.batch.labels == model.tokenizer.unknown_id).any()
    assert all(example.target for example in drawn_examples(name, model, 5))


def test_a_recipe_of_a_strangers_card_is_taken_as_far_as_it_makes_sense():
    told = {
        "learning_rate": -3,
        "beta1": "x",
        "epsilon": 1e-7,
        "dropout": {"ffn": 2, "sublayer": 0.3},
    }
    recipe = recipe_of({"recipe": told})
    assert (recipe.learning_rate, recipe.beta1, recipe.epsilon) == (1e-3, 0.9, 1e-7)
    assert recipe.dropout == Dropout(sublayer=0.3)
    assert recipe_of({"recipe": [1]}).dropout.ffn == 0.1
    assert recipe_of({"recipe": {"dropout": {}}}).dropout.ffn == 0.1
    assert recipe_of({"recipe": {"dropout": {"ffn": "x"}}}).dropout.ffn == 0.1


def test_a_model_that_was_trained_without_dropout_is_stepped_without():
    told = {"attention": 0.0, "ffn": 0.0, "sublayer": 0}
    assert recipe_of({"recipe": {"dropout": told}}).dropout == Dropout()


def test_a_drawn_target_is_written_as_the_model_writes_unless_a_word_would_be_lost():
    words = GluedTokenizer.build([("26", "twenty- six"), ("6", "six")], source_characters=True)
    assert as_written(words, "twenty- six") == "twenty-six"
    assert as_written(words, "twenty-six") == "twenty-six"
    assert as_written(words, "twenty- seven") == "twenty- seven"
    spaced = WordTokenizer.build([("cat", "猫 的")])
    assert as_written(spaced, "猫 的") == "猫的"
