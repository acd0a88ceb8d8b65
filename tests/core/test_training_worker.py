"""Training in a process of its own: commands, events, and how it ends."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from model_core.training import lab
from model_core.training.lab import Training
from model_core.training.lab_data import FileSource
from model_core.training.lab_run import LabRun, Watching
from model_core.training.messages import Event, Paused, Probed, Refused, Snapshot, Start, Steps
from model_core.training.resume import read_run
from model_core.training.settings import Settings
from tests.core import small_run

ROOT = Path(__file__).parents[2]
SETTINGS = msgspec.structs.replace(small_run.SETTINGS, steps=40, dropout_rate=0.05)
ENDLESS = msgspec.structs.replace(SETTINGS, steps=10**6)


@pytest.fixture
def begin(pairs: Path) -> Iterator[Callable[..., Training]]:
    """Trainings on the pairs, all of which are closed in the end."""
    begun: list[Training] = []

    def start(settings: Settings = SETTINGS, **options: Any) -> Training:
        given = {"source": FileSource(str(pairs)), "settings": settings} | options
        begun.append(Training(Start(evaluate_every=20, **given)))
        return begun[-1]

    yield start
    for training in begun:
        training.close()


def until(training: Training, holds: Callable[[], bool]) -> list[Event]:
    """All events until something holds."""
    end, events = time.monotonic() + 60, []
    while not holds():
        assert time.monotonic() < end, (training.state, training.sentence)
        events += training.poll()
        assert training.state != "failed" or holds(), training.sentence
        time.sleep(0.002)
    return events


def is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process_id}/stat")
    return not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_a_whole_run_gives_the_weights_of_one_in_this_process(
    begin: Callable[..., Training], pairs: Path, tmp_path: Path
) -> None:
    checkpoint = tmp_path / "run.training"
    training = begin(probe="49", checkpoint=str(checkpoint), save_steps=7)
    events = until(training, lambda: training.is_over)
    here = LabRun.begin(FileSource(str(pairs)), SETTINGS, Watching(20, 10))
    rows = list(here)
    assert [row for event in events if isinstance(event, Steps) for row in event.rows] == rows
    assert (training.state, training.step, training.total_steps) == ("finished", 40, 40)
    model = training.model()
    for name, value in here.model.parameters.items():
        assert np.array_equal(model.parameters[name], value)
    assert training.card == here.card()
    assert model.tokenizer.to_dict() == here.model.tokenizer.to_dict()
    # measured, probed, filmed and saved on the way, without a trace in the weights
    assert training.history.steps.column("loss").tolist() == [row.loss for row in rows]
    assert len(training.history.norms) == 4
    assert training.evaluation == rows[-1].evaluation
    assert [done.step for done in training.evaluations] == [20, 40]
    for done in training.evaluations:
        assert len(done.shown) == done.decoded
        assert sum(example.is_right for example in done.shown) == done.exact
    # the same texts again and again are kept once
    first, second = (done.shown for done in training.evaluations)
    assert all(a.source is b.source for a, b in zip(first, second, strict=True))
    assert all(a.expected is b.expected for a, b in zip(first, second, strict=True))
    # until the model lies somewhere else, its checkpoint gives it again
    assert training.saved_step == 40
    again = begin(resume=str(checkpoint), checkpoint=str(checkpoint))
    until(again, lambda: again.is_over)
    for name, value in model.parameters.items():
        assert np.array_equal(again.model().parameters[name], value)
    training.forget()
    assert list(tmp_path.iterdir()) == [pairs]
    assert training.film is not None and training.film.steps == [0, 10, 20, 30, 40]
    assert training.started is not None
    assert training.started.report[0] == "90 pairs from 90 lines"


def test_a_snapshot_of_the_film_is_the_model_of_its_step(
    begin: Callable[..., Training], pairs: Path
) -> None:
    training = begin(film_stored_as="float32")
    until(training, lambda: training.is_over)
    here = LabRun.begin(FileSource(str(pairs)), SETTINGS, Watching(0, 0))
    for _ in range(20):
        here.advance()
    assert training.film is not None
    then = training.model(snapshot=training.film.steps.index(20))
    for name, value in here.model.parameters.items():
        assert np.array_equal(then.parameters[name], value)
    assert then.trace("49").sites


def test_a_probe_shows_what_the_model_of_that_step_does(begin: Callable[..., Training]) -> None:
    training = begin(film_stored_as="float32", paused=True, probe="49")
    until(training, lambda: training.state == "paused" and training.probed is not None)
    probed = training.probed
    assert probed is not None and probed.step == 0
    result = training.model(snapshot=0).generate("49")
    assert probed.output == result.text
    assert np.allclose(probed.log_probs, result.log_probs, atol=1e-5)
    weights = np.frombuffer(probed.attention, np.float32).reshape(probed.shape)
    wanted = result.tape["decoder.layers.0.cross_attn.weights"].value[0]
    assert np.allclose(weights[0], wanted, atol=1e-6)
    assert weights.shape == (1, 2, len(probed.output_tokens), len(probed.source_tokens))
    training.probe("7")
    events = until(training, lambda: training.probed is not probed)
    assert any(isinstance(event, Probed) and event.text == "7" for event in events)


def test_pause_single_steps_and_going_on_change_nothing_of_the_run(
    begin: Callable[..., Training], pairs: Path, tmp_path: Path
) -> None:
    training = begin(paused=True, checkpoint=str(tmp_path / "run.training"))
    until(training, lambda: training.state == "paused")
    for step in (1, 2, 3):
        training.step_once()
        until(training, lambda step=step: training.step == step)
        # so that what one batch more would do can be looked at
        until(training, lambda step=step: training.saved_step == step)
        # and so that the film ends with it
        assert training.film is not None and training.film.steps == [0, step]
    time.sleep(0.1)
    training.poll()
    assert (training.state, training.step, len(training.history.steps)) == ("paused", 3, 3)
    training.go_on()
    until(training, lambda: training.step > 3)
    training.pause()
    until(training, lambda: training.state == "paused" or training.is_over)
    if training.state == "paused":
        assert training.film is not None and training.film.steps[-1] == training.step
    training.go_on()
    until(training, lambda: training.is_over)
    here = LabRun.begin(FileSource(str(pairs)), SETTINGS, Watching(20, 10))
    list(here)
    assert all(
        np.array_equal(training.model().parameters[name], value)
        for name, value in here.model.parameters.items()
    )


def test_stop_and_keep_gives_the_model_as_it_is(
    begin: Callable[..., Training], tmp_path: Path
) -> None:
    training = begin(ENDLESS, checkpoint=str(tmp_path / "run.training"), save_steps=5)
    until(training, lambda: training.step > 20)
    assert training.seconds_per_step is not None and training.seconds_left is not None
    with pytest.raises(ValueError, match="not over yet"):
        training.model()
    training.stop_and_keep()
    until(training, lambda: training.is_over)
    assert training.state == "finished" and 20 < training.step < 10**6
    assert training.film is not None and training.film.steps[-1] == training.step
    assert training.model().generate("7").tokens
    assert training.card["steps"] == training.step
    training.forget()
    assert list(tmp_path.glob("*training*")) == []


def test_a_window_that_closes_leaves_a_run_that_can_be_gone_on_with(
    begin: Callable[..., Training], tmp_path: Path
) -> None:
    path = tmp_path / "run.training"
    training = begin(ENDLESS, checkpoint=str(path))
    until(training, lambda: training.step > 10)
    training.close(save=True)
    assert training.state == "ended" and not is_alive(training.process_id)
    step = read_run(path).position.step
    assert step == training.saved_step >= 10
    again = Training(Start(resume=str(path), checkpoint=str(path), paused=True))
    until(again, lambda: again.state == "paused")
    assert again.step == step == len(again.history.steps)
    assert again.history.steps.column("step")[-1] == step
    again.close()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_a_killed_process_is_told_and_leaves_no_zombie(begin: Callable[..., Training]) -> None:
    training = begin(ENDLESS)
    until(training, lambda: training.step > 0)
    os.kill(training.process_id, signal.SIGKILL)
    until(training, lambda: training.state == "failed")
    assert training.sentence == "the training process was ended from outside (signal 9)"
    with pytest.raises(ChildProcessError):
        os.waitpid(training.process_id, os.WNOHANG)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_the_process_saves_the_run_and_ends_when_its_program_is_killed(
    pairs: Path, tmp_path: Path
) -> None:
    checkpoint = tmp_path / "run.training"
    program = (
        "import sys, time\n"
        "from model_core.training.lab import Training\n"
        "from model_core.training.lab_data import FileSource\n"
        "from model_core.training.messages import Start\n"
        "from model_core.training.settings import Settings\n"
        "settings = Settings(steps=10**6, warmup_steps=5, d_model=16, d_ff=16)\n"
        f"source, checkpoint = FileSource({str(pairs)!r}), {str(checkpoint)!r}\n"
        "start = Start(source=source, settings=settings, checkpoint=checkpoint)\n"
        "training = Training(start)\n"
        "while training.step < 5:\n"
        "    training.poll(); time.sleep(0.01)\n"
        "print(training.process_id, flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert is_alive(child)
    parent.kill()
    parent.communicate()
    end = time.monotonic() + 10
    while is_alive(child):
        assert time.monotonic() < end
        time.sleep(0.02)
    assert read_run(checkpoint).position.step >= 5


def test_a_training_that_is_forgotten_ends_its_process(pairs: Path) -> None:
    def begun() -> int:
        training = Training(Start(source=FileSource(str(pairs)), settings=ENDLESS))
        until(training, lambda: training.step > 0)
        return training.process_id

    process_id = begun()
    gc.collect()
    assert not is_alive(process_id)


def test_events_that_nobody_takes_hold_the_process_up_and_not_the_memory(
    begin: Callable[..., Training], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab, "MOST_WAITING", 8)
    training = begin(ENDLESS, film_interval=1, norms_every=1)
    until(training, lambda: training.step > 0)
    time.sleep(0.5)
    assert training._events.qsize() == 8
    before = time.monotonic()
    training.close()
    assert time.monotonic() - before < 5
    assert not is_alive(training.process_id)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"source": FileSource("gone.tsv")}, "gone.tsv: there is no such file"),
        ({"settings": msgspec.structs.replace(SETTINGS, n_heads=3)}, "cannot be parted evenly"),
        ({"source": None}, "neither data with settings nor a run to go on with"),
        ({"film_budget": 5000}, "the budget of snapshots is 5,000 bytes"),
        ({"resume": "gone.training"}, "gone.training: there is no such file"),
    ],
)
def test_what_cannot_be_trained_is_said_in_a_sentence(
    begin: Callable[..., Training], options: dict[str, Any], sentence: str
) -> None:
    training = begin(**options)
    until(training, lambda: training.state == "failed")
    assert sentence in training.sentence and "\n" not in training.sentence


def test_a_run_that_diverges_ends_with_its_last_good_model(begin: Callable[..., Training]) -> None:
    wild = msgspec.structs.replace(ENDLESS, learning_rate=1e4, warmup_steps=1)
    training = begin(wild)
    until(training, lambda: training.state == "failed")
    assert "training stopped: the mean loss of the 50 steps up to 50" in training.sentence
    assert training.step == 0
    assert np.isfinite(training.model().parameters["output.W"]).all()


def test_a_probe_that_the_model_cannot_read_is_refused_and_training_goes_on(
    begin: Callable[..., Training],
) -> None:
    learned = msgspec.structs.replace(ENDLESS, position="learned")
    training = begin(learned)
    until(training, lambda: training.step > 0)
    training.probe("7" * 40)
    events = until(training, lambda: "learned positions end at 32" in training.sentence)
    assert any(isinstance(event, Refused) for event in events)
    step = training.step
    until(training, lambda: training.step > step)


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="needs priorities")
def test_the_process_steps_back_behind_the_window(begin: Callable[..., Training]) -> None:
    training = begin(ENDLESS)
    until(training, lambda: training.step > 0)
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, training.process_id) == min(19, own + 10)


def test_a_run_is_watched_by_the_same_pair_when_it_goes_on(
    begin: Callable[..., Training], tmp_path: Path
) -> None:
    checkpoint = str(tmp_path / "run.safetensors")
    first = begin(ENDLESS, checkpoint=checkpoint)
    until(first, lambda: first.step > 3)
    assert first.save() == "" and first.saved_step == first.step and first.state == "paused"
    first.close()
    second = begin(ENDLESS, checkpoint=checkpoint, resume=checkpoint)
    until(second, lambda: second.started is not None)
    assert first.started is not None and second.started is not None
    assert second.started.watched == first.started.watched is not None


def test_a_run_that_cannot_be_saved_says_why_and_goes_on(
    begin: Callable[..., Training], tmp_path: Path
) -> None:
    nowhere = begin(ENDLESS)
    until(nowhere, lambda: nowhere.step > 0)
    assert "no place" in nowhere.save()
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    training = begin(ENDLESS, checkpoint=str(blocked / "run.safetensors"))
    until(training, lambda: training.step > 0)
    assert "cannot be saved" in training.save() and training.saved_step is None
    # what was told meanwhile is polled, but for the answer that was given already
    polled = training.poll()
    assert any(isinstance(event, Paused) for event in polled)
    assert not any(isinstance(event, Refused) for event in polled)
    step = training.step
    training.go_on()
    until(training, lambda: training.step > step)
    training.stop_and_keep()
    until(training, lambda: training.is_over)
    assert training.state == "finished" and training.poll() == []


def test_no_picture_is_ahead_of_the_steps_that_were_told(begin: Callable[..., Training]) -> None:
    training, seen = begin(), 0
    while not training.is_over:
        for event in training.poll():
            if isinstance(event, Steps):
                seen = event.rows[-1].step
            elif isinstance(event, Snapshot):
                assert event.step <= seen or event.step == 0
        time.sleep(0.005)
    assert training.state == "finished"
