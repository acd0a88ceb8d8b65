"""A mark beside a checkpoint that a process trains there; it goes with it, however that ends.

The system's own lock on an empty file: kill -9 leaves the file, but nothing that bars the way.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path

ENDING = ".running"
# The window's mark, Qt's own, for the trainings that lie where it puts them.
WINDOW_ENDING = ".lock"
HELD = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK})


class InUseError(ValueError):
    """Another process that runs trains at this place."""

    def __init__(self, checkpoint: Path) -> None:
        super().__init__(
            f"{checkpoint} is the checkpoint of a training that is running now: wait for its end, "
            "stop it first, or name another --out"
        )


@contextlib.contextmanager
def running_at(checkpoint: Path) -> Iterator[None]:
    """Bar the place to others meanwhile; InUseError where one trains there already.

    Where nothing can be written, or the file system knows no locks, there is none.
    """
    place = os.path.realpath(checkpoint)
    if _is_held(place + WINDOW_ENDING):
        raise InUseError(checkpoint)
    lock = _take(place + ENDING, checkpoint)
    try:
        yield
    finally:
        if lock is not None:
            _release(lock, place + ENDING)


def _take(path: str, checkpoint: Path) -> int | None:
    while True:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:
            return None
        try:
            _lock(file)
            # whoever held it until now removed the file of that name
            if os.path.samestat(os.fstat(file), os.stat(path)):
                return file
        except FileNotFoundError:
            pass
        except OSError as error:
            os.close(file)
            if error.errno in HELD:
                raise InUseError(checkpoint) from None
            return None
        os.close(file)


def _release(file: int, path: str) -> None:
    is_ours = _is_ours(file, path)
    with contextlib.suppress(OSError):
        if is_ours and os.name == "posix":
            # before it is let go: nobody else can hold the file that is removed
            os.unlink(path)
    os.close(file)
    with contextlib.suppress(OSError):
        if is_ours and os.name != "posix":
            # an open file cannot be removed here, and one that another has opened neither
            os.unlink(path)


def _is_ours(file: int, path: str) -> bool:
    """Whether the name still leads to the file that was locked, which holds nothing."""
    try:
        held = os.fstat(file)
        return held.st_size == 0 and os.path.samestat(held, os.stat(path))
    except OSError:
        return False


def _is_held(path: str) -> bool:
    try:
        file = os.open(path, os.O_RDWR)
    except PermissionError:
        # Windows lets nobody open what the window holds
        return os.name == "nt"
    except OSError:
        return False
    try:
        _lock(file)
    except OSError as error:
        return error.errno in HELD
    finally:
        os.close(file)
    return False


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
