"""The gradient of one cell, found once more by trying: a finite difference."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

from model_core.gradient_check import Agreement, check_gradient
from visualizer.inquiries.base import Cancelled, Inquiry
from visualizer.state import Found, Spot, ViewState, gradients_key, shown_gradients

DifferenceKey = tuple[Hashable, Spot]


def difference_key(state: ViewState) -> DifferenceKey | None:
    """Which cell of which gradients is to be checked."""
    key = gradients_key(state)
    if state.check is None or key is None or state.gradients is None:
        return None
    return (key, state.check) if state.gradients.key == key else None


def found_agreement(state: ViewState, name: str, index: tuple[int, ...]) -> Agreement | None:
    """What the check of this cell has brought, while the gradients are those that it was of."""
    found = state.difference
    if found is None or found.key != (gradients_key(state), Spot(name, index)):
        return None
    agreement: Agreement = found.result
    return agreement


class DifferenceInquiry(Inquiry):
    """Runs the target again a step above and a step below."""

    def wanted(self, state: ViewState) -> Hashable | None:
        return difference_key(state)

    def answered(self, state: ViewState) -> Hashable | None:
        return None if state.difference is None else state.difference.key

    def work(self, state: ViewState) -> Callable[[Cancelled], Any]:
        gradients, spot = shown_gradients(state), state.check
        assert gradients is not None and state.run is not None and state.run.tape is not None
        tape = state.run.tape
        return lambda cancelled: check_gradient(tape, gradients, spot.name, spot.index, cancelled)

    def answer(self, state: ViewState, key: Hashable, result: Any) -> ViewState:
        # without a result it was no longer wanted
        return state if result is None else replace(state, difference=Found(key, result))
