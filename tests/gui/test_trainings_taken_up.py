"""Trainings that are taken up again, and those that cannot be: what is said, listed and kept."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from model_core.training.lab_data import FileSource, TaskSource
from model_core.training.lab_run import LabRun
from model_core.training.messages import Failed
from model_core.training.resume import previous_of
from model_core.training.settings import Settings
from tests.gui import scripted_training as scripted
from tests.gui.lab_bench import PAIRS, Bench, said, subject
from tests.gui.live_window import WAIT
from visualizer import actions, i18n, lab_actions, lab_orders, lab_unfinished
from visualizer.lab import Damaged, Subject, Training, Unfinished
from visualizer.lab_places import unfinished_in
from visualizer.lenses import lab_words, remarks
from visualizer.reasons import as_sentence


@pytest.fixture
def live(lab_window):
    return lab_window


def saved(path: Path, data: Path, n: int = 3) -> int:
    """A real training of a file, saved twice; the step after which it was saved last."""
    data.write_text(PAIRS, encoding="utf-8")
    small = Settings(d_model=8, d_ff=8, n_heads=2, n_layers=1, steps=40, warmup_steps=5)
    run = LabRun.begin(FileSource(str(data)), small)
    path.parent.mkdir(parents=True, exist_ok=True)
    for progress in run:
        run.save_run(path)
        if progress.step == n:
            return n
    raise AssertionError("the training is over before")


def take_up(qtbot, bench: Bench, step: int = 133, name: str = "mine.tsv") -> Path:
    """A training of a file that was saved at a step is gone on with."""
    path = bench.laboratory.folder / "training-1.safetensors"
    about = Subject(FileSource(f"/nowhere/{name}"), name, Settings())
    bench.store.dispatch(lab_unfinished.list_unfinished, (Unfinished(path, about, step),), False)
    before = len(bench.clients)
    bench.store.dispatch(lab_unfinished.take_up, path)
    qtbot.waitUntil(lambda: len(bench.clients) > before)
    return path


# What is said where one cannot be taken up.


def test_a_training_whose_data_are_gone_names_the_step_of_its_checkpoint(qtbot, bench):
    path = take_up(qtbot, bench)
    reason = "mine.tsv: cannot be read (No such file or directory)"
    bench.tell(Failed(f"{reason}, expected a file", "mine.tsv", reason.partition(": ")[2]))
    assert (
        said(bench) == f"{reason}, expected a file. Put the file back into /nowhere as it was: "
        "the training was saved last at step 133 and can go on then."
    )
    assert [(e.path, e.step) for e in bench.store.state.lab.unfinished] == [(path, 133)]
    bench.store.dispatch(actions.dismiss_notice)
    assert lab_words.why_ended(bench.training, True).startswith("mine.tsv: cannot")
    assert "step 133 " in lab_words.why_ended(bench.training, True)
    i18n.set_language("zh")
    told = lab_words.why_ended(bench.training, True)
    assert "第 133 步" in told and "放回 /nowhere" in told


def test_a_training_that_fails_for_another_reason_asks_for_no_file(qtbot, bench):
    take_up(qtbot, bench)
    bench.tell(Failed("there is not enough memory for this run; make it smaller"))
    assert said(bench).endswith("It was saved last at step 133 and can go on from there.")
    assert lab_words.why_ended(bench.training, True) == said(bench)


def test_banner_and_page_do_not_say_the_same(qtbot, live, tmp_path):
    store, laboratory = live.store, live.session.laboratory
    data = tmp_path / "mine.tsv"
    step = saved(laboratory.folder / "training-1.safetensors", data)
    data.unlink()
    store.dispatch(lab_actions.toggle_lab)
    laboratory._on_settled()
    qtbot.waitUntil(lambda: bool(store.state.lab.unfinished), timeout=WAIT)
    store.dispatch(lab_unfinished.take_up)
    qtbot.waitUntil(lambda: store.state.lab.training.status == "failed", timeout=3 * WAIT)
    bar, part = live.window.notice.bar, live.window.stage.page.parts["training"]
    assert "mine.tsv: " in bar.sentence.text() and f"step {step} " in bar.sentence.text()
    assert [b.text() for b in bar.answers if b.isVisible()] == ["Resume"]
    assert not part.reason.isVisible()


def test_a_file_that_cannot_begin_a_training_is_named_once(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(Failed("mine.tsv: is empty, expected pairs", "mine.tsv", "is empty, expected pairs"))
    assert said(bench) == "mine.tsv cannot be used for training: is empty, expected pairs"
    key = bench.store.state.notice.key
    # that is what the page goes by, to say it no second time
    assert key.startswith(lab_unfinished.FAILED)


def test_a_file_name_keeps_its_letters_at_the_head_of_a_sentence():
    assert as_sentence("mine.tsv: is empty") == "mine.tsv: is empty"
    assert as_sentence("my pairs.tsv：没有内容") == "my pairs.tsv：没有内容"
    assert as_sentence("/a/pairs: is empty") == "/a/pairs: is empty"
    assert as_sentence("pairs: is empty", "pairs") == "pairs: is empty"
    assert as_sentence("the loss is nan") == "The loss is nan"
    assert as_sentence("the process has ended (code 1): OSError: x.y") == (
        "The process has ended (code 1): OSError: x.y"
    )


# Damaged ones.


def test_a_training_without_a_sound_checkpoint_is_listed_and_can_only_be_discarded(
    qtbot, live, tmp_path
):
    laboratory, store = live.session.laboratory, live.store
    path = laboratory.folder / "training-1.safetensors"
    step = saved(path, tmp_path / "mine.tsv")
    shutil.copy(path, sound := laboratory.folder / "training-2.safetensors")
    for file in (path, previous_of(path)):
        data = bytearray(file.read_bytes())
        data[-5] ^= 1
        file.write_bytes(data)
    store.dispatch(lab_actions.toggle_lab)
    laboratory._on_settled()
    qtbot.waitUntil(lambda: bool(store.state.lab.unfinished), timeout=WAIT)
    assert [entry.path for entry in store.state.lab.unfinished] == [sound]
    # the sound one alone is offered
    assert f"interrupted: mine.tsv, step {step}" in said_of(live)
    rows = live.window.stage.page.parts["choose"].rows
    assert [row.go_on.isVisible() for row in rows] == [True, False]
    words = rows[1].words.text()
    assert words.startswith("training-1.safetensors") and "damaged" in words
    assert "checksum differs" in words
    store.dispatch(actions.set_language, "zh")
    assert "无法继续" in rows[1].words.text() and "checksum" not in rows[1].words.text()
    store.dispatch(lab_unfinished.take_up, path)
    assert store.state.lab.order.kind != "take_up"
    rows[1].discard.click()
    qtbot.waitUntil(lambda: not path.exists() and not previous_of(path).exists(), timeout=WAIT)
    qtbot.waitUntil(lambda: not store.state.lab.damaged, timeout=WAIT)
    assert sound.exists()


def said_of(live) -> str:
    return remarks.notice_text(live.store.state.notice)


@pytest.mark.parametrize("left", [b"", bytes(4000), b"some text " * 50])
def test_what_a_power_failure_leaves_of_a_checkpoint_is_listed_and_goes(qtbot, bench, left):
    path = bench.laboratory.folder / "training-1.safetensors"
    path.parent.mkdir(parents=True)
    path.write_bytes(left)
    (found,) = unfinished_in(path.parent)
    assert isinstance(found, Damaged) and found.path == path and found.reason
    bench.store.dispatch(lab_unfinished.list_unfinished, (found,), True)
    # nothing to go on with: nothing is offered
    assert bench.store.state.notice is None
    bench.store.dispatch(lab_unfinished.discard, path)
    qtbot.waitUntil(lambda: not path.exists())


def test_a_model_is_no_damaged_training_and_the_one_before_the_last_is_found(tmp_path):
    from model_core import save_checkpoint

    save_checkpoint(scripted.MODEL, tmp_path / "training-7.safetensors")
    assert unfinished_in(tmp_path) == ()
    path = tmp_path / "training-2.safetensors"
    step = saved(path, tmp_path / "mine.tsv")
    path.unlink()
    (found,) = unfinished_in(tmp_path)
    assert isinstance(found, Unfinished) and (found.path, found.step) == (path, step - 1)


# The film.


def test_that_the_film_begins_anew_is_said_where_one_can_still_save_of_it(qtbot, live):
    store = live.store
    store.dispatch(lab_actions.toggle_lab)
    about = Subject(TaskSource("reverse"), "reverse", Settings())
    found = (Unfinished(Path("/nowhere/t.safetensors"), about, 1250, 2e9),)
    store.dispatch(lab_unfinished.list_unfinished, found, False)
    parts = live.window.stage.page.parts
    words = parts["choose"].rows[0].words
    # once it has the width that it is laid out with
    qtbot.waitUntil(lambda: "the film begins anew at step 1,250" in words.text())
    store.dispatch(lambda state: lab_actions.with_lab(state, training=Training(1, about)))
    store.dispatch(lab_actions.go_to, "training")
    assert "not saved with the training" in parts["training"].film.save.toolTip()
    store.dispatch(actions.set_language, "zh")
    assert "胶片不随训练保存" in parts["training"].film.save.toolTip()
    store.dispatch(lab_actions.go_to, "choose")
    assert "胶片从第 1,250 步" in words.text()


def test_what_was_chosen_for_the_film_is_there_again_when_a_training_is_taken_up(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.steps(1, 2))
    bench.store.dispatch(lab_orders.set_probe, "s4 s5 s6")
    bench.store.dispatch(lab_orders.set_attention, "encoder")
    bench.store.dispatch(lab_orders.set_layer, 0)
    bench.store.dispatch(lab_orders.set_head, 2)
    path = Path(bench.training.checkpoint)
    # as it is when a process has saved it
    path.write_bytes(b"")
    bench.begin(qtbot)
    assert bench.training.checkpoint != str(path)
    bench.tell(scripted.started(), scripted.steps(1))
    lab = bench.store.state.lab
    assert (lab.attention, lab.head, lab.is_chosen) == ("cross", 0, False)
    entry = Unfinished(path, subject(), 2)
    bench.store.dispatch(lab_unfinished.list_unfinished, (entry,), False)
    before = len(bench.clients)
    bench.store.dispatch(lab_unfinished.take_up, path)
    qtbot.waitUntil(lambda: len(bench.clients) > before)
    bench.tell(scripted.started(2), scripted.steps(3, evaluated=3))
    lab = bench.store.state.lab
    assert (lab.attention, lab.layer, lab.head, lab.probe) == ("encoder", 0, 2, "s4 s5 s6")
