"""Which of many is looked at: a number between two arrows."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from visualizer import fonts
from visualizer.theme import Theme
from visualizer.widgets.controls import push_button


class RowChoice(QWidget):
    """chosen(number) when the user goes on or back; hidden where there is but one."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.before, self.next = push_button("‹"), push_button("›")
        self.label = QLabel()
        self.label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        em = fonts.em(self.font())
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(round(0.4 * em))
        for button in (self.before, self.next):
            button.setFixedWidth(round(2.4 * em))
        row.addWidget(self.before)
        row.addWidget(self.label, 1)
        row.addWidget(self.next)
        self._current = 0
        self.before.clicked.connect(lambda: self.chosen.emit(self._current - 1))
        self.next.clicked.connect(lambda: self.chosen.emit(self._current + 1))

    def set_tips(self, before: str, following: str) -> None:
        for button, tip in ((self.before, before), (self.next, following)):
            button.setToolTip(tip)
            button.setAccessibleName(tip)

    def set_row(self, text: str, current: int, count: int) -> None:
        """text: which one it is    current: from 0"""
        self._current = current
        self.label.setText(text)
        self.before.setEnabled(current > 0)
        self.next.setEnabled(current < count - 1)
        self.setVisible(count > 1)

    def set_theme(self, theme: Theme) -> None:
        """Everything comes from the application's style sheet."""
