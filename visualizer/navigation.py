"""Walking along the tape: every intent that moves the cursor, (ViewState, ...) -> ViewState."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from visualizer.actions import put_cursor, select_cell, show_page
from visualizer.state import (
    Cell,
    Cursor,
    ViewState,
    current_tape,
    current_token,
    shown_gradients,
    shown_site,
)
from visualizer.walkthrough import Place, Walk, walk, walk_back

# The walk along each tape: one step asks for it dozens of times.
_walks: WeakKeyDictionary[Any, Walk] = WeakKeyDictionary()


def current_walk(state: ViewState) -> Walk | None:
    """The walk along the run on show; None where nothing was computed."""
    tape = current_tape(state)
    if tape is None or state.run is None:
        return None
    found = _walks.get(tape)
    if found is None or found.rows != state.run.rows:
        along = walk if tape.direction == "forward" else walk_back
        found = _walks[tape] = along(tape.sites, state.run.rows)
    return found


def walks_back(state: ViewState) -> bool:
    """Whether gradients are on show, which are walked from the target back."""
    tape = current_tape(state)
    return tape is not None and tape.direction == "backward"


def current_place(state: ViewState) -> Place | None:
    """The place of the record on show."""
    along, site = current_walk(state), shown_site(state)
    return None if along is None or site is None else along.route.place(site)


def current_index(state: ViewState) -> int | None:
    """The number of the step that the cursor stands on, from 0."""
    along, site = current_walk(state), shown_site(state)
    if along is None or site is None:
        return None
    return along.index(site, current_token(state))


def go_to_index(state: ViewState, index: int) -> ViewState:
    """Go to a step by its number, as the timeline counts; beyond an end, the end."""
    along = current_walk(state)
    if along is None:
        return state
    step = along.step(index)
    # the encoder has no token: the wish is kept for the way back to the decoder
    token = state.cursor.token if step.token is None else step.token
    return _put(state, Cursor(step.place.site, token))


def next_op(state: ViewState) -> ViewState:
    return _moved(state, lambda along, index: index + 1)


def previous_op(state: ViewState) -> ViewState:
    return _moved(state, lambda along, index: index - 1)


def next_sublayer(state: ViewState) -> ViewState:
    return _moved(state, Walk.next_block)


def previous_sublayer(state: ViewState) -> ViewState:
    return _moved(state, Walk.previous_block)


def next_layer(state: ViewState) -> ViewState:
    """One layer on, to the same op if that layer has it."""
    return _moved(state, Walk.next_group)


def previous_layer(state: ViewState) -> ViewState:
    """One layer back, to the same op if that layer has it."""
    return _moved(state, Walk.previous_group)


def next_token(state: ViewState) -> ViewState:
    """The same op at the next decoder token; from the encoder, the decoder's first step.

    Of gradients, the same op while the next token is their target, where none was chosen.
    """
    if walks_back(state):
        return state if state.target else go_to_token(state, current_token(state) + 1)
    if _in_encoder(state):
        along = current_walk(state)
        if along is None or not along.rows:
            return state
        return go_to_index(state, len(along.route.encoder))
    return go_to_token(state, current_token(state) + 1)


def previous_token(state: ViewState) -> ViewState:
    """The same op at the decoder token before; the first one stays, and so does the encoder."""
    fixed = state.target is not None if walks_back(state) else _in_encoder(state)
    return state if fixed else go_to_token(state, current_token(state) - 1)


def has_gradient(state: ViewState) -> bool:
    """Whether the record's numbers can change by a little, where that is asked: a mask's cannot."""
    place, gradients = current_place(state), shown_gradients(state)
    if place is None or gradients is None:
        return True
    return bool(np.asarray(gradients.value_of(place.site)).dtype.kind == "f")


def home(state: ViewState) -> ViewState:
    """The first step of the walk."""
    return go_to_index(state, 0)


def end(state: ViewState) -> ViewState:
    """The last step of the walk."""
    along = current_walk(state)
    return state if along is None else go_to_index(state, len(along) - 1)


def go_to_token(state: ViewState, token: int) -> ViewState:
    """The same op at decoder row `token`; from the encoder, the decoder's last op at that row."""
    along, site = current_walk(state), shown_site(state)
    if along is None or site is None or not along.rows:
        return state
    token = min(max(token, 0), along.rows - 1)
    if _in_encoder(state) and not walks_back(state):
        site = along.route.decoder[-1].site
    return put_cursor(state, Cursor(site, token))


def go_to_site(state: ViewState, site: str) -> ViewState:
    """The op with this site, at the current token; a site that is not recorded changes nothing."""
    tape = current_tape(state)
    if tape is None or site not in tape:
        return state
    return _put(state, replace(state.cursor, site=tape.plan.resolve(site)))


def go_to_record(state: ViewState, site: str, row: int | None = None) -> ViewState:
    """The op with this site, and its own picture in place of the whole model's.

    row: of a decoder's record, the decoder token to stand at; without it the current one. Of a
    gradient, the row in which the largest number is selected: the target stays.
    """
    there = go_to_site(state, site)
    tape = current_tape(there)
    if row is not None and tape is not None and tape.direction == "backward":
        sizes = abs(tape[there.cursor.site].value[0, row])
        return replace(show_page(there, "record"), selected=(row, int(sizes.argmax())))
    if row is not None and not _in_encoder(there):
        there = go_to_token(there, row)
    return show_page(there, "record")


def look_at(state: ViewState, site: str, cell: Cell) -> ViewState:
    """Go to a record with one of its cells selected; once more lets go of the cell."""
    there = go_to_site(state, site)
    same = there is state and state.selected == cell
    return select_cell(show_page(there, "record"), None if same else cell)


def go_to_block(state: ViewState, block_id: str) -> ViewState:
    """A box of the map, at the current token: an attention at its weights, else its last op.

    A box that the cursor is in already changes nothing.
    """
    along, site = current_walk(state), shown_site(state)
    if along is None or site is None:
        return state
    block = along.route.block(block_id)
    if block is None or site in block.sites:
        return state
    weights = [member for member in block.sites if member.endswith(".weights")]
    return go_to_site(state, weights[0] if weights else block.sites[-1])


def advance(state: ViewState) -> ViewState:
    """One tick of the play button: the next op, and a stop at the end."""
    along, index = current_walk(state), current_index(state)
    if along is None or index is None or index + 1 >= len(along):
        return replace(state, playing=False)
    return next_op(state)


def _put(state: ViewState, cursor: Cursor) -> ViewState:
    """Go to a place; within one picture of several records the selected cell stays selected."""
    there = put_cursor(state, cursor)
    if state.selected is None or there is state or current_token(there) != current_token(state):
        return there
    before, after, tape = current_place(state), current_place(there), current_tape(state)
    if before is None or after is None or tape is None or before.block != after.block:
        return there
    axes = tape[before.site].axes, tape[after.site].axes
    if not axes[0] or not axes[1]:
        return there  # a target is one number, and has no cells
    # a mean or a variance has one number per row, and behind it the row's cell is meant again
    same = axes[0][-2:] == axes[1][-2:] or "1" in (axes[0][-1], axes[1][-1])
    if after.kind.endswith("_attn") or before.sublayer == "mask" or not same:
        return there
    return select_cell(there, state.selected)


def _in_encoder(state: ViewState) -> bool:
    place = current_place(state)
    return place is not None and place.side == "encoder"


def _moved(state: ViewState, move: Callable[[Walk, int], int]) -> ViewState:
    along, index = current_walk(state), current_index(state)
    if along is None or index is None:
        return state
    return go_to_index(state, move(along, index))
