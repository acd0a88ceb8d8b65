"""Training checkpoints: all that a run needs to go on to exactly the same weights.

A safetensors file: "parameters/NAME", Adam's moments "adam/first" and "adam/second" (n,), the
tables "history/steps" and "history/norms". Its metadata has "glassformer-training", a JSON object,
and "crc32" of that text and all tensors. The one before it is kept as NAME.previous.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import safetensors.numpy

from model_core.checkpoints import native, strict_json
from model_core.checkpoints.errors import CheckpointError, quoted
from model_core.checkpoints.safetensors_file import PathLike, SafetensorsFile
from model_core.checkpoints.sniffing import open_regular
from model_core.checkpoints.whole_file import replace_file, unfinished_parts
from model_core.training.loop import Position
from model_core.training.optimiser import Moments

Array = np.ndarray[Any, Any]

METADATA_KEY = native.TRAINING_KEY
CHECKSUM_KEY = "crc32"
FORMAT_VERSION = 1
# The library puts the metadata first, and the checksum, if it stands first, is short.
BYTES_TO_KNOW_IT_BY = 256
A_TRAINING_CHECKPOINT = "a training checkpoint of Glassformer"


class Description(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The JSON part of a training checkpoint; settings, source and model as plain values.

    fingerprint: of the examples that the model was trained on, in their order
    """

    format_version: int
    settings: dict[str, Any]
    source: dict[str, Any]
    config: dict[str, Any]
    tokenizer: dict[str, Any]
    fingerprint: str
    step: int
    epoch: int
    batches: int
    adam_names: list[str]
    adam_steps: int
    order: Any
    noise: Any


@dataclass(frozen=True, eq=False)
class SavedRun:
    """A training checkpoint that was read: what it says, where the run stood, its history."""

    description: Description
    position: Position
    steps: Array = field(repr=False)
    norms: Array = field(repr=False)


def write_run(
    path: PathLike,
    position: Position,
    steps: Array,
    norms: Array,
    about: Mapping[str, Any],
    keep: bool = True,
) -> int:
    """Save a run completely or not at all; the bytes written.

    keep: the checkpoint that lies there as the one before this one
    about: settings, source, config, tokenizer and fingerprint of a `Description`
    steps, norms: the rows of the history
    """
    moments = position.moments
    tensors = {f"parameters/{name}": value for name, value in position.parameters.items()}
    if moments is not None:
        tensors |= {"adam/first": moments.first, "adam/second": moments.second}
    tensors |= {"history/steps": steps, "history/norms": norms}
    tensors = {name: np.ascontiguousarray(value) for name, value in tensors.items()}
    description = Description(
        format_version=FORMAT_VERSION,
        step=position.step,
        epoch=position.epoch,
        batches=position.batches,
        adam_names=list(moments.names) if moments else [],
        adam_steps=moments.steps if moments else 0,
        order=dict(position.order),
        noise=dict(position.noise),
        **about,
    )
    # the random states have numbers of 128 bits, which msgspec's own JSON refuses
    text = json.dumps(msgspec.structs.asdict(description), ensure_ascii=False, allow_nan=False)
    metadata = {METADATA_KEY: text, CHECKSUM_KEY: f"{_checksum(text, tensors):08x}"}
    data = safetensors.numpy.save(tensors, metadata)
    if keep:
        _keep_previous(path)
    replace_file(path, data)
    return len(data)


def previous_of(path: PathLike) -> Path:
    """Where the checkpoint before the last one lies."""
    path = Path(path)
    return path.with_name(f"{path.name}.previous")


def _keep_previous(path: PathLike) -> None:
    """A second name for the file that is about to be replaced: at no moment is there none."""
    target, previous = Path(os.path.realpath(path)), previous_of(path)
    if not target.exists():
        return
    try:
        previous.unlink(missing_ok=True)
        try:
            os.link(target, previous)
        except (OSError, NotImplementedError):
            # file systems without a second name
            os.replace(target, previous)
    except OSError as error:
        raise CheckpointError(
            path, f"cannot be saved ({error.strerror or error})", "a place that can be written to"
        ) from error


def is_run(path: PathLike) -> bool:
    """Whether a file was written as a training checkpoint, be it sound or damaged since."""
    try:
        stream, _ = open_regular(path)
        with stream:
            head = stream.read(BYTES_TO_KNOW_IT_BY)
    except (CheckpointError, OSError):
        return False
    return head[8:].startswith(b'{"__metadata__":') and f'"{METADATA_KEY}"'.encode() in head


def claim(path: PathLike, about: Mapping[str, Any]) -> bool:
    """Make sure that a run may write its checkpoints there; whether a sound one lies there.

    about: as `write_run` takes it. CheckpointError where one of the two files is anything but a
    checkpoint of the same run.
    """
    known: dict[Path, bool | None] = {}
    for file in (Path(path), previous_of(path)):
        if not file.exists():
            continue
        if not is_run(file):
            raise CheckpointError(
                file, "is there already and is no training checkpoint", "a name that is free"
            )
        try:
            description = read_run(file).description
        except CheckpointError:
            known[file] = None
        else:
            known[file] = all(
                getattr(description, name) == about[name]
                for name in ("settings", "source", "fingerprint")
            )
    for file, is_own in known.items():
        # a damaged one is taken for this run's where the other one of the two is
        if is_own is False or True not in known.values():
            raise CheckpointError(
                file, "is the checkpoint of another training", "a name that is free"
            )
    return known.get(Path(path)) is True


def remove_leftovers(path: PathLike) -> None:
    """What a killed process left of a checkpoint that it was writing."""
    target = Path(os.path.realpath(path))
    for part in unfinished_parts(target):
        with contextlib.suppress(OSError):
            part.unlink()


def remove_run(path: PathLike) -> None:
    """Forget a run: its checkpoint and the one before it; no file that is none."""
    remove_leftovers(path)
    for file in (Path(path), previous_of(path)):
        if is_run(file):
            file.unlink(missing_ok=True)


def latest_run(path: PathLike) -> tuple[SavedRun, str]:
    """The last sound checkpoint of a run, and "" or a sentence on what was wrong with the last.

    CheckpointError of the last one where the one before it is no better.
    """
    try:
        return read_run(path), ""
    except CheckpointError as error:
        try:
            saved = read_run(previous_of(path))
        except CheckpointError:
            raise error from None
        return (
            saved,
            f"{error}; training goes on from the checkpoint before it, step {saved.position.step}",
        )


def read_run(path: PathLike) -> SavedRun:
    """A training checkpoint; CheckpointError with one sentence where anything in it is wrong."""
    with SafetensorsFile(path) as file:
        text = file.metadata.get(METADATA_KEY)
        if text is None:
            is_model = native.METADATA_KEY in file.metadata
            raise CheckpointError(
                path,
                "is a finished model" if is_model else "holds no training run",
                A_TRAINING_CHECKPOINT,
            )
        description = _description(path, text)
        wanted = {"F32", "F64"}
        odd = next((n for n, entry in file.entries.items() if entry.dtype not in wanted), None)
        if odd is not None:
            raise CheckpointError(path, f"{quoted(odd)} has another type", "float32 or float64")
        tensors = {name: file.tensor(name) for name in file.entries}
        if file.metadata.get(CHECKSUM_KEY) != f"{_checksum(text, tensors):08x}":
            raise CheckpointError(
                path, "is damaged (its checksum differs)", "the bytes that were written"
            )
    parameters = {
        name.removeprefix("parameters/"): tensors.pop(name)
        for name in list(tensors)
        if name.startswith("parameters/")
    }
    steps, norms = (tensors.pop(f"history/{name}", None) for name in ("steps", "norms"))
    if steps is None or norms is None or not parameters:
        raise CheckpointError(path, "lacks its history or its parameters", A_TRAINING_CHECKPOINT)
    moments = _moments(path, description, parameters, tensors)
    position = Position(
        description.step,
        description.epoch,
        description.batches,
        _random_state(path, description.order),
        _random_state(path, description.noise),
        parameters,
        moments,
    )
    return SavedRun(description, position, steps, norms)


def _description(path: PathLike, text: str) -> Description:
    values = strict_json.parse(text, path, "the description of the run")
    version = values.get("format_version") if isinstance(values, dict) else None
    if type(version) is int and version > FORMAT_VERSION:
        raise CheckpointError(
            path, "was written by a newer Glassformer", f"format version {FORMAT_VERSION}"
        )
    try:
        description = msgspec.convert(values, Description)
    except msgspec.ValidationError as error:
        raise CheckpointError(
            path, f"its description is wrong ({error})", A_TRAINING_CHECKPOINT
        ) from None
    if min(description.step, description.epoch, description.batches, description.adam_steps) < 0:
        raise CheckpointError(path, "counts below 0", A_TRAINING_CHECKPOINT)
    return description


def _moments(
    path: PathLike,
    description: Description,
    parameters: Mapping[str, Array],
    tensors: Mapping[str, Array],
) -> Moments | None:
    if not description.adam_steps:
        return None
    names = description.adam_names
    size = sum(parameters[name].size for name in names if name in parameters)
    first, second = tensors.get("adam/first"), tensors.get("adam/second")
    known = set(names) <= set(parameters)
    shapes = {None if array is None else array.shape for array in (first, second)}
    if first is None or second is None or not known or shapes != {(size,)}:
        raise CheckpointError(
            path, "has moments of Adam that do not fit its parameters", A_TRAINING_CHECKPOINT
        )
    return Moments(tuple(names), description.adam_steps, first, second)


def _random_state(path: PathLike, values: Any) -> dict[str, Any]:
    try:
        generator = np.random.PCG64()
        generator.state = values
    except (TypeError, ValueError, KeyError, OverflowError, AttributeError):
        raise CheckpointError(
            path, "has no valid state of a random stream", A_TRAINING_CHECKPOINT
        ) from None
    return values


def _checksum(text: str, tensors: Mapping[str, Array]) -> int:
    value = zlib.crc32(text.encode("utf-8"))
    for name in sorted(tensors):
        value = zlib.crc32(name.encode("utf-8"), value)
        value = zlib.crc32(tensors[name].tobytes(), value)
    return value
