"""Where a training writes: tried before its first step, and never a file that is another's."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from model_core.checkpoints import CheckpointError, format_of, save, sniff
from model_core.checkpoints.errors import said_of_files
from model_core.checkpoints.whole_file import try_place
from model_core.model import Model
from model_core.training.resume import is_run, latest_run, previous_of

RUN_ENDING = ".training"
MODEL_ENDING = ".safetensors"
# What a file that may be replaced by a model looks like: one, or nothing yet.
REPLACED = frozenset({"safetensors", "json", "npz", "empty"})


def checkpoint_of(out: Path) -> Path:
    """Where the run is saved whose model is written to `out`: a name for each."""
    return out.with_name(out.name + RUN_ENDING)


def model_of(checkpoint: Path) -> Path:
    """The name under which the model of a run is written where none is given."""
    if checkpoint.suffix != RUN_ENDING:
        raise ValueError(
            f"{checkpoint} does not end in {RUN_ENDING}: name the file that the model is written "
            "to with --out"
        )
    out = checkpoint.with_suffix("")
    return out if out.suffix else out.with_suffix(MODEL_ENDING)


def is_same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, that there is or that is to be."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def check_apart(out: Path, checkpoint: Path, read: Mapping[str, Path | None]) -> None:
    """ValueError where a file that is written is one that is read, or the model its checkpoint.

    The checkpoint and the one before it may be one file: a process was killed between the two.
    """
    run = {"the run's checkpoint": checkpoint, "the one before it": previous_of(checkpoint)}
    for what, file, others in (
        ("the model", out, {**read, **run}),
        *((what, file, read) for what, file in run.items()),
    ):
        for other_what, other in others.items():
            if other is not None and is_same(file, other):
                raise ValueError(f"{file} would be {what} and is {other_what}; name another --out")


def check_model_place(out: Path) -> None:
    """Make sure that a model can be written there, folders included, over nothing but a model."""
    out.parent.mkdir(parents=True, exist_ok=True)
    try_place(out)
    if not out.exists():
        return
    if is_run(out):
        raise ValueError(f"{out} is an interrupted training; name another --out")
    looks = sniff(out)
    if looks.kind not in REPLACED:
        raise ValueError(f"{out} is there already and {looks.words}; name another --out")


def check_format(out: Path, model: Model) -> None:
    """Make sure that the format that the name asks for has a place for the model."""
    if format_of(out) == "native":
        return
    with tempfile.TemporaryDirectory() as folder:
        parts = model.config, model.parameters, model.tokenizer, model.card
        save(Path(folder) / out.name, *parts)


def check_run_place(checkpoint: Path, anew: bool) -> None:
    """Make sure that a fresh run can be saved there; an unfinished one is not thrown away.

    anew: unless that is what is wanted
    """
    previous = previous_of(checkpoint)
    try_place(checkpoint)
    try_place(previous)
    for file in (checkpoint, previous):
        if file.exists() and not is_run(file):
            raise ValueError(
                f"{file} is needed for the run's checkpoint, but is no training checkpoint and is "
                "not written over; name another --out"
            )
    if anew or not (checkpoint.exists() or previous.exists()):
        return
    try:
        standing = f"an interrupted training, at step {latest_run(checkpoint)[0].position.step:,}"
    except CheckpointError:
        standing = "an interrupted training"
    raise ValueError(
        f"{checkpoint} is {standing}: go on with --resume {checkpoint}, or begin again with --anew"
    )


def free_name(out: Path) -> Path:
    """`out`, or a name beside it with a number behind, under which nothing lies."""
    number, path = 1, out
    while os.path.lexists(path):
        number += 1
        path = out.with_name(f"{out.stem}-{number}{out.suffix}")
    return path


def save_somewhere(
    path: Path, current: Path, write: Callable[[Path], object]
) -> tuple[Path | None, str]:
    """Write what must not be lost to `path`, else under a free name in another folder.

    current: the folder in which the program was started, the first of the others
    returns: where it lies, None for nowhere, and "" or why it does not lie at `path`
    """
    why = ""
    for place in _places(path, current):
        try:
            # it may have been removed while the training ran
            place.parent.mkdir(parents=True, exist_ok=True)
            write(place)
        except (ValueError, OSError) as error:
            why = why or _reason(error)
        else:
            return place, why
    return None, why


def _places(path: Path, current: Path) -> Iterator[Path]:
    yield path
    others = [current]
    # there may be no home and no temporary folder
    with suppress(RuntimeError):
        others.append(Path.home())
    with suppress(OSError):
        others.append(Path(tempfile.gettempdir()))
    for folder in others:
        if not _is_there(path, folder):
            yield free_name(folder / path.name)


def _is_there(path: Path, folder: Path) -> bool:
    try:
        return is_same(path.parent, folder)
    except OSError:
        # no current folder any more
        return False


def _reason(error: ValueError | OSError) -> str:
    if isinstance(error, CheckpointError):
        return error.found
    return f"cannot be saved ({said_of_files(error) if isinstance(error, OSError) else error})"
