"""One training step under the glass: what is told is what training does, and evaluates."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import model_core
from model_core import bundled
from model_core.ops import EVALUATION_NAMES
from model_core.training.batching import Batch, Example, collate, epoch
from model_core.training.loop import GuidedHead, Recipe, Trainer
from model_core.training.mistakes import is_rounding_alone
from model_core.training.pairs import batch_of
from model_core.training.step import glass_step
from model_core.training.step_check import check_step
from model_core.training.step_sources import drawn_pairs, recipe_of
from model_core.training.update_terms import explain_update
from model_core.transformer import Dropout
from tests.core.models import TRAITS, small_model

RECIPE = Recipe(
    steps=10,
    learning_rate=5e-3,
    warmup_steps=2,
    batch_size=4,
    max_norm=0.5,
    label_smoothing=0.1,
    dropout=Dropout(attention=0.1, ffn=0.2, sublayer=0.3),
    guided=GuidedHead(layer=0, head=1, coefficient=0.3),
)
EXAMPLES = [
    Example([4, 7, 5, 2], [6, 5], [1, 0, -1]),
    Example([9, 2], [4, 4, 10], [0, 0, -1, 1]),
    Example([4, 10, 5, 8, 2], [9], [1, -1]),
]
BATCH = collate(EXAMPLES, 0, 1, 2)
NAME = "encoder.layers.0.ffn.W_1"
# The worked examples have no decoder to train.
BUNDLED = [name for name in bundled.names() if bundled.path_of(name).suffix == ".safetensors"]


def test_the_step_is_to_the_bit_the_one_that_training_takes():
    shown, trained = small_model("float32"), small_model("float32")
    trainer = Trainer(trained, EXAMPLES, RECIPE)
    order, noise = np.random.SeedSequence(RECIPE.seed).spawn(2)
    stream = np.random.default_rng(order)
    # two steps, so that the second one goes on from the moments of the first
    generator_state = None
    for number in range(2):
        [chosen] = epoch(EXAMPLES, RECIPE.batch_size, stream)
        moments = trainer.position().moments
        step = glass_step(
            shown,
            collate(chosen, 0, 1, 2),
            RECIPE,
            noise if generator_state is None else generator_state,
            step=number,
            moments=moments,
        )
        progress = trainer.advance()
        assert float(step.tape["loss"].value) == progress.loss
        assert step.optimised.norm == progress.gradient_norm
        assert step.optimised.learning_rate == progress.learning_rate
        step.apply()
        for name, value in trained.parameters.items():
            assert np.array_equal(shown.parameters[name], value), name
        generator_state = trainer.position().noise


def test_the_model_changes_only_when_the_step_is_applied_and_only_once():
    model = small_model("float32")
    before = {name: value.copy() for name, value in model.parameters.items()}
    step = glass_step(model, BATCH, RECIPE, 3)
    assert all(np.array_equal(before[n], v) for n, v in model.parameters.items())
    step.apply()
    assert any(not np.array_equal(before[n], v) for n, v in model.parameters.items())
    assert np.array_equal(step.tape.value_of(NAME), before[NAME])
    with pytest.raises(ValueError, match="no longer"):
        step.apply()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("steps_before", [0, 4])
def test_every_formula_evaluates_to_its_value_and_to_what_the_optimiser_did(dtype, steps_before):
    model = small_model(dtype)
    moments = None
    if steps_before:
        trainer = Trainer(model, EXAMPLES, RECIPE)
        for _ in range(steps_before):
            trainer.advance()
        moments = trainer.position().moments
    step = glass_step(model, BATCH, RECIPE, 3, step=steps_before, moments=moments)
    tolerance = 1e-10 if dtype == "float64" else 2e-5
    for name in step.parameters:
        # what is left of a key's bias is rounding alone
        if name.endswith(".b_k"):
            continue
        place = step.place_of_largest(name)
        told = explain_update(step, name, place)
        names = [one.name for one in told]
        assert names[:4] == ["gradient", "clipped", "first", "second"]
        assert names[4:] == ["first_corrected", "second_corrected", "update", "weight"]
        for one in told:
            assert eval(one.text, {"__builtins__": {}}, dict(EVALUATION_NAMES)) == pytest.approx(
                one.value, rel=1e-12, abs=1e-300
            )
            assert one.formula and one.filled
        cells = step.cells(name)
        recorded = (
            cells.gradient,
            cells.clipped,
            cells.first,
            cells.second,
            cells.first_corrected,
            cells.second_corrected,
            cells.update,
            cells.after,
        )
        for one, array in zip(told, recorded, strict=True):
            size = sum(abs(term.value) for term in one.terms)
            assert abs(one.value - float(array[place])) <= tolerance * size + 1e-12, one
        for one in told[1:]:
            added = sum(term.value for term in one.terms)
            assert added == pytest.approx(one.value, rel=1e-12, abs=1e-300)
            for term in one.terms:
                assert not term.factors or np.prod(term.factors) == pytest.approx(term.value)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_formulas_of_a_gradient_of_rounding_alone_begin_with_the_number_that_was_used(dtype):
    step = glass_step(small_model(dtype), BATCH, RECIPE, 3)
    names = [name for name in step.parameters if is_rounding_alone(name)]
    assert len(names) == 6
    for name in names:
        # nothing beside the gradient of the queries' bias
        other = np.abs(step.optimised.gradients[name.replace("b_k", "b_q")]).max()
        assert step.norms[name] < 1e-4 * other
        place = step.place_of_largest(name)
        gradient, clipped = explain_update(step, name, place)[:2]
        used = float(step.optimised.gradients[name][place])
        assert gradient.value == used == float(gradient.text.strip("()"))
        assert clipped.value == used * step.optimised.coefficient
        written = clipped.filled.removeprefix("g' = ").replace("{-}", "-")
        factor, power = re.match(r"(\S+) \\cdot 10\^\{(-\d+)\}", written).groups()
        assert float(f"{factor}e{power}") == pytest.approx(used, rel=1e-3)


def test_adams_first_step_is_the_papers_algorithm_written_out():
    model = small_model("float64")
    recipe = replace(RECIPE, warmup_steps=0)
    step = glass_step(model, BATCH, recipe, 3)
    for name, value in step.parameters.items():
        if name.endswith(".b_k"):
            continue
        g = step.optimised.clipped[name]
        # at the first step both corrected moments are the gradient's own: its sign decides
        wanted = value - 5e-3 * g / (np.abs(g) + 1e-9)
        assert np.allclose(step.optimised.parameters[name], wanted, rtol=1e-9, atol=1e-12), name
        assert np.allclose(step.cells(name).first_corrected, g, rtol=1e-12)
        assert np.allclose(step.cells(name).second_corrected, g * g, rtol=1e-12)


@pytest.mark.parametrize("mistakes", [[], ["no_bias_correction"]])
def test_adams_first_step_moves_every_weight_alike_and_a_later_one_does_not(mistakes):
    step = glass_step(small_model("float64"), BATCH, RECIPE, 1, mistakes, step=4)
    moved = np.concatenate(
        [
            np.abs(step.cells(name).update[np.abs(step.optimised.clipped[name]) > 1e-4])
            for name in step.parameters
        ]
    )
    assert moved.size > 500
    assert np.allclose(moved, step.first_move, rtol=1e-3)
    later = glass_step(small_model(), BATCH, RECIPE, 1, step=5, moments=step.optimised.after)
    assert later.first_move is None


def test_clipping_is_told_with_both_norms():
    model = small_model("float64")
    step = glass_step(model, BATCH, RECIPE, 3).optimised
    flat = np.concatenate([g.reshape(-1) for g in step.gradients.values()])
    short = np.concatenate([g.reshape(-1) for g in step.clipped.values()])
    assert step.norm == pytest.approx(np.linalg.norm(flat))
    assert step.norm > RECIPE.max_norm
    assert step.clipped_norm == pytest.approx(np.linalg.norm(short)) == pytest.approx(0.5, rel=1e-5)
    free = glass_step(model, BATCH, replace(RECIPE, max_norm=1e6), 3).optimised
    assert free.coefficient == 1.0
    assert free.clipped_norm == free.norm


def test_the_mean_of_the_positions_that_count_is_the_loss():
    step = glass_step(small_model("float64"), BATCH, RECIPE, 3)
    assert step.counted.tolist() == (BATCH.labels != 0).tolist()
    assert np.isnan(step.losses).tolist() == (BATCH.labels == 0).tolist()
    assert np.nanmean(step.losses) == pytest.approx(float(step.tape["loss"].value))


def test_a_dropout_mask_is_told_from_the_stream_before_it_was_drawn():
    step = glass_step(small_model("float32"), BATCH, RECIPE, 3)
    assert len(step.dropout_sites) == 2 * (2 + 2) + 2 * (3 + 3)
    generator = np.random.default_rng(0)
    for site in step.dropout_sites[::5]:
        mask = step.tape[site].value
        for _ in range(6):
            place = tuple(int(generator.integers(size)) for size in mask.shape)
            told = step.explain_mask(site, place)
            assert told.value == pytest.approx(float(mask[place]), rel=1e-6)


def test_the_gradients_read_like_a_tape_and_are_those_that_are_clipped():
    step = glass_step(small_model("float64"), BATCH, RECIPE, 3)
    for name in step.parameters:
        own = step.optimised.gradients[name]
        scale = max(float(np.abs(own).max()), 1e-9)
        assert np.abs(step.gradients.gradient_of(name) - own).max() <= 1e-9 * scale + 1e-15, name
    assert step.gradients["total_loss"].value == 1.0
    assert step.gradients["loss"].value == 1.0
    assert step.gradients["alignment_loss"].value == pytest.approx(0.3)


@pytest.mark.parametrize("traits", TRAITS)
def test_every_gradient_of_every_kind_of_model_passes_the_check_with_its_masks(traits):
    """Every single cell, dropout and alignment loss included."""
    small = {"n_encoder_layers": 1, "n_decoder_layers": 1, "d_model": 6, "d_ff": 5, "d_head": 2}
    model = small_model("float64", **(traits | small))
    step = glass_step(model, BATCH, RECIPE, 5)
    checked = list(check_step(step, cells=None))
    assert [one.name for one in checked] == list(model.parameters)
    for one in checked:
        assert one.holds, one
        assert one.cells == one.size == model.parameters[one.name].size
    assert [one.done for one in checked] == list(range(1, len(checked) + 1))


@pytest.mark.parametrize("name", BUNDLED)
def test_the_gradients_of_every_bundled_model_pass_the_check_with_its_own_dropout(name):
    model = model_core.open_checkpoint(name)
    step = glass_step(model, drawn_pairs(model.card["task"], 1, 2), recipe_of(model.card), 5)
    assert bool(step.dropout_sites) == any(model.card["recipe"]["dropout"].values())
    for one in check_step(step, cells=2):
        assert one.holds, one


def test_a_float32_step_is_checked_in_float64_with_the_same_masks():
    step = glass_step(small_model("float32"), BATCH, RECIPE, 5)
    checked = list(check_step(step, ["src_embed.weight", NAME], cells=3))
    assert all(one.holds for one in checked)


def test_where_a_cell_is_wrong_the_check_names_a_cell():
    step = glass_step(small_model(), BATCH, RECIPE, 2, ["shared_dropout"])
    wrong = [row for row in check_step(step) if not row.holds]
    assert len(wrong) > 10
    for row in wrong:
        if row.index is not None:
            own = step.optimised.gradients[row.name][row.index]
            assert row.gradient == pytest.approx(float(own), rel=1e-3, abs=1e-6)
    # the direction of all cells stands for those that were not tried alone
    assert all(row.cells < row.size for row in wrong if row.index is None)


def test_the_check_ends_where_it_is_no_longer_wanted():
    step = glass_step(small_model("float64"), BATCH, RECIPE, 5)
    asked = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > 3000

    checked = list(check_step(step, cells=1, cancelled=cancelled))
    assert 0 < len(checked) < len(step.parameters)


def test_texts_make_a_batch_with_start_and_end_tokens():
    model = small_model()
    batch = batch_of(model, [("s4 s7", "t4 t5"), ("s5", "t6")])
    assert isinstance(batch, Batch)
    assert batch.labels.tolist() == [[4, 5, 2], [6, 2, 0]]
    step = glass_step(model, [("s4 s7", "t4 t5"), ("s5", "t6")], replace(RECIPE, guided=None))
    assert step.target == "loss"
    assert step.tape.target_tokens[1][:2] == ["<SOS>", "t6"]


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([], "no pair"),
        ([("s4", "t4"), ("s4", " ")], "pair 2 has no target"),
        ([("s4 " * 40, "t4")], "at most 24"),
    ],
)
def test_texts_that_make_no_batch_are_refused_with_a_sentence(pairs, said):
    with pytest.raises(ValueError, match=said):
        glass_step(small_model(), pairs, RECIPE)
