"""Makes ready for the sentences to come while the user reads: first runs of a length are slower."""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

from visualizer.engine import Engine
from visualizer.state import ModelEntry, Run

# The user is taken to be reading when nothing was asked for this long, in milliseconds.
PAUSE = 250
# Lengths that a run of the user's own would not have to wait for: those around the present one.
AROUND = (0, 1, -1, 2, -2, 3, -3, 4, 5, 6)
LONGEST = 24


class Preparation(QObject):
    """Prepares the lengths around the newest run's, one after the other, in the engine's pauses."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine
        self._entry: ModelEntry | None = None
        self._lengths: list[int] = []
        self._settled = False
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.timeout.connect(self._go_on)
        engine.prepared.connect(self._on_prepared)

    def follow(self, entry: ModelEntry, run: Run) -> None:
        """A run has come: think of its neighbours, once it is quiet."""
        if entry.model.config.input != "ids":
            return
        lengths = (run.length + step for step in AROUND)
        self._entry, self._lengths = entry, [n for n in lengths if 1 <= n <= LONGEST]
        self._pause.start(PAUSE)

    def stop(self) -> None:
        self._pause.stop()
        self._lengths = []

    def _go_on(self) -> None:
        if self._engine.busy:
            self._pause.start(PAUSE)
            return
        if not self._settled:
            # what the start has made stays: looking through it for garbage would take frames
            self._settled = True
            gc.freeze()
        if self._lengths and self._entry is not None:
            self._engine.prepare(self._entry, self._lengths[0])

    def _on_prepared(self, anything: bool) -> None:
        if not anything and self._lengths:
            self._lengths.pop(0)
        if self._lengths and not self._pause.isActive():
            # through the event loop, so that whatever was asked for meanwhile goes first
            self._pause.start(0)
