"""The pairs of a file of sentences, with a report of what was left out; how it looks: `look`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from model_core.training.cleaning import CleaningReport
from model_core.training.data_formats import Row, rows_of
from model_core.training.file_look import (
    LONGEST_TEXT,
    MOST_BYTES,
    Columns,
    Look,
    Reading,
    check_choices,
    check_few,
    look,
)
from model_core.training.pair_texts import as_read
from model_core.training.text_files import (
    A_PAIR_FILE,
    DataFileError,
    Line,
    PathLike,
    lines_of,
)

__all__ = ["Look", "Reading", "TextPair", "file_name", "look", "read_as", "read_pairs"]

# A file is read as far as these go, which is said in the report.
MOST_PAIRS = 300_000
MOST_CHARACTERS = 60_000_000
PROGRESS_EVERY = 5_000


class TextPair(NamedTuple):
    """A source and its target, as text."""

    source: str
    target: str


def read_pairs(
    path: PathLike,
    reading: Reading = Reading(),  # noqa: B008 (immutable)
    report: Callable[[CleaningReport], None] = lambda report: None,
) -> tuple[list[TextPair], CleaningReport]:
    """All pairs of a file, and what became of every line.

    An encoding that is not sure has to be named in `reading`, and two columns of several. report:
    called now and then with the report so far; what it raises ends the reading
    DataFileError with one sentence where there are no pairs to be had.
    """
    return read_as(look(path, reading), reading.longest, report)


def read_as(
    looks: Look,
    longest: int = LONGEST_TEXT,
    report: Callable[[CleaningReport], None] = lambda report: None,
) -> tuple[list[TextPair], CleaningReport]:
    """As `read_pairs`, of a file that has been looked at."""
    path = looks.path
    check_choices(looks)
    source, target = looks.columns.index(looks.source), looks.columns.index(looks.target)
    columns = Columns(looks.columns, source, target)
    cleaning = CleaningReport()
    reader = _Reader(columns, longest, cleaning)
    lines = _counted(lines_of(path, looks.encoding, MOST_BYTES), cleaning)
    has_header = looks.header
    for row in rows_of(lines, looks.format, looks.separator):
        if has_header and not row.fault:
            has_header = False
            cleaning.header_lines += 1
            continue
        reader.take(row)
        if cleaning.lines % PROGRESS_EVERY == 0:
            report(cleaning)
        if len(reader.pairs) >= MOST_PAIRS:
            cleaning.stop(f"read up to line {row.number:,}, as far as {MOST_PAIRS:,} pairs go")
        elif reader.characters >= MOST_CHARACTERS:
            limit = f"{MOST_CHARACTERS:,}"
            cleaning.stop(f"read up to line {row.number:,}, as far as {limit} characters go")
        if cleaning.stopped:
            break
    if cleaning.stopped is None and looks.size > MOST_BYTES:
        limit = f"{MOST_BYTES // 2**20}"
        cleaning.stop(f"read as far as {limit} MB go, of {looks.size // 2**20:,} MB")
    foreign = [entry for entry in cleaning.left_out if entry.kind == "encoding"]
    if foreign and cleaning.lines:
        found = foreign[0]
        check_few(path, looks.encoding, found.count, cleaning.lines, found.first[0][0])
    if not reader.pairs:
        raise _nothing_left(path, cleaning)
    report(cleaning)
    return reader.pairs, cleaning


class _Reader:
    """Sorts rows into pairs and what is left out."""

    def __init__(self, columns: Columns, longest: int, cleaning: CleaningReport) -> None:
        self.pairs: list[TextPair] = []
        self.characters = 0
        self._columns, self._longest, self._cleaning = columns, longest, cleaning
        # digests instead of texts: 16 bytes a pair, however long it is
        self._pairs_seen: set[bytes] = set()
        self._sources_seen: set[bytes] = set()

    def take(self, row: Row) -> None:
        cleaning = self._cleaning
        if row.fault == "continued":
            cleaning.continued_lines += 1
            return
        if row.fault:
            cleaning.leave_out(row.fault, row.number, row.text)
            return
        texts = self._columns.texts(row)
        if texts is None:
            cleaning.leave_out("missing", row.number, row.text)
            return
        (source, target), fault = as_read(texts, self._longest)
        if fault:
            cleaning.leave_out(fault, row.number, row.text)
        elif not self._is_new(source, target):
            cleaning.leave_out("duplicate", row.number, row.text)
        else:
            cleaning.pairs += 1
            self.characters += len(source) + len(target)
            self.pairs.append(TextPair(source, target))

    def _is_new(self, source: str, target: str) -> bool:
        pair = _digest(f"{source}\0{target}")
        if pair in self._pairs_seen:
            return False
        self._pairs_seen.add(pair)
        alone = _digest(source)
        self._cleaning.several_targets += alone in self._sources_seen
        self._sources_seen.add(alone)
        return True


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8"), digest_size=16).digest()


def _counted(lines: Iterator[Line], cleaning: CleaningReport) -> Iterator[Line]:
    for line in lines:
        cleaning.lines += 1
        yield line


def _nothing_left(path: PathLike, cleaning: CleaningReport) -> DataFileError:
    told = "; ".join(str(entry) for entry in cleaning.left_out)
    if not told:
        return DataFileError(path, "has a header alone", A_PAIR_FILE)
    return DataFileError(path, f"has no usable pair: {told}", A_PAIR_FILE)


def file_name(path: PathLike) -> str:
    """The name of a file without its folder, for titles."""
    return Path(path).name
