"""What a training step is taken on: pairs that are typed, or a training's own; what each costs."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from visualizer import step_actions
from visualizer.lenses import step_words as said
from visualizer.lenses.step_batch import batch_grid
from visualizer.lenses.step_tables import loss_table
from visualizer.pages.step_part import StepPart
from visualizer.sentences import pairs_of
from visualizer.state import ViewState
from visualizer.step_view import MOST_PAIRS, WEIGHTS
from visualizer.store import Store
from visualizer.widgets.batch_grid import BatchCells
from visualizer.widgets.pair_fields import PairFields
from visualizer.widgets.step_table import StepTable


class BatchPart(StepPart):
    """The arrow keys reach pairs that have no room."""

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(store, parent)
        self.fields, self.cells = PairFields(MOST_PAIRS), BatchCells()
        self.frame = self.carded(self.fields, self.cells)
        self.frame.layout().setStretch(1, 1)
        self.filled_column().addWidget(self.frame)
        self.cells.set_ground("surface")
        self.carriers = (self.cells,)
        dispatch, do = store.dispatch, step_actions
        self.fields.edited.connect(lambda *typed: dispatch(do.set_pair, *typed))
        self.fields.added.connect(lambda: dispatch(do.add_pair))
        self.fields.removed.connect(lambda: dispatch(do.drop_pair))
        self.fields.drawn.connect(self._on_draw)
        self.fields.seedEdited.connect(lambda seed: dispatch(do.set_seed, seed))
        self.fields.weightsChosen.connect(lambda place: dispatch(do.set_weights, WEIGHTS[place]))

    def retranslate(self) -> None:
        self.fields.retranslate()

    def draw(self, state: ViewState) -> None:
        own = step_actions.weights_of(state) == "paused"
        self.fields.set_pairs(step_actions.pairs_of(state))
        self.fields.set_weights(*said.weights_said(state))
        self.fields.set_choices(
            state.training_step.seed, pairs_of(state.model) is not None, not own
        )
        self.cells.set_grid(batch_grid(state))
        self._share_height()

    def minimumSizeHint(self) -> QSize:
        # the rows that are shown follow the height: they do not keep the window from shrinking
        least = self.fields.least_height() + self._around() + self.cells.minimumSizeHint().height()
        return QSize(super().minimumSizeHint().width(), least)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_height()

    def _share_height(self) -> None:
        """To the fields whole rows, to the tokens what is left."""
        room = self.height() - self._around()
        least = self.cells.minimumSizeHint().height()
        self.fields.fit(room - self.cells.fair_height(), room - least)

    def _around(self) -> int:
        """What the card takes around the fields and the tokens and between them."""
        inside = self.frame.layout()
        edges = inside.contentsMargins()
        return int(edges.top() + edges.bottom() + inside.spacing())

    def set_waiting(self, text: str) -> None:
        self.cells.set_empty_text(text)

    def step_table(self, by: int) -> bool:
        self.cells.move_by(by)
        return True

    def _on_draw(self) -> None:
        state = self.store.state
        draw = pairs_of(state.model)
        if draw is not None:
            pairs = draw(state.training_step.drawn, step_actions.pairs_to_draw(state))
            self.store.dispatch(step_actions.take_pairs, pairs)


class LossPart(StepPart):
    """What each position costs."""

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(store, parent)
        self.table = StepTable(3, 1)
        self.table.set_ground("surface")
        self.filled_column().addWidget(self.carded(self.table))
        self.carriers = (self.table,)

    def draw(self, state: ViewState) -> None:
        assert self.table is not None
        self.table.set_table(loss_table(state))
