"""A hypothesis of a beam search that one points at, traced by its ids."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

from model_core.tape import Tape
from visualizer.beam_run import traced
from visualizer.decoding_actions import shown_search
from visualizer.inquiries.base import Cancelled, Inquiry
from visualizer.state import Found, ViewState

Key = tuple[int, tuple[int, ...]]


def on_the_tape(state: ViewState, ids: tuple[int, ...]) -> bool:
    """Whether the run on show has read these ids, so that nothing needs to be traced."""
    return state.run is not None and state.run.chosen[: len(ids)] == ids


def hypothesis_key(state: ViewState) -> Key | None:
    """The run and the ids that are pointed at; None where its own tape has them."""
    run, ids = state.run, state.tree.hovered
    if run is None or not ids or not _points_at_run(state) or on_the_tape(state, ids):
        return None
    return run.number, ids


def _points_at_run(state: ViewState) -> bool:
    """Whether it is the tree of the run on show that one points at, not one that grows."""
    search = shown_search(state)
    return search is not None and search.done


def looked_at(state: ViewState) -> Tape | None:
    """The tape that has read the ids that are pointed at, once it is there."""
    ids, found = state.tree.hovered, state.hypothesis
    if not ids or state.run is None or not _points_at_run(state):
        return None
    if on_the_tape(state, ids):
        return state.run.tape
    tape: Tape | None = found.result if found and found.key == hypothesis_key(state) else None
    return tape


class HypothesisInquiry(Inquiry):
    """The whole tape of the hypothesis under the pointer, once that rests."""

    delay = 60

    def wanted(self, state: ViewState) -> Hashable | None:
        return hypothesis_key(state) if state.page == "decoding" else None

    def answered(self, state: ViewState) -> Hashable | None:
        return None if state.hypothesis is None else state.hypothesis.key

    def work(self, state: ViewState) -> Callable[[Cancelled], Any]:
        assert state.run is not None and state.run.tape is not None and state.model is not None
        model, tape, ids = state.model.model, state.run.tape, state.tree.hovered
        assert ids
        return lambda cancelled: traced(model, tape, ids)

    def answer(self, state: ViewState, key: Hashable, result: Any) -> ViewState:
        return replace(state, hypothesis=Found(key, result))
