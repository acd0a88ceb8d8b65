"""Which files hold pairs of sentences and belong in the training lab, and which a model. No Qt."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from visualizer import actions
from visualizer.state import ViewState

if TYPE_CHECKING:
    from model_core.training.data_formats import Row

# What a look at the beginning of a file has found: pairs; text that may yet be pairs, or nothing
# to read, in a file that is named like one of pairs; "" for a file of another kind.
Found = Literal["pairs", "maybe", "nothing", ""]
PAIR_ENDINGS = (".tsv", ".csv", ".jsonl", ".txt")
MODEL_ENDINGS = (".safetensors", ".json", ".npz")
# A file was to be opened as a model, and holds pairs or may do so: the sentence that offers to take
# it there, by what was found.
FOR_THE_LAB = {"pairs": "error.open.pairs", "maybe": "error.open.maybe"}
# It holds nothing: the sentence names what can be opened and what the lab reads.
NEITHER = "error.open.neither"
LOOKED_AT = 1 << 16
LINES_LOOKED_AT = 200


def goes_to_lab(path: Path, in_lab: bool) -> bool:
    """Whether a file that is dropped is one of pairs, by its ending alone.

    in_lab: the lab is on show: what no model ends with is meant for it
    """
    ending = path.suffix.lower()
    return ending in PAIR_ENDINGS or (in_lab and ending not in MODEL_ENDINGS)


def pairs_in(path: Path) -> Found:
    """Whether a file that is no model is one of pairs, by its ending and its first lines.

    At most LOOKED_AT bytes of it are read.
    """
    ending = path.suffix.lower()
    if ending in MODEL_ENDINGS or not path.is_file():
        return ""
    try:
        with path.open("rb") as stream:
            head = stream.read(LOOKED_AT)
            is_whole = not stream.read(1)
    except OSError:
        return ""
    named = ending in PAIR_ENDINGS
    text = _text_of(head)
    if not text.strip():
        return "nothing" if named else ""
    lines = text.splitlines()
    if not is_whole:
        # the last one is cut off
        lines.pop()
    if len(lines) > (0 if named else 1) and _are_pairs(lines[:LINES_LOOKED_AT], ending):
        return "pairs"
    return "maybe" if named else ""


def _text_of(head: bytes) -> str:
    """The text at the beginning of a file; "" where it is none."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head.decode("utf-16", "ignore")
    return "" if b"\0" in head else head.decode("utf-8", "replace")


def _are_pairs(lines: Sequence[str], ending: str) -> bool:
    """Whether most of the first lines have two cells; a comma or a colon in each proves nothing."""
    from model_core.training.data_formats import guess_format, rows_of
    from model_core.training.text_files import Line

    known = ending if ending in PAIR_ENDINGS else ""
    guessed = guess_format(lines, known)
    kinds = ("tsv", "jsonl", "csv") if known else ("tsv", "jsonl")
    if guessed is None or guessed[0] not in kinds:
        return False
    rows = list(rows_of([Line(n, text) for n, text in enumerate(lines, 1)], *guessed))
    filled = [row for row in rows if row.fault not in ("blank", "continued")]
    return 2 * sum(map(_has_two, filled)) > len(filled)


def _has_two(row: Row) -> bool:
    cells = row.cells if row.named is None else row.named.values()
    return sum(bool(cell.strip()) for cell in cells) > 1


def offer_the_lab(state: ViewState, path: Path, found: Found) -> ViewState:
    """Say that a file is no model, and that one can be trained with it, or may be."""
    values = {"file": path.name, "path": path}
    return actions.show_notice(state, FOR_THE_LAB[found], "info", str(path), **values)


def offered_path(state: ViewState) -> Path | None:
    """The file that was offered to the lab, while that is being said."""
    notice = state.notice
    if notice is None or notice.key not in FOR_THE_LAB.values():
        return None
    return Path(dict(notice.values)["path"])
