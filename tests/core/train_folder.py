"""A folder in which the command trains: pairs, settings, a run that was left unfinished."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
import pytest

from model_core.__main__ import main
from model_core.training.lab_data import FileSource
from model_core.training.lab_run import LabRun, Watching
from tests.core.small_run import SETTINGS, write_pairs

LONG = 3000
on_posix = pytest.mark.skipif(os.name != "posix", reason="needs signals as a terminal sends them")


@pytest.fixture(name="folder")
def training_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with pairs, settings, and a model that was trained before."""
    write_pairs(tmp_path)
    settings(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings(folder: Path, **changes: object) -> None:
    values = msgspec.to_builtins(msgspec.structs.replace(SETTINGS, **changes))
    (folder / "config.json").write_text(json.dumps(values), "utf-8")


FRESH = ("--data", "pairs.tsv", "--config", "config.json")


def train(*arguments: str) -> int:
    return main(["train", *arguments])


def unfinished(folder: Path, out: str = "m.safetensors", **changes: object) -> Path:
    """The checkpoint of a run over the pairs that was left after seven steps."""
    given = msgspec.structs.replace(SETTINGS, **changes)
    run = LabRun.begin(FileSource(str(folder / "pairs.tsv")), given, Watching(0, 0))
    for _ in range(7):
        run.advance()
    place = folder / f"{out}.training"
    run.save_run(place)
    return place
