"""The strict safetensors reader against the safetensors library and against broken files."""

from __future__ import annotations

import io
import json
import os
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from model_core.checkpoints import CheckpointError, safetensors_file
from model_core.checkpoints.safetensors_file import SafetensorsFile

BAD = Path(__file__).parent.parent / "data" / "bad_safetensors"
DTYPES = ["float64", "float32", "float16", "int64", "int32", "uint8", "bool"]

tensors = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(
        lambda name: name != "__metadata__"
    ),
    st.sampled_from(DTYPES).flatmap(
        lambda dtype: arrays.arrays(
            dtype, arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
        )
    ),
    max_size=5,
)
texts = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    max_size=3,
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("safetensors") / "model.safetensors"


def packed(header, data=b"", length=None):
    """A safetensors file of any header: a mapping, or text, or bytes."""
    if isinstance(header, dict):
        header = json.dumps(header)
    if isinstance(header, str):
        header = header.encode()
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def all_tensors(path, dtype=None):
    with SafetensorsFile(path) as file:
        return {name: file.tensor(name, dtype) for name in file.entries}


@given(tensors, texts)
def test_reads_what_the_library_writes(path, written, metadata):
    # `or None`: with neither tensors nor metadata the library writes what it cannot read.
    path.write_bytes(safetensors.numpy.save(written, metadata or None))
    oracle = safetensors.numpy.load_file(path)
    with SafetensorsFile(path) as file:
        assert file.metadata == metadata
        assert set(file.entries) == set(oracle)
        for name, expected in oracle.items():
            found = file.tensor(name)
            assert found.shape == expected.shape
            assert found.flags.writeable
            if expected.dtype == np.float16:
                expected = expected.astype(np.float32)
            assert found.dtype == expected.dtype
            assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("asked", ["float32", "float64"])
@given(tensors)
def test_floats_come_in_the_dtype_asked_for(path, asked, written):
    path.write_bytes(safetensors.numpy.save(written))
    found = all_tensors(path, asked)
    for name, value in written.items():
        with np.errstate(over="ignore", invalid="ignore"):
            expected = value.astype(asked) if value.dtype.kind == "f" else value
        assert found[name].dtype == expected.dtype
        np.testing.assert_array_equal(found[name], expected)


@pytest.mark.parametrize("asked", [None, "float32", "float64"])
def test_bfloat16_is_the_upper_half_of_a_float32(path, asked):
    # Every one of the 65,536 values there are.
    halves = np.arange(2**16, dtype=np.uint16)
    entry = {"dtype": "BF16", "shape": [256, 256], "data_offsets": [0, 2**17]}
    path.write_bytes(packed({"x": entry}, halves.astype("<u2").tobytes()))
    found = all_tensors(path, asked)["x"]
    assert found.dtype == (asked or "float32")
    for bits in (0x0000, 0x8000, 0x3F80, 0xC049, 0x7F7F, 0x0001, 0xFF80):
        (expected,) = struct.unpack("<f", struct.pack("<I", bits << 16))
        assert found.reshape(-1)[bits] == expected
    assert np.isnan(found.reshape(-1)[0x7FC0])
    signs = np.signbit(found.reshape(-1)[np.isfinite(found.reshape(-1))])
    assert signs.sum() * 2 == signs.size


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_longer_than_a_chunk_are_read_whole(path, dtype, monkeypatch):
    monkeypatch.setattr(safetensors_file, "CHUNK_BYTES", 24)
    written = np.arange(101).reshape(1, 101).astype(dtype)
    path.write_bytes(safetensors.numpy.save({"x": written, "y": written}))
    for name, found in all_tensors(path).items():
        np.testing.assert_array_equal(found, written, err_msg=name)


def test_the_control_file_loads_as_the_library_loads_it():
    expected = safetensors.numpy.load_file(BAD / "good_control.safetensors")
    found = all_tensors(BAD / "good_control.safetensors")
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("truncated_data", r"has 8091 bytes and is cut short, expected 14712 bytes"),
        ("overlapping_offsets", r'"[\w.]+k_proj.\w+" overlaps "[\w.]+k_proj.\w+"'),
        ("header_len_2_40", r"declares a header of 1099511627776 bytes in a file of 14712 bytes"),
        ("negative_offset", r"has the data_offsets \[-\d+, \d+\]"),
        ("unknown_dtype", r'has the dtype "F99", expected one of F64, F32'),
        ("dtype_size_mismatch", r"fc1.weight\" of shape \[16, 8\] in F16 has 512 bytes"),
        ("header_not_utf8", r"has a byte in its header that is not UTF-8"),
        ("header_duplicate_key", r'the key "model.encoder.layers.0.fc1.weight" occurs twice'),
        ("huge_shape", r"of shape \[2147483648, 2147483648\]"),
        ("shape_product_wraps", r"of shape \[\d+, \d+"),
        ("empty_file", r"is empty"),
        ("git_lfs_pointer", r"is a Git LFS pointer"),
    ],
)
def test_broken_reference_files_are_refused_for_their_own_fault(name, reason):
    file = BAD / f"{name}.safetensors"
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError, match=reason) as caught:
            all_tensors(file)
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()
    assert str(caught.value).startswith(f"{name}.safetensors: ")
    assert str(caught.value).isprintable()


def four_bytes(**changes):
    return {"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]} | changes}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x02", "has 1 bytes"),
        (b"\x02\0\0\0\0\0\0\0{", "has 9 bytes"),
        (packed("[]"), "no header"),
        (packed(" {}"), "no header"),
        (packed("{}", length=0), "no header"),
        (packed("{}", length=2**63), "declares a header"),
        (packed("{,}"), "cannot be read"),
        (packed('{"x":'), "cannot be read"),
        (packed("{}x"), "cannot be read"),
        (packed('{"x":NaN}'), "NaN is not a JSON number"),
        (packed('{"x":1e999}'), "too large"),
        (packed('{"x":' + "9" * 5000 + "}"), "cannot be read"),
        (packed('{"x":' + "[" * 100_000 + "]" * 100_000 + "}"), "nests too deeply"),
        (packed('{"x":' + "[" * 40 + "]" * 40 + "}"), "nests too deeply"),
        (packed('{"__metadata__":{"a":"\\ud800"}}'), "surrogate"),
        (packed('{"__metadata__":{"a":"1","a":"1"}}'), '"a" occurs twice'),
        (packed({"__metadata__": {"a": 1}}), "other than text"),
        (packed({"__metadata__": {"a": None}}), "other than text"),
        (packed({"__metadata__": ["a"]}), "other than text"),
        (packed({"__metadata__": None}), "other than text"),
        (packed({"x": None}), "not described"),
        (packed({"x": []}), "not described"),
        (packed({"x": {"dtype": "F32", "shape": [0]}}), "not described"),
        (packed(four_bytes(more=1), b"1234"), "not described"),
        (packed(four_bytes(dtype=None), b"1234"), "dtype"),
        (packed(four_bytes(dtype="f32"), b"1234"), "dtype"),
        (packed(four_bytes(dtype="F8_E4M3", shape=[4]), b"1234"), "F8_E4M3"),
        (packed(four_bytes(shape=1), b"1234"), "shape"),
        (packed(four_bytes(shape=None), b"1234"), "shape"),
        (packed(four_bytes(shape=[True]), b"1234"), "shape"),
        (packed(four_bytes(shape=[1.0]), b"1234"), "shape"),
        (packed(four_bytes(shape=["1"]), b"1234"), "shape"),
        (packed(four_bytes(shape=[-1, -1]), b"1234"), "shape"),
        (packed(four_bytes(shape=[1] * 9), b"1234"), "shape"),
        (packed(four_bytes(shape=[2**64 + 1]), b"1234"), "shape"),
        (packed(four_bytes(shape=[10**4000]), b"1234"), r"about 10\^4000"),
        (packed(four_bytes(data_offsets=[0]), b"1234"), "data_offsets"),
        (packed(four_bytes(data_offsets=[0, 4, 8]), b"1234"), "data_offsets"),
        (packed(four_bytes(data_offsets=[4, 0]), b"1234"), "data_offsets"),
        (packed(four_bytes(data_offsets=[0, 4.0]), b"1234"), "data_offsets"),
        (packed(four_bytes(data_offsets=[False, 4]), b"1234"), "data_offsets"),
        (packed(four_bytes(data_offsets=[1, 5]), b"12345"), "belong to no tensor"),
        (packed(four_bytes(data_offsets=[2**70, 2**70 + 4]), b"1234"), "belong to no tensor"),
        (packed(four_bytes(), b"123"), "cut short"),
        (packed(four_bytes(), b""), "cut short"),
        (packed(four_bytes(), b"12345"), "1 bytes after its last tensor"),
        (packed("{}", b"1"), "1 bytes after its last tensor"),
        (packed({"x": {"dtype": "F32", "shape": [0, 2**41], "data_offsets": [0, 0]}}), "shape"),
        (packed({"n" * 257: {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}}), "257 letters"),
        (packed({"x": {"dtype": "BOOL", "shape": [2], "data_offsets": [0, 2]}}, b"\1\2"), "BOOL"),
    ],
)
def test_malformed_files_are_refused(path, content, reason):
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=reason) as caught:
        all_tensors(path)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 700


def test_too_many_tensors_and_too_long_headers_are_refused(path, monkeypatch):
    empty = {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}
    path.write_bytes(packed({str(i): empty for i in range(10_001)}))
    with pytest.raises(CheckpointError, match="10001 tensors"):
        all_tensors(path)
    monkeypatch.setattr(safetensors_file, "LONGEST_HEADER", 100)
    path.write_bytes(packed("{" + " " * 99 + "}"))
    with pytest.raises(CheckpointError, match="a header of 101 bytes"):
        all_tensors(path)


def test_a_header_may_be_padded_and_may_have_no_tensors(path):
    path.write_bytes(packed('{"__metadata__":{}}     '))
    with SafetensorsFile(path) as file:
        assert (file.metadata, file.entries) == ({}, {})


VALID = safetensors.numpy.save(
    {"a.W": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(3, np.float64)}, {"k": "v"}
)
pieces = st.one_of(
    st.binary(max_size=4),
    st.sampled_from([b"{", b"}", b'"', b",", b"0", b"-1", b"99999999999999999999", b"F64", b"[]"]),
)


@settings(max_examples=300)
@given(st.data())
def test_whatever_it_accepts_the_library_accepts_with_the_same_values(path, data):
    content = bytearray(VALID)
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        stop = start + data.draw(st.integers(0, 4))
        content[start:stop] = data.draw(pieces)
    if data.draw(st.booleans()):  # make the length fit again, to reach beyond it
        end = content.find(b"]}}") + 3
        content[:8] = struct.pack("<Q", max(end - 8, 0))
    path.write_bytes(content)
    try:
        found = all_tensors(path)
    except CheckpointError:
        return
    expected = safetensors.numpy.load(bytes(content))
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        value = value.astype(np.float32) if value.dtype == np.float16 else value
        np.testing.assert_array_equal(found[name], value)


def test_a_file_that_shrinks_while_it_is_read_is_refused(path):
    path.write_bytes(VALID)
    with SafetensorsFile(path) as file:
        os.truncate(path, len(VALID) - 30)
        with pytest.raises(CheckpointError, match="became shorter"):
            for name in file.entries:
                file.tensor(name)


def test_a_disk_that_gives_few_bytes_at_a_time_is_read_whole(path, monkeypatch):
    class Slow(io.FileIO):
        def readinto(self, buffer):
            return super().readinto(memoryview(buffer)[:7])

    def open_slowly(path):
        return Slow(path), os.path.getsize(path)

    monkeypatch.setattr(safetensors_file, "open_regular", open_slowly)
    path.write_bytes(VALID)
    found = all_tensors(path)
    np.testing.assert_array_equal(found["a.W"], np.arange(6).reshape(2, 3))
    np.testing.assert_array_equal(found["b"], np.ones(3))


def test_the_file_may_be_replaced_while_it_is_open(path, tmp_path):
    path.write_bytes(VALID)
    with SafetensorsFile(path) as file:
        other = tmp_path / "other"
        other.write_bytes(b"x")
        os.replace(other, path)
        np.testing.assert_array_equal(file.tensor("b"), np.ones(3))


def test_bytes_that_have_no_header_where_one_begins_are_no_safetensors_file(tmp_path: Path) -> None:
    path = tmp_path / "noise.safetensors"
    path.write_bytes(np.random.default_rng(3).bytes(4000))
    with pytest.raises(CheckpointError, match=r"noise\.safetensors: is no safetensors file, exp"):
        SafetensorsFile(path)
