"""Opening a file that a stranger wrote, and what its first bytes look like."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO, NamedTuple

from model_core.checkpoints.errors import CheckpointError

HEAD_LENGTH = 512
A_FILE = "a checkpoint file"
LFS_POINTER = b"version https://git-lfs"


class Looks(NamedTuple):
    """What a file looks like: a kind to choose a reader by, and words for people."""

    kind: str
    words: str


# (first bytes, kind, words): formats that people may take for a checkpoint, or pick by mistake.
SIGNATURES: tuple[tuple[bytes, str, str], ...] = (
    (
        LFS_POINTER,
        "git-lfs",
        "is a Git LFS pointer, which means that the weights themselves were not downloaded",
    ),
    (b"\x93NUMPY", "npy", "looks like a NumPy array (.npy)"),
    (b"PK\x05\x06", "zip", "looks like an empty zip archive"),
    (b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46", "pytorch-legacy", "looks like an old PyTorch checkpoint"),
    (b"\x80\x02", "pickle", "looks like a Python pickle"),
    (b"\x80\x03", "pickle", "looks like a Python pickle"),
    (b"\x80\x04", "pickle", "looks like a Python pickle"),
    (b"\x80\x05", "pickle", "looks like a Python pickle"),
    (b"\x01\x00\x00\x00\x00\x00\x00\x00", "marian", "looks like a Marian or Bergamot model (.bin)"),
    (b"GGUF", "gguf", "looks like a GGUF model"),
    (b"\x89HDF\r\n\x1a\n", "hdf5", "looks like an HDF5 file (.h5)"),
    (b"\x89PNG\r\n\x1a\n", "png", "looks like a PNG picture"),
    (b"\xff\xd8\xff", "jpeg", "looks like a JPEG picture"),
    (b"GIF8", "gif", "looks like a GIF picture"),
    (b"%PDF-", "pdf", "looks like a PDF document"),
    (b"\x1f\x8b", "gzip", "looks like a gzip archive"),
    (b"BZh", "bzip2", "looks like a bzip2 archive"),
    (b"\xfd7zXZ\x00", "xz", "looks like an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "7z", "looks like a 7z archive"),
    (b"Rar!\x1a\x07", "rar", "looks like a rar archive"),
    (b"SQLite format 3\x00", "sqlite", "looks like an SQLite database"),
    (b"\x7fELF", "program", "looks like a program"),
    (b"MZ", "program", "looks like a program"),
    (b"\xff\xfe", "utf-16", "is text in UTF-16 (and not in UTF-8)"),
    (b"\xfe\xff", "utf-16", "is text in UTF-16 (and not in UTF-8)"),
)


def open_regular(path: str | os.PathLike[str], expected: str | None = None) -> tuple[BinaryIO, int]:
    """The file, unbuffered, and its size; CheckpointError if it is not a readable regular file."""
    expected = A_FILE if expected is None else expected
    try:
        # Asked before opening, because opening a named pipe waits for a writer.
        _check_mode(path, os.stat(path).st_mode, expected)
        stream = open(path, "rb", buffering=0)
        try:
            status = os.fstat(stream.fileno())
            _check_mode(path, status.st_mode, expected)
        except BaseException:
            stream.close()
            raise
    except FileNotFoundError:
        raise CheckpointError(path, "there is no such file", expected) from None
    except OSError as error:
        found = f"cannot be opened ({error.strerror or error})"
        raise CheckpointError(path, found, "a file that can be read") from error
    except CheckpointError:
        raise
    except ValueError as error:  # a NUL in the path
        raise CheckpointError(path, f"is no file name ({error})", expected) from error
    return stream, status.st_size


def look(path: str | os.PathLike[str]) -> Looks:
    """What the file looks like, by its content and never by its ending."""
    stream, size = open_regular(path)
    with stream:
        try:
            return looks_like(stream.read(HEAD_LENGTH), size)
        except OSError as error:
            found = f"cannot be read ({error.strerror or error})"
            raise CheckpointError(path, found, "a file that can be read") from error


def looks_like(head: bytes, size: int) -> Looks:
    """What a file of `size` bytes that starts with `head` looks like."""
    if not size:
        return Looks("empty", "is empty")
    if head.startswith(b"PK\x03\x04"):
        return _zip(head)
    # Eight bytes of header length, then the header: a JSON object. A length with its highest
    # byte set is beyond any disk; text has all of them set.
    is_safetensors = head[8:9] == b"{" and head[7] == 0
    for start, kind, words in SIGNATURES:
        # A short signature may as well be the length of a header (640 bytes look like a pickle)
        # or text ("MZ is a name").
        if head.startswith(start) and (len(start) > 3 or not (is_safetensors or _is_text(head))):
            return Looks(kind, words)
    if head[257:262] == b"ustar":
        return Looks("tar", "looks like a tar archive")
    if is_safetensors:
        return Looks("safetensors", "looks like a safetensors file")
    if head.startswith(b"\n") and b"<unk>" in head:
        return Looks("sentencepiece", "looks like a SentencePiece tokenizer")
    if _is_text(head):
        return _text(head)
    if _is_json_in_another_encoding(head):
        return Looks("json", "looks like a JSON file")
    return Looks("unknown", "looks like nothing that this program knows")


def _check_mode(path: str | os.PathLike[str], mode: int, expected: str) -> None:
    if stat.S_ISDIR(mode):
        raise CheckpointError(path, "is a folder", expected)
    if not stat.S_ISREG(mode):
        raise CheckpointError(path, "is a device or a pipe", expected)


def _zip(head: bytes) -> Looks:
    name = head[30 : 30 + int.from_bytes(head[26:28], "little")]
    if name.endswith(b".npy"):
        return Looks("npz", "looks like a NumPy archive (.npz)")
    if Path(name.decode("latin-1")).name in ("data.pkl", "version", ".format_version", "byteorder"):
        return Looks("pytorch", "looks like a PyTorch checkpoint")
    return Looks("zip", "looks like a zip archive")


def _is_text(head: bytes) -> bool:
    try:
        # The head may end inside a character.
        text = head.decode("utf-8") if len(head) < HEAD_LENGTH else _whole_letters(head)
    except UnicodeDecodeError:
        return False
    return all(
        letter.isprintable() or letter in "\t\n\r\f\ufeff" or letter.isspace() for letter in text
    )


def _whole_letters(head: bytes) -> str:
    for cut in range(3):
        try:
            return head[: len(head) - cut].decode("utf-8")
        except UnicodeDecodeError:
            continue
    return head[:-3].decode("utf-8")


def _is_json_in_another_encoding(head: bytes) -> bool:
    start = head.lstrip(b" \t\r\n")
    plain = bytes(range(32, 127)) + b"\t\n\r"
    return start.startswith((b"{", b"[")) and all(byte >= 0x80 or byte in plain for byte in head)


def _text(head: bytes) -> Looks:
    start = head.decode("utf-8", "ignore").lstrip("\ufeff \t\r\n\f").lower()
    if start.startswith(("{", "[")):
        return Looks("json", "looks like a JSON file")
    if start.startswith(("<!doctype html", "<html")):
        return Looks("html", "is a web page, perhaps saved in place of the file it links to")
    if start.startswith("<"):
        return Looks("xml", "looks like an XML file")
    return Looks("text", "looks like a text file")
