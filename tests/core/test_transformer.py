"""The whole model: its gradients, its causality, its cache, its masks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from model_core.model import Model
from model_core.runner import real_tokens
from tests.core.models import TRAITS, random_ids, small_model


def batch_of(model: Model, seed: int = 0) -> dict[str, Any]:
    """Two sentences of different lengths, padded."""
    generator = np.random.default_rng(seed)
    source = random_ids(generator, model.config.src_vocab_size, 5, 2)
    target = random_ids(generator, model.config.tgt_vocab_size, 7, 2)
    source[1, 3:], target[1, 5:], target[:, 0] = 0, 0, 1
    return {"source_ids": source, "target_ids": target}


def loss_of(model: Model, inputs: dict[str, Any], labels: np.ndarray) -> float:
    return model.loss(model.trace(**inputs), labels, label_smoothing=0.1)


@pytest.mark.parametrize("traits", TRAITS, ids=str)
def test_every_parameter_gradient_equals_central_differences(traits: dict[str, Any]) -> None:
    model = small_model(**traits)
    inputs = batch_of(model)
    labels = random_ids(np.random.default_rng(3), model.config.tgt_vocab_size, 7, 2)
    labels[1, 5:] = 0
    tape = model.trace(**inputs)
    model.loss(tape, labels, label_smoothing=0.1)
    gradients = tape.backward("loss").parameters
    assert gradients.keys() == model.parameters.keys()
    largest = max(float(np.abs(g).max()) for g in gradients.values())
    generator = np.random.default_rng(4)
    for name, value in model.parameters.items():
        flat, got = value.reshape(-1), gradients[name].reshape(-1)
        scale = max(float(np.abs(got).max()), largest / 1000)
        for i in generator.choice(flat.size, min(flat.size, 6), replace=False):
            kept, h = flat[i], 1e-5
            flat[i] = kept + h
            above = loss_of(model, inputs, labels)
            flat[i] = kept - h
            below = loss_of(model, inputs, labels)
            flat[i] = kept
            assert abs(got[i] - (above - below) / (2 * h)) <= 1e-6 * scale, (name, i)


@pytest.mark.parametrize("traits", TRAITS, ids=str)
def test_a_target_token_changes_no_earlier_row_at_any_layer(traits: dict[str, Any]) -> None:
    model = small_model("float32", **traits)
    generator = np.random.default_rng(5)
    source = random_ids(generator, model.config.src_vocab_size, 4)
    target = random_ids(generator, model.config.tgt_vocab_size, 8)
    before = model.trace(source_ids=source, target_ids=target)
    for changed in range(1, 8):
        other = target.copy()
        other[0, changed] = 4 + (other[0, changed] - 3) % (model.config.tgt_vocab_size - 4)
        assert other[0, changed] != target[0, changed]
        after = model.trace(source_ids=source, target_ids=other)
        for record in before:
            if "T" not in record.axes:
                continue
            axis = record.axes.index("T")
            if record.site.endswith("mask"):
                continue
            a = np.moveaxis(record.value, axis, 0)[:changed]
            b = np.moveaxis(after[record.site].value, axis, 0)[:changed]
            if record.site.endswith(".scores"):
                # scores are taken before the mask: only the keys seen so far must not change
                a, b = a[..., :changed], b[..., :changed]
            assert np.array_equal(a, b), record.site
        assert not np.array_equal(before["logits"].value, after["logits"].value)


def assert_agree(a: np.ndarray, b: np.ndarray, what: str) -> None:
    finite = np.isfinite(b)
    assert np.array_equal(np.isfinite(a), finite), what
    scale = np.abs(b[finite]).max(initial=1.0)
    assert np.abs(a[finite] - b[finite]).max(initial=0) <= 1e-5 * scale, what


@pytest.mark.parametrize("traits", TRAITS, ids=str)
def test_the_tape_grown_while_decoding_equals_one_full_pass(traits: dict[str, Any]) -> None:
    model = small_model("float32", **traits)
    grown = model.generate("s4 s7 s9 nonsense", strategy="sample", seed=3, max_new_tokens=9).tape
    whole = model.trace(source_ids=grown.source_ids, target_ids=grown.target_ids)
    assert grown.sites == whole.sites
    assert grown.target_ids.shape[1] > 1
    for record in whole:
        assert grown[record.site].value.shape == record.value.shape, record.site
        assert grown[record.site].axes == record.axes
        if record.value.dtype == bool:
            assert np.array_equal(grown[record.site].value, record.value)
        else:
            assert_agree(grown[record.site].value, record.value, record.site)


def test_a_forced_prefix_is_read_before_the_first_free_token() -> None:
    model = small_model("float32")
    free = model.generate("s4 s5 s6", max_new_tokens=8)
    forced = model.generate("s4 s5 s6", max_new_tokens=5, prefix_ids=free.ids[1:4])
    assert forced.ids == free.ids
    for record in free.tape:
        if record.value.dtype != bool:
            assert_agree(forced.tape[record.site].value, record.value, record.site)


@pytest.mark.parametrize("strategy", ["greedy", "sample"])
@pytest.mark.parametrize("traits", TRAITS[:3], ids=str)
def test_a_batch_decodes_to_what_each_sentence_gives_alone(
    traits: dict[str, Any], strategy: str
) -> None:
    model = small_model("float64", **traits)
    texts = ["s4", "s5 s6 s7 s8 s9", "", "s10 s4 s4"]
    options: dict[str, Any] = {"strategy": strategy, "seed": 7, "temperature": 1.3, "top_k": 6}
    together = model.generate(texts, max_new_tokens=10, **options)
    for text, result in zip(texts, together, strict=True):
        alone = model.generate(text, max_new_tokens=10, **options)
        assert result.ids == alone.ids
        assert result.tokens == alone.tokens
        assert np.allclose(result.log_probs, alone.log_probs, rtol=1e-9)


def test_padding_changes_nothing_in_the_real_rows() -> None:
    model = small_model("float64")
    inputs = batch_of(model)
    padded = model.trace(**inputs)
    alone = model.trace(
        source_ids=inputs["source_ids"][1, :3], target_ids=inputs["target_ids"][1, :5]
    )
    assert np.allclose(padded["logits"].value[1, :5], alone["logits"].value[0], atol=1e-12)
    weights = padded["decoder.layers.1.cross_attn.weights"].value
    assert np.all(weights[1, :, :, 3:] == 0)
    assert np.allclose(weights.sum(axis=-1), 1)


def test_a_fully_masked_row_gives_zeros_and_not_nan() -> None:
    model = small_model("float32")
    tape = model.trace(source_ids=[5, 6, 7], target_ids=[1, 4], source_mask=[False, False, False])
    for layer in range(2):
        assert np.all(tape[f"decoder.layers.{layer}.cross_attn.weights"].value == 0)
        assert np.all(tape[f"encoder.layers.{layer}.self_attn.weights"].value == 0)
    assert np.isfinite(tape["logits"].value).all()


def test_only_a_trailing_run_of_pad_is_masked_and_never_position_0() -> None:
    ids = np.array([[0, 5, 0, 6, 0, 0], [0, 0, 0, 0, 0, 0], [4, 5, 6, 7, 8, 9]])
    assert real_tokens(ids, 0).tolist() == [
        [True, True, True, True, False, False],
        [True, False, False, False, False, False],
        [True] * 6,
    ]


def test_sinusoidal_positions_go_on_past_max_seq_len_and_learned_ones_refuse() -> None:
    long = [4] * 40
    tape = small_model("float32").trace(source_ids=long, target_ids=[1])
    assert tape["encoder.embed.position"].value.shape == (40, 12)
    with pytest.raises(ValueError, match=r"40 tokens.*24"):
        small_model("float32", position="learned").trace(source_ids=long, target_ids=[1])


def test_float32_stays_float32_in_every_record() -> None:
    for traits in TRAITS:
        for record in small_model("float32", **traits).generate("s4 s5", max_new_tokens=4).tape:
            assert record.value.dtype in (np.float32, np.bool_), record.site


def test_records_are_read_only_and_know_their_axes() -> None:
    tape = small_model("float32").trace(source_ids=[4, 5, 6], target_ids=[1, 7, 8, 9])
    sizes = {"B": 1, "S": 3, "T": 4, "H": 3, "D": 12, "K": 5, "H*K": 15, "F": 14, "V": 11, "1": 1}
    for record in tape:
        assert record.value.shape == tuple(sizes[axis] for axis in record.axes), record.site
        with pytest.raises(ValueError, match="read-only"):
            record.value[...] = 0


def test_every_record_follows_from_its_inputs() -> None:
    tape = small_model("float64").trace(source_ids=[4, 5, 6], target_ids=[1, 7, 8, 9])
    known = {"source_ids", "target_ids", "source_positions", "target_positions"}
    known |= {"source_mask", "target_mask", "target_key_positions", *tape.parameters}
    for record in tape:
        assert set(record.inputs) <= known, record.site
        known.add(record.site)


def test_aliases_name_the_record_they_stand_for() -> None:
    tape = small_model("float32").trace(source_ids=[4, 5, 6], target_ids=[1, 7])
    assert np.array_equal(tape["encoder.out"].value, tape["encoder.layers.1.norm2.out"].value)
    assert np.array_equal(tape["decoder.cross_mask"].value, tape["encoder.mask"].value)
    gradients = tape.backward("logits", np.ones_like(tape["logits"].value))
    assert gradients["encoder.out"].shape == (1, 3, 12)
    assert np.any(gradients["encoder.out"])
    with pytest.raises(KeyError, match="nonsense"):
        tape["nonsense"]


def test_a_loss_recorded_on_one_tape_is_unknown_to_the_next() -> None:
    model = small_model("float64")
    first = model.trace(source_ids=[4, 5], target_ids=[1, 7])
    model.loss(first, [7, 2])
    assert "loss" in first
    assert "loss" not in model.trace(source_ids=[4, 5], target_ids=[1, 7])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source_ids": [4, 99], "target_ids": [1]}, "99"),
        ({"source_ids": [4, -1], "target_ids": [1]}, "-1"),
        ({"source_ids": [4.5], "target_ids": [1]}, "whole numbers"),
        ({"source_ids": [], "target_ids": [1]}, "no tokens"),
        ({"source_ids": [[[4]]], "target_ids": [1]}, "shape"),
        ({"source_ids": [[4], [5]], "target_ids": [1]}, "pair"),
        ({"source": "s4", "source_ids": [4]}, "either"),
        ({"target": "t4"}, "either"),
        ({"source": ["s4", "s5"]}, "needs targets"),
        ({"source_ids": [4], "target_ids": [1], "source_mask": [True, True]}, "source_mask"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        small_model("float32").trace(**arguments)


def test_a_parameter_that_is_given_a_new_value_is_used() -> None:
    model = small_model("float32")
    name = "decoder.layers.0.self_attn.W_k"
    before = model.trace(source_ids=[4, 5], target_ids=[1, 7])["logits"].value.copy()
    model.parameters[name] = 2 * model.parameters[name]
    after = model.trace(source_ids=[4, 5], target_ids=[1, 7])["logits"].value
    assert not np.array_equal(before, after)
    with pytest.raises(ValueError, match="shape"):
        model.parameters[name] = np.zeros(3)
    with pytest.raises(KeyError, match="nonsense"):
        model.parameters["nonsense"] = np.zeros(3)
