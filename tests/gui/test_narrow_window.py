"""What has to be read in the smallest windows: tabs, captions, units, the way back."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

from model_core.ops.base import Origin
from tests.gui.gradient_views import gradients_at
from tests.gui.live_window import live  # noqa: F401 (fixture)
from tests.gui.views import CROSS, at
from visualizer import trail
from visualizer.lenses import matrix, stage
from visualizer.state import current_token
from visualizer.widgets.head_strip import HeadStrip
from visualizer.widgets.page_tabs import PageTabs

TABS = (
    ("record", "This step"),
    ("layers", "Through the layers"),
    ("attention", "All attention"),
    ("lens", "Logit lens"),
    ("decoding", "Decoding"),
    ("step", "Training step"),
    ("train", "Training"),
)
SHORT = {"layers": "Layers", "attention": "Attention"}
CHOICE = (("values", "Values"), ("gradients", "Gradients"))


@pytest.fixture
def tabs(qtbot):
    widget = PageTabs()
    qtbot.addWidget(widget)
    widget.set_back("Back", SHORT)
    widget.set_tabs(TABS, "record")
    widget.set_showing(CHOICE, "values")
    widget.resize(1000, 28)
    return widget


def places(tabs: PageTabs) -> dict:
    return {name: tabs.tab_rect(name).getRect() for name, _ in TABS}


@pytest.mark.parametrize("width", [420, 560, 600, 640, 760, 900, 1100])
def test_no_tab_lies_over_another_thing_and_none_moves_when_a_way_back_comes(tabs, width):
    tabs.resize(width, 28)
    before = places(tabs)
    assert not tabs.tab_rect("back").isValid()
    tabs.set_tabs(TABS, "record", leads_back=True)
    assert places(tabs) == before
    rects = sorted((rect for _, _, rect in tabs._things()), key=lambda rect: rect.left())
    assert len(rects) == len(TABS) + 3
    assert rects[0].left() >= 0 and rects[-1].right() <= width + 0.5
    for left, right in pairwise(rects):
        assert left.right() <= right.left() + 0.01
    # the way back stands before the choice of numbers
    assert tabs.tab_rect("lens").right() < tabs.tab_rect("back").left()
    assert tabs.tab_rect("back").right() <= tabs.tab_rect("values").left()
    # a page without such a choice has its tabs in the same places
    tabs.set_showing((), "values")
    assert places(tabs) == before


def test_names_are_whole_where_there_is_room_shorter_where_there_is_less(tabs):
    def words() -> list[str]:
        return [text for name, text, _ in tabs._things() if name in dict(TABS)]

    assert words() == [text for _, text in TABS]
    tabs.resize(600, 28)
    assert words() == [SHORT.get(name, text) for name, text in TABS]


def test_the_way_back_is_clicked_where_it_is_painted(live):  # noqa: F811
    live.store.dispatch(trail.open_page, "lens")
    tabs = live.window.stage.tabs
    live.qtbot.mouseClick(
        tabs, Qt.MouseButton.LeftButton, pos=tabs.tab_rect("back").center().toPoint()
    )
    assert live.state.page == "record" and not live.state.trail


@pytest.mark.parametrize("site", [CROSS, "decoder.layers.0.norm1.out"])
def test_the_unit_of_gradients_comes_first_so_that_it_is_never_cut_off(site):
    title = stage.stage(gradients_at(site)).column_title
    unit = stage.stage(gradients_at(site)).unit
    assert (unit == 1.0) != title.startswith("numbers × 1e-")
    assert matrix.with_unit("dims · more", 1e-6) == "numbers × 1e-6, dims · more"


def test_a_guided_head_without_room_keeps_its_number_and_has_a_dot(live):  # noqa: F811
    pictures = stage.head_pictures(at(CROSS))
    titles = tuple(picture.title for picture in pictures)
    assert titles[1] == "head 2 · guided"

    def painted(captions: tuple[str, ...]) -> np.ndarray:
        strip = HeadStrip()
        live.qtbot.addWidget(strip)
        strip.set_heads(tuple(picture.matrix for picture in pictures), captions, 0)
        strip.resize(130, 140)
        image = strip.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
        rect = strip.rect_of(1).toRect()
        pixels = np.frombuffer(image.constBits(), np.uint32).reshape(140, 130)
        return pixels[rect.top() + 2 : rect.top() + 16, rect.left() + 2 : rect.right() - 2].copy()

    guided, plain = painted(titles), painted(("head 1", "head 2", "head 3"))
    assert (guided != plain).any()
    # but for the dot at the right it is the same caption
    assert (guided[:, :-12] == plain[:, :-12]).all()


# Links.


def test_a_link_moves_the_cursor_to_the_row_that_it_leads_to():
    state = at("decoder.layers.0.cross_attn.context", token=3)
    for row in range(4):
        there = trail.follow(state, Origin("decoder.layers.0.cross_attn.q_heads", (0, 2, row, 1)))
        assert (current_token(there), there.selected, there.head) == (row, (row, 1), 2)
        assert trail.go_back(there).cursor == state.cursor
    there = trail.follow(state, Origin("decoder.layers.0.self_attn.weights", (0, 0, 2, 1)))
    assert (current_token(there), there.selected) == (2, (2, 1))
    # a hidden cell needs as many rows as it has columns before it
    there = trail.follow(state, Origin("decoder.layers.0.self_attn.masked_scores", (0, 0, 1, 3)))
    assert (current_token(there), there.selected) == (3, (1, 3))


def test_a_link_into_the_encoder_or_to_a_gradient_leaves_the_cursors_token():
    state = at("decoder.layers.0.cross_attn.context", token=3)
    there = trail.follow(state, Origin("encoder.out", (0, 1, 2)))
    assert there.cursor.token == 3 and there.selected == (1, 2)
    back = gradients_at(CROSS, token=2)
    there = trail.follow(back, Origin("decoder.layers.0.norm1.out", (0, 0, 5), "gradient"))
    assert (current_token(there), there.selected) == (2, (0, 5))
    assert replace(there, target=None) == there
