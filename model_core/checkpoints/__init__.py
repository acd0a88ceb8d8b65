"""Checkpoint files: what a file is, opening it, saving a model.

`open_file` looks at the content and picks the reader; a new format is one more reader module
and one more line in READERS. A reader is imported with the first file that asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from model_core.checkpoints.contents import KNOWN_FORMATS, Array, Contents, Saved
from model_core.checkpoints.errors import CheckpointError
from model_core.checkpoints.sniffing import Looks, look
from model_core.config import ModelConfig
from model_core.tokenizers import Tokenizer

__all__ = [
    "CheckpointError",
    "Contents",
    "Looks",
    "Saved",
    "endings_for",
    "open_file",
    "save",
    "sniff",
]

DTYPES = ("float32", "float64")


class Reader(NamedTuple):
    """The module of this package that reads files of one kind, and as what where nobody says."""

    module: str
    dtype: str = "float32"


READERS: dict[str, Reader] = {
    "safetensors": Reader("native"),
    "json": Reader("document_json"),
    "npz": Reader("worked_npz", dtype="float64"),
}
# Format -> the endings that ask for it when a model is saved.
ENDINGS = {"native": ".safetensors", "document": ".json", "worked": ".npz"}


def sniff(path: str | PathLike[str]) -> Looks:
    """What the file at `path` looks like, by its content: a kind, and words for people."""
    return look(path)


def open_file(
    path: str | PathLike[str],
    dtype: str | None = None,
    *,
    variant: str | None = None,
    activation: str | None = None,
    norm_eps: float | None = None,
) -> Contents:
    """Open a checkpoint of any format that this version reads, its weights as `dtype`.

    dtype: "float32", "float64", or None for the format's own: float64 for worked examples
    variant: another computation that the file holds, such as "multi_head"
    activation, norm_eps: in place of what the file says or is taken to mean
    CheckpointError says in one sentence why a file cannot be opened.
    """
    if dtype is not None and dtype not in DTYPES:
        raise ValueError(f"dtype is {dtype!r}, expected one of {', '.join(DTYPES)}")
    looks = sniff(path)
    reader = READERS.get(looks.kind)
    if reader is None:
        raise CheckpointError(path, looks.words, KNOWN_FORMATS)
    options = {}
    if variant is not None:
        if looks.kind != "npz":
            raise CheckpointError(path, f"has no variant {variant!r}", "a worked example (.npz)")
        options["variant"] = variant
    try:
        read = import_module(f"{__name__}.{reader.module}").read
        contents: Contents = read(path, dtype or reader.dtype, **options)
    except MemoryError:
        raise CheckpointError(
            path, "does not fit into the memory that is left", "a smaller model"
        ) from None
    return _with_traits(contents, activation, norm_eps)


def _with_traits(contents: Contents, activation: str | None, norm_eps: float | None) -> Contents:
    changes: dict[str, Any] = {}
    if activation is not None:
        changes["activation"] = activation
    if norm_eps is not None:
        changes["norm_eps"] = float(norm_eps)
    if not changes:
        return contents
    card = dict(contents.card)
    silent = [name for name in card.pop("silent_on", ()) if name not in changes]
    if silent:
        card["silent_on"] = silent
    config = msgspec.structs.replace(contents.config, **changes)
    return replace(contents, config=config, card=card)


def format_of(path: str | PathLike[str]) -> str:
    """The format that a file name asks for: the one of its ending, else the native one."""
    ending = Path(path).suffix.lower()
    return next((name for name, known in ENDINGS.items() if known == ending), "native")


def endings_for(config: ModelConfig, tokenizer: Tokenizer) -> tuple[str, ...]:
    """The endings of the formats that have a place for a model, the usual one first."""
    if config.input == "matrix":
        return (ENDINGS["worked"],)
    from model_core.checkpoints import document_json

    fits = document_json.misfit_of(config, tokenizer) is None
    return (ENDINGS["native"], ENDINGS["document"]) if fits else (ENDINGS["native"],)


def save(
    path: str | PathLike[str],
    config: ModelConfig,
    parameters: Mapping[str, Array],
    tokenizer: Tokenizer,
    card: Mapping[str, Any],
    *,
    format: str | None = None,
    inputs: Array | None = None,
    include_weights: bool = True,
) -> Saved:
    """Save a model, completely or not at all, and say what was written.

    format: "native", "document" (the source document's JSON), "worked" (.npz), or None for the
    one that the name's ending asks for; a worked example has only its own
    inputs: the matrix of a worked example
    include_weights: False leaves them out of a document's JSON
    CheckpointError for a model that the format has no place for.
    """
    is_worked = config.input == "matrix"
    chosen = format or ("worked" if is_worked else format_of(path))
    if chosen not in ENDINGS:
        raise ValueError(f"format is {chosen!r}, expected one of {', '.join(ENDINGS)}")
    if is_worked != (chosen == "worked"):
        what = "is a worked example" if is_worked else "is no worked example"
        raise CheckpointError(path, f"the model {what}", "a format that has a place for it")
    if not include_weights and chosen != "document":
        raise ValueError(f"a checkpoint of the format {chosen!r} always has its weights")
    if chosen == "document":
        from model_core.checkpoints import document_json

        n_bytes = document_json.write(path, config, parameters, tokenizer, card, include_weights)
    elif chosen == "worked":
        from model_core.checkpoints import worked_npz

        n_bytes = worked_npz.write(path, config, parameters, tokenizer, card, inputs)
    else:
        from model_core.checkpoints import native

        n_bytes = native.write(path, config, parameters, tokenizer, card)
    return Saved(
        path=Path(path),
        format=chosen,
        n_bytes=n_bytes,
        n_source_tokens=len(tokenizer.source_vocabulary),
        n_target_tokens=len(tokenizer.target_vocabulary),
        n_parameters=sum(value.size for value in parameters.values()),
    )
