"""The records of a training step: a list, the picture of one, the arithmetic of its cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QWidget

from visualizer import actions, step_actions
from visualizer.i18n import tr
from visualizer.inquiries.step import shown_step
from visualizer.lenses import step_cells, step_pictures, step_tables
from visualizer.lenses.picture import Matrix
from visualizer.lenses.step_choice import (
    chosen_record,
    chosen_sentence,
    chosen_site,
    heads_of,
)
from visualizer.lenses.step_padding import is_padding, with_padding
from visualizer.pages.step_part import StepPart
from visualizer.pages.zoom import zoom_words
from visualizer.state import Cell, ViewState
from visualizer.store import Store
from visualizer.widgets.cell_line import CellLine
from visualizer.widgets.controls import Choice, card
from visualizer.widgets.heatmap import HeatMap
from visualizer.widgets.row_choice import RowChoice
from visualizer.widgets.step_table import StepTable

if TYPE_CHECKING:
    from model_core.training.step import GlassStep

# The table's share of a stage with a picture beside it.
TABLE, PICTURE = 34, 66


class TapePart(StepPart):
    """The pointer tells of a cell, a click keeps to it, so that its links can be reached."""

    # what the picture shows, for a screen reader
    shown = "step.value"

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(store, parent)
        self.table = StepTable()
        self.heatmap, self.cell = HeatMap(), CellLine()
        self.sentence, self.head = RowChoice(), RowChoice()
        # the cell that is told of, and which part of its gradient is spelled out
        self._told: Cell = (0, 0)
        self._share: int | None = None
        column, em = self.filled_column(), self.em
        row = QHBoxLayout()
        row.setSpacing(round(0.6 * em))
        frame = self.carded(*self.above(), self.table)
        which = QHBoxLayout()
        which.setSpacing(round(1.4 * em))
        which.addWidget(self.sentence, 1)
        which.addWidget(self.head, 1)
        frame.layout().addLayout(which)
        row.addWidget(frame, TABLE)
        row.addWidget(self.carded(self.heatmap), PICTURE)
        column.addLayout(row, 1)
        lower, inside = card(self)
        edge = round(0.5 * em)
        inside.setContentsMargins(round(0.8 * em), edge, round(0.8 * em), edge)
        inside.addWidget(self.cell)
        column.addWidget(lower)
        for canvas in (self.table, self.cell):
            canvas.set_ground("surface")
        self.carriers = (self.table, self.heatmap)
        dispatch, do = store.dispatch, step_actions
        self.sentence.chosen.connect(lambda place: dispatch(do.look_at_sentence, place))
        self.head.chosen.connect(lambda place: dispatch(actions.select_head, place))
        self.heatmap.cellHovered.connect(lambda row, column: self._tell((row, column)))
        self.heatmap.left.connect(self._on_left)
        self.heatmap.cellClicked.connect(self._on_hold)
        self.cell.linkClicked.connect(self.follow)
        self.cell.shareClicked.connect(self._on_share)

    def above(self) -> tuple[QWidget, ...]:
        """What stands above the table."""
        return ()

    def table_of(self, state: ViewState) -> step_tables.Table | None:
        raise NotImplementedError

    def site_of(self, state: ViewState, step: GlassStep) -> str:
        """The record that the picture is of."""
        raise NotImplementedError

    def picture_of(self, state: ViewState) -> Matrix | None:
        raise NotImplementedError

    def said_of(
        self, state: ViewState, cell: Cell, share: int | None
    ) -> step_cells.CellSaid | None:
        raise NotImplementedError

    def retranslate(self) -> None:
        self.heatmap.describe(tr(self.shown))
        self.heatmap.set_zoom_words(zoom_words())
        self.heatmap.set_hidden_legend(tr("ui.masked"))
        self.sentence.set_tips(tr("step.sentence.before"), tr("step.sentence.next"))
        self.head.set_tips(tr("step.head.before"), tr("step.head.next"))

    def set_waiting(self, text: str) -> None:
        super().set_waiting(text)
        self.heatmap.set_empty_text(text)

    def draw(self, state: ViewState) -> None:
        assert self.table is not None
        step = shown_step(state)
        self.table.set_table(self.table_of(state))
        if step is None:
            self.heatmap.set_matrix(None)
            self.sentence.hide()
            self.head.hide()
            self.cell.clear()
            return
        site = self.site_of(state, step)
        self.heatmap.set_matrix(with_padding(state, site, self.picture_of(state)))
        count, here = len(step.batch.source_ids), chosen_sentence(state, step)
        values = {"n": here + state.count_from, "all": count}
        self.sentence.set_row(tr("step.sentence.of", **values), here, count)
        self._draw_head(state, step, site)
        self.heatmap.set_selected(self._held(state))
        self._tell(self._start(state))

    def _draw_head(self, state: ViewState, step: GlassStep, site: str) -> None:
        """Which head the picture is of, where the record has several."""
        policy = self.head.sizePolicy()
        # so that the table does not jump while the keys go through it
        policy.setRetainSizeWhenHidden(step.model.config.n_heads > 1)
        self.head.setSizePolicy(policy)
        count = heads_of(step, site)
        here = min(state.head, count - 1)
        text = tr("step.head.of", n=here + state.count_from, all=count)
        self.head.set_row(text, here, count)

    def _held(self, state: ViewState) -> Cell | None:
        matrix = self.heatmap.matrix
        spot = state.training_step.spot
        return None if matrix is None else step_cells.held_cell(matrix, spot)

    def _start(self, state: ViewState) -> Cell | None:
        """The cell that is held on to, else the one there is most to be seen of."""
        matrix = self.heatmap.matrix
        if matrix is None:
            return None
        return self._held(state) or step_cells.first_cell(matrix)

    def _tell(self, cell: Cell | None, share: int | None = None) -> None:
        if cell is None:
            self.cell.clear()
            return
        self._told, self._share = cell, share
        told = self.said_of(self.store.state, cell, share)
        if told is not None:
            full = tr("hover.exact", value=told.exact) if told.exact else ""
            matrix, place = self.heatmap.matrix, told.place
            if matrix is not None and is_padding(matrix, cell):
                place = f"{place} · {tr('step.batch.padding')}"
            self.cell.set_lines(told.name, told.lines, full, place)

    def pointed_picture(self, whole: bool) -> HeatMap | None:
        """The picture is meant as well where one of its cells is held on to."""
        if self.table is not None and self.table.underMouse():
            return self.heatmap if whole else None
        held = self._held(self.store.state) is not None
        return self.heatmap if whole or held else super().pointed_picture(whole)

    def pictured(self, state: ViewState) -> str:
        step = shown_step(state)
        return "" if step is None else self.site_of(state, step)

    # What the user does.

    def _on_left(self) -> None:
        held = self._held(self.store.state)
        if held is not None:
            self._tell(held)

    def _on_hold(self, row: int, column: int) -> None:
        matrix = self.heatmap.matrix
        if matrix is None or matrix.cell_index is None:
            return
        spot = matrix.cell_index(row, column)
        again = spot == self.store.state.training_step.spot
        self.store.dispatch(step_actions.hold, None if again else spot)

    def _on_share(self, share: int) -> None:
        self._tell(self._told, share if share >= 0 else None)


class ForwardPart(TapePart):
    """The values of the pass, dropout masks among them."""

    def above(self) -> tuple[QWidget, ...]:
        self.kinds = Choice()
        self.kinds.chosen.connect(
            lambda place: self.store.dispatch(step_actions.list_masks_alone, bool(place))
        )
        return (self.kinds,)

    def draw(self, state: ViewState) -> None:
        step = shown_step(state)
        self.kinds.setVisible(step is None or bool(step.dropout_sites))
        kinds = tr("step.all_records"), tr("step.masks_alone")
        self.kinds.set_options(kinds, int(state.training_step.masks_alone))
        super().draw(state)

    def table_of(self, state: ViewState) -> step_tables.Table | None:
        return step_tables.records_table(state)

    def site_of(self, state: ViewState, step: GlassStep) -> str:
        return chosen_record(state, step)

    def picture_of(self, state: ViewState) -> Matrix | None:
        return step_pictures.record_picture(state)

    def said_of(
        self, state: ViewState, cell: Cell, share: int | None
    ) -> step_cells.CellSaid | None:
        return step_cells.record_cell(state, cell)


class BackwardPart(TapePart):
    """The gradients from the loss back."""

    shown = "step.gradient"

    def table_of(self, state: ViewState) -> step_tables.Table | None:
        return step_tables.gradients_table(state)

    def site_of(self, state: ViewState, step: GlassStep) -> str:
        return chosen_site(state, step)

    def picture_of(self, state: ViewState) -> Matrix | None:
        return step_pictures.gradient_picture(state)

    def said_of(
        self, state: ViewState, cell: Cell, share: int | None
    ) -> step_cells.CellSaid | None:
        return step_cells.gradient_cell(state, cell, share)
