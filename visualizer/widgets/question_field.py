"""The field in which a question is typed: Enter sends it, Esc is for whoever has the field."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget

from visualizer.widgets.sentence_field import SentenceField

_SCROLLS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class QuestionField(SentenceField):
    """sent() on Enter, escaped() on Esc, scrolled(lines) on the arrows up and down.

    What an input method composes is left alone: its keys are its own. Ctrl+Z takes back what was
    typed; where there is nothing to take back it is the window's.
    """

    sent = Signal()
    escaped = Signal()
    scrolled = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.removeEventFilter(self.undo_outside)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            keys = QKeySequence.StandardKey
            nothing = (event.matches(keys.Undo) and not self.isUndoAvailable()) or (
                event.matches(keys.Redo) and not self.isRedoAvailable()
            )
            if nothing:
                event.ignore()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if self.composing:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.sent.emit()
        elif key == Qt.Key.Key_Escape:
            self.escaped.emit()
        elif key in _SCROLLS:
            self.scrolled.emit(_SCROLLS[key])
        else:
            super().keyPressEvent(event)
