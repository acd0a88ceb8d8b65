"""One cell in words: what the pointer shows, and how the number comes about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from visualizer.i18n import tr
from visualizer.lenses.arithmetic import Question, calculation
from visualizer.lenses.backward import gradient_lines
from visualizer.lenses.line import Lines, plain_text
from visualizer.lenses.numbers import exact, figure
from visualizer.lenses.picture import Matrix
from visualizer.state import (
    FINE_DECIMALS,
    Cell,
    ViewState,
    current_tape,
    shown_gradients,
    shown_site,
)


@dataclass(frozen=True)
class CellText:
    """How one cell comes about.

    `name` is the cell in the words of its labels ("猫 → cat"); `exact` is the full precision,
    empty where the value says all. `lines` is the reckoning, with fewer and fewer terms.
    """

    name: str
    site: str
    lines: Lines
    value: str
    exact: str
    hidden: bool


def cell_name(matrix: Matrix, cell: Cell) -> str:
    """Row and column in the words of their labels."""
    row, column = cell
    words = [
        labels[place] if place < len(labels) else ""
        for labels, place in ((matrix.row_labels, row), (matrix.column_labels, column))
    ]
    if not all(words):
        return "".join(words)
    return tr(f"cell.{matrix.cells}", row=words[0], column=words[1])


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
    hidden = bool(matrix.hidden is not None and matrix.hidden[row, column])
    # one more than the cells have, as far as one more still tells
    decimals = max(state.decimals, min(state.decimals + 1, FINE_DECIMALS))
    value = matrix.values[row, column]
    if record.value.dtype == np.bool_:
        said, full = tr("line.allowed" if value else "line.forbidden"), ""
    else:
        said, full = figure(value, decimals), exact(value)
    lines: Lines = ()
    gradients = shown_gradients(state)
    if gradients is not None:
        # a hidden score has a gradient too: it is zero, and the rule says why
        hidden = False
        lines = gradient_lines(
            gradients, site, index, said, decimals, state.share, state.count_from
        )
    elif not hidden:
        question = Question(record, index, record.explain(index), decimals, state.count_from)
        lines = calculation(question, said)
    return CellText(cell_name(matrix, cell), site, lines, said, full, hidden)


def cell_place(state: ViewState, matrix: Matrix, cell: Cell) -> str:
    """The cell's own place in the record, as a script would write it."""
    site = matrix.source.split("[")[0]
    index = matrix.cell_index(*cell) if matrix.cell_index is not None else cell
    return f"{site}[{', '.join(map(str, index))}]" if index else site


def line(text: CellText) -> str:
    """The explanation as one line of plain text."""
    if text.hidden:
        return tr("explain.masked", name=text.name)
    name = f"{text.name}:  " if text.name else ""
    return name + plain_text(text.lines[0])
