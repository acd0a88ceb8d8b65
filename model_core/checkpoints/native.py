"""Glassformer's own checkpoints: one safetensors file that holds everything about a model.

The tensors carry the core's parameter names. The file's `__metadata__` has a single key,
"glassformer", whose text is one JSON object with sorted keys: "format_version" (1), "config"
(`ModelConfig.to_dict`), "tokenizer" (`Tokenizer.to_dict`) and "card" (what the model is about).
One key, because the library writes several in no fixed order and the same model is to give
the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import safetensors.numpy

from model_core.checkpoints import strict_json
from model_core.checkpoints.contents import Contents
from model_core.checkpoints.errors import CheckpointError, quoted
from model_core.checkpoints.safetensors_file import (
    FLOATS,
    LONGEST_HEADER,
    Array,
    PathLike,
    SafetensorsFile,
)
from model_core.checkpoints.whole_file import replace_file
from model_core.config import ModelConfig
from model_core.parameters import parameter_shapes
from model_core.tokenizers import Tokenizer
from model_core.tokenizers import from_dict as tokenizer_from_dict

METADATA_KEY = "glassformer"
# of a training that can be gone on with
TRAINING_KEY = "glassformer-training"
FORMAT_VERSION = 1
OWN_CHECKPOINT = "one of Glassformer's own checkpoints among the .safetensors files"


def read(path: PathLike, dtype: str = "float32") -> Contents:
    """Everything in a native checkpoint, its weights as `dtype`; CheckpointError if any is wrong.

    All that the header says is checked, against the config and the file's size, before the
    first weight is read.
    """
    with SafetensorsFile(path) as file:
        description = _description(file)
        config = _config(description["config"], len(file.entries), path)
        found = {name: entry.shape for name, entry in file.entries.items()}
        shapes = _checked_shapes(config, found, path)
        for name, entry in file.entries.items():
            if entry.dtype not in FLOATS:
                raise CheckpointError(
                    path, f"{quoted(name)} is stored as {entry.dtype}", "floating-point weights"
                )
        try:
            tokenizer = tokenizer_from_dict(description["tokenizer"])
        except ValueError as error:
            raise CheckpointError(
                path, f"its tokenizer is wrong ({error})", "a tokenizer of this version"
            ) from error
        _check_vocabularies(config, tokenizer, path)
        parameters = {name: _finite(file.tensor(name, dtype), name, path) for name in shapes}
    return Contents(config, parameters, tokenizer, description["card"])


def write(
    path: PathLike,
    config: ModelConfig,
    parameters: Mapping[str, Array],
    tokenizer: Tokenizer,
    card: Mapping[str, Any],
) -> int:
    """Save a model as one file, completely or not at all; the number of bytes.

    Weights keep their own dtype, float32 or float64. The same model gives the same bytes.
    CheckpointError for what `read` would refuse, and where the file cannot be written.
    """
    data = _serialise(path, config, parameters, tokenizer, card)
    replace_file(path, data)
    return len(data)


def _serialise(
    path: PathLike,
    config: ModelConfig,
    parameters: Mapping[str, Array],
    tokenizer: Tokenizer,
    card: Mapping[str, Any],
) -> bytes:
    _checked_shapes(config, {name: value.shape for name, value in parameters.items()}, path)
    _check_vocabularies(config, tokenizer, path)
    tensors: dict[str, Array] = {}
    for name, value in parameters.items():
        if value.dtype not in (np.float32, np.float64):
            raise CheckpointError(
                path, f"{quoted(name)} is an array of {value.dtype}", "float32 or float64"
            )
        tensors[name] = np.ascontiguousarray(_finite(value, name, path))
    description = {
        "format_version": FORMAT_VERSION,
        "config": config.to_dict(),
        "tokenizer": tokenizer.to_dict(),
        "card": dict(card),
    }
    try:
        text = json.dumps(
            description,
            sort_keys=True,
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
        )
        encoded = len(text.encode("utf-8"))
    except (TypeError, ValueError, RecursionError) as error:
        raise CheckpointError(
            path, f"the card or the tokenizer is not JSON ({error})", "JSON values"
        ) from error
    # Whatever is written must be readable again.
    strict_json.parse(text, path, "the description")
    data = safetensors.numpy.save(tensors, {METADATA_KEY: text})
    if int.from_bytes(data[:8], "little") > LONGEST_HEADER:
        raise CheckpointError(
            path,
            f"the card and the tokenizer take {encoded} bytes",
            f"a header of at most {LONGEST_HEADER} bytes",
        )
    return data


def _description(file: SafetensorsFile) -> dict[str, Any]:
    text = file.metadata.get(METADATA_KEY)
    if text is None and TRAINING_KEY in file.metadata:
        raise CheckpointError(
            file.path,
            "is an interrupted training",
            "a model; `train --resume` goes on with it, and writes one",
        )
    if text is None:
        raise CheckpointError(file.path, "is a safetensors file of another program", OWN_CHECKPOINT)
    description = strict_json.parse(text, file.path, "Glassformer's description of the model")
    if not isinstance(description, dict):
        raise CheckpointError(file.path, "its description is no JSON object", OWN_CHECKPOINT)
    version = description.get("format_version")
    if type(version) is not int or version != FORMAT_VERSION:
        newer = type(version) is int and version > FORMAT_VERSION
        raise CheckpointError(
            file.path,
            "was written by a newer Glassformer" if newer else "has no valid format version",
            f"format version {FORMAT_VERSION}",
        )
    for key in ("config", "tokenizer", "card"):
        if not isinstance(description.get(key), dict):
            raise CheckpointError(
                file.path,
                f"its description has no {quoted(key)}",
                f"a JSON object under {quoted(key)}",
            )
    return description


def _config(values: Any, n_tensors: int, path: PathLike) -> ModelConfig:
    try:
        config = ModelConfig.from_dict(values)
    except ValueError as error:
        raise CheckpointError(
            path, f"its config is wrong ({error})", "sizes and traits of this version"
        ) from error
    # Before the table of names is made: a million declared layers would fill the memory.
    n_layers = config.n_encoder_layers + config.n_decoder_layers
    if n_layers > n_tensors:
        raise CheckpointError(
            path,
            f"declares {n_layers} layers and has {n_tensors} tensors",
            "tensors for each layer",
        )
    return config


def _checked_shapes(
    config: ModelConfig, found: Mapping[str, tuple[int, ...]], path: PathLike
) -> dict[str, tuple[int, ...]]:
    """The config's parameter table, once it is certain that `found` has it exactly."""
    shapes = parameter_shapes(config)
    missing = [name for name in shapes if name not in found]
    if missing:
        raise CheckpointError(
            path,
            f"the tensor {quoted(missing[0])} is missing{_and_more(missing)}",
            f"{len(shapes)} tensors for its config",
        )
    extra = [name for name in found if name not in shapes]
    if extra:
        raise CheckpointError(
            path,
            f"the tensor {quoted(extra[0])} has no place in the model{_and_more(extra)}",
            f"the {len(shapes)} tensors of its config alone",
        )
    for name, shape in shapes.items():
        if tuple(found[name]) != shape:
            raise CheckpointError(
                path, f"the tensor {quoted(name)} has the shape {tuple(found[name])}", f"{shape}"
            )
    return shapes


def _and_more(names: list[str]) -> str:
    return f" (and {len(names) - 1} more)" if len(names) > 1 else ""


def _check_vocabularies(config: ModelConfig, tokenizer: Tokenizer, path: PathLike) -> None:
    for side, vocabulary, size in (
        ("source", tokenizer.source_vocabulary, config.src_vocab_size),
        ("target", tokenizer.target_vocabulary, config.tgt_vocab_size),
    ):
        if len(vocabulary) != size:
            raise CheckpointError(
                path,
                f"its tokenizer has {len(vocabulary)} {side} tokens",
                f"{size}, as its config declares",
            )


def _finite(value: Array, name: str, path: PathLike) -> Array:
    if not np.isfinite(value).all():
        raise CheckpointError(
            path,
            f"the tensor {quoted(name)} holds a number that is not finite in {value.dtype}",
            "finite weights",
        )
    return value
