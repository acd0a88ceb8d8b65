"""How much memory this machine can still give to a program."""

from __future__ import annotations

import os
import sys
from pathlib import Path

# Some is left to everything else, and what is reckoned with are estimates.
SHARE = 0.6
MEMINFO = Path("/proc/meminfo")
GROUP_LIMITS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
    ),
)


def free_bytes() -> int | None:
    """What a run may take; None where the system does not say."""
    known = [
        bytes_ for bytes_ in (_free(), _left_of_group(), _left_of_process()) if bytes_ is not None
    ]
    return int(SHARE * min(known)) if known else None


def _free() -> int | None:
    try:
        for line in MEMINFO.read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    if sys.platform == "win32":
        return _free_on_windows()
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError, AttributeError):
        return None


def _free_on_windows() -> int | None:
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = [
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in ("all", "free", "a", "b", "c", "d", "e")),
        ]

    status = Status(length=ctypes.sizeof(Status))
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 (other systems have none)
    return int(status.free) if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else None


def _left_of_group() -> int | None:
    for limit, used in GROUP_LIMITS:
        try:
            return max(0, int(Path(limit).read_text("ascii")) - int(Path(used).read_text("ascii")))
        except (OSError, ValueError):
            continue
    return None


def _left_of_process() -> int | None:
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError, IndexError, AttributeError):
        return None
    return None if limit == resource.RLIM_INFINITY else max(0, limit - used)
