"""All attention at once: who reads whom, in the encoder, across and in the decoder."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from visualizer import linking, trail
from visualizer.i18n import tr
from visualizer.lenses.attentions import Kind, attentions
from visualizer.lenses.caption import Caption
from visualizer.lenses.heads_overview import overview_label
from visualizer.lenses.linked import LinkedTokens, linked_tokens
from visualizer.lenses.linked_words import (
    edge_told,
    hidden_words,
    linked_caption,
    part_titles,
    told,
    weight_of,
)
from visualizer.pages.base import Page
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.widgets.attention_tools import AttentionTools
from visualizer.widgets.cell_line import CellLine
from visualizer.widgets.controls import LabelledSlider, card
from visualizer.widgets.layer_choice import LayerChoice
from visualizer.widgets.linked_attention import LinkedAttention
from visualizer.widgets.notice import EmptyState
from visualizer.widgets.said_block import SaidBlock

POINTER = frozenset({"hovered", "hovered_site", "share"})
# With more heads than these a chip is a number alone.
NAMED_HEADS = 8


class AttentionPage(Page):
    name = "attention"
    shows_gradients = False
    shows_cell = False

    def __init__(self, store: Store, cell: CellLine, parent: QWidget | None = None) -> None:
        super().__init__(store, cell, parent)
        self.linked = LinkedAttention()
        self.empty = EmptyState()
        self.empty.set_ground("surface")
        self.said = SaidBlock()
        self.hidden = QLabel()
        self.hidden.setProperty("role", "muted")
        self.layers = {side: LayerChoice() for side in ("encoder", "decoder")}
        self.threshold = LabelledSlider()
        self.threshold.slider.setFixedWidth(round(7 * self.em))
        self.threshold.set_range(
            linking.LEAST_THRESHOLD, linking.MOST_THRESHOLD, 0.01, "{:.2f}".format
        )
        picture, inside = card()
        self.pictures = QStackedLayout()
        inside.addLayout(self.pictures)
        self.pictures.addWidget(self.linked)
        self.pictures.addWidget(self.empty)
        lower, inside = card()
        inside.setSpacing(round(0.3 * self.em))
        inside.addWidget(self.said)
        below = QHBoxLayout()
        below.setSpacing(round(self.em))
        for box in self.layers.values():
            below.addWidget(box)
        below.addWidget(self.hidden, 1, Qt.AlignmentFlag.AlignRight)
        below.addWidget(self.threshold)
        inside.addLayout(below)
        body = QVBoxLayout(self)
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(round(0.6 * self.em))
        body.addWidget(picture, 1)
        body.addWidget(lower)
        tools = AttentionTools()
        self.tools = tools
        self.carriers = (self.linked,)
        tools.viewChosen.connect(self._on_view)
        tools.chosen.connect(self._on_heads)
        self.layers["encoder"].chosen.connect(self._on_encoder_layer)
        self.layers["decoder"].chosen.connect(self._on_decoder_layer)
        self.threshold.moved.connect(self._on_threshold)
        self.linked.tokenHovered.connect(self._on_token)
        self.linked.edgeHovered.connect(self._on_edge)
        self.linked.left.connect(self._on_left)
        self.linked.tokenClicked.connect(self._on_token_clicked)
        self.linked.edgeClicked.connect(self._on_edge_clicked)
        self.linked.groundClicked.connect(self._on_ground)

    def retranslate(self) -> None:
        self.linked.describe(tr("linked.title"))
        self.empty.set_texts(tr("linked.nothing.title"), tr("linked.nothing"))
        self.threshold.set_label(tr("linked.threshold"))

    # Words.

    def caption(self, state: ViewState) -> Caption | None:
        picture = linked_tokens(state)
        return None if picture is None else linked_caption(state, picture)

    def tail(self, state: ViewState, caption: Caption) -> tuple[str, ...]:
        return ()

    # Drawing.

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        if fields <= POINTER:
            return
        picture = linked_tokens(state)
        self.linked.set_picture(picture)
        shown = picture is not None and bool(picture.attentions)
        self.pictures.setCurrentWidget(self.linked if shown else self.empty)
        if picture is None:
            return
        self.linked.set_titles(part_titles(state, picture))
        self._draw_tools(state)
        for side, label in (
            ("encoder", "linked.encoder_layer"),
            ("decoder", "linked.decoder_layer"),
        ):
            self._draw_layers(state, picture, side, label)
        self.threshold.set_value(state.linked.threshold)
        self.hidden.setText(hidden_words(picture))
        self.said.set_sentence(told(picture, self.linked.looked_at))

    def _draw_tools(self, state: ViewState) -> None:
        assert state.run is not None and isinstance(self.tools, AttentionTools)
        label = overview_label(state.run.tape)
        tips = ("", tr("linked.overview.tip"))
        self.tools.views.set_ops((tr("linked.chip"), label), 0, tips)
        count = self._head_count(state)
        numbers = (head + state.count_from for head in range(count))
        named = count <= NAMED_HEADS
        heads = [tr("head.plain", n=n) if named else str(n) for n in numbers]
        tips = ("",) * count
        if count > 1:
            heads += [tr("linked.mean"), tr("linked.max")]
            tips = (*tips, tr("linked.mean.tip"), tr("linked.max.tip"))
        chosen = state.linked.heads
        current = {"mean": count, "max": count + 1}.get(chosen, chosen)
        current = min(current, count - 1) if isinstance(chosen, int) or count == 1 else current
        self.tools.choices.set_ops(tuple(heads), current, tips)

    def _draw_layers(self, state: ViewState, picture: LinkedTokens, side: str, label: str) -> None:
        kinds = ("encoder",) if side == "encoder" else ("cross", "decoder")
        assert picture.run.tape is not None
        found = [one for one in attentions(picture.run.tape) if one.kind in kinds]
        numbers = sorted({one.layer for one in found})
        choice = self.layers[side]
        choice.setVisible(len(numbers) > 1)
        here = next((one.layer for k, one in picture.attentions.items() if k in kinds), 0)
        wish = state.linked.encoder_layer if side == "encoder" else state.linked.decoder_layer
        choice.set_layers(
            tr("linked.follows"),
            tuple(tr(label, n=number + state.count_from) for number in numbers),
            numbers.index(here) if here in numbers else 0,
            numbers.index(wish) + 1 if wish in numbers else 0,
        )

    def _head_count(self, state: ViewState) -> int:
        assert state.run is not None and state.run.tape is not None
        return max((one.heads for one in attentions(state.run.tape)), default=0)

    # What the user does.

    def _on_view(self, view: int) -> None:
        if view == 1:
            self.store.dispatch(trail.open_page, "heads")

    def _on_heads(self, chip: int) -> None:
        count = self._head_count(self.store.state)
        heads = chip if chip < count else ("mean", "max")[chip - count]
        self.store.dispatch(linking.set_heads, heads)

    def _on_encoder_layer(self, place: int) -> None:
        self.store.dispatch(linking.set_encoder_layer, place - 1 if place else None)

    def _on_decoder_layer(self, place: int) -> None:
        self.store.dispatch(linking.set_decoder_layer, place - 1 if place else None)

    def _on_threshold(self, threshold: float) -> None:
        self.store.dispatch(linking.set_threshold, threshold)

    def _on_token(self, side: str, place: int) -> None:
        picture = self.linked.picture
        assert picture is not None
        self.said.set_sentence(told(picture, (side, place)))

    def _on_edge(self, kind: Kind, row: int, key: int) -> None:
        picture = self.linked.picture
        assert picture is not None
        self.said.set_sentence(edge_told(self.store.state, picture, kind, row, key))

    def _on_left(self) -> None:
        picture = self.linked.picture
        if picture is not None:
            self.said.set_sentence(told(picture, picture.pinned))

    def _on_token_clicked(self, side: str, place: int) -> None:
        self.store.dispatch(linking.pin, side, place)

    def _on_edge_clicked(self, kind: Kind, row: int, key: int) -> None:
        picture = self.linked.picture
        assert picture is not None
        weight = weight_of(self.store.state, picture, kind, row, key)
        place = (weight.site, weight.head, weight.row, weight.column)
        self.store.dispatch(linking.open_weight, *place)

    def _on_ground(self) -> None:
        self.store.dispatch(linking.unpin)
