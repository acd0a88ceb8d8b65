"""Files of sentence pairs: how one looks, and its pairs with a report of what was left out.

TSV, CSV with named columns, JSON lines, or lines with a separator; see `look` and `read_pairs`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from model_core.training.cleaning import CleaningReport
from model_core.training.data_formats import (
    FORMATS,
    Format,
    Row,
    guess_columns,
    guess_format,
    is_header,
    rows_of,
)
from model_core.training.text_files import (
    A_PAIR_FILE,
    DataFileError,
    FoundEncoding,
    Line,
    PathLike,
    find_encoding,
    lines_of,
    open_text,
    shown_encoding,
)

# A file is read as far as these go, which is said in the report.
MOST_BYTES = 128 * 2**20
MOST_PAIRS = 300_000
MOST_CHARACTERS = 60_000_000
# A longer sentence is no lesson for a model of this size.
LONGEST_TEXT = 1_000
LINES_LOOKED_AT = 200
ROWS_SHOWN = 5
PROGRESS_EVERY = 5_000


class TextPair(NamedTuple):
    """A source and its target, as text."""

    source: str
    target: str


class Reading(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a file is to be read; what is None is found out, "" for a column too.

    source, target: names of columns, or their numbers from 1; swap: the other way round
    """

    format: Format | None = None
    separator: str | None = None
    encoding: str | None = None
    header: bool | None = None
    source: str = ""
    target: str = ""
    longest: int = LONGEST_TEXT


class Look(msgspec.Struct, frozen=True):
    """What a file looks like, for a person to agree to or change.

    columns: names, or "1", "2", … where there are none; source and target are two of them
    rows: the first few, as (source, target); sure: whether the names of the columns say so
    """

    path: str
    size: int
    encoding: str
    encoding_is_sure: bool
    other_encodings: tuple[str, ...]
    format: Literal["tsv", "csv", "jsonl", "lines"]
    separator: str
    header: bool
    columns: tuple[str, ...]
    source: str
    target: str
    columns_are_sure: bool
    rows: tuple[tuple[str, str], ...]

    @property
    def reading(self) -> Reading:
        """The options under which the file is read as it looks."""
        return Reading(
            format=self.format,
            separator=self.separator,
            encoding=self.encoding,
            header=self.header,
            source=self.source,
            target=self.target,
        )


class Columns(NamedTuple):
    """Which cells of a row are source and target; names count where the cells have them."""

    names: tuple[str, ...]
    source: int
    target: int

    def texts(self, row: Row) -> tuple[str, str] | None:
        """Both texts, None where the row does not have them."""
        if row.named is not None:
            source, target = self.names[self.source], self.names[self.target]
            if source not in row.named or target not in row.named:
                return None
            return row.named[source], row.named[target]
        if max(self.source, self.target) >= len(row.cells):
            return None
        return row.cells[self.source], row.cells[self.target]


def look(path: PathLike, reading: Reading = Reading()) -> Look:  # noqa: B008 (immutable)
    """How the file would be read; what `reading` says is taken, the rest found out.

    DataFileError with one sentence where it cannot be.
    """
    encoding = _encoding(path, reading)
    lines = list(islice(lines_of(path, encoding.name, MOST_BYTES), LINES_LOOKED_AT))
    format, separator = _format(path, reading, lines)
    rows = [row for row in rows_of(lines, format, separator) if not row.fault]
    if not rows:
        raise _without_pairs(path, lines)
    header = reading.header
    if header is None:
        header = format in ("tsv", "csv") and is_header(rows[0].cells)
    columns, sure = _columns(path, reading, rows, header)
    texts = [columns.texts(row) for row in rows[int(header and format != "jsonl") :]]
    stream, size = open_text(path)
    stream.close()
    return Look(
        path=str(path),
        size=size,
        encoding=encoding.name,
        encoding_is_sure=encoding.is_sure,
        other_encodings=encoding.others,
        format=format,
        separator=separator,
        header=header,
        columns=columns.names,
        source=columns.names[columns.source],
        target=columns.names[columns.target],
        columns_are_sure=sure,
        rows=tuple([pair for pair in texts if pair is not None][:ROWS_SHOWN]),
    )


def read_pairs(
    path: PathLike,
    reading: Reading = Reading(),  # noqa: B008 (immutable)
    report: Callable[[CleaningReport], None] = lambda report: None,
) -> tuple[list[TextPair], CleaningReport]:
    """All pairs of a file, and what became of every line.

    An encoding that is not sure has to be named in `reading`. report: called now and then with
    the report so far; what it raises ends the reading
    DataFileError with one sentence where there are no pairs to be had.
    """
    looks = look(path, reading)
    if not looks.encoding_is_sure:
        meant = ", ".join(shown_encoding(name) for name in looks.other_encodings)
        first = shown_encoding(looks.encoding)
        raise DataFileError(
            path,
            f"is perhaps in {first}, perhaps in {meant}" if meant else f"is perhaps in {first}",
            "its encoding to be chosen",
        )
    source, target = looks.columns.index(looks.source), looks.columns.index(looks.target)
    columns = Columns(looks.columns, source, target)
    cleaning = CleaningReport()
    reader = _Reader(columns, reading.longest, cleaning)
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
        # a line break inside a cell is a space; runs of spaces stay as they are
        source, target = (" ".join(text.strip().splitlines()) for text in texts)
        if not source or not target:
            cleaning.leave_out("empty", row.number, row.text)
        elif max(len(source), len(target)) > self._longest:
            cleaning.leave_out("too_long", row.number, row.text)
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
    # JSON may bring half a surrogate pair, which UTF-8 has no bytes for
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _counted(lines: Iterator[Line], cleaning: CleaningReport) -> Iterator[Line]:
    for line in lines:
        cleaning.lines += 1
        yield line


def _encoding(path: PathLike, reading: Reading) -> FoundEncoding:
    if reading.encoding is None:
        return find_encoding(path)
    try:
        "".encode(reading.encoding)
    except (LookupError, UnicodeError):
        raise DataFileError(
            path, f"there is no encoding {reading.encoding!r}", "one such as UTF-8 or GB18030"
        ) from None
    return FoundEncoding(reading.encoding, True)


def _format(path: PathLike, reading: Reading, lines: list[Line]) -> tuple[Format, str]:
    if reading.format is not None and reading.format not in FORMATS:
        raise ValueError(f"format is {reading.format!r}, expected one of {', '.join(FORMATS)}")
    if reading.format in ("tsv", "jsonl"):
        return reading.format, "\t" if reading.format == "tsv" else ""
    if reading.separator is not None and not reading.separator:
        raise ValueError("the separator is empty, expected what stands between the two sentences")
    if reading.format == "csv":
        return "csv", (reading.separator or ",")[:1]
    if reading.separator:
        return "lines", reading.separator
    guessed = guess_format([line.text for line in lines if line.text is not None])
    if guessed is None:
        raise _without_pairs(path, lines)
    return guessed


def _columns(
    path: PathLike, reading: Reading, rows: list[Row], header: bool
) -> tuple[Columns, bool]:
    if any(row.named is not None for row in rows):
        names = tuple(dict.fromkeys(name for row in rows for name in row.named or ()))
    elif header:
        names = tuple(cell.strip() or str(i + 1) for i, cell in enumerate(rows[0].cells))
    else:
        names = tuple(str(i + 1) for i in range(max(len(row.cells) for row in rows)))
    if len(names) < 2:
        raise DataFileError(path, "has one column", A_PAIR_FILE)
    source, target, sure = guess_columns(names)
    if reading.source:
        source = _place(path, reading.source, names)
        target = target if target != source else int(source == 0)
    if reading.target:
        target = _place(path, reading.target, names)
        source = source if reading.source or source != target else int(target == 0)
    if source == target:
        raise DataFileError(path, "one column is source and target at once", "two columns")
    chosen = bool(reading.source and reading.target)
    return Columns(names, source, target), sure or chosen


def _place(path: PathLike, name: str, names: tuple[str, ...]) -> int:
    if name in names:
        return names.index(name)
    if name.isdecimal() and 1 <= int(name) <= len(names):
        return int(name) - 1
    raise DataFileError(path, f"has no column {name!r}", f"one of {', '.join(names)}")


def _without_pairs(path: PathLike, lines: list[Line]) -> DataFileError:
    long = next((line.number for line in lines if line.text is None), None)
    filled = [line for line in lines if line.text is not None and line.text.strip()]
    if long is not None and not filled:
        return DataFileError(path, f"line {long} has far too many characters", A_PAIR_FILE)
    if not filled:
        return DataFileError(path, "has blank lines only", A_PAIR_FILE)
    return DataFileError(path, "has one column", A_PAIR_FILE)


def _nothing_left(path: PathLike, cleaning: CleaningReport) -> DataFileError:
    most = max(cleaning.left_out, key=lambda entry: entry.count, default=None)
    if most is None:
        return DataFileError(path, "has a header alone", A_PAIR_FILE)
    return DataFileError(path, f"has no usable pair: {most}", A_PAIR_FILE)


def file_name(path: PathLike) -> str:
    """The name of a file without its folder, for titles."""
    return Path(path).name
