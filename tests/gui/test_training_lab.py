"""The training lab: choosing, settings, a scripted training and a real one, what goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt

from model_core import open_checkpoint
from model_core.training.history import COLUMNS
from model_core.training.lab_data import TaskSource
from model_core.training.messages import Failed, Paused, Running
from model_core.training.settings import Settings
from tests.gui import scripted_training as scripted
from tests.gui.live_window import WAIT, LiveWindow
from tests.gui.scripted_training import Scripted
from tests.gui.views import view
from visualizer import i18n, lab_actions, lab_orders, trail
from visualizer.lab import Shot, Subject, Training, chosen_steps, site_of, snapshot_steps
from visualizer.laboratory import Laboratory, newest_unfinished
from visualizer.lenses import lab_charts, lab_form, lab_words, remarks
from visualizer.lenses.lab_file import report_lines
from visualizer.state import ViewState
from visualizer.store import Store

PAIRS = "".join(f"{a}{b}\t{b}{a}\n" for a in "abcd" for b in "efgh")


@pytest.fixture(autouse=True)
def english():
    i18n.set_language("en")
    yield
    i18n.set_language("en")


def subject(**settings) -> Subject:
    return Subject(TaskSource("reverse"), "reverse", Settings(**settings))


class Bench:
    """A laboratory whose trainings are scripted."""

    def __init__(self, folder: Path) -> None:
        self.clients: list[Scripted] = []
        self.store = Store(replace(view(), page="train"))
        self.laboratory = Laboratory(self.store, folder / "trainings", self._made)

    def _made(self, start) -> Scripted:
        self.clients.append(Scripted(start))
        return self.clients[-1]

    @property
    def client(self) -> Scripted:
        return self.clients[-1]

    @property
    def training(self) -> Training:
        training = self.store.state.lab.training
        assert training is not None
        return training

    def begin(self, qtbot) -> None:
        before = len(self.clients)
        lab = replace(self.store.state.lab, subject=subject())
        self.store.dispatch(lambda state: replace(state, lab=lab))
        self.store.dispatch(lab_orders.begin)
        qtbot.waitUntil(lambda: len(self.clients) > before)

    def tell(self, *events) -> None:
        """The process has said this, and a look was taken at it."""
        self.client.script += events
        self.laboratory._told = 0.0
        self.laboratory._on_look()


@pytest.fixture
def bench(qtbot, tmp_path):
    made = Bench(tmp_path)
    yield made
    made.laboratory.shutdown()


# What is told of a training.


def test_every_number_shown_is_the_events(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.snapshot(0))
    bench.tell(scripted.steps(1, 2, 3, 4, evaluated=4))
    training = bench.training
    assert training.status == "running"
    assert lab_words.pace(training) == "step 4 / 40 · 20 ms a step · 0.7 s left"
    count = scripted.MODEL.parameter_count
    assert f"{count:,} parameters" in lab_words.facts(training)
    assert "2+2 layers · d_model 12 · 3 heads" in lab_words.facts(training)
    below = lab_words.line_below(training)
    assert "gradient norm 6.41 → clipped 1.00" in below
    assert "update / weight 1.0e-3" in below
    assert "snapshots 1 " in below and "of 64" in below
    loss, exact, rate = lab_charts.charts(training)
    raw, _, held = loss.lines
    assert raw.x.tolist() == [1, 2, 3, 4]
    assert raw.y.tolist() == [4.0 / n for n in (1, 2, 3, 4)]
    assert (held.x.tolist(), held.y.tolist()) == ([4], [2.5])
    assert exact.lines[0].y.tolist() == [pytest.approx(3 / 7)]
    assert exact.lines[0].now == "3 of 7"
    assert rate.lines[0].y.tolist() == [1e-3 * n for n in (1, 2, 3, 4)]
    assert rate.lines[1].y.tolist() == [2.41 + n for n in (1, 2, 3, 4)]
    assert [s.output for s in lab_words.samples(training)] == ["t4 t6", "t6"]
    bars = lab_words.norm_bars(training, 1)
    assert [(b.label, b.parameters, b.update) for b in bars] == [
        ("encoder 1", 3.0, 0.003),
        ("output", 4.0, 0.004),
    ]


def test_events_of_an_older_training_are_dropped(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.steps(1, 2))
    old, number = bench.client, bench.training.number
    bench.begin(qtbot)
    assert old.closed is True
    old.script.append(scripted.steps(3, 4))
    bench.tell(scripted.started())
    assert bench.training.step == 0 and not len(bench.training.steps)
    state = bench.store.dispatch(lab_orders.take_news, number, step=99)
    assert state.lab.training is not None and state.lab.training.step == 0
    shot = Shot(0, "s4", {}, (), (), (), "")
    assert lab_orders.take_shots(state, number, state.lab.probe, (shot,)).lab.shots == ()


def test_the_buttons_say_what_they_are_for(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started())
    for act, said in (("pause", "Pause"), ("one_batch", "StepOnce"), ("stop", "StopAndKeep")):
        bench.store.dispatch(lab_orders.command, act)
        qtbot.waitUntil(lambda said=said: bench.client.said[-1:] == [said])
    bench.tell(Paused(3))
    assert bench.training.status == "paused"
    bench.store.dispatch(lab_orders.toggle_pause)
    qtbot.waitUntil(lambda: bench.client.said[-1] == "GoOn")
    bench.tell(Running(3))
    assert bench.training.status == "running"


def test_stop_and_keep_opens_the_model_and_writes_it(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.snapshot(0), scripted.steps(1, 2))
    bench.store.dispatch(lab_orders.command, "stop")
    qtbot.waitUntil(lambda: "StopAndKeep" in bench.client.said)
    bench.tell(scripted.finished(2, False))
    state = bench.store.state
    assert state.lab.training is not None and state.lab.training.status == "stopped"
    assert state.page == "record" and state.model is not None and state.model.path is not None
    kept = open_checkpoint(state.model.path)
    for name, value in scripted.parameters(2).items():
        np.testing.assert_array_equal(state.model.model.parameters[name], value)
        np.testing.assert_array_equal(kept.parameters[name], value)
    assert trail.go_back(state).page == "train"


def test_a_training_that_ends_by_itself_leaves_the_stage_as_it_is(qtbot, bench):
    bench.begin(qtbot)
    before = bench.store.state.model
    bench.tell(scripted.started(), scripted.steps(39, 40), scripted.finished(40, True))
    assert bench.training.status == "finished"
    assert bench.store.state.page == "train" and bench.store.state.model is before
    assert bench.training.final is not None


def test_a_snapshot_is_opened_with_its_own_parameters(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), *(scripted.snapshot(n) for n in (0, 10, 20)))
    bench.store.dispatch(lab_orders.show_step, 10)
    bench.store.dispatch(lab_orders.open_shown)
    qtbot.waitUntil(lambda: bench.store.state.page == "record")
    state = bench.store.state
    assert state.model is not None and state.model.name == "letters backwards, step 10"
    for name, value in scripted.parameters(10).items():
        wanted = value.astype(np.float16) if bench.client.film.stored_as == "float16" else value
        np.testing.assert_allclose(state.model.model.parameters[name], wanted, rtol=1e-3, atol=1e-6)
    assert trail.go_back(state).page == "train"


def test_a_snapshot_is_written_and_read_again(qtbot, bench, tmp_path):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.snapshot(0), scripted.snapshot(10))
    path = tmp_path / "ten.safetensors"
    bench.store.dispatch(lab_orders.save_snapshot, 10, path)
    qtbot.waitUntil(path.exists)
    model = open_checkpoint(path)
    for name, value in scripted.parameters(10).items():
        np.testing.assert_allclose(model.parameters[name], value, rtol=1e-3, atol=1e-6)


def test_the_history_is_exported_row_by_row(qtbot, bench, tmp_path):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.steps(1, 2, 3, evaluated=3))
    path = tmp_path / "history.csv"
    bench.store.dispatch(lab_orders.export_history, path)
    qtbot.waitUntil(path.exists)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].split(",")[: len(COLUMNS)] == list(COLUMNS)
    assert [line.split(",")[0] for line in lines[1:]] == ["1", "2", "3"]
    assert [float(line.split(",")[2]) for line in lines[1:]] == pytest.approx([4, 2, 4 / 3], 1e-6)


def test_divergence_is_told_in_the_cores_sentence_with_the_last_good_state(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.snapshot(0), scripted.steps(1, 2))
    sentence = "training stopped: the loss of step 3 is nan"
    bench.tell(Failed(sentence, good_step=2, parameters=scripted.flat(2)))
    training = bench.training
    assert training.status == "failed" and training.reason == sentence
    assert remarks.notice_text(bench.store.state.notice) == sentence
    assert snapshot_steps(bench.store.state.lab)[-1] == 2
    bench.store.dispatch(lab_orders.open_final)
    qtbot.waitUntil(lambda: bench.store.state.page == "record")
    model = bench.store.state.model
    assert model is not None and model.name == "letters backwards, step 2"
    for name, value in scripted.parameters(2).items():
        np.testing.assert_array_equal(model.model.parameters[name], value)


def test_a_training_that_cannot_begin_is_told_and_nothing_else_is_lost(qtbot, bench):
    before = bench.store.state.model
    bench.begin(qtbot)
    bench.tell(Failed("the data has no pair to train on"))
    assert bench.training.status == "failed"
    assert bench.store.state.model is before


def test_closing_keeps_what_is_trained(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.steps(1))
    bench.laboratory._end(save=True)
    assert bench.client.closed is True


# The film.


def film(bench, qtbot, *steps: int) -> None:
    bench.begin(qtbot)
    bench.tell(scripted.started(), *(scripted.snapshot(n) for n in steps))
    bench.tell(scripted.steps(40, evaluated=40))


def test_frames_are_the_models_own_attention_and_output(qtbot, bench):
    from visualizer.lab_film import model_at, shots_of

    film(bench, qtbot, 0, 10, 20)
    lab = bench.store.state.lab
    assert (lab.probe, lab.expected) == ("s4 s5", "t4 t5")
    shots = shots_of(lab, lambda: False)
    state = bench.store.dispatch(lab_orders.take_shots, lab.training.number, lab.probe, shots)
    frames = lab_words.frames(state.lab, 9)
    assert [frame.step for frame in frames] == [0, 10, 20]
    assert [frame.chosen for frame in frames] == [False, False, True]
    for frame in frames:
        done = model_at(lab.training, frame.step).generate("s4 s5", max_new_tokens=6)
        np.testing.assert_array_equal(frame.weights, done.tape[site_of(lab)].value[0, 0])
        assert frame.output == done.text
    other = lab_orders.set_head(state, 2)
    assert not np.array_equal(lab_words.frames(other.lab, 9)[0].weights, frames[0].weights)


def test_two_frames_are_compared_the_earlier_first(qtbot, bench):
    from visualizer.lab_film import shots_of

    film(bench, qtbot, 0, 10, 20)
    lab = bench.store.state.lab
    shots = shots_of(lab, lambda: False)
    bench.store.dispatch(lab_orders.take_shots, lab.training.number, lab.probe, shots)
    state = bench.store.dispatch(lab_orders.mark_step, 10)
    assert state.lab.view == "pair"
    assert [(f.step, f.mark) for f in lab_words.pair(state.lab)] == [(10, "A"), (20, "B")]
    state = bench.store.dispatch(lab_orders.show_step, 0)
    assert [f.step for f in lab_words.pair(state.lab)] == [0, 10]


def test_another_probe_forgets_the_pictures_of_the_one_before(qtbot, bench):
    film(bench, qtbot, 0)
    state = bench.store.dispatch(lab_orders.set_probe, "s6 s7")
    assert (state.lab.probe, state.lab.expected, state.lab.shots) == ("s6 s7", None, ())
    assert lab_orders.set_probe(state, "  ") is state


def test_the_newest_snapshot_is_followed_until_another_one_is_chosen(qtbot, bench):
    film(bench, qtbot, 0, 10)
    bench.store.dispatch(lab_orders.step_on, -1)
    bench.tell(scripted.snapshot(20))
    assert bench.store.state.lab.shown == 0
    bench.store.dispatch(lab_orders.step_on, 1)
    bench.store.dispatch(lab_orders.step_on, 1)
    assert bench.store.state.lab.shown is None


@pytest.mark.parametrize("count", [1, 2, 7, 9, 10, 33, 300])
@pytest.mark.parametrize("room", [3, 5, 9])
def test_frames_are_evenly_spaced_and_fit(count, room):
    steps = tuple(range(0, 10 * count, 10))
    chosen = chosen_steps(steps, room)
    assert len(chosen) <= room and chosen[-1] == steps[-1] and chosen[0] == 0
    assert len(set(np.diff(chosen)[:-1])) <= 1
    for shown in steps[:: max(1, count // 5)]:
        with_it = chosen_steps(steps, room, shown)
        assert shown in with_it and len(with_it) <= room


# Choosing and settings.


def test_a_file_is_looked_at_and_every_line_is_accounted_for(tmp_path):
    from visualizer.inquiries.lab import LookInquiry

    path = tmp_path / "pairs.tsv"
    path.write_text(PAIRS + "\nno columns\nae\tea\nx\t\n", encoding="utf-8")
    state = lab_actions.choose_file(view(), path)
    inquiry = LookInquiry()
    key = inquiry.wanted(state)
    looked = inquiry.answer(state, key, inquiry.work(state)(lambda: False))
    file = looked.lab.file
    assert file is not None and file.report is not None and file.look is not None
    assert file.report.adds_up and file.report.pairs == 16
    lines = report_lines(file.report)
    assert lines[0] == "16 pairs from 20 lines"
    assert any("no columns" in line for line in lines)
    assert any(line.strip().startswith("19:") for line in lines)
    settled = lab_actions.accept_file(looked)
    assert settled.lab.step == "settings" and settled.lab.subject is not None


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "is empty"),
        (bytes(range(256)) * 4, "binary"),
        (b"one column\nonly\n", "has one column"),
    ],
)
def test_a_bad_file_is_one_sentence_and_the_model_stays(tmp_path, data, told):
    from visualizer.inquiries.lab import LookInquiry

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
    from visualizer.inquiries.lab import LookInquiry

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


def test_what_is_no_number_waits_and_is_not_trained_with():
    state = lab_actions.leave_unread(settled(), "d_ff", "many")
    assert (
        "many" in next(r for r in lab_form.form(state.lab.subject).rows if r.name == "d_ff").problem
    )
    assert lab_orders.begin(state) is state
    assert lab_form.read_value("learning_rate", "3e-3") == 0.003
    assert lab_form.read_value("n_encoder_layers", " ") is None
    for name, text in (("d_ff", "12.5"), ("learning_rate", "nan"), ("d_ff", "")):
        with pytest.raises(ValueError):
            lab_form.read_value(name, text)


def test_the_estimate_is_that_of_the_model_itself():
    from model_core.parameters import parameter_count
    from visualizer.inquiries.lab import EstimateInquiry, FactsInquiry

    known = settled()
    for inquiry in (FactsInquiry(), EstimateInquiry()):
        result = inquiry.work(known)(lambda: False)
        known = inquiry.answer(known, inquiry.wanted(known), result)
    subject = known.lab.subject
    shown = lab_form.form(subject)
    assert shown.ready and subject.example is not None
    from model_core.training.tasks import task

    module = task("reverse")
    words = module.tokenizer(module.generate(subject.settings.seed))
    count = parameter_count(subject.settings.config(words))
    assert ("parameters", f"{count:,}") in shown.estimate
    assert lab_form.preset_of(subject) == "own"
    medium = lab_actions.use_settings(known, lab_form.preset_settings(subject, "medium"))
    assert lab_form.preset_of(medium.lab.subject) == "medium"


# The whole window.


@pytest.fixture
def lab(qtbot, tmp_path):
    live = LiveWindow(qtbot, tmp_path)
    live.session.laboratory.folder = tmp_path / "trainings"
    live.open_small()
    yield live
    live.window.close()


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
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True)
    assert listed.stdout.strip() == b""
    found = newest_unfinished(laboratory.folder)
    assert found is not None and found.step >= 5 and found.subject.title == "swapped.tsv"


def test_an_interrupted_training_is_offered_and_goes_on(lab, qtbot, tmp_path):
    settings_of_a_file(lab, pairs_file(tmp_path), **TINY, steps=100_000)
    store, laboratory = lab.store, lab.session.laboratory
    store.dispatch(lab_orders.begin)
    qtbot.waitUntil(lambda: store.state.lab.training.step >= 5, timeout=3 * WAIT)
    laboratory._end(save=True)
    laboratory._on_settled()
    qtbot.waitUntil(lambda: store.state.lab.unfinished is not None, timeout=WAIT)
    bar = lab.window.notice.bar
    assert "swapped.tsv" in bar.sentence.text()
    assert [button.text() for button in bar.answers] == ["Resume", "Discard"]
    step = store.state.lab.unfinished.step
    bar.answers[0].click()
    qtbot.waitUntil(lambda: store.state.lab.training.step > step, timeout=3 * WAIT)
    assert len(store.state.lab.training.steps) == store.state.lab.training.step
    assert store.state.page == "train" and store.state.notice is None
    laboratory._end(save=True)
    laboratory._on_settled()
    qtbot.waitUntil(lambda: store.state.lab.unfinished is not None, timeout=WAIT)
    bar.answers[1].click()
    qtbot.waitUntil(lambda: not list(laboratory.folder.glob("*.safetensors*")), timeout=WAIT)


def test_a_look_at_the_training_takes_no_longer_than_a_frame(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started())
    for n in range(400):
        bench.client.script.append(scripted.steps(*range(10 * n + 1, 10 * n + 11)))
    bench.tell()
    taken = []
    for n in range(5):
        bench.client.script.append(scripted.steps(4001 + n))
        started = time.perf_counter()
        bench.tell()
        lab_charts.charts(bench.training)
        taken.append(time.perf_counter() - started)
    assert sorted(taken)[2] < 0.016


def test_the_lab_is_drawn_in_both_languages_and_themes(lab, qtbot):
    from visualizer import actions

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
    newest = snapshot_steps(store.state.lab)[-1]
    lab.press(Qt.Key.Key_Left, widget=stage)
    assert store.state.lab.shown == newest - 10
    lab.press(Qt.Key.Key_2, widget=stage)
    assert store.state.lab.head == 1
    stage.page.parts["training"].batch.click()
    qtbot.waitUntil(lambda: store.state.lab.training.step == at + 1, timeout=WAIT)
    qtbot.wait(300)
    assert store.state.lab.training.step == at + 1
    lab.press(Qt.Key.Key_Return, widget=stage)
    qtbot.waitUntil(lambda: store.state.page == "record", timeout=WAIT)
    assert store.state.model.name == f"swapped.tsv, step {newest - 10:,}"


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
    qtbot.waitUntil(lambda: store.state.lab.unfinished is not None, timeout=WAIT)
    store.dispatch(lab_actions.go_to, "choose")
    start = lab.window.stage.page.parts["choose"]
    start.go_on.click()
    qtbot.waitUntil(lambda: store.state.lab.training.status == "running", timeout=3 * WAIT)
