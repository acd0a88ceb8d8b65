"""Collects reference cycles in the window's thread, and in no other; gives free memory back.

Python collects in whichever thread happens to allocate. A cycle may hold Qt objects, and Qt
objects may be deleted in their own thread alone: elsewhere the process crashes, now and then.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QTimer

EVERY = 1000  # milliseconds
# A young collection takes well under a millisecond; a whole one looks at everything.
WHOLE_EVERY = 20
GIVEN_BACK_EVERY = 5
# Of mallopt(3): from so many bytes on memory is mapped for an array of its own.
M_MMAP_THRESHOLD, APART = -3, 2**19


class GarbageCollector(QObject):
    """Takes Python's automatic collection over until `stop`."""

    def __init__(self) -> None:
        super().__init__()
        gc.disable()
        self._rounds = 0
        self._give_back = giver_back()
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
            self._give_back()


def giver_back() -> Callable[[], object]:
    """What gives the memory that is free between things in use back to the system.

    Only the GNU library keeps it: arrays of all sizes come and go for hours, and the process
    would stay as large as it ever was. Takes some 2 ms, for 100 MB of heap.
    """
    library = gnu_library()
    if library is None:
        return _nothing
    # Large arrays stay apart, where each goes back at once. Left to itself the library takes ever
    # larger ones into the heap, up to 32 MB, and small things settle between them.
    library.mallopt(M_MMAP_THRESHOLD, APART)
    return lambda: library.malloc_trim(0)


def gnu_library() -> Any:
    """The C library that this process uses, where it is GNU's on Linux; else None."""
    if sys.platform != "linux":
        return None
    try:
        library = ctypes.CDLL(None)
        return library if library.malloc_trim and library.mallopt else None
    except (OSError, AttributeError):
        # another C library
        return None


def _nothing() -> None:
    pass
