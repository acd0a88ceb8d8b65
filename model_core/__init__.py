"""The Transformer in NumPy: open a checkpoint, trace it, decode with it, train it.

No Qt and no deep-learning framework is imported here.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from model_core import bundled, checkpoints
from model_core.checkpoints import CheckpointError
from model_core.config import ModelConfig
from model_core.model import Generation, Model

__version__ = "0.1.0"

__all__ = [
    "CheckpointError",
    "Generation",
    "Model",
    "ModelConfig",
    "open_checkpoint",
    "save_checkpoint",
]


def open_checkpoint(source: str | PathLike[str], dtype: str = "float32") -> Model:
    """Open a checkpoint file, or a bundled model by its name.

    dtype: "float32" or "float64", the type of the parameters and of all that is computed.
    CheckpointError says in one sentence which file, what was found and what was expected.
    """
    if dtype not in ("float32", "float64"):
        raise ValueError(f'dtype is {dtype!r}, expected "float32" or "float64"')
    path = Path(source)
    if str(source) in bundled.names():
        path = bundled.path_of(str(source))
    elif path == Path(path.name) and not path.exists():
        known = ", ".join(bundled.names()) or "there is none"
        expected = f"a checkpoint file or a bundled model ({known})"
        raise CheckpointError(path, "there is no such file", expected)
    contents = checkpoints.open_file(path, dtype)
    return Model(
        contents.config,
        contents.parameters,
        contents.tokenizer,
        contents.card,
        contents.warnings,
    )


def save_checkpoint(model: Model, path: str | PathLike[str]) -> None:
    """Write a model as one native checkpoint file, whole or not at all."""
    checkpoints.save(path, model.config, model.parameters, model.tokenizer, model.card)
