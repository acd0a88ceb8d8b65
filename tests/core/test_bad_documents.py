"""Damaged and dishonest JSON checkpoints and archives end in one clear sentence, and soon."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

import model_core
from model_core import CheckpointError
from model_core.checkpoints.strict_json import read_file
from model_core.parameters import parameter_shapes

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "bad_documents"
GOOD = DATA / "good_json.json"

# The reference's files, each with what its message has to say.
REFERENCE = {
    "js_wrong_vocab_size.json": "vocab_size is 13 and vocab has 10 tokens",
    "js_truncated.json": "ends in the middle",
    "js_deep_nesting.json": "nests too deeply",
    "js_gbk_encoded.json": "not in UTF-8",
    "js_missing_param.json": "weights.param_5_W is missing",
    "js_wrong_shape.json": "weights.param_6_W has the shape (8, 4), expected (4, 8)",
    "js_nan.json": "weights.param_3_W holds a NaN",
    "js_heads_not_dividing.json": "d_model 4 is not a multiple of n_heads 3",
    "js_negative_size.json": "config.d_ff is -8",
    "npz_header_lies.npz": "declares 8000000000000 bytes of numbers and holds 64",
    "npz_zip_bomb.npz": "would unpack to 2147483776 bytes",
}
LOADING = {"good_json.json": [], "js_no_weights.json": ["random", "untrained"]}

# Opens each file named on the command line; prints how it ended, the seconds, and the growth of
# the process's largest size.
OPEN_ALL = """
import json, resource, sys, time
import model_core
def peak():
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
start = peak()
for name in sys.argv[1:]:
    began = time.perf_counter()
    try:
        outcome = ["loads", model_core.open_checkpoint(name).warnings]
    except model_core.CheckpointError as error:
        outcome = ["error", str(error)]
    print(json.dumps([*outcome, time.perf_counter() - began, peak() - start]), flush=True)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


def refused(path, reason):
    with pytest.raises(CheckpointError, match=reason) as caught:
        model_core.open_checkpoint(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path.name}: ") and ", expected " in sentence
    assert sentence.isprintable()


def test_every_bad_file_of_the_reference_ends_as_it_should_in_little_time_and_memory():
    names = [*REFERENCE, *LOADING]
    command = [sys.executable, "-c", OPEN_ALL, *(str(DATA / name) for name in names)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == len(names)
    for name, (outcome, words, seconds, megabytes) in zip(names, lines, strict=True):
        assert seconds < 5
        assert megabytes < 300
        if name in REFERENCE:
            assert outcome == "error"
            assert words.startswith(f"{name}: ")
            assert REFERENCE[name] in words
        else:
            assert outcome == "loads"
            assert len(words) == (1 if LOADING[name] else 0)
            assert all(word in words[0] for word in LOADING[name])


def test_a_folder_named_like_a_checkpoint_is_refused(path):
    path.mkdir()
    refused(path, "is a folder")


def test_the_command_line_gives_one_sentence_and_no_traceback():
    for name in ("js_deep_nesting.json", "npz_zip_bomb.npz"):
        command = [sys.executable, "-m", "model_core", "info", str(DATA / name)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert name in done.stderr


def content() -> dict:
    return json.loads(GOOD.read_text(encoding="utf-8"))


def changed(*places_and_value) -> dict:
    """The sound file with one value changed: the keys that lead to it, then the value."""
    *places, last, value = places_and_value
    file = content()
    where = file
    for place in places:
        where = where[place]
    if value is None and last in where:
        del where[last]
    else:
        where[last] = value
    return file


HUGE = 10**30


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ([], "holds no object"),
        ({}, 'without "config" and "vocab"'),
        ({"d_model": 512, "model_type": "marian"}, 'without "config" and "vocab"'),
        (changed("vocab", None), 'has no "vocab"'),
        (changed("config", None), 'has no "config"'),
        (changed("config", [1]), '"config" is'),
        (changed("weights", "none"), '"weights" is'),
        (changed("weights", {}), "weights.param_0_W is missing"),
        (changed("config", "d_model", None), "config.d_model is missing"),
        (changed("config", "d_model", True), "config.d_model is True"),
        (changed("config", "d_model", "4"), "config.d_model is '4'"),
        (changed("config", "d_model", 4.0), "config.d_model is 4.0"),
        (changed("config", "d_model", 0), "config.d_model is 0"),
        (changed("config", "d_model", HUGE), "d_model is 1000"),
        (changed("config", "d_ff", 2**24), "has the shape"),
        (changed("config", "n_layers", 2), r"param_14_W has the shape \(4, 4\), expected \(4, 8\)"),
        (changed("config", "n_layers", 10**9), "config.n_layers is 1000000000"),
        (changed("config", "vocab_size", 2**24), "vocab_size is 16777216 and vocab has 10"),
        (changed("vocab", "char_to_id", "a", 99), "has the id 99"),
        (changed("vocab", "char_to_id", "a", 8), "share one id"),
        (changed("vocab", "char_to_id", "a", True), "has the id True"),
        (changed("vocab", "id_to_char", "7", "z"), "id_to_char says otherwise"),
        (changed("vocab", "vocab_size", 9), "vocab.vocab_size is 9"),
        (changed("vocab", {f"t{i}": i for i in range(10)}), "its vocabulary is wrong"),
        (changed("weights", "param_2_b", "text"), "weights.param_2_b is 'text'"),
        (changed("weights", "param_2_b", [[1.0] * 4]), r"param_2_b has the shape \(1,\)"),
        (changed("weights", "param_2_b", [[1.0]] * 4), r"param_2_b holds \[1.0"),
        (changed("weights", "param_2_b", [1, 2, "3", 4]), "param_2_b holds '3'"),
        (changed("weights", "param_2_b", [1, 2, True, 4]), "param_2_b holds True"),
        (changed("weights", "param_2_b", [1, 2, [], 4]), "param_2_b holds"),
        (changed("weights", "param_2_b", [1, 2, 3, 10**400]), "beyond float64"),
        (changed("weights", "param_2_b", [1, 2, 3, 1e300]), "infinite in float32"),
        (changed("weights", "param_2_W", [[1.0] * 4] * 3 + [[1.0]]), "rows of 1 and 4"),
        (changed("weights", "param_2_W", [[1.0] * 4] * 3 + [1.0]), "param_2_W is"),
        (changed("weights", "param_2_W", []), r"has the shape \(0,\)|rows"),
        (changed("config", "dropout_rate", float("nan")), "JSON has no place for"),
        (changed("config", "dropout_rate", "a tenth"), "config.dropout_rate is 'a tenth'"),
        (changed("info", "note", [float("inf")]), "JSON has no place for"),
        (changed("info", "norm_eps", "small"), "info.norm_eps is 'small'"),
        (changed("info", "norm_eps", -1), "info.norm_eps is -1"),
        (changed("info", "activation", "swish"), "activation is 'swish'"),
        (changed("info", "activation", ["relu"]), "activation is"),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, str) else "",
)
def test_a_json_file_that_does_not_add_up_is_refused(path, file, reason):
    path.write_text(json.dumps(file), encoding="utf-8")
    tracemalloc.start()
    try:
        refused(path, reason)
        assert tracemalloc.get_traced_memory()[1] < 30e6
    finally:
        tracemalloc.stop()


def test_sizes_that_are_only_declared_are_not_made_up(path):
    for size, value in (("d_model", 2**14), ("d_ff", 2**22), ("n_layers", 256)):
        file = changed("weights", None)
        file["config"] |= {"d_model": 256, size: value}
        path.write_text(json.dumps(file), encoding="utf-8")
        refused(path, "parameters and holds none of them")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"config": {}, "config": {}}', '"config" occurs twice'),
        ('{"vocab": {"a": 1, "\\u0061": 1}}', '"a" occurs twice'),
        ('{"vocab": {}, "config": 1e999}', '"config" is inf'),
        ('{"config": ' + "9" * 5000 + "}", "cannot be read"),
        ('{"vocab": {"\\ud800": 1}}', "half a surrogate"),
        ('{"config": {},}', "cannot be read"),
        ('{"config": {}} more', "cannot be read"),
        ("{" * 100_000, "nests too deeply|ends in the middle|cannot be read"),
        ('{"a":' * 100_000, "nests too deeply"),
        ("[" + "[]," * 15_000_000 + "[]]", "MB of memory to read"),
    ],
    ids=lambda value: value[:20],
)
def test_text_that_is_not_plain_json_is_refused(path, text, reason):
    path.write_text(text, encoding="utf-8")
    refused(path, reason)


def test_a_file_beyond_the_largest_size_is_not_even_read(path):
    with path.open("wb") as stream:
        stream.write(b"{" + b" " * 1000)
        stream.truncate(2**40)
    refused(path, "has 1099511627776 bytes")
    with pytest.raises(CheckpointError, match="at most 10"):
        read_file(GOOD, "the file", 10)


# Archives.


def archive(*members, compression=zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, data in members:
            file.writestr(name, data)
    return buffer.getvalue()


def npy(array) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def npy_with(header: str, data: bytes = b"", version: bytes = b"\1\0") -> bytes:
    size = len(header).to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + version + size + header.encode() + data


def sound_header(**changes) -> str:
    return repr({"descr": "<f8", "fortran_order": False, "shape": (2,)} | changes)


SOUND = npy(np.ones((2, 2)))


def lying_about_its_size() -> bytes:
    """A member whose directory entry declares fewer bytes than it unpacks to."""
    data = archive(("X.npy", npy(np.zeros(100_000))), compression=zipfile.ZIP_DEFLATED)
    true = len(npy(np.zeros(100_000))).to_bytes(4, "little")
    return data.replace(true, len(SOUND).to_bytes(4, "little"))


def encrypted() -> bytes:
    data = bytearray(archive(("X.npy", SOUND)))
    data[data.index(b"PK\1\2") + 8] |= 1
    data[6] |= 1
    return bytes(data)


def with_a_wrong_checksum() -> bytes:
    data = bytearray(archive(("X.npy", SOUND)))
    data[data.index(b"NUMPY") + 130] ^= 1
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (archive(("X.npy", npy(np.array([1, "a", None], dtype=object)))), "Python objects"),
        (archive(("X.npy", npy(np.array([(1, 2.0)], "i4,f8")))), "table of records"),
        (archive(("X.npy", npy(np.array(["2020-01-01"], "M8[D]")))), 'the type "<M8'),
        (archive(("X.npy", npy(np.array([b"a"])))), 'the type "\\|S1"'),
        (archive(("X.npy", b"text")), "no NumPy array"),
        (archive(("X.npy", b"")), "no NumPy array"),
        (archive(("X.npy", SOUND[:-1])), "declares 32 bytes of numbers and holds 31"),
        (archive(("X.npy", SOUND + b"x")), "declares 32 bytes of numbers and holds 33"),
        (archive(("X.npy", SOUND), ("X/../../evil.txt", b"x")), "evil.txt"),
        (archive(("X.npy", SOUND), ("W.npy" * 30, b"x")), "holds the file"),
        (archive(("X.npy", SOUND), compression=zipfile.ZIP_LZMA), "compressed by method 14"),
        (archive(("X.npy", npy_with(sound_header(shape=(-1,)), bytes(16)))), "the shape"),
        (archive(("X.npy", npy_with(sound_header(shape=(True,)), bytes(8)))), "the shape"),
        (archive(("X.npy", npy_with(sound_header(shape=(1,) * 9), bytes(8)))), "the shape"),
        (archive(("X.npy", npy_with(sound_header(shape=(2**40, 2**40))))), "far too many"),
        (archive(("X.npy", npy_with(sound_header(shape=(0, 2**40))))), "the shape"),
        (archive(("X.npy", npy_with(sound_header(descr="<f8,<f8"), bytes(32)))), "the type"),
        (archive(("X.npy", npy_with(sound_header(descr="rubbish")))), "the type"),
        (archive(("X.npy", npy_with(sound_header(fortran_order=1), bytes(16)))), "the shape"),
        (archive(("X.npy", npy_with("(" * 4000))), "no readable header"),
        (archive(("X.npy", npy_with("__import__('os')"))), "no readable header"),
        (archive(("X.npy", npy_with("{}"))), "no readable header"),
        (archive(("X.npy", npy_with(" " * 5000))), "a header of 5000 bytes"),
        (archive(("X.npy", npy_with("x" * 9, version=b"\2\0")[:12])), "no readable header"),
        (archive(*((f"a{i}.npy", b"") for i in range(1001))), "too many arrays"),
        (archive(("X.npy", npy(np.ones(2**22 + 1)))), "would unpack|bytes, expected at most"),
        (archive(("X.npy", npy(np.ones(2**23, np.int8)))), "33554432 bytes in all"),
        (archive(("X.npy", SOUND))[:-30], "damaged"),
        (archive(("X.npy", SOUND))[:60], "damaged"),
        (lying_about_its_size(), "damaged|holds|unpacks"),
        (encrypted(), "encrypted"),
        (with_a_wrong_checksum(), "damaged"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_an_archive_that_is_not_plain_arrays_is_refused(tmp_path, data, reason):
    path = tmp_path / "own.npz"
    path.write_bytes(data)
    tracemalloc.start()
    try:
        refused(path, reason)
        assert tracemalloc.get_traced_memory()[1] < 200e6
    finally:
        tracemalloc.stop()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_array_that_occurs_twice_is_refused(tmp_path):
    path = tmp_path / "own.npz"
    path.write_bytes(archive(("X.npy", SOUND), ("X.npy", SOUND)))
    refused(path, '"X.npy" twice')


# Damage at random.


def mutated(data: bytes, generator: random.Random, alphabet: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(generator.choice([1, 1, 2, 5])):
        start = generator.randrange(max(len(changed), 1))
        match generator.randrange(5):
            case 0:
                changed[start : start + 1] = bytes([generator.randrange(256)])
            case 1:
                changed[start : start + 1] = bytes([generator.choice(alphabet)])
            case 2:
                del changed[start:]
            case 3:
                del changed[start : start + generator.randrange(1, 9)]
            case 4:
                changed[start:start] = changed[start : start + generator.randrange(1, 40)]
    return bytes(changed)


@pytest.mark.parametrize(
    ("name", "alphabet"),
    [
        ("bad_documents/good_json.json", b'0123456789-{}[]",:e.\\n'),
        ("worked/self_attention.npz", b"PK\1\2\3\4()0123456789<f8OU"),
    ],
    ids=["json", "npz"],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
def test_damaged_files_load_as_a_sound_model_or_raise_one_error(tmp_path, name, alphabet):
    data = (DATA.parent / name).read_bytes()
    path = tmp_path / Path(name).name
    generator = random.Random(5)
    outcomes = {"loaded": 0, "refused": 0}
    for _ in range(500):
        path.write_bytes(mutated(data, generator, alphabet))
        try:
            model = model_core.open_checkpoint(path)
        except CheckpointError as error:
            outcomes["refused"] += 1
            assert str(error).startswith(f"{path.name}: ")
            assert str(error).isprintable()
            continue
        outcomes["loaded"] += 1
        shapes = {key: value.shape for key, value in model.parameters.items()}
        assert shapes == parameter_shapes(model.config)
        assert all(np.isfinite(value).all() for value in model.parameters.values())
        assert all(sentence.isprintable() for sentence in model.warnings)
    assert outcomes["loaded"] > 10
    assert outcomes["refused"] > 100
