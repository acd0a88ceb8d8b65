"""Right, below: what the decoder would say behind each of its sublayers."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from visualizer import fonts, navigation
from visualizer.i18n import tr
from visualizer.inquiries.lens import has_lens
from visualizer.lenses.logit_lens import count_states, depth, nothing_to_read, passes
from visualizer.panels.base import Panel
from visualizer.state import ViewState, reads_matrix
from visualizer.store import Store
from visualizer.widgets.controls import SectionHead
from visualizer.widgets.lens_bars import LensBars
from visualizer.widgets.text_block import TextBlock

# How much of the window's height the lines may take.
SHARE = 0.24
# Until a model tells how many states it has.
USUAL_LINES = 7


class LogitLensPanel(Panel):
    """On show where the window has room for it below the next token.

    A click on a line goes to the record that was read; a model without a decoder has no such
    panel.
    """

    is_secondary = True
    watches = frozenset({"run", "cursor", "model", "readings", "roomy", "showing", "gradients"})

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(store, parent)
        self.set_ground("surface")
        em = fonts.em(self.font())
        self.head = SectionHead()
        self.bars = LensBars()
        self.through = TextBlock(2, scale=fonts.SMALL)
        self._room = 0.0
        self._states = (USUAL_LINES, USUAL_LINES)
        column = QVBoxLayout(self)
        column.setContentsMargins(round(em), round(0.3 * em), round(em), round(0.7 * em))
        column.setSpacing(round(0.3 * em))
        for widget in (self.head, self.bars, self.through):
            column.addWidget(widget)
        self.carriers = (self.bars,)
        self.ground("surface", self.head, self.bars, self.through)
        self.bars.readingClicked.connect(self._on_clicked)

    def fit(self, height: int) -> None:
        """Take so many lines as suit the window's height and the model's layers."""
        self._room = SHARE * height
        self._take_lines()

    def retranslate(self) -> None:
        self.bars.describe(tr("lens.title"))

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        self.setVisible(state.roomy and not reads_matrix(state.model))
        if has_lens(state):
            self._states = count_states(state)
            self._take_lines()
        found = depth(state)
        self.head.set_texts(tr("lens.title"), tr("lens.note"))
        self.bars.set_empty_text(nothing_to_read(state))
        self.bars.set_depth(found, waits=has_lens(state))
        self.through.set_sentences(passes(state))

    def _take_lines(self) -> None:
        self.bars.setFixedHeight(self.bars.height_for(*self._states, self._room))

    def _on_clicked(self, site: str, row: int) -> None:
        self.store.dispatch(navigation.go_to_record, site, row)
