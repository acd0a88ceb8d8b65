"""Text out of a file that a stranger wrote: its encoding found or asked for, line after line."""

from __future__ import annotations

import codecs
import io
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from model_core.checkpoints.errors import CheckpointError
from model_core.checkpoints.sniffing import HEAD_LENGTH, looks_like

PathLike = str | os.PathLike[str]

CHUNK_BYTES = 1 << 16
# So much is looked at to find an encoding, from where the first letter beyond ASCII stands.
SAMPLE_BYTES = 1 << 20
# Of a text's lines this share may be in another encoding, or one line: they are left out.
FEW = 0.05
# Of a text's bytes this share may be signs that no text has.
FEW_CONTROLS = 0.02
# A letter beyond ASCII is searched for so far.
SEARCHED_BYTES = 64 * 2**20
# Of the bytes of text in UTF-16 at least this share is zero: line breaks, tabs, digits, letters.
LEAST_ZEROS = 0.02
# A longer line is no pair of sentences; what is kept of one stays below this.
LONGEST_LINE = 100_000
# Of a longer one so many characters are kept, to be shown.
BEGINNING = 200
A_PAIR_FILE = "a text file with a pair of sentences in each line"
# What bytes outside an encoding are read as, so that the lines they are in can be told.
BROKEN = re.compile("[\ud800-\udfff]")
CONTROLS = bytes(c for c in range(32) if c not in b"\t\n\v\f\r\x1a\x1b")
# Codecs of Python that are no encodings of text files.
NO_ENCODINGS = ("unicode-escape", "raw-unicode-escape", "idna", "punycode", "undefined", "utf-7")
# What opens a file of another kind. "text", "json" and "xml" are text, and what else is not here.
TEXT_KINDS = ("text", "json", "utf-16", "xml", "unknown")


class DataFileError(CheckpointError):
    """A file of sentence pairs that cannot be read: which one, what was found, what expected."""


class UndecidedError(DataFileError):
    """A file that can be read in several ways; options: of the command line, to choose one."""

    options = ""


def undecided(path: PathLike, found: str, expected: str, options: str) -> UndecidedError:
    """The error with its options, which are no part of its sentence."""
    error = UndecidedError(path, found, expected)
    error.options = options
    return error


@dataclass(frozen=True)
class FoundEncoding:
    """The encoding of a file; where it is not sure, `others` may be meant as well.

    name: as Python and `Reading` know it
    """

    name: str
    is_sure: bool
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """A line of a file: its number from 1, and its text, None where it is too long to be read.

    fault: why it gives no pair: "too_long", "encoding" or ""
    beginning: of one that is too long, to be shown
    """

    number: int
    text: str | None
    fault: str = ""
    beginning: str = ""

    @property
    def shown(self) -> str:
        """What of it can be shown."""
        return self.beginning if self.text is None else self.text


def open_text(path: PathLike) -> tuple[BinaryIO, int]:
    """The file and its size; DataFileError if it is no readable, regular, filled file."""
    try:
        # asked before opening, because opening a named pipe waits for a writer
        _check_mode(path, os.stat(path).st_mode)
        stream = open(path, "rb")
        size = os.fstat(stream.fileno()).st_size
    except FileNotFoundError:
        raise DataFileError(path, "there is no such file", A_PAIR_FILE) from None
    except OSError as error:
        found = f"cannot be opened ({error.strerror or error})"
        raise DataFileError(path, found, "a file that can be read") from error
    if not size:
        stream.close()
        raise DataFileError(path, "is empty", A_PAIR_FILE)
    return stream, size


def _check_mode(path: PathLike, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise DataFileError(path, "is a folder", A_PAIR_FILE)
    if not stat.S_ISREG(mode):
        raise DataFileError(path, "is a device or a pipe", A_PAIR_FILE)


def find_encoding(path: PathLike) -> FoundEncoding:
    """The encoding that the file's bytes speak for, and whether others would do as well.

    DataFileError where they are no text, or text in several encodings.
    """
    stream, size = open_text(path)
    with stream:
        head = stream.read(SAMPLE_BYTES)
        if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
            raise DataFileError(path, "is text in UTF-32", "UTF-8, UTF-16 or GB18030")
        marks = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        if head in marks:
            raise DataFileError(path, "is empty", A_PAIR_FILE)
        if head.startswith(codecs.BOM_UTF8):
            return FoundEncoding("utf-8-sig", True)
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return FoundEncoding("utf-16", True)
        looks = looks_like(head[:HEAD_LENGTH], size)
        if looks.kind not in TEXT_KINDS:
            raise DataFileError(path, looks.words, A_PAIR_FILE)
        if b"\0" in head:
            return _wide(path, head)
        if len(head) - len(head.translate(None, CONTROLS)) > FEW_CONTROLS * len(head):
            place = next(place for place, byte in enumerate(head) if byte in CONTROLS)
            raise _binary(path, head.count(b"\n", 0, place) + 1, head[place])
        # ASCII says nothing: look from the first letter that is none
        while head and head.isascii() and stream.tell() < SEARCHED_BYTES:
            head = stream.read(SAMPLE_BYTES)
        start = next((i for i, byte in enumerate(head) if byte >= 0x80), None)
        if start is None:
            return FoundEncoding("utf-8", True)
        line = head.rfind(b"\n", 0, start) + 1
        sample = head[line:] + stream.read(SAMPLE_BYTES)
    return _eight_bit(path, sample)


def _wide(path: PathLike, head: bytes) -> FoundEncoding:
    """UTF-16 without a mark has its zeros on one side; anything else with zeros is binary."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    name = "utf-16-le" if odd > even else "utf-16-be"
    few, many = sorted((even, odd))
    text = _decoded(head, name)
    if few * 10 > many or many < LEAST_ZEROS * len(head) or text is None or "\0" in text:
        raise _binary(path, head.count(b"\n", 0, head.index(0)) + 1, 0)
    return FoundEncoding(name, False)


def _binary(path: PathLike, line: int, byte: int) -> DataFileError:
    return DataFileError(
        path, f"is a binary file (line {line} has the byte 0x{byte:02x})", A_PAIR_FILE
    )


def _eight_bit(path: PathLike, sample: bytes) -> FoundEncoding:
    if _decoded(sample, "utf-8") is not None:
        return FoundEncoding("utf-8", True)
    # the last line may end inside a letter
    lines = [line for line in sample.split(b"\n")[:-1] if not line.isascii()]
    in_utf8 = sum(_decoded(line, "utf-8", whole=True) is not None for line in lines)
    if in_utf8 and in_utf8 < len(lines):
        others = len(lines) - in_utf8
        if others == 1 or others <= FEW * len(lines):
            return FoundEncoding("utf-8", True)
        # lines of two letters may be UTF-8 by chance, a tenth of all is none
        if in_utf8 * 10 >= len(lines):
            raise DataFileError(
                path,
                f"has {in_utf8} lines in UTF-8 and {len(lines) - in_utf8} in another encoding",
                "one encoding throughout",
            )
    if _decoded(sample, "gb18030") is not None:
        return FoundEncoding("gb18030", False, ("big5", "cp1252"))
    if _decoded(sample, "big5") is not None:
        return FoundEncoding("big5", False, ("cp1252",))
    return FoundEncoding("cp1252", False)


def _decoded(data: bytes, encoding: str, whole: bool = False) -> str | None:
    """The text, but for a letter cut at the end; None where it is not in this encoding."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(data, final=whole)
    except UnicodeDecodeError:
        return None


def lines_of(path: PathLike, encoding: str, most_bytes: int) -> Iterator[Line]:
    """The lines of a file as far as so many bytes go, in memory for a chunk and a line.

    A line that is not in this encoding has a fault, where its end can be found all the same;
    DataFileError where it cannot, or the bytes are no text.
    """
    stream, size = open_text(path)
    with stream:
        # in UTF-16 a byte too few shifts all that follows
        errors = "strict" if encoding.startswith(("utf-16", "utf-32")) else "surrogateescape"
        decoder = codecs.getincrementaldecoder(encoding)(errors)
        # \r\n and a lone \r end a line too
        newlines = io.IncrementalNewlineDecoder(decoder, translate=True)
        number, rest, dropped, read = 1, "", "", 0
        while True:
            try:
                chunk = stream.read(min(CHUNK_BYTES, most_bytes - read))
            except OSError as error:
                found = f"cannot be read ({error.strerror or error})"
                raise DataFileError(path, found, "a file that can be read") from error
            read += len(chunk)
            try:
                text = newlines.decode(chunk, final=not chunk and read >= size)
            except UnicodeDecodeError as error:
                raise _not_in(path, encoding, number, error) from None
            except UnicodeError:
                raise DataFileError(
                    path,
                    f"does not start with the mark of {shown_encoding(encoding)}",
                    "its byte order to be chosen",
                ) from None
            if "\0" in text:
                raise _binary(path, number + text.count("\n", 0, text.index("\0")), 0)
            pieces = text.split("\n")
            for piece in pieces[:-1]:
                yield _line(number, rest + piece, dropped)
                number, rest, dropped = number + 1, "", ""
            rest = "" if dropped else rest + pieces[-1]
            if len(rest) > LONGEST_LINE:
                rest, dropped = "", rest[:BEGINNING]
            if not chunk:
                break
        # where reading stopped at the limit the line is cut, and no line
        if (rest or dropped) and read >= size:
            yield _line(number, rest, dropped)


def _line(number: int, text: str, dropped: str) -> Line:
    """dropped: the beginning of one that was too long to be kept, "" of any other"""
    if dropped or len(text) > LONGEST_LINE:
        return Line(number, None, "too_long", dropped or text[:BEGINNING])
    if not text.isascii() and BROKEN.search(text):
        return Line(number, BROKEN.sub("\ufffd", text), "encoding")
    return Line(number, text)


def _not_in(path: PathLike, encoding: str, number: int, error: UnicodeDecodeError) -> DataFileError:
    before = error.object[: error.start].count(b"\n")
    byte = error.object[error.start]
    return DataFileError(
        path,
        f"line {number + before} is not in {shown_encoding(encoding)} (byte 0x{byte:02x})",
        "one encoding throughout",
    )


def named_encoding(path: PathLike, name: str) -> str:
    """An encoding that somebody typed, as it is known; DataFileError if there is none such."""
    try:
        known = codecs.lookup(name)
        "".encode(name)
    except (LookupError, UnicodeError, ValueError):
        known = None
    if known is None or known.name.replace("_", "-") in NO_ENCODINGS:
        found = f"there is no encoding {name!r} for text files"
        raise DataFileError(path, found, "one such as UTF-8 or GB18030")
    return known.name


def shown_encoding(name: str) -> str:
    """An encoding as people write it."""
    names = {"utf-8-sig": "UTF-8", "utf-8": "UTF-8", "cp1252": "Windows-1252", "big5": "Big5"}
    return names.get(name, name.upper())
