"""How a file of sentence pairs looks: its encoding, format, header and columns, found or chosen."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from model_core.training.data_formats import (
    FORMATS,
    Format,
    Row,
    guess_columns,
    guess_format,
    is_header,
    is_running,
    is_unlike,
    meant_separator,
    names_columns,
    rows_of,
    usual_width,
)
from model_core.training.pair_texts import as_read
from model_core.training.text_files import (
    A_PAIR_FILE,
    FEW,
    SEARCHED_BYTES,
    DataFileError,
    FoundEncoding,
    Line,
    PathLike,
    find_encoding,
    lines_of,
    named_encoding,
    open_text,
    shown_encoding,
    undecided,
)

# A file is read as far as these go, which is said in the report.
MOST_BYTES = 128 * 2**20
# A longer sentence is no lesson for a model of this size.
LONGEST_TEXT = 1_000
LINES_LOOKED_AT = 200
ROWS_SHOWN = 5
COLUMNS_SHOWN = 8
LONGEST_SHOWN = 30


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

    @property
    def names(self) -> list[str]:
        """The columns that are chosen by name and not by number."""
        return [name for name in (self.source, self.target) if name and not name.isdecimal()]


class Look(msgspec.Struct, frozen=True):
    """What a file looks like, for a person to agree to or change.

    columns: names, or "1", "2", … where there are none; source and target are two of them
    rows: the first few, (source, target) as they will be read; those with letters beyond ASCII are
    in front where the bytes leave the encoding open; sure: whether the file or the reading says so;
    a header that is not sure is a line that is unlike those after it
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
    header_is_sure: bool = True
    # cells of most rows: more than two leave open which are meant
    width: int = 2

    @property
    def is_open(self) -> bool:
        """Whether somebody has to say which columns are meant."""
        return self.width > 2 and not self.columns_are_sure

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


TwoTexts = tuple[str, str]


class Columns(NamedTuple):
    """Which cells of a row are source and target; names count where the cells have them."""

    names: tuple[str, ...]
    source: int
    target: int

    def texts(self, row: Row) -> TwoTexts | None:
        """Both texts, None where the row does not have them."""
        if row.named is not None:
            source, target = self.names[self.source], self.names[self.target]
            if source not in row.named or target not in row.named:
                return None
            return row.named[source], row.named[target]
        if max(self.source, self.target) >= len(row.cells):
            return None
        return row.cells[self.source], row.cells[self.target]

    def pair(self, row: Row, longest: int) -> TwoTexts | None:
        """Both texts as they are read, None where they give no pair."""
        if (texts := self.texts(row)) is None:
            return None
        pair, fault = as_read(texts, longest)
        return None if fault else pair


class Taken(NamedTuple):
    """How the lines of a file are taken apart."""

    encoding: str
    format: Format
    separator: str
    columns: Columns
    longest: int


def look(path: PathLike, reading: Reading = Reading()) -> Look:  # noqa: B008 (immutable)
    """How the file would be read; what `reading` says is taken, the rest found out.

    DataFileError with one sentence where it cannot be.
    """
    encoding = _encoding(path, reading)
    lines = list(islice(lines_of(path, encoding.name, MOST_BYTES), LINES_LOOKED_AT))
    if foreign := [line.number for line in lines if line.fault == "encoding"]:
        is_part = len(lines) == LINES_LOOKED_AT
        check_few(path, encoding.name, len(foreign), len(lines), foreign[0], is_part)
    format, separator = _format(path, reading, lines)
    rows = [row for row in rows_of(lines, format, separator) if not row.fault]
    if not rows:
        raise _without_pairs(path, lines, separator)
    header, header_is_sure = _header(reading, format, rows)
    columns, sure = _columns(path, reading, rows, header, (lines, separator))
    body = rows[int(header and format != "jsonl") :]
    shown = [pair for row in body if (pair := columns.pair(row, reading.longest)) is not None]
    if _is_in_doubt(path, reading, encoding):
        taken = Taken(encoding.name, format, separator, columns, reading.longest)
        shown = _telling(path, taken, shown)
    named = any(row.named is not None for row in rows)
    width = len(columns.names) if named else usual_width([row.cells for row in body])
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
        rows=tuple(dict.fromkeys(shown))[:ROWS_SHOWN],
        header_is_sure=header_is_sure,
        width=width,
    )


def _encoding(path: PathLike, reading: Reading) -> FoundEncoding:
    if reading.encoding is None:
        return find_encoding(path)
    return FoundEncoding(named_encoding(path, reading.encoding), True)


def _is_in_doubt(path: PathLike, reading: Reading, encoding: FoundEncoding) -> bool:
    """Whether the bytes fit several encodings, even where one of them was chosen meanwhile.

    Who goes through the encodings to compare them sees the same pairs in each.
    """
    if reading.encoding is None:
        return not encoding.is_sure
    try:
        return not find_encoding(path).is_sure
    except DataFileError:
        return False


def _telling(path: PathLike, taken: Taken, pairs: list[TwoTexts]) -> list[TwoTexts]:
    """The pairs with those in front that read differently in different encodings.

    Where the first lines have none they are looked for as far as the encoding was.
    """
    foreign = [pair for pair in pairs if not "".join(pair).isascii()]
    if not foreign:
        with suppress(DataFileError):
            lines = islice(lines_of(path, taken.encoding, SEARCHED_BYTES), LINES_LOOKED_AT, None)
            told = (line for line in lines if line.text is not None and not line.text.isascii())
            for row in rows_of(told, taken.format, taken.separator):
                pair = None if row.fault else taken.columns.pair(row, taken.longest)
                if pair is not None and not "".join(pair).isascii():
                    foreign.append(pair)
                if len(foreign) == ROWS_SHOWN:
                    break
    return foreign + [pair for pair in pairs if "".join(pair).isascii()]


def check_few(
    path: PathLike, encoding: str, foreign: int, lines: int, first: int, is_part: bool = False
) -> None:
    """One line, or few of many, are left out; more say that the encoding is another one.

    is_part: whether the lines are only the first ones of the file
    """
    if lines == 1 or (foreign > 1 and foreign > FEW * lines):
        name = shown_encoding(encoding)
        found = f"{foreign} of {lines} lines are not in {name}, the first is line {first}"
        if is_part:
            found = (
                f"{foreign} of the first {lines} lines are not in {name}, the first is line {first}"
            )
        raise DataFileError(path, found, "one encoding throughout")


def shown_columns(names: Sequence[str]) -> str:
    """The first names of columns, none longer than a sentence can bear."""
    shown = [name if len(name) <= LONGEST_SHOWN else name[:LONGEST_SHOWN] + "…" for name in names]
    return ", ".join(shown[:COLUMNS_SHOWN]) + (", …" if len(shown) > COLUMNS_SHOWN else "")


def check_choices(looks: Look) -> None:
    """UndecidedError where somebody has to choose."""
    if not looks.encoding_is_sure:
        meant = ", ".join(shown_encoding(name) for name in looks.other_encodings)
        first = shown_encoding(looks.encoding)
        raise undecided(
            looks.path,
            f"is perhaps in {first}, perhaps in {meant}" if meant else f"is perhaps in {first}",
            "its encoding to be chosen",
            f"--encoding {looks.encoding}",
        )
    if looks.is_open:
        names = shown_columns(looks.columns)
        raise undecided(
            looks.path,
            f"has {len(looks.columns)} columns ({names}), and nothing says which two are meant",
            "source and target to be chosen",
            f"--source-column {shlex.quote(looks.source)} "
            f"--target-column {shlex.quote(looks.target)}",
        )


def _format(path: PathLike, reading: Reading, lines: list[Line]) -> tuple[Format, str]:
    if reading.format is not None and reading.format not in FORMATS:
        raise ValueError(f"format is {reading.format!r}, expected one of {', '.join(FORMATS)}")
    if reading.format in ("tsv", "jsonl"):
        return reading.format, "\t" if reading.format == "tsv" else ""
    if reading.separator is not None and not reading.separator:
        raise ValueError("the separator is empty, expected what stands between the two sentences")
    texts = [line.text for line in lines if line.text is not None and not line.fault]
    ending = Path(path).suffix.lower()
    if reading.separator:
        separator = meant_separator(reading.separator, texts)
        table = reading.format == "csv" or (reading.format is None and ending == ".csv")
        if table and len(separator) == 1:
            return "csv", separator
        if reading.format == "csv":
            raise ValueError(
                f"the separator of a CSV file is {separator!r}, expected one character"
            )
        return ("tsv" if separator == "\t" and reading.format is None else "lines"), separator
    if reading.format == "csv":
        guessed = guess_format(texts, ".csv", reading.names)
        return "csv", guessed[1] if guessed is not None and guessed[0] == "csv" else ","
    guessed = guess_format(texts, ending, reading.names)
    if guessed is None or (reading.format == "lines" and guessed[0] == "jsonl"):
        raise _without_pairs(path, lines)
    return (reading.format or guessed[0]), guessed[1]


def _header(reading: Reading, format: Format, rows: list[Row]) -> tuple[bool, bool]:
    """Whether the first row names the columns, and whether that is sure."""
    if reading.header is not None:
        return reading.header, True
    if format == "jsonl":
        return False, True
    cells = [row.cells for row in rows]
    if names_columns(cells[0], reading.names):
        return True, True
    if format == "lines":
        return False, True
    if is_header(cells[0]):
        return True, True
    return is_unlike(cells), False


def _columns(
    path: PathLike,
    reading: Reading,
    rows: list[Row],
    header: bool,
    looked: tuple[list[Line], str],
) -> tuple[Columns, bool]:
    if any(row.named is not None for row in rows):
        names = tuple(dict.fromkeys(name for row in rows for name in row.named or ()))
    elif header:
        names = tuple(cell.strip() or str(i + 1) for i, cell in enumerate(rows[0].cells))
    else:
        names = tuple(str(i + 1) for i in range(max(len(row.cells) for row in rows)))
    if len(names) < 2:
        raise _without_pairs(path, *looked)
    places = _places_of_texts(rows[int(header) :], names)
    source, target, sure = guess_columns(names, places)
    if reading.source:
        source = _place(path, reading.source, names)
        target = target if target != source else next(i for i in places if i != source)
    if reading.target:
        target = _place(path, reading.target, names)
        if source == target and not reading.source:
            source = next(i for i in places if i != target)
    if source == target:
        raise DataFileError(path, "one column is source and target at once", "two columns")
    chosen = bool(reading.source and reading.target)
    return Columns(names, source, target), sure or chosen


def _places_of_texts(rows: list[Row], names: tuple[str, ...]) -> list[int]:
    """The columns that do not number the rows, or all where fewer than two are left."""

    def cells(place: int, name: str) -> list[str]:
        if any(row.named is not None for row in rows):
            return [row.named[name] for row in rows if row.named and name in row.named]
        return [row.cells[place] for row in rows if place < len(row.cells)]

    every = range(len(names))
    texts = [place for place in every if not is_running(cells(place, names[place]))]
    return texts if len(texts) > 1 else list(every)


def _place(path: PathLike, name: str, names: tuple[str, ...]) -> int:
    if name in names:
        return names.index(name)
    alike = [place for place, known in enumerate(names) if known.casefold() == name.casefold()]
    if len(alike) == 1:
        return alike[0]
    if name.isdecimal() and 1 <= int(name) <= len(names):
        return int(name) - 1
    raise DataFileError(path, f"has no column {name!r}", f"one of {shown_columns(names)}")


def _without_pairs(path: PathLike, lines: list[Line], separator: str = "") -> DataFileError:
    """Why no line has two parts, `separator` between them or whatever else."""
    long = next((line.number for line in lines if line.text is None), None)
    filled = [line for line in lines if line.text is not None and line.text.strip()]
    if long is not None and not filled:
        return DataFileError(path, f"line {long} has far too many characters", A_PAIR_FILE)
    if not filled:
        return DataFileError(path, "has blank lines only", A_PAIR_FILE)
    if separator:
        if separator == "\t":
            return DataFileError(path, "no line has a tab between two texts", A_PAIR_FILE)
        return DataFileError(path, f"no line has the separator {separator!r}", A_PAIR_FILE)
    return DataFileError(
        path,
        "its lines have no separator in common (a tab was looked for, commas, semicolons, ||| and "
        "others)",
        A_PAIR_FILE,
    )
