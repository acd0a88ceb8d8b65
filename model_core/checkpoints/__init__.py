"""Checkpoint files: what a file is, opening it, saving a model.

`open_file` looks at the content and picks the reader; a new format is one more reader module
and one more line in READERS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from model_core.checkpoints import native
from model_core.checkpoints.errors import CheckpointError
from model_core.checkpoints.native import Contents
from model_core.checkpoints.safetensors_file import Array, PathLike
from model_core.checkpoints.sniffing import Looks, look
from model_core.config import ModelConfig
from model_core.tokenizers import Tokenizer

__all__ = ["CheckpointError", "Contents", "Looks", "open_file", "save", "sniff"]

DTYPES = ("float32", "float64")
READERS: dict[str, Callable[[PathLike, str], Contents]] = {
    "safetensors": native.read,
}


def sniff(path: PathLike) -> Looks:
    """What the file at `path` looks like, by its content: a kind, and words for people."""
    return look(path)


def open_file(path: PathLike, dtype: str = "float32") -> Contents:
    """Open a checkpoint of any format that this version reads, its weights as `dtype`.

    CheckpointError says in one sentence why a file cannot be opened.
    """
    if dtype not in DTYPES:
        raise ValueError(f"dtype is {dtype!r}, expected one of {', '.join(DTYPES)}")
    looks = sniff(path)
    reader = READERS.get(looks.kind)
    if reader is None:
        raise CheckpointError(path, looks.words, native.OWN_CHECKPOINT)
    try:
        return reader(path, dtype)
    except MemoryError:
        raise CheckpointError(
            path, "does not fit into the memory that is left", "a smaller model"
        ) from None


def save(
    path: PathLike,
    config: ModelConfig,
    parameters: Mapping[str, Array],
    tokenizer: Tokenizer,
    card: Mapping[str, Any],
) -> None:
    """Save a model as a native checkpoint, completely or not at all (see `native.write`)."""
    native.write(path, config, parameters, tokenizer, card)
