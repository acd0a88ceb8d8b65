"""Left: the map of the model and where we are on it."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from visualizer import fonts, navigation
from visualizer.i18n import tr
from visualizer.lenses.overview import MapGroup, model_map
from visualizer.panels.base import Panel
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.widgets.controls import SectionHead
from visualizer.widgets.model_map import Block, ModelMap


class MapPanel(Panel):
    """A click on a box goes there."""

    watches = frozenset({"run", "cursor", "model", "showing", "gradients"})

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(store, parent)
        self.set_ground("surface")
        em = fonts.em(self.font())
        self.head = SectionHead()
        self.map = ModelMap()
        column = QVBoxLayout(self)
        column.setContentsMargins(round(em), round(0.8 * em), round(em), round(0.6 * em))
        column.setSpacing(round(0.5 * em))
        column.addWidget(self.head)
        column.addWidget(self.map, 1)
        self.carriers = (self.map,)
        self.ground("surface", self.head, self.map)
        self._blocks: tuple[Block, ...] = ()
        self.map.blockChosen.connect(self._on_block)

    def retranslate(self) -> None:
        self.head.set_texts(tr("ui.map"))
        self.map.describe(tr("ui.map"))

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        drawn = model_map(state)
        if drawn is None:
            self._blocks = ()
            self.map.set_blocks(self._blocks)
            self.map.set_captions("", "")
            return
        columns = (("encoder", drawn.encoder), ("decoder", drawn.decoder), ("output", drawn.output))
        self._blocks = tuple(block for side, groups in columns for block in _boxes(side, groups))
        self.map.set_blocks(self._blocks)
        self.map.set_captions(drawn.source_note, drawn.target_note)

    def _on_block(self, block: str) -> None:
        self.store.dispatch(navigation.go_to_block, block)


def _boxes(side: str, groups: tuple[MapGroup, ...]) -> list[Block]:
    return [
        Block(block.id, block.title, side, group.title, block.status)  # type: ignore[arg-type]
        for group in groups
        for block in group.blocks
    ]
