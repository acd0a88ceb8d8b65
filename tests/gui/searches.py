"""Beam searches of the small model, and the tree of each, for tests of the window."""

from __future__ import annotations

from dataclasses import replace

from tests.gui.live_window import WAIT, live  # noqa: F401
from tests.gui.views import SENTENCE, entry
from visualizer import actions, decoding_actions
from visualizer.inquirer import answer_all
from visualizer.inquiries.paths import PathsInquiry
from visualizer.run import compute
from visualizer.state import Inputs, ViewState
from visualizer.store import Store

WIDTHS = [1, 3, 4, 16]
LIMIT = 9


def searched(beams: int = 4, pinned: int | None = None, **more) -> ViewState:
    """A search over the small model; pinned: the number of a hypothesis to be traced."""
    state = actions.open_model(ViewState(), entry())
    inputs = Inputs(SENTENCE, "beam", beams=beams, max_new_tokens=LIMIT, **more)
    state = replace(state, inputs=inputs, page="decoding")
    state = actions.show_run(state, compute(entry(), inputs, number=1))
    if pinned is not None:
        ids = ids_of(state, pinned)
        state = decoding_actions.pin_hypothesis(state, ids)
        state = actions.show_run(state, compute(entry(), state.inputs, number=2))
    return state


def ids_of(state: ViewState, number: int) -> tuple[int, ...]:
    return tuple(by_number(state)[number].ids[1:])


def by_number(state: ViewState):
    return {h.number: h for h in state.run.search.hypotheses}


def with_paths(state: ViewState) -> ViewState:
    store = Store(state)
    answer_all(store, (PathsInquiry,))
    return store.state


def plain_search(beams: int, **more):
    """The core's own search of the same inputs."""
    return entry().model.generate(SENTENCE, "beam", beams=beams, max_new_tokens=LIMIT, **more)
