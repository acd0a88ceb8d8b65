"""One training step under the glass: its batch, then stage by stage what becomes of it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from visualizer import step_actions
from visualizer.inquiries.step import can_try_again
from visualizer.lenses import step_words as said
from visualizer.lenses.caption import Caption
from visualizer.lenses.step_whose import whose_step
from visualizer.pages.base import Page
from visualizer.pages.step_batch import BatchPart, LossPart
from visualizer.pages.step_check import CheckPart, MistakesPart
from visualizer.pages.step_part import FailedPart, StepPart
from visualizer.pages.step_tape import BackwardPart, ForwardPart
from visualizer.pages.step_update import AdamPart, ClippingPart
from visualizer.state import ViewState
from visualizer.step_view import STAGES, StageName
from visualizer.store import Store
from visualizer.widgets.cell_line import CellLine
from visualizer.widgets.controls import Choice
from visualizer.widgets.quiet_line import QuietLine

WATCHED = frozenset(
    {"training_step", "glass", "step_check", "mistake_run", "run", "model", "head", "lab"}
    | {"language", "count_from", "decimals_chosen", "page"}
)
MADE: dict[StageName, type[StepPart]] = {
    "batch": BatchPart,
    "forward": ForwardPart,
    "loss": LossPart,
    "backward": BackwardPart,
    "clipping": ClippingPart,
    "adam": AdamPart,
    "check": CheckPart,
    "mistakes": MistakesPart,
}
# What decides the step stays within reach where it cannot be taken.
ALWAYS: tuple[StageName, ...] = ("batch", "mistakes")


class StepPage(Page):
    """The arrow keys up and down go through the table of the stage, Backspace back along links."""

    name = "step"
    shows_cell = False
    shows_gradients = False
    hides_right = True
    word_lines = 1
    ahead = frozenset({"lab"})
    words_ahead = True

    def __init__(self, store: Store, cell: CellLine, parent: QWidget | None = None) -> None:
        super().__init__(store, cell, parent)
        self.stages = Choice(self)
        self.tools = self.stages
        self.whose = QuietLine()
        self.whose.set_ground("page")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(round(0.35 * self.em))
        column.addWidget(self.whose)
        self.stack = QStackedLayout()
        column.addLayout(self.stack, 1)
        self.parts: dict[StageName, StepPart] = {}
        self._standing: object = None
        for stage in STAGES:
            self.parts[stage] = MADE[stage](store, self)
            self.stack.addWidget(self.parts[stage])
        self.failed = FailedPart(store, self)
        self.stack.addWidget(self.failed)
        self.carriers = tuple(c for part in self.parts.values() for c in part.carriers)
        self.stages.chosen.connect(
            lambda place: store.dispatch(step_actions.show_stage, STAGES[place])
        )
        for stage, look in (
            ("forward", step_actions.look_at_record),
            ("backward", step_actions.look_at_site),
        ):
            table = self.parts[stage].table
            assert table is not None
            table.rowClicked.connect(lambda site, look=look: store.dispatch(look, site))

    def caption(self, state: ViewState) -> Caption | None:
        return said.step_caption(state)

    def tail(self, state: ViewState, caption: Caption) -> tuple[str, ...]:
        return ()

    def retranslate(self) -> None:
        for part in (*self.parts.values(), self.failed):
            part.retranslate()

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        # while a training goes on the lab has news all the time
        standing = step_actions.weights_of(state), step_actions.paused_training(state)
        if not fields & WATCHED or (fields <= {"lab"} and standing == self._standing):
            return
        self._standing = standing
        stage = state.training_step.stage
        self.whose.set_words(*whose_step(state))
        self.stages.set_options(said.stage_titles(state), STAGES.index(stage))
        self.stages.set_terms({STAGES.index("check"): "gradient_check"})
        if can_try_again(state) and stage not in ALWAYS:
            self.failed.draw(state)
            self.stack.setCurrentWidget(self.failed)
            return
        self.stack.setCurrentWidget(self.parts[stage])
        self.parts[stage].set_waiting(said.waiting(state))
        self.parts[stage].draw(state)

    def copied(self, whole: bool) -> str:
        """The table of the stage, or the picture under the pointer."""
        part = self.stack.currentWidget()
        return part.copied(whole) if isinstance(part, StepPart) else ""

    def take_key(self, event: QKeyEvent) -> bool:
        """The arrow keys go through the table of the stage, Backspace back to where one was."""
        view = self.store.state.training_step
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Backspace and view.trail:
            self.store.dispatch(step_actions.go_back)
            return True
        by = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(key)
        return by is not None and self.parts[view.stage].step_table(by)
