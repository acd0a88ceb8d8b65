"""What one does on the page of a training step, and what it costs."""

from __future__ import annotations

import pytest

from model_core.training import mistake_runs, step_check
from model_core.training import step as glass
from model_core.training.step import GlassStep
from tests.gui.live_window import WAIT, live  # noqa: F401 (fixture)
from tests.gui.samples import LEFT_BUTTON, at
from tests.gui.test_step_page import opened, stepped
from visualizer import step_actions
from visualizer.inquiries.step import current_step, found_check, found_curves
from visualizer.lenses import step_cells
from visualizer.lenses.step_choice import chosen_cell
from visualizer.lenses.step_clipping import clipping_formulas
from visualizer.lenses.step_tables import digits
from visualizer.widgets.formula import typeset


@pytest.fixture
def reckonings(monkeypatch) -> list[int]:
    """How often the costs of all positions were reckoned."""
    found: list[int] = []
    own = GlassStep.losses.func

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


def broken(*args, **values):
    raise RuntimeError("no memory")


def test_a_step_that_fails_says_so_and_can_be_tried_again(live, monkeypatch):  # noqa: F811
    page = opened(live)
    live.store.dispatch(step_actions.show_stage, "adam")
    whole = glass.glass_step
    monkeypatch.setattr(glass, "glass_step", broken)
    live.store.dispatch(step_actions.set_seed, 5)
    live.qtbot.waitUntil(lambda: page.stack.currentWidget() is page.failed, timeout=WAIT)
    assert "no memory" in page.failed.words.text()
    assert not live.window.grab().isNull()
    live.store.dispatch(step_actions.show_stage, "batch")
    assert page.stack.currentWidget() is page.parts["batch"]
    assert page.parts["batch"].cells._empty == ""
    live.store.dispatch(step_actions.show_stage, "adam")
    monkeypatch.setattr(glass, "glass_step", whole)
    live.qtbot.mouseClick(page.failed.button, LEFT_BUTTON)
    live.qtbot.waitUntil(lambda: current_step(live.state) is not None, timeout=WAIT)
    assert page.stack.currentWidget() is page.parts["adam"]
    assert current_step(live.state).seed == 5


def test_a_check_and_a_trial_that_fail_are_no_longer_under_way(live, monkeypatch):  # noqa: F811
    opened(live)
    monkeypatch.setattr(step_check, "check_parameter", broken)
    live.store.dispatch(step_actions.set_checking, True)
    live.qtbot.waitUntil(lambda: not live.state.training_step.checking, timeout=WAIT)
    assert found_check(live.state) is None and live.state.notice is not None
    monkeypatch.setattr(mistake_runs, "loss_curves", broken)
    live.store.dispatch(step_actions.toggle_mistake, "no_scaling")
    live.qtbot.waitUntil(lambda: current_step(live.state) is not None, timeout=WAIT)
    live.store.dispatch(step_actions.set_trying, True)
    live.qtbot.waitUntil(lambda: not live.state.training_step.trying, timeout=WAIT)
    assert found_curves(live.state) is None


def test_the_gradient_of_a_weight_is_spelled_out_and_its_numbers_lead_on(live):  # noqa: F811
    page = opened(live)
    step = current_step(live.state)
    for name in step.parameters:
        there = step_actions.look_at_parameter(live.state, name)
        told = step_cells.weight_gradient(there)
        exact_sum = step.gradients.explain_parameter(name, chosen_cell(there, step)).value
        assert float(told.exact) == pytest.approx(exact_sum, rel=1e-3, abs=1e-6)
    live.store.dispatch(step_actions.show_stage, "adam")
    live.store.dispatch(step_actions.look_at_parameter, "decoder.layers.0.ffn.W_1")
    part = page.parts["adam"]
    live.window.grab()
    links = [link for piece in part.gradient._lines[0] for link in piece.links]
    assert {link.origin.of for link in links} == {"value", "gradient"}
    back = next(link.origin for link in links if link.origin.of == "gradient")
    part.gradient.linkClicked.emit(back)
    view = live.state.training_step
    assert (view.stage, view.site, view.spot) == ("backward", back.name, back.index)
    live.store.dispatch(step_actions.go_back)
    assert live.state.training_step.stage == "adam"


def test_the_factor_of_the_clipping_is_written_out_and_its_rows_lead_to_the_weights(live):  # noqa: F811
    page = opened(live)
    step = current_step(live.state)
    said = clipping_formulas(live.state)
    done = step.optimised
    assert [float(one.plain) for one in said] == [done.norm, done.coefficient, done.clipped_norm]
    assert digits(done.norm) in said[1].tex and digits(done.coefficient) in said[1].tex
    assert all(typeset(one.tex, "#123456") is not None for one in said)
    live.store.dispatch(step_actions.show_stage, "clipping")
    part = page.parts["clipping"]
    assert part.step_table(1) and live.state.training_step.stage == "clipping"
    rect = part.table.row_rect(2)
    live.qtbot.mouseClick(part.table, LEFT_BUTTON, pos=at(rect.center()))
    view = live.state.training_step
    assert (view.stage, view.parameter) == ("adam", part.table.table.rows[2].key)
    live.store.dispatch(step_actions.go_back)
    assert live.state.training_step.stage == "clipping"
