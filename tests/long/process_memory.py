"""What the memory of a process is, from /proc, and what lies in it, from Python."""

from __future__ import annotations

import gc
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

MEGABYTE = 2**20


class Memory(NamedTuple):
    """Megabytes: resident, its share of what is shared with others, and its own alone."""

    resident: float
    proportional: float
    own: float


GONE = Memory(0.0, 0.0, 0.0)


def memory_of(process_id: int | str) -> Memory:
    """Of a process of this machine; nothing of one that is gone."""
    try:
        text = Path(f"/proc/{process_id}/smaps_rollup").read_text("ascii")
    except OSError:
        return GONE
    kilobytes = {
        name: int(value) for name, value in re.findall(r"^(\w+):\s+(\d+) kB$", text, re.MULTILINE)
    }
    own = kilobytes["Private_Clean"] + kilobytes["Private_Dirty"]
    return Memory(kilobytes["Rss"] / 1024, kilobytes["Pss"] / 1024, own / 1024)


def kinds_of_objects() -> Counter[str]:
    """How many objects of each kind Python's collector knows."""
    gc.collect()
    return Counter(type(o).__module__ + "." + type(o).__qualname__ for o in gc.get_objects())


def grown(before: Counter[str], after: Counter[str], most: int = 25) -> list[str]:
    """The kinds that there are most more of, in lines."""
    more = after.copy()
    more.subtract(before)
    return [f"{count:+8}  {kind}" for kind, count in more.most_common(most) if count > 0]
