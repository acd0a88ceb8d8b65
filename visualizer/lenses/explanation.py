"""One cell in words: what the pointer shows, and how the number comes about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model_core.ops.base import Term
from model_core.tape import Record
from visualizer.i18n import tr
from visualizer.lenses.numbers import exact, short
from visualizer.lenses.picture import Matrix
from visualizer.state import Cell, ViewState, current_tape, shown_site

SHOWN_TERMS = 4


@dataclass(frozen=True)
class TermText:
    """One contribution: what it is and how much it gives."""

    label: str
    value: str


@dataclass(frozen=True)
class CellText:
    """How one cell comes about: its largest terms, how many are left out, and the result.

    `name` is the cell in the words of its labels ("猫 → cat"); `exact` is the full precision.
    `additive` says that all terms add up to the value; otherwise `terms` are what the op read.
    """

    name: str
    site: str
    additive: bool
    terms: tuple[TermText, ...]
    more: str
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
    explanation = record.explain(index)
    decimals = max(state.decimals, 1) + 1
    terms = explanation.terms
    # a mask's terms are positions or other masks, whatever they happen to add up to
    is_mask = record.value.dtype == np.bool_
    additive = not is_mask and _add_up(terms, explanation.value)
    shown = () if additive or is_mask else _operands(record, index, decimals)
    left = 0
    if not shown:
        largest = sorted(terms, key=lambda term: -abs(term.value))[:SHOWN_TERMS]
        shown = tuple(TermText(term.label, short(term.value, decimals)) for term in largest)
        left = len(terms) - len(largest)
    return CellText(
        name=cell_name(matrix, cell),
        site=site,
        additive=additive,
        terms=shown,
        more=tr("explain.more", n=left) if left else "",
        value=short(matrix.values[row, column], decimals),
        exact=exact(matrix.values[row, column]),
        hidden=bool(matrix.hidden is not None and matrix.hidden[row, column]),
    )


def line(text: CellText) -> str:
    """The explanation as one line of plain text."""
    if text.hidden:
        return tr("explain.masked", name=text.name)
    parts = [f"{term.label} ({term.value})" for term in text.terms]
    if text.more:
        parts.append(text.more)
    name = f"{text.name}:  " if text.name else ""
    if not parts:
        return f"{name}{text.value}"
    if text.additive:
        return f"{name}{' + '.join(parts)} = {text.value}"
    return f"{name}{', '.join(parts)} → {text.value}"


def _add_up(terms: Sequence[Term], value: float) -> bool:
    """Whether the terms are summands of the value (of a softmax they are the row's shares)."""
    values = [term.value for term in terms]
    if not all(map(math.isfinite, values)) or not math.isfinite(value):
        return False
    size = math.fsum(map(abs, values))
    return math.isclose(math.fsum(values), value, rel_tol=1e-9, abs_tol=1e-9 * size)


def _operands(record: Record, index: tuple[int, ...], decimals: int) -> tuple[TermText, ...]:
    """The cells at the same place of the record's inputs, by the last word of their names."""
    found = []
    for name, value in record.operands:
        shape = getattr(value, "shape", None)
        if shape == record.value.shape:
            found.append(TermText(name.rsplit(".", 1)[-1], short(value[index], decimals)))
    return tuple(found)
