"""Whether the gradients of a training step are right, and what is wrong with classic mistakes."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from visualizer import step_actions
from visualizer.i18n import tr
from visualizer.inquiries.step import current_step, is_trying
from visualizer.lenses import step_words as said
from visualizer.lenses.step_check import check_said, checked_cell
from visualizer.lenses.step_tables import check_table
from visualizer.pages.step_part import StepPart
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.widgets.controls import card, push_button
from visualizer.widgets.mistake_switches import MistakeSwitches
from visualizer.widgets.step_pictures import LossCurves
from visualizer.widgets.step_table import StepTable
from visualizer.widgets.text_block import TextBlock

# Shares of the width: the mistakes, and the losses with and without them.
SHARES = 55, 45


class CheckPart(StepPart):
    """Every parameter against finite differences, once asked for; a line leads to the weight."""

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(store, parent)
        self.table, self.words = StepTable(), TextBlock(1)
        self.button = push_button(kind="primary")
        frame, inside = card(self)
        row = QHBoxLayout()
        row.addWidget(self.words, 1)
        row.addWidget(self.button)
        inside.addLayout(row)
        inside.addWidget(self.table, 1)
        self.filled_column().addWidget(frame)
        for canvas in (self.table, self.words):
            canvas.set_ground("surface")
        self.carriers = (self.table,)
        self.button.clicked.connect(self._on_check)
        self.table.rowClicked.connect(
            lambda name: self.look_at_weight(name, checked_cell(store.state, name))
        )

    def step_table(self, by: int) -> bool:
        """A line leads to another stage, so that the keys only scroll."""
        assert self.table is not None
        self.table.scroll(by)
        return True

    def draw(self, state: ViewState) -> None:
        assert self.table is not None
        going = state.training_step.checking
        self.table.set_table(check_table(state))
        self.words.set_sentences(check_said(state))
        self.button.setText(tr("step.check.stop" if going else "step.check.button"))
        self.button.setEnabled(going or current_step(state) is not None)

    def _on_check(self) -> None:
        view = self.store.state.training_step
        self.store.dispatch(step_actions.set_checking, not view.checking)


class MistakesPart(StepPart):
    """Mistakes to be made on purpose, and two trainings with and without them."""

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(store, parent)
        self.switches, self.curves = MistakeSwitches(), LossCurves()
        self.button = push_button(kind="primary")
        row = self.filled_row()
        row.addWidget(self.carded(self.switches), SHARES[0])
        right, inside = card(self)
        inside.addWidget(self.curves, 1)
        inside.addWidget(self.button, 0, Qt.AlignmentFlag.AlignRight)
        row.addWidget(right, SHARES[1])
        self.curves.set_ground("surface")
        self.carriers = (self.curves,)
        self.switches.toggled.connect(
            lambda name: store.dispatch(step_actions.toggle_mistake, name)
        )
        self.button.clicked.connect(self._on_train)

    def draw(self, state: ViewState) -> None:
        view = state.training_step
        self.switches.set_mistakes(said.mistakes_said(state))
        empty = tr("step.curve.none" if view.mistakes else "step.curve.choose")
        self.curves.set_curves(said.loss_curves(state), empty)
        going = is_trying(state)
        self.button.setText(tr("step.train.stop" if going else "step.train.button"))
        self.button.setEnabled(bool(view.mistakes))

    def _on_train(self) -> None:
        self.store.dispatch(step_actions.set_trying, not is_trying(self.store.state))
