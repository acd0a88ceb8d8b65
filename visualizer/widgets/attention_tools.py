"""Above all attention: linked or as an overview at the left, what is shown of it at the right."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from visualizer import fonts
from visualizer.widgets.canvas import Plain
from visualizer.widgets.op_chips import OpChips


class Chips(OpChips):
    """Chips that take the lines they need, and no more."""

    def heightForWidth(self, width: int) -> int:
        return round(self._height(max(len(self._lines(width)), 1)))


class AttentionTools(Plain):
    """viewChosen(0: linked, 1: the overview) and chosen(i), for a chip at the right."""

    viewChosen = Signal(int)
    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_ground("page")
        self.views, self.choices = Chips(), Chips()
        self.choices.set_align_right(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(round(fonts.em(self.font())))
        row.addWidget(self.views, 2)
        row.addWidget(self.choices, 3)
        for chips in (self.views, self.choices):
            chips.set_ground("page")
        self.views.chosen.connect(self.viewChosen)
        self.choices.chosen.connect(self.chosen)
