"""How far a training has come, for whoever waits at a terminal or reads a log."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from types import TracebackType
from typing import TextIO

from model_core.training.cleaning import CleaningReport
from model_core.training.loop import Progress

BAR_WIDTH = 24
SECONDS_BETWEEN_DRAWINGS = 0.2
# Where nobody watches, a line now and then.
SECONDS_BETWEEN_LINES = 10.0
# Nobody is told of what is done sooner.
SECONDS_OF_SILENCE = 0.3
USUAL_WIDTH = 80


class Line:
    """A line that is drawn over and over on a terminal, lines now and then anywhere else.

    A stream that is closed, or that nobody reads any more, is left alone: the work goes on.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.is_live = False
        with contextlib.suppress(ValueError, OSError):
            self.is_live = stream.isatty()
        self.wait = SECONDS_BETWEEN_DRAWINGS if self.is_live else SECONDS_BETWEEN_LINES
        self._is_drawn = False

    @property
    def width(self) -> int:
        """Letters that fit on the terminal's line."""
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns
        except (OSError, ValueError):
            columns = 0
        return (columns or USUAL_WIDTH) - 1

    def draw(self, text: str) -> None:
        self._write(f"\r\x1b[K{text[: self.width]}" if self.is_live else text + "\n")
        self._is_drawn = True

    def clear(self) -> None:
        """Nothing is left of it on a terminal."""
        if self.is_live and self._is_drawn:
            self._write("\r\x1b[K")
        self._is_drawn = False

    def close(self) -> None:
        """What is written next stands below it."""
        if self.is_live and self._is_drawn:
            self._write("\n")
        self._is_drawn = False

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()


class Bar:
    """The bar of a run, with its loss and the time that is left."""

    def __init__(self, total: int, first: int, stream: TextIO) -> None:
        self._line = Line(stream)
        self._total, self._first, self._start = total, first, time.monotonic()
        self._drawn = 0.0
        self._held_out = ""

    def show(self, progress: Progress) -> None:
        """Draw a step, unless the last one was drawn just now."""
        if progress.evaluation is not None:
            evaluation = progress.evaluation
            self._held_out = f"  held-out {evaluation.loss:.3f}, {evaluation.exact_share:.0%} exact"
        now = time.monotonic()
        if now - self._drawn < self._line.wait and progress.step != self._total:
            return
        self._drawn = now
        text, drawn = self.text(progress, now - self._start), self.bar(progress)
        if self._line.is_live and len(drawn) + len(text) > self._line.width:
            # the numbers are worth more than the picture
            drawn = ""
        self._line.draw(drawn + text)

    def bar(self, progress: Progress) -> str:
        filled = BAR_WIDTH * progress.step // self._total
        return f"[{'#' * filled}{'.' * (BAR_WIDTH - filled)}] "

    def text(self, progress: Progress, seconds: float) -> str:
        """What stands behind the bar of a step, `seconds` after the first."""
        each = seconds / max(1, progress.step - self._first)
        left = each * (self._total - progress.step)
        return (
            f"{progress.step:,}/{self._total:,}  loss {progress.loss:.3f}{self._held_out}"
            f"  {1000 * each:.0f} ms a step, {_duration(left)} left"
        )

    def close(self) -> None:
        self._line.close()


class Waiting:
    """Says what is being done while the data are read, where that takes a while."""

    def __init__(self, what: str, stream: TextIO) -> None:
        self._line, self._text = Line(stream), what
        self._what = what
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._draw, daemon=True)

    def __enter__(self) -> Waiting:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()
        self._line.clear()

    def tell(self, report: CleaningReport) -> None:
        """So much of the file has been read."""
        self._text = f"{self._what}: {report.lines:,} lines, {report.pairs:,} pairs"

    def _draw(self) -> None:
        wait = SECONDS_OF_SILENCE
        while not self._over.wait(wait):
            self._line.draw(self._text)
            wait = self._line.wait


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
