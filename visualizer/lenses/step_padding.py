"""Which rows and columns of a picture of a batch are padding: they stand for no token."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from visualizer.i18n import tr
from visualizer.inquiries.step import shown_step
from visualizer.lenses.picture import Matrix
from visualizer.lenses.step_choice import chosen_sentence
from visualizer.state import Cell, ViewState

if TYPE_CHECKING:
    from model_core.training.step import GlassStep


def with_padding(state: ViewState, site: str, matrix: Matrix | None) -> Matrix | None:
    """The picture of a record, or of its gradient, with the labels of padding quiet, and a word."""
    step = shown_step(state)
    if step is None or matrix is None:
        return matrix
    letters = ("", "", *step.tape[site].axes)[-2:]
    sentence = chosen_sentence(state, step)
    rows, columns = (_padded(step, letter, sentence) for letter in letters)
    if not any(rows) and not any(columns):
        return matrix
    title = " · ".join(filter(None, (matrix.column_title, tr("step.padding"))))
    return replace(matrix, quiet_rows=rows, quiet_columns=columns, column_title=title)


def is_padding(matrix: Matrix, cell: Cell) -> bool:
    """Whether a cell stands in a row or a column of padding."""
    row, column = cell
    return any(matrix.quiet_rows[row : row + 1]) or any(matrix.quiet_columns[column : column + 1])


def _padded(step: GlassStep, letter: str, sentence: int) -> tuple[bool, ...]:
    """True where a position of a sentence is filled up; () on an axis without positions."""
    masks = {"S": step.batch.source_mask, "T": step.batch.target_mask}
    if letter not in masks:
        return ()
    padded = (~masks[letter][sentence]).tolist()
    return tuple(padded) if any(padded) else ()
