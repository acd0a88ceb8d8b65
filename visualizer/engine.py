"""The engine: inputs in, runs out, computed beside the window; the newest request wins."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QThreadPool, Signal

from visualizer.beam_run import Search
from visualizer.conversation import Spoken
from visualizer.runs import Cancelled
from visualizer.state import AS_IT_IS, Choices, Inputs, ModelEntry

if TYPE_CHECKING:
    from model_core.snippets import Snippet

LONGEST_SENTENCE = 300
# What a file that is being written may keep the program from ending, in milliseconds.
LONGEST_WRITE = 60_000
# (the request's number, whether it is no longer wanted) -> a result, None for none
Work = Callable[[int, Callable[[], bool]], Any]

log = logging.getLogger(__name__)


class Lane(QObject):
    """One kind of work, one piece at a time: a new request cancels the one before it.

    `failed` has a sentence and, where the failure is the program's, its traceback.
    `done` and `failed` carry the request's number and come in the thread of the owner, only
    ever for the newest request.
    """

    done = Signal(int, object)
    failed = Signal(int, str, str)
    # emitted in the worker's thread, so that what it is connected to runs in the owner's
    _returned = Signal(int, object, str, str)

    def __init__(self, pool: QThreadPool, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = pool
        self._number = 0
        self._running = False
        self._stopped = False
        self._waiting: Work | None = None
        self._cancel = Event()
        self._returned.connect(self._take)

    def request(self, work: Work) -> int:
        """Have the work done in the worker; returns the number that its result will carry."""
        self._number += 1
        self._cancel.set()
        if not self._stopped:
            self._waiting = work
            self._start()
        return self._number

    def cancel(self) -> None:
        """What was asked for is no longer wanted."""
        self._waiting = None
        self._number += 1
        self._cancel.set()

    def stop(self) -> None:
        """Want nothing any more."""
        self._stopped = True
        self.cancel()

    @property
    def busy(self) -> bool:
        return self._running

    def is_newest(self, number: int) -> bool:
        """Whether nothing was asked for since."""
        return number == self._number

    def _start(self) -> None:
        if self._running or self._waiting is None:
            return
        work, self._waiting = self._waiting, None
        self._cancel = Event()
        self._running = True
        number, cancelled = self._number, self._cancel.is_set
        self._pool.start(lambda: self._work(number, work, cancelled))

    def _work(self, number: int, work: Work, cancelled: Callable[[], bool]) -> None:
        """Runs in the worker's thread."""
        self._returned.emit(number, *attempt(lambda: work(number, cancelled)))

    def _take(self, number: int, result: Any, sentence: str, details: str) -> None:
        self._running = False
        if number == self._number:
            if sentence:
                self.failed.emit(number, sentence, details)
            elif result is not None:
                self.done.emit(number, result)
        self._start()


class Engine(QObject):
    """Computes runs and opens models in one worker thread.

    finished(Run), failed(reason, details): the newest request for a run.
    progress(Search or Spoken): how far the beam search of the newest request has come, or the
    reply of a chat model.
    opened(ModelEntry), open_failed(file name, reason, details): the newest request for a model.
    saved(Saved), save_failed(file name, reason, details): every request to save.
    exported(Path, Snippet): every request to export; save_failed where that was not possible.
    Connect them to bound methods.
    """

    finished = Signal(object)
    failed = Signal(str, str)
    progress = Signal(object)
    opened = Signal(object)
    open_failed = Signal(str, str, str)
    saved = Signal(object)
    save_failed = Signal(str, str, str)
    exported = Signal(object, object)
    _written = Signal(str, object, str, str)
    _reported = Signal(int, object)
    # whether there was anything left to prepare
    prepared = Signal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        # a thread that expires between two key presses would be started anew by the next one
        self._pool.setExpiryTimeout(-1)
        self._runs, self._models = Lane(self._pool, self), Lane(self._pool, self)
        self._opening = ""
        self._writing = 0
        self._runs.done.connect(self._run_done)
        self._runs.failed.connect(self._run_failed)
        self._models.done.connect(self._model_opened)
        self._models.failed.connect(self._model_failed)
        self._written.connect(self._take_written)
        self._reported.connect(self._take_report)
        self._spare = Lane(self._pool, self)
        self._spare.done.connect(self._was_prepared)

    def request(self, entry: ModelEntry, inputs: Inputs) -> int:
        """Compute the run of these inputs; `finished` brings a Run with the returned number.

        What is being prepared in the worker's thread is left off: the user waits.
        """
        self._spare.cancel()
        return self._runs.request(
            lambda number, cancelled: _run().compute(
                entry, inputs, number, cancelled, partial(self._reported.emit, number)
            )
        )

    def drop_run(self) -> None:
        """The run that is under way, or waits, is no longer wanted."""
        self._runs.cancel()

    def open(self, source: str | Path, choices: Choices = AS_IT_IS) -> None:
        """Open a bundled model (a str, its name) or a checkpoint file (a Path)."""
        self._spare.cancel()
        self._opening = source.name if isinstance(source, Path) else source
        self._models.request(lambda number, cancelled: _run().open_entry(source, choices))

    def save(self, entry: ModelEntry, inputs: Inputs, path: Path) -> None:
        """Write the model; nothing that comes later cancels it, and shutdown waits for it."""
        self._writing += 1
        self._pool.start(lambda: self._save(entry, inputs, path))

    def _save(self, entry: ModelEntry, inputs: Inputs, path: Path) -> None:
        """Runs in the worker's thread."""
        self._written.emit(path.name, *attempt(lambda: _run().save_entry(entry, inputs, path)))

    def export(self, snippet: Snippet, path: Path) -> None:
        """Write the arrays that a snippet loads."""
        self._writing += 1
        self._pool.start(lambda: self._export(snippet, path))

    def _export(self, snippet: Snippet, path: Path) -> None:
        """Runs in the worker's thread."""

        def write() -> tuple[Path, Snippet]:
            snippet.save(path)
            return path, snippet

        self._written.emit(path.name, *attempt(write))

    def prepare(self, entry: ModelEntry, length: int) -> None:
        """Make ready for sentences of so many source tokens, while nothing else is wanted."""
        self._spare.request(lambda number, cancelled: entry.model.prepare(length, cancelled))

    @property
    def busy(self) -> bool:
        return self._runs.busy or self._models.busy

    def shutdown(self, milliseconds: int = 5000) -> bool:
        """Drop all work and wait for the worker; whether it has come to rest in that time."""
        self._runs.stop()
        self._models.stop()
        self._spare.stop()
        patience = LONGEST_WRITE if self._writing else milliseconds
        return bool(self._pool.waitForDone(patience))

    def _was_prepared(self, number: int, anything: bool) -> None:
        self.prepared.emit(anything)

    def _take_report(self, number: int, search: Search | Spoken) -> None:
        if self._runs.is_newest(number):
            self.progress.emit(search)

    def _run_done(self, number: int, run: object) -> None:
        self.finished.emit(run)

    def _run_failed(self, number: int, reason: str, details: str) -> None:
        self.failed.emit(reason, details)

    def _model_opened(self, number: int, entry: object) -> None:
        self.opened.emit(entry)

    def _model_failed(self, number: int, reason: str, details: str) -> None:
        self.open_failed.emit(self._opening, reason, details)

    def _take_written(self, name: str, saved: object, reason: str, details: str) -> None:
        self._writing -= 1
        if reason:
            self.save_failed.emit(name, reason, details)
        elif isinstance(saved, tuple):
            self.exported.emit(*saved)
        else:
            self.saved.emit(saved)


def _run() -> Any:
    """What the worker does; imported in its thread, so that the first frame need not wait."""
    from visualizer import run

    return run


def attempt(work: Callable[[], Any]) -> tuple[Any, str, str]:
    """What the work gives, and a sentence and details where it fails.

    The one broad except: whatever fails, the user is told.
    """
    try:
        return work(), "", ""
    except Cancelled:
        return None, "", ""
    except Exception as error:
        log.warning("a request failed", exc_info=True)
        return None, one_sentence(error), more_about(error)


def more_about(error: BaseException) -> str:
    """The traceback of an error that no file and no user is to blame for; else what is cut off."""
    if isinstance(error, ValueError | OSError | LookupError):
        text = str(error)
        return text if len(text) > LONGEST_SENTENCE else ""
    return "".join(traceback.format_exception(error))


def one_sentence(error: BaseException) -> str:
    """What an exception says, on one line and not for ever; its kind where it says nothing."""
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        from model_core.checkpoints.errors import said_of_files

        text = said_of_files(error)
    if isinstance(error, KeyError) and error.args:
        text = str(error.args[0])  # a KeyError's own text is in quotation marks
    if not text:
        return type(error).__name__
    return text if len(text) <= LONGEST_SENTENCE else text[: LONGEST_SENTENCE - 1] + "…"
