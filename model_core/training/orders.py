"""What a training process is told: by the program that watches it, and by the system."""

from __future__ import annotations

import os
import queue
import signal
import threading
import time
from types import FrameType
from typing import BinaryIO

from model_core.training.messages import COMMANDS, Command, Quit, receive

# So long may a step and the saving after it take once nobody is there any more.
SECONDS_TO_SAVE = 10.0


class Told:
    """The first signal that has told the process to end, 0 for none."""

    signal = 0

    def end(self) -> None:
        """End as the signal ends a process that does not listen, if there was one."""
        if self.signal:
            signal.signal(self.signal, signal.SIG_DFL)
            os.kill(os.getpid(), self.signal)


def end_in_order(commands: queue.SimpleQueue[Command]) -> Told:
    """Quit on a signal: a system shuts down, or a terminal is closed; the run is saved first."""
    told = Told()

    def ask(number: int, frame: FrameType | None) -> None:
        told.signal = told.signal or number
        commands.put(Quit())
        threading.Thread(target=_end_soon, daemon=True).start()

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, ask)
    return told


def _end_soon() -> None:
    """Nobody may read any more what has to be told before the run is saved."""
    time.sleep(SECONDS_TO_SAVE)
    os._exit(1)


def listen(stream: BinaryIO, commands: queue.SimpleQueue[Command]) -> None:
    """Take what the watching program says until it is gone, and Quit then."""
    while (data := receive(stream)) is not None:
        commands.put(COMMANDS.decode(data))
    # the program that started this one is gone, or has had enough
    commands.put(Quit())
    _end_soon()
