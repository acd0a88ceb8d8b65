"""Following a number to where it came from, and coming back: (ViewState, ...) -> ViewState."""

from __future__ import annotations

from dataclasses import replace

from model_core.ops.base import Origin
from visualizer.actions import put_cursor, select_cell, show_page
from visualizer.navigation import go_to_site
from visualizer.state import (
    Cell,
    Cursor,
    PageName,
    Spot,
    Station,
    ViewState,
    current_tape,
)

# A trail longer than this forgets its beginning.
LONGEST_TRAIL = 100


def open_page(state: ViewState, page: PageName) -> ViewState:
    """Another page takes the stage; the way back leads to where one is."""
    return state if page == state.page else show_page(_marked(state), page)


def follow(state: ViewState, origin: Origin) -> ViewState:
    """Go to the cell that a number was read from, in its record or parameter.

    A run input has no picture of its own: that changes nothing.
    """
    tape = current_tape(state)
    if tape is None:
        return state
    showing = "gradients" if origin.of == "gradient" else "values"
    there = replace(_marked(state), showing=showing, share=None)
    if origin.name in tape:
        return _at_record(there, tape.plan.resolve(origin.name), origin.index)
    if origin.name in tape.parameters:
        spot = Spot(origin.name, origin.index)
        there = replace(there, parameter=spot, selected=None, hovered=None, hovered_site=None)
        return replace(there, page="parameter", editing=None)
    return state


def go_back(state: ViewState) -> ViewState:
    """Where the last link was followed from; at the start of the trail nothing changes."""
    if not state.trail:
        return state
    *before, last = state.trail
    return replace(
        state,
        trail=tuple(before),
        page=last.page,
        showing=last.showing,
        cursor=last.cursor,
        head=last.head,
        selected=last.selected,
        parameter=last.parameter,
        share=None,
        editing=None,
        hovered=None,
        hovered_site=None,
    )


def cell_of(axes: tuple[str, ...], index: tuple[int, ...]) -> Cell:
    """Row and column of the picture that show the cell with this full index."""
    row, column = (0, 0, *index)[-2:]
    return (row, column) if len(axes) > 1 else (0, column)


def _at_record(state: ViewState, site: str, index: tuple[int, ...]) -> ViewState:
    tape = current_tape(state)
    assert tape is not None
    axes = tape[site].axes
    row, column = cell_of(axes, index)
    there = go_to_site(replace(show_page(state, "record"), parameter=None), site)
    if "H" in axes:
        there = replace(there, head=index[axes.index("H")])
    targets = [place for axis, place in zip(axes, index, strict=True) if axis == "T"]
    if targets and tape.direction == "forward":
        # the panels beside the stage tell of the cursor's row: that is the one that is looked at,
        # and one that decoding has not come to yet is not on show
        hidden = len(targets) > 1 and targets[1] > targets[0]
        there = put_cursor(there, Cursor(site, max(targets) if hidden else targets[0]))
    return select_cell(there, (row, column))


def _marked(state: ViewState) -> ViewState:
    here = Station(
        state.page, state.showing, state.cursor, state.head, state.selected, state.parameter
    )
    return replace(state, trail=(*state.trail, here)[-LONGEST_TRAIL:])
