"""The logit lens over the run on show, read while it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

from model_core.logit_lens import LogitLens, readings
from visualizer.inquiries.base import Cancelled, Inquiry
from visualizer.state import Beside, Found, ViewState, gradients_key, reads_matrix


def has_lens(state: ViewState) -> bool:
    """Whether the run has a decoder whose states can be read."""
    run = state.run
    return run is not None and run.tape is not None and "logits" in run.tape and run.rows > 0


def shown_beside(state: ViewState) -> Beside:
    """What the panel at the right is to show; for gradients there is a choice of its own."""
    return state.beside if gradients_key(state) is None else state.beside_gradients


def lens_beside(state: ViewState) -> bool:
    """Whether the logit lens is on show beside the stage."""
    beside = state.roomy or shown_beside(state) == "logit_lens"
    return beside and not reads_matrix(state.model)


def lens_key(state: ViewState) -> int | None:
    """What readings are asked for: those of the run on show."""
    return state.run.number if state.run is not None and has_lens(state) else None


def current_readings(state: ViewState) -> LogitLens | None:
    """The readings of the run on show, once they are there."""
    found, key = state.readings, lens_key(state)
    if found is None or key is None or found.key != key:
        return None
    lens: LogitLens = found.result
    return lens


class LensInquiry(Inquiry):
    """What every state of the decoder would say, at every row of the run."""

    # two frames: not while the run that has come is being painted, or the next one computed
    delay = 30

    def wanted(self, state: ViewState) -> Hashable | None:
        shown = state.page == "lens" or lens_beside(state)
        return lens_key(state) if shown else None

    def answered(self, state: ViewState) -> Hashable | None:
        return None if state.readings is None else state.readings.key

    def work(self, state: ViewState) -> Callable[[Cancelled], Any]:
        assert state.run is not None and state.run.tape is not None
        tape = state.run.tape
        return lambda cancelled: readings(tape, cancelled=cancelled)

    def answer(self, state: ViewState, key: Hashable, result: Any) -> ViewState:
        # without a result it was no longer wanted
        return state if result is None else replace(state, readings=Found(key, result))
