"""Trains beside the window: takes the lab's orders, brings the news of the process that trains."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs
from PySide6.QtCore import QLockFile, QObject, QThreadPool, QTimer

from visualizer import actions, lab_orders
from visualizer.engine import Lane, attempt
from visualizer.i18n import tr
from visualizer.lab import Order, Subject, Training
from visualizer.state import ModelEntry, ViewState
from visualizer.store import Store

if TYPE_CHECKING:
    from model_core.training import lab as core

# Milliseconds: between two looks at the process, and the longest that one may take.
LOOK, SLICE = 50, 5
# The least time between two drawings, in seconds.
PAUSE = 0.1
# An interrupted training is offered once the window stands, in milliseconds.
SETTLED = 1500


def default_folder() -> Path:
    """The user's own folder for trainings: those that can go on, and the models that were kept."""
    return platformdirs.user_data_path("glassformer") / "trainings"


class Laboratory(QObject):
    """The one training of a window.

    make: starts a process, as the core's `Training` does
    """

    def __init__(
        self,
        store: Store,
        folder: Path | None = None,
        make: Callable[[Any], core.Training] | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.store = store
        self.folder = default_folder() if folder is None else folder
        self._make = make or started
        self.client: core.Training | None = None
        self._number = 0
        self._order: Order = store.state.lab.order
        self._lock: QLockFile | None = None
        self._told = 0.0
        self._wants_model = False
        # what has come since it was last told
        self._news: dict[str, Any] = {}
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK)
        self._timer.timeout.connect(self._on_look)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._search = Lane(self._pool, self)
        self._search.done.connect(self._on_found)
        store.changed.connect(self._on_changed)
        self._settling = QTimer(self)
        self._settling.setSingleShot(True)
        self._settling.timeout.connect(self._on_settled)

    def look_for_unfinished(self) -> None:
        """Offer a training that was interrupted, once there is time to look for one."""
        self._settling.start(SETTLED)

    def shutdown(self) -> None:
        """Save what is trained, so that it can go on, and end its process."""
        self._timer.stop()
        self._settling.stop()
        self._search.stop()
        self.store.changed.disconnect(self._on_changed)
        self._end(save=True)
        self._pool.waitForDone(5000)

    # Orders.

    def _on_changed(self, old: ViewState, new: ViewState, fields: frozenset[str]) -> None:
        if "lab" in fields and new.lab.order is not self._order:
            self._order = new.lab.order
            # not while others still draw
            QTimer.singleShot(0, self, partial(self._obey, new.lab.order))

    def _obey(self, order: Order) -> None:
        obey = getattr(self, f"_do_{order.kind}")
        obey(order)

    def _do_start(self, order: Order) -> None:
        subject: Subject = order.value
        from model_core.training.messages import Start

        path, reason, details = attempt(self._free_place)
        if path is None:
            self.store.dispatch(lab_orders.show_failure, order.number, reason, details)
            return
        self._begin(order, path, source=subject.source, settings=subject.settings, cls=Start)

    def _do_take_up(self, order: Order) -> None:
        from model_core.training.messages import Start

        self._begin(order, order.value.path, resume=str(order.value.path), cls=Start)

    def _begin(self, order: Order, path: Path, cls: Callable[..., Any], **what: Any) -> None:
        self._end(save=True)
        self._number = order.number
        self._wants_model = False
        self._news = {}
        result, reason, details = attempt(lambda: self._started(path, cls, what))
        if reason:
            self.store.dispatch(lab_orders.show_failure, order.number, reason, details)
            return
        self.client = result
        self._timer.start()

    def _started(self, path: Path, cls: Callable[..., Any], what: dict[str, Any]) -> core.Training:
        path.parent.mkdir(parents=True, exist_ok=True)
        if is_locked(path):
            raise OSError(f"{path.name} is being trained in another window")
        self._lock = locked(path)
        return self._make(cls(checkpoint=str(path), **what))

    def _do_pause(self, order: Order) -> None:
        if self.client is not None:
            self.client.pause()

    def _do_resume(self, order: Order) -> None:
        if self.client is not None:
            self.client.go_on()

    def _do_one_batch(self, order: Order) -> None:
        if self.client is not None:
            self.client.step_once()

    def _do_stop(self, order: Order) -> None:
        if self.client is not None:
            self._wants_model = True
            self.client.stop_and_keep()

    def _do_open(self, order: Order) -> None:
        from visualizer.lab_film import entry_at

        training = self.store.state.lab.training
        if training is None:
            return
        entry, reason, details = attempt(lambda: entry_at(training, order.value))
        self._tell_of_mishap(reason, details)
        if entry is not None:
            self._open(entry)

    def _open(self, entry: ModelEntry) -> None:
        self.store.dispatch(lab_orders.open_model, entry, self.store.state.lab.probe)

    def _do_save(self, order: Order) -> None:
        from visualizer.lab_film import entry_at
        from visualizer.run import save_entry

        training = self.store.state.lab.training
        assert training is not None
        step, path = order.value

        def write() -> Any:
            return save_entry(entry_at(training, step), self.store.state.inputs, path)

        saved, reason, details = attempt(write)
        self._tell_of_mishap(reason, details)
        if saved is not None:
            self.store.dispatch(actions.add_recent, str(path))
            self._note("notice.written", file=path.name)

    def _do_export(self, order: Order) -> None:
        path: Path = order.value
        client = self.client
        if client is None:
            return
        text = client.history.csv()
        written, reason, details = attempt(lambda: path.write_text(text, encoding="utf-8"))
        self._tell_of_mishap(reason, details)
        if written is not None:
            self._note("notice.written", file=path.name)

    def _note(self, key: str, **values: object) -> None:
        self.store.dispatch(actions.show_notice, key, "info", **values)

    def _tell_of_mishap(self, reason: str, details: str) -> None:
        if reason:
            self.store.dispatch(actions.show_notice, "error.lab", "error", details, reason=reason)

    # News.

    def _on_look(self) -> None:
        client = self.client
        if client is None:
            self._timer.stop()
            return
        for event in client.poll(SLICE / 1000):
            self._take(type(event).__name__, event)
        if client.is_over or time.monotonic() - self._told >= PAUSE:
            self._tell()
        if client.is_over:
            self._timer.stop()
            self._release()

    def _take(self, kind: str, event: Any) -> None:
        from visualizer import lab_news

        if kind == "Failed":
            self._news |= self._last_good(event)
            self._tell()
            self.store.dispatch(lab_orders.show_failure, self._number, event.sentence, "")
            self._settling.start(SETTLED)
            if event.file:
                told = {"file": event.file, "reason": event.reason}
                self.store.dispatch(actions.show_notice, "error.pairs", "error", **told)
        elif kind == "Finished":
            self._news |= lab_news.finished(event)
            self._tell()
            self._keep(event.is_whole)
        elif kind == "Refused":
            self._tell_of_mishap(event.sentence, "")
        else:
            self._news |= lab_news.news(kind, event)
            if kind == "Started" and event.warning:
                warned = {"remark": event.warning, "name": event.title}
                self.store.dispatch(actions.show_notice, "notice.remark", "warning", **warned)

    def _last_good(self, event: Any) -> dict[str, Any]:
        """The model as it was before a training came to nothing, where there is one."""
        from visualizer.lab_film import name_of

        training, client = self.store.state.lab.training, self.client
        if not event.parameters or training is None or client is None:
            return {}
        title = tr("lab.snapshot", name=name_of(training), step=f"{event.good_step:,}")
        return {"final": ModelEntry(client.model(), title)}

    def _tell(self) -> None:
        """One change of the state for all that has come."""
        from visualizer import lab_news

        client, self._told = self.client, time.monotonic()
        if client is None:
            return
        values = self._news | lab_news.standing(client)
        self._news = {}
        if values:
            self.store.dispatch(lab_orders.take_news, self._number, **values)

    def _keep(self, is_whole: bool) -> None:
        """Write the model that has come of a training; where it was asked for, it is opened."""
        client = self.client
        training = self.store.state.lab.training
        if client is None or training is None or training.number != self._number:
            return
        entry, reason, details = attempt(lambda: kept(client, training, self.folder / "kept"))
        self._tell_of_mishap(reason, details)
        if entry is None:
            return
        final = {"final": entry}
        self.store.dispatch(lab_orders.take_news, self._number, **final)
        if self._wants_model:
            self._open(entry)
        if entry.path is not None:
            self.store.dispatch(actions.add_recent, str(entry.path))
            self._note("notice.kept", file=entry.path)

    # Trainings that were interrupted.

    def _on_settled(self) -> None:
        if self.store.state.run is None and self.store.state.model is None:
            self._settling.start(SETTLED)
            return
        folder = self.folder
        self._search.request(lambda number, cancelled: newest_unfinished(folder))

    def _on_found(self, number: int, unfinished: Any) -> None:
        if self.client is None or self.client.is_over:
            self.store.dispatch(lab_orders.offer, unfinished)

    def _do_discard(self, order: Order) -> None:
        from model_core.training.resume import remove_run

        path = order.value.path
        _, reason, details = attempt(lambda: remove_run(path))
        self._tell_of_mishap(reason, details)
        self._on_settled()

    def _free_place(self) -> Path:
        """Where a new training is saved: beside those that can still go on."""
        self.folder.mkdir(parents=True, exist_ok=True)
        number = 1
        while (path := self.folder / f"training-{number}.safetensors").exists() or is_locked(path):
            number += 1
        return path

    # The end.

    def _end(self, save: bool) -> None:
        client, self.client = self.client, None
        if client is not None:
            client.close(save=save and not client.is_over)
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.unlock()
            self._lock = None


def started(start: Any) -> core.Training:
    """The core's own process."""
    from model_core.training.lab import Training as Client

    return Client(start)


def kept(client: core.Training, training: Training, folder: Path) -> ModelEntry:
    """The model of a training that is over, written under a name of its own."""
    from visualizer.lab_film import name_of
    from visualizer.lenses.lab_words import plain
    from visualizer.run import save_entry
    from visualizer.state import Inputs

    model, stem = client.model(), plain(training.subject.title)
    folder.mkdir(parents=True, exist_ok=True)
    number, path = 1, folder / f"{stem}.safetensors"
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}.safetensors"
    entry = ModelEntry(model, name_of(training), path)
    save_entry(entry, Inputs(), path)
    return entry


def locked(path: Path) -> QLockFile | None:
    """The mark that a program trains there; None where it cannot be set."""
    lock = QLockFile(f"{path}.lock")
    lock.setStaleLockTime(0)
    return lock if lock.tryLock(0) else None


def is_locked(path: Path) -> bool:
    """Whether a program that runs trains there."""
    lock = QLockFile(f"{path}.lock")
    lock.setStaleLockTime(0)
    if lock.tryLock(0):
        lock.unlock()
        return False
    # where nothing can be written nobody trains
    return lock.error() == QLockFile.LockError.LockFailedError


def newest_unfinished(folder: Path) -> Any:
    """The training that was interrupted last; None where there is none that can go on."""
    from visualizer.lab_news import unfinished_at

    files = sorted(
        folder.glob("training-*.safetensors"), key=lambda p: p.stat().st_mtime, reverse=True
    )
    free = (path for path in files if not is_locked(path))
    return next((found for path in free if (found := unfinished_at(path))), None)
