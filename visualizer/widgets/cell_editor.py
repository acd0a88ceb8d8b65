"""A small field over one cell of the heatmap, in which its number is typed."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from visualizer import fonts
from visualizer.drawing import is_drawing
from visualizer.lenses.numbers import read_number
from visualizer.theme import Theme

Cell = tuple[int, int]
# What leaves the field: the key, and the way to the cell that is looked at next.
LEAVING: dict[Qt.Key, Cell] = {
    Qt.Key.Key_Return: (0, 0),
    Qt.Key.Key_Enter: (0, 0),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_Tab: (0, 1),
    Qt.Key.Key_Backtab: (0, -1),
}
ARROWS: dict[Qt.Key, Cell] = {
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
}
BEGINNINGS = "0123456789+-−.,"


class CellEditor(QLineEdit):
    """changed(cell, value) with each number that is typed, refused(text) of what is none.

    left(way) when it closes: Enter, an arrow up or down and Tab, or a click elsewhere.
    cancelled() where the old number is wanted back: Esc, or no number and a click elsewhere.
    """

    changed = Signal(object, float)
    cancelled = Signal()
    refused = Signal(str)
    left = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("kind", "cell")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setMaxLength(40)
        self.cell: Cell | None = None
        self.textEdited.connect(self._on_edited)
        self.hide()

    def open(self, cell: Cell, place: QRectF, number: str, typed: str = "") -> None:
        """Over `place`, with the number selected, or with what was typed in its stead."""
        self.cell = cell
        self.follow(place)
        self.setText(typed or number)
        if not typed:
            self.selectAll()
        self.show()
        self.raise_()
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        if typed:
            self._on_edited(typed)

    def follow(self, place: QRectF) -> None:
        """The cell lies there now."""
        em = fonts.em(self.font())
        width, height = round(max(place.width(), 6 * em)), round(max(place.height(), 2.2 * em))
        self.resize(width, min(height, round(2.6 * em)))
        centre = place.center()
        left = min(max(round(centre.x() - width / 2), 0), self.parentWidget().width() - width)
        self.move(left, round(centre.y() - self.height() / 2))

    def cancel(self) -> None:
        """Leave the number as it was."""
        if self.cell is not None:
            self.forget()
            self.cancelled.emit()

    def forget(self) -> None:
        """The cell is no longer on show: close without a word."""
        self.cell = None
        if self.hasFocus():
            # else Qt would give the keys to whatever comes next
            self.parentWidget().setFocus(Qt.FocusReason.OtherFocusReason)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Everything comes from the application's style sheet."""

    def _on_edited(self, text: str) -> None:
        value = read_number(text)
        if value is not None and self.cell is not None:
            self.changed.emit(self.cell, value)

    def _take(self, way: Cell) -> None:
        """Close; what is no number stays, and is said."""
        if read_number(self.text()) is None:
            self.refused.emit(self.text())
            self.selectAll()
        else:
            self.forget()
            self.left.emit(way)

    def event(self, event: QEvent) -> bool:
        # Qt would move the focus by Tab before keyPressEvent
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            key = Qt.Key(event.key())
            if key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
                self._take(LEAVING[key])
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Escape:
            self.cancel()
        elif key in LEAVING:
            self._take(LEAVING[key])
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self.cell is None or event.reason() == Qt.FocusReason.ActiveWindowFocusReason:
            return
        if is_drawing():
            # something else takes the stage: every number that was typed is in already
            self.forget()
        elif read_number(self.text()) is None:
            self.cancel()
        else:
            self._take((0, 0))


def beginning(event: QKeyEvent) -> str | None:
    """What the field opens with: "" for Enter and F2, a sign or digit that was typed, or None."""
    if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2):
        return ""
    held = event.modifiers() & ~(
        Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier
    )
    text = event.text()
    plain = held == Qt.KeyboardModifier.NoModifier
    return text if plain and len(text) == 1 and text in BEGINNINGS else None


def arrow(event: QKeyEvent) -> Cell | None:
    """The way that a plain arrow key shows, in rows and columns."""
    held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    return ARROWS.get(Qt.Key(event.key())) if held == Qt.KeyboardModifier.NoModifier else None
