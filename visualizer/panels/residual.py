"""Right, on top: the residual stream and LayerNorm of the layer at the cursor."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from visualizer import actions, fonts, navigation
from visualizer.i18n import tr
from visualizer.lenses.layer import layer_rows
from visualizer.navigation import walks_back
from visualizer.panels.base import Panel
from visualizer.state import ViewState, current_tape
from visualizer.store import Store
from visualizer.widgets.controls import SectionHead
from visualizer.widgets.layer_table import LayerTable


class ResidualPanel(Panel):
    """A click on a cell goes to its record; a model without a norm has no such panel."""

    is_secondary = True
    watches = frozenset({"run", "cursor", "model", "decimals_chosen", "showing", "gradients"})

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(store, parent)
        self.set_ground("surface")
        em = fonts.em(self.font())
        self.head = SectionHead()
        self.table = LayerTable()
        column = QVBoxLayout(self)
        column.setContentsMargins(round(em), round(0.8 * em), round(em), 0)
        column.setSpacing(round(0.2 * em))
        column.addWidget(self.head)
        column.addWidget(self.table)
        self.carriers = (self.table,)
        self._has_rows = self._has_room = True
        self.ground("surface", self.head, self.table)
        self.table.cellHovered.connect(self._on_hovered)
        self.table.left.connect(self._on_left)
        self.table.cellClicked.connect(self._on_clicked)

    def fit(self, height: int, has_room: bool, taken: int = 0) -> None:
        """Take so many lines as suit the window's height, or give the place up.

        taken: pixels that something else takes of what these lines had
        """
        self._has_room = self.table.fit(height, taken) and has_room
        self.setVisible(self._has_rows and self._has_room)

    def retranslate(self) -> None:
        self.table.describe(tr("residual.title"))
        self.table.set_words(tr("residual.token"), tr("residual.norm"))

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        rows = layer_rows(state)
        back = walks_back(state)
        title = tr("residual.title.gradient" if back else "residual.title")
        self.head.set_texts(title, "" if rows is None else rows.where)
        self.table.set_rows(rows, state.decimals)
        # a sentence that cannot be computed leaves the panel where it is
        if current_tape(state) is not None:
            self._has_rows = rows is not None
            self.setVisible(self._has_rows and self._has_room)

    def _on_hovered(self, site: str, row: int, column: int) -> None:
        self.store.dispatch(actions.hover_cell, (row, column), site)

    def _on_left(self) -> None:
        self.store.dispatch(actions.hover_cell, None)

    def _on_clicked(self, site: str, row: int, column: int) -> None:
        self.store.dispatch(navigation.look_at, site, (row, column))
