"""Collects reference cycles in the window's thread, and in no other; gives free memory back.

Python collects in whichever thread happens to allocate. A cycle may hold Qt objects, and Qt
objects may be deleted in their own thread alone: elsewhere the process crashes, now and then.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

from model_core.free_memory import give_back, keep_apart

EVERY = 1000  # milliseconds
# A young collection takes well under a millisecond; a whole one looks at everything.
WHOLE_EVERY = 20
GIVEN_BACK_EVERY = 5
# Bytes from which on an array lies apart from all others.
LARGE = 2**19


class GarbageCollector(QObject):
    """Takes Python's automatic collection over until `stop`."""

    def __init__(self) -> None:
        super().__init__()
        gc.disable()
        self._rounds = 0
        keep_apart(LARGE)
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
        gc.collect(1 if self._rounds % WHOLE_EVERY else 2)
        if self._rounds == WHOLE_EVERY:
            # Modules and the first model stay: the next ones look at what came since. Once only,
            # for what is set aside and becomes garbage later is not found any more.
            gc.freeze()
        if self._rounds % GIVEN_BACK_EVERY == 0:
            give_back()
