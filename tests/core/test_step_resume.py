"""A paused training's next step under the glass is to the bit the one that the training takes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from model_core import CheckpointError
from model_core.training.lab_data import FileSource, LabData, Prepared, TaskSource, load, prepare
from model_core.training.lab_run import LabRun, Watching
from model_core.training.step import glass_step
from model_core.training.step_check import check_parameter, in_float64
from model_core.training.step_resume import next_step
from tests.core.small_run import SETTINGS


def paused(run: LabRun, path: Path, steps: int) -> LabRun:
    """The run after so many steps, saved as a pause saves it."""
    for _ in range(steps):
        run.advance()
    run.save_run(path)
    return run


def assert_same_step(
    run: LabRun, path: Path, given: tuple[LabData, Prepared] | None = None
) -> None:
    """The glass step of the checkpoint against what the run itself does next."""
    step = next_step(path, at_step=run.step, given=given)
    before = {name: value.copy() for name, value in run.model.parameters.items()}
    assert all(np.array_equal(step.parameters[name], before[name]) for name in before)
    progress = run.advance()
    assert float(step.tape["loss"].value) == progress.loss
    guided = "alignment_loss" in step.tape
    assert guided == (progress.alignment_loss is not None)
    if guided:
        assert float(step.tape["alignment_loss"].value) == progress.alignment_loss
    assert step.optimised.norm == progress.gradient_norm
    assert step.optimised.learning_rate == progress.learning_rate
    assert int(step.batch.target_mask.sum()) == progress.tokens
    moments = run.trainer.position().moments
    assert step.optimised.count == moments.steps == run.step
    assert step.optimised.after.first.tobytes() == moments.first.tobytes()
    assert step.optimised.after.second.tobytes() == moments.second.tobytes()
    step.apply()
    for name, value in run.model.parameters.items():
        assert step.model.parameters[name].tobytes() == value.tobytes(), name


# 80 pairs in batches of 8 are about ten steps an epoch: at its start, inside and at its end.
@pytest.mark.parametrize("at", [0, 1, 7, 10, 11, 33, 59])
def test_the_step_shown_is_to_the_bit_the_one_that_the_training_takes(
    pairs: Path, tmp_path: Path, at: int
) -> None:
    path = tmp_path / "run.training"
    run = LabRun.begin(FileSource(str(pairs)), SETTINGS, Watching(20, 10))
    assert_same_step(paused(run, path, at), path)


def test_the_loss_of_the_alignment_is_part_of_the_step(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(
        SETTINGS, alignment_loss=0.3, alignment_layer=0, alignment_head=1
    )
    data = load(TaskSource("reverse"), settings)
    path = tmp_path / "run.training"
    run = paused(LabRun(data, settings, Watching(0, 0)), path, 3)
    assert run.trainer.recipe.guided is not None
    given = data, prepare(data, settings)
    step = next_step(path, given=given)
    assert step.target == "total_loss"
    told = float(step.tape["loss"].value) + 0.3 * float(step.tape["alignment_loss"].value)
    assert step.loss == pytest.approx(told, rel=1e-6)
    twin = in_float64(step)
    assert check_parameter(twin, "decoder.layers.0.cross_attn.W_q", cells=3).holds
    first = {name: value.copy() for name, value in given[1].model.parameters.items()}
    assert_same_step(run, path, given)
    assert all(np.array_equal(first[n], v) for n, v in given[1].model.parameters.items())


def test_looking_changes_neither_the_checkpoint_nor_the_training(
    pairs: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run.training"
    run = paused(LabRun.begin(FileSource(str(pairs)), SETTINGS), path, 7)
    files = {entry: entry.read_bytes() for entry in tmp_path.iterdir()}
    first, second = next_step(path), next_step(path)
    assert first.loss == second.loss and first.loss_after == second.loss_after
    assert {entry: entry.read_bytes() for entry in tmp_path.iterdir()} == files
    whole = list(LabRun.begin(FileSource(str(pairs)), SETTINGS))
    assert [progress.loss for progress in run] == [progress.loss for progress in whole[7:]]


def test_the_loss_after_is_that_of_the_applied_weights_with_the_same_masks(
    pairs: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run.training"
    paused(LabRun.begin(FileSource(str(pairs)), SETTINGS), path, 12)
    step = next_step(path)
    told = step.loss_after
    step.apply()
    again = glass_step(step.model, step.batch, step.recipe, step.seed)
    assert again.loss == told != step.loss
    for site in step.dropout_sites:
        assert np.array_equal(again.tape[site].value, step.tape[site].value)


def test_a_checkpoint_that_gives_no_such_step_is_refused_with_a_sentence(
    pairs: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run.training"
    run = paused(LabRun.begin(FileSource(str(pairs)), SETTINGS), path, 5)
    with pytest.raises(ValueError, match="saved after step 5, not after 6"):
        next_step(path, at_step=6)
    paused(run, path, 55)
    with pytest.raises(ValueError, match="is over"):
        next_step(path)
    pairs.write_text("1\t2\n" * 90, "utf-8")
    with pytest.raises(CheckpointError, match="other sentences"):
        next_step(path)
    path.write_bytes(b"nothing")
    with pytest.raises(CheckpointError):
        next_step(path)
