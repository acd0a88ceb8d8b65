"""How long a training step may be, and what Adam makes of it for one weight."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from visualizer import step_actions
from visualizer.i18n import tr
from visualizer.inquiries.step import shown_step
from visualizer.lenses import step_tables as tables
from visualizer.lenses import step_words as said
from visualizer.lenses.backward import ALL_SHARES
from visualizer.lenses.step_cells import weight_gradient
from visualizer.lenses.step_change import loss_change
from visualizer.lenses.step_choice import chosen_parameter
from visualizer.lenses.step_clipping import clipping_formulas
from visualizer.lenses.step_pictures import weight_notes, weight_pictures
from visualizer.lenses.step_settings import clipping_settings, update_settings
from visualizer.pages.step_part import StepPart
from visualizer.pages.zoom import zoom_words
from visualizer.state import Cell, ViewState
from visualizer.store import Store
from visualizer.widgets.cell_line import CellLine
from visualizer.widgets.column_area import ColumnArea
from visualizer.widgets.controls import SectionHead, card
from visualizer.widgets.heatmap import HeatMap
from visualizer.widgets.loss_change import LossNumbers, LossReason
from visualizer.widgets.setting_line import SettingLine
from visualizer.widgets.step_pictures import NormBars
from visualizer.widgets.step_table import StepTable
from visualizer.widgets.update_formulas import UpdateFormulas

CHANGES = ("before", "update", "after")
# So many formulas the clipping has.
CLIPPING = 3
# Shares of the width: the parameters, and what becomes of one of them.
SHARES = 27, 73


class ClippingPart(StepPart):
    """All gradients as one vector, and what each parameter adds to its length."""

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(store, parent)
        self.bars, self.table = NormBars(), StepTable()
        self.settings, self.formulas = SettingLine(), UpdateFormulas(CLIPPING)
        canvases = (self.bars, self.settings, self.formulas, self.table)
        for canvas in canvases:
            canvas.set_ground("surface")
        self.filled_column().addWidget(self.carded(*canvases))
        self.carriers = canvases
        self.table.rowClicked.connect(self.look_at_weight)

    def retranslate(self) -> None:
        self.formulas.describe(tr("step.clipping.formulas"))

    def step_table(self, by: int) -> bool:
        """A line leads to another stage, so that the keys only scroll."""
        assert self.table is not None
        self.table.scroll(by)
        return True

    def draw(self, state: ViewState) -> None:
        assert self.table is not None
        words = tr("step.norm.before"), tr("step.norm.after"), tr("step.norm.most")
        self.bars.set_norms(tables.norms(state), words)
        self.settings.set_settings(clipping_settings(state), tr("step.settings"))
        self.formulas.set_formulas(clipping_formulas(state))
        self.table.set_table(tables.norms_table(state))


class AdamPart(StepPart):
    """The way of one weight, and the loss that all of them together lead to."""

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(store, parent)
        self.table, self.loss, self.why = StepTable(), LossNumbers(), LossReason()
        self.settings = SettingLine()
        self.weight, self.formulas = SectionHead(), UpdateFormulas()
        self.gradient = CellLine()
        self.heads = tuple(SectionHead() for _ in CHANGES)
        self.changes = tuple(HeatMap() for _ in CHANGES)
        column = self.filled_column()
        column.addWidget(self.settings)
        row = QHBoxLayout()
        row.setSpacing(round(0.6 * self.em))
        column.addLayout(row, 1)
        left = QVBoxLayout()
        left.setSpacing(round(0.5 * self.em))
        left.addWidget(self.carded(self.table), 1)
        left.addWidget(self.carded(self.loss, self.why))
        row.addLayout(left, SHARES[0])
        # without room for the formulas and the pictures the one is scrolled to from the other
        self.column, inner = ColumnArea(), QWidget()
        inner.setProperty("role", "page")
        self.column.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        right = QVBoxLayout(inner)
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(round(0.5 * self.em))
        upper, inside = self._low_card()
        inside.setSpacing(0)
        inside.addWidget(self.weight)
        inside.addWidget(self.gradient)
        inside.addWidget(self.formulas)
        right.addWidget(upper)
        lower, inside = self._low_card()
        pictures = QHBoxLayout()
        pictures.setSpacing(round(self.em))
        for head, heatmap in zip(self.heads, self.changes, strict=True):
            column = QVBoxLayout()
            column.setSpacing(0)
            column.addWidget(head)
            column.addWidget(heatmap, 1)
            pictures.addLayout(column, 1)
        inside.addLayout(pictures)
        right.addWidget(lower, 1)
        self.column.setWidget(inner)
        row.addWidget(self.column, SHARES[1])
        words = (
            self.table,
            self.loss,
            self.why,
            self.weight,
            self.gradient,
            self.formulas,
            *self.heads,
        )
        for canvas in words:
            canvas.set_ground("surface")
        self.settings.set_ground("page")
        self.carriers = (self.settings, self.table, self.loss, self.formulas, *self.changes)
        self.table.rowClicked.connect(
            lambda name: store.dispatch(step_actions.look_at_parameter, name)
        )
        self.gradient.linkClicked.connect(self.follow)
        self.gradient.shareClicked.connect(self._spell_out)
        for heatmap in self.changes:
            heatmap.cellClicked.connect(self._on_weight)
            heatmap.cellHovered.connect(lambda row, column: self._tell((row, column)))
            heatmap.left.connect(self._tell)

    def _low_card(self) -> tuple[QWidget, QVBoxLayout]:
        """A card that leaves the height to the formulas and the pictures."""
        frame, inside = card(self)
        edge = round(0.5 * self.em)
        inside.setContentsMargins(round(0.8 * self.em), edge, round(0.8 * self.em), edge)
        return frame, inside

    def retranslate(self) -> None:
        self.formulas.describe(tr("step.formulas"))
        for heatmap, name in zip(self.changes, CHANGES, strict=True):
            heatmap.describe(tr(f"step.weight_{name}"))
            heatmap.set_zoom_words(zoom_words())

    def set_waiting(self, text: str) -> None:
        super().set_waiting(text)
        for heatmap in self.changes:
            heatmap.set_empty_text(text)

    def draw(self, state: ViewState) -> None:
        assert self.table is not None
        self.table.set_table(tables.parameters_table(state))
        change = loss_change(state)
        self.loss.set_change(change)
        self.why.set_reason("" if change is None else change.why)
        self.settings.set_settings(update_settings(state), tr("step.settings"))
        self.weight.set_texts(tr("step.weight"), said.weight_name(state))
        self._spell_out()
        self.formulas.set_formulas(said.update_formulas(state))
        pictures = weight_pictures(state)
        for number, heatmap in enumerate(self.changes):
            picture = None if pictures is None else pictures[number]
            heatmap.set_matrix(picture)
            if picture is not None:
                heatmap.set_selected((picture.current_row or 0, picture.current_column or 0))
        self._tell(next((h.hovered for h in self.changes if h.hovered is not None), None))

    def _spell_out(self, share: int = ALL_SHARES) -> None:
        """Where the gradient of the weight comes from: all of it, or one of its parts."""
        told = weight_gradient(self.store.state, None if share == ALL_SHARES else share)
        if told is None:
            self.gradient.clear()
        else:
            full = tr("hover.exact", value=told.exact)
            self.gradient.set_lines(told.name, told.lines, full, "")

    def _tell(self, cell: Cell | None = None) -> None:
        """The number of a cell before the step, its update, and after; without one the scales."""
        notes = weight_notes(self.store.state, cell)
        for head, name, note in zip(self.heads, CHANGES, notes, strict=True):
            head.set_texts(tr(f"step.weight_{name}"), note)

    def _on_weight(self, row: int, column: int) -> None:
        state, matrix = self.store.state, self.changes[0].matrix
        step = shown_step(state)
        if matrix is None or matrix.cell_index is None or step is None:
            return
        name = chosen_parameter(state, step)
        self.store.dispatch(step_actions.look_at_parameter, name, matrix.cell_index(row, column))
