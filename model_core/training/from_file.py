"""Training on a file of sentence pairs from a program, in two lines."""

from __future__ import annotations

import os
from typing import Any

from model_core.training.data_files import Reading
from model_core.training.lab_data import FileSource, load
from model_core.training.lab_run import LabRun, Watching
from model_core.training.problems import Problem, problems
from model_core.training.settings import Settings, checked
from model_core.training.suiting import suited_settings
from model_core.training.text_files import PathLike


def run_on(
    path: PathLike,
    reading: Reading = Reading(),  # noqa: B008 (immutable)
    watching: Watching = Watching(),  # noqa: B008 (immutable)
    **settings: Any,
) -> LabRun:
    """A training run on a file, one step for each turn of a loop over it.

    settings: those of `Settings`, by name; what is not given suits the data. The run says what was
    chosen (`settings`), what was read (`data.look`, `data.report`), and writes itself
    (`save_model`, `save_run`). ValueError with one sentence where something is wrong.
    """
    given = checked(settings)
    _refuse(problems(Settings(**given)))
    data = load(FileSource(os.fspath(path), reading), Settings(**given))
    suited = suited_settings(data, given)
    _refuse(problems(suited, data.facts(suited)))
    return LabRun(data, suited, watching)


def _refuse(found: list[Problem]) -> None:
    if found:
        raise ValueError(str(found[0]))
