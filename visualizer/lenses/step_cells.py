"""How a cell of a training step comes about: of a value, of a dropout mask, of a gradient."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from model_core.ops.base import Origin
from visualizer.i18n import tr
from visualizer.inquiries.step import shown_step
from visualizer.lenses.arithmetic import MOST_TERMS, Question, calculation, origin_of
from visualizer.lenses.backward import gradient_lines
from visualizer.lenses.line import Lines, Piece, enclosed, mark, piece
from visualizer.lenses.numbers import brief, exact, figure
from visualizer.lenses.picture import Matrix
from visualizer.lenses.step_choice import (
    chosen_cell,
    chosen_parameter,
    chosen_record,
    chosen_site,
)
from visualizer.lenses.step_pictures import gradient_picture, record_picture
from visualizer.lenses.step_tables import digits, place_text
from visualizer.state import FINE_DECIMALS, Cell, ViewState

# Decimals of the terms that a gradient is the sum of.
FEWEST_PLACES, MOST_PLACES = 4, 8

if TYPE_CHECKING:
    from model_core.training.step import GlassStep


@dataclass(frozen=True)
class CellSaid:
    """A cell's name, its reckoning, its full precision and its place."""

    name: str
    lines: Lines
    exact: str
    place: str


def first_cell(matrix: Matrix) -> Cell:
    """Where the largest number of a picture stands: what there is most to be seen of."""
    values = np.abs(np.asarray(matrix.values, np.float64))
    values[~np.isfinite(values)] = -1.0
    if matrix.hidden is not None:
        values[matrix.hidden] = -1.0
    row, column = np.unravel_index(int(values.argmax()), values.shape)
    return int(row), int(column)


def held_cell(matrix: Matrix, spot: tuple[int, ...] | None) -> Cell | None:
    """Row and column of a cell by its full index; None where the picture has no such cell."""
    if spot is None or matrix.cell_index is None:
        return None
    row, column = (0, 0, *spot)[-2:]
    if not _inside(matrix, (row, column)) or matrix.cell_index(row, column) != tuple(spot):
        return None
    return row, column


def record_cell(state: ViewState, cell: Cell, share: int | None = None) -> CellSaid | None:
    """How a cell of the record on show was reckoned, or drawn; it has no shares."""
    step, matrix = shown_step(state), record_picture(state)
    if step is None or matrix is None or matrix.cell_index is None or not _inside(matrix, cell):
        return None
    site, index = chosen_record(state, step), matrix.cell_index(*cell)
    name, place, value = _cell_name(matrix, cell), place_text(site, index), matrix.values[cell]
    if matrix.hidden is not None and matrix.hidden[cell]:
        return CellSaid(name, ((Piece(tr("explain.hidden"), "muted"),),), str(value), place)
    if site in step.dropout_sites:
        return CellSaid(name, _drawn(step, site, index, value), exact(value), place)
    decimals = max(state.decimals, min(state.decimals + 1, FINE_DECIMALS))
    record = step.tape[site]
    if record.op == "cross_entropy":
        return CellSaid(name, _mean_cost(step, decimals), exact(value), place)
    if record.value.dtype == np.bool_:
        said, full = tr("line.allowed" if value else "line.forbidden"), ""
    else:
        said, full = figure(value, decimals), exact(value)
    asked = Question(record, index, record.explain(index), decimals, state.count_from)
    way = _WAYS.get(record.op)
    if way is None:
        return CellSaid(name, calculation(asked, said), full, place)
    end = (Piece("=", "muted"), Piece(said, "chip", glued=True))
    return CellSaid(name, tuple((*line, *end) for line in way(asked)), full, place)


def _drawn(step: GlassStep, site: str, index: tuple[int, ...], value: float) -> Lines:
    """A number by chance decides; it is drawn anew from the state before the mask."""
    told = step.explain_mask(site, index)
    rate = brief(getattr(step.tape[site].kind, "rate", 0.0))
    drawn = Piece(tr("step.drawn", u=figure(told.terms[0].value, 4), rate=rate))
    return ((drawn, Piece("→", "muted"), Piece(figure(value, 4), "chip", glued=True)),)


def _mean_cost(step: GlassStep, decimals: int) -> Lines:
    """The mean of what the positions cost, the dearest of them by name."""
    losses = step.losses
    places = [tuple(int(i) for i in place) for place in np.argwhere(step.counted)]
    places.sort(key=lambda place: -float(losses[place]))
    result = (
        Piece("=", "muted"),
        Piece(digits(float(step.tape["loss"].value)), "chip", glued=True),
    )
    lines = []
    for shown in range(min(len(places), MOST_TERMS), 0, -1):
        pieces: list[Piece] = []
        left = places[shown:]
        for number, place in enumerate(places[:shown]):
            label = int(step.batch.labels[place])
            text = figure(float(losses[place]), decimals)
            # smoothed, a cost is more than one number of the record before
            read = None if step.recipe.label_smoothing else Origin("log_probs", (*place, label))
            linked = mark(text, read)
            pieces.append(piece(("+ " if number else "") + linked))
        if left:
            rest = math.fsum(float(losses[place]) for place in left)
            pieces.append(Piece(tr("line.rest", n=len(left), sum=figure(rest, decimals))))
        lines.append((*enclosed((tuple(pieces),), "(", f") / {len(places)}")[0], *result))
    return tuple(lines) or (result[1:],)


def _dropped(question: Question) -> Lines:
    own, kept = question.terms[0].factors
    first = mark(question.figure(own), origin_of(question.terms[0], 0))
    return ((piece(first + "·" + mark(question.factor(kept), origin_of(question.terms[0], 1))),),)


def _alignment(question: Question) -> Lines:
    """The mean of -log of the weights on what the target tokens translate."""
    terms = sorted(question.terms, key=lambda term: -abs(term.value))
    count, lines = len(terms), []
    for shown in range(min(count, MOST_TERMS), 0, -1):
        pieces = []
        for term in terms[:shown]:
            weight = float(question.record.operands[0].value[term.index])
            linked = mark(question.figure(weight), Origin(term.site, term.index))
            pieces.append(piece("- log " + linked))
        if shown < count:
            rest = math.fsum(term.value for term in terms[shown:]) * count
            pieces.append(Piece(tr("line.rest", n=count - shown, sum=question.figure(rest))))
        lines.append(tuple(pieces))
    return enclosed(tuple(lines), "(", f") / {count}") or ((),)


def _weighted(question: Question) -> Lines:
    own, other = question.terms
    first = mark(question.figure(own.value), origin_of(own))
    second = mark(question.factor(other.factors[1]), origin_of(other, 1))
    return ((piece(first), piece(f"+ {brief(other.factors[0])}·" + second)),)


# Of the ops that training alone has.
_WAYS: dict[str, Callable[[Question], Lines]] = {
    "dropped": _dropped,
    "alignment_loss": _alignment,
    "weighted_sum": _weighted,
}


def gradient_cell(state: ViewState, cell: Cell, share: int | None = None) -> CellSaid | None:
    """How a cell of the gradient on show comes about; share: the part that is spelled out."""
    step, matrix = shown_step(state), gradient_picture(state)
    if step is None or matrix is None or matrix.cell_index is None or not _inside(matrix, cell):
        return None
    site, index = chosen_site(state, step), matrix.cell_index(*cell)
    value = matrix.values[cell]
    lines = gradient_lines(
        step.gradients,
        site,
        index,
        digits(float(value)),
        _places(state, float(value)),
        share,
        state.count_from,
    )
    return CellSaid(_cell_name(matrix, cell), lines, exact(value), place_text(site, index))


def weight_gradient(state: ViewState, share: int | None = None) -> CellSaid | None:
    """How the gradient of the chosen weight comes about; share: the part that is spelled out."""
    step = shown_step(state)
    if step is None:
        return None
    name, index = chosen_parameter(state, step), chosen_cell(state, step)
    value = float(step.optimised.gradients[name][index])
    lines = gradient_lines(
        step.gradients,
        name,
        index,
        digits(value),
        _places(state, value),
        share,
        state.count_from,
    )
    return CellSaid(tr("step.formula.gradient"), lines, exact(value), place_text(name, index))


def _places(state: ViewState, result: float) -> int:
    """Decimals for the terms of a gradient: those of a small one need more to add up to it."""
    size = abs(result)
    small = 4 - math.floor(math.log10(size)) if 0.0 < size < 1.0 else 0
    return max(state.decimals, FEWEST_PLACES, min(small, MOST_PLACES))


def _inside(matrix: Matrix, cell: Cell) -> bool:
    rows, columns = matrix.values.shape
    return 0 <= cell[0] < rows and 0 <= cell[1] < columns


def _cell_name(matrix: Matrix, cell: Cell) -> str:
    row, column = matrix.row_labels[cell[0]], matrix.column_labels[cell[1]]
    return " · ".join(filter(None, (row, column)))
