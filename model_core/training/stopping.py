"""Stopping in order: a signal asks, and whoever works stops where nothing is left half done."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType

# What ends a program by itself: a key, a system that shuts down, a terminal that is closed.
SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
# A program in between may pass a key on that has come by itself already.
SECONDS_BETWEEN_KEYS = 0.3
ASKED = b"\nstopping behind this step; Ctrl+C once more stops at once, and saves nothing\n"


class Stopped(KeyboardInterrupt):
    """A command was told to stop and has; code: what its process ends with."""

    def __init__(self, sentence: str, code: int) -> None:
        super().__init__(sentence)
        self.code = code


class StopSign:
    """Which signal has asked to stop, 0 for none."""

    signal = 0

    @property
    def code(self) -> int:
        """What a process ends with that the signal has ended."""
        return 128 + self.signal


@contextlib.contextmanager
def stopping_in_order() -> Iterator[StopSign]:
    """Signals raise a sign and nothing else; a second Ctrl+C is a KeyboardInterrupt again.

    What was set to be ignored (by nohup, say) stays so; outside the main thread nothing changes.
    """
    sign, asked_at = StopSign(), 0.0

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal asked_at
        again = number == signal.SIGINT and sign.signal != 0
        if again and time.monotonic() - asked_at > SECONDS_BETWEEN_KEYS:
            raise KeyboardInterrupt
        if not sign.signal:
            sign.signal, asked_at = number, time.monotonic()
            if number == signal.SIGINT:
                # not by way of the stream, which may be in the midst of a line
                with contextlib.suppress(OSError, ValueError, AttributeError):
                    os.write(sys.stderr.fileno(), ASKED)

    before = {}
    try:
        with contextlib.suppress(ValueError):
            for number in SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    before[number] = signal.signal(number, ask)
        yield sign
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
