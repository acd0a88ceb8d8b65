"""The models that the training lab has kept: where they lie, the newest ones. No Qt."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import platformdirs

ENDING = ".safetensors"
# So many are listed; the folder has them all.
MOST = 8


def trainings_folder() -> Path:
    """The user's own folder for trainings: those that can go on, and the models that were kept."""
    return platformdirs.user_data_path("glassformer") / "trainings"


def kept_folder(trainings: Path | None = None) -> Path:
    """Where the lab keeps what it has trained."""
    return (trainings or trainings_folder()) / "kept"


def kept_models(folder: Path) -> tuple[Path, ...]:
    """The models in the folder, the one written last first; none where it cannot be read."""
    try:
        files = [path for path in folder.iterdir() if path.suffix == ENDING]
        return tuple(sorted(files, key=lambda path: path.stat().st_mtime_ns, reverse=True))
    except OSError:
        return ()


def place_to_open_from(recent: Iterable[str], folder: Path) -> Path | None:
    """The folder to look for a file in: that of the last one, else that of the kept models."""
    for place in (*(Path(path).parent for path in recent), folder):
        if place.is_dir():
            return place
    return None
