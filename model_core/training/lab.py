"""A training run in a process of its own, as whoever watches sees it: commands, events, state."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, cast

import numpy as np

from model_core.config import ModelConfig
from model_core.model import Model
from model_core.parameters import parameter_shapes
from model_core.tokenizers import from_dict as tokenizer_from_dict
from model_core.training.held_out import Evaluation
from model_core.training.history import COLUMNS, STORED_AS, History
from model_core.training.messages import (
    EVENTS,
    Command,
    Event,
    Failed,
    Finished,
    GoOn,
    Loading,
    Pause,
    Paused,
    Probe,
    Probed,
    Quit,
    Refused,
    Running,
    RunSaved,
    Sender,
    Snapshot,
    Start,
    Started,
    StepOnce,
    Steps,
    StopAndKeep,
    receive,
)
from model_core.training.resume import remove_run
from model_core.training.snapshots import Film

Array = np.ndarray[Any, Any]
State = Literal["loading", "running", "paused", "finished", "failed", "ended"]

# Events that nobody has asked for yet; behind so many the process waits.
MOST_WAITING = 1024
SECONDS_TO_END = 5.0
SECONDS_BETWEEN_LOOKS = 0.1
STEPS_OF_A_PACE = 50
LONGEST_TRACE = 2000
# So many evaluations are kept with their examples; then every second one goes.
MOST_EVALUATIONS = 200
OVER: frozenset[State] = frozenset({"finished", "failed", "ended"})


class Training:
    """Starts the process at once. `poll` takes what has happened since and never waits.

    After a Started event config, tokenizer, history and film are there. `sentence` says why a
    run has failed. `close` ends the process; a program that is gone ends it too, with the run
    saved where it has a checkpoint. A finished one's checkpoint goes with `forget`.
    """

    def __init__(self, start: Start) -> None:
        self.start = start
        self.state: State = "loading"
        self.sentence = ""
        self.step = 0
        self.saved_step: int | None = None
        self.loading: Loading | None = None
        self.started: Started | None = None
        self.evaluation: Evaluation | None = None
        self.evaluations: list[Evaluation] = []
        self.probed: Probed | None = None
        self.card: dict[str, Any] = {}
        self.history = History([])
        self.film: Film | None = None
        self._parameters: Array | None = None
        # by `save`, and not polled yet
        self._taken: list[Event] = []
        self._trace = tempfile.TemporaryFile()
        self._process = _spawn(self._trace)
        self._sender = Sender(cast(BinaryIO, self._process.stdin))
        self._events: queue.Queue[Event | None] = queue.Queue(MOST_WAITING)
        self._closing = threading.Event()
        threading.Thread(
            target=_listen, args=(self._process, self._events, self._closing), daemon=True
        ).start()
        self._end = weakref.finalize(self, _end, self._process, self._closing, self._trace)
        self._say(start)

    # Commands.

    def pause(self) -> None:
        self._say(Pause())

    def go_on(self) -> None:
        self._say(GoOn())

    def step_once(self) -> None:
        """Train one batch, and pause."""
        self._say(StepOnce())

    def stop_and_keep(self) -> None:
        """End the run; its Finished event brings the model as it is."""
        self._say(StopAndKeep())

    def probe(self, text: str) -> None:
        """Have this sentence decoded again and again; "" for none."""
        self._say(Probe(text))

    def save(self) -> str:
        """Pause the run and save it, within seconds; "" or a sentence on why that cannot be.

        A run that is over, or has not begun, has nothing to save.
        """
        if self.state not in ("running", "paused"):
            return ""
        self.pause()
        if not self.start.checkpoint:
            return Refused("there is no place to save it in").sentence
        deadline = time.monotonic() + SECONDS_TO_END
        while time.monotonic() < deadline:
            try:
                event = self._events.get(timeout=SECONDS_BETWEEN_LOOKS)
            except queue.Empty:
                continue
            if event is None:
                event = self._ended()
            if event is None:
                return ""
            self._take(event)
            if isinstance(event, Refused):
                return event.sentence
            # for whoever polls
            self._taken.append(event)
            if isinstance(event, RunSaved) or self.state in OVER:
                return ""
        return Refused("the training process does not answer").sentence

    def close(self, save: bool = False) -> None:
        """End the process, within seconds and for good; save: a checkpoint before that."""
        if save and self.state in ("running", "paused"):
            self._say(Quit())
            self._take_until_it_ends()
        elif self.state not in OVER:
            self._process.kill()
        self._end()
        if self.state not in OVER:
            self.state = "ended"

    def _take_until_it_ends(self) -> None:
        """Take events meanwhile, for the process may wait for room in the pipe before it saves."""
        deadline = time.monotonic() + SECONDS_TO_END
        while time.monotonic() < deadline:
            with contextlib.suppress(queue.Empty):
                event = self._events.get(timeout=SECONDS_BETWEEN_LOOKS)
                if event is None:
                    return
                self._take(event)

    def _say(self, command: Command) -> None:
        # a process that has ended says so itself
        with contextlib.suppress(OSError, ValueError):
            self._sender.send(command)

    # What has happened.

    def poll(self, most: float | None = None) -> list[Event]:
        """The events since the last time, the state brought up to date by them.

        most: leave the rest for another time after so many seconds; None takes them all
        """
        events, self._taken = self._taken, []
        end = None if most is None else time.perf_counter() + most
        while True:
            if end is not None and time.perf_counter() > end:
                return events
            try:
                event = self._events.get_nowait()
            except queue.Empty:
                return events
            if event is None:
                event = self._ended()
                if event is None:
                    return events
            self._take(event)
            events.append(event)

    def _ended(self) -> Event | None:
        """What the end of the process means: nothing where the run was over, else a failure."""
        if self.state in OVER:
            return None
        code = self._process.wait()
        self._trace.seek(0)
        trace = self._trace.read().decode("utf-8", "replace")[-LONGEST_TRACE:].strip()
        if trace:
            last = trace.splitlines()[-1]
            return Failed(f"the training process has ended by itself (code {code}): {last}")
        if code < 0:
            return Failed(f"the training process was ended from outside (signal {-code})")
        return Failed(f"the training process has ended by itself (code {code})")

    def _take(self, event: Event) -> None:
        if isinstance(event, Steps):
            for row, seconds in zip(event.rows, event.seconds, strict=True):
                self.history.add(row, seconds)
                self.step = row.step
                if row.evaluation is not None:
                    self.evaluation = row.evaluation
                    self.evaluations.append(row.evaluation)
            if len(self.evaluations) > MOST_EVALUATIONS:
                # the newest stays
                self.evaluations = self.evaluations[::-2][::-1]
        elif isinstance(event, Snapshot):
            assert self.film is not None
            self.film.add(event.step, np.frombuffer(event.flat, event.stored_as))
        elif isinstance(event, Probed):
            self.probed = event
        elif isinstance(event, Started):
            self._take_started(event)
        elif isinstance(event, Paused | Running):
            self.state = "paused" if isinstance(event, Paused) else "running"
        elif isinstance(event, RunSaved):
            self.saved_step = event.step
        elif isinstance(event, Loading):
            self.loading = event
        elif isinstance(event, Refused):
            self.sentence = event.sentence
        elif isinstance(event, Finished):
            self.state, self.step, self.card = "finished", event.step, event.card
            self._keep_last(event.step, event.parameters)
        elif isinstance(event, Failed):
            self.state, self.sentence = "failed", event.sentence
            if event.parameters:
                self.step = event.good_step
                self._keep_last(event.good_step, event.parameters)

    def _take_started(self, event: Started) -> None:
        self.started, self.state, self.step = event, "running", event.step
        width = 1 + 2 * len(event.layers)
        self.history = History(
            event.layers,
            np.frombuffer(event.steps, STORED_AS).reshape(-1, len(COLUMNS)),
            np.frombuffer(event.norms, STORED_AS).reshape(-1, width),
        )
        self.film = Film(
            self._shapes(),
            self.start.film_budget,
            self.start.film_interval,
            self.start.film_stored_as,
        )

    def _keep_last(self, step: int, parameters: bytes) -> None:
        self._parameters = np.frombuffer(parameters, np.float32)
        film = self.film
        if film is not None and (not film.frames or step > film.frames[-1].step):
            flat = self._parameters
            small = np.abs(flat).max(initial=0.0) <= np.finfo(np.float16).max
            halved = film.stored_as == "float16" and small
            film.add(step, flat.astype(np.float16) if halved else flat)

    def _shapes(self) -> Mapping[str, tuple[int, ...]]:
        assert self.started is not None
        return parameter_shapes(ModelConfig.from_dict(self.started.config))

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def is_over(self) -> bool:
        return self.state in OVER

    @property
    def total_steps(self) -> int:
        return 0 if self.started is None else self.started.total_steps

    @property
    def seconds_per_step(self) -> float | None:
        """Over the last steps, None before the second."""
        seconds = self.history.steps.column("seconds")[-STEPS_OF_A_PACE:]
        return None if len(seconds) < 2 else float(seconds[-1] - seconds[0]) / (len(seconds) - 1)

    @property
    def seconds_left(self) -> float | None:
        pace = self.seconds_per_step
        return None if pace is None else pace * (self.total_steps - self.step)

    def model(self, snapshot: int | None = None) -> Model:
        """The model of a snapshot, or as the run has left it; ValueError while there is none."""
        if self.started is None or self.film is None:
            raise ValueError("the run has not begun yet: there is no model")
        if snapshot is None and self._parameters is None:
            raise ValueError("the run is not over yet: take a snapshot of it")
        config = ModelConfig.from_dict(self.started.config)
        if snapshot is None:
            whole = Film(self._shapes(), 2**62, 1, "float32")
            assert self._parameters is not None
            whole.add(0, self._parameters)
            parameters, card = whole.snapshot(0), self.card
        else:
            parameters, card = self.film.snapshot(snapshot), {}
        card = card or self.started.card
        return Model(config, parameters, tokenizer_from_dict(self.started.tokenizer), card)

    def forget(self) -> None:
        """Remove the checkpoint of a finished run: what came of it lies elsewhere by now."""
        path = self.start.checkpoint
        is_own = self.saved_step is not None or self.start.resume == path
        if self.state == "finished" and path and is_own:
            # what cannot be removed is in nobody's way
            with contextlib.suppress(ValueError, OSError):
                remove_run(path)


def _spawn(trace: IO[bytes]) -> subprocess.Popen[bytes]:
    # -P keeps whatever lies in the current folder from being taken for a module
    command = [sys.executable, "-P", "-m", "model_core.training.worker"]
    folder = str(Path(__file__).resolve().parents[2])
    known = os.environ.get("PYTHONPATH")
    path = folder if not known else os.pathsep.join((folder, known))
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NO_WINDOW | subprocess.BELOW_NORMAL_PRIORITY_CLASS
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=trace,
        env=os.environ | {"PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"},
        creationflags=flags,
    )


def _listen(
    process: subprocess.Popen[bytes], events: queue.Queue[Event | None], closing: threading.Event
) -> None:
    """Until the process ends: put what it says into the queue, None at its end."""
    stream = cast(BinaryIO, process.stdout)
    with contextlib.suppress(OSError, ValueError):
        while (data := receive(stream)) is not None:
            _put(events, EVENTS.decode(data), closing)
    process.wait()
    _put(events, None, closing)


def _put(events: queue.Queue[Event | None], event: Event | None, closing: threading.Event) -> None:
    while not closing.is_set():
        with contextlib.suppress(queue.Full):
            return events.put(event, timeout=SECONDS_BETWEEN_LOOKS)


def _end(process: subprocess.Popen[bytes], closing: threading.Event, trace: IO[bytes]) -> None:
    """Close the pipe, at which the process ends by itself; kill it where it does not."""
    closing.set()
    with contextlib.suppress(OSError, ValueError):
        if process.stdin is not None:
            process.stdin.close()
    try:
        process.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    with contextlib.suppress(OSError, ValueError):
        if process.stdout is not None:
            process.stdout.close()
    trace.close()
