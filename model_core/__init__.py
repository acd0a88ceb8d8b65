"""The Transformer in NumPy: open a checkpoint, trace it, decode with it, train it.

No Qt and no deep-learning framework is imported here. What this module names is imported when it
is first asked for: a window is painted sooner than the ops and the readers of files are imported.
"""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from model_core import bundled

if TYPE_CHECKING:
    from model_core.checkpoints import CheckpointError, Saved
    from model_core.config import ModelConfig
    from model_core.model import Generation, Model

__version__ = "0.1.0"

__all__ = [
    "CheckpointError",
    "Generation",
    "Model",
    "ModelConfig",
    "Saved",
    "open_checkpoint",
    "save_checkpoint",
]

_MODULES = {
    "CheckpointError": "model_core.checkpoints.errors",
    "Generation": "model_core.model",
    "Model": "model_core.model",
    "ModelConfig": "model_core.config",
    "Saved": "model_core.checkpoints",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def open_checkpoint(
    source: str | PathLike[str],
    dtype: str | None = None,
    variant: str | None = None,
    activation: str | None = None,
    norm_eps: float | None = None,
) -> Model:
    """Open a checkpoint file, or a bundled model by its name.

    dtype: "float32" or "float64", the type of the parameters and of all that is computed; None
    is float64 for a worked example and float32 for any other model
    variant: another computation that a worked example holds: "multi_head"
    activation, norm_eps: in place of what the file says; where the source document's JSON is
    silent, None is "gelu_tanh" and 1e-6
    CheckpointError says in one sentence which file, what was found and what was expected.
    """
    from model_core import checkpoints
    from model_core.model import Model

    path = Path(source)
    if str(source) in bundled.names():
        path = bundled.path_of(str(source))
    elif path == Path(path.name) and not path.exists():
        known = ", ".join(bundled.names()) or "there is none"
        expected = f"a checkpoint file or a bundled model ({known})"
        raise checkpoints.CheckpointError(path, "there is no such file", expected)
    contents = checkpoints.open_file(
        path, dtype, variant=variant, activation=activation, norm_eps=norm_eps
    )
    return Model(
        contents.config,
        contents.parameters,
        contents.tokenizer,
        contents.card,
        contents.warnings,
        contents.inputs,
    )


def save_checkpoint(
    model: Model,
    path: str | PathLike[str],
    format: str | None = None,
    include_weights: bool = True,
) -> Saved:
    """Write a model as one file, whole or not at all, and say how large it became.

    format: "native" (.safetensors), "document" (the source document's JSON), "worked" (.npz, for
    worked examples alone); None goes by the model and the ending of the file's name
    include_weights: False leaves them out of a document's JSON
    """
    from model_core import checkpoints

    return checkpoints.save(
        path,
        model.config,
        model.parameters,
        model.tokenizer,
        model.card,
        format=format,
        inputs=model.inputs,
        include_weights=include_weights,
    )
