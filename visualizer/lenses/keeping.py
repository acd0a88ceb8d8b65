"""What a run, or its tape, has once been asked is kept as long as it lives."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

Kept = TypeVar("Kept")

_kept: WeakKeyDictionary[Any, dict[str, dict[Hashable, Any]]] = WeakKeyDictionary()


def keep(owner: Any, kind: str, key: Hashable, make: Callable[[], Kept], most: int = 64) -> Kept:
    """What `make` gives, made once per key; without an owner every time.

    most: how many things of this kind are kept, the last ones asked for
    """
    if owner is None:
        return make()
    things = _kept.setdefault(owner, {}).setdefault(kind, {})
    if key in things:
        # to the end of the row: what has not been asked for longest goes first
        found: Kept = things.pop(key)
    else:
        found = make()
        while len(things) >= most:
            del things[next(iter(things))]
    things[key] = found
    return found
