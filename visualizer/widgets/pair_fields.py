"""The pairs that a step is taken on: fields to type in, and what else decides the step."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from visualizer import fonts
from visualizer.i18n import tr
from visualizer.widgets.controls import Choice, SeedBox, push_button

# In parts of the font's size: between the fields of a pair, between pairs.
BESIDE, BELOW = 0.8, 0.35
# So many pairs have room beside tokens that are scrolled; the others are scrolled to.
MOST_SHOWN = 3


class PairFields(QWidget):
    """edited(number, side, text), added(), removed(), drawn(), seedEdited(seed),
    weightsChosen(place): what the user does."""

    edited = Signal(int, int, str)
    added = Signal()
    removed = Signal()
    drawn = Signal()
    seedEdited = Signal(int)
    weightsChosen = Signal(int)

    def __init__(self, most: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        em = fonts.em(self.font())
        self.heads = (QLabel(self), QLabel(self))
        self.rows = tuple((QLineEdit(self), QLineEdit(self)) for _ in range(most))
        self._count, self._rooms = 0, (0.0, 0.0)
        self.add, self.remove, self.draw_pairs = (push_button() for _ in range(3))
        self.weights, self.seed, self.seed_label = Choice(self), SeedBox(self), QLabel(self)
        # between its least and its own height a row of fields would be cut
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(round(0.6 * em))
        heads = QHBoxLayout()
        heads.setSpacing(round(BESIDE * em))
        for head in self.heads:
            head.setProperty("role", "muted")
            heads.addWidget(head, 1)
        column.addLayout(heads)
        column.addWidget(self._made_rows(em))
        row = QHBoxLayout()
        row.setSpacing(round(0.5 * em))
        for button in (self.draw_pairs, self.add, self.remove):
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(self.weights)
        row.addSpacing(round(0.8 * em))
        row.addWidget(self.seed_label)
        row.addWidget(self.seed)
        column.addLayout(row)
        self.add.clicked.connect(self.added)
        self.remove.clicked.connect(self.removed)
        self.draw_pairs.clicked.connect(self.drawn)
        self.seed.edited.connect(self.seedEdited)
        self.weights.chosen.connect(self.weightsChosen)

    def _made_rows(self, em: float) -> QWidget:
        """The fields, which are scrolled where there are many."""
        self.scrolled = QScrollArea(self)
        self.scrolled.setWidgetResizable(True)
        self.scrolled.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scrolled.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.scrolled.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        inside = QWidget()
        inside.setProperty("role", "surface")
        grid = QGridLayout(inside)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(round(BESIDE * em))
        grid.setVerticalSpacing(round(BELOW * em))
        for number, fields in enumerate(self.rows):
            for side, field in enumerate(fields):
                grid.addWidget(field, number, side)
                grid.setColumnStretch(side, 1)
                field.textEdited.connect(partial(self.edited.emit, number, side))
        grid.setRowStretch(len(self.rows), 1)
        self.scrolled.setWidget(inside)
        self.scrolled.verticalScrollBar().valueChanged.connect(self._show_whole_rows)
        return self.scrolled

    def fit(self, fair: float, least: float) -> None:
        """Show as many whole rows as there is room for.

        fair: the height that is left where the tokens of the batch have a fair share
        least: the same where they have the least that they need; then there are at most
        MOST_SHOWN rows
        """
        self._rooms = fair, least
        self._fit_rows()

    def rows_shown(self) -> int:
        """How many pairs are seen at a time."""
        beside = self.sizeHint().height() - self.scrolled.height()
        step = self._row_height() + self._gap()
        fair, least = (int((room - beside + self._gap()) // step) for room in self._rooms)
        return min(max(fair, min(least, MOST_SHOWN), 1), self._count)

    def least_height(self) -> int:
        """The height with one row."""
        taken = self.scrolled.height() if self._count else 0
        return self.sizeHint().height() - taken + min(self._count, 1) * self._row_height()

    def _row_height(self) -> int:
        return self.rows[0][0].sizeHint().height()

    def _gap(self) -> int:
        return round(BELOW * fonts.em(self.font()))

    def _fit_rows(self) -> None:
        self.scrolled.setVisible(self._count > 0)
        if not self._count:
            return
        shown = self.rows_shown()
        self.scrolled.setFixedHeight(shown * (self._row_height() + self._gap()) - self._gap())
        self.scrolled.verticalScrollBar().setSingleStep(self._row_height() + self._gap())

    def _show_whole_rows(self, value: int) -> None:
        step = self._row_height() + self._gap()
        self.scrolled.verticalScrollBar().setValue(round(value / step) * step)

    def retranslate(self) -> None:
        for head, key in zip(self.heads, ("source", "target"), strict=True):
            head.setText(tr(f"step.{key}"))
        for fields in self.rows:
            for field, key in zip(fields, ("source", "target"), strict=True):
                field.setAccessibleName(tr(f"step.{key}"))
        self.add.setText(tr("step.add"))
        self.remove.setText(tr("step.remove"))
        self.draw_pairs.setText(tr("step.draw"))
        self.draw_pairs.setToolTip(tr("step.draw.tip"))
        self.seed_label.setText(tr("step.seed"))
        self.seed.setToolTip(tr("step.seed.tip"))
        self.weights.setToolTip(tr("step.weights.tip"))

    def set_pairs(self, pairs: tuple[tuple[str, str], ...]) -> None:
        for number, fields in enumerate(self.rows):
            shown = number < len(pairs)
            for side, field in enumerate(fields):
                field.setVisible(shown)
                if shown and field.text() != pairs[number][side]:
                    field.setText(pairs[number][side])
                    field.setCursorPosition(0)
        self._count = len(pairs)
        self._fit_rows()
        self.add.setEnabled(0 < len(pairs) < len(self.rows))
        self.remove.setEnabled(len(pairs) > 1)

    def set_weights(self, names: tuple[str, ...], chosen: int, last: bool) -> None:
        """names: of the weights that there are    last: whether the last ones can be chosen"""
        self.weights.set_options(names, chosen)
        self.weights.set_enabled(tuple(True for _ in names[:-1]) + (last,))

    def set_choices(self, seed: int, draws: bool, typed: bool) -> None:
        """draws: whether the model's task has a generator    typed: whether the pairs are typed"""
        self.seed.set_value(seed)
        for widget in (*self.heads, self.add, self.remove, self.seed, self.seed_label):
            widget.setVisible(typed)
        self.draw_pairs.setVisible(draws and typed)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter leaves a field, and does not reach the stage."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.focusNextChild()
        else:
            super().keyPressEvent(event)
