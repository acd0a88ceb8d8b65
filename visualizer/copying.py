"""The number on show as NumPy source text: which one is meant, and what is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from model_core.snippets import DATA_FILE, Snippet, parameter_snippet
from visualizer.lenses.gradient_words import target_words
from visualizer.lenses.parameter import parameter_picture
from visualizer.lenses.stage import focus_cell, stage
from visualizer.lenses.strips import standing_on
from visualizer.navigation import has_gradient
from visualizer.state import ViewState, current_tape, shown_gradients, shown_site


def can_copy(state: ViewState) -> bool:
    """Whether the page on show tells of a number: a mask has none where gradients are asked."""
    if current_tape(state) is None:
        return False
    return state.page == "parameter" or (state.page == "record" and has_gradient(state))


def focus(state: ViewState) -> tuple[str, tuple[int, ...]] | None:
    """The name and the full index of the number that is selected, else the current row's own."""
    return told(replace(state, hovered=None, hovered_site=None))


def told(state: ViewState) -> tuple[str, tuple[int, ...]] | None:
    """The name and the full index of the number whose line is on show, as the pages tell it.

    That is the one under the pointer, where it is on one. None on a page that tells of no number
    of its own: of what lies behind it nobody thinks.
    """
    if state.page == "parameter":
        picture = parameter_picture(state)
        if picture is None:
            return None
        rows, columns = picture.matrix.values.shape
        cell = state.hovered
        if cell is None or cell[0] >= rows or cell[1] >= columns:
            return picture.name, picture.index
        return picture.name, picture.matrix.cell_index(*cell)
    if state.page != "record":
        return None
    if state.hovered is not None and state.hovered_site is not None:
        state = standing_on(state, state.hovered_site)
    site, matrix = shown_site(state), stage(state)
    cell = None if matrix is None else focus_cell(state, matrix)
    if site is None or matrix is None or cell is None or matrix.cell_index is None:
        return None
    return site, matrix.cell_index(*cell)


def copied(state: ViewState, whole: bool, data: Path | None = None) -> Snippet | None:
    """Source text that prints the number told of, or the whole record or parameter.

    data: the file that long arrays are loaded from
    """
    tape, gradients, found = current_tape(state), shown_gradients(state), told(state)
    if tape is None or found is None:
        return None
    name, place = found
    index, file = None if whole else place, DATA_FILE if data is None else str(data)
    if gradients is not None:
        said = target_words(state, gradients.target)
        if name in gradients:
            return gradients[name].snippet(index, file, said)
        return gradients.parameter_snippet(name, index, file, said)
    if name in tape:
        return tape[name].snippet(index, file)
    return parameter_snippet(name, tape.parameters[name], index, file)
