"""Has the inquiries answered: starts them when the state asks, drops what is no longer wanted."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

from PySide6.QtCore import QObject, QThreadPool, QTimer

from visualizer import actions
from visualizer.engine import Lane
from visualizer.inquiries import all_inquiries
from visualizer.inquiries.base import Inquiry
from visualizer.state import ViewState
from visualizer.store import Store


class Asking(QObject):
    """One inquiry: what it was last asked, and the lane that its work goes through."""

    def __init__(self, inquiry: Inquiry, store: Store, pool: QThreadPool, parent: QObject) -> None:
        super().__init__(parent)
        self._inquiry, self._store = inquiry, store
        self._lane = Lane(pool, self)
        self._key: Hashable | None = None
        self._quiet = QTimer(self)
        self._quiet.setSingleShot(True)
        self._quiet.setInterval(inquiry.delay)
        self._quiet.timeout.connect(self._ask)
        self._lane.done.connect(self._on_done)
        self._lane.failed.connect(self._on_failed)
        store.changed.connect(self.follow)

    def stop(self) -> None:
        """Want nothing any more."""
        self._store.changed.disconnect(self.follow)
        self._quiet.stop()
        self._lane.stop()

    def follow(self, old: ViewState, new: ViewState, fields: frozenset[str]) -> None:
        """Ask what the new state asks, in place of what was asked before."""
        key = self._inquiry.wanted(new)
        if key == self._key:
            return
        self._key = key
        self._lane.cancel()
        if key is None or key == self._inquiry.answered(new):
            self._quiet.stop()
        else:
            self._quiet.start()

    def _ask(self) -> None:
        state, key = self._store.state, self._key
        if key is None or key != self._inquiry.wanted(state):
            return
        work = self._inquiry.work(state)
        self._lane.request(lambda number, cancelled: (key, work(cancelled)))

    def _on_done(self, number: int, answer: tuple[Hashable, object]) -> None:
        key, result = answer
        if key == self._key:
            self._store.dispatch(partial(self._inquiry.answer, key=key, result=result))

    def _on_failed(self, number: int, reason: str, details: str) -> None:
        if self._key is not None:
            self._store.dispatch(partial(self._inquiry.failed, key=self._key, reason=reason))
        self._store.dispatch(actions.show_notice, "error.inquiry", "error", details, reason=reason)


class Inquirer(QObject):
    """All inquiries, one after the other in one thread beside that of the runs.

    An empty window asks nothing: they are made when anything but its size has changed.
    """

    def __init__(
        self,
        store: Store,
        inquiries: tuple[type[Inquiry], ...] | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store, self._inquiries = store, inquiries
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._pool.setExpiryTimeout(-1)
        self._asking: list[Asking] = []
        self._begun = False
        store.changed.connect(self._begin)

    def _begin(self, old: ViewState, new: ViewState, fields: frozenset[str]) -> None:
        if fields <= {"roomy"}:
            return
        self._begun = True
        self._store.changed.disconnect(self._begin)
        kinds = all_inquiries() if self._inquiries is None else self._inquiries
        self._asking = [Asking(kind(), self._store, self._pool, self) for kind in kinds]
        for asking in self._asking:
            asking.follow(old, new, fields)

    def shutdown(self, milliseconds: int = 5000) -> bool:
        """Drop all work and wait for the worker; whether it has come to rest in that time."""
        if not self._begun:
            self._begun = True
            self._store.changed.disconnect(self._begin)
        for asking in self._asking:
            asking.stop()
        self._asking = []
        return bool(self._pool.waitForDone(milliseconds))


def answer_all(store: Store, inquiries: tuple[type[Inquiry], ...] | None = None) -> None:
    """Answer here and now what the state asks, for a picture without an event loop."""
    for kind in all_inquiries() if inquiries is None else inquiries:
        inquiry = kind()
        key = inquiry.wanted(store.state)
        if key is not None and key != inquiry.answered(store.state):
            result = inquiry.work(store.state)(lambda: False)
            store.dispatch(partial(inquiry.answer, key=key, result=result))
