"""Collects reference cycles in the window's thread, and in no other.

Python collects in whichever thread happens to allocate. A cycle may hold Qt objects, and Qt
objects may be deleted in their own thread alone: elsewhere the process crashes, now and then.
"""

from __future__ import annotations

import gc
import time

from PySide6.QtCore import QObject, QTimer

EVERY = 1000  # milliseconds
# A young collection takes well under a millisecond; a whole one looks at everything.
WHOLE_EVERY = 20
# Where a whole one takes longer than this, what it left (modules, the examples of a training) is
# set aside, so that the next ones look at what came since.
LONG = 0.02  # seconds
# In so many rounds even what was set aside is looked at once more: some of it may be garbage now.
ASIDE = 600


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
        if self._rounds % ASIDE == 0:
            gc.unfreeze()
        began = time.perf_counter()
        gc.collect()
        if time.perf_counter() - began > LONG:
            gc.freeze()
