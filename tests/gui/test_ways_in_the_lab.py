"""Ways through the lab: nothing typed is lost, each way back leads to where one was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt

from model_core.training.lab_data import Facts, TaskSource, task_settings
from tests.gui import scripted_training as scripted
from tests.gui.lab_bench import PAIRS, Bench, subject
from tests.gui.views import view
from visualizer import lab_actions, lab_orders
from visualizer.inquiries.lab import LookInquiry
from visualizer.lab import Training
from visualizer.lenses import lab_charts, lab_form
from visualizer.state import ViewState


@pytest.fixture
def live(lab_window):
    return lab_window


def lab_state() -> ViewState:
    return replace(view(), page="train")


def looked(state: ViewState, path: Path) -> ViewState:
    """The file is chosen, and the look at it has come."""
    state, inquiry = lab_actions.choose_file(state, path), LookInquiry()
    return inquiry.answer(state, inquiry.wanted(state), inquiry.work(state)(lambda: False))


def in_training(state: ViewState, **values) -> ViewState:
    training = Training(1, subject(d_model=40), **values)
    return lab_actions.with_lab(state, step="training", training=training)


@pytest.fixture
def good(tmp_path) -> Path:
    path = tmp_path / "ok.tsv"
    path.write_text(PAIRS, encoding="utf-8")
    return path


@pytest.fixture
def bad(tmp_path) -> Path:
    path = tmp_path / "empty.txt"
    path.write_bytes(b"")
    return path


# A file that cannot be used.


def test_a_bad_file_leaves_the_form_as_it_was(bad):
    state = lab_actions.choose_task(lab_state(), "dates")
    state = lab_actions.set_setting(state, "d_model", 40)
    refused = looked(state, bad)
    assert refused.notice is not None and refused.notice.key == "error.pairs"
    assert refused.lab.step == "settings" and refused.lab.subject is state.lab.subject
    assert refused.lab.file is None


def test_a_bad_file_leaves_a_training_on_show_and_a_good_file_in_place(good, bad):
    state = in_training(lab_state())
    assert looked(state, bad).lab.step == "training"
    on_file = looked(lab_state(), good)
    refused = looked(on_file, bad)
    assert refused.lab.step == "file"
    assert refused.lab.file.path == str(good) and refused.lab.file.report is not None
    back = lab_actions.leave_file(on_file)
    assert looked(back, bad).lab.step == "choose"


# Back.


def test_back_from_a_file_leads_to_where_it_was_dropped(good):
    for state in (lab_actions.choose_task(lab_state(), "dates"), in_training(lab_state())):
        dropped = looked(state, good)
        assert dropped.lab.step == "file"
        back = lab_actions.leave_file(dropped)
        assert (back.lab.step, back.lab.subject) == (state.lab.step, state.lab.subject)


def test_back_from_a_task_leads_to_the_start_page_whatever_was_dropped_before(good):
    state = lab_actions.leave_file(looked(lab_state(), good))
    state = lab_actions.choose_task(state, "reverse")
    assert lab_actions.leave_settings(state).lab.step == "choose"


def test_back_from_a_files_settings_leads_to_the_file_and_from_there_on(good):
    state = lab_actions.accept_file(looked(lab_actions.choose_task(lab_state(), "dates"), good))
    assert state.lab.step == "settings"
    on_file = lab_actions.leave_settings(state)
    assert on_file.lab.step == "file"
    assert lab_actions.leave_file(on_file).lab.step == "choose"


# Settings are remembered.


def test_the_settings_of_a_task_are_as_they_were_left():
    state = lab_actions.set_setting(lab_actions.choose_task(lab_state(), "dates"), "d_model", 40)
    state = lab_actions.choose_task(lab_actions.leave_settings(state), "reverse")
    assert state.lab.subject.settings == task_settings("reverse")
    state = lab_actions.choose_task(state, "dates")
    assert state.lab.subject.settings.d_model == 40
    # the bundled ones are one press away
    own = lab_form.preset_settings(state.lab.subject, "own")
    assert own == task_settings("dates")


def test_the_settings_of_a_file_are_as_they_were_left(good):
    state = lab_actions.accept_file(looked(lab_state(), good))
    state = lab_actions.set_setting(state, "d_ff", 24)
    again = lab_actions.accept_file(looked(lab_actions.leave_settings(state), good))
    assert again.lab.subject.settings.d_ff == 24


def test_a_training_is_trained_again_with_one_setting_changed():
    state = lab_actions.change_settings(in_training(lab_state(), status="failed"))
    assert state.lab.step == "settings" and state.lab.subject.settings.d_model == 40
    assert state.lab.subject.source == TaskSource("reverse")
    assert lab_actions.leave_settings(state).lab.step == "training"
    state = lab_actions.set_setting(state, "learning_rate", 1e-4)
    begun = lab_orders.begin(state)
    wanted = (begun.lab.order.value.settings.d_model, begun.lab.order.value.settings.learning_rate)
    assert wanted == (40, 1e-4)


def test_change_settings_is_beside_another(live):
    live.store.dispatch(lab_actions.toggle_lab)
    live.store.dispatch(in_training, status="finished")
    part = live.window.stage.page.parts["training"]
    assert part.change.text() in ("Change settings", "Settings") and part.change.isVisible()
    assert "goes on" not in part.anew.toolTip()
    live.store.dispatch(in_training, status="running")
    assert "goes on" in part.anew.toolTip()
    part.change.click()
    assert live.state.lab.step == "settings"


# Saving, and what there is nothing of.


def test_ctrl_s_in_the_lab_saves_the_snapshot_on_show(qtbot, live, tmp_path):
    bench = Bench(tmp_path)
    bench.begin(qtbot)
    live.store.dispatch(lab_actions.toggle_lab)
    page = live.window.stage.page
    live.store.dispatch(lambda state: lab_actions.with_lab(state, **vars(bench.store.state.lab)))
    asked: list[tuple[str, tuple[str, ...]]] = []
    page.ask_for_target = lambda parent, path, endings: asked.append((path.name, endings))
    live.press(Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier, live.window.stage)
    assert live.state.notice.key == "notice.no_snapshot" and asked == []
    bench.tell(scripted.started(), scripted.snapshot(0), scripted.snapshot(10))
    live.store.dispatch(lambda state: lab_actions.with_lab(state, **vars(bench.store.state.lab)))
    live.press(Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier, live.window.stage)
    # its words have no place in the document's format
    assert asked == [("reverse-step-10.safetensors", (".safetensors",))] and live.suggested is None
    bench.laboratory.shutdown()


def test_that_nothing_is_held_out_is_said(live):
    facts = Facts(2, 0, 8, 8, np.zeros((0, 2), dtype=np.int64))
    assert any("no pairs are held out" in line for line in lab_form.facts_said(facts, 32))
    training = Training(1, subject(), n_held_out=0)
    assert lab_charts.charts(training)[1].title == "No held-out pairs to match"
    live.store.dispatch(lab_actions.toggle_lab)
    live.store.dispatch(in_training, status="running", n_held_out=0)
    film = live.window.stage.page.parts["training"].film
    assert "No pairs are held out" in film.samples[0]._empty
