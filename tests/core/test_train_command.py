"""Training from the command line: whatever stops it, nothing is lost and nothing is overwritten."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from model_core import open_checkpoint
from model_core.__main__ import main
from model_core.training import lab_run, progress_bar
from model_core.training.lab_data import FileSource
from model_core.training.lab_run import LabRun
from model_core.training.resume import read_run
from tests.core.train_folder import (
    FRESH,
    LONG,
    SETTINGS,
    on_posix,
    settings,
    train,
    training_folder,  # noqa: F401 (fixture)
    unfinished,
)

ROOT = Path(__file__).parents[2]


def start(*arguments: str, **options: object) -> subprocess.Popen[str]:
    given: dict[str, object] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(
        [sys.executable, "-m", "model_core", "train", *arguments],
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        **(given | options),  # type: ignore[call-overload]
    )


def wait_for(holds: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.005)


# What stops it.


@on_posix
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_the_run_behind_a_step_and_it_goes_on_to_the_same_bytes(
    folder: Path, name: str
) -> None:
    settings(folder, steps=LONG)
    process = start(*FRESH, "--out", "m.safetensors", "--save-steps", "1")
    place = folder / "m.safetensors.training"
    wait_for(place.exists, process)
    process.send_signal(getattr(signal, name))
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + getattr(signal, name), output
    assert output.count("stopped") == 1 and "Traceback" not in output
    assert "stopped; go on with --resume m.safetensors.training" in output
    step = read_run(place).position.step
    assert 0 < step < LONG
    again = LabRun.resume(place)
    whole = LabRun.begin(
        FileSource(str(folder / "pairs.tsv")), msgspec.structs.replace(SETTINGS, steps=LONG)
    )
    for run in (again, whole):
        while run.step < step + 5:
            run.advance()
    for parameter, value in whole.model.parameters.items():
        assert value.tobytes() == again.model.parameters[parameter].tobytes()


@on_posix
def test_a_second_ctrl_c_stops_at_once_and_leaves_the_last_checkpoint(folder: Path) -> None:
    program = (
        "import time\n"
        "from model_core.__main__ import main\n"
        "from model_core.training.loop import Trainer\n"
        "evaluate = Trainer.evaluate\n"
        "def slowly(self):\n"
        "    open('evaluating', 'w').close()\n"
        "    time.sleep(60)\n"
        "Trainer.evaluate = slowly\n"
        f"raise SystemExit(main(['train', *{FRESH!r}, '--out', 'm.safetensors', "
        "'--save-steps', '1', '--evaluate-steps', '20']))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    wait_for((folder / "evaluating").exists, process)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, output = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "stopping behind this step" in output and "Traceback" not in output
    assert "stopped at once; go on from the last checkpoint with --resume m.safetensors.tra" in (
        output
    )
    assert read_run(folder / "m.safetensors.training").position.step == 19


def test_a_run_that_comes_to_nothing_leaves_the_model_that_was_there_before(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(*FRESH, "--out", "m.safetensors") == 0
    before = (folder / "m.safetensors").read_bytes()
    settings(folder, learning_rate=1e4, steps=LONG, warmup_steps=1)
    capsys.readouterr()
    for number in ("", "-2"):
        assert train(*FRESH, "--out", "m.safetensors") == 2
        kept = f"m-step-0{number}.safetensors"
        assert f"after step 0, and is written to {kept}\n" in capsys.readouterr().err
        assert (folder / "m.safetensors").read_bytes() == before
        card = open_checkpoint(folder / kept).card
        assert card["steps"] == 0 and card["about"].endswith("for 0 steps.")
    place = unfinished(folder, learning_rate=1e4, steps=LONG, warmup_steps=1)
    assert train("--resume", place.name) == 2
    assert "is written to m-step-7.safetensors\n" in capsys.readouterr().err
    assert open_checkpoint(folder / "m-step-7.safetensors").card["steps"] == 7
    assert (folder / "m.safetensors").read_bytes() == before


def test_a_model_that_cannot_be_written_is_still_there_to_be_written_elsewhere(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(lab_run.checkpoints, "save", full)
        assert train(*FRESH, "--out", "m.safetensors") == 2
    assert "the training is kept: --resume m.safetensors.training" in capsys.readouterr().err
    assert train("--resume", "m.safetensors.training", "--out", "n.safetensors") == 0
    assert open_checkpoint("n.safetensors").card["steps"] == 60
    assert not (folder / "m.safetensors.training").exists()


def test_a_disk_that_is_full_for_a_while_does_not_end_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(lab_run, "write_run", full)
    assert train(*FRESH, "--out", "m.safetensors", "--save-steps", "20") == 0
    assert capsys.readouterr().err.count("No space left on device; training goes on") == 3


def test_too_little_memory_is_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr(LabRun, "advance", full)
    assert train(*FRESH, "--out", "m.safetensors") == 2
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .startswith(
            "python -m model_core: there is not enough memory for this run; make it smaller"
        )
    )


# What is seen of it.


def text_at(columns: int, folder: Path) -> str:
    """What a training writes to a terminal of so many columns."""
    import fcntl
    import pty
    import struct
    import termios

    try:
        mine, its = pty.openpty()
    except OSError as error:
        pytest.skip(f"no terminal to be had here: {error}")
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = start(*FRESH, "--out", "m.safetensors", stderr=its, stdout=subprocess.DEVNULL)
    os.close(its)
    written = b""
    while True:
        try:
            part = os.read(mine, 4096)
        except OSError:
            break
        if not part:
            break
        written += part
    os.close(mine)
    assert process.wait() == 0
    return written.decode()


@on_posix
@pytest.mark.parametrize("columns", [30, 60, 80, 200])
def test_the_bar_fits_on_the_line_of_the_terminal(folder: Path, columns: int) -> None:
    drawn = [line.split("\r\n")[0] for line in text_at(columns, folder).split("\r\x1b[K")[1:]]
    bars = [line for line in drawn if "/60" in line]
    assert bars and max(map(len, bars)) < columns
    assert "60/60  loss" in bars[-1] and ("[####" in bars[-1]) == (columns == 200)


def test_whoever_waits_for_the_data_is_told_of_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from model_core.training import train_command

    load = train_command.load

    def slowly(source: object, given: object, report: Callable[..., None]) -> object:
        time.sleep(0.2)
        return load(source, given, report)

    monkeypatch.setattr(train_command, "load", slowly)
    monkeypatch.setattr(progress_bar, "SECONDS_OF_SILENCE", 0.1)
    assert train(*FRESH, "--out", "m.safetensors") == 0
    assert "reading pairs.tsv\n" in capsys.readouterr().err


@on_posix
@pytest.mark.parametrize("closed", ["1>&-", "2>&-", "1>&- 2>&-", "2>&1 | true"])
def test_nobody_has_to_listen(folder: Path, closed: str) -> None:
    command = f'"{sys.executable}" -m model_core train {" ".join(FRESH)} --out m.safetensors'
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} {closed}"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr + done.stdout
    assert open_checkpoint(folder / "m.safetensors").card["steps"] == 60


@on_posix
def test_ctrl_c_while_the_program_is_imported_is_no_traceback(folder: Path) -> None:
    program = (
        "import builtins, os, signal\n"
        "real = builtins.__import__\n"
        "def struck(name, *rest, **more):\n"
        "    if name == 'numpy':\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return real(name, *rest, **more)\n"
        "builtins.__import__ = struck\n"
        "import runpy\n"
        "runpy.run_module('model_core', run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stderr) == (130, "python -m model_core: stopped\n")


def test_info_says_that_a_run_is_no_model_yet_and_how_to_go_on(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unfinished(folder)
    assert main(["info", "m.safetensors.training"]) == 2
    told = capsys.readouterr().err
    assert "m.safetensors.training: is an interrupted training" in told
    assert "train --resume" in told


def test_settings_that_are_not_there_are_missed_as_settings(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train("--data", "pairs.tsv", "--config", "nosuch", "--out", "m.safetensors") == 2
    told = capsys.readouterr().err
    assert told.endswith("nosuch: there is no such file, expected a JSON file of settings\n")
