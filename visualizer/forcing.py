"""What one asks to be forced in the output: (ViewState, ...) -> ViewState."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from visualizer.actions import FREE
from visualizer.state import ViewState


def force_token(state: ViewState, row: int, token: int) -> ViewState:
    """Have this token at a decoder row, those before it as they are, and decode the rest again.

    Of a typed target the tokens before it become the prefix. What is on show while another output
    is on its way lists the alternatives of that one no more: then nothing changes.
    """
    before = kept_before(state, row)
    if before is None or state.model is None:
        return state
    if not 0 <= token < len(state.model.model.tokenizer.target_vocabulary):
        return state
    # the cursor stays at the row, however long the output becomes
    placed = replace(state, cursor=replace(state.cursor, token=row))
    return _forced(placed, prefix=(*before, token))


def take_back(state: ViewState, row: int) -> ViewState:
    """Nothing is forced from this row on; it is decoded again from there."""
    if not 0 <= row < forced_count(state):
        return state
    before = kept_before(state, row)
    return state if before is None else _forced(state, prefix=before)


def free(state: ViewState) -> ViewState:
    """Nothing is forced: the model decodes from the start."""
    inputs = state.inputs
    return _forced(state) if inputs.prefix or inputs.target is not None else state


def type_target(state: ViewState, text: str) -> ViewState:
    """The whole target was typed; without a word in it the model decodes freely again."""
    cursor, run = state.cursor, state.run
    if run is not None and cursor.token is not None and cursor.token >= run.last_content:
        # at the end of the output: it follows the new end
        cursor = replace(cursor, token=None)
    return _forced(replace(state, cursor=cursor), target=text if text.strip() else None)


def show_target_line(state: ViewState, shown: bool) -> ViewState:
    """The line in which a target is typed; a target that was typed goes with it."""
    there = state if shown else (free(state) if state.inputs.target is not None else state)
    return replace(there, target_line=shown)


def leave(state: ViewState) -> ViewState:
    """Esc: what is forced is given up; once nothing is, the line of the target is put away."""
    freed = free(state)
    return freed if freed is not state else replace(state, target_line=False)


def forced_count(state: ViewState) -> int:
    """How many rows of the run on show are forced, from the first one on."""
    run = state.run
    if run is None or run.tape is None:
        return 0
    return run.rows if run.inputs.target is not None else min(len(run.inputs.prefix), run.rows)


def kept_before(state: ViewState, row: int) -> tuple[int, ...] | None:
    """The ids in front of a row; None where they are not those that the inputs ask for."""
    run, inputs = state.run, state.inputs
    if run is None or run.tape is None or not 0 <= row < run.rows:
        return None
    if (run.inputs.source, run.inputs.history) != (inputs.source, inputs.history):
        return None
    read: tuple[int, ...] = tuple(run.tape.target_ids[0, 1 : row + 1].tolist())
    if inputs.target is None and row <= len(inputs.prefix):
        return read if read == inputs.prefix[:row] else None
    same = (run.inputs.target, run.inputs.prefix) == (inputs.target, inputs.prefix)
    return read if same else None


def _forced(state: ViewState, **values: Any) -> ViewState:
    inputs = replace(state.inputs, **{**FREE, **values})
    return replace(state, inputs=inputs) if inputs != state.inputs else state
