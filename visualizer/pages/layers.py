"""The whole model: how long each token's residual vector is behind every sublayer."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from visualizer import navigation
from visualizer.i18n import tr
from visualizer.lenses.caption import Caption
from visualizer.lenses.flow import flow, flow_caption
from visualizer.pages.base import Page
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.widgets.cell_line import CellLine
from visualizer.widgets.controls import card
from visualizer.widgets.layer_flow import LayerFlow

POINTER = frozenset({"hovered", "hovered_site"})


class LayersPage(Page):
    name = "layers"

    def __init__(self, store: Store, cell: CellLine, parent: QWidget | None = None) -> None:
        super().__init__(store, cell, parent)
        self.flow = LayerFlow()
        picture, inside = card()
        inside.addWidget(self.flow)
        body = QVBoxLayout(self)
        body.setContentsMargins(0, 0, 0, 0)
        body.addWidget(picture)
        self.carriers = (self.flow,)
        self.flow.cellHovered.connect(self._on_hovered)
        self.flow.left.connect(self._on_left)
        self.flow.recordClicked.connect(self._on_clicked)

    def retranslate(self) -> None:
        self.flow.describe(tr("ui.stage"))

    def caption(self, state: ViewState) -> Caption | None:
        whole = flow(state)
        return None if whole is None else flow_caption(whole)

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        if not fields <= POINTER:
            self.flow.set_flow(flow(state))
            self._on_left()

    def _on_clicked(self, site: str, row: int) -> None:
        self.store.dispatch(navigation.go_to_record, site, row)

    def _on_hovered(self, name: str, reduction: str, value: str) -> None:
        # the number is no record's cell, so it has no place in the state
        self.cell.set_cell(name, reduction, "=", value, "", "")

    def _on_left(self) -> None:
        self.cell.set_cell("", tr("flow.tip"), "", "", "", "")
