"""Native checkpoints: what is written is read, and nothing else is taken for a model."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import random
import sqlite3
import struct
import tarfile
import tracemalloc
import zipfile

import numpy as np
import pytest
import safetensors.numpy

from model_core.checkpoints import CheckpointError, native, open_file, save, sniff
from model_core.checkpoints.sniffing import HEAD_LENGTH
from model_core.config import ModelConfig
from model_core.parameters import initialise, parameter_shapes
from model_core.tokenizers import WordTokenizer

SPECIALS = ["<PAD>", "<SOS>", "<EOS>", "<UNK>"]
CARD = {"task": "猫 → cat", "examples": ["a", "b\n"], "accuracy": 0.995, "nested": {"x": [1, None]}}


def make_config(**changes):
    sizes = {
        "src_vocab_size": 7,
        "tgt_vocab_size": 6,
        "d_model": 8,
        "n_heads": 2,
        "d_ff": 10,
        "n_encoder_layers": 1,
        "n_decoder_layers": 2,
        "max_seq_len": 12,
    }
    return ModelConfig(**(sizes | changes))


def make_tokenizer(config):
    return WordTokenizer(
        SPECIALS + [f"s{i}" for i in range(config.src_vocab_size - 4)],
        SPECIALS + [f"猫{i}" for i in range(config.tgt_vocab_size - 4)],
    )


CONFIG = make_config()
TOKENIZER = make_tokenizer(CONFIG)
PARAMETERS = initialise(CONFIG, np.random.default_rng(3))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.fixture
def saved(path):
    save(path, CONFIG, PARAMETERS, TOKENIZER, CARD)
    return path


def rewrite(path, change_tensors=lambda tensors: None, **description):
    """Write the saved file anew with the library, with other tensors or another description."""
    tensors = safetensors.numpy.load_file(path)
    with safetensors.safe_open(path, "np") as file:
        text = file.metadata()["glassformer"]
    change_tensors(tensors)
    text = json.dumps(json.loads(text) | description)
    path.write_bytes(safetensors.numpy.save(tensors, {"glassformer": text}))


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

    monkeypatch.setattr(native.os, broken, full)
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
    for place in (tmp_path / "no folder" / "m.safetensors", tmp_path):
        with pytest.raises(CheckpointError, match="cannot be saved"):
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


def archive_of(write):
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def zipped(name, content=b"x"):
    def write(buffer):
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr(name, content)

    return archive_of(write)


def tarred(buffer):
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("x"), io.BytesIO())


def database():
    connection = sqlite3.connect(":memory:")
    connection.execute("create table x (y)")
    content = connection.serialize()
    connection.close()
    return content


FOREIGN = [
    ("empty", b"", "is empty"),
    ("npy", archive_of(lambda buffer: np.save(buffer, np.ones(3))), "NumPy array"),
    ("npz", archive_of(lambda buffer: np.savez(buffer, a=np.ones(3))), "NumPy archive"),
    ("zip", zipped("readme.txt"), "zip archive"),
    ("zip", archive_of(lambda buffer: zipfile.ZipFile(buffer, "w").close()), "zip archive"),
    ("pytorch", zipped("archive/data.pkl"), "PyTorch"),
    ("pytorch-legacy", pickle.dumps(0x1950A86A20F9469CFC6C, 2), "PyTorch"),
    *(("pickle", pickle.dumps({"a": 1}, protocol), "pickle") for protocol in (2, 3, 4, 5)),
    ("marian", struct.pack("<QQ", 1, 123) + bytes(100), "Marian"),
    ("gguf", b"GGUF" + struct.pack("<IQQ", 3, 1, 1), "GGUF"),
    ("hdf5", b"\x89HDF\r\n\x1a\n" + bytes(40), "HDF5"),
    ("png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "PNG"),
    ("jpeg", b"\xff\xd8\xff\xe0\0\x10JFIF", "JPEG"),
    ("pdf", b"%PDF-1.7\n", "PDF"),
    ("gzip", gzip.compress(b"x"), "gzip"),
    ("bzip2", bz2.compress(b"x"), "bzip2"),
    ("xz", lzma.compress(b"x"), "xz"),
    ("tar", archive_of(tarred), "tar"),
    ("sqlite", database(), "SQLite"),
    ("program", b"\x7fELF\2\1\1" + bytes(9), "program"),
    ("json", b'{"a": 1}', "JSON"),
    ("json", b'\xef\xbb\xbf\n [1, {"a": 2}]', "JSON"),
    ("json", b'{"info":{"a": 1}}', "JSON"),
    ("html", b"\n<!DOCTYPE html><html>", "web page"),
    ("xml", b"<?xml version='1.0'?>", "XML"),
    ("text", "model: 猫\n".encode(), "text"),
    ("text", b"MZ is how a Windows program starts, and BZh", "text"),
    ("text", ("猫" * HEAD_LENGTH).encode(), "text"),
    ("git-lfs", b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\n", "Git LFS"),
    ("unknown", bytes(range(100, 256)), "nothing that this program knows"),
    ("unknown", b"\0" * 64, "nothing that this program knows"),
]


@pytest.mark.parametrize(("kind", "content", "words"), FOREIGN, ids=lambda value: str(value)[:20])
def test_other_files_are_named_for_what_they_are(path, kind, content, words):
    path.write_bytes(content)
    assert sniff(path).kind == kind
    with pytest.raises(CheckpointError, match=words) as caught:
        open_file(path)
    assert "Glassformer" in caught.value.expected


def test_the_content_and_not_the_name_decides(saved, tmp_path):
    other = tmp_path / "photo.png"
    saved.rename(other)
    assert sniff(other).kind == "safetensors"
    assert open_file(other).config == CONFIG


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda folder: folder, "is a folder"),
        (lambda folder: folder / "none.safetensors", "there is no such file"),
        (lambda folder: folder / "file" / "inside", "cannot be opened"),
        (lambda folder: folder / ("n" * 300), "cannot be opened"),
        (lambda folder: str(folder / "nul\0byte"), "is no file name"),
        (lambda folder: folder / "pipe", "is a device or a pipe"),
        (lambda folder: "/dev/null", "is a device or a pipe"),
    ],
)
def test_what_is_no_readable_file_is_refused(tmp_path, make, reason):
    (tmp_path / "file").write_bytes(b"x")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CheckpointError, match=reason) as caught:
        open_file(make(tmp_path))
    assert str(caught.value).isprintable()
    assert str(tmp_path.parent) not in str(caught.value)


def test_an_unreadable_file_is_refused(saved, monkeypatch):
    def denied(*_arguments, **_names):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", denied)
    with pytest.raises(CheckpointError, match="Permission denied"):
        open_file(saved)


def test_a_model_beyond_the_memory_is_refused(saved, monkeypatch):
    def full(*_arguments):
        raise MemoryError

    monkeypatch.setattr(native.SafetensorsFile, "tensor", full)
    with pytest.raises(CheckpointError, match="does not fit into the memory"):
        open_file(saved)


def test_the_error_carries_its_facts_between_processes():
    error = CheckpointError("/a/b\n/odd\x07name", "found\nthis", "that")
    for copy in (error, pickle.loads(pickle.dumps(error))):
        assert isinstance(copy, ValueError)
        assert (copy.file, copy.found, copy.expected) == ("odd?name", "found?this", "that")
        assert str(copy) == "odd?name: found?this, expected that"
