"""Writing a file completely, or leaving the old one as it was."""

from __future__ import annotations

import os
import re
import secrets
import stat
import zlib
from collections.abc import Iterable
from pathlib import Path

from model_core.checkpoints.errors import CheckpointError

PathLike = str | os.PathLike[str]

A_PLACE = "a place that can be written to"
LONGEST_STEM = 40


def replace_file(path: PathLike, data: bytes | Iterable[bytes]) -> None:
    """Put `data`, or its parts behind each other, where `path` leads.

    CheckpointError where that place cannot be written to.
    """
    # Through a link, so that the link stays and what it points to is replaced.
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f"{_stem(target)}.{secrets.token_hex(6)}.part")
    try:
        _refuse_what_is_no_file(path, target)
        try:
            with open(temporary, "xb") as stream:
                stream.writelines([data] if isinstance(data, bytes) else data)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        if os.name == "posix":
            # The new name itself reaches the disk with its folder.
            folder = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        raise _refusal(path, error) from error


def try_place(path: PathLike) -> None:
    """Make sure that a file can be put there, and leave what is there; as `replace_file`."""
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f"{_stem(target)}.{secrets.token_hex(6)}.part")
    try:
        _refuse_what_is_no_file(path, target)
        try:
            open(temporary, "xb").close()
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise _refusal(path, error) from error


def unfinished_parts(target: Path) -> list[Path]:
    """What processes that were killed have left of a file that they were writing."""
    ours = re.compile(re.escape(_stem(target)) + r"\.[0-9a-f]{12}\.part")
    try:
        return [file for file in target.parent.iterdir() if ours.fullmatch(file.name)]
    except OSError:
        return []


def _stem(target: Path) -> str:
    """What the names of the parts of a file start with, short and of this file alone."""
    name = target.name
    if len(name) > LONGEST_STEM:
        name = f"{name[:LONGEST_STEM]}-{zlib.crc32(os.fsencode(name)):08x}"
    return f".{name}"


def _refuse_what_is_no_file(path: PathLike, target: Path) -> None:
    """A folder, a pipe or a device is not to be replaced by a file; OSError for a bad name."""
    try:
        mode = os.lstat(target).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        found = "is a folder" if stat.S_ISDIR(mode) else "is a device or a pipe"
        raise CheckpointError(path, found, "the name of a file")


def _refusal(path: PathLike, error: OSError) -> CheckpointError:
    return CheckpointError(path, f"cannot be saved ({error.strerror or error})", A_PLACE)
