"""The pages of all attention in the stage: what is chosen there goes to the state and back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.gui.samples import LEFT_BUTTON
from tests.gui.samples import at as pixel
from tests.gui.views import CROSS, at, worked_view
from visualizer import actions
from visualizer.lenses.linked_words import plain
from visualizer.panels.stage import StagePanel
from visualizer.state import current_token
from visualizer.store import Store


@pytest.fixture
def opened(qtbot):
    def make(page, state=None):
        state = actions.show_page(at(CROSS) if state is None else state, page)
        store = Store(state)
        stage = StagePanel(store)
        qtbot.addWidget(stage)
        stage.resize(900, 700)
        stage.refresh()
        stage.show()
        return store, stage

    return make


def test_heads_layers_and_threshold_are_chosen_and_said(opened):
    store, stage = opened("attention")
    page = stage.page
    assert page.name == "attention" and stage.tools.currentWidget() is page.tools
    page.tools.chosen.emit(4)
    page.layers["encoder"].chosen.emit(1)
    page.layers["decoder"].chosen.emit(2)
    page.threshold.moved.emit(0.3)
    linked = store.state.linked
    assert (linked.heads, linked.encoder_layer, linked.decoder_layer) == ("max", 0, 1)
    assert linked.threshold == 0.3
    picture = page.linked.picture
    assert all((edges.weights >= 0.3).all() for edges in picture.edges)
    said = page.caption(store.state).shape
    assert said == "encoder layer 1 · decoder layer 2 · maximum of 3 heads"
    page.layers["decoder"].chosen.emit(0)
    assert store.state.linked.decoder_layer is None


def test_a_pinned_target_token_is_told_and_a_curve_leads_to_its_cell(qtbot, opened):
    store, stage = opened("attention")
    canvas = stage.page.linked
    qtbot.mouseClick(canvas, LEFT_BUTTON, pos=pixel(canvas.token_point(("decoder", 2))))
    assert current_token(store.state) == 2 and canvas.looked_at == ("decoder", 2)
    tape = store.state.run.tape
    assert plain(stage.page.said.sentence).startswith(
        f"{tape.predicted_tokens[2]} is predicted at {tape.target_tokens[2]}, which reads "
    )
    edges = next(edges for edges in canvas.picture.edges if edges.kind == "cross")
    row, key = int(edges.readers[-1]), int(edges.keys[-1])
    point = pixel(canvas.edge_point(("cross", row, key), 0.1))
    qtbot.mouseClick(canvas, LEFT_BUTTON, pos=point)
    state = store.state
    assert (state.page, state.cursor.site, state.selected) == ("record", CROSS, (row, key))
    assert state.head == int(tape[CROSS].value[0, :, row, key].argmax())


def test_the_overview_and_the_linked_tokens_lead_to_each_other(opened):
    store, stage = opened("attention")
    stage.page.tools.viewChosen.emit(1)
    assert store.state.page == "heads" and stage.page.name == "heads"
    stage.page.tools.chosen.emit(6)
    assert store.state.linked.fact == "sharpness"
    stage.page.tools.viewChosen.emit(0)
    assert stage.page.name == "attention"


def test_a_head_under_the_pointer_is_told_in_numbers_and_a_click_opens_it(qtbot, opened):
    store, stage = opened("heads")
    page, head = stage.page, ("encoder.layers.1.self_attn.weights", 2)
    place = pixel(page.heads.picture_rect(head).center())
    qtbot.mouseMove(page.heads, place)
    qtbot.waitUntil(lambda: "encoder layer 2" in page.facts.accessibleName())
    assert page.facts.accessibleDescription().startswith("entropy ")
    qtbot.mouseClick(page.heads, LEFT_BUTTON, pos=place)
    state = store.state
    assert (state.page, state.cursor.site, state.head) == ("record", *head)


@pytest.mark.parametrize("page", ["attention", "heads"])
def test_an_encoder_alone_and_no_run_at_all_have_their_pages(opened, page):
    _, stage = opened(page, worked_view("self-attention"))
    assert stage.page.name == page
    assert stage.grab().width() == 900
    nothing = replace(at(CROSS), run=None)
    _, stage = opened(page, nothing)
    assert stage.page.name == "record"


def test_gradients_elsewhere_change_no_weight_here_and_it_is_said(opened):
    store, stage = opened("attention")
    before = stage.page.linked.picture.edges[0].weights.copy()
    store.dispatch(actions.set_showing, "gradients")
    assert (stage.page.linked.picture.edges[0].weights == before).all()
    assert "weights themselves" in stage.page.caption(store.state).why
