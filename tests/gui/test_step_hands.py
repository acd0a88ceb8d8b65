"""What one does on the page of a training step, and what it costs."""

from __future__ import annotations

import pytest

from model_core.training.step import GlassStep
from tests.gui.test_step_page import answered, english, stepped  # noqa: F401 (fixture)
from visualizer import step_actions
from visualizer.lenses import step_cells


@pytest.fixture
def reckonings(monkeypatch) -> list[int]:
    """How often the costs of all positions were reckoned."""
    found: list[int] = []
    own = GlassStep.losses.fget

    def losses(step):
        found.append(1)
        return own(step)

    monkeypatch.setattr(GlassStep, "losses", property(losses))
    return found


def test_the_cell_of_the_loss_reckons_the_costs_once(reckonings):
    state = step_actions.look_at_record(stepped(), "loss")
    reckonings.clear()
    assert step_cells.record_cell(state, (0, 0)).lines
    assert len(reckonings) == 1
