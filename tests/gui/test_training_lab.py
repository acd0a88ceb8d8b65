"""The training lab: choosing data, settings, whole trainings in the window, what goes wrong."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from model_core.parameters import parameter_count
from model_core.training.lab_data import TaskSource
from model_core.training.tasks import task
from tests.gui.lab_bench import PAIRS
from tests.gui.live_window import WAIT, LiveWindow
from tests.gui.views import view
from visualizer import actions, i18n, lab_actions, lab_orders
from visualizer.inquiries.lab import EstimateInquiry, FactsInquiry, LookInquiry
from visualizer.lab import snapshot_steps
from visualizer.lab_places import unfinished_in
from visualizer.lenses import lab_form, lab_numbers, remarks
from visualizer.lenses.lab_file import report_rows
from visualizer.state import ViewState


@pytest.fixture
def lab(lab_window):
    return lab_window


# Choosing and settings.


def test_a_file_is_looked_at_and_every_line_is_accounted_for(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(PAIRS + "\nno columns\nae\tea\nx\t\n", encoding="utf-8")
    state = lab_actions.choose_file(view(), path)
    inquiry = LookInquiry()
    key = inquiry.wanted(state)
    looked = inquiry.answer(state, key, inquiry.work(state)(lambda: False))
    file = looked.lab.file
    assert file is not None and file.report is not None and file.look is not None
    assert file.report.adds_up and file.report.pairs == 16
    rows = report_rows(file.report)
    assert rows[0].count == "16" and rows[0].is_kept
    # a line with a pair each, one blank, one without columns, one that repeats, one empty side
    assert sum(int(row.count) for row in rows) == file.report.lines == 20
    assert ("line 18", "no columns") in [example for row in rows for example in row.examples]
    settled = lab_actions.accept_file(looked)
    assert settled.lab.step == "settings" and settled.lab.subject is not None
    # so few pairs are gone through often: in steps, for no one counts hundreds of epochs
    assert settled.lab.subject.settings.steps >= 2000
    shown = lab_form.form(settled.lab.subject)
    assert not any(row.unusual or row.problem for row in shown.rows)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "is empty"),
        (bytes(range(256)) * 4, "binary"),
        (b"one column\nonly\n", "no separator in common"),
    ],
)
def test_a_bad_file_is_one_sentence_and_the_model_stays(tmp_path, data, told):
    path = tmp_path / "bad.tsv"
    path.write_bytes(data)
    state = lab_actions.choose_file(view(), path)
    inquiry = LookInquiry()
    refused = inquiry.answer(state, inquiry.wanted(state), inquiry.work(state)(lambda: False))
    text = remarks.notice_text(refused.notice)
    assert told in text and text.startswith("bad.tsv cannot be used for training")
    assert "\n" not in text
    assert refused.lab.step == "choose" and refused.model is state.model
    assert inquiry.wanted(refused) is None


def test_an_encoding_that_is_not_sure_is_offered_and_not_taken(tmp_path):
    path = tmp_path / "chinese.txt"
    path.write_bytes("你好 = hello\n早上好 = good morning\n".encode("gb18030"))
    state, inquiry = lab_actions.choose_file(view(), path), LookInquiry()
    looked = inquiry.answer(state, inquiry.wanted(state), inquiry.work(state)(lambda: False))
    assert looked.lab.file is not None and looked.lab.file.report is None
    assert lab_actions.accept_file(looked) is looked
    chosen = lab_actions.set_reading(looked, encoding="gb18030")
    read = inquiry.answer(chosen, inquiry.wanted(chosen), inquiry.work(chosen)(lambda: False))
    assert read.lab.file is not None and read.lab.file.report is not None
    assert [text.strip() for text in read.lab.file.look.rows[0]] == ["你好", "hello"]


def settled(**settings) -> ViewState:
    state = lab_actions.choose_task(replace(view(), page="train"), "reverse")
    assert state.lab.subject is not None
    for name, value in settings.items():
        state = lab_actions.set_setting(state, name, value)
    return state


def test_every_setting_is_explained_in_both_languages():
    for language in i18n.LANGUAGES:
        i18n.set_language(language)
        for source in (TaskSource("reverse"), None):
            chosen = settled().lab.subject
            shown = lab_form.form(chosen if source else replace(chosen, source=None))
            assert len(shown.rows) > 25
            for row in shown.rows:
                assert not row.label.startswith("training.")
                assert not row.explanation.startswith("training.")
                assert all(not words.startswith("training.") for _, words in row.choices)


def test_what_cannot_work_is_said_beside_its_field_with_a_way_out():
    state = settled(d_model=50, n_heads=4)
    shown = lab_form.form(state.lab.subject)
    row = next(row for row in shown.rows if row.name == "n_heads")
    assert "cannot be parted evenly among 4 heads" in row.problem and row.fix == 2
    assert not shown.ready
    assert next(r for r in shown.rows if r.name == "d_model").problem == ""
    i18n.set_language("zh")
    assert "50" in lab_form.form(state.lab.subject).problems[0]
    assert "cannot" not in lab_form.form(state.lab.subject).problems[0]


@pytest.mark.parametrize(
    "wrong",
    [{"seed": -2}, {"vocab_size": 3}, {"held_out_share": 1.0}, {"min_count": 0}],
    ids=str,
)
def test_with_settings_that_are_impossible_no_data_are_asked_for(wrong):
    (name,) = wrong
    state = settled(**wrong)
    shown = lab_form.form(state.lab.subject)
    assert not shown.ready and len(shown.problems) == 1
    assert FactsInquiry().wanted(state) is None and EstimateInquiry().wanted(state) is None
    # once it is put right they are
    usual = getattr(settled().lab.subject.settings, name)
    assert FactsInquiry().wanted(lab_actions.set_setting(state, name, usual)) is not None
    # what has nothing to do with the data does not keep them away
    assert FactsInquiry().wanted(settled(learning_rate=-1.0)) is not None


def test_what_is_no_number_waits_and_is_not_trained_with():
    state = lab_actions.leave_unread(settled(), "d_ff", "many")
    assert (
        "many" in next(r for r in lab_form.form(state.lab.subject).rows if r.name == "d_ff").problem
    )
    assert lab_orders.begin(state) is state
    assert lab_numbers.read_value("learning_rate", "3e-3") == 0.003
    assert lab_numbers.read_value("n_encoder_layers", " ") is None
    for name, text in (("d_ff", "12.5"), ("learning_rate", "nan"), ("d_ff", "")):
        with pytest.raises(ValueError):
            lab_numbers.read_value(name, text)


def test_the_estimate_is_that_of_the_model_itself():
    known = settled()
    for inquiry in (FactsInquiry(), EstimateInquiry()):
        result = inquiry.work(known)(lambda: False)
        known = inquiry.answer(known, inquiry.wanted(known), result)
    subject = known.lab.subject
    shown = lab_form.form(subject)
    assert shown.ready and subject.example is not None
    module = task("reverse")
    words = module.tokenizer(module.generate(subject.settings.seed))
    count = parameter_count(subject.settings.config(words))
    assert ("parameters", f"{count:,}") in shown.estimate
    assert lab_form.preset_of(subject) == "own"
    medium = lab_actions.use_settings(known, lab_form.preset_settings(subject, "medium"))
    assert lab_form.preset_of(medium.lab.subject) == "medium"


# The whole window.


def pairs_file(tmp_path: Path) -> Path:
    path = tmp_path / "swapped.tsv"
    path.write_text(PAIRS, encoding="utf-8")
    return path


def settings_of_a_file(live: LiveWindow, path: Path, **settings) -> None:
    store = live.store
    store.dispatch(lab_actions.choose_file, path)
    live.qtbot.waitUntil(lambda: store.state.lab.file.report is not None, timeout=WAIT)
    store.dispatch(lab_actions.accept_file)
    for name, value in settings.items():
        store.dispatch(lab_actions.set_setting, name, value)
    live.qtbot.waitUntil(lambda: store.state.lab.subject.facts is not None, timeout=WAIT)


TINY = {"d_model": 8, "n_heads": 2, "d_ff": 8, "n_layers": 1, "batch_size": 8, "warmup_steps": 5}


def test_a_file_is_trained_on_watched_and_its_model_opened(lab, qtbot, tmp_path):
    lab.press(Qt.Key.Key_T)
    page = lab.window.stage.page
    assert page.name == "train" and not lab.window.workspace.right.isVisible()
    page.ask_for_pairs = lambda parent: pairs_file(tmp_path)
    page.parts["choose"].file.clicked.emit()
    store = lab.store
    assert store.state.lab.step == "file"
    qtbot.waitUntil(lambda: store.state.lab.file.report is not None, timeout=WAIT)
    page.parts["file"].go_on.click()
    form = page.parts["settings"]
    for name, value in {**TINY, "steps": 30}.items():
        field = form.settings[name].field
        field.setText("")
        qtbot.keyClicks(field, str(value))
    qtbot.waitUntil(lambda: form.train.isEnabled(), timeout=WAIT)
    form.train.click()
    qtbot.waitUntil(lambda: store.state.lab.is_training is False, timeout=6 * WAIT)
    training = store.state.lab.training
    assert (training.status, training.step, len(training.steps)) == ("finished", 30, 30)
    part = page.parts["training"]
    qtbot.waitUntil(lambda: len(store.state.lab.shots) >= 4, timeout=WAIT)
    assert [frame.step for frame in part.film.strip.frames] == [0, 10, 20, 30]
    assert "step 30 / 30" in part.heading.accessibleDescription()
    part.film.scrubber.moved.emit(10)
    part.film.open.click()
    qtbot.waitUntil(lambda: store.state.page == "record", timeout=WAIT)
    lab.until_settled()
    assert store.state.model.name == "swapped.tsv, step 10"
    lab.press(Qt.Key.Key_Backspace)
    assert lab.window.stage.page is page and store.state.lab.shown == 10
    part.check.click()
    qtbot.waitUntil(lambda: store.state.lab.check.results is not None, timeout=6 * WAIT)
    assert "agree with finite differences" in part.reason.text()


def test_closing_the_window_keeps_the_training_and_leaves_no_process(lab, qtbot, tmp_path):
    lab.press(Qt.Key.Key_T)
    settings_of_a_file(lab, pairs_file(tmp_path), **TINY, steps=100_000)
    store, laboratory = lab.store, lab.session.laboratory
    store.dispatch(lab_orders.begin)
    qtbot.waitUntil(lambda: store.state.lab.training.step >= 5, timeout=3 * WAIT)
    process = laboratory.client.process_id
    lab.window.close()
    # a process that has ended and was waited for is not there, one that was not still is
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    (found,) = unfinished_in(laboratory.folder)
    assert found.step >= 5 and found.subject.title == "swapped.tsv"


def test_an_interrupted_training_is_offered_and_goes_on(lab, qtbot, tmp_path):
    settings_of_a_file(lab, pairs_file(tmp_path), **TINY, steps=100_000)
    store, laboratory = lab.store, lab.session.laboratory
    store.dispatch(lab_orders.begin)
    qtbot.waitUntil(lambda: store.state.lab.training.step >= 5, timeout=3 * WAIT)
    laboratory._end(save=True)
    laboratory._on_settled()
    qtbot.waitUntil(lambda: bool(store.state.lab.unfinished), timeout=WAIT)
    bar = lab.window.notice.bar
    assert "swapped.tsv" in bar.sentence.text()
    assert [button.text() for button in bar.answers] == ["Resume", "Discard"]
    step = store.state.lab.unfinished[0].step
    bar.answers[0].click()
    qtbot.waitUntil(lambda: store.state.lab.training.step > step, timeout=3 * WAIT)
    assert len(store.state.lab.training.steps) == store.state.lab.training.step
    assert store.state.page == "train" and store.state.notice is None
    laboratory._end(save=True)
    laboratory._on_settled()
    qtbot.waitUntil(lambda: bool(store.state.lab.unfinished), timeout=WAIT)
    bar.answers[1].click()
    qtbot.waitUntil(lambda: not list(laboratory.folder.glob("*.safetensors*")), timeout=WAIT)


def test_the_lab_is_drawn_in_both_languages_and_themes(lab, qtbot):
    lab.press(Qt.Key.Key_T)
    page, store = lab.window.stage.page, lab.store
    start = page.parts["choose"]
    assert start.heading.text() == "What is to be learned?"
    store.dispatch(actions.set_language, "zh")
    store.dispatch(actions.set_theme, "dark")
    assert start.heading.text() == "要学习什么？"
    lab.press(Qt.Key.Key_T)
    assert store.state.page == "record"


def test_keys_go_through_the_snapshots_pause_and_choose_a_head(lab, qtbot, tmp_path):
    settings_of_a_file(lab, pairs_file(tmp_path), **TINY, steps=100_000)
    store = lab.store
    store.dispatch(lab_orders.begin)
    qtbot.waitUntil(lambda: len(snapshot_steps(store.state.lab)) > 3, timeout=3 * WAIT)
    stage = lab.window.stage
    lab.press(Qt.Key.Key_Space, widget=stage)
    qtbot.waitUntil(lambda: store.state.lab.training.status == "paused", timeout=WAIT)
    at = store.state.lab.training.step
    before, _ = snapshot_steps(store.state.lab)[-2:]
    lab.press(Qt.Key.Key_Left, widget=stage)
    assert store.state.lab.shown == before
    lab.press(Qt.Key.Key_2, widget=stage)
    assert store.state.lab.head == 1
    stage.page.parts["training"].batch.click()
    qtbot.waitUntil(lambda: store.state.lab.training.step == at + 1, timeout=WAIT)
    qtbot.wait(300)
    assert store.state.lab.training.step == at + 1
    lab.press(Qt.Key.Key_Return, widget=stage)
    qtbot.waitUntil(lambda: store.state.page == "record", timeout=WAIT)
    assert store.state.model.name == f"swapped.tsv, step {before:,}"


def test_a_process_that_dies_is_told_of_and_can_be_gone_on_with(lab, qtbot, tmp_path):
    settings_of_a_file(lab, pairs_file(tmp_path), **TINY, steps=100_000)
    store, laboratory = lab.store, lab.session.laboratory
    store.dispatch(lab_orders.begin)
    qtbot.waitUntil(lambda: store.state.lab.training.step >= 5, timeout=3 * WAIT)
    store.dispatch(lab_orders.command, "pause")
    qtbot.waitUntil(lambda: laboratory.client.saved_step is not None, timeout=WAIT)
    model = store.state.model
    os.kill(laboratory.client.process_id, signal.SIGKILL)
    qtbot.waitUntil(lambda: store.state.lab.training.status == "failed", timeout=WAIT)
    assert store.state.notice.level == "error" and store.state.model is model
    qtbot.waitUntil(lambda: bool(store.state.lab.unfinished), timeout=WAIT)
    store.dispatch(lab_actions.go_to, "choose")
    start = lab.window.stage.page.parts["choose"]
    start.rows[0].go_on.click()
    qtbot.waitUntil(lambda: store.state.lab.training.status == "running", timeout=3 * WAIT)
