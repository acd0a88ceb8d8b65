"""States of the view that show gradients, for tests without a window."""

from __future__ import annotations

from model_core.gradients import GradientTape
from tests.gui.views import at
from visualizer import actions
from visualizer.inquirer import answer_all
from visualizer.inquiries.gradients import GradientsInquiry
from visualizer.state import ViewState, shown_gradients
from visualizer.store import Store


def answered(state: ViewState) -> ViewState:
    """The state once the gradients that it asks for have come."""
    store = Store(state)
    answer_all(store, (GradientsInquiry,))
    return store.state


def gradients_at(site: str, token: int = 3, head: int = 1, **traits: object) -> ViewState:
    """A view that shows gradients at a site; without a choice they are of the token's row."""
    return answered(actions.set_showing(at(site, token, head, **traits), "gradients"))


def tape_of(state: ViewState) -> GradientTape:
    tape = shown_gradients(state)
    assert tape is not None
    return tape
