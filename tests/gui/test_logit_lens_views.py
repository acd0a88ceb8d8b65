"""The logit lens on screen: its words, when it is read, where it stands, where a click leads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from model_core.logit_lens import readings
from tests.gui.live_window import WAIT, checkpoint, live  # noqa: F401
from tests.gui.samples import FONT, LEFT_BUTTON
from tests.gui.samples import at as pixel
from tests.gui.views import at, view, worked_view
from visualizer import actions, fonts, i18n, navigation
from visualizer.inquiries.lens import LensInquiry, current_readings
from visualizer.lenses import logit_lens
from visualizer.widgets.lens_bars import LensBars
from visualizer.widgets.lens_grid import LensCells
from visualizer.widgets.section_switch import SectionSwitch

PRE = {"norm_position": "pre"}


@pytest.fixture(autouse=True)
def bundled_font(qapp: QApplication) -> None:
    fonts.install_fonts(qapp, FONT, exact=True)


def read(state):
    """The state with the readings of its run."""
    inquiry, shown = LensInquiry(), actions.show_page(state, "lens")
    key = inquiry.wanted(shown)
    return inquiry.answer(shown, key, inquiry.work(shown)(lambda: False))


# Words and places.


def test_the_column_at_a_token_has_a_line_per_state_with_the_cores_numbers():
    state = read(at("decoder.layers.0.cross_attn.weights", token=2))
    lens = readings(state.run.tape)
    depth = logit_lens.depth(state)
    titles = ["embed", *(f"layer {n} · {s}" for n in (1, 2) for s in ("self", "cross", "ffn"))]
    assert list(depth.titles) == titles
    assert depth.brief == ((0, "embed"), (3, "layer 1"), (6, "layer 2"))
    words = state.model.model.tokenizer.target_vocabulary
    for number, reading in enumerate(depth.readings):
        assert reading.site == lens.states[number].site and reading.row == 2
        assert reading.token == words[lens.top_ids[number, 2]]
        assert reading.final == state.run.tape.predicted_tokens[2]
        assert reading.final_rank == lens.rank[number, 2]
        assert reading.probability == lens.top_probability[number, 2]
        assert reading.final_probability == lens.probability[number, 2]
        assert str(reading.final_probability) in reading.about_final
        assert reading.place == f"{reading.site}[0, 2, :]"


@pytest.mark.parametrize(
    ("site", "traits", "state"),
    [
        ("encoder.layers.0.norm1.out", {}, None),
        ("decoder.embed.tokens", {}, 0),
        ("decoder.layers.0.self_attn.q", {}, 1),
        ("decoder.layers.0.residual1", {}, 1),
        ("decoder.layers.0.norm1.out", {}, 1),
        ("decoder.layers.0.cross_attn.weights", {}, 2),
        ("decoder.layers.1.norm3.out", {}, 6),
        ("log_probs", {}, 6),
        ("decoder.layers.0.norm2.mean", PRE, 2),
        ("decoder.norm.out", PRE, 6),
    ],
)
def test_the_state_that_the_cursor_works_on_is_marked(site, traits, state):
    assert logit_lens.current_state(at(site, **traits)) == state


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_it_says_what_the_states_go_through(language):
    i18n.set_language(language)
    try:
        post, pre = read(view()), read(view(**PRE))
        assert logit_lens.passes(post) == i18n.tr("lens.through.plain")
        assert logit_lens.passes(pre) == i18n.tr("lens.through.norm")
        assert logit_lens.passes(post) != logit_lens.passes(pre)
    finally:
        i18n.set_language("en")
    words = logit_lens.lens_caption(pre)
    assert words.site == "decoder.norm · logits · output.W · output.b · log_probs"
    assert "LayerNorm" in words.formula
    tied = logit_lens.lens_caption(read(view(tying="output", output_bias=False)))
    assert tied.site == "logits · tgt_embed.weight · log_probs"
    assert "E^" in tied.formula and "b_" not in tied.formula


def test_the_grid_has_every_row_against_every_state():
    state = read(view())
    grid, lens = logit_lens.lens_grid(state), readings(state.run.tape)
    assert grid.row_labels == tuple(state.run.tape.target_tokens)
    assert grid.row_notes[0] == f"→ {state.run.tape.predicted_tokens[0]}"
    assert [group[2:] for group in grid.groups] == [(0, 1), (1, 3), (4, 3)]
    np.testing.assert_array_equal(grid.final_probability, lens.probability.T)
    np.testing.assert_array_equal(grid.settled, lens.rank.T == 1)
    assert grid.reading(1, 4).site == "decoder.layers.1.norm1.out"
    assert grid.token(1, 4) == grid.reading(1, 4).token


# The inquiry.


def test_it_is_read_only_while_it_is_looked_at():
    inquiry, state = LensInquiry(), view()
    assert inquiry.wanted(state) is None
    for shown in (
        actions.show_page(state, "lens"),
        actions.set_roomy(state, True),
        actions.show_beside(state, "logit_lens"),
    ):
        assert inquiry.wanted(shown) == state.run.number
    assert inquiry.wanted(actions.set_roomy(worked_view(), True)) is None


def test_readings_of_another_run_are_not_shown():
    state = read(view())
    assert current_readings(state) is not None
    later = actions.show_run(state, replace(state.run, number=2))
    assert current_readings(later) is None
    assert LensInquiry().answered(later) != LensInquiry().wanted(later)
    assert logit_lens.depth(later) is None and logit_lens.lens_grid(later) is None
    assert logit_lens.nothing_to_read(later) == i18n.tr("lens.reading")


def test_work_that_is_no_longer_wanted_changes_nothing():
    inquiry, state = LensInquiry(), actions.show_page(view(), "lens")
    assert inquiry.answer(state, 1, inquiry.work(state)(lambda: True)) is state


# The widgets.


def bars(qtbot, state, width=300, lines=7):
    widget = LensBars()
    qtbot.addWidget(widget)
    widget.resize(width, widget.height_of(lines))
    widget.set_depth(logit_lens.depth(state))
    widget.show()
    return widget


def test_where_there_is_no_room_for_all_states_there_is_a_line_per_layer(qtbot):
    state = read(view(n_decoder_layers=6))
    assert len(bars(qtbot, state, lines=19).shown()) == 19
    assert [t for _, t in bars(qtbot, state, lines=18).shown()] == [
        "embed",
        *(f"layer {n}" for n in range(1, 7)),
    ]
    few = bars(qtbot, state, lines=4)
    assert [title for _, title in few.shown()] == ["embed", "layer 2", "layer 4", "layer 6"]
    assert few.height_for(19, 7, few.height()) == few.height()


def test_a_click_on_a_line_tells_the_record_and_the_row(qtbot):
    widget = bars(qtbot, read(at("logits", token=2)))
    with qtbot.waitSignal(widget.readingClicked) as clicked:
        qtbot.mouseClick(widget, LEFT_BUTTON, pos=pixel(widget.line_rect(3).center()))
    assert clicked.args == ["decoder.layers.0.norm3.out", 2]


def test_the_last_readings_stay_for_a_moment_while_new_ones_are_found(qtbot):
    widget = bars(qtbot, read(view()))
    widget.set_depth(None, waits=True)
    assert widget.depth is not None
    qtbot.waitUntil(lambda: widget.depth is None, timeout=WAIT)
    widget.set_depth(logit_lens.depth(read(view())))
    widget.set_depth(None)
    assert widget.depth is None


@pytest.mark.parametrize("size", [(760, 480), (420, 200)])
def test_pointing_at_a_cell_of_the_grid_tells_its_row_and_column(qtbot, size):
    cells = LensCells()
    qtbot.addWidget(cells)
    cells.resize(*size)
    cells.set_grid(logit_lens.lens_grid(read(view())))
    cells.show()
    told = []
    cells.cellHovered.connect(lambda *cell: told.append(cell))
    for cell in ((0, 0), (3, 6), (1, 4)):
        qtbot.mouseMove(cells, pixel(cells.cell_rect(*cell).center()))
        qtbot.waitUntil(lambda cell=cell: told[-1:] == [cell])


def test_the_colour_of_a_cell_is_the_probability_of_the_final_token(qtbot):
    cells = LensCells()
    qtbot.addWidget(cells)
    cells.resize(760, 480)
    cells.set_grid(logit_lens.lens_grid(read(view())))
    image = cells.grab().toImage()
    table = cells.theme.table("sequential")
    for row, column in np.ndindex(cells.grid.final_probability.shape):
        rect = cells.cell_rect(row, column)
        found = image.pixelColor(int(rect.left()) + 3, int(rect.bottom()) - 3)
        share = float(cells.grid.final_probability[row, column])
        np.testing.assert_allclose(found.getRgb()[:3], table[int(255 * share + 0.5)], atol=1)


def test_a_click_on_the_other_title_chooses_it_and_a_lone_title_is_no_switch(qtbot):
    switch = SectionSwitch()
    qtbot.addWidget(switch)
    switch.resize(280, 22)
    switch.set_titles(("one", "two"))
    with qtbot.waitSignal(switch.chosen) as chosen:
        qtbot.mouseClick(switch, LEFT_BUTTON, pos=pixel(switch.title_rect(1).center()))
    assert chosen.args == [1]
    with qtbot.assertNotEmitted(switch.chosen, wait=20):
        qtbot.mouseClick(switch, LEFT_BUTTON, pos=pixel(switch.title_rect(0).center()))
        switch.set_titles(("one",))
        qtbot.mouseClick(switch, LEFT_BUTTON, pos=pixel(switch.title_rect(0).center()))


# The window.


def until_read(live):  # noqa: F811
    live.qtbot.waitUntil(lambda: current_readings(live.state) is not None, timeout=WAIT)


def test_in_a_low_window_it_takes_the_place_of_the_bars(live):  # noqa: F811
    live.window.resize(1280, 880)  # low, and yet with room for every line
    QApplication.processEvents()
    panel = live.window.prediction
    assert not live.window.workspace.logit_lens.isVisible() and panel.bars.isVisible()
    place = pixel(panel.head.title_rect(1).center())
    live.qtbot.mouseClick(panel.head, LEFT_BUTTON, pos=place)
    until_read(live)
    assert panel.lens.isVisible() and not panel.bars.isVisible()
    assert panel.lens.depth.readings[-1].final_rank == 1
    line = pixel(panel.lens.line_rect(5).center())
    live.qtbot.mouseClick(panel.lens, LEFT_BUTTON, pos=line)
    assert live.state.cursor.site == "decoder.layers.1.norm2.out"
    assert panel.lens.depth.current == 5
    live.qtbot.mouseClick(panel.head, LEFT_BUTTON, pos=pixel(panel.head.title_rect(0).center()))
    assert panel.bars.isVisible() and not panel.lens.isVisible()


def test_in_a_high_window_it_stands_below_the_bars_and_follows_the_sentence(live):  # noqa: F811
    live.window.resize(1280, 960)
    panel = live.window.workspace.logit_lens
    until_read(live)
    assert panel.isVisible() and live.window.prediction.bars.isVisible()
    before = panel.bars.depth
    live.store.dispatch(actions.edit_source, "s6 s5")
    live.until_shown("s6 s5")
    until_read(live)
    assert panel.bars.depth.readings != before.readings
    live.window.resize(1280, 720)
    assert not panel.isVisible()


def test_a_cell_of_the_page_is_told_below_it_and_clicked_through_to(live):  # noqa: F811
    live.store.dispatch(actions.show_page, "lens")
    until_read(live)
    stage = live.window.stage
    cells = stage.pages["lens"].cells
    place = pixel(cells.cell_rect(0, 4).center())
    live.qtbot.mouseMove(cells, place)
    reading = cells.grid.reading(0, 4)
    live.qtbot.waitUntil(lambda: stage.cell._site == reading.place, timeout=WAIT)
    assert str(reading.entropy)[:3] in stage.cell._exact
    live.qtbot.mouseClick(cells, LEFT_BUTTON, pos=place)
    assert (live.state.page, live.state.cursor.site) == ("record", "decoder.layers.1.norm1.out")
    assert live.state.cursor.token == 0


def test_a_step_keeps_the_readings(live):  # noqa: F811
    live.store.dispatch(actions.show_page, "lens")
    until_read(live)
    found = live.state.readings
    live.store.dispatch(navigation.next_token)
    live.store.dispatch(navigation.previous_layer)
    assert live.state.readings is found
    grid = live.window.stage.pages["lens"].cells.grid
    assert grid.current_column == logit_lens.current_state(live.state)
