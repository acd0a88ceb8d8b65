"""The classic mistakes as switches, each with what is done wrong and what comes of it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QLabel, QScrollArea, QVBoxLayout, QWidget

from visualizer import fonts
from visualizer.lenses.step_words import MISTAKES, MistakeSaid
from visualizer.theme import LIGHT, Theme
from visualizer.widgets.canvas import box, ink


class Switch(QCheckBox):
    """A check box drawn as a switch, its words behind it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        em = fonts.em(self.font())
        words = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(round(words + 3.0 * em), round(1.6 * em))

    def hitButton(self, pos: object) -> bool:
        """The words belong to it."""
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        em, theme, on = fonts.em(self.font()), self._theme, self.isChecked()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        track = QRectF(0.5, (self.height() - em) / 2, 1.9 * em, em)
        fill = theme.accent_fill if on else theme.sunken
        border = theme.accent if on or self.hasFocus() else theme.muted
        box(painter, track, fill, border, em / 2, 2.0 if self.hasFocus() else 1.0)
        left = track.right() - em + 0.2 * em if on else track.left() + 0.2 * em
        knob = QRectF(left, track.top() + 0.2 * em, 0.6 * em, 0.6 * em)
        box(painter, knob, theme.on_accent if on else theme.muted, None, 0.3 * em)
        painter.setPen(ink(theme.text))
        room = QRectF(2.5 * em, 0, self.width() - 2.5 * em, self.height())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, self.text())
        painter.end()


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
            switch, about, effect = Switch(), QLabel(), QLabel()
            for label in (about, effect):
                label.setFont(small)
                label.setWordWrap(True)
                label.setIndent(round(2.5 * em))
            effect.setProperty("role", "muted")
            column.addWidget(switch)
            column.addWidget(about)
            column.addWidget(effect)
            column.addSpacing(round(0.5 * em))
            switch.clicked.connect(partial(self.toggled.emit, name))
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
