"""Pairs put into training and held-out ones by their source, so that none is in both."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def split_by_source(
    items: Sequence[Item], source_of: Callable[[Item], str], share: float, seed: int
) -> tuple[list[Item], list[Item]]:
    """(training, held-out) items; about `share` of the sources are held out.

    A source's lot depends on the seed and its text alone: it stays when the data grow. With two
    sources or more and a share above 0 each part has at least one.
    """
    if not 0 <= share < 1:
        raise ValueError(f"the held-out share is {share}, expected 0 to below 1")
    lots = {source: _lot(source, seed) for source in map(source_of, items)}
    if share == 0 or len(lots) < 2:
        return list(items), []
    held = {source for source, lot in lots.items() if lot < share}
    ranked = sorted(lots, key=lots.__getitem__)
    held.add(ranked[0])
    held.discard(ranked[-1])
    training = [item for item in items if source_of(item) not in held]
    return training, [item for item in items if source_of(item) in held]


def _lot(source: str, seed: int) -> float:
    """A number from 0 to 1."""
    key = f"{seed}\0{source}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big") / 2**64
