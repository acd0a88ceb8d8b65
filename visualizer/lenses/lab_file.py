"""A file of pairs in words: how it may be read, and what became of its lines. No Qt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from model_core.training.cleaning import CleaningReport
from model_core.training.data_formats import DELIMITERS, FORMATS, SEPARATORS
from model_core.training.text_files import shown_encoding
from visualizer.i18n import tr
from visualizer.lab import FileImport
from visualizer.lenses.remarks import size_text
from visualizer.reasons import translated

ENCODINGS = ("utf-8", "gb18030", "big5", "utf-16", "cp1252")
Named = tuple[tuple[Any, str], ...]


def title(file: FileImport) -> tuple[str, str]:
    """The file's name, and its size and pairs as far as they are known."""
    look = file.look
    facts = [] if look is None else [size_text(look.size), shown_encoding(look.encoding)]
    if file.report is not None:
        facts.append(tr("lab.file.pairs", n=f"{file.report.pairs:,}"))
    return Path(file.path).name, " · ".join(facts)


def encodings(file: FileImport) -> Named:
    """What the file may be in: what was found, what it may be as well, and the usual ones."""
    found = () if file.look is None else (file.look.encoding, *file.look.other_encodings)
    names = dict.fromkeys((*found, *ENCODINGS))
    if "utf-8-sig" in names:
        names.pop("utf-8")
    return tuple((name, shown_encoding(name)) for name in names)


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


def report_lines(report: CleaningReport) -> tuple[str, ...]:
    """What became of every line, the first of each kind as they are."""
    lines = [tr("lab.report.pairs", pairs=f"{report.pairs:,}", lines=f"{report.lines:,}")]
    if report.header_lines:
        lines.append(tr("lab.report.header", n=f"{report.header_lines:,}"))
    if report.continued_lines:
        lines.append(tr("lab.report.continued", n=f"{report.continued_lines:,}"))
    for entry in report.left_out:
        lines.append(tr(f"lab.report.{entry.kind}", n=f"{entry.count:,}"))
        lines += [f"    {number:,}:  {text}" for number, text in entry.first if text.strip()]
    if not report.left_out:
        lines.append(tr("lab.report.none"))
    if report.several_targets:
        lines.append(tr("lab.report.several", n=f"{report.several_targets:,}"))
    if report.stopped:
        lines.append(translated(report.stopped))
    return tuple(lines)
