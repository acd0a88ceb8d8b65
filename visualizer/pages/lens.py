"""The logit lens over the whole run: every decoder row against every state."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from visualizer import navigation
from visualizer.i18n import tr
from visualizer.inquiries.lens import has_lens
from visualizer.lenses.caption import Caption
from visualizer.lenses.logit_lens import lens_caption, lens_grid, nothing_to_read
from visualizer.pages.base import Page
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.widgets.cell_line import CellLine
from visualizer.widgets.controls import card
from visualizer.widgets.lens_grid import LensCells

LEGEND = ("lens.legend", "lens.number", "lens.settled")
POINTER = frozenset({"hovered", "hovered_site"})


class LensPage(Page):
    """A click on a cell goes to the record that was read, at that row."""

    name = "lens"
    shows_gradients = False

    def __init__(self, store: Store, cell: CellLine, parent: QWidget | None = None) -> None:
        super().__init__(store, cell, parent)
        self.cells = LensCells()
        self.cells.set_ground("surface")
        picture, inside = card()
        inside.addWidget(self.cells)
        body = QVBoxLayout(self)
        body.setContentsMargins(0, 0, 0, 0)
        body.addWidget(picture)
        self.tools = QWidget()
        self.carriers = (self.cells,)
        self.cells.cellHovered.connect(self._on_hovered)
        self.cells.left.connect(self._on_left)
        self.cells.cellClicked.connect(self._on_clicked)

    def retranslate(self) -> None:
        self.cells.describe(tr("lens.title"))
        self.cells.set_words(*(tr(key) for key in LEGEND))

    def caption(self, state: ViewState) -> Caption | None:
        return lens_caption(state)

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        if not fields <= POINTER:
            self.cells.set_empty_text(nothing_to_read(state))
            self.cells.set_grid(lens_grid(state), waits=has_lens(state))
            self._on_left()

    def _on_hovered(self, row: int, column: int) -> None:
        grid = self.cells.grid
        assert grid is not None
        reading = grid.reading(row, column)
        name = f"{grid.row_labels[row]} · {reading.title}"
        # what a state would say is no record's cell, so it has no place in the state
        self.cell.set_cell(name, reading.says, "", "", reading.about_final, reading.place)

    def _on_left(self) -> None:
        self.cell.set_cell("", tr("lens.tip"), "", "", "", "")

    def _on_clicked(self, row: int, column: int) -> None:
        grid = self.cells.grid
        assert grid is not None
        reading = grid.reading(row, column)
        self.store.dispatch(navigation.go_to_record, reading.site, reading.row)
