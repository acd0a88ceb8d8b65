"""A place that cannot take the model when it is trained, and one that two would train at."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from model_core import open_checkpoint
from model_core.training import lab_run
from model_core.training.lab_run import LabRun
from model_core.training.resume import read_run
from model_core.training.run_lock import InUseError, running_at
from tests.core.train_folder import (
    FRESH,
    LONG,
    on_posix,
    settings,
    train,
    training_folder,  # noqa: F401 (fixture)
    unfinished,
)

ROOT = Path(__file__).parents[2]
INTO_RUNS = (*FRESH, "--out", "runs/m.safetensors")


@pytest.fixture
def at_step_30(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Have something happen in the midst of a training."""

    def arrange(happens: Callable[[], object]) -> None:
        advance = LabRun.advance

        def watched(self: LabRun) -> object:
            progress = advance(self)
            if progress.step == 30:
                happens()
            return progress

        monkeypatch.setattr(LabRun, "advance", watched)

    return arrange


Arrange = Callable[[Callable[[], object]], None]


def blocked() -> None:
    """No folder can be where a file is."""
    shutil.rmtree("runs")
    Path("runs").write_text("in the way", "utf-8")


def test_a_folder_that_is_gone_at_the_end_is_made_again(
    folder: Path, at_step_30: Arrange, capsys: pytest.CaptureFixture[str]
) -> None:
    at_step_30(lambda: shutil.rmtree("runs"))
    assert train(*INTO_RUNS) == 0
    assert "written to runs/m.safetensors (" in capsys.readouterr().out
    assert open_checkpoint(folder / "runs" / "m.safetensors").card["steps"] == 60
    assert os.listdir("runs") == ["m.safetensors"]


def test_a_model_whose_place_is_gone_is_written_to_the_current_folder(
    folder: Path, at_step_30: Arrange, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "m.safetensors").write_text("mine", "utf-8")
    at_step_30(blocked)
    assert train(*INTO_RUNS, "--save-steps", "20") == 2
    *_, said = capsys.readouterr().err.splitlines()
    place = folder / "m-2.safetensors"
    assert "runs/m.safetensors cannot be saved (" in said
    assert said.endswith(f"; the trained model is written to {place} instead")
    assert ".training" not in said
    assert open_checkpoint(place).card["steps"] == 60
    assert (folder / "m.safetensors").read_text("utf-8") == "mine"


@pytest.mark.parametrize("where", ["home", "temporary"])
def test_a_model_goes_home_or_to_the_temporary_folder_when_the_disk_is_full(
    folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    where: str,
) -> None:
    full, place = [folder], tmp_path_factory.mktemp("place")
    other = tmp_path_factory.mktemp("other")
    full += [] if where == "home" else [other]
    home, temporary = (place, other) if where == "home" else (other, place)
    monkeypatch.setattr(Path, "home", lambda: home)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(temporary))
    save = lab_run.checkpoints.save

    def saved(path: Path, *rest: object) -> object:
        if Path(path).absolute().parent in full:
            raise OSError(28, "No space left on device")
        return save(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(lab_run.checkpoints, "save", saved)
    assert train(*FRESH, "--out", "m.safetensors") == 2
    assert (
        "m.safetensors cannot be saved (No space left on device); the trained model is written to "
        f"{place / 'm.safetensors'} instead\n"
    ) in capsys.readouterr().err
    assert open_checkpoint(place / "m.safetensors").card["steps"] == 60


def test_only_where_nothing_can_be_written_is_the_model_lost(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(lab_run.checkpoints, "save", full)
    monkeypatch.setattr(lab_run, "write_run", full)
    assert train(*FRESH, "--out", "m.safetensors") == 2
    assert (
        "m.safetensors cannot be saved (No space left on device), and the model can be written to "
        "no other place either: it is lost\n"
    ) in capsys.readouterr().err


def test_a_checkpoint_that_cannot_be_removed_does_not_cost_the_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(lab_run, "remove_run", refuse)
    assert train(*FRESH, "--out", "m.safetensors", "--save-steps", "20") == 0
    assert open_checkpoint(folder / "m.safetensors").card["steps"] == 60
    told = capsys.readouterr()
    assert "written to m.safetensors (" in told.out
    assert "is not needed any more but stays (permission denied)" in told.err


@on_posix
def test_a_stopped_training_whose_place_is_gone_goes_on_from_another(
    folder: Path, at_step_30: Arrange, capsys: pytest.CaptureFixture[str]
) -> None:
    def happens() -> None:
        blocked()
        os.kill(os.getpid(), signal.SIGTERM)

    at_step_30(happens)
    assert train(*INTO_RUNS) == 143
    place = folder / "m.safetensors.training"
    assert f"go on with --resume {place} (it lies there because" in capsys.readouterr().err
    assert read_run(place).position.step == 30
    assert train("--resume", place.name) == 0


def test_a_training_that_diverged_keeps_its_model_elsewhere_too(
    folder: Path, at_step_30: Arrange, capsys: pytest.CaptureFixture[str]
) -> None:
    settings(folder, learning_rate=1e4, steps=LONG, warmup_steps=1)
    at_step_30(blocked)
    assert train(*INTO_RUNS) == 2
    place = folder / "m-step-0.safetensors"
    assert f"is written to {place} (" in capsys.readouterr().err
    assert open_checkpoint(place).card["steps"] == 0


def test_the_model_of_a_built_in_task_is_not_lost_either(
    folder: Path, at_step_30: Arrange, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("reverse", "--steps", "30", "--out", "runs/r.safetensors")
    happens: Callable[[], object] = lambda: shutil.rmtree("runs")  # noqa: E731
    at_step_30(lambda: happens())
    assert train(*given) == 0
    assert open_checkpoint("runs/r.safetensors").card["task"] == "reverse"
    happens = blocked
    assert train(*given) == 2
    place = folder / "r.safetensors"
    assert f"the trained model is written to {place} instead\n" in capsys.readouterr().err
    assert open_checkpoint(place).card["task"] == "reverse"


# One training at a place.


def test_a_place_is_free_again_when_the_training_is_over(tmp_path: Path) -> None:
    place = tmp_path / "m.training"
    with running_at(place):
        with pytest.raises(InUseError, match=r"m\.training is the checkpoint of a training that"):
            running_at(place).__enter__()
        with running_at(tmp_path / "n.training"):
            pass
    assert list(tmp_path.iterdir()) == []
    with running_at(place):
        pass


def test_what_a_person_keeps_under_the_name_of_the_mark_stays(tmp_path: Path) -> None:
    mine = tmp_path / "m.training.running"
    mine.write_text("mine", "utf-8")
    with running_at(tmp_path / "m.training"):
        pass
    assert mine.read_text("utf-8") == "mine"


def test_a_place_where_nothing_can_be_written_bars_nobody(tmp_path: Path) -> None:
    with running_at(tmp_path / "missing" / "m.training"):
        pass


@on_posix
def test_a_running_training_is_neither_begun_again_nor_gone_on_with(folder: Path) -> None:
    settings(folder, steps=LONG)
    place = folder / "m.safetensors.training"
    process = subprocess.Popen(
        [sys.executable, "-m", "model_core", "train", *FRESH]
        + ["--out", "m.safetensors", "--save-steps", "1"],
        stderr=subprocess.DEVNULL,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
    )
    try:
        end = time.monotonic() + 60
        while not place.exists():
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.005)
        for arguments in (
            (*FRESH, "--out", "m.safetensors"),
            (*FRESH, "--out", "m.safetensors", "--anew"),
            ("--resume", place.name),
            ("--resume", place.name, "--out", "other.safetensors"),
        ):
            done = subprocess.run(
                [sys.executable, "-m", "model_core", "train", *arguments],
                capture_output=True,
                text=True,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
            )
            assert done.returncode == 2
            assert done.stderr.count("\n") == 1
            assert f"{place.name} is the checkpoint of a training that is running" in done.stderr
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
    # what was killed bars the way no longer
    assert place.exists()
    with running_at(place):
        pass
    assert not list(folder.glob("*.running"))


def test_a_checkpoint_at_which_the_window_trains_is_left_to_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from PySide6.QtCore import QLockFile

    place = unfinished(folder)
    lock = QLockFile(f"{place}.lock")
    assert lock.tryLock(0)
    assert train("--resume", place.name) == 2
    assert "is the checkpoint of a training that is running now" in capsys.readouterr().err
    lock.unlock()
    assert train("--resume", place.name) == 0


# What cannot be gone on with.


@pytest.mark.parametrize("name", ["nofile", "nofile.training"])
def test_a_run_that_is_not_there_is_missed_as_a_file(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert train("--resume", name) == 2
    told = capsys.readouterr().err
    assert f"{name}: there is no such file" in told
    assert sorted(os.listdir()) == ["config.json", "pairs.tsv"]


def test_a_finished_model_is_known_as_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(*FRESH, "--out", "a.safetensors") == 0
    for name in ("a.safetensors", "a.training"):
        assert train("--resume", name) == 2
        assert f"{name}: is a finished model, expected a training ch" in capsys.readouterr().err
        if name == "a.safetensors":
            (folder / name).rename("a.training")
