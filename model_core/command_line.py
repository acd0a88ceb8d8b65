"""What the commands of the core share: arguments in any order, errors in one sentence."""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn


class CommandParser(argparse.ArgumentParser):
    """Options may stand in front of a sentence; a mistake is told in a line, and where to look."""

    _mixes = False

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        # plain argparse gives up on an optional positional as soon as an option follows the first
        if self._mixes or self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        self._mixes = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixes = False

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see --help\n")


def whole(text: str) -> int:
    """The type of an option that is a whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def number(text: str) -> float:
    """The type of an option that is a number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def from_0(text: str) -> int:
    """The type of an option that counts, 0 for never."""
    value = whole(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return value


def above_0(text: str) -> float:
    """The type of an option that is a length of time."""
    value = number(text)
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return value


def file_name(text: str) -> Path:
    """The type of an option that names a file."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name of a file is empty")
    return Path(text)


def tell(text: str) -> None:
    """A line beside the output; where nobody reads it, the work goes on."""
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


def reason(error: OSError) -> str:
    """What the system says of a file, as words and without its number."""
    said = (error.strerror or str(error)).lower()
    return said if error.filename is None else f"{error.filename}: {said}"
