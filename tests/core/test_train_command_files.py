"""Training from the command line writes over nothing, and refuses what has no meaning."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from model_core import open_checkpoint
from model_core.training import tasks
from model_core.training.lab_run import LabRun
from model_core.training.resume import previous_of
from tests.core.train_folder import (
    FRESH,
    on_posix,
    train,
    training_folder,  # noqa: F401 (fixture)
    unfinished,
)


@pytest.mark.parametrize("out", ["m.safetensors", "m.training", "m.x", "m"])
def test_a_run_has_a_checkpoint_of_its_own_and_leaves_its_neighbours_alone(
    folder: Path, out: str
) -> None:
    (folder / "pairs.tsv").rename("m.data.training")
    neighbours = [folder / name for name in ("m.data", "m.training.x", "n.training", ".m.part")]
    for file in neighbours:
        file.write_text("mine", "utf-8")
    begun = ["--data", "m.data.training", "--config", "config.json"]
    assert train(*begun, "--out", out, "--save-steps", "25") == 0
    assert all(file.read_text("utf-8") == "mine" for file in neighbours)
    assert (folder / "m.data.training").exists() and (folder / out).exists()
    assert open_checkpoint(folder / out).parameter_count
    assert len(list(folder.iterdir())) == 3 + len(neighbours)


@pytest.mark.parametrize(
    ("data", "out", "told"),
    [
        ("d.tsv", "d.tsv", "d.tsv would be the model and is the data"),
        ("d.tsv", "config.json", "config.json would be the model and is the settings"),
        ("d.tsv", "hard.tsv", "hard.tsv would be the model and is the data"),
        ("d.tsv", "soft.tsv", "soft.tsv would be the model and is the data"),
        ("d.training", "d", "d.training would be the run's checkpoint and is the data"),
        ("d.training.previous", "d", "d.training.previous would be the one before it and is the"),
    ],
)
def test_what_is_read_is_not_written_over(
    folder: Path, capsys: pytest.CaptureFixture[str], data: str, out: str, told: str
) -> None:
    (folder / "pairs.tsv").rename(data)
    os.link(data, "hard.tsv")
    os.symlink(data, "soft.tsv")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert train("--data", data, "--config", "config.json", "--out", out) == 2
    assert told in capsys.readouterr().err
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("m.safetensors", "m.safetensors is there already and looks like a text file"),
        ("m.safetensors.training", "is no training checkpoint and is not written over"),
        ("m.safetensors.training.previous", "is no training checkpoint and is not written over"),
    ],
)
def test_a_file_in_the_way_that_is_something_else_stays(
    folder: Path, capsys: pytest.CaptureFixture[str], file: str, told: str
) -> None:
    (folder / file).write_text("a diary", "utf-8")
    assert train(*FRESH, "--out", "m.safetensors", "--anew") == 2
    assert told in capsys.readouterr().err
    assert (folder / file).read_text("utf-8") == "a diary"


def test_a_run_that_is_gone_on_with_writes_neither_over_itself_nor_over_its_data(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unfinished(folder).rename(folder / "run.safetensors")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    for out, told in (
        ((), "run.safetensors does not end in .training: name the file that the model"),
        (("--out", "run.safetensors"), "would be the model and is the run's checkpoint"),
        (("--out", "pairs.tsv"), "pairs.tsv is there already and looks like a text file"),
    ):
        assert train("--resume", "run.safetensors", *out) == 2
        assert told in capsys.readouterr().err
        assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    assert train("--resume", "run.safetensors", "--out", "m.safetensors") == 0
    assert open_checkpoint("m.safetensors").card["steps"] == 60


@on_posix
def test_a_run_that_was_killed_while_it_saved_goes_on(folder: Path) -> None:
    place = unfinished(folder)
    # a second name for the last one is where keeping it begins
    os.link(place, previous_of(place))
    assert train("--resume", place.name) == 0
    assert not place.exists() and not previous_of(place).exists()


def test_an_unfinished_run_is_not_thrown_away_unasked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = unfinished(folder)
    before = place.read_bytes()
    for file in (place, previous_of(place)):
        assert train(*FRESH, "--out", "m.safetensors") == 2
        assert (
            "m.safetensors.training is an interrupted training, at step 7: go on with --resume "
            "m.safetensors.training, or begin again with --anew\n"
        ) in capsys.readouterr().err
        assert file.read_bytes() == before
        if file == place:
            file.rename(previous_of(place))
    assert train(*FRESH, "--out", "other.safetensors") == 0
    assert previous_of(place).read_bytes() == before
    assert train("--resume", "m.safetensors.training") == 0
    model = (folder / "m.safetensors").read_bytes()
    unfinished(folder, seed=5)
    assert train(*FRESH, "--out", "m.safetensors", "--anew", "--save-steps", "25") == 0
    assert (folder / "m.safetensors").read_bytes() == model
    assert not place.exists() and not previous_of(place).exists()


@pytest.mark.parametrize(
    "out", [".", "/proc/m.safetensors", "n" * 300, "config.json/m", "m.npz", "m.json"]
)
@pytest.mark.parametrize("what", [FRESH, ("reverse",)], ids=["file", "task"])
def test_a_place_that_cannot_be_written_to_is_found_before_the_first_step(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    what: tuple[str, ...],
    out: str,
) -> None:
    def never(*arguments: object, **options: object) -> None:
        raise AssertionError("trained")

    monkeypatch.setattr(LabRun, "advance", never)
    assert train(*what, "--out", out) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("python -m model_core: ")
    assert sorted(file.name for file in folder.iterdir()) == ["config.json", "pairs.tsv"]


@on_posix
def test_a_pipe_is_not_replaced(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe")
    assert train(*FRESH, "--out", "pipe") == 2
    assert "pipe: is a device or a pipe" in capsys.readouterr().err
    assert (folder / "pipe").is_fifo()


# Options.


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--save-steps", "-1"], "argument --save-steps: -1 is below 0"),
        (["--evaluate-steps", "-3"], "argument --evaluate-steps: -3 is below 0"),
        (["--save-minutes", "nan"], "argument --save-minutes: nan is not a number above 0"),
        (["--save-minutes", "-1"], "argument --save-minutes: -1 is not a number above 0"),
        (["--save-minutes", "1e400"], "argument --save-minutes: 1e400 is not a number above 0"),
        (["--out", ""], "argument --out: the name of a file is empty"),
        (["--data", " "], "argument --data: the name of a file is empty"),
    ],
)
def test_an_option_out_of_all_bounds_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        train("--data", "pairs.tsv", "--out", "m.safetensors", *arguments)
    assert caught.value.code == 2 and told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--resume", "r", "--steps", "9"], "--steps cannot be given here: a run goes on with"),
        (["--resume", "r", "--seed", "9", "--anew"], "--anew, --seed cannot be given here: a run"),
        (["--resume", "r", "--config", "c"], "--config cannot be given here: a run goes on"),
        (["--resume", "r", "--source-column", "2"], "--source-column cannot be given here: a run"),
        (["--resume", "r", "--data", "d"], "--data with pairs, or --resume with a run"),
        (["--data", "d"], "--data needs --out"),
        (["reverse", "--encoding", "x"], "--encoding cannot be given here: a built-in task"),
        (["reverse", "--config", "c"], "--config cannot be given here: a built-in task"),
        (["reverse", "--data", "d"], "the name of a task or a file of pairs, not both"),
        (["reverse", "--seed", "-3"], "seed is -3, which must be 0 to"),
        (["reverse", "--steps", "0"], "steps is 0, expected 1 or more"),
    ],
)
def test_an_option_without_a_meaning_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    assert train(*arguments) == 2
    assert told in capsys.readouterr().err


def test_only_the_bundled_recipe_as_a_whole_writes_the_bundled_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bundled = folder / "resources"
    monkeypatch.setattr(tasks.bundled, "resources", lambda: bundled)
    assert train("reverse", "--steps", "2") == 0
    assert capsys.readouterr().out.startswith("written to reverse.safetensors (")
    assert train("reverse", "--seed", "3", "--steps", "2") == 2
    assert "reverse.safetensors is there already; name the file" in capsys.readouterr().err
    assert not bundled.exists()

    # a single step, for the place alone
    short = replace(tasks.TASKS["reverse"].recipe.RECIPE, steps=1, warmup_steps=0)
    monkeypatch.setattr(tasks.TASKS["reverse"].recipe, "RECIPE", short)
    for options in ([], ["--seed", str(tasks.TASKS["reverse"].recipe.RECIPE.seed)]):
        assert train("reverse", *options) == 0
        (bundled / "checkpoints" / "reverse.safetensors").unlink()


def test_a_built_in_task_goes_on_where_it_was_broken_off_and_is_what_its_recipe_makes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = tasks.train_task("reverse", folder / "whole.safetensors", seed=4, steps=20)
    advance = LabRun.advance

    def broken_off(run: LabRun) -> object:
        progress = advance(run)
        if progress.step == 13:
            raise KeyboardInterrupt
        return progress

    with monkeypatch.context() as patch:
        patch.setattr(LabRun, "advance", broken_off)
        given = ("--seed", "4", "--steps", "20", "--save-steps", "5", "--out", "r.safetensors")
        assert train("reverse", *given) == 130
    said = capsys.readouterr().err
    assert "stopped at once; go on from the last checkpoint with --resume" in said
    assert "20 steps of 64 pairs, learning_rate 0.003, warmup_steps 5" in said
    assert not (folder / "r.safetensors").exists()
    assert train("reverse", *given) == 2
    assert "is an interrupted training, at step 10" in capsys.readouterr().err
    assert train("--resume", "r.safetensors.training") == 0
    assert (folder / "r.safetensors").read_bytes() == whole.read_bytes()
    assert not (folder / "r.safetensors.training").exists()
