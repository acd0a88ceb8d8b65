"""Half an hour of training with the window open and in use.

    python -m tests.long soak                             30 minutes and 1 before them
    python -m tests.long soak --minutes 6 --task en-zh --objects

The real window, on the screen that DISPLAY names or else offscreen, with the program's own log,
settings and training process in a folder of its own. First steps are measured without a training,
as `make bench` does; then one is begun and someone uses the window until the end
(tests/long/soak_user.py), measuring the same steps, and once a round those beside the training
while it is paused: a machine does not keep its speed for half an hour. At last it is stopped and
kept, and the steps are measured once more. A line every minute. Three verdicts:

    memory   of the window's process and of both: the median of the last two minutes no more than
             20 MB above that of minutes 5 and 6
    steps    their 95th percentile while training at most 1.2 times that while it was paused
    errors   no warning or error in the log, nothing from Qt, no exception that nobody caught

The figures mean something on a machine that does nothing else. The exit status is 1 if one verdict
is missed.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from tests.long.process_memory import GONE, Memory, grown, kinds_of_objects, memory_of

MOST_MEGABYTES, MOST_SLOWER = 20.0, 1.2
# Minutes: before the first, memory is still being taken; figures of memory are medians of so many.
SETTLED, WINDOW = 5.0, 2.0
SAMPLE = 5.0  # seconds
# More than the fastest machine makes in a minute.
STEPS_A_MINUTE = 6000


class Mishaps(logging.Handler):
    """What went wrong anywhere: lines of the log, of Qt, exceptions that nobody caught."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.log: list[str] = []
        self.qt: list[str] = []
        self.exceptions: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.log.append(f"{record.levelname} {record.getMessage()}")

    def take_qt(self, kind: Any, context: Any, text: str) -> None:
        self.qt.append(text)

    def take_unraisable(self, unraisable: Any) -> None:
        self.exceptions.append(f"{unraisable.exc_type.__name__}: {unraisable.exc_value}")

    def __len__(self) -> int:
        return len(self.log) + len(self.qt) + len(self.exceptions)

    def lines(self) -> list[str]:
        return [*self.log, *self.qt, *self.exceptions]


class Sample(NamedTuple):
    """Minutes since the training began; the memory of the window and of the process that trains."""

    minute: float
    window: Memory
    trainer: Memory

    @property
    def both(self) -> float:
        return self.window.proportional + self.trainer.proportional


def percentile(seconds: Sequence[float], share: int) -> float:
    """Milliseconds, as the benchmarks reckon it; 0 of nothing."""
    ordered = sorted(seconds)
    return 1000 * ordered[min(len(ordered) - 1, len(ordered) * share // 100)] if ordered else 0.0


def own_home(folder: Path) -> None:
    """Settings, logs and trainings lie in a folder of their own."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        os.environ[name] = str(folder)
    if not os.environ.get("DISPLAY"):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


class Soak:
    """The window with its user, and what is written down of both."""

    def __init__(self, task: str, folder: Path) -> None:
        from PySide6.QtCore import QTimer, qInstallMessageHandler

        from tests.long.soak_user import User
        from visualizer import app as program
        from visualizer.engine import Engine
        from visualizer.garbage import GarbageCollector
        from visualizer.main_window import MainWindow
        from visualizer.settings import Settings, default_path
        from visualizer.state import ViewState
        from visualizer.store import Store

        self.mishaps = Mishaps()
        log_file = program.start_logging(verbose=False)
        logging.getLogger().addHandler(self.mishaps)
        qInstallMessageHandler(self.mishaps.take_qt)
        sys.unraisablehook = self.mishaps.take_unraisable
        app = program.make_application(["glassformer"])
        settings = Settings(default_path())
        store = Store(settings.apply_to(ViewState()))
        # as in the program's own main: Mishaps there writes what nobody caught into the log
        self._teller = program.Mishaps(store, log_file)
        sys.excepthook = self._teller.take
        self._garbage = GarbageCollector()
        window = MainWindow(store)
        self.session = program.Session(window, Engine(), settings)
        window.resize(*program.FIRST_SIZE)
        window.show()
        self.session.laboratory.look_for_unfinished()
        self.user = User(app, self.session, task, folder)
        self.samples: list[Sample] = []
        self.objects: Counter[str] = Counter()
        self._begun = time.monotonic()
        self._timer = QTimer()
        self._timer.timeout.connect(self._sample)

    @property
    def minute(self) -> float:
        return (time.monotonic() - self._begun) / 60

    def idle(self, seconds: float) -> list[float]:
        """The measured steps without a training; those of the first round warm up."""
        before, self.user.seconds = self.user.seconds, []
        self.user.measured_round()
        self.user.seconds.clear()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.user.measured_round()
        found, self.user.seconds = self.user.seconds, before
        return found

    def train(self, minutes: float, count_objects: bool = False) -> None:
        """Begin a training and use the window until the end, a line every minute.

        count_objects: half-way, to compare with the end
        """
        self.user.start_training(round(STEPS_A_MINUTE * (minutes + 2)))
        self._begun = time.monotonic()
        self._timer.start(round(1000 * SAMPLE))
        told, first = 0, 0
        for _part in self.user.rounds():
            if int(self.minute) > told:
                told = int(self.minute)
                self._tell(self.user.seconds[first:])
                first = len(self.user.seconds)
            if self.minute >= minutes:
                break
            if count_objects and not self.objects and self.minute >= minutes / 2:
                self.objects = kinds_of_objects()
        self._timer.stop()

    def _sample(self) -> None:
        client = self.session.laboratory.client
        trainer = GONE if client is None else memory_of(client.process_id)
        self.samples.append(Sample(self.minute, memory_of("self"), trainer))

    def _tell(self, seconds: Sequence[float]) -> None:
        last, training = self.samples[-1], self.user.store.state.lab.training
        assert training is not None
        print(
            f"minute {self.minute:4.1f}  window {last.window.resident:5.0f} MB resident "
            f"{last.window.own:5.0f} own, trainer {last.trainer.resident:4.0f} MB;  "
            f"{len(seconds)} steps p50 {percentile(seconds, 50):.1f} p95 "
            f"{percentile(seconds, 95):.1f} ms;  training step {training.step}, film of "
            f"{len(training.snapshots)} in {training.bytes_kept / 2**20:.0f} MB;  log "
            f"{len(self.mishaps.log)}, Qt {len(self.mishaps.qt)}, exceptions "
            f"{len(self.mishaps.exceptions)}",
            flush=True,
        )

    def end(self) -> None:
        self.session.window.close()
        self.session.engine.shutdown()
        sys.excepthook, sys.unraisablehook = sys.__excepthook__, sys.__unraisablehook__
        self._garbage.stop()


def growth(samples: Sequence[Sample], minutes: float) -> dict[str, float] | None:
    """Megabytes, from when memory has settled to the end; None where the time was too short."""
    settled = [s for s in samples if SETTLED <= s.minute < SETTLED + WINDOW]
    last = [s for s in samples if s.minute >= minutes - WINDOW]
    if not settled or minutes < SETTLED + 2 * WINDOW:
        return None
    kinds = {
        "window": lambda s: s.window.resident,
        "trainer": lambda s: s.trainer.resident,
        "both": lambda s: s.both,
    }
    return {
        name: median(map(kind, last)) - median(map(kind, settled)) for name, kind in kinds.items()
    }


def verdicts(soak: Soak, idle: Sequence[float], after: Sequence[float], minutes: float) -> bool:
    """Three lines; whether all is as it has to be."""
    found = growth(soak.samples, minutes)
    if found is None:
        print(f"memory  not judged: that takes {SETTLED + 2 * WINDOW:.0f} minutes")
    else:
        told = ", ".join(f"{name} {value:+.1f} MB" for name, value in found.items())
        print(
            f"memory  {said(found['both'] < MOST_MEGABYTES)}  from minute {SETTLED:.0f} on: {told}"
        )
    before, paused = percentile(idle, 95), percentile(soak.user.paused, 95)
    during, beside = percentile(soak.user.seconds, 95), paused or before
    ratio = during / beside
    print(
        f"steps   {said(ratio <= MOST_SLOWER)}  p95 {during:.2f} ms of {len(soak.user.seconds)} "
        f"while training, {paused:.2f} ms of {len(soak.user.paused)} while it was paused: "
        f"{ratio:.2f}; {before:.2f} ms of {len(idle)} before it, "
        f"{percentile(after, 95):.2f} ms of {len(after)} after it"
    )
    print(f"errors  {said(not len(soak.mishaps))}  {len(soak.mishaps)}")
    for line in soak.mishaps.lines()[:20]:
        print(f"        {line}")
    well = found is None or max(found["both"], found["window"]) < MOST_MEGABYTES
    return well and ratio <= MOST_SLOWER and not len(soak.mishaps)


def said(good: bool) -> str:
    return "good  " if good else "MISSED"


def run(arguments: Sequence[str]) -> int:
    """The check with its options; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.long soak")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--idle-seconds", type=float, default=60.0)
    parser.add_argument("--task", default="dates")
    parser.add_argument(
        "--objects", action="store_true", help="say of what there are more than half-way"
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        own_home(Path(folder))
        soak = Soak(options.task, Path(folder))
        try:
            idle = soak.idle(options.idle_seconds)
            print(
                f"idle: {len(idle)} steps, p50 {percentile(idle, 50):.2f} ms, "
                f"p95 {percentile(idle, 95):.2f} ms; {memory_of('self').resident:.0f} MB",
                flush=True,
            )
            soak.train(options.minutes, options.objects)
            if options.objects:
                print("\n".join(grown(soak.objects, kinds_of_objects())))
            soak.user.stop_training()
            after = soak.idle(options.idle_seconds)
            good = verdicts(soak, idle, after, options.minutes)
        finally:
            soak.end()
    return 0 if good else 1
