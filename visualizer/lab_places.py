"""Where trainings lie: places for new ones, marks on those in use, the ones that can go on."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QLockFile

from visualizer.engine import attempt
from visualizer.lab import Damaged, Training, Unfinished
from visualizer.state import ModelEntry

if TYPE_CHECKING:
    from model_core.training import lab as core

# So many bytes are written to see whether a place can be written to.
TRIED = 1 << 16
# A checkpoint has the parameters and two moments of each; there are two of them, and a model that
# is kept: so many times the parameters' own bytes.
COPIES = 7
# So many trainings that can go on are looked for.
MOST_LISTED = 20
NAMES, ENDING = "training-", ".safetensors"
A_MOMENT = 300  # milliseconds
# Whether there is room to save is looked at again after so many seconds.
ROOM_AGAIN = 10.0


def free_place(folder: Path) -> Path:
    """Where a new training is saved: beside those that can still go on.

    OSError where nothing can be written there.
    """
    try_to_write(folder)
    number = 1
    while is_taken(path := folder / f"{NAMES}{number}{ENDING}"):
        number += 1
    return path


def is_taken(path: Path) -> bool:
    """Whether a training lies there, if only its checkpoint before the last, or is under way."""
    from model_core.training.resume import previous_of

    return path.exists() or previous_of(path).exists() or is_locked(path)


def try_to_write(folder: Path) -> None:
    """OSError where a folder cannot be made, or nothing be written into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as stream:
            stream.write(bytes(TRIED))
    except OSError as error:
        raise OSError(f"{folder}: {error.strerror or error}") from None


def is_too_full(folder: Path, n_bytes: int) -> bool:
    """Whether there is too little room for a training whose parameters take so many bytes."""
    try:
        return shutil.disk_usage(folder).free < COPIES * n_bytes
    except OSError:
        return False


class RoomWatch:
    """Looks now and then whether there is room to save a training; tells once that there is not.

    is_told: it was said already that this one cannot be saved
    """

    def __init__(self, is_told: bool = False) -> None:
        self.is_told = is_told
        self.looked_at = -ROOM_AGAIN

    def lacking(self, client: core.Training, training: Training | None) -> Path | None:
        """The folder that has too little room, the first time that it is seen."""
        place, now = client.start.checkpoint, time.monotonic()
        if client.is_over or training is None or not training.n_bytes or self.is_told:
            return None
        if not place or now - self.looked_at < ROOM_AGAIN:
            return None
        self.looked_at, folder = now, Path(place).parent
        self.is_told = is_too_full(folder, training.n_bytes)
        return folder if self.is_told else None


def started(start: Any) -> core.Training:
    """The core's own process."""
    from model_core.training.lab import Training as Client

    return Client(start)


def kept(client: core.Training, training: Training, folder: Path) -> ModelEntry:
    """The model of a training that is over, written under a name of its own."""
    from model_core.training.outputs import free_name
    from visualizer.lab_film import name_of
    from visualizer.lenses.lab_words import plain
    from visualizer.run import save_entry
    from visualizer.state import Inputs

    model, stem = client.model(), plain(training.subject.title)
    folder.mkdir(parents=True, exist_ok=True)
    path = free_name(folder / f"{stem}.safetensors")
    entry = ModelEntry(model, name_of(training), path)
    save_entry(entry, Inputs(), path)
    return entry


def written(client: core.Training, training: Training, folder: Path) -> tuple[ModelEntry, str]:
    """The model of a training that is over, and why it is in no file, "" where it is in one.

    Only then does the training's checkpoint go.
    """
    from visualizer.lab_film import name_of

    entry, reason, _ = attempt(lambda: kept(client, training, folder))
    if not reason:
        client.forget()
    return entry or ModelEntry(client.model(), name_of(training)), reason


def locked(path: Path) -> QLockFile | None:
    """The mark that a program trains there; None where it cannot be set.

    OSError where another one has set it.
    """
    lock = QLockFile(f"{path}.lock")
    lock.setStaleLockTime(0)
    # whoever only looks whether there is one holds it for a moment
    if lock.tryLock(A_MOMENT):
        return lock
    if lock.error() == QLockFile.LockError.LockFailedError:
        raise OSError(f"{path.name} is being trained in another window")
    return None


def is_locked(path: Path) -> bool:
    """Whether a program that runs trains there."""
    lock = QLockFile(f"{path}.lock")
    lock.setStaleLockTime(0)
    if lock.tryLock(0):
        lock.unlock()
        return False
    # where nothing can be written nobody trains
    return lock.error() == QLockFile.LockError.LockFailedError


def discard(entry: Unfinished | Damaged) -> None:
    """Remove the checkpoints of a training; OSError or ValueError where that cannot be."""
    from model_core.training.resume import previous_of, remove_run

    remove_run(entry.path)
    if isinstance(entry, Damaged):
        # what is left of them may not be known for a checkpoint any more
        for file in (entry.path, previous_of(entry.path)):
            file.unlink(missing_ok=True)


def unfinished_in(folder: Path, without: Iterable[str] = ()) -> tuple[Unfinished | Damaged, ...]:
    """The trainings that were not ended, the one saved last first; no others' that run just now.

    without: places that are left out
    """
    from visualizer.lab_news import unfinished_at

    # of some there may be but the checkpoint before the last
    named = (str(path).removesuffix(".previous") for path in folder.glob(f"{NAMES}*"))
    files = [Path(name) for name in {*named} if name.endswith(ENDING) and name not in without]
    free = (path for path in files if not is_locked(path))
    found = [entry for path in free if (entry := unfinished_at(path)) is not None]
    return tuple(sorted(found, key=lambda entry: entry.when, reverse=True)[:MOST_LISTED])
