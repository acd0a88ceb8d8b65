"""The data that were read last, for whoever needs them again."""

from __future__ import annotations

import os
from collections.abc import Hashable
from typing import Any

from visualizer.inquiries.base import Cancelled
from visualizer.lab import Subject


class NoLongerWanted(Exception):
    """Raised inside the reading of a file to end it."""


class Shelf:
    """The data read last, for whoever needs them under other settings."""

    def __init__(self) -> None:
        self._wanted: Hashable = None
        self._data: Any = None
        self._settings: Any = None
        self._prepared: Any = None

    def data(self, subject: Subject, cancelled: Cancelled) -> Any:
        from model_core.training.lab_data import load

        def check(_report: object) -> None:
            if cancelled():
                raise NoLongerWanted

        settings = subject.settings
        stamp = stamp_of(getattr(subject.source, "path", None))
        wanted = (subject.source, stamp, settings.seed, settings.held_out_share)
        if self._wanted != wanted:
            self._data = load(subject.source, settings, check)
            self._wanted, self._prepared = wanted, None
        return self._data

    def prepared(self, subject: Subject, cancelled: Cancelled) -> tuple[Any, Any]:
        """The data, and the examples that a training under these settings makes of them."""
        from model_core.training.lab_data import prepare

        data = self.data(subject, cancelled)
        if self._prepared is None or self._settings != subject.settings:
            self._prepared = prepare(data, subject.settings)
            self._settings = subject.settings
        return data, self._prepared


def stamp_of(path: str | None) -> tuple[int, int] | None:
    """When a file was written last, and how large it is; None where there is none."""
    if path is None:
        return None
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


SHELF = Shelf()
