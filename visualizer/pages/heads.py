"""The overview: every head of every layer, and the facts of the one that is looked at."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from visualizer import linking, trail
from visualizer.i18n import tr
from visualizer.lenses.caption import Caption
from visualizer.lenses.heads_overview import (
    FACTS,
    Head,
    HeadsOverview,
    fact_columns,
    head_name,
    heads_overview,
    overview_caption,
    overview_label,
)
from visualizer.pages.base import Page
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.widgets.attention_tools import AttentionTools
from visualizer.widgets.cell_line import CellLine
from visualizer.widgets.controls import card
from visualizer.widgets.head_facts import HeadFactsRow
from visualizer.widgets.heads_overview import HeadsOverviewCanvas
from visualizer.widgets.notice import EmptyState

POINTER = frozenset({"hovered", "hovered_site", "share"})


class HeadsPage(Page):
    name = "heads"
    shows_gradients = False
    shows_cell = False

    def __init__(self, store: Store, cell: CellLine, parent: QWidget | None = None) -> None:
        super().__init__(store, cell, parent)
        self.heads = HeadsOverviewCanvas()
        self.empty = EmptyState()
        self.empty.set_ground("surface")
        self.facts = HeadFactsRow()
        picture, inside = card()
        self.pictures = QStackedLayout()
        inside.addLayout(self.pictures)
        self.pictures.addWidget(self.heads)
        self.pictures.addWidget(self.empty)
        self.lower, inside = card()
        inside.addWidget(self.facts)
        body = QVBoxLayout(self)
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(round(0.6 * self.em))
        body.addWidget(picture, 1)
        body.addWidget(self.lower)
        tools = AttentionTools()
        self.tools = tools
        self.carriers = (self.heads,)
        tools.viewChosen.connect(self._on_view)
        tools.chosen.connect(self._on_fact)
        self.heads.headHovered.connect(self._on_head)
        self.heads.left.connect(self._on_left)
        self.heads.headClicked.connect(self._on_head_clicked)

    def retranslate(self) -> None:
        self.heads.describe(tr("heads.title"))
        self.heads.set_words(tr("heads.layer"), tr("heads.guided"))
        self.empty.set_texts(tr("linked.nothing.title"), tr("linked.nothing"))

    def caption(self, state: ViewState) -> Caption | None:
        whole = heads_overview(state)
        return None if whole is None else overview_caption(state, whole)

    def tail(self, state: ViewState, caption: Caption) -> tuple[str, ...]:
        return ()

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        if fields <= POINTER:
            return
        whole = heads_overview(state)
        self.heads.set_overview(whole)
        shown = whole is not None and bool(whole.groups)
        self.pictures.setCurrentWidget(self.heads if shown else self.empty)
        self.lower.setVisible(shown)
        if whole is None:
            return
        assert isinstance(self.tools, AttentionTools)
        label = overview_label(whole.run.tape)
        self.tools.views.set_ops((tr("linked.chip"), label), 1, ("", tr("linked.overview.tip")))
        self.tools.choices.set_ops(
            tuple(tr(f"heads.fact.{name}") for name in FACTS),
            FACTS.index(whole.fact) if whole.fact in FACTS else -1,
            tuple(tr(f"heads.fact.{name}.tip") for name in FACTS),
        )
        self._tell(state, whole, self.heads.hovered or whole.selected)

    def _tell(self, state: ViewState, whole: HeadsOverview, head: Head | None) -> None:
        if head is None:
            self.facts.set_facts(tr("heads.why"), "", ())
            return
        columns = fact_columns(state, whole, head)
        self.facts.set_facts(head_name(whole, head), f"{head[0]}[0, {head[1]}]", columns)

    # What the user does.

    def _on_view(self, view: int) -> None:
        if view == 0:
            self.store.dispatch(trail.open_page, "attention")

    def _on_fact(self, place: int) -> None:
        self.store.dispatch(linking.set_fact, FACTS[place])

    def _on_head(self, site: str, head: int) -> None:
        whole = self.heads.overview
        assert whole is not None
        self._tell(self.store.state, whole, (site, head))

    def _on_left(self) -> None:
        whole = self.heads.overview
        if whole is not None:
            self._tell(self.store.state, whole, whole.selected)

    def _on_head_clicked(self, site: str, head: int) -> None:
        self.store.dispatch(linking.open_head, site, head)
