"""The views of a sublayer in a whole window: pointing, clicking, stepping, the whole model."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from tests.gui.live_window import checkpoint, live  # noqa: F401
from visualizer import actions, navigation
from visualizer.navigation import current_index

NORM = "decoder.layers.0.norm2"
RESIDUAL = "decoder.layers.0.residual2"
LEFT = Qt.MouseButton.LeftButton


def go(live, site: str) -> None:  # noqa: F811
    live.store.dispatch(navigation.go_to_site, site)
    QApplication.processEvents()  # another picture lies where its layout puts it


def test_a_cell_of_any_strip_is_explained_while_the_pointer_is_on_it(live):  # noqa: F811
    go(live, f"{NORM}.normalised")
    strips, cell = live.window.stage.pages["record"].strips, live.window.stage.cell
    assert strips.isVisible() and not live.window.stage.pages["record"].heatmap.isVisible()
    live.qtbot.mouseMove(strips, strips.cell_rect(RESIDUAL, 0, 7).center().toPoint())
    value = live.state.run.tape[RESIDUAL].value[0, 0, 7]
    assert str(value) in cell._exact and cell._site == f"{RESIDUAL}[0, 0, 7]"
    live.qtbot.mouseMove(strips, strips.figure_rect(f"{NORM}.variance", 0).center().toPoint())
    assert "σ" in cell._exact and cell._site == f"{NORM}.variance[0, 0, 0]"


def test_a_click_on_a_strip_goes_to_its_record(live):  # noqa: F811
    go(live, f"{NORM}.normalised")
    strips = live.window.stage.pages["record"].strips
    spot = strips.cell_rect(RESIDUAL, 0, 3).center().toPoint()
    live.qtbot.mouseClick(strips, LEFT, pos=spot)
    assert (live.state.cursor.site, live.state.selected) == (RESIDUAL, (0, 3))
    assert live.window.stage.hasFocus()


def test_a_cell_of_the_layers_table_is_explained_and_clicked_through_to(live):  # noqa: F811
    go(live, "decoder.layers.0.cross_attn.weights")
    table = live.window.residual.table
    spot = table.cell_rect(f"{NORM}.out", 0, 4).center().toPoint()
    live.qtbot.mouseMove(table, spot)
    value = live.state.run.tape[f"{NORM}.out"].value[0, 0, 4]
    assert str(value) in live.window.stage.cell._exact
    live.qtbot.mouseClick(table, LEFT, pos=spot)
    assert live.state.cursor.site == f"{NORM}.out"


def test_the_list_of_tokens_is_there_for_the_vocabulary_alone(live):  # noqa: F811
    go(live, "logits")
    stage = live.window.stage
    assert stage.pages["record"].ranks.isVisible() and stage.pages["record"].heatmap.isVisible()
    live.qtbot.mouseMove(
        stage.pages["record"].ranks, stage.pages["record"].ranks.line_rect(1).center().toPoint()
    )
    ranks = stage.pages["record"].ranks.ranking
    assert str(ranks.logits[1]) in stage.cell._exact
    go(live, "decoder.layers.0.cross_attn.weights")
    assert not stage.pages["record"].ranks.isVisible() and stage.pages["record"].heatmap.isVisible()


def test_f_shows_the_whole_model_and_a_click_leaves_it_for_a_record(live):  # noqa: F811
    live.window.resize(1280, 960)  # so that a row is a few pixels high
    go(live, RESIDUAL)
    stage = live.window.stage
    live.press(Qt.Key.Key_F, widget=stage)
    QApplication.processEvents()
    assert stage.pages["layers"].flow.isVisible()
    spot = (1, True, 0, 3)
    place = stage.pages["layers"].flow.cell_rect(spot).center().toPoint()
    live.qtbot.mouseMove(stage.pages["layers"].flow, place)
    name, reduction, value = stage.pages["layers"].flow.words_at(spot)
    assert stage.cell._name == name
    assert [piece.text for piece in stage.cell._lines[0]] == [reduction, "=", value]
    live.press(Qt.Key.Key_Right, widget=stage)
    assert stage.pages["layers"].flow.isVisible()
    live.qtbot.mouseClick(stage.pages["layers"].flow, LEFT, pos=place)
    assert (
        live.state.cursor.site == "decoder.layers.0.ffn.out"
        and stage.pages["record"].strips.isVisible()
    )


@pytest.mark.parametrize("whole", [False, True])
def test_every_panel_paints_every_kind_of_step(live, whole):  # noqa: F811
    if whole:
        live.store.dispatch(actions.toggle_page, "layers")
    panels = [panel for panel in live.window.panels if panel.carriers and panel.isVisible()]
    for site in (RESIDUAL, f"{NORM}.mean", "decoder.layers.1.ffn.activation", "decoder.mask"):
        go(live, site)
        step = current_index(live.state)
        live.qtbot.waitUntil(
            lambda step=step: all(panel.painted_step == step for panel in panels), timeout=5000
        )
        run = live.state.run.number
        assert all(panel.painted_run == run for panel in panels)


def test_a_click_in_the_whole_model_goes_to_the_row_that_was_clicked():
    from tests.gui.views import at
    from visualizer import navigation
    from visualizer.state import current_token

    state = at("decoder.layers.0.cross_attn.weights", 3, 0)
    there = navigation.go_to_record(state, "decoder.layers.1.residual2", 1)
    assert (there.cursor.site, current_token(there)) == ("decoder.layers.1.residual2", 1)
    encoder = navigation.go_to_record(state, "encoder.layers.0.residual1", 1)
    assert encoder.cursor.site == "encoder.layers.0.residual1"
    assert encoder.cursor.token == state.cursor.token
