"""Which pages of the stage have anything to show; told without making them."""

from __future__ import annotations

from visualizer.conversation import chat_rules
from visualizer.inquiries.lens import has_lens
from visualizer.state import PageName, ViewState, current_tape, reads_matrix
from visualizer.step_actions import can_step


def is_offered(state: ViewState, page: PageName) -> bool:
    """Whether a page has anything to show; where not, the record's page has the stage."""
    if page == "layers":
        return has_flow(state)
    if page in ("attention", "heads"):
        return state.run is not None and state.run.tape is not None
    if page == "lens":
        return has_lens(state)
    if page == "decoding":
        return state.model is not None and not reads_matrix(state.model)
    if page == "step":
        return can_step(state)
    if page == "chat":
        return chat_rules(state.model) is not None
    if page == "parameter":
        # only where a link has led to one
        from visualizer.lenses.parameter import parameter_caption

        return parameter_caption(state) is not None
    return True


def has_flow(state: ViewState) -> bool:
    """Whether the run has a residual stream: a lone attention has none."""
    tape = current_tape(state)
    return tape is not None and any("residual" in site for site in tape.sites)
