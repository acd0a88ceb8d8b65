"""The classic mistakes as switches, each with what is done wrong and what comes of it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QLabel, QScrollArea, QVBoxLayout, QWidget

from visualizer import fonts
from visualizer.lenses.step_words import MISTAKES, MistakeSaid


class MistakeSwitches(QScrollArea):
    """toggled(name) when the user switches one."""

    toggled = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        em = fonts.em(self.font())
        small = fonts.scaled(self.font(), fonts.SMALL)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        lines = QWidget()
        lines.setProperty("role", "surface")
        column = QVBoxLayout(lines)
        column.setContentsMargins(0, 0, round(0.5 * em), 0)
        column.setSpacing(round(0.1 * em))
        self.rows: dict[str, tuple[QCheckBox, QLabel, QLabel]] = {}
        for name in MISTAKES:
            switch, about, effect = QCheckBox(), QLabel(), QLabel()
            for label in (about, effect):
                label.setFont(small)
                label.setWordWrap(True)
                label.setIndent(round(1.6 * em))
                column_role = "muted" if label is effect else ""
                label.setProperty("role", column_role)
            column.addWidget(switch)
            column.addWidget(about)
            column.addWidget(effect)
            column.addSpacing(round(0.5 * em))
            switch.clicked.connect(partial(self._tell, name))
            self.rows[name] = (switch, about, effect)
        column.addStretch(1)
        self.setWidget(lines)

    def set_mistakes(self, mistakes: tuple[MistakeSaid, ...]) -> None:
        for one in mistakes:
            switch, about, effect = self.rows[one.name]
            switch.setText(one.title)
            switch.setChecked(one.made)
            switch.setToolTip(f"{one.about}\n{one.effect}")
            about.setText(one.about)
            effect.setText(one.effect)

    def _tell(self, name: str, _checked: bool) -> None:
        self.toggled.emit(name)
