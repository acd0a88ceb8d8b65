"""Asking about a word: what opens the glossary over a window, and at which entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QCursor
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from visualizer import glossary
from visualizer.panels.base import COLOURS
from visualizer.state import ViewState, shown_site
from visualizer.store import Store
from visualizer.theme import theme_of
from visualizer.widgets.glossary_link import GlossaryBus, term_under

if TYPE_CHECKING:
    from visualizer.widgets.glossary_sheet import GlossarySheet


class Asking(QObject):
    """A click on a word, a right click on a thing, F2: each opens the sheet.

    left() when it is closed and what had the keys before is gone, or nothing had them.

    The sheet is made when it is opened: it has the language, the colours and the size of type of
    that moment.
    """

    left = Signal()

    def __init__(self, window: QWidget, store: Store) -> None:
        super().__init__(window)
        self._window, self._store = window, store
        self.sheet: GlossarySheet | None = None
        self._before: QWidget | None = None
        self.bus = GlossaryBus(window)
        self.bus.wanted.connect(self.open)
        window.installEventFilter(self)
        store.changed.connect(self._on_changed)

    def open(self, term: str) -> None:
        """The sheet at an entry, in place of one that is open."""
        from visualizer.widgets.glossary_sheet import GlossarySheet

        if self.sheet is None:
            self._before = QApplication.focusWidget()
        self._put_away()
        self.sheet = GlossarySheet(self._window, theme_of(self._store.state))
        self.sheet.closed.connect(self._on_closed)
        self.sheet.open(term)

    def toggle(self) -> None:
        """F2: at what is under the pointer, else at the record on show; once more closes it."""
        if self.sheet is not None:
            self.sheet.close_sheet()
            return
        place = QCursor.pos()
        below = QApplication.widgetAt(place)
        pointed = below is not None and below.window() is self._window
        self.open((term_under(below, place) if pointed else "") or self._here())

    def open_here(self) -> None:
        """At the record on show, for the menu."""
        self.open(self._here())

    def renew(self) -> None:
        """The window has been filled anew, or looks another way: so does an open sheet."""
        if self.sheet is not None:
            self.open(self.sheet.shown)

    def _here(self) -> str:
        site = shown_site(self._store.state)
        return "" if site is None else glossary.entry_of_site(site)

    def _put_away(self) -> None:
        if self.sheet is not None:
            self.sheet.hide()
            # it keeps its parent: only Qt may delete it (see Workspace.retire)
            self.sheet.deleteLater()
            self.sheet = None

    def _on_closed(self) -> None:
        self._put_away()
        before, self._before = self._before, None
        if before is not None and isValid(before) and before.isVisible():
            before.setFocus(Qt.FocusReason.PopupFocusReason)
        else:
            self.left.emit()

    def _on_changed(self, old: ViewState, new: ViewState, fields: frozenset[str]) -> None:
        if fields & (COLOURS | {"language"}):
            self.renew()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A right click that nothing inside the window has taken."""
        if isinstance(event, QContextMenuEvent) and event.type() == QEvent.Type.ContextMenu:
            place = event.globalPos()
            term = term_under(QApplication.widgetAt(place), place)
            if term and self.sheet is None:
                self.open(term)
                return True
        return False
