"""The picture on the stage, its heads, and the cell in focus: from the state of the view."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from visualizer.i18n import tr
from visualizer.lenses.labels import Words
from visualizer.lenses.matrix import picture, range_of
from visualizer.lenses.picture import Matrix
from visualizer.lenses.token_labels import vocabulary_labels
from visualizer.navigation import current_place
from visualizer.navigation import has_gradient as has_gradient
from visualizer.state import (
    Cell,
    ViewState,
    current_tape,
    current_token,
    guided_head,
    head_count,
    reads_matrix,
    shown_gradients,
    shown_site,
)
from visualizer.walkthrough import Place


@dataclass(frozen=True, eq=False)
class HeadPicture:
    """One thumbnail of the strip of heads; `head` counts from 0."""

    head: int
    title: str
    guided: bool
    selected: bool
    matrix: Matrix


def words(state: ViewState) -> Words:
    """What pictures need beside the tape."""
    if state.model is None:
        return Words((), state.count_from, state.decimals)
    vocabulary = vocabulary_labels(state.model.model.tokenizer.target_vocabulary)
    unknown = () if state.run is None else state.run.unknown
    typed = tuple((word.position, word.text) for word in unknown)
    given = reads_matrix(state.model)
    return Words(vocabulary, state.count_from, state.decimals, typed, given)


def shown_rows(state: ViewState) -> int:
    """How many target positions are on show: those that decoding has reached.

    Gradients are of the whole run, so that of them all are.
    """
    if shown_gradients(state) is not None and state.run is not None:
        return state.run.rows
    return current_token(state) + 1


def focus_row(state: ViewState) -> int:
    """The decoder row that is looked at: the cursor's, of gradients the one they are of."""
    gradients = shown_gradients(state)
    if gradients is not None and gradients.target.kind == "log_prob":
        return gradients.target.row
    return current_token(state)


def stage(state: ViewState) -> Matrix | None:
    """The heatmap of the record on show; None where nothing was computed, or has a gradient."""
    place, tape = current_place(state), current_tape(state)
    if place is None or tape is None or not has_gradient(state):
        return None
    matrix = picture(
        place,
        tape,
        words(state),
        head=state.head,
        rows=shown_rows(state),
        heads=head_count(state),
    )
    focus = _focus(state, matrix, tape[place.site].axes, state.selected)
    if focus is None:
        return matrix
    return replace(matrix, current_row=focus[0], current_column=focus[1])


def focus_cell(state: ViewState, matrix: Matrix) -> Cell | None:
    """The cell to explain: under the pointer, else selected, else the current row's own.

    That is its largest cell, and over the vocabulary the token that was chosen.
    """
    tape, site = current_tape(state), shown_site(state)
    if tape is None or site is None:
        return None
    return _focus(state, matrix, tape[site].axes, state.hovered or state.selected)


def head_pictures(state: ViewState) -> tuple[HeadPicture, ...]:
    """All heads of the record on show, as thumbnails; () where a record has no heads."""
    place, tape = current_place(state), current_tape(state)
    if place is None or tape is None or "H" not in tape[place.site].axes:
        return ()
    record = tape[place.site]
    colours = range_of(place, tape)
    count = record.value.shape[record.axes.index("H")]
    rows, all_words = shown_rows(state), words(state)
    return tuple(
        HeadPicture(
            head=head,
            title=head_title(state, place, head),
            guided=is_guided(state, place, head),
            selected=head == min(state.head, count - 1),
            matrix=picture(
                place, tape, all_words, head=head, rows=rows, colours=colours, labelled=False
            ),
        )
        for head in range(count)
    )


def head_title(state: ViewState, place: Place, head: int) -> str:
    """ "head 1", and that it is guided where it is."""
    key = "head.guided" if is_guided(state, place, head) else "head.plain"
    return tr(key, n=head + state.count_from)


def is_guided(state: ViewState, place: Place, head: int) -> bool:
    """Whether this head of this sublayer was trained with an alignment loss."""
    guided = guided_head(state.model)
    if guided is None or guided[1] != head:
        return False
    return guided[0].rsplit(".", 1)[0] == place.site.rsplit(".", 1)[0]


def _focus(
    state: ViewState, matrix: Matrix, axes: tuple[str, ...], wished: Cell | None
) -> Cell | None:
    height, width = matrix.values.shape
    if not height or not width:
        return None
    if wished is not None and 0 <= wished[0] < height and 0 <= wished[1] < width:
        return wished
    row = min(focus_row(state), height - 1) if axes[-2:-1] == ("T",) else 0
    tape, gradients = current_tape(state), shown_gradients(state)
    if axes[-1:] == ("V",) and gradients is not None and gradients.target.kind == "log_prob":
        return row, gradients.target.token
    if axes[-1:] == ("V",) and tape is not None:
        return row, int(tape.predicted_ids[0, row])
    cells = matrix.values[row]
    if cells.dtype == np.bool_:
        return row, min(row, width - 1)
    sizes = np.abs(cells) if matrix.palette == "diverging" else cells
    visible = np.isfinite(sizes)
    if matrix.hidden is not None:
        visible = visible & ~matrix.hidden[row]
    return row, int(np.where(visible, sizes, -np.inf).argmax())
