"""Whether panels draw at this moment: what Qt sends of itself meanwhile is no user's doing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_depth = 0


@contextmanager
def drawing() -> Iterator[None]:
    """Around everything that brings the state to the screen."""
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1


def is_drawing() -> bool:
    """Whether the state is being brought to the screen.

    A page that goes from under a resting pointer is sent a Leave, the one that comes a Move, and
    a field that loses its place a FocusOut: the user has done nothing.
    """
    return _depth > 0
