"""What the stages of the training step share: their store, their table, how they are framed."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from model_core.ops.base import Origin
from visualizer import actions, fonts, step_actions
from visualizer.i18n import tr
from visualizer.inquiries.step import shown_step
from visualizer.lenses.step_choice import chosen_parameter, destination, weight_look
from visualizer.lenses.step_text import matrix_text, picture_name, stage_text
from visualizer.lenses.step_words import step_caption
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.widgets.canvas import Canvas
from visualizer.widgets.controls import card, push_button
from visualizer.widgets.heatmap import HeatMap
from visualizer.widgets.step_table import StepTable


class StepPart(QWidget):
    """One or two of the stages.

    table: the one that the arrow keys go through    carriers: see pages.base.Page
    """

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.store = store
        self.em = fonts.em(self.font())
        self.table: StepTable | None = None
        self.carriers: tuple[Canvas, ...] = ()

    def carded(self, *widgets: QWidget) -> QWidget:
        """The widgets below each other on a surface of their own."""
        frame, inside = card(self)
        for widget in widgets:
            inside.addWidget(widget)
        return frame

    def filled_row(self) -> QHBoxLayout:
        """The whole part as one row."""
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(round(0.6 * self.em))
        return row

    def filled_column(self) -> QVBoxLayout:
        """The whole part as one column."""
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(round(0.5 * self.em))
        return column

    def step_table(self, by: int) -> bool:
        """Go up or down, as the arrow keys do; whether there is anything to go through."""
        if self.table is None:
            return False
        self.table.step(by)
        return True

    def follow(self, origin: Origin) -> None:
        """To the record, the gradient or the weight that a number was read from."""
        state = self.store.state
        step = shown_step(state)
        there = None if step is None else destination(state, step, origin)
        if there is not None:
            self.store.dispatch(step_actions.follow, *there)

    def look_at_weight(self, name: str, cell: tuple[int, ...] | None = None) -> None:
        """To the update of a weight, with a way back; None for the one of the largest gradient."""
        state = self.store.state
        step = shown_step(state)
        if step is not None:
            self.store.dispatch(step_actions.follow, weight_look(state, step, name, cell))

    def copied(self, whole: bool) -> str:
        """As text with tabs: the picture under the pointer, else the table of the stage.

        whole: the picture that is told of, without a pointer too    empty where there is no step
        """
        state = self.store.state
        step, heatmap = shown_step(state), self.pointed_picture(whole)
        if step is None or heatmap is None or heatmap.matrix is None:
            return stage_text(state)
        name = picture_name(heatmap.matrix, self.pictured(state), heatmap.accessibleName())
        text = matrix_text(heatmap.matrix, name)
        if not text:
            rows, columns = heatmap.matrix.values.shape
            size = f"{rows * columns:,}"
            self.store.dispatch(actions.show_notice, "notice.copied.too_many", "error", n=size)
        return text

    def pointed_picture(self, whole: bool) -> HeatMap | None:
        """The picture that is meant where something is copied."""
        return next((h for h in self.findChildren(HeatMap) if h.hovered is not None), None)

    def pictured(self, state: ViewState) -> str:
        """The name of the record or the weight whose pictures are on show."""
        step = shown_step(state)
        return "" if step is None else chosen_parameter(state, step)

    def retranslate(self) -> None:
        """Read the words that do not depend on the state anew."""

    def set_waiting(self, text: str) -> None:
        """What stands in the place of a step that is not there."""
        if self.table is not None:
            self.table.set_empty_text(text)

    def draw(self, state: ViewState) -> None:
        """Show the state; only ever called while the part is on show."""
        raise NotImplementedError


class FailedPart(StepPart):
    """In the place of a stage whose step could not be taken: why, and a button to try again."""

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(store, parent)
        self.words, self.button = QLabel(), push_button(kind="primary")
        self.words.setWordWrap(True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        frame, inside = card(self)
        inside.addStretch(1)
        inside.addWidget(self.words)
        inside.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        inside.addStretch(1)
        self.filled_column().addWidget(frame)
        self.button.clicked.connect(lambda: store.dispatch(step_actions.take_again))

    def retranslate(self) -> None:
        self.button.setText(tr("step.again"))

    def draw(self, state: ViewState) -> None:
        caption = step_caption(state)
        self.words.setText("" if caption is None else caption.sentence)
