"""No training is lost unsaid: set aside for another, without a place, on a full disk, killed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from model_core.training.lab_data import TaskSource
from model_core.training.messages import Failed, Paused, RunSaved
from model_core.training.settings import Settings
from tests.gui import scripted_training as scripted
from tests.gui.lab_bench import Bench, said, subject
from visualizer import actions, i18n, lab_actions, lab_orders, lab_places, lab_unfinished
from visualizer.lab import Subject, Training, Unfinished
from visualizer.lab_film import task_name
from visualizer.lenses import lab_words


@pytest.fixture
def live(lab_window):
    return lab_window


def left(name: str, step: int, when: float = 1e9) -> Unfinished:
    about = Subject(TaskSource(name), name, Settings())
    return Unfinished(Path(f"/nowhere/{name}-{step}.safetensors"), about, step, when)


# Another one is begun.


def test_a_training_is_saved_for_another_one_and_that_is_said(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.steps(1, 2, 3))
    first = bench.client
    bench.begin(qtbot)
    assert first.saved_step == 3 and first.closed is False
    assert f"{task_name('reverse')} was saved at step 3 and set aside" in said(bench)
    i18n.set_language("zh")
    assert "字母倒写" in said(bench) and "etters" not in said(bench)


def test_a_training_that_cannot_be_saved_goes_on_in_place_of_another_one(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.steps(1, 2))
    first, number = bench.client, bench.training.number
    first.unsavable = "the disk is full"
    bench.store.dispatch(lab_actions.change_settings)
    bench.store.dispatch(lab_orders.begin)
    qtbot.waitUntil(lambda: "the disk is full" in said(bench))
    assert bench.client is first and first.closed is None and first.said[-1] == "GoOn"
    assert (bench.training.number, bench.training.step) == (number, 2)
    assert bench.store.state.lab.step == "settings"
    bench.tell(scripted.steps(3))
    assert bench.training.step == 3


def test_the_last_word_about_an_old_training_goes_with_a_new_one(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), Failed("the loss is nan"))
    assert bench.store.state.notice is not None
    bench.begin(qtbot)
    assert bench.store.state.notice is None


# Where nothing can be written.


def test_without_a_place_it_trains_unsaved_and_its_model_is_still_there(qtbot, bench, tmp_path):
    (tmp_path / "trainings").write_text("a plain file in the way")
    bench.begin(qtbot)
    qtbot.waitUntil(lambda: "cannot be saved" in said(bench))
    assert "Errno" not in said(bench) and bench.client.start.checkpoint == ""
    bench.tell(scripted.started(), scripted.steps(1, 2))
    assert "not saved meanwhile" in lab_words.line_below(bench.training)
    bench.tell(scripted.finished(2, True))
    assert bench.training.status == "finished"
    assert "could not be kept" in said(bench) and "Errno" not in said(bench)
    assert bench.training.final is not None and lab_orders.is_unkept(bench.training)


def test_a_model_that_could_not_be_kept_is_kept_at_the_next_try(qtbot, bench, tmp_path):
    bench.begin(qtbot)
    kept = tmp_path / "trainings" / "kept"
    kept.write_text("in the way")
    bench.tell(scripted.started(), scripted.steps(1, 2))
    bench.store.dispatch(lab_orders.command, "stop")
    qtbot.waitUntil(lambda: "StopAndKeep" in bench.client.said)
    bench.tell(scripted.finished(2, False))
    assert "could not be kept" in said(bench) and bench.store.state.page == "train"
    # its checkpoint is all there is of it on the disk
    assert not bench.client.forgotten
    kept.unlink()
    bench.store.dispatch(lab_orders.keep)
    qtbot.waitUntil(lambda: bool(list(kept.glob("*.safetensors"))))
    assert bench.client.forgotten and not lab_orders.is_unkept(bench.training)
    assert "kept as reverse.safetensors" in lab_words.line_below(bench.training)


def test_a_full_disk_is_told_while_there_is_time(qtbot, bench, monkeypatch):
    monkeypatch.setattr(lab_places.shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    bench.begin(qtbot)
    # a look before it has begun, when nobody knows how large it is
    bench.tell()
    bench.tell(scripted.started(), scripted.steps(1))
    assert "too little room" in said(bench)
    bench.store.dispatch(actions.dismiss_notice)
    bench.laboratory._room.looked_at = -lab_places.ROOM_AGAIN
    bench.tell(scripted.steps(2))
    assert bench.store.state.notice is None


def test_a_window_whose_training_cannot_be_saved_stays_open_once(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.steps(1))
    bench.client.unsavable = "the disk is full"
    assert bench.laboratory.may_close() is False
    assert "could not be saved: the disk is full" in said(bench)
    assert bench.laboratory.may_close() is True


def unkept(qtbot, bench: Bench, tmp_path: Path) -> Path:
    """A training has ended, and its model could not be written; what stands in the way."""
    bench.begin(qtbot)
    kept = tmp_path / "trainings" / "kept"
    kept.write_text("in the way")
    bench.tell(scripted.started(), scripted.steps(1, 2), scripted.finished(2, True))
    assert "could not be kept" in said(bench)
    return kept


def test_a_window_whose_trained_model_is_in_no_file_stays_open_once(qtbot, bench, tmp_path):
    unkept(qtbot, bench, tmp_path)
    assert bench.laboratory.may_close() is False
    assert "The trained model is in no file: " in said(bench)
    assert "close the window again to give it up" in said(bench)
    i18n.set_language("zh")
    assert "再次关闭窗口即放弃它" in said(bench) and "file" not in said(bench)
    assert bench.laboratory.may_close() is True


def test_closing_tries_once_more_to_keep_the_model(qtbot, bench, tmp_path):
    kept = unkept(qtbot, bench, tmp_path)
    kept.unlink()
    assert bench.laboratory.may_close() is True
    assert [path.name for path in kept.iterdir()] == ["reverse.safetensors"]
    assert bench.client.forgotten


def test_where_the_last_step_was_saved_closing_does_not_threaten_with_a_loss(
    qtbot, bench, tmp_path
):
    bench.begin(qtbot)
    (tmp_path / "trainings" / "kept").write_text("in the way")
    bench.tell(scripted.started(), scripted.steps(1, 2), RunSaved(2, "there"))
    bench.tell(scripted.finished(2, True))
    assert bench.laboratory.may_close() is False
    assert "can go on from there" in said(bench) and "give it up" not in said(bench)
    assert bench.laboratory.may_close() is True


def test_a_training_that_was_gone_on_with_is_guarded_anew(qtbot, bench, tmp_path):
    bench.begin(qtbot)
    (tmp_path / "trainings" / "kept").write_text("in the way")
    bench.tell(scripted.started(), scripted.steps(1))
    bench.client.unsavable = "the disk is full"
    assert bench.laboratory.may_close() is False
    bench.client.unsavable = ""
    bench.tell(scripted.steps(2), scripted.finished(2, True))
    assert bench.laboratory.may_close() is False
    assert "in no file" in said(bench)


def test_another_training_does_not_take_the_place_of_an_unkept_model_unsaid(qtbot, bench, tmp_path):
    unkept(qtbot, bench, tmp_path)
    first, number = bench.client, bench.training.number
    bench.store.dispatch(lab_actions.change_settings)
    bench.store.dispatch(lab_orders.begin)
    qtbot.waitUntil(lambda: "is in no file, so it stays" in said(bench))
    assert bench.client is first and bench.training.number == number
    assert lab_orders.is_unkept(bench.training)
    bench.begin(qtbot)
    assert bench.client is not first


def test_the_model_before_a_loss_that_is_no_number_holds_no_window_open(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.steps(1, 2))
    bench.tell(Failed("the loss is nan", good_step=2, parameters=scripted.flat(2)))
    assert bench.laboratory.may_close() is True


def test_a_word_about_a_kept_model_leaves_an_error_to_be_read(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.steps(1, 2))
    bench.store.dispatch(actions.show_notice, "error.pairs", "error", file="a.txt", reason="no")
    bench.tell(scripted.finished(2, True))
    assert "a.txt" in said(bench)
    assert any("kept as" in part for part in lab_words.line_below(bench.training))


def test_what_the_system_says_of_a_place_is_in_the_language_in_use(qtbot, bench):
    i18n.set_language("zh")
    bench.store.dispatch(
        actions.show_notice, "error.kept", "error", reason="/a b: Read-only file system"
    )
    assert "/a b: 文件系统只读" in said(bench)


# What can go on.


def test_a_process_that_was_killed_is_told_in_a_sentence_with_a_way_on(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.steps(1, 2, 3), RunSaved(2, "somewhere"))
    assert "saved at step 2 and every 2 min" in lab_words.line_below(bench.training)
    path = Path(bench.training.checkpoint)
    bench.tell(Failed("the training process was ended from outside (signal 9)"))
    assert said(bench) == (
        "The training process was ended from outside (signal 9). "
        "It was saved last at step 2 and can go on from there."
    )
    assert bench.store.state.lab.unfinished[0].path == path
    assert bench.store.state.lab.unfinished[0].step == 2
    i18n.set_language("zh")
    assert "process" not in said(bench)


def test_all_that_can_go_on_are_listed_with_step_and_time(qtbot, live):
    store = live.store
    store.dispatch(lab_actions.toggle_lab)
    found = (left("reverse", 1250, 2e9), left("numbers", 40))
    store.dispatch(lab_unfinished.list_unfinished, found, True)
    bar = live.window.notice.bar
    assert (
        f"2 trainings were interrupted, the last one: {task_name('reverse')}" in bar.sentence.text()
    )
    store.dispatch(actions.set_language, "zh")
    assert "字母倒写" in bar.sentence.text()
    store.dispatch(actions.set_language, "en")
    bar.answers[1].click()
    start = live.window.stage.page.parts["choose"]
    rows = [row for row in start.rows if row.isVisible()]
    assert ["step 1,250" in row.words.text() for row in rows] == [True, False]
    assert "2033-05-18" in rows[0].words.text() and store.state.notice is None
    rows[1].discard.click()
    assert [entry.step for entry in store.state.lab.unfinished] == [1250]
    order = store.state.lab.order
    assert (order.kind, order.value) == ("discard", found[1])


def test_one_of_several_is_gone_on_with_and_the_others_stay(qtbot, bench):
    found = (left("reverse", 5), left("numbers", 7), left("dates", 9))
    bench.store.dispatch(lab_unfinished.list_unfinished, found, False)
    assert bench.store.state.notice is None
    state = lab_unfinished.take_up(bench.store.state, found[1].path)
    assert [entry.step for entry in state.lab.unfinished] == [5, 9]
    assert state.lab.training.subject is found[1].subject
    assert state.lab.order.value is found[1]


def test_after_a_training_was_set_aside_it_is_among_those_that_can_go_on(qtbot, bench):
    listed = left("numbers", 7)
    bench.laboratory._on_found(1, (listed,))
    assert bench.store.state.lab.unfinished == (listed,)
    bench.begin(qtbot)
    here = replace(listed, path=Path(bench.client.start.checkpoint))
    bench.laboratory._on_found(2, (listed, here))
    assert bench.store.state.lab.unfinished == (listed,)


def test_a_failed_training_has_its_way_on_beside_the_reason(qtbot, live):
    store = live.store
    store.dispatch(lab_actions.toggle_lab)
    training = Training(1, subject(), checkpoint="/nowhere/t.safetensors", saved_step=40)
    begun = replace(store.state.lab, step="training", training=training)
    store.dispatch(lambda state: replace(state, lab=begun))
    store.dispatch(lab_unfinished.show_failure, 1, "the training process is gone", "")
    part = live.window.stage.page.parts["training"]
    bar = live.window.notice.bar
    assert [b.text() for b in bar.answers if b.isVisible()] == ["Resume"]
    assert not part.again.isVisible() and not part.reason.isVisible()
    store.dispatch(actions.dismiss_notice)
    assert part.again.isVisible()
    assert part.reason.text().startswith("The training process is gone. It was saved last at step")


def test_a_diverged_training_is_not_offered_to_diverge_again(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.steps(1, 2), RunSaved(2, "somewhere"), Paused(2))
    bench.tell(Failed("the loss is nan", good_step=2, parameters=scripted.flat(2)))
    assert said(bench) == "The loss is nan"
