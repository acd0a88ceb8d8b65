"""What one does with all attention at once: (ViewState, ...) -> ViewState."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from model_core.ops.base import Origin
from visualizer.actions import put_cursor, select_head
from visualizer.navigation import go_to_site
from visualizer.state import ViewState, head_count
from visualizer.trail import follow, open_page

# The threshold goes in steps of a hundredth, and never to where everything is drawn.
LEAST_THRESHOLD, MOST_THRESHOLD = 0.01, 0.99


def set_heads(state: ViewState, heads: Literal["mean", "max"] | int) -> ViewState:
    """One head, from 0, or what is made of all; a head that the model lacks changes nothing."""
    if isinstance(heads, int) and not 0 <= heads < head_count(state):
        return state
    return replace(state, linked=replace(state.linked, heads=heads))


def set_encoder_layer(state: ViewState, layer: int | None) -> ViewState:
    """The encoder layer on show, from 0; None follows the cursor."""
    return replace(state, linked=replace(state.linked, encoder_layer=layer))


def set_decoder_layer(state: ViewState, layer: int | None) -> ViewState:
    """The decoder layer on show, from 0; None follows the cursor."""
    return replace(state, linked=replace(state.linked, decoder_layer=layer))


def set_threshold(state: ViewState, threshold: float) -> ViewState:
    """Weights below are not drawn."""
    threshold = min(max(threshold, LEAST_THRESHOLD), MOST_THRESHOLD)
    return replace(state, linked=replace(state.linked, threshold=threshold))


def set_fact(state: ViewState, fact: str) -> ViewState:
    """The number that stands below each head of the overview."""
    return replace(state, linked=replace(state.linked, fact=fact))


def pin(state: ViewState, side: Literal["encoder", "decoder"], place: int) -> ViewState:
    """Keep a token's paths lit, and let go of them the second time.

    The cursor follows to a target token, at the site where it stands.
    """
    token = (side, place)
    again = state.linked.pinned == token
    there = replace(state, linked=replace(state.linked, pinned=None if again else token))
    if side == "encoder" or again:
        return there
    return put_cursor(there, replace(state.cursor, token=place))


def unpin(state: ViewState) -> ViewState:
    """No token's paths stay lit."""
    return replace(state, linked=replace(state.linked, pinned=None))


def open_weight(state: ViewState, site: str, head: int, row: int, column: int) -> ViewState:
    """Go to the cell of the weights record that an edge is."""
    return follow(state, Origin(site, (0, head, row, column)))


def open_head(state: ViewState, site: str, head: int) -> ViewState:
    """Go to a head of a weights record."""
    return select_head(go_to_site(open_page(state, "record"), site), head)
