"""Collects reference cycles in the window's thread, and in no other.

Python collects in whichever thread happens to allocate. A cycle may hold Qt objects, and Qt
objects may be deleted in their own thread alone: elsewhere the process crashes, now and then.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

EVERY = 1000  # milliseconds
# A young collection takes well under a millisecond; a whole one looks at everything.
WHOLE_EVERY = 20


class GarbageCollector(QObject):
    """Takes Python's automatic collection over until `stop`."""

    def __init__(self) -> None:
        super().__init__()
        gc.disable()
        self._rounds = 0
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._collect)
        self._timer.start(EVERY)

    def stop(self) -> None:
        """Leave collecting to Python again."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    def _collect(self) -> None:
        self._rounds += 1
        if self._rounds % WHOLE_EVERY:
            gc.collect(1)
            return
        gc.collect()
        if self._rounds == WHOLE_EVERY:
            # Modules and the first model stay: the next ones look at what came since. Once only,
            # for what is set aside and becomes garbage later is not found any more.
            gc.freeze()
