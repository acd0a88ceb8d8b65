"""The lab's paused training under the glass: the step that one batch more would be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt

from model_core.training.lab_data import FileSource
from model_core.training.lab_run import LabRun
from model_core.training.settings import Settings
from tests.gui.live_window import WAIT, live  # noqa: F401 (fixture)
from tests.gui.samples import LEFT_BUTTON
from tests.gui.test_step_page import answered, finished
from tests.gui.views import view, worked_view
from visualizer import actions, lab_orders, step_actions
from visualizer.inquiries.step import (
    current_step,
    found_check,
    found_curves,
    is_trying,
    refusal,
    shown_step,
)
from visualizer.lab import Subject, Training
from visualizer.lenses import step_words
from visualizer.lenses.step_batch import batch_grid
from visualizer.state import ViewState

SETTINGS = Settings(
    d_model=8,
    n_heads=2,
    d_ff=8,
    n_layers=1,
    batch_size=16,
    steps=60,
    warmup_steps=5,
    dropout_rate=0.1,
)
PAIRS = "".join(f"{a}{b}\t{b}{a}\n" for a in "abcdefgh" for b in "efghijkl")


@pytest.fixture
def run(tmp_path: Path) -> LabRun:
    """A training after seven steps."""
    path = tmp_path / "pairs.tsv"
    path.write_text(PAIRS, "utf-8")
    begun = LabRun.begin(FileSource(str(path)), SETTINGS)
    for _ in range(7):
        begun.advance()
    return begun


def paused(run: LabRun, tmp_path: Path, state: ViewState | None = None) -> ViewState:
    """The window's state once this training stands still."""
    path = tmp_path / "training-1.safetensors"
    run.save_run(path)
    training = Training(
        1,
        Subject(run.data.source, "pairs.tsv", SETTINGS),
        "paused",
        config=run.model.config,
        total=run.total_steps,
        step=run.step,
        saved_step=run.step,
        checkpoint=str(path),
    )
    shown = state or view()
    return replace(shown, lab=replace(shown.lab, step="training", training=training))


def glassed(run: LabRun, tmp_path: Path, **changes) -> ViewState:
    return answered(step_actions.look_at_training(paused(run, tmp_path, **changes)))


def test_the_step_shown_is_the_one_that_the_training_takes(run, tmp_path):
    state = glassed(run, tmp_path)
    step, progress = current_step(state), run.advance()
    assert float(step.tape["loss"].value) == progress.loss
    assert step.optimised.norm == progress.gradient_norm
    for name, value in run.model.parameters.items():
        assert np.array_equal(step.optimised.parameters[name], value), name
    caption = step_words.step_caption(state)
    assert caption.sentence.startswith("The step that “One batch” takes")
    cells = [cell for row in batch_grid(state).rows for cell in row.cells]
    assert sum(cell.kind == "counted" for cell in cells) == progress.tokens
    # every source is two letters and the end, every target two and the start
    assert {cell.text for row in batch_grid(state).rows for cell in row.cells} <= {
        *"abcdefghijkl",
        *("<SOS>", "<EOS>"),
    }


def test_a_training_that_goes_on_leaves_the_last_step_on_show_and_says_so(run, tmp_path):
    state = glassed(run, tmp_path)
    step = current_step(state)
    training = replace(state.lab.training, status="running", step=8)
    on = replace(state, lab=replace(state.lab, training=training))
    assert current_step(on) is None and shown_step(on) is step
    assert "goes on" in step_words.step_caption(on).sentence
    # paused at another step, that one is shown and no other
    again = replace(training, status="paused", saved_step=8)
    later = replace(on, lab=replace(on.lab, training=again))
    assert shown_step(later) is None
    # once it is over, the model on show has the page again
    over = replace(on, lab=replace(on.lab, training=replace(training, status="finished")))
    assert step_actions.weights_of(over) == "trained"
    assert step_words.weights_said(over)[0] == ("trained weights", "fresh weights")


def test_a_checkpoint_that_is_gone_is_one_sentence(run, tmp_path):
    state = step_actions.look_at_training(paused(run, tmp_path))
    Path(state.lab.training.checkpoint).unlink()
    refused = answered(state)
    assert current_step(refused) is None and refusal(refused)
    assert step_words.step_caption(refused).sentence
    assert batch_grid(refused) is None


def test_without_a_saved_pause_there_is_nothing_to_lay_open(run, tmp_path):
    state = paused(run, tmp_path)
    training = replace(state.lab.training, saved_step=6)
    early = replace(state, lab=replace(state.lab, training=training))
    assert step_actions.paused_training(early) is None
    assert step_actions.look_at_training(early) is early
    assert step_words.weights_said(early)[2] is False
    assert step_words.weights_said(state)[2] is True


def test_a_model_without_a_decoder_does_not_stand_in_its_way(run, tmp_path):
    state = glassed(run, tmp_path, state=worked_view())
    assert step_actions.can_step(state) and current_step(state) is not None
    back = step_actions.set_weights(state, "trained")
    assert not step_actions.can_step(back)


def test_the_training_and_the_models_own_step_are_not_mixed_up(run, tmp_path):
    state = glassed(run, tmp_path)
    training_step = current_step(state)
    own = answered(step_actions.set_weights(state, "trained"))
    assert current_step(own).model is own.model.model
    assert shown_step(step_actions.set_weights(own, "paused")) is None
    again = answered(step_actions.set_weights(own, "paused"))
    assert current_step(again).loss == training_step.loss
    assert step_actions.pairs_of(again) == ()


def test_its_gradients_are_checked_and_mistakes_are_tried_on_its_batch(run, tmp_path):
    state = glassed(run, tmp_path)
    done = finished(step_actions.set_checking(state, True))
    assert all(row.holds for row in found_check(done).rows)
    wrong = answered(step_actions.toggle_mistake(state, "no_scaling"))
    assert "mistakes" in step_words.step_caption(wrong).sentence
    assert current_step(wrong).loss != current_step(state).loss
    tried = finished(step_actions.set_trying(wrong, True))
    assert len(found_curves(tried).right) == 200


def test_a_training_that_goes_on_keeps_the_curves_and_the_trial_goes_on(run, tmp_path):
    state = answered(step_actions.toggle_mistake(glassed(run, tmp_path), "no_scaling"))
    state = answered(step_actions.set_trying(state, True))
    some = len(found_curves(state).right)
    assert 0 < some < 200 and is_trying(state)
    training = replace(state.lab.training, status="running")
    on = replace(state, lab=replace(state.lab, training=training))
    assert len(found_curves(on).right) == some and is_trying(on)
    done = finished(on)
    assert len(found_curves(done).right) == 200 and not is_trying(done)
    # paused at another step they stay, until the trial is asked for once more
    run.advance()
    again = answered(step_actions.look_at_training(paused(run, tmp_path, done)))
    assert current_step(again).step == 8
    assert len(found_curves(again).right) == 200


def test_a_trial_that_cannot_begin_is_not_under_way(run, tmp_path):
    state = paused(run, tmp_path)
    training = replace(state.lab.training, status="running")
    on = replace(state, lab=replace(state.lab, training=training))
    on = step_actions.toggle_mistake(step_actions.set_weights(on, "paused"), "no_scaling")
    assert not is_trying(step_actions.set_trying(on, True))


# On screen.


def test_the_labs_button_leads_to_the_step_and_backspace_back(live, run, tmp_path):  # noqa: F811
    given = paused(run, tmp_path, live.state).lab
    live.store.dispatch(lambda state: actions.show_page(replace(state, lab=given), "train"))
    part = live.window.stage.pages["train"].parts["training"]
    assert part.glass.isVisible() and part.glass.isEnabled()
    live.qtbot.mouseClick(part.glass, LEFT_BUTTON)
    assert live.state.page == "step"
    live.qtbot.waitUntil(lambda: current_step(live.state) is not None, timeout=WAIT)
    fields = live.window.stage.pages["step"].parts["batch"].fields
    assert not fields.seed.isVisible() and not fields.add.isVisible()
    live.window.stage.setFocus()
    live.press(Qt.Key.Key_Backspace)
    assert live.state.page == "train"
    running = replace(given, training=replace(given.training, status="running"))
    live.store.dispatch(lambda state: replace(state, lab=running))
    # it keeps its place, so that no other button moves
    assert part.glass.isVisible() and not part.glass.isEnabled()


def test_news_of_a_training_that_goes_on_draw_nothing_anew(live, run, tmp_path):  # noqa: F811
    given = paused(run, tmp_path, live.state).lab
    live.store.dispatch(lambda state: replace(state, lab=given))
    live.store.dispatch(step_actions.look_at_training)
    live.qtbot.waitUntil(lambda: current_step(live.state) is not None, timeout=WAIT)
    page = live.window.stage.pages["step"]
    drawn = []
    page.parts["batch"].draw = lambda state: drawn.append(state)
    going = replace(given, training=replace(given.training, status="running", number=1))
    live.store.dispatch(lambda state: replace(state, lab=going))
    assert len(drawn) == 1
    for step in range(8, 12):
        live.store.dispatch(lab_orders.take_news, 1, step=step)
    assert len(drawn) == 1
