"""A file of pairs in words: how it may be read, and what became of its lines. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_core.training.cleaning import CleaningReport, LeftOut
from model_core.training.data_formats import DELIMITERS, FORMATS, SEPARATORS
from model_core.training.text_files import shown_encoding
from visualizer.i18n import tr, tr_count
from visualizer.lab import FileImport
from visualizer.lenses.remarks import size_text
from visualizer.reasons import translated

ENCODINGS = ("utf-8", "gb18030", "big5", "utf-16", "cp1252")
Named = tuple[tuple[Any, str], ...]


@dataclass(frozen=True)
class ReportRow:
    """What became of some lines: how many, what; the first of them as (which line, its text)."""

    count: str
    words: str
    examples: tuple[tuple[str, str], ...] = ()
    more: str = ""
    is_kept: bool = False


def title(file: FileImport) -> tuple[str, str]:
    """The file's name, and its size and pairs as far as they are known."""
    look = file.look
    facts = [] if look is None else [size_text(look.size), shown_encoding(look.encoding)]
    if file.report is not None:
        facts.append(tr_count("lab.file.pairs", file.report.pairs))
    return Path(file.path).name, " · ".join(facts)


def encodings(file: FileImport) -> Named:
    """What the file may be in: what was found, what it may be as well, and the usual ones."""
    found = () if file.look is None else (file.look.encoding, *file.look.other_encodings)
    names = dict.fromkeys((*found, *ENCODINGS))
    if "utf-8-sig" in names:
        names.pop("utf-8")
    return tuple((name, shown_encoding(name)) for name in names)


def offered_encodings(file: FileImport) -> tuple[str, ...]:
    """The encodings to choose between where the bytes do not say which it is."""
    look = file.look
    if look is None or look.encoding_is_sure:
        return ()
    return (look.encoding, *look.other_encodings)


def doubt(file: FileImport) -> str:
    """What was guessed of the file and has to be looked at, "" where all is sure."""
    look = file.look
    if look is None:
        return ""
    if not look.encoding_is_sure:
        return tr_count("lab.file.unsure", len(offered_encodings(file)))
    if look.is_open:
        return tr("lab.file.open", n=f"{len(look.columns):,}")
    return tr("lab.file.guessed") if look.header and not look.header_is_sure else ""


def chosen_columns(file: FileImport) -> tuple[str | None, str | None]:
    """Source and target as they are on show; None for one that somebody has to choose first."""
    look, reading = file.look, file.reading
    if look is None:
        return None, None
    if not look.is_open:
        return look.source, look.target
    return look.source if reading.source else None, look.target if reading.target else None


def formats() -> Named:
    return tuple((name, tr(f"lab.format.{name}")) for name in FORMATS)


def separators(file: FileImport) -> Named:
    """What may stand between the cells, or the two sentences of a line."""
    look = file.look
    if look is None:
        return ()
    usual = {"csv": DELIMITERS, "lines": SEPARATORS}.get(look.format, ())
    names = dict.fromkeys((look.separator, *usual))
    spoken = {"\t": tr("lab.separator.tab"), "": "–"}
    return tuple((name, spoken.get(name, name)) for name in names)


def wish(file: FileImport, name: str, value: Any) -> dict[str, Any]:
    """What changes with a choice: other columns and separators belong to another format."""
    wished: dict[str, Any] = {name: value}
    if name == "format":
        wished |= {"separator": None, "header": None, "source": "", "target": ""}
        if value == "lines":
            wished["separator"] = SEPARATORS[0]
    elif name == "separator" and file.look is not None:
        wished |= {"format": file.look.format, "source": "", "target": ""}
    elif name == "header":
        wished |= {"source": "", "target": ""}
    return wished


def report_rows(report: CleaningReport) -> tuple[ReportRow, ...]:
    """What became of every line, the first of each kind as they are."""
    rows = [
        ReportRow(f"{report.pairs:,}", tr_count("lab.report.pairs", report.pairs), is_kept=True)
    ]
    if report.several_targets:
        several = report.several_targets
        rows.append(ReportRow(f"{several:,}", tr_count("lab.report.several", several)))
    for count, kind in (
        (report.header_lines, "header"),
        (report.continued_lines, "continued"),
    ):
        if count:
            rows.append(ReportRow(f"{count:,}", tr_count(f"lab.report.{kind}", count)))
    rows += [left_out_row(entry) for entry in report.left_out]
    if not report.left_out:
        rows.append(ReportRow("0", tr("lab.report.none")))
    if report.stopped:
        rows.append(ReportRow("", translated(report.stopped)))
    return tuple(rows)


def left_out_row(entry: LeftOut) -> ReportRow:
    """One reason for leaving lines out: how many, the first of them, how many more there are."""
    examples = tuple(
        (tr("lab.report.line", n=f"{number:,}"), text)
        for number, text in entry.first
        if text.strip()
    )
    left = entry.count - len(examples)
    more = tr("lab.report.more", n=f"{left:,}") if examples and left else ""
    words = tr_count(f"lab.report.{entry.kind}", entry.count)
    return ReportRow(f"{entry.count:,}", words, examples, more)
