"""A line of a file of pairs as named cells: tab- and comma-separated, JSON, a chosen separator."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from model_core.training.text_files import Line

Format = Literal["tsv", "csv", "jsonl", "lines"]
FORMATS: tuple[Format, ...] = ("tsv", "csv", "jsonl", "lines")

# What people put between the two sentences of a line, the most particular first.
SEPARATORS = ("|||", "||", "=>", "->", "→", "⇒", "|", "＝", "=", "；", ";", "：", ":", "，", ",")
DELIMITERS = (",", ";", "|")

SOURCE_NAMES = ("source", "src", "input", "question", "english", "en", "from", "x", "prompt")
TARGET_NAMES = (
    *("target", "tgt", "output", "answer", "chinese", "zh", "to", "y", "reply"),
    *("translation", "french", "fr", "response", "german", "de", "label"),
)
# A file is of a format when this share of its first lines is.
ENOUGH = 0.9
# More lines than these in one pair of quotation marks mean that one of the marks is missing.
MOST_LINES_OF_A_PAIR = 20


@dataclass(frozen=True)
class Row:
    """What a line holds: cells by place or by name, or why it cannot be read."""

    number: int
    cells: Sequence[str] = ()
    named: dict[str, str] | None = None
    fault: str = ""
    text: str | None = ""


def guess_format(texts: Sequence[str]) -> tuple[Format, str] | None:
    """The format and separator of a file by its first lines; None where they have one column."""
    filled = [text for text in texts if text.strip()]
    if not filled:
        return None
    if _share(filled, lambda text: isinstance(_json(text), dict | list)) >= ENOUGH:
        return "jsonl", ""
    if _share(filled, lambda text: "\t" in text) >= ENOUGH:
        return "tsv", "\t"
    for delimiter in DELIMITERS:
        if _is_csv(filled, delimiter):
            return "csv", delimiter
    for separator in SEPARATORS:
        if _share(filled, lambda text, mark=separator: mark in text[1:-1]) >= ENOUGH:  # type: ignore[misc]
            return "lines", separator
    return None


def _share(texts: Sequence[str], holds: Callable[[str], bool]) -> float:
    return sum(map(holds, texts)) / len(texts)


def _is_csv(texts: Sequence[str], delimiter: str) -> bool:
    """Whether a header names two columns, or quotation marks and one number of cells say so."""
    try:
        rows = [row for row in csv.reader(_ended(texts), delimiter=delimiter) if row]
    except csv.Error:
        return False
    width = len(rows[0])
    if width < 2 or sum(len(row) == width for row in rows) < ENOUGH * len(rows):
        return False
    return is_header(rows[0]) or any(text.startswith('"') for text in texts)


def _ended(texts: Iterable[str]) -> Iterator[str]:
    return (text + "\n" for text in texts)


def is_header(cells: Sequence[str]) -> bool:
    """Whether the cells of a first line are names of columns."""
    known = {*SOURCE_NAMES, *TARGET_NAMES}
    return len(cells) > 1 and sum(_plain(cell) in known for cell in cells) >= 2


def _plain(name: str) -> str:
    return name.strip().lower().rsplit(".", 1)[-1]


def guess_columns(names: Sequence[str]) -> tuple[int, int, bool]:
    """The places of source and target among named columns, and whether the names say so."""
    plain = [_plain(name) for name in names]
    source = next((plain.index(name) for name in SOURCE_NAMES if name in plain), None)
    target = next((plain.index(name) for name in TARGET_NAMES if name in plain), None)
    if source is not None and target is not None:
        return source, target, True
    if source is None:
        source = 0 if target != 0 else 1
    if target is None:
        target = next(i for i in range(len(plain) + 1) if i != source)
    return source, target, False


def rows_of(lines: Iterable[Line], format: Format, separator: str) -> Iterator[Row]:
    """The lines as rows, each of which knows its line's number."""
    if format == "csv":
        yield from _csv_rows(lines, separator)
        return
    for line in lines:
        if line.text is None:
            yield Row(line.number, fault="too_long", text=None)
        elif not line.text.strip():
            yield Row(line.number, fault="blank", text=line.text)
        elif format == "jsonl":
            yield _json_row(line.number, line.text)
        else:
            mark = "\t" if format == "tsv" else separator
            most = -1 if format == "tsv" else 1
            yield Row(line.number, line.text.split(mark, most), text=line.text)


def _csv_rows(lines: Iterable[Line], delimiter: str) -> Iterator[Row]:
    """Rows of cells, each of which may go on over several lines in quotation marks."""
    taken: list[Line] = []
    skipped: list[Line] = []

    def texts() -> Iterator[str]:
        for line in lines:
            if line.text is None:
                skipped.append(line)
                continue
            taken.append(line)
            yield line.text + "\n"

    reader = csv.reader(texts(), delimiter=delimiter)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error:
            yield from _drained(taken, "broken")
            yield from _drained(skipped, "too_long")
            # a reader that stopped inside a cell would go on inside it
            reader = csv.reader(texts(), delimiter=delimiter)
            continue
        first, *others = taken
        taken.clear()
        if len(others) >= MOST_LINES_OF_A_PAIR:
            yield from _drained([first, *others], "broken")
            continue
        if not any(cell.strip() for cell in cells):
            yield Row(first.number, fault="blank", text=first.text)
        else:
            yield Row(first.number, cells, text=first.text)
        for line in others:
            # counted, so that every line is: it belongs to the pair of the line before
            yield Row(line.number, fault="continued", text=line.text)
        yield from _drained(skipped, "too_long")
    yield from _drained(skipped, "too_long")


def _drained(lines: list[Line], fault: str) -> Iterator[Row]:
    while lines:
        line = lines.pop(0)
        yield Row(line.number, fault=fault, text=line.text)


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
