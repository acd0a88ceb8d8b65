"""The process that trains: takes commands from its standard input, answers with events.

When its input ends it saves the run and ends too, so that it never outlives the program that
started it, and nothing is lost when that one crashes.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable

import numpy as np

from model_core.chat import source_of
from model_core.checkpoints import CheckpointError
from model_core.checkpoints.errors import said_of_files
from model_core.free_memory import give_back
from model_core.threads import limit_blas_threads
from model_core.training.cleaning import CleaningReport
from model_core.training.guard import DivergedError
from model_core.training.lab_run import LabRun, Watching
from model_core.training.loop import Progress
from model_core.training.messages import (
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
)
from model_core.training.orders import end_in_order, listen
from model_core.training.snapshots import Schedule, StoredAs, flattened
from model_core.training.watched_pair import watched_pair

# Steps are told of in lots: a message each would cost as much as a small step.
SECONDS_BETWEEN_REPORTS = 0.05
SECONDS_BETWEEN_PROBES = 0.4
# Probing takes at most this share of the time.
SHARE_OF_PROBES = 0.1
KINDNESS = 10


class _NobodyThereError(Exception):
    """The other end of the pipe is closed."""


Send = Callable[[Event], None]


def serve(sender: Sender, commands: queue.SimpleQueue[Command]) -> None:
    """One run, from Start to Finished or Failed; every error becomes an event."""

    def send(event: Event) -> None:
        try:
            sender.send(event)
        except (OSError, ValueError):
            raise _NobodyThereError from None

    with contextlib.suppress(_NobodyThereError):
        try:
            start = commands.get()
            if isinstance(start, Start):
                Worker(start, begun(start, send), send, commands).work()
            elif not isinstance(start, Quit):
                raise ValueError("the first command is no start")
        except _NobodyThereError:
            raise
        except Exception as error:  # noqa: BLE001 (the worker tells whatever went wrong)
            send(failure(error))


def failure(error: Exception) -> Failed:
    """An error in a sentence."""
    if isinstance(error, CheckpointError):
        return Failed(str(error), error.file, f"{error.found}, expected {error.expected}")
    if isinstance(error, MemoryError):
        return Failed("there is not enough memory for this run; make it smaller")
    if isinstance(error, OSError):
        return Failed(said_of_files(error))
    if isinstance(error, ValueError | LookupError):
        return Failed(str(error))
    traceback.print_exception(error)
    return Failed(f"{type(error).__name__}: {error}")


def begun(start: Start, send: Send) -> LabRun:
    """The run that a command asks for, standing at its first step or where it was left."""

    def tell(report: CleaningReport) -> None:
        send(Loading(report.lines, report.pairs))

    watching = Watching(start.evaluate_every, start.norms_every)
    if start.save_steps < 0:
        raise ValueError(f"save_steps is {start.save_steps}, expected 0 or more")
    if not start.save_seconds >= 0:
        raise ValueError(f"save_seconds is {start.save_seconds}, expected 0 or more")
    if start.resume:
        return LabRun.resume(start.resume, watching, tell)
    if start.source is None or start.settings is None:
        raise ValueError("there is neither data with settings nor a run to go on with")
    return LabRun.begin(start.source, start.settings, watching, tell)


def announcement(run: LabRun) -> Started:
    """What whoever watches has to know of a run."""
    report = run.data.report
    model = run.model

    def fits(source: str) -> bool:
        return len(model.tokenizer.encode_source(source_of(model.card, source)).ids) <= most

    most = model.config.max_seq_len
    return Started(
        title=run.data.title,
        settings=run.settings,
        config=run.model.config.to_dict(),
        tokenizer=run.model.tokenizer.to_dict(),
        card=run.first_card(),
        step=run.step,
        total_steps=run.total_steps,
        steps_per_epoch=run.trainer.steps_per_epoch,
        n_train=len(run.prepared.train),
        n_held_out=len(run.prepared.held_out),
        too_long=run.prepared.too_long,
        report=[] if report is None else list(report.sentences()),
        left_out=[(e.kind, e.count, e.first) for e in report.left_out] if report else [],
        warning=run.warning,
        layers=list(run.history.layers),
        steps=run.history.steps.rows.tobytes(),
        norms=run.history.norms.rows.tobytes(),
        watched=watched_pair(run.data, fits),
    )


class Worker:
    """Makes the steps of a run and tells of them, as the commands have it."""

    def __init__(
        self, start: Start, run: LabRun, send: Send, commands: queue.SimpleQueue[Command]
    ) -> None:
        self._start, self._run, self._send, self._commands = start, run, send, commands
        self._rows: list[Progress] = []
        self._seconds: list[float] = []
        self._told_at = self._probe_at = 0.0
        self._saved_at = time.monotonic()
        self._go_on: Callable[[], None] | None = None
        self._once = False
        self._pictured = -1
        self._ended = threading.Event()
        self._probe = start.probe
        count = run.model.parameter_count
        self._film = Schedule(count, start.film_budget, start.film_interval, start.film_stored_as)

    def work(self) -> None:
        """Train until the run is over; where nobody is there any more, save it and end."""
        limit_blas_threads(self._run.model.config)
        try:
            self._send(announcement(self._run))
            self._picture()
            self._look_at_probe()
            if self._start.paused:
                self._pause(save=False)
            self._serve()
        except DivergedError as error:
            self._tell()
            said, kept = str(error), self._parameters()
            self._send(Failed(said, good_step=error.good_step, parameters=kept))
        except _NobodyThereError:
            if self._start.checkpoint:
                with contextlib.suppress(ValueError, OSError):
                    self._run.save_run(self._start.checkpoint)

    @property
    def _is_paused(self) -> bool:
        return self._go_on is not None

    def _serve(self) -> None:
        while not self._ended.is_set():
            # a paused run waits, a running one looks whether something was said
            if self._is_paused and not self._once:
                self._obey(self._commands.get())
            while not self._ended.is_set() and not self._commands.empty():
                self._obey(self._commands.get())
            if self._ended.is_set():
                return
            if self._run.is_finished:
                self._finish(is_whole=True)
            elif self._once or not self._is_paused:
                self._step()

    def _obey(self, command: Command) -> None:
        if isinstance(command, Pause):
            self._pause()
        elif isinstance(command, GoOn) and self._go_on is not None:
            self._go_on()
            self._go_on = None
            self._send(Running(self._run.step))
        elif isinstance(command, StepOnce):
            self._pause(save=False)
            self._once = True
        elif isinstance(command, Probe):
            self._probe, self._probe_at = command.text, 0.0
            self._look_at_probe()
        elif isinstance(command, StopAndKeep):
            self._finish(is_whole=self._run.is_finished)
        elif isinstance(command, Quit):
            self._save()
            self._ended.set()

    def _pause(self, save: bool = True) -> None:
        if self._is_paused:
            if save:
                self._save()
            return
        self._tell()
        # where it stands still it is looked at
        self._picture(wanted=True)
        self._go_on = self._run.pause()
        self._send(Paused(self._run.step))
        if save:
            self._save()

    def _step(self) -> None:
        resume_clock = None
        if self._go_on is not None:
            # the time of a single step counts, the pauses around it do not
            self._go_on()
            resume_clock = self._run.pause
        progress = self._run.advance()
        if resume_clock is not None:
            self._go_on = resume_clock()
        self._rows.append(progress)
        self._seconds.append(self._run.history.seconds)
        now = time.monotonic()
        told = self._once or progress.evaluation is not None
        if told or now - self._told_at >= SECONDS_BETWEEN_REPORTS:
            self._tell()
        self._picture(wanted=self._once)
        self._look_at_probe()
        start, once = self._start, self._once
        if once:
            self._once = False
            self._send(Paused(self._run.step))
        by_steps = start.save_steps > 0 and progress.step % start.save_steps == 0
        # a run that stands still can be looked at from its checkpoint
        if once or by_steps or now - self._saved_at >= start.save_seconds:
            self._save()

    def _tell(self) -> None:
        self._told_at = time.monotonic()
        if self._rows:
            self._send(Steps(self._rows, self._seconds))
            self._rows, self._seconds = [], []

    def _picture(self, wanted: bool = False) -> None:
        """A picture for the film, where one is due or wanted out of turn."""
        step = self._run.step
        is_due = self._film.is_due(step)
        if step == self._pictured or not (is_due or wanted):
            return
        self._pictured = step
        if is_due:
            self._film.keep(step)
        # no picture is ahead of the steps that were told
        self._tell()
        parameters = self._run.model.parameters
        flat = flattened(parameters, parameters, self._start.film_stored_as)
        stored_as: StoredAs = "float16" if flat.dtype == np.float16 else "float32"
        self._send(Snapshot(step, stored_as, flat.tobytes()))

    def _look_at_probe(self) -> None:
        """Decode the probe sentence, unless that was done just now."""
        now = time.monotonic()
        if not self._probe or (now < self._probe_at and not self._once):
            return
        model = self._run.model
        try:
            result = model.generate(self._probe)
        except ValueError as error:
            self._probe = ""
            self._send(Refused(str(error)))
            return
        layers = range(model.config.n_decoder_layers)
        sites = [f"decoder.layers.{layer}.cross_attn.weights" for layer in layers]
        attention = np.stack([result.tape[site].value[0] for site in sites]).astype(np.float32)
        self._send(
            Probed(
                step=self._run.step,
                text=self._probe,
                source_tokens=list(result.tape.source_tokens),
                output_tokens=list(result.tokens[1:]),
                output=result.text,
                log_probs=[float(value) for value in result.log_probs],
                shape=attention.shape,
                attention=attention.tobytes(),
            )
        )
        cost = time.monotonic() - now
        self._probe_at = now + max(SECONDS_BETWEEN_PROBES, cost / SHARE_OF_PROBES)

    def _save(self) -> None:
        """Write the checkpoint; a full disk is told, and training goes on."""
        self._saved_at = time.monotonic()
        path = self._start.checkpoint
        if not path:
            return
        try:
            self._run.save_run(path)
        except (ValueError, OSError) as error:
            said = said_of_files(error) if isinstance(error, OSError) else str(error)
            self._send(Refused(said))
        else:
            self._send(RunSaved(self._run.step, path))
        # several times the history, which grows from one time to the next
        give_back()

    def _finish(self, is_whole: bool) -> None:
        self._ended.set()
        self._tell()
        card = self._run.card()
        if path := self._start.checkpoint:
            # all there is of it on the disk, until whoever watches has the model in a file; where
            # it cannot be saved, that was told before, or will be of the model
            with contextlib.suppress(ValueError, OSError):
                self._run.save_run(path)
                self._send(RunSaved(self._run.step, path))
        self._send(Finished(self._run.step, is_whole, self._parameters(), card))

    def _parameters(self) -> bytes:
        parameters = self._run.model.parameters
        return flattened(parameters, parameters, "float32").tobytes()


def main() -> None:
    """Serve one run on standard input and output."""
    # whatever prints shall not end up among the messages
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    if hasattr(os, "nice"):
        os.nice(KINDNESS)
    # a Ctrl-C in a terminal is the watching program's business, and reaches this one as well
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
    told = end_in_order(commands)
    threading.Thread(target=listen, args=(sys.stdin.buffer, commands), daemon=True).start()
    serve(Sender(output), commands)
    sys.stderr.flush()
    told.end()
    # not by way of the interpreter's end, which waits for the thread that reads the input
    os._exit(0)


if __name__ == "__main__":
    main()
