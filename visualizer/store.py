"""The store: holds the one ViewState, takes actions, says once per action what has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from PySide6.QtCore import QObject, Signal

from visualizer.actions import restore_inputs
from visualizer.drawing import drawing
from visualizer.state import Inputs, ViewState, changed_fields

LONGEST_HISTORY = 200
# What a person does between two edits; after one of these the next edit is an undo step of its own.
_SEALS = frozenset({"cursor", "head", "selected", "editing", "playing"})
# Moving a sampling control switches sampling on, and typing lets the model decode again.
_CONSEQUENCES = frozenset({"strategy", "target", "prefix", "pinned"})
# Each of these is one click, so that two of them in a row are two steps.
_CLICKS = frozenset({"prefix", "pinned"})
# A question that is asked, and one that is gone back to, are steps of their own as well.
_WHOLE = frozenset({"conversation", "page"})


class Store(QObject):
    """`changed(old, new, fields)` is emitted once per dispatch that changes anything.

    Undo keeps inputs, not runs: the run of earlier inputs is computed anew. Edits of one field
    in a row (typing, dragging a slider) are one step.
    """

    changed = Signal(object, object, object)

    def __init__(self, state: ViewState | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = ViewState() if state is None else state
        self._drawing = 0
        self._undo: list[Inputs] = []
        self._redo: list[Inputs] = []
        self._last_edit: frozenset[str] = frozenset()

    @property
    def state(self) -> ViewState:
        return self._state

    def dispatch(self, action: Callable[..., ViewState], *args: Any, **values: Any) -> ViewState:
        """Swap the state for `action(state, ...)`; RuntimeError while a panel draws."""
        if self._drawing:
            name = getattr(action, "__name__", repr(action))
            raise RuntimeError(f"{name} was dispatched while drawing: only a user's input may act")
        old = self._state
        new = action(old, *args, **values)
        changes = changed_fields(old, new)
        if not changes:
            return old
        self._remember(old, new, changes)
        self._swap(old, new, changes)
        return new

    @contextmanager
    def drawing(self) -> Iterator[ViewState]:
        """Around a draw outside `changed`: hands out the state, and no dispatch gets through."""
        self._drawing += 1
        try:
            with drawing():
                yield self._state
        finally:
            self._drawing -= 1

    @property
    def can_undo(self) -> bool:
        return bool(self._undo)

    @property
    def can_redo(self) -> bool:
        return bool(self._redo)

    def undo(self) -> None:
        """Back to the inputs before the last edit."""
        self._restore(self._undo, self._redo)

    def redo(self) -> None:
        """Forward again to the inputs that undo left."""
        self._restore(self._redo, self._undo)

    def abandon(self) -> None:
        """Take back the edit that is being made, as if it had never been begun."""
        if self._undo and self._last_edit:
            old, new = self._state, restore_inputs(self._state, self._undo.pop())
            self._last_edit = frozenset()
            self._swap(old, new, changed_fields(old, new))

    def _restore(self, taken: list[Inputs], given: list[Inputs]) -> None:
        if not taken:
            return
        old = self._state
        new = restore_inputs(old, taken[-1])
        if self._drawing:
            raise RuntimeError("undo was called while drawing: only a user's input may act")
        given.append(old.inputs)
        taken.pop()
        self._last_edit = frozenset()
        self._swap(old, new, changed_fields(old, new))

    def _swap(self, old: ViewState, new: ViewState, changes: frozenset[str]) -> None:
        self._state = new
        if changes:
            with self.drawing():
                self.changed.emit(old, new, changes)

    def _remember(self, old: ViewState, new: ViewState, changes: frozenset[str]) -> None:
        if "model" in changes:
            # another model reads other words: its history starts here
            self._undo.clear()
            self._redo.clear()
            self._last_edit = frozenset()
        elif "inputs" in changes:
            edit = _edited(old.inputs, new.inputs)
            whole = bool(changes & _WHOLE)
            if whole or edit != self._last_edit or edit & _CLICKS:
                self._undo.append(old.inputs)
                del self._undo[:-LONGEST_HISTORY]
            self._last_edit = frozenset() if whole else edit
            self._redo.clear()
        elif "run" not in changes and changes & _SEALS:
            self._last_edit = frozenset()


def _edited(old: Inputs, new: Inputs) -> frozenset[str]:
    """The fields that a person edited; what follows of itself does not make another edit of it."""
    edited = frozenset(
        entry.name
        for entry in fields(Inputs)
        if getattr(old, entry.name) != getattr(new, entry.name)
    )
    if "target" in edited and not edited - _CONSEQUENCES:
        # typed, letter by letter, what was forced before is given up with the first one; a target
        # that is given up is a step
        return frozenset({"target" if new.target is not None else "prefix"})
    return edited - _CONSEQUENCES or edited
