"""The gradients of the target with respect to all that is on show."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

from model_core.gradients import gradients_of
from visualizer.inquiries.base import Cancelled, Inquiry
from visualizer.state import Found, ViewState, gradients_key, target_of


class GradientsInquiry(Inquiry):
    """Walks the run's tape back from the target."""

    def wanted(self, state: ViewState) -> Hashable | None:
        return gradients_key(state)

    def answered(self, state: ViewState) -> Hashable | None:
        return None if state.gradients is None else state.gradients.key

    def work(self, state: ViewState) -> Callable[[Cancelled], Any]:
        assert state.run is not None and state.run.tape is not None
        tape, target = state.run.tape, target_of(state)
        return lambda cancelled: gradients_of(tape, target)

    def answer(self, state: ViewState, key: Hashable, result: Any) -> ViewState:
        # a part that is spelled out is one of the gradient before
        return replace(state, gradients=Found(key, result), share=None)
