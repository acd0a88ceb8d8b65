"""The one error that every checkpoint reader and writer raises."""

from __future__ import annotations

import os
from pathlib import PurePath

LONGEST_PART = 300
LONGEST_NAME = 80


class CheckpointError(ValueError):
    """A file that cannot be opened or saved as a checkpoint: which one, and why.

    `file` is its name without the folder, `found` what is there, `expected` what should be.
    As text it is one printable line, whatever the file holds.
    """

    def __init__(self, file: str | os.PathLike[str], found: str, expected: str) -> None:
        # The arguments as given, so that the error survives pickling between processes.
        super().__init__(file, found, expected)
        self.file = _one_line(PurePath(os.fspath(file)).name or os.fspath(file))
        self.found = _one_line(found)
        self.expected = _one_line(expected)

    def __str__(self) -> str:
        return f"{self.file}: {self.found}, expected {self.expected}"


def quoted(name: str) -> str:
    """A name out of a file, in quotes, printable and no longer than a sentence can bear."""
    return f'"{_one_line(name, LONGEST_NAME)}"'


def said_of_files(error: OSError) -> str:
    """What the system says of a file, without its number for it."""
    said = error.strerror or str(error)
    return f"{error.filename}: {said}" if error.filename else said


def _one_line(text: str, longest: int = LONGEST_PART) -> str:
    if len(text) > longest:
        text = text[: longest - 3] + "..."
    return "".join(letter if letter.isprintable() else "?" for letter in text)
