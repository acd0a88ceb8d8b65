"""Memory that is free between things in use: given back to the system, or kept from coming about.

Only the GNU library keeps it: arrays of all sizes come and go for hours, and the process would
stay as large as it ever was. With any other library nothing is done.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from typing import Any

# Of mallopt(3).
M_MMAP_THRESHOLD = -3


def give_back() -> bool:
    """Give free memory back, in some 2 ms for 100 MB of heap; whether the library can do so."""
    library = _gnu_library()
    if library is not None:
        library.malloc_trim(0)
    return library is not None


def keep_apart(n_bytes: int) -> bool:
    """Map memory for each array of so many bytes or more on its own, from where it goes back at
    once; whether the library can do so.

    Left to itself it takes ever larger ones into the heap, up to 32 MB, and small things settle
    between them. Each such array costs 0.3 ms for a megabyte, for its pages are new.
    """
    library = _gnu_library()
    return library is not None and bool(library.mallopt(M_MMAP_THRESHOLD, n_bytes))


@functools.cache
def _gnu_library() -> Any:
    """The C library that this process uses, where it is GNU's on Linux; else None."""
    if sys.platform != "linux":
        return None
    try:
        library = ctypes.CDLL(None)
        return library if library.malloc_trim and library.mallopt else None
    except (OSError, AttributeError):
        # another C library
        return None
