"""A training process that is ended from outside, and the files that it leaves alone."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from model_core.training.lab import Training
from model_core.training.lab_data import FileSource
from model_core.training.lab_run import LabRun
from model_core.training.messages import Event, Refused, Start
from model_core.training.resume import read_run
from tests.core.train_folder import (
    SETTINGS,
    training_folder,  # noqa: F401 (fixture)
    unfinished,
)

ENDLESS = msgspec.structs.replace(SETTINGS, steps=10**6)


def until(training: Training, holds: Callable[[], bool]) -> list[Event]:
    """All events until something holds."""
    end, events = time.monotonic() + 60, []
    while not holds():
        assert time.monotonic() < end, (training.state, training.sentence)
        events += training.poll()
        time.sleep(0.002)
    return events


@pytest.mark.skipif(os.name != "posix", reason="needs signals as a system sends them")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("paused", [False, True])
def test_a_process_that_is_told_to_end_saves_the_run_behind_a_step(
    folder: Path, name: str, paused: bool
) -> None:
    place = folder / "run.training"
    source = FileSource(str(folder / "pairs.tsv"))
    training = Training(
        Start(source=source, settings=ENDLESS, checkpoint=str(place), norms_every=0)
    )
    until(training, lambda: training.step > 10)
    if paused:
        training.pause()
        until(training, lambda: training.state == "paused")
    os.kill(training.process_id, getattr(signal, name))
    until(training, lambda: training.is_over)
    number = int(getattr(signal, name))
    assert training.sentence == (f"the training process was ended from outside (signal {number})")
    again, whole = LabRun.resume(place), LabRun.begin(source, ENDLESS)
    assert again.step == training.saved_step >= training.step
    for run in (again, whole):
        while run.step < training.saved_step + 3:
            run.advance()
    for parameter, value in whole.model.parameters.items():
        assert value.tobytes() == again.model.parameters[parameter].tobytes()


def test_a_file_at_the_place_of_the_checkpoint_is_neither_written_over_nor_removed(
    folder: Path,
) -> None:
    others = unfinished(folder, seed=9)
    (folder / "diary").write_text("mine", "utf-8")
    for place in (folder / "diary", others):
        before = place.read_bytes()
        source = FileSource(str(folder / "pairs.tsv"))
        training = Training(
            Start(source=source, settings=SETTINGS, checkpoint=str(place), save_steps=20)
        )
        events = until(training, lambda training=training: training.is_over)
        assert training.state == "finished"
        assert sum(isinstance(event, Refused) for event in events) == 3
        assert "expected a name that is free" in training.sentence
        training.forget()
        assert place.read_bytes() == before


def test_what_a_run_was_taken_up_from_is_removed_only_where_it_is_saved_there_too(
    folder: Path,
) -> None:
    place, elsewhere = unfinished(folder), folder / "elsewhere"
    for checkpoint in ("", str(elsewhere), str(place)):
        training = Training(Start(resume=str(place), checkpoint=checkpoint, save_steps=20))
        until(training, lambda training=training: training.is_over)
        assert training.state == "finished"
        training.forget()
        assert place.exists() == (checkpoint != str(place)) and not elsewhere.exists()
        if place.exists():
            assert read_run(place).position.step == 7


@pytest.mark.parametrize("given", [{"save_steps": -1}, {"save_seconds": float("nan")}])
def test_a_run_is_not_saved_at_every_minus_first_step(
    folder: Path, given: dict[str, float]
) -> None:
    source = FileSource(str(folder / "pairs.tsv"))
    training = Training(Start(source=source, settings=SETTINGS, **given))
    until(training, lambda: training.is_over)
    assert training.sentence.endswith(", expected 0 or more")
