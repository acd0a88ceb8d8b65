"""Damaged and dishonest native checkpoints: a sound model or one clear error."""

from __future__ import annotations

import random
import struct
import tracemalloc

import numpy as np
import pytest
import safetensors.numpy

from model_core.checkpoints import CheckpointError, open_file
from model_core.parameters import parameter_shapes
from tests.core.tiny_checkpoint import CONFIG, PARAMETERS, TOKENIZER, rewrite, save_tiny


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.fixture
def saved(path):
    return save_tiny(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"config": {}},
        {"config": None},
        {"config": []},
        {"config": CONFIG.to_dict() | {"d_model": "8"}},
        {"config": CONFIG.to_dict() | {"d_model": 8.5}},
        {"config": CONFIG.to_dict() | {"d_model": True}},
        {"config": CONFIG.to_dict() | {"d_model": 0}},
        {"config": CONFIG.to_dict() | {"d_model": -8}},
        {"config": CONFIG.to_dict() | {"d_model": 10**30}},
        {"config": CONFIG.to_dict() | {"norm_eps": 10**400}},
        {"config": CONFIG.to_dict() | {"norm_eps": -1.0}},
        {"config": CONFIG.to_dict() | {"n_heads": 3, "d_head": 0}},
        {"config": CONFIG.to_dict() | {"activation": "swish"}},
        {"config": CONFIG.to_dict() | {"surprise": 1}},
        {"config": CONFIG.to_dict() | {"tying": "all"}},
        {"tokenizer": None},
        {"tokenizer": {}},
        {"tokenizer": {"kind": ["word"]}},
        {"tokenizer": TOKENIZER.to_dict() | {"source_vocabulary": "abcdefg"}},
        {"tokenizer": TOKENIZER.to_dict() | {"source_vocabulary": [1, 2, 3, 4, 5, 6, 7]}},
        {"tokenizer": TOKENIZER.to_dict() | {"source_prefix": "yes"}},
        {"card": None},
        {"card": "text"},
        {"format_version": None},
        {"format_version": True},
        {"format_version": 0},
        {"format_version": "1"},
        {"format_version": 2},
    ],
    ids=lambda changes: str(changes)[:60],
)
def test_a_wrong_description_is_refused(saved, changes):
    rewrite(saved, **changes)
    with pytest.raises(CheckpointError, match=r"^model.safetensors: .*, expected ") as caught:
        open_file(saved)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "changes",
    [
        {"n_encoder_layers": 2**24},
        {"n_decoder_layers": 2**24, "n_encoder_layers": 2**24},
        {"src_vocab_size": 2**24},
        {"max_seq_len": 2**24, "position": "learned"},
        {"d_ff": 2**24},
        {"d_head": 2**24},
        {"d_model": 2**24, "n_heads": 2**24, "d_head": 2**24, "d_ff": 2**24},
    ],
    ids=str,
)
def test_sizes_that_are_only_declared_take_no_memory(saved, changes):
    rewrite(saved, config=CONFIG.to_dict() | changes)
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError):
            open_file(saved)
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()


def test_a_long_reach_of_sinusoidal_positions_takes_no_memory(saved):
    rewrite(saved, config=CONFIG.to_dict() | {"max_seq_len": 2**24})
    tracemalloc.start()
    try:
        assert open_file(saved).config.max_seq_len == 2**24
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()


def test_a_newer_format_says_so(saved):
    rewrite(saved, format_version=2)
    with pytest.raises(CheckpointError, match="newer Glassformer, expected format version 1"):
        open_file(saved)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "cannot be read"),
        ("[]", "no JSON object"),
        ('{"format_version":1,"format_version":1}', "occurs twice"),
        ('{"format_version":1,"x":' + "[" * 50_000 + "]" * 50_000 + "}", "nests too deeply"),
        ('{"format_version":1,"card":{"x":Infinity}}', "Infinity"),
    ],
    ids=lambda value: value[:30],
)
def test_a_description_that_is_not_plain_json_is_refused(path, text, reason):
    path.write_bytes(safetensors.numpy.save(PARAMETERS, {"glassformer": text}))
    with pytest.raises(CheckpointError, match=reason):
        open_file(path)


def test_another_programs_safetensors_file_is_refused(path):
    for metadata in (None, {"format": "pt"}):
        path.write_bytes(safetensors.numpy.save(PARAMETERS, metadata))
        with pytest.raises(CheckpointError, match=r"another program, expected one of Glassformer"):
            open_file(path)


def mutated(content, generator):
    """The bytes with a few of them changed, moved, doubled or gone."""
    content = bytearray(content)
    header_end = 8 + struct.unpack("<Q", content[:8])[0]
    for _ in range(generator.choice([1, 1, 1, 2, 5])):
        # Half of the faults hit the header, where they hurt most.
        reach = generator.choice([header_end, len(content)])
        start = generator.randrange(max(min(reach, len(content)), 1))
        match generator.randrange(6):
            case 0:
                content[start : start + 1] = bytes([generator.randrange(256)])
            case 1:
                content[start : start + 1] = bytes([generator.choice(b'0123456789-{}[]",:e.\\')])
            case 2:
                del content[start:]
            case 3:
                del content[start : start + generator.randrange(1, 9)]
            case 4:
                content[start:start] = content[start : start + generator.randrange(1, 40)]
            case 5:
                content[:8] = struct.pack("<Q", generator.getrandbits(generator.randrange(1, 65)))
    return bytes(content)


def test_damaged_files_load_as_a_sound_model_or_raise_one_error(saved):
    content = saved.read_bytes()
    generator = random.Random(11)
    outcomes = {"loaded": 0, "refused": 0}
    tracemalloc.start()
    try:
        for _ in range(600):
            saved.write_bytes(mutated(content, generator))
            try:
                contents = open_file(saved)
            except CheckpointError as error:
                outcomes["refused"] += 1
                assert str(error).startswith("model.safetensors: ")
                assert str(error).isprintable()
                continue
            outcomes["loaded"] += 1
            shapes = {name: value.shape for name, value in contents.parameters.items()}
            assert shapes == parameter_shapes(contents.config)
            assert all(np.isfinite(value).all() for value in contents.parameters.values())
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()
    # A flipped bit of a weight is a sound model; most other damage is not.
    assert outcomes["loaded"] > 20
    assert outcomes["refused"] > 300
