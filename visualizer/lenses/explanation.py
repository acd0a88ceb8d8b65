"""One cell in words: what the pointer shows, and how the number comes about."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model_core.ops.base import Explanation, Term
from model_core.tape import Record
from visualizer.i18n import tr
from visualizer.lenses.numbers import exact, short
from visualizer.lenses.picture import Matrix
from visualizer.state import FINE_DECIMALS, Cell, ViewState, current_tape, shown_site

SHOWN_TERMS = 4

# The labels of the ops that are words, and their keys.
_WORDS = {
    "real": "term.real",
    "position": "term.position",
    "position of the key": "term.position_key",
    "position of the query": "term.position_query",
    "-log of the row's sum of e^x": "term.log_sum",
}


@dataclass(frozen=True)
class TermText:
    """One contribution: what it is and how much it gives ("" where the label says it all)."""

    label: str
    value: str


@dataclass(frozen=True)
class CellText:
    """How one cell comes about: its largest terms, how many are left out, and the result.

    `name` is the cell in the words of its labels ("猫 → cat"); `exact` is the full precision.
    `additive` says that the terms, those left out included, add up to the value; otherwise they
    are what the op read. `sign` stands before the value: "=" or "→".
    """

    name: str
    site: str
    additive: bool
    terms: tuple[TermText, ...]
    more: str
    sign: str
    value: str
    exact: str
    hidden: bool


def cell_name(matrix: Matrix, cell: Cell) -> str:
    """Row and column in the words of their labels."""
    row, column = cell
    words = [
        labels[place]
        for labels, place in ((matrix.row_labels, row), (matrix.column_labels, column))
        if place < len(labels) and labels[place]
    ]
    return " → ".join(words)


def hover_text(state: ViewState, matrix: Matrix, cell: Cell) -> str:
    """Row, column, full-precision value and where it comes from."""
    site = shown_site(state) or ""
    row, column = cell
    name = cell_name(matrix, cell)
    index = matrix.cell_index(row, column) if matrix.cell_index is not None else cell
    place = f"{site}[{', '.join(map(str, index))}]" if index else site
    if matrix.hidden is not None and matrix.hidden[row, column]:
        return tr("hover.masked", name=name, site=place)
    return tr("hover.value", name=name, value=exact(matrix.values[row, column]), site=place)


def cell_text(state: ViewState, matrix: Matrix, cell: Cell) -> CellText | None:
    """Where the cell's number comes from, in the op's own terms."""
    tape, site = current_tape(state), shown_site(state)
    if tape is None or site is None or matrix.cell_index is None:
        return None
    row, column = cell
    record, index = tape[site], matrix.cell_index(row, column)
    # one more than the cells have, as far as one more still tells
    decimals = max(state.decimals, min(state.decimals + 1, FINE_DECIMALS))
    terms: tuple[TermText, ...] = ()
    left, sign = 0, "→"
    additive = False
    if record.op == "softmax":
        terms, sign = (_softmax_term(record, index, decimals),), "="
    else:
        explanation = record.explain(index)
        # what a mask reads are whole numbers, whatever they happen to add up to
        whole = record.value.dtype == np.bool_
        additive = not whole and _add_up(explanation)
        terms = () if additive or whole else _operands(record, index, decimals)
        if not terms:
            terms, left = _largest(explanation.terms, 0 if whole else decimals)
            sign = "=" if additive else sign
    return CellText(
        name=cell_name(matrix, cell),
        site=site,
        additive=additive,
        terms=terms,
        more=tr("explain.more", n=left) if left else "",
        sign=sign,
        value=short(matrix.values[row, column], decimals),
        exact=exact(matrix.values[row, column]),
        hidden=bool(matrix.hidden is not None and matrix.hidden[row, column]),
    )


def line(text: CellText) -> str:
    """The explanation as one line of plain text."""
    if text.hidden:
        return tr("explain.masked", name=text.name)
    parts = [f"{term.label} ({term.value})" if term.value else term.label for term in text.terms]
    if text.more:
        parts.append(text.more)
    name = f"{text.name}:  " if text.name else ""
    if not parts:
        return f"{name}{text.value}"
    return f"{name}{(' + ' if text.additive else ', ').join(parts)} {text.sign} {text.value}"


def _add_up(explanation: Explanation) -> bool:
    """Whether the terms are summands of the value; what an activation or a wave reads is not."""
    values = [term.value for term in explanation.terms]
    if not all(map(math.isfinite, values)) or not math.isfinite(explanation.value):
        return False
    size = math.fsum(map(abs, values))
    return math.isclose(math.fsum(values), explanation.value, rel_tol=1e-9, abs_tol=1e-9 * size)


def _largest(terms: Sequence[Term], decimals: int) -> tuple[tuple[TermText, ...], int]:
    """The largest terms, and how many are left out; a few stay in the op's own order."""
    shown = list(terms)
    if len(shown) > SHOWN_TERMS:
        shown = sorted(shown, key=lambda term: -abs(term.value))[:SHOWN_TERMS]
    texts = (TermText(_label(term), short(term.value, decimals)) for term in shown)
    return tuple(texts), len(terms) - len(shown)


def _label(term: Term) -> str:
    """A term's label: a bare letter gives way to what was read, words are translated."""
    if term.label in ("a", "b", "x"):
        return short_name(term.site)
    if term.label in _WORDS:
        return tr(_WORDS[term.label])
    row = re.fullmatch(r"row (\d+) of the table", term.label)
    return tr("term.table_row", n=row[1]) if row else term.label


def short_name(site: str) -> str:
    """A site without its side and layer: "self_attn.out"."""
    words = site.split(".")
    if words[0] in ("encoder", "decoder") and len(words) > 1:
        words = words[3:] if words[1] == "layers" else words[1:]
    return ".".join(words)


def _softmax_term(record: Record, index: tuple[int, ...], decimals: int) -> TermText:
    """The shares of a row are no summands of one of them: the score and the row's sum are named."""
    score = short(record.operands[0].value[index], decimals)
    return TermText(tr("explain.softmax", score=score), "")


def _operands(record: Record, index: tuple[int, ...], decimals: int) -> tuple[TermText, ...]:
    """The cells at the same place of the record's inputs, under their short names."""
    return tuple(
        TermText(short_name(name), short(value[index], decimals))
        for name, value in record.operands
        if getattr(value, "shape", None) == record.value.shape
    )
