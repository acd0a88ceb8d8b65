"""A field for one sentence that is taken as a whole: with Enter, or when the field is left."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

# The keys go elsewhere for a moment, and come back.
PASSING = (
    Qt.FocusReason.PopupFocusReason,
    Qt.FocusReason.ActiveWindowFocusReason,
    Qt.FocusReason.MenuBarFocusReason,
)


class ProbeField(QLineEdit):
    """taken(text) for what was typed; givenUp() on Esc, which brings back what was there before.

    Neither key goes any further: what lies around the field has uses of its own for them.
    """

    taken = Signal(str)
    givenUp = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.current = ""
        self.setProperty("kind", "target")

    @property
    def is_edited(self) -> bool:
        """Whether something else is typed than what is in use."""
        return self.hasFocus() and self.text() != self.current

    def set_current(self, text: str) -> None:
        """What is in use; it does not take the place of what is being typed."""
        was_it = self.text() == self.current
        self.current = text
        if self.text() != text and (was_it or not self.hasFocus()):
            self.setText(text)
            self.setCursorPosition(0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.taken.emit(self.text())
        elif event.key() == Qt.Key.Key_Escape:
            self.setText(self.current)
            self.givenUp.emit()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() not in PASSING and self.text() != self.current:
            self.taken.emit(self.text())
