"""Runs that are broken off, and files that are not theirs: no half step, no file of another."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import safetensors
import safetensors.numpy

from model_core import CheckpointError
from model_core.checkpoints.whole_file import replace_file, try_place
from model_core.training import optimiser
from model_core.training import resume as resume_module
from model_core.training.guard import DivergedError
from model_core.training.lab_data import TaskSource, load, task_settings
from model_core.training.lab_run import LabRun, Watching
from model_core.training.loop import Trainer
from model_core.training.resume import previous_of, read_run, remove_run
from tests.core.small_run import begin


def taken(run: LabRun, steps: int) -> LabRun:
    for _ in itertools.islice(run, steps):
        pass
    return run


# Half a step.


def broken(method: Callable[..., Any], error: type[BaseException]) -> Callable[..., Any]:
    """The method, at whose end the error strikes."""

    def strikes(*arguments: Any, **options: Any) -> None:
        method(*arguments, **options)
        raise error

    return strikes


@pytest.mark.parametrize(
    ("owner", "name", "error"),
    [
        (optimiser.Adam, "step", KeyboardInterrupt),
        (Trainer, "next_batch", KeyboardInterrupt),
        (Trainer, "evaluate", MemoryError),
        (Trainer, "advance", KeyboardInterrupt),
    ],
)
def test_a_run_that_was_broken_off_within_a_step_is_neither_saved_nor_gone_on_with(
    pairs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    owner: type,
    name: str,
    error: type[BaseException],
) -> None:
    run = taken(begin(pairs), 19)
    run.save_run(tmp_path / "run.training")
    good = (tmp_path / "run.training").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, broken(getattr(owner, name), error))
        with pytest.raises(error):
            run.advance()
    for act in (
        lambda: run.save_run(tmp_path / "run.training"),
        lambda: run.save_model(tmp_path / "model.safetensors"),
        run.advance,
    ):
        with pytest.raises(ValueError, match=r"broken off within step \d+, and half a step"):
            act()
    assert (tmp_path / "run.training").read_bytes() == good
    assert not (tmp_path / "model.safetensors").exists()
    again = LabRun.resume(tmp_path / "run.training")
    whole = begin(pairs)
    list(again), list(whole)
    for parameter, value in whole.model.parameters.items():
        assert np.array_equal(again.model.parameters[parameter], value)


def test_a_trainer_alone_gives_no_position_within_a_step(
    pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = begin(pairs).trainer
    where = trainer.position()
    with monkeypatch.context() as patch:
        patch.setattr(optimiser.Adam, "step", broken(optimiser.Adam.step, KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            trainer.advance()
    with pytest.raises(ValueError, match="half a step can be neither saved nor gone on with"):
        trainer.position()
    trainer.go_to(where)
    assert trainer.advance().step == 1


def test_a_run_that_diverged_is_no_checkpoint_and_its_model_tells_the_steps_it_has(
    pairs: Path, tmp_path: Path
) -> None:
    run = begin(pairs, steps=3000, learning_rate=1e4, warmup_steps=1)
    with pytest.raises(DivergedError):
        list(run)
    assert run.step == 49
    with pytest.raises(ValueError, match="half a step"):
        run.save_run(tmp_path / "run.training")
    run.save_model(tmp_path / "model.safetensors")
    assert run.model.card["steps"] == 0 == run.trained_steps
    assert run.model.card["about"].endswith("pairs for 0 steps.")


def test_a_run_that_is_gone_on_with_is_judged_by_all_of_its_losses(
    pairs: Path, tmp_path: Path
) -> None:
    wild = {"steps": 3000, "learning_rate": 1e4, "warmup_steps": 1}
    with pytest.raises(DivergedError) as whole:
        list(begin(pairs, **wild))
    taken(begin(pairs, **wild), 30).save_run(tmp_path / "run.training")
    with pytest.raises(DivergedError) as again:
        list(LabRun.resume(tmp_path / "run.training"))
    assert again.value.step == whole.value.step == 50
    assert again.value.good_step == 30


# Files of others.


def test_a_run_does_not_write_over_what_is_no_checkpoint_of_its_own(
    pairs: Path, tmp_path: Path
) -> None:
    place = tmp_path / "run.training"
    run = taken(begin(pairs), 2)
    for file in (place, previous_of(place)):
        file.write_text("a diary", "utf-8")
        with pytest.raises(CheckpointError, match="is there already and is no training checkp"):
            run.save_run(place)
        assert file.read_text("utf-8") == "a diary"
        remove_run(place)
        assert file.read_text("utf-8") == "a diary"
        file.unlink()
    begin(pairs, seed=5).save_run(place)
    others = place.read_bytes()
    with pytest.raises(CheckpointError, match="is the checkpoint of another training"):
        run.save_run(place)
    run.remove_run(place)
    assert place.read_bytes() == others
    place.unlink()
    run.save_run(place)
    taken(begin(pairs), 5).save_run(place)
    assert read_run(place).position.step == 5
    assert read_run(previous_of(place)).position.step == 2
    run.remove_run(place)
    assert not place.exists() and not previous_of(place).exists()


def test_a_damaged_checkpoint_does_not_take_the_place_of_the_sound_one_before_it(
    pairs: Path, tmp_path: Path
) -> None:
    place = tmp_path / "run.training"
    run = taken(begin(pairs), 2)
    run.save_run(place)
    taken(run, 1).save_run(place)
    damaged = place.read_bytes()[:-9]
    for begun in (lambda: LabRun.resume(place), lambda: taken(begin(pairs), 2)):
        place.write_bytes(damaged)
        run = taken(begun(), 7)
        run.save_run(place)
        assert read_run(place).position.step == 9
        assert read_run(previous_of(place)).position.step == 2
    taken(run, 1).save_run(place)
    assert read_run(previous_of(place)).position.step == 9


def test_what_a_killed_process_left_is_removed_and_nothing_that_only_looks_like_it(
    pairs: Path, tmp_path: Path
) -> None:
    begin(pairs).save_run(tmp_path / "m[1]")
    left = tmp_path / ".m[1].0123456789ab.part"
    others = [tmp_path / ".m[1].x.0123456789ab.part", tmp_path / ".m1.0123456789ab.part"]
    for file in (left, *others):
        file.write_bytes(b"")
    LabRun.resume(tmp_path / "m[1]")
    assert not left.exists() and all(file.exists() for file in others)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_neither_a_pipe_nor_a_folder_is_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, found in (("pipe", "is a device or a pipe"), ("", "is a folder")):
        for act in (try_place, lambda path: replace_file(path, b"")):
            with pytest.raises(CheckpointError, match=found):
                act(tmp_path / name)
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


def test_trying_a_place_leaves_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old", "utf-8")
    try_place(tmp_path / "old")
    try_place(tmp_path / "new")
    assert [file.name for file in tmp_path.iterdir()] == ["old"]
    for wrong in (tmp_path / "gone" / "new", tmp_path / ("n" * 300)):
        with pytest.raises(CheckpointError, match=r"cannot be saved \("):
            try_place(wrong)


# Checkpoints that somebody wrote by hand.


def crafted(path: Path, **changes: object) -> None:
    """Change the description of a checkpoint, and its checksum with it."""
    with safetensors.safe_open(str(path), "np") as file:
        about = json.loads(file.metadata()[resume_module.METADATA_KEY])
    tensors = safetensors.numpy.load_file(path)
    for name, value in changes.items():
        place = about["settings"] if name in about["settings"] else about
        place[name] = value
    text = json.dumps(about)
    crc = f"{resume_module._checksum(text, tensors):08x}"
    metadata = {resume_module.METADATA_KEY: text, resume_module.CHECKSUM_KEY: crc}
    safetensors.numpy.save_file(tensors, path, metadata)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"batches": 400}, "stands at step 13, epoch 2, batch 400"),
        ({"epoch": 10**9}, "stands at step 13, epoch 1000000000"),
        ({"epoch": 0}, "stands at step 13, epoch 0"),
        ({"step": 100_000}, "stands at step 100000"),
        ({"step": 12, "batches": 2}, "stands at step 12"),
        ({"steps": 10}, "stands at step 13"),
        ({"steps": 10**12}, r"its settings cannot work \(steps is 1000000000000"),
        ({"adam_steps": 1}, "stands at step 13"),
        ({"batch_size": 0}, r"its settings cannot work \(batch_size is 0"),
        ({"batch_size": 9}, "stands at step 13"),
        ({"final_share": 1e9}, r"its settings cannot work \(final_share"),
        ({"epsilon": -1.0}, r"its settings cannot work \(epsilon"),
        ({"alignment_loss": 0.5}, r"its settings cannot work \(alignment_loss"),
        ({"d_model": 4_000_000}, "has parameters of another model"),
        ({"d_ff": 10_000_000}, "has parameters of another model"),
        ({"n_layers": 2}, "has parameters of another model"),
        ({"n_layers": 200_000}, r"its settings cannot work \(n_layers"),
        ({"tying": "all"}, "its config is wrong|has parameters of another model"),
        ({"n_encoder_layers": 10**7}, r"its settings cannot work \(n_encoder_layers"),
        ({"config": {}}, "its config is wrong"),
    ],
)
def test_a_checkpoint_of_settings_that_cannot_be_is_refused_before_anything_is_made(
    pairs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, object],
    found: str,
) -> None:
    place = tmp_path / "run.training"
    run = taken(begin(pairs), 13)
    run.save_run(place)
    crafted(place)
    assert LabRun.resume(place).advance().step == 14
    crafted(place, **changes)
    with pytest.raises(CheckpointError, match=found):
        LabRun.resume(place)


def test_the_history_has_as_many_steps_as_the_run(pairs: Path, tmp_path: Path) -> None:
    place = tmp_path / "run.training"
    run = taken(begin(pairs), 13)
    run.history.steps._count -= 1
    run.save_run(place)
    with pytest.raises(CheckpointError, match="has a history of 12 steps, expected 13"):
        LabRun.resume(place)


def test_a_task_goes_on_where_it_was_left_too(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(task_settings("reverse"), steps=4, warmup_steps=1)
    run = LabRun(load(TaskSource("reverse"), settings), settings, Watching(0, 0))
    taken(run, 2).save_run(tmp_path / "run.training")
    assert [p.step for p in LabRun.resume(tmp_path / "run.training")] == [3, 4]


@pytest.mark.parametrize("which", ["evaluate", "norms"])
def test_nothing_is_measured_at_every_minus_third_step(which: str) -> None:
    with pytest.raises(ValueError, match=f"{which}_every is -3, expected 0 or more"):
        Watching(**{f"{which}_every": -3})
