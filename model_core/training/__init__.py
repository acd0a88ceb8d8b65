"""Training: data sets, batches, the optimiser, the loop, the built-in tasks.

On a file of your own: `for progress in run_on("pairs.tsv", steps=500): ...`, see `run_on`; step by
step with `load`, `prepare` and `train`; an interrupted run goes on with `LabRun.resume`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from model_core.training.loop import Recipe, train
from model_core.training.optimiser import Adam, clip_gradients

if TYPE_CHECKING:
    from model_core.training.data_files import Reading
    from model_core.training.from_file import run_on
    from model_core.training.lab_data import FileSource, TaskSource, load, prepare
    from model_core.training.lab_run import LabRun, Watching
    from model_core.training.settings import Settings, read_settings
    from model_core.training.suiting import suited_settings

__all__ = [
    "Adam",
    "FileSource",
    "LabRun",
    "Reading",
    "Recipe",
    "Settings",
    "TaskSource",
    "Watching",
    "clip_gradients",
    "load",
    "prepare",
    "read_settings",
    "run_on",
    "suited_settings",
    "train",
]

# What is imported once it is asked for: the window starts without it, and it is made of this
# package's own parts.
LATER = {
    "Reading": "data_files",
    "run_on": "from_file",
    **dict.fromkeys(("FileSource", "TaskSource", "load", "prepare"), "lab_data"),
    **dict.fromkeys(("LabRun", "Watching"), "lab_run"),
    **dict.fromkeys(("Settings", "read_settings"), "settings"),
    "suited_settings": "suiting",
}


def __getattr__(name: str) -> Any:
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{LATER[name]}"), name)
