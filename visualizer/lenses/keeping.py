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
    found: Kept | None = kept(owner, kind, key)
    if found is None:
        found = make()
        store(owner, kind, key, found, most)
    return found


def kept(owner: Any, kind: str, key: Hashable) -> Any:
    """What was stored for this key, None where nothing was."""
    if owner is None:
        return None
    things = _kept.get(owner, {}).get(kind, {})
    if key not in things:
        return None
    # to the end of the row: what has not been asked for longest goes first
    found = things[key] = things.pop(key)
    return found


def store(owner: Any, kind: str, key: Hashable, found: Any, most: int = 64) -> None:
    """Keep it as long as the owner lives, and no more than so many things of this kind."""
    if owner is None:
        return
    things = _kept.setdefault(owner, {}).setdefault(kind, {})
    things.pop(key, None)
    while len(things) >= most:
        del things[next(iter(things))]
    things[key] = found
