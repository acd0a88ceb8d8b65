"""A parameter: the learned numbers to which a link has led, or their gradients."""

from __future__ import annotations

from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from visualizer import actions
from visualizer.i18n import tr
from visualizer.lenses.caption import Caption
from visualizer.lenses.parameter import (
    ParameterPicture,
    parameter_caption,
    parameter_cell,
    parameter_picture,
)
from visualizer.pages.base import Page
from visualizer.pages.zoom import zoom_words
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.widgets.cell_line import CellLine
from visualizer.widgets.controls import card
from visualizer.widgets.heatmap import HeatMap

POINTER = frozenset({"hovered", "hovered_site", "share", "audit", "difference"})


class ParameterPage(Page):
    name = "parameter"

    def __init__(self, store: Store, cell: CellLine, parent: QWidget | None = None) -> None:
        super().__init__(store, cell, parent)
        self.heatmap = HeatMap()
        self.picture: ParameterPicture | None = None
        surface, inside = card()
        inside.addWidget(self.heatmap)
        body = QVBoxLayout(self)
        body.setContentsMargins(0, 0, 0, 0)
        body.addWidget(surface)
        self.carriers = (self.heatmap,)
        self.heatmap.cellHovered.connect(self._on_hovered)
        self.heatmap.left.connect(self._on_left)
        self.heatmap.cellClicked.connect(self._on_clicked)

    def retranslate(self) -> None:
        self.heatmap.describe(tr("ui.stage"))
        self.heatmap.set_zoom_words(zoom_words())

    def caption(self, state: ViewState) -> Caption | None:
        return parameter_caption(state)

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        if not fields <= POINTER:
            picture = parameter_picture(state)
            self.picture = picture
            self.heatmap.set_matrix(None if picture is None else picture.matrix)
            if picture is not None and "parameter" in fields:
                self.heatmap.show_cell(*picture.cell)
        self._draw_cell(state)

    def _draw_cell(self, state: ViewState) -> None:
        picture = self.picture
        if picture is None:
            self.cell.clear()
            return
        rows, columns = picture.matrix.values.shape
        hovered = state.hovered
        if hovered is None:
            self.heatmap.set_selected(picture.cell)
        elif not (hovered[0] < rows and hovered[1] < columns):
            hovered = None
        name, lines, full, place = parameter_cell(state, picture, hovered or picture.cell)
        self.cell.set_lines(name, lines, tr("hover.exact", value=full), place)

    def take_key(self, event: QKeyEvent) -> bool:
        """Whether the key was used."""
        return self.heatmap.take_key(event)

    def _on_hovered(self, row: int, column: int) -> None:
        self.store.dispatch(actions.hover_cell, (row, column))

    def _on_left(self) -> None:
        self.store.dispatch(actions.hover_cell, None)

    def _on_clicked(self, row: int, column: int) -> None:
        self.store.dispatch(actions.select_cell, (row, column))
