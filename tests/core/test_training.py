"""Batches, schedule, dropout and the loop."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pytest

from model_core.model import Model
from model_core.runner import Runner
from model_core.training.arena import Arena
from model_core.training.batching import Example, collate, epoch
from model_core.training.evaluation import cross_head_facts, exact_matches
from model_core.training.loop import GuidedHead, Recipe, forward, record_losses, train
from model_core.training.optimiser import clip_gradients, learning_rate_at
from model_core.transformer import Dropout
from tests.core.models import small_model

RECIPE = Recipe(
    steps=600,
    learning_rate=5e-3,
    warmup_steps=20,
    batch_size=16,
    dropout=Dropout(attention=0.02, ffn=0.02, sublayer=0.02),
    guided=GuidedHead(layer=0, head=1, coefficient=0.3),
    seed=3,
)


def reversals(seed: int, count: int, model: Model) -> list[Example]:
    """Short sentences whose translation is the same numbers backwards: alignment is known."""
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        length = int(generator.integers(1, 4))
        source = generator.integers(4, model.config.tgt_vocab_size, length).tolist()
        aligned = [*range(length - 1, -1, -1), -1]
        found.append(Example([*source, 2], source[::-1], aligned))
    return found


def test_every_example_is_used_once_an_epoch_the_last_partial_batch_too() -> None:
    examples = [Example([i], [i]) for i in range(4, 107)]
    batches = list(epoch(examples, 16, np.random.default_rng(0)))
    assert sorted(e.source[0] for batch in batches for e in batch) == list(range(4, 107))
    assert sorted(map(len, batches)) == [7, 16, 16, 16, 16, 16, 16]
    other = list(epoch(examples, 16, np.random.default_rng(1)))
    assert batches != other


def test_a_batch_reads_the_start_token_and_must_predict_the_end_token() -> None:
    batch = collate([Example([5, 2], [7, 8], [0, -1, 1]), Example([5, 6, 2], [9])], 0, 1, 2)
    assert batch.source_ids.tolist() == [[5, 2, 0], [5, 6, 2]]
    assert batch.source_mask.tolist() == [[True, True, False], [True, True, True]]
    assert batch.target_ids.tolist() == [[1, 7, 8], [1, 9, 0]]
    assert batch.labels.tolist() == [[7, 8, 2], [9, 2, 0]]
    assert batch.target_mask.tolist() == [[True, True, True], [True, True, False]]
    assert batch.aligned.tolist() == [[0, -1, 1], [-1, -1, -1]]


def test_the_learning_rate_rises_to_its_peak_and_falls_along_a_cosine() -> None:
    rates = [learning_rate_at(step, 1.0, 10, 110, 0.02) for step in range(110)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[9] == rates[10] == pytest.approx(1.0)
    assert rates[60] == pytest.approx((1 + 0.02) / 2)
    assert rates[-1] == pytest.approx(0.02, abs=1e-3)
    assert all(a >= b for a, b in pairwise(rates[10:]))


def test_clipping_keeps_the_direction_and_bounds_the_norm() -> None:
    gradients = {"a": np.array([3.0, 0.0]), "b": np.array([[4.0]])}
    clipped, norm = clip_gradients(gradients, 1.0)
    assert norm == pytest.approx(5.0)
    assert clipped["a"][0] == pytest.approx(0.6)
    assert clipped["b"][0, 0] == pytest.approx(0.8)
    same, _ = clip_gradients(gradients, 50.0)
    assert same["a"] is gradients["a"]


@pytest.mark.parametrize(
    ("dropout", "places"),
    [
        (Dropout(attention=0.3), ["self_attn.weights", "cross_attn.weights"]),
        (Dropout(ffn=0.3), ["ffn.activation"]),
        (Dropout(sublayer=0.3), ["self_attn.out", "cross_attn.out", "ffn.out"]),
    ],
)
def test_each_kind_of_dropout_has_its_own_rate_and_places(
    dropout: Dropout, places: list[str]
) -> None:
    model = small_model("float64")
    runner = Runner(model.config, model.parameters, model.dtype, dropout)
    batch = collate(reversals(0, 200, model), 0, 1, 2)
    tape = forward(runner, batch, np.random.default_rng(5))
    dropped = [site for site in tape.sites if site.endswith(".dropout")]
    assert {site.split(".", 3)[3].removesuffix(".dropout") for site in dropped} == set(places)
    for site in dropped:
        mask = tape[site].value
        assert set(np.unique(mask)) == {0.0, 1 / 0.7}
        assert (mask == 0).mean() == pytest.approx(0.3, abs=0.03)
        before = tape[site.removesuffix(".dropout")].value
        after = tape[site.removesuffix("dropout") + "dropped"].value
        assert np.array_equal(after, before * mask)


def test_gradients_with_dropout_and_alignment_loss_equal_central_differences() -> None:
    model = small_model("float64")
    recipe = replace(RECIPE, dropout=Dropout(0.2, 0.2, 0.2), label_smoothing=0.1)
    runner = Runner(model.config, model.parameters, model.dtype, recipe.dropout)
    batch = collate(reversals(1, 4, model), 0, 1, 2)

    def loss() -> float:
        tape = forward(runner, batch, np.random.default_rng(9))
        return float(tape[record_losses(tape, batch, recipe, 0)].value)

    tape = forward(runner, batch, np.random.default_rng(9))
    target = record_losses(tape, batch, recipe, 0)
    gradients = tape.backward(target).parameters
    for name, value in tape.parameter_gradients(target).items():
        assert np.allclose(value, gradients[name], rtol=1e-9, atol=1e-12), name
    largest = max(np.abs(g).max() for g in gradients.values())
    generator = np.random.default_rng(2)
    for name, value in model.parameters.items():
        flat = value.reshape(-1)
        scale = max(np.abs(gradients[name]).max(), largest / 1000)
        i, h = int(generator.integers(flat.size)), 1e-5
        kept = flat[i]
        flat[i] = kept + h
        above = loss()
        flat[i] = kept - h
        below = loss()
        flat[i] = kept
        error = abs(gradients[name].reshape(-1)[i] - (above - below) / (2 * h))
        assert error <= 1e-6 * scale, name


def test_writing_over_a_finished_tape_gives_the_same_bits_as_fresh_arrays() -> None:
    model = small_model("float32")
    runner = Runner(model.config, model.parameters, model.dtype, RECIPE.dropout)
    first = collate(reversals(1, 8, model), 0, 1, 2)
    second = collate(reversals(2, 8, model), 0, 1, 2)
    assert first.source_ids.shape == second.source_ids.shape
    used = forward(runner, first, np.random.default_rng(1))
    used.backward(record_losses(used, first, RECIPE, 0))
    fresh = forward(runner, second, np.random.default_rng(2))
    again = forward(runner, second, np.random.default_rng(2), reuse=used)
    for tape in (fresh, again):
        record_losses(tape, second, RECIPE, 0)
    for record in fresh:
        assert np.array_equal(record.value, again[record.site].value), record.site
    a, b = fresh.backward("total_loss").parameters, again.backward("total_loss").parameters
    assert all(np.array_equal(a[name], b[name]) for name in a)


def test_passes_of_all_shapes_share_one_block_and_give_the_bits_of_fresh_arrays() -> None:
    model = small_model("float32")
    runner = Runner(model.config, model.parameters, model.dtype, RECIPE.dropout)
    arena = Arena(runner)
    found = reversals(1, 24, model)
    batches = [collate(found[:8], 0, 1, 2), collate(found[8:], 0, 1, 2)]
    batches.append(collate([e for e in found if len(e.target) == 1], 0, 1, 2))
    shapes = [(*batch.source_ids.shape, batch.target_ids.shape[1]) for batch in batches]
    assert len(set(shapes)) == 3
    lent_from = set()
    for number, (shape, batch) in enumerate(zip(shapes * 3, batches * 3, strict=True)):
        lent = arena.lend(shape)
        assert (lent is None) == (number < 3)
        tape = forward(runner, batch, np.random.default_rng(number), lent)
        record_losses(tape, batch, RECIPE, 0)
        fresh = forward(runner, batch, np.random.default_rng(number))
        record_losses(fresh, batch, RECIPE, 0)
        for record in fresh:
            assert np.array_equal(record.value, tape[record.site].value), record.site
        a, b = fresh.parameter_gradients("total_loss"), tape.parameter_gradients("total_loss")
        assert all(np.array_equal(a[name], b[name]) for name in a)
        if lent is not None:
            lent_from.add(id(tape.value_of("encoder.embed.out").base))
        arena.keep(shape, tape)
    assert len(lent_from) == 1


def test_training_without_dropout_computes_the_bits_that_tracing_computes() -> None:
    model = small_model("float32")
    batch = collate(reversals(1, 5, model), 0, 1, 2)
    runner = Runner(model.config, model.parameters, model.dtype)
    trained = forward(runner, batch, np.random.default_rng(0))
    traced = model.trace(
        source_ids=batch.source_ids,
        target_ids=batch.target_ids,
        source_mask=batch.source_mask,
        target_mask=batch.target_mask,
    )
    assert all(np.array_equal(r.value, traced[r.site].value) for r in trained)


def test_a_small_model_learns_to_reverse_and_its_guided_head_to_look_back() -> None:
    model = small_model(
        "float32", n_encoder_layers=1, n_decoder_layers=1, d_model=32, n_heads=2, d_head=0, d_ff=64
    )
    history = list(train(model, reversals(10, 1500, model), RECIPE))
    assert len(history) == RECIPE.steps
    assert history[-1].step == RECIPE.steps
    assert history[-1].loss < 0.2 * history[0].loss
    facts = cross_head_facts(model, reversals(11, 100, model))
    guided = next(f for f in facts if f.head == 1)
    assert guided.aligned_mass > 0.8
    unseen = reversals(12, 60, model)
    words = model.tokenizer
    hits = exact_matches(
        model,
        [" ".join(words.source_tokens(e.source[:-1])) for e in unseen],
        [[" ".join(words.target_tokens(e.target))] for e in unseen],
    )
    assert sum(hits) > 0.7 * len(hits)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    def trained(seed: int) -> dict[str, np.ndarray]:
        model = small_model("float32")
        recipe = replace(RECIPE, seed=seed)
        for _ in islice(train(model, reversals(10, 50, model), recipe), 8):
            pass
        return model.parameters

    first, second, other = trained(1), trained(1), trained(2)
    assert all(first[n].tobytes() == second[n].tobytes() for n in first)
    assert any(first[n].tobytes() != other[n].tobytes() for n in first)


def test_nothing_to_train_on_is_said_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="no examples"):
        next(train(small_model("float32"), [], RECIPE))
