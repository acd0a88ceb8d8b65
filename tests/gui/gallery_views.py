"""The views of a sublayer over a small random model, for the gallery."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QGridLayout, QWidget

from tests.gui.views import at
from visualizer.i18n import tr
from visualizer.lenses import flow, layer, ranking, stage
from visualizer.lenses.views import stack
from visualizer.widgets.canvas import Canvas
from visualizer.widgets.controls import card
from visualizer.widgets.layer_flow import LayerFlow
from visualizer.widgets.layer_table import LayerTable
from visualizer.widgets.strip_stack import StripStack
from visualizer.widgets.token_ranks import TokenRanks

STACKS = (
    ("decoder.layers.0.norm2.normalised", {}),
    ("decoder.layers.0.norm2.mean", {"norm_position": "pre"}),
    ("decoder.embed.position", {}),
    ("encoder.layers.1.ffn.activation", {"activation": "silu"}),
    ("decoder.mask", {}),
)


def views(size: QSize) -> QWidget:
    """Every view in a card of its own."""
    page = QWidget()
    page.setProperty("role", "page")
    grid = QGridLayout(page)
    for number, canvas in enumerate(_canvases()):
        canvas.set_ground("surface")
        frame, inside = card()
        inside.addWidget(canvas)
        grid.addWidget(frame, number // 3, number % 3)
    page.resize(size)
    return page


def _canvases() -> list[Canvas]:
    found: list[Canvas] = []
    for site, traits in STACKS:
        state = at(site, **traits)
        strips = StripStack()
        strips.set_stack(stack(state, stage.stage(state)))
        found.append(strips)
    state = at("decoder.layers.0.cross_attn.weights")
    table = LayerTable()
    table.set_words(tr("residual.token"), tr("residual.norm"))
    table.set_rows(layer.layer_rows(state))
    whole = LayerFlow()
    whole.set_flow(flow.flow(state))
    state = at("logits")
    ranks = TokenRanks()
    names = ("ranking.logit", "ranking.log_prob", "ranking.probability")
    ranks.set_names(*(tr(name) for name in names))
    ranks.set_ranking(ranking.ranking(state, stage.stage(state)))
    return [*found, table, whole, ranks]
