"""Where many cells share a pixel: which of them is shown, told and kept."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from tests.gui.samples import FONT, matrix
from visualizer import fonts
from visualizer.lenses import keeping
from visualizer.lenses.blocks import MOST_READ, Span, continued, largest, largest_cell, spans
from visualizer.theme import THEMES
from visualizer.widgets.head_strip import HeadStrip
from visualizer.widgets.heatmap import HeatMap
from visualizer.widgets.zoomable import ZoomWords


@pytest.fixture(autouse=True)
def bundled_font(qapp: QApplication) -> None:
    fonts.install_fonts(qapp, FONT, exact=True)


@pytest.fixture
def heatmap(qtbot) -> HeatMap:
    shown = HeatMap()
    qtbot.addWidget(shown)
    shown.resize(760, 600)
    shown.set_zoom_words(ZoomWords("larger", "smaller", "fit", "map", "{n}!", "{n} of {all}"))
    shown.show()
    return shown


def truth(values, hidden, signed):
    sizes = np.where(hidden, -np.inf, np.abs(values) if signed else values)
    return values.ravel()[sizes.argmax()]


@pytest.mark.parametrize("palette", ["diverging", "sequential"])
@pytest.mark.parametrize("shape", [(513, 97), (60, 1001), (128, 128)])
def test_a_pixel_shows_the_largest_cell_of_its_block_that_is_not_hidden(shape, palette):
    rng = np.random.default_rng(0)
    values = rng.standard_normal(shape).astype(np.float32)
    hidden = rng.random(shape) < 0.7
    drawn = matrix(*shape, values=values, hidden=hidden, palette=palette)
    rows, columns = spans(shape, (40, 60))
    found, closed = largest(drawn, rows, columns)
    assert found.shape == (rows.blocks, columns.blocks)
    assert rows.blocks <= 40 and columns.blocks <= 60
    for r in range(rows.blocks):
        for c in range(columns.blocks):
            block = np.s_[
                r * rows.block : (r + 1) * rows.block,
                c * columns.block : (c + 1) * columns.block,
            ]
            covered = hidden[block].all()
            assert covered == (closed is not None and closed[r, c])
            if not covered:
                assert found[r, c] == truth(values[block], hidden[block], palette == "diverging")
                cell = largest_cell(drawn, rows, columns, (r, c))
                assert values[cell] == found[r, c] and not hidden[cell]


def test_of_a_matrix_of_thirty_million_cells_a_bounded_part_is_read_and_it_is_said(heatmap):
    values = np.zeros((60_000, 512), np.float32)
    values[12_345, 17] = 5.0
    rows, columns = spans(values.shape, (500, 600))
    assert rows.blocks * rows.read * columns.blocks * columns.read <= MOST_READ
    assert rows.read < rows.block
    table = matrix(60_000, 512, values=values, palette="diverging", low=-5.0, high=5.0)
    heatmap.set_matrix(table)
    heatmap.grab()
    layout = heatmap._ready()
    read, whole = layout.rows.read, layout.rows.block * layout.columns.block
    assert heatmap._note(layout) == f"{read * layout.columns.read} of {whole}"
    heatmap.show_cell(12_345, 17)
    heatmap.set_selected((12_345, 17))
    for _ in range(14):
        heatmap.zoom_in()
    assert heatmap.viewport.contains(12_345, 17)
    assert heatmap.cell_at(heatmap.cell_rect(12_345, 17).center()) == (12_345, 17)
    assert heatmap._note(heatmap._ready()) == ""


@pytest.mark.parametrize("name", THEMES)
def test_one_weight_among_many_is_seen_in_a_thumbnail(qtbot, name):
    strip = HeadStrip()
    qtbot.addWidget(strip)
    strip.set_theme(THEMES[name])
    strip.resize(strip.sizeHint().width(), 200)
    values = np.zeros((512, 512), np.float32)
    values[301, 77] = 1.0
    strip.set_heads((matrix(512, 512, values=values),), ("head 1",), 0)
    picture = strip.grab().toImage()
    brightest = int(strip.theme.packed_table("sequential")[255])
    place = strip.picture_rect(0).toRect()
    assert any(
        picture.pixel(x, y) == brightest
        for x in range(place.left(), place.right() + 1)
        for y in range(place.top(), place.bottom() + 1)
    )


def test_sixteen_heads_have_captions_that_do_not_touch(qtbot):
    strip = HeadStrip()
    qtbot.addWidget(strip)
    for height in (420, 560, 900):
        strip.resize(strip.sizeHint().width(), height)
        heads = tuple(matrix(40, 40) for _ in range(16))
        strip.set_heads(heads, tuple(f"head {n + 1}" for n in range(16)), 0)
        cards = [strip.rect_of(head) for head in range(16)]
        small = strip.face(fonts.SMALL)
        for number, card in enumerate(cards):
            assert card.right() <= strip.width()
            assert small.width("head 16") <= card.width() - strip.em
            assert not any(card.intersects(other) for other in cards[number + 1 :])


def test_what_is_kept_for_a_run_goes_with_it_and_is_bounded():
    class Owner:
        pass

    owner = Owner()
    made = []

    def make(number):
        made.append(number)
        return number

    for number in (1, 2, 1, 3, 1):
        keeping.keep(owner, "kind", number, lambda number=number: make(number), most=2)
    assert made == [1, 2, 3]
    assert keeping.keep(None, "kind", 1, lambda: 7) == 7
    assert owner in keeping._kept
    del owner
    assert not any(isinstance(kept, Owner) for kept in keeping._kept)


@pytest.mark.parametrize("palette", ["diverging", "sequential"])
def test_a_picture_that_is_continued_token_by_token_is_the_one_made_at_once(palette):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((90, 90)).astype(np.float32)
    hidden = np.triu(np.ones((90, 90), bool), 1)
    before = None
    for count in (40, 41, 42, 60, 61, 90, 89, 41, 41, 3, 80):
        part = {"values": values[:count, :count], "hidden": hidden[:count, :count]}
        drawn = matrix(count, count, palette=palette, **part)
        rows, columns = Span(0, count, 4, 4), Span(0, count, 3, 3)
        before = continued(drawn, rows, columns, before)
        found, closed = largest(drawn, rows, columns)
        open_cells = np.ones_like(found, bool) if closed is None else ~closed
        assert (before.values == found)[open_cells].all()
        assert ((before.closed if before.closed is not None else ~open_cells) == ~open_cells).all()
