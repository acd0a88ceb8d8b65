"""Trains beside the window: takes the lab's orders, brings the news of the process that trains."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QLockFile, QObject, QThreadPool, QTimer

from visualizer import actions, lab_orders, lab_unfinished
from visualizer.engine import Lane, attempt
from visualizer.kept_models import kept_folder, trainings_folder
from visualizer.lab import Lab, Order, Subject
from visualizer.lab_files import FileWriter
from visualizer.lab_places import (
    RoomWatch,
    discard,
    free_place,
    locked,
    started,
    try_to_write,
    unfinished_in,
    written,
)
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
        self.folder = trainings_folder() if folder is None else folder
        self._make = make or started
        self.client: core.Training | None = None
        self._number = 0
        self._order: Order = store.state.lab.order
        self._lock: QLockFile | None = None
        self._told = 0.0
        self._wants_model = False
        self._tells = False
        # whether it was said that to close the window or to begin another one loses this one
        self._may_be_lost = False
        self._room = RoomWatch()
        # what has come since it was last told
        self._news: dict[str, Any] = {}
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK)
        self._timer.timeout.connect(self._on_look)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._search = Lane(self._pool, self)
        self._search.done.connect(self._on_found)
        self._writer = FileWriter(store, self)
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
        self._writer.wait()

    # Orders.

    def _on_changed(self, old: ViewState, new: ViewState, fields: frozenset[str]) -> None:
        if "lab" in fields and new.lab.order is not self._order:
            self._order = new.lab.order
            # not while others still draw
            QTimer.singleShot(0, self, partial(self._obey, new.lab.order, old.lab))

    def _obey(self, order: Order, before: Lab) -> None:
        if order.kind in ("start", "take_up") and not self._set_aside(order, before):
            return
        obey = getattr(self, f"_do_{order.kind}")
        obey(order)

    def _set_aside(self, order: Order, before: Lab) -> bool:
        """Save the training under way to make room for another one; whether that could be done."""
        client, training = self.client, before.training
        if client is None or training is None:
            return True
        if client.is_over:
            return self._may_be_lost or self._can_leave(client, order, before)
        went_on = client.state == "running"
        reason = client.save()
        if reason:
            self.store.dispatch(lab_unfinished.give_back, order.number, before, reason)
            if went_on:
                client.go_on()
            return False
        if client.is_over:
            # just now
            return self._can_leave(client, order, before)
        if client.saved_step is not None:
            self.store.dispatch(lab_unfinished.say_set_aside, training, client.saved_step)
        self._end(save=False)
        return True

    def _can_leave(self, client: core.Training, order: Order, before: Lab) -> bool:
        """Whether nothing is lost of a training that is over; it is said once where that is so."""
        training = before.training
        if training is None or client.state != "finished" or not lab_unfinished.is_new(training):
            return True
        entry, reason = written(client, training, kept_folder(self.folder))
        if not reason:
            self._tell_kept(entry, reason)
        elif client.start.checkpoint and client.saved_step == client.step:
            self.store.dispatch(lab_unfinished.say_set_aside, training, client.step)
        else:
            self._may_be_lost = True
            told = (order.number, before, reason, "error.unkept")
            self.store.dispatch(lab_unfinished.give_back, *told)
            return False
        return True

    def _do_start(self, order: Order) -> None:
        subject: Subject = order.value
        path, reason, _ = attempt(lambda: free_place(self.folder))
        self._begin(order, path, reason, source=subject.source, settings=subject.settings)

    def _do_take_up(self, order: Order) -> None:
        path: Path = order.value.path
        _, reason, _ = attempt(lambda: try_to_write(path.parent))
        self._begin(order, path, reason, resume=str(path))

    def _begin(self, order: Order, path: Path | None, unwritable: str, **what: Any) -> None:
        """unwritable: why the training cannot be saved at its place, "" where it can"""
        self._end(save=False)
        self._number = order.number
        self._room = RoomWatch(is_told=bool(unwritable))
        self._may_be_lost = False
        if unwritable:
            self._warn("notice.no_place", reason=unwritable)
        self._wants_model = False
        self._news = {}
        place = path if path is not None and not unwritable else None
        result, reason, details = attempt(lambda: self._started(place, what))
        if reason:
            self.store.dispatch(lab_unfinished.show_failure, order.number, reason, details)
            self._look_again()
            return
        self.client = result
        self._timer.start()
        self._look_again()

    def _started(self, path: Path | None, what: dict[str, Any]) -> core.Training:
        from model_core.training.messages import Start

        if path is None:
            return self._make(Start(**what))
        self._lock = locked(path)
        return self._make(Start(checkpoint=str(path), **what))

    def may_close(self) -> bool:
        """Save what is trained before the window goes; where that fails it is said, once."""
        client = self.client
        if client is None or self._may_be_lost:
            return True
        reason = client.save()
        if reason:
            self._may_be_lost = True
            self._warn("notice.may_be_lost", "error", reason=reason)
            return False
        if client.is_over:
            # it may have ended meanwhile, and is not opened any more
            self._wants_model = False
            self._on_look()
        return self._is_kept()

    def _is_kept(self) -> bool:
        """Whether the model of a training that is over lies in a file, after one more try."""
        training = self.store.state.lab.training
        if training is None or training.status == "failed" or not lab_orders.is_unkept(training):
            return True
        reason = self._keep()
        self._may_be_lost = bool(reason)
        if reason:
            self._warn(lab_unfinished.unkept_key(training), "error", reason=reason)
        return not reason

    def _do_pause(self, order: Order) -> None:
        if self.client is not None:
            self.client.pause()

    def _do_resume(self, order: Order) -> None:
        if self.client is not None:
            self._may_be_lost = False
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
        self._writer.save(*order.value)

    def _do_export(self, order: Order) -> None:
        if self.client is not None:
            self._writer.export(self.client.history, order.value)

    def _do_keep(self, order: Order) -> None:
        training = self.store.state.lab.training
        if training is not None and training.final is not None:
            self._keep()
            self._look_again()

    def _warn(
        self, key: str, level: Literal["warning", "error"] = "warning", **values: object
    ) -> None:
        self.store.dispatch(actions.show_notice, key, level, **values)

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
            self._look_again()

    def _take(self, kind: str, event: Any) -> None:
        from visualizer import lab_news

        if kind == "Failed":
            if self.client is not None:
                training = self.store.state.lab.training
                self._news |= lab_news.last_good(self.client, training, event)
            self._tell()
            failed = (self._number, event.sentence, "", (event.file, event.reason))
            self.store.dispatch(lab_unfinished.show_failure, *failed)
        elif kind == "Finished":
            self._news |= lab_news.finished(event)
            self._tell()
            self._may_be_lost = False
            self._keep()
        elif kind == "Refused":
            self._tell_of_mishap(event.sentence, "")
        else:
            self._news |= lab_news.news(kind, event)
            if kind == "Started" and event.warning:
                warned = {"remark": event.warning, "title": event.title}
                self.store.dispatch(actions.show_notice, "notice.remark", "warning", **warned)

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
        folder = self._room.lacking(client, self.store.state.lab.training)
        if folder is not None:
            # while something can still be done
            self._warn("notice.no_room", folder=folder)

    def _keep(self) -> str:
        """Write the model that has come of a training; where it was asked for, it is opened.

        "" or why it is in no file
        """
        client = self.client
        training = self.store.state.lab.training
        if client is None or training is None or training.number != self._number:
            return ""
        entry, reason = written(client, training, kept_folder(self.folder))
        self.store.dispatch(lab_orders.take_news, self._number, final=entry)
        # where it could not be kept it can be tried again from the lab
        if self._wants_model and not reason:
            self._wants_model = False
            self._open(entry)
        self._tell_kept(entry, reason)
        return reason

    def _tell_kept(self, entry: ModelEntry, reason: str) -> None:
        if reason:
            self._warn("error.kept", "error", reason=reason)
            return
        self.store.dispatch(actions.add_recent, str(entry.path))
        notice = self.store.state.notice
        # the lab says it too; what went wrong is said here alone
        if notice is None or notice.level == "info":
            self._note("notice.kept", file=entry.path)

    # Trainings that were interrupted.

    def _on_settled(self) -> None:
        if self.store.state.run is None and self.store.state.model is None:
            self._settling.start(SETTLED)
            return
        self._tells = True
        self._look_again()

    def _look_again(self) -> None:
        """List anew what can go on, but for what is trained here."""
        folder, client = self.folder, self.client
        here = client is not None and not client.is_over
        without = (client.start.checkpoint,) if client is not None and here else ()
        self._search.request(lambda number, cancelled: unfinished_in(folder, without))

    def _on_found(self, number: int, found: Any) -> None:
        here = "" if self.client is None or self.client.is_over else self.client.start.checkpoint
        tells, self._tells = self._tells and not here, False
        # what was begun meanwhile is no longer to be gone on with
        left = tuple(entry for entry in found if str(entry.path) != here)
        self.store.dispatch(lab_unfinished.list_unfinished, left, tells)

    def _do_discard(self, order: Order) -> None:
        _, reason, details = attempt(lambda: discard(order.value))
        self._tell_of_mishap(reason, details)
        self._look_again()

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
