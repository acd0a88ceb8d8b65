"""Writing a file completely, or leaving the old one as it was."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from model_core.checkpoints.errors import CheckpointError

PathLike = str | os.PathLike[str]


def replace_file(path: PathLike, data: bytes) -> None:
    """Put `data` where `path` leads; CheckpointError where that place cannot be written to."""
    # Through a link, so that the link stays and what it points to is replaced.
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(6)}.part")
    try:
        try:
            with open(temporary, "xb") as stream:
                stream.write(data)
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
        raise CheckpointError(
            path, f"cannot be saved ({error.strerror or error})", "a place that can be written to"
        ) from error
