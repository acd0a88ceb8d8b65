"""Whether the record on show is what it should be, checked once the steps come to rest."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

from model_core.audit import Stopped, audit
from model_core.checks import Audit
from visualizer.inquiries.base import Cancelled, Inquiry
from visualizer.navigation import has_gradient
from visualizer.state import (
    Found,
    ViewState,
    current_tape,
    gradients_key,
    shown_gradients,
    shown_site,
)


def audit_key(state: ViewState) -> Hashable | None:
    """What is to be checked: a site of a run, or its gradient; None where no record is on show."""
    site = shown_site(state)
    if state.run is None or site is None or state.page != "record" or not has_gradient(state):
        return None
    gradients = gradients_key(state) if shown_gradients(state) is not None else None
    return state.run.number, gradients, site


def current_audit(state: ViewState) -> Audit | None:
    """The checks of the record on show, once they are there."""
    found, key = state.audit, audit_key(state)
    if found is None or key is None or found.key != key:
        return None
    checked: Audit = found.result
    return checked


class AuditInquiry(Inquiry):
    """The record's algebra, and its numbers once more in float64."""

    delay = 150

    def wanted(self, state: ViewState) -> Hashable | None:
        return audit_key(state)

    def answered(self, state: ViewState) -> Hashable | None:
        return None if state.audit is None else state.audit.key

    def work(self, state: ViewState) -> Callable[[Cancelled], Any]:
        tape, site = current_tape(state), shown_site(state)
        assert tape is not None and site is not None
        record = tape[site]

        def checked(cancelled: Cancelled) -> Audit | None:
            try:
                return audit(record, cancelled)
            except Stopped:
                return None

        return checked

    def answer(self, state: ViewState, key: Hashable, result: Any) -> ViewState:
        # without a result it was no longer wanted
        return state if result is None else replace(state, audit=Found(key, result))
