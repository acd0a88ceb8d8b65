"""Native checkpoints: what is written is read, completely or not at all."""

from __future__ import annotations

import json
import os
import struct

import numpy as np
import pytest
import safetensors
import safetensors.numpy

from model_core.checkpoints import CheckpointError, open_file, save, whole_file
from model_core.parameters import initialise, parameter_shapes
from tests.core.tiny_checkpoint import (
    CARD,
    CONFIG,
    PARAMETERS,
    TOKENIZER,
    make_config,
    make_tokenizer,
    rewrite,
    save_tiny,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.fixture
def saved(path):
    return save_tiny(path)


@pytest.mark.parametrize(
    "traits",
    [
        {},
        {"norm_position": "pre", "position": "learned"},
        {"tying": "output", "output_bias": False},
        {"tying": "all", "src_vocab_size": 6, "d_head": 5},
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_saved_model_comes_back_whole(path, traits, dtype):
    config = make_config(**traits)
    tokenizer = make_tokenizer(config)
    parameters = initialise(config, np.random.default_rng(5), dtype)
    save(path, config, parameters, tokenizer, CARD)
    contents = open_file(path, dtype)
    assert contents.config == config
    assert contents.tokenizer.to_dict() == tokenizer.to_dict()
    assert contents.card == CARD
    assert contents.warnings == []
    assert list(contents.parameters) == list(parameter_shapes(config))
    for name, value in parameters.items():
        found = contents.parameters[name]
        assert found.dtype == dtype
        assert found.tobytes() == value.tobytes()


def test_weights_come_in_the_dtype_asked_for(saved):
    for name, value in open_file(saved, "float64").parameters.items():
        assert value.dtype == np.float64
        np.testing.assert_array_equal(value, PARAMETERS[name].astype(np.float64))
    with pytest.raises(ValueError, match="float16"):
        open_file(saved, "float16")


def test_the_library_reads_the_file_too(saved):
    found = safetensors.numpy.load_file(saved)
    assert found.keys() == PARAMETERS.keys()
    for name, value in PARAMETERS.items():
        np.testing.assert_array_equal(found[name], value)


def test_the_same_model_gives_the_same_bytes(saved, tmp_path):
    expected = saved.read_bytes()
    turned = dict(reversed(PARAMETERS.items()))
    turned_card = dict(reversed(CARD.items()))
    for attempt in range(5):
        other = tmp_path / f"{attempt}.safetensors"
        save(other, CONFIG, turned, make_tokenizer(CONFIG), turned_card)
        assert other.read_bytes() == expected


def test_weights_in_any_memory_layout_are_saved_by_value(path):
    layouts = {
        name: np.asfortranarray(value)[..., ::-1].copy(order="F")[..., ::-1]
        for name, value in PARAMETERS.items()
    }
    save(path, CONFIG, layouts, TOKENIZER, CARD)
    for name, value in open_file(path).parameters.items():
        np.testing.assert_array_equal(value, PARAMETERS[name])


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_failed_save_leaves_the_old_file_and_nothing_else(saved, monkeypatch, broken):
    before = saved.read_bytes()

    def full(*_arguments, **_names):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(whole_file.os, broken, full)
    with pytest.raises(CheckpointError, match="No space left on device"):
        save(saved, CONFIG, PARAMETERS, TOKENIZER, {"other": 1})
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


def test_a_save_leaves_one_file_and_follows_a_link(saved, tmp_path):
    link = tmp_path / "link.safetensors"
    link.symlink_to(saved)
    save(link, CONFIG, PARAMETERS, TOKENIZER, {"other": 1})
    assert link.is_symlink()
    assert open_file(saved).card == {"other": 1}
    assert sorted(os.listdir(tmp_path)) == ["link.safetensors", "model.safetensors"]


def test_saving_where_nothing_can_be_is_refused(tmp_path):
    nowhere = (tmp_path / "no folder" / "m.safetensors", "cannot be saved")
    for place, told in (nowhere, (tmp_path, "is a folder, expected the name of a file")):
        with pytest.raises(CheckpointError, match=told):
            save(place, CONFIG, PARAMETERS, TOKENIZER, CARD)
    assert os.listdir(tmp_path) == []


def without(name):
    return {key: value for key, value in PARAMETERS.items() if key != name}


@pytest.mark.parametrize(
    ("parameters", "card", "reason"),
    [
        (without("output.W"), CARD, '"output.W" is missing'),
        (PARAMETERS | {"more": np.ones(2, np.float32)}, CARD, '"more" has no place'),
        (PARAMETERS | {"output.b": np.ones(5, np.float32)}, CARD, r"shape \(5,\), expected \(6,\)"),
        (PARAMETERS | {"output.b": np.full(6, np.nan, np.float32)}, CARD, "not finite"),
        (PARAMETERS | {"output.b": np.ones(6, np.int64)}, CARD, "an array of int64"),
        (PARAMETERS, {"x": object()}, "not JSON"),
        (PARAMETERS, {"x": float("nan")}, "not JSON"),
        (PARAMETERS, {"x": "\ud800"}, "not JSON"),
        (PARAMETERS, {"x": "a" * 16_000_001}, "a header of at most"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_could_not_be_opened_is_not_saved(path, parameters, card, reason):
    with pytest.raises(CheckpointError, match=reason):
        save(path, CONFIG, parameters, TOKENIZER, card)
    assert not path.exists()


def test_a_tokenizer_of_another_size_is_refused(saved, path):
    other = make_tokenizer(make_config(src_vocab_size=9))
    with pytest.raises(CheckpointError, match="9 source tokens, expected 7"):
        save(path, CONFIG, PARAMETERS, other, CARD)
    rewrite(saved, tokenizer=other.to_dict())
    with pytest.raises(CheckpointError, match="9 source tokens, expected 7"):
        open_file(saved)


def transposed(tensors):
    tensors["output.W"] = np.ascontiguousarray(tensors["output.W"].T)


def not_finite(tensors):
    tensors["decoder.layers.1.ffn.W_2"][3, 2] = np.inf


def too_large(tensors):
    tensors["output.b"] = np.full(6, 1e300)


def whole_numbers(tensors):
    tensors["output.b"] = np.ones(6, np.int32)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: t.pop("src_embed.weight"), '"src_embed.weight" is missing, expected'),
        (lambda t: t.clear() or t.update(x=np.ones(3)), "declares 3 layers and has 1 tensors"),
        (lambda t: t.update(x=np.ones(3)), '"x" has no place in the model, expected'),
        (transposed, r'"output.W" has the shape \(6, 8\), expected \(8, 6\)'),
        (not_finite, '"decoder.layers.1.ffn.W_2" holds a number that is not finite'),
        (too_large, '"output.b" holds a number that is not finite in float32'),
        (whole_numbers, '"output.b" is stored as I32'),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_tensors_that_do_not_fit_the_config_are_refused(saved, change, reason):
    rewrite(saved, change)
    with pytest.raises(CheckpointError, match=reason):
        open_file(saved)


def test_several_missing_tensors_are_counted(saved):
    rewrite(saved, lambda tensors: (tensors.pop("output.W"), tensors.pop("output.b")))
    with pytest.raises(CheckpointError, match=r'"output.W" is missing \(and 1 more\)'):
        open_file(saved)


@pytest.mark.parametrize("dtype", ["BF16", "F16"])
def test_16_bit_weights_are_widened(saved, dtype):
    with safetensors.safe_open(saved, "np") as file:
        header = {"__metadata__": file.metadata()}
    data, expected = b"", {}
    for name, value in PARAMETERS.items():
        if dtype == "F16":
            half = value.astype("<f2")
            expected[name] = half.astype(np.float32)
        else:
            half = (value.view(np.uint32) >> 16).astype("<u2")
            expected[name] = (half.astype(np.uint32) << 16).view(np.float32)
        offsets = [len(data), len(data) + half.nbytes]
        header[name] = {"dtype": dtype, "shape": list(half.shape), "data_offsets": offsets}
        data += half.tobytes()
    text = json.dumps(header).encode()
    saved.write_bytes(struct.pack("<Q", len(text)) + text + data)
    for name, value in open_file(saved).parameters.items():
        assert value.dtype == np.float32
        np.testing.assert_array_equal(value, expected[name])
