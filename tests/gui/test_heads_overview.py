"""Every head at a glance: the pictures are the tape's cells, the numbers are facts of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QImage

from model_core.attention_facts import head_facts
from tests.gui.samples import LEFT_BUTTON
from tests.gui.samples import at as pixel
from tests.gui.views import CROSS, at, worked_view
from visualizer import linking
from visualizer.lenses.attentions import allowed_cells, attentions
from visualizer.lenses.heads_overview import (
    FACTS,
    _counted,
    fact_columns,
    fact_text,
    head_name,
    heads_overview,
    overview_label,
)
from visualizer.theme import LIGHT
from visualizer.widgets import figures
from visualizer.widgets.heads_overview import HeadsOverviewCanvas, HeadThumbs
from visualizer.widgets.heatmap_cells import colour_indices


@pytest.fixture
def canvas(qtbot):
    widget = HeadsOverviewCanvas()
    qtbot.addWidget(widget)
    widget.resize(780, 560)
    widget.set_overview(heads_overview(at(CROSS, token=3)))
    widget.show()
    return widget


def test_every_attention_of_the_run_is_there_with_all_its_heads():
    state = at(CROSS)
    whole = heads_overview(state)
    assert [(g.attention.kind, g.attention.layer, len(g.values)) for g in whole.groups] == [
        (kind, layer, 3) for kind in ("encoder", "cross", "decoder") for layer in (0, 1)
    ]
    for group in whole.groups:
        assert np.shares_memory(group.values, state.run.tape[group.site].value)
    assert overview_label(state.run.tape) == "overview 2 × 3 × 3 heads"
    assert whole.selected == (CROSS, 1) == whole.guided
    assert head_name(whole, (CROSS, 1)) == "decoder layer 1 · cross-attention · head 2 · guided"


@pytest.mark.parametrize("token", [0, 2, 3])
def test_the_facts_are_those_of_the_rows_that_decoding_has_reached(token):
    state = at(CROSS, token=token)
    for group in heads_overview(state).groups:
        tape, site = state.run.tape, group.site
        rows = 6 if group.attention.kind == "encoder" else token + 1
        allowed = allowed_cells(tape, site)
        for head, found in enumerate(group.facts):
            wanted = head_facts(
                tape[site].value[0, head, :rows],
                None if allowed is None else allowed[:rows],
                own_tokens=group.attention.kind != "cross",
            )
            for name in FACTS:
                value = getattr(wanted, name)
                assert getattr(found, name) == pytest.approx(value, rel=1e-5, nan_ok=True), name
            assert found.sink_key == wanted.sink_key


def test_the_row_of_facts_says_which_token_is_the_sink_and_leaves_a_dash_where_none_can_be():
    state = at(CROSS)
    whole = heads_overview(state)
    columns = {c.name: c for c in fact_columns(state, whole, (CROSS, 1))}
    facts = whole.group(CROSS).facts[1]
    assert (
        columns["sink"].text == f"{facts.sink:.2f} · {state.run.tape.source_tokens[facts.sink_key]}"
    )
    assert columns["diagonal"].text == "–" and columns["diagonal"].part is None
    assert columns["entropy"].text == f"{facts.entropy:.2f} bits"
    assert columns["entropy"].part == pytest.approx(facts.entropy / np.log2(6))
    assert columns["sharpness"].part == pytest.approx(facts.sharpness)


def test_every_pixel_of_every_head_is_its_tapes_value(canvas):
    picture = canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    table, hatch = LIGHT.packed_table("sequential"), 0xFF000000 | int(LIGHT.hatch[1:], 16)
    # the frame of the selected head lies outside of its picture
    for group in canvas.overview.groups:
        count, rows, columns = group.values.shape
        indices = colour_indices(group.values, 0.0, 1.0)
        for head in range(count):
            rect = canvas.picture_rect((group.site, head))
            for row in range(rows):
                for column in range(columns):
                    x = rect.left() + (column + 0.5) * rect.width() / columns
                    y = rect.top() + (row + 0.5) * rect.height() / rows
                    hidden = group.hidden is not None and group.hidden[row, column]
                    wanted = hatch if hidden else int(table[indices[head, row, column]])
                    assert picture.pixel(int(x), int(y)) == wanted, (group.site, head, row, column)


def test_rows_that_decoding_has_not_reached_stay_empty(canvas):
    canvas.set_overview(heads_overview(at(CROSS, token=1)))
    picture = canvas.grab().toImage()
    rect = canvas.picture_rect((CROSS, 0))
    third = pixel(QPointF(rect.center().x(), rect.top() + 2.5 * rect.height() / 4))
    assert picture.pixelColor(third).name() == LIGHT.sunken
    second = pixel(QPointF(rect.left() + 2, rect.top() + 1.5 * rect.height() / 4))
    assert picture.pixelColor(second).name() != LIGHT.sunken


def test_a_pixel_of_many_cells_is_the_largest_of_them():
    group = heads_overview(at(CROSS)).groups[0]
    values = np.random.default_rng(0).random((2, 50, 33)).astype(np.float32)
    thumbs = HeadThumbs(replace(group, values=values, hidden=None), 10, 7)
    assert thumbs.index.shape == (2, 7, 10)
    tops, lefts = [*(np.arange(7) * 50 // 7), 50], [*(np.arange(10) * 33 // 10), 33]
    for row in range(7):
        for column in range(10):
            block = values[:, tops[row] : tops[row + 1], lefts[column] : lefts[column + 1]]
            largest = colour_indices(block.max(axis=(1, 2)), 0.0, 1.0)
            assert (thumbs.index[:, row, column] == largest).all()
    # a line of pixels is shown once all of its rows are there
    assert thumbs.part(1, tops[3]).getRect() == (10, 0, 10, 3)
    assert thumbs.part(0, tops[3] - 1).height() == 2


def test_pointing_at_a_head_tells_it_and_a_click_opens_it(qtbot, canvas):
    head = ("decoder.layers.1.self_attn.weights", 2)
    for group in canvas.overview.groups:
        for number in range(3):
            centre = canvas.picture_rect((group.site, number)).center()
            assert canvas.head_at(centre) == (group.site, number)
    with qtbot.waitSignal(canvas.headHovered) as hovered:
        qtbot.mouseMove(canvas, pixel(canvas.picture_rect(head).center()))
    assert tuple(hovered.args) == head == canvas.hovered
    with qtbot.waitSignal(canvas.headClicked) as clicked:
        qtbot.mouseClick(canvas, LEFT_BUTTON, pos=pixel(canvas.picture_rect(head).center()))
    there = linking.open_head(at(CROSS), *clicked.args)
    assert (there.page, there.cursor.site, there.head) == ("record", *head)
    assert canvas.head_at(QPointF(canvas.width() - 1, canvas.height() - 1)) is None


@pytest.mark.parametrize("size", [(420, 240), (760, 330), (1300, 900)])
def test_no_head_leaves_the_picture_and_none_lies_on_another(canvas, size):
    canvas.resize(*size)
    cards = list(canvas.places().cards.values())
    for number, card in enumerate(cards):
        assert canvas.rect().contains(card.toRect()), card
        assert not any(card.intersects(other) for other in cards[:number])


def test_a_worked_example_has_its_encoders_heads():
    state = worked_view("encoder-layer")
    whole = heads_overview(state)
    assert [group.site for group in whole.groups] == ["encoder.layers.0.self_attn.weights"]
    assert [one.heads for one in attentions(state.run.tape)] == [3]
    assert whole.selected is None and whole.guided is None


def test_a_fact_is_written_alike_in_the_picture_and_in_the_row_of_facts():
    assert fact_text(0.0) == "0.00" and fact_text(0.004) == fact_text(0.0099) == "< 0.01"
    assert fact_text(0.01) == "0.01" and fact_text(np.nan) == "–"
    assert figures.bits(0.004) == fact_text(0.004)


@pytest.mark.parametrize(
    ("heads", "records", "text"),
    [(12, 6, "12 heads in 6 records"), (3, 1, "3 heads in 1 record"), (1, 1, "1 head in 1 record")],
)
def test_heads_and_records_are_counted_in_english(heads, records, text):
    assert _counted(heads, records) == text


def test_one_attention_is_no_product_of_layers_and_kinds():
    assert overview_label(worked_view("self-attention").run.tape).startswith("overview of ")
    assert overview_label(at(CROSS).run.tape) == "overview 2 × 3 × 3 heads"
