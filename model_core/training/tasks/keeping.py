"""What is kept from training, decided by the seed and the thing itself alone."""

from __future__ import annotations

from zlib import crc32


def kept(seed: int, thing: str, permille: int) -> bool:
    """Whether `thing` belongs to the so many in a thousand that training must not see."""
    # a checksum, since hash() differs from one Python process to the next
    return crc32(f"{seed} {thing}".encode()) % 1000 < permille
