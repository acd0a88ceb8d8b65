"""The number on show as NumPy source text: which one is meant, and what is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from model_core.snippets import DATA_FILE, Snippet, parameter_snippet
from visualizer.lenses.parameter import parameter_picture
from visualizer.lenses.stage import focus_cell, stage
from visualizer.state import ViewState, current_tape, shown_gradients, shown_site


def focus(state: ViewState) -> tuple[str, tuple[int, ...]] | None:
    """The name and the full index of the number that is selected, else the one told about."""
    if state.page == "parameter":
        picture = parameter_picture(state)
        return None if picture is None else (picture.name, picture.index)
    still = replace(state, hovered=None, hovered_site=None)
    site, matrix = shown_site(still), stage(still)
    cell = None if matrix is None else focus_cell(still, matrix)
    if site is None or matrix is None or cell is None or matrix.cell_index is None:
        return None
    return site, matrix.cell_index(*cell)


def copied(state: ViewState, whole: bool, data: Path | None = None) -> Snippet | None:
    """Source text that prints the number in focus, or the whole record or parameter.

    data: the file that long arrays are loaded from
    """
    tape, gradients, found = current_tape(state), shown_gradients(state), focus(state)
    if tape is None or found is None:
        return None
    name, place = found
    index, file = None if whole else place, DATA_FILE if data is None else str(data)
    if name in tape:
        return tape[name].snippet(index, file)
    if gradients is not None:
        return gradients.parameter_snippet(name, index, file)
    return parameter_snippet(name, tape.parameters[name], index, file)
