"""Files that are no checkpoint are named for what they are, by their content."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import pickle
import sqlite3
import struct
import tarfile
import zipfile

import numpy as np
import pytest

from model_core.checkpoints import CheckpointError, native, open_file, sniff
from model_core.checkpoints.sniffing import HEAD_LENGTH
from tests.core.tiny_checkpoint import CONFIG, save_tiny


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.fixture
def saved(path):
    return save_tiny(path)


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
    ("json", '{"vocab": {"你好": 1}}'.encode("gbk"), "not in UTF-8"),
    ("utf-16", '{"vocab": {}}'.encode("utf-16"), "UTF-16"),
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
    assert "Glassformer" in caught.value.expected or "UTF-8" in caught.value.expected


@pytest.mark.parametrize("length", [640, 896, 1152, 1408])
def test_a_header_whose_length_reads_like_a_pickle_is_a_header(saved, length):
    content = saved.read_bytes()
    shorter = struct.unpack("<Q", content[:8])[0]
    padded = content[8 : 8 + shorter].ljust(length + 65536)
    saved.write_bytes(struct.pack("<Q", len(padded)) + padded + content[8 + shorter :])
    assert saved.read_bytes().startswith((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"))
    assert sniff(saved).kind == "safetensors"
    assert open_file(saved).config == CONFIG


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
