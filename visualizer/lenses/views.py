"""Which picture the stage shows of a sublayer, beside the heatmap of the one record."""

from __future__ import annotations

from visualizer.i18n import tr
from visualizer.lenses import add_norm, embedding, feed_forward, gradient_strips, masks
from visualizer.lenses.numbers import exact
from visualizer.lenses.picture import Matrix
from visualizer.lenses.reductions import deviations
from visualizer.lenses.strips import Stack, View, view_of
from visualizer.navigation import current_place
from visualizer.state import Cell, ViewState, current_tape


def stack(state: ViewState, matrix: Matrix | None) -> Stack | None:
    """The records of the current sublayer in one picture; None where a heatmap says it all.

    matrix: the heatmap of the record at the cursor
    """
    place, tape = current_place(state), current_tape(state)
    if place is None or tape is None:
        return None
    if tape.direction == "backward":
        along = view_of(state, matrix)
        return None if along is None else gradient_strips.gradient_strips(along)
    if place.kind in add_norm.KINDS:
        draw = add_norm.add_norm
    elif place.sublayer == "embed":
        draw = embedding.embedding
    elif place.sublayer == "mask":
        draw = masks.masks
    elif place.kind == "ffn":
        draw = feed_forward.feed_forward
    else:
        return None
    view: View | None = view_of(state, matrix)
    return None if view is None else draw(view)


def remark(state: ViewState, site: str, cell: Cell) -> str:
    """What a lens makes of a cell, said in words beside it: σ of a variance."""
    tape = current_tape(state)
    if tape is None or tape.direction == "backward" or tape[site].op != "variance":
        return ""
    return tr("strip.sigma.of", value=exact(deviations(tape, site)[cell[0]]))
