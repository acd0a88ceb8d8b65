"""A line of a file of pairs as named cells: tab- and comma-separated, JSON, a chosen separator."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from model_core.training.text_files import Line

Format = Literal["tsv", "csv", "jsonl", "lines"]
FORMATS: tuple[Format, ...] = ("tsv", "csv", "jsonl", "lines")

# What people put between the two sentences of a line, the most particular first.
SEPARATORS = ("|||", "||", "=>", "->", "→", "⇒", "|", "＝", "=", "；", ";", "：", ":", "，", ",")
DELIMITERS = (",", ";", "|")

# What people write for a separator that is hard to type.
SPOKEN = {"\\t": "\t", "tab": "\t", "TAB": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}

SOURCE_NAMES = (
    *("source", "src", "input", "question", "english", "en", "from", "x", "prompt"),
    *("sentence", "original", "text"),
    *("源", "源文", "源语言", "原文", "英文", "英语"),
)
TARGET_NAMES = (
    *("target", "tgt", "output", "answer", "chinese", "zh", "to", "y", "reply"),
    *("translation", "french", "fr", "response", "german", "de", "label"),
    *("目标", "目标语言", "译文", "翻译", "中文", "汉语"),
)
# A file is of a format when this share of its first lines is.
ENOUGH = 0.9
# A longer first cell is no name of a column.
LONGEST_NAME = 40
# Tabs and braces are no punctuation: it is when that share of them is, and the rest is left out.
MOST = 0.5
# More lines than these in one pair of quotation marks mean that one of the marks is missing.
MOST_LINES_OF_A_PAIR = 20


@dataclass(frozen=True)
class Row:
    """What a line holds: cells by place or by name, or why it cannot be read."""

    number: int
    cells: Sequence[str] = ()
    named: dict[str, str] | None = None
    fault: str = ""
    text: str = ""


def guess_format(
    texts: Sequence[str], ending: str = "", wanted: Sequence[str] = ()
) -> tuple[Format, str] | None:
    """The format and separator of a file by its first lines; None where they have one column.

    ending: of its name, such as ".csv"; wanted: names of columns that its first line may have
    """
    filled = [text for text in texts if text.strip()]
    if not filled:
        return None
    if _share(filled, lambda text: isinstance(_json(text), dict | list)) > MOST:
        return "jsonl", ""
    if ending == ".csv" and (delimiter := _delimiter(filled) or _of_header(filled[0])):
        return "csv", delimiter
    if _share(filled, lambda text: "\t" in text) > MOST:
        return "tsv", "\t"
    for delimiter in DELIMITERS:
        if _is_csv(filled, delimiter, wanted):
            return "csv", delimiter
    for separator in SEPARATORS:
        if _share(filled, lambda text, mark=separator: mark in text[1:-1]) >= ENOUGH:  # type: ignore[misc]
            return "lines", separator
    return None


def meant_separator(typed: str, texts: Sequence[str]) -> str:
    """What somebody means by a separator: "\\t" and "tab" are a tab where lines have no such."""
    if typed not in SPOKEN or _share(texts, lambda text: typed in text) > MOST:
        return typed
    return SPOKEN[typed]


def _share(texts: Sequence[str], holds: Callable[[str], bool]) -> float:
    return sum(map(holds, texts)) / max(1, len(texts))


def _table(texts: Sequence[str], delimiter: str) -> list[Sequence[str]]:
    lines = (Line(number, text) for number, text in enumerate(texts, 1))
    return [row.cells for row in rows_of(lines, "csv", delimiter) if not row.fault]


def _delimiter(texts: Sequence[str]) -> str | None:
    """What parts the lines of a CSV file into the same number of cells, two at least, most often"""
    best, found = 0, None
    for delimiter in (*DELIMITERS, "\t"):
        rows = _table(texts, delimiter)
        width = usual_width(rows)
        even = sum(len(row) == width for row in rows)
        if width > 1 and even > best:
            best, found = even, delimiter
    return found


def _of_header(text: str) -> str | None:
    """What parts the names of columns in a first line, whatever the others have."""
    return next((mark for mark in (*DELIMITERS, "\t") if is_header(text.split(mark))), None)


def usual_width(rows: Sequence[Sequence[str]]) -> int:
    """The number of cells that most rows have."""
    counts = Counter(len(row) for row in rows)
    return max(counts, key=lambda width: (counts[width], width), default=0)


def _is_csv(texts: Sequence[str], delimiter: str, wanted: Sequence[str]) -> bool:
    """Whether a header names two columns, or quotation marks and one number of cells say so."""
    rows = _table(texts, delimiter)
    width = len(rows[0]) if rows else 0
    if width < 2 or sum(len(row) == width for row in rows) < ENOUGH * len(rows):
        return False
    quoted = re.compile(rf'(^|{re.escape(delimiter)})"')
    named = is_header(rows[0]) or names_columns(rows[0], wanted) or _is_numbered(rows)
    return named or any(quoted.search(text) for text in texts)


def is_header(cells: Sequence[str]) -> bool:
    """Whether the cells of a first line are names of columns."""
    known = {*SOURCE_NAMES, *TARGET_NAMES}
    return len(cells) > 1 and sum(_plain(cell) in known for cell in cells) >= 2


def names_columns(cells: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether the cells of a first line have one of the names that somebody gave."""
    return any(name.casefold() == cell.strip().casefold() for name in wanted for cell in cells)


def is_unlike(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of the rows is so unlike the others that it is probably a header."""
    first, rest = [cell.strip() for cell in rows[0]], rows[1:]
    if not rest or len(first) < 2 or not all(first) or len(set(first)) < len(first):
        return False
    if any(len(cell) > LONGEST_NAME or not any(map(str.isalpha, cell)) for cell in first):
        return False
    columns = list(zip(*(row for row in rest if len(row) == len(first)), strict=True))
    if not columns or any(cell in column for cell, column in zip(first, columns, strict=True)):
        return False
    if _is_numbered(rows):
        return True
    known = {*SOURCE_NAMES, *TARGET_NAMES} - {"to", "from", "x", "y", "text", "label"}
    if any(_plain(cell) in known for cell in first) and len(rest) > 1:
        return True
    if all("_" in cell for cell in first) and not any("_" in c for col in columns for c in col):
        return True
    # one side is in letters of another script than its name, or names are capitalised
    for cell, column in zip(first, columns, strict=True):
        if cell.isascii() and sum(map(_is_foreign, column)) > ENOUGH * len(column):
            return len(rest) > 2
    texts = [text for column in columns for text in column]
    lower = sum(text[:1].islower() for text in texts) > ENOUGH * len(texts)
    return lower and len(rest) > 2 and all(cell[:1].isupper() for cell in first)


def _is_numbered(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a column has numbers alone, but for the first row."""
    width, rest = len(rows[0]), [row for row in rows[1:] if len(row) == len(rows[0])]
    return bool(rest) and any(
        all(row[place].strip().isdecimal() for row in rest)
        and not any(letter.isdecimal() for letter in rows[0][place])
        for place in range(width)
    )


def _is_foreign(text: str) -> bool:
    """Whether the letters of a text are none of Latin ones."""
    letters = [letter for letter in text if letter.isalpha()]
    return bool(letters) and not any(letter.lower() <= "\u024f" for letter in letters)


def _plain(name: str) -> str:
    return name.strip().lower().rsplit(".", 1)[-1]


def is_running(cells: Sequence[str]) -> bool:
    """Whether the cells of a column are numbers that rise from row to row."""
    if len(cells) < 2 or not all(cell.strip().isdecimal() for cell in cells):
        return False
    # longer ones are no numbers of rows, and slow to read
    numbers = [int(cell.strip()[:LONGEST_NAME]) for cell in cells]
    return all(one < next for one, next in pairwise(numbers))


def guess_columns(names: Sequence[str], places: Sequence[int]) -> tuple[int, int, bool]:
    """The places of source and target among named columns, and whether the names say so.

    places: of the columns that may be taken where no name says so, two at least
    """
    plain = [_plain(name) for name in names]
    source = next((plain.index(name) for name in SOURCE_NAMES if name in plain), None)
    target = next((plain.index(name) for name in TARGET_NAMES if name in plain), None)
    if source is not None and target is not None:
        return source, target, True
    if source is None:
        source = next(place for place in places if place != target)
    if target is None:
        target = next(place for place in places if place != source)
    return source, target, False


def rows_of(lines: Iterable[Line], format: Format, separator: str) -> Iterator[Row]:
    """The lines as rows, each of which knows its line's number."""
    if format == "csv":
        yield from _csv_rows(lines, separator)
        return
    for line in lines:
        if line.text is None or line.fault:
            yield Row(line.number, fault=line.fault, text=line.shown)
        elif not line.text.strip():
            yield Row(line.number, fault="blank", text=line.text)
        elif format == "jsonl":
            yield _json_row(line.number, line.text)
        else:
            mark = "\t" if format == "tsv" else separator
            most = -1 if format == "tsv" else 1
            yield Row(line.number, line.text.split(mark, most), text=line.text)


def _csv_rows(lines: Iterable[Line], delimiter: str) -> Iterator[Row]:
    """Rows of cells, each of which may go on over several lines in quotation marks.

    Marks that are not closed within a few lines make their own line a broken one, no other.
    """
    source = iter(lines)
    waiting: deque[Line] = deque()
    taken: list[Line] = []
    skipped: list[Line] = []
    ended = False

    def texts() -> Iterator[str]:
        nonlocal ended
        while len(taken) <= MOST_LINES_OF_A_PAIR:
            line = waiting.popleft() if waiting else next(source, None)
            if line is None:
                ended = True
                return
            if line.text is None or line.fault:
                skipped.append(line)
                continue
            taken.append(line)
            yield line.text + "\n"

    reader = csv.reader(texts(), delimiter=delimiter)
    while True:
        try:
            cells = next(reader, [])
            # a reader that has a whole row asks for no further line
            is_open = ended or len(taken) > MOST_LINES_OF_A_PAIR
        except csv.Error:
            cells, is_open = [], True
        for line in skipped:
            yield Row(line.number, fault=line.fault, text=line.shown)
        skipped.clear()
        if not taken:
            return
        first, *others = taken
        taken.clear()
        if is_open:
            yield Row(first.number, fault="broken", text=first.shown)
            waiting.extendleft(reversed(others))
            # a reader that stopped inside a cell would go on inside it
            reader, ended = csv.reader(texts(), delimiter=delimiter), False
        else:
            if not any(cell.strip() for cell in cells):
                yield Row(first.number, fault="blank", text=first.shown)
            else:
                yield Row(first.number, cells, text=first.shown)
            for line in others:
                # counted, so that every line is: it belongs to the pair of the line before
                yield Row(line.number, fault="continued", text=line.shown)


def _json_row(number: int, text: str) -> Row:
    value = _json(text)
    if isinstance(value, list) and all(isinstance(cell, str) for cell in value):
        return Row(number, value, text=text)
    if isinstance(value, dict):
        return Row(number, named=_flat(value), text=text)
    return Row(number, fault="broken", text=text)


def _json(text: str) -> Any:
    try:
        return json.loads(text) if text.lstrip()[:1] in "{[" else None
    except (ValueError, RecursionError):
        return None


def _flat(value: dict[str, Any]) -> dict[str, str]:
    """Texts by key; those of an object inside by "outer.inner", as data sets write translations."""
    found = {key: cell for key, cell in value.items() if isinstance(cell, str)}
    for key, inside in value.items():
        if isinstance(inside, dict):
            found |= {f"{key}.{k}": cell for k, cell in inside.items() if isinstance(cell, str)}
    return found
