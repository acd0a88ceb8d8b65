"""The step that a paused training takes next, from its checkpoint: nothing is trained for it."""

from __future__ import annotations

from collections.abc import Collection

from model_core.checkpoints.safetensors_file import PathLike
from model_core.threads import blas_threads
from model_core.training.lab_data import LabData, Prepared
from model_core.training.lab_run import LabRun, Watching
from model_core.training.resume import read_run
from model_core.training.step import GlassStep, glass_step


def next_step(
    path: PathLike,
    mistakes: Collection[str] = (),
    *,
    at_step: int | None = None,
    given: tuple[LabData, Prepared] | None = None,
) -> GlassStep:
    """The step after the one that the checkpoint at `path` was written after, to the bit.

    Weights, Adam's moments and their count, the batch, the random state of dropout and the
    learning rate are the training's own; so are its losses, that of the alignment included.
    at_step: refuse a checkpoint of another step
    given: what the training learns from, where that has been read already
    CheckpointError as of `LabRun.resume`, ValueError where no step follows.
    """
    saved = read_run(path)
    if at_step is not None and saved.position.step != at_step:
        raise ValueError(
            f"the training has been saved after step {saved.position.step}, not after {at_step}"
        )
    run = LabRun.at(path, saved, Watching(0, 0), given=given)
    if run.is_finished:
        raise ValueError("this training is over: no step follows")
    batch = run.trainer.next_batch()
    with blas_threads(run.model.config):
        return glass_step(
            run.model,
            batch,
            run.trainer.recipe,
            dict(saved.position.noise),
            mistakes,
            step=saved.position.step,
            moments=saved.position.moments,
        )
