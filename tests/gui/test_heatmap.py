"""The heatmap: which pixel is which cell, in which colour, and what the pointer does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QApplication

from tests.gui.samples import FONT, LEFT_BUTTON, ROOT, at, matrix
from visualizer import fonts
from visualizer.theme import THEMES
from visualizer.widgets.head_strip import HeadStrip
from visualizer.widgets.heatmap import HeatMap

WRAPPED = Qt.AlignmentFlag.AlignRight | Qt.TextFlag.TextWordWrap


@pytest.fixture(autouse=True)
def bundled_font(qapp: QApplication) -> None:
    fonts.install_fonts(qapp, FONT, exact=True)


# The heatmap.


@pytest.mark.parametrize("scale", ["1", "1.5", "2"])
def test_the_pixel_under_the_pointer_belongs_to_the_cell_that_is_named(scale):
    """Shapes 5×9 and 9×5, pixel by pixel, in a process with its own scale."""
    run = subprocess.run(
        [sys.executable, Path(__file__).with_name("scaled_heatmap.py"), scale],
        env={
            **os.environ,
            "QT_QPA_PLATFORM": "offscreen",
            "QT_SCALE_FACTOR": scale,
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("shape", [(5, 9), (9, 5), (1, 1), (14, 64), (12, 300), (64, 5)])
def test_the_middle_of_every_cell_maps_back_to_it(qtbot, shape):
    heatmap = HeatMap()
    qtbot.addWidget(heatmap)
    heatmap.resize(700, 520)
    heatmap.set_matrix(matrix(*shape))
    for row in range(shape[0]):
        for column in range(shape[1]):
            rect = heatmap.cell_rect(row, column)
            assert rect.width() >= 1 and rect.height() >= 1
            assert heatmap.rect().contains(rect.toRect())
            assert heatmap.cell_at(rect.center()) == (row, column)


def test_hovering_and_clicking_a_cell_is_told_once(qtbot):
    heatmap = HeatMap()
    qtbot.addWidget(heatmap)
    heatmap.resize(500, 400)
    heatmap.set_matrix(matrix(4, 6))
    heatmap.show()
    told: list[object] = []
    heatmap.cellHovered.connect(lambda r, c: told.append((r, c)))
    heatmap.left.connect(lambda: told.append("left"))
    middle = heatmap.cell_rect(2, 5).center()
    qtbot.mouseMove(heatmap, at(middle))
    qtbot.mouseMove(heatmap, at(middle + QPointF(2, 2)))
    qtbot.mouseMove(heatmap, QPoint(1, 1))
    qtbot.waitUntil(lambda: told == [(2, 5), "left"])
    with qtbot.waitSignal(heatmap.cellClicked) as clicked:
        qtbot.mouseClick(heatmap, LEFT_BUTTON, pos=at(heatmap.cell_rect(3, 0).center()))
    assert clicked.args == [3, 0]


def colours_in(heatmap: HeatMap, row: int, column: int) -> set[int]:
    picture = heatmap.grab().toImage()
    rect = heatmap.cell_rect(row, column).toRect().adjusted(1, 1, -1, -1)
    return {
        picture.pixel(x, y)
        for x in range(rect.left(), rect.right())
        for y in range(rect.top(), rect.bottom())
    }


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("palette", ["sequential", "diverging"])
def test_a_masked_cell_is_hatched_and_looks_like_no_value(qtbot, name, palette):
    heatmap = HeatMap()
    qtbot.addWidget(heatmap)
    heatmap.resize(300, 300)
    heatmap.set_theme(THEMES[name])
    hidden = np.array([[False, True], [False, False]])
    heatmap.set_matrix(
        matrix(2, 2, values=np.zeros((2, 2), np.float32), hidden=hidden, palette=palette, low=-1.0)
    )
    masked, zero = colours_in(heatmap, 0, 1), colours_in(heatmap, 1, 1)
    assert len(masked) == 2  # the ground and the lines, no number
    table = {int(c) for c in heatmap.theme.packed_table(palette)}
    assert not masked & table
    assert zero & table


def test_a_matrix_without_cells_shows_the_empty_text(qtbot):
    heatmap = HeatMap()
    qtbot.addWidget(heatmap)
    heatmap.resize(300, 200)
    heatmap.set_matrix(matrix(0, 4))
    blank = heatmap.grab().toImage()
    assert heatmap.cell_at(QPointF(150, 100)) is None
    heatmap.set_empty_text("nothing to show")
    assert heatmap.grab().toImage() != blank


def test_a_new_matrix_of_another_shape_ends_the_hover_without_a_signal(qtbot):
    heatmap = HeatMap()
    qtbot.addWidget(heatmap)
    heatmap.resize(400, 400)
    heatmap.set_matrix(matrix(6, 6))
    heatmap.show()
    qtbot.mouseMove(heatmap, at(heatmap.cell_rect(5, 5).center()))
    qtbot.waitUntil(lambda: heatmap.hovered == (5, 5))
    with qtbot.assertNotEmitted(heatmap.left):
        heatmap.set_matrix(matrix(2, 2))
    assert heatmap.hovered is None


def test_colour_of_a_large_cell_is_its_values_colour(qtbot):
    heatmap = HeatMap()
    qtbot.addWidget(heatmap)
    heatmap.resize(500, 400)
    picture = matrix(3, 4)
    heatmap.set_matrix(picture)
    shown = heatmap.grab().toImage()
    table = heatmap.theme.packed_table("sequential")
    for row in range(3):
        for column in range(4):
            corner = heatmap.cell_rect(row, column).topLeft() + QPointF(2, 2)
            expected = table[round(float(picture.values[row, column]) * 255)]
            assert shown.pixel(at(corner)) == int(expected)


# What lies round the cells.


@pytest.mark.parametrize("name", THEMES)
def test_the_frame_of_the_selected_cell_leaves_its_colour(qtbot, name):
    """Also where a cell is two pixels wide, as over a vocabulary."""
    heatmap = HeatMap()
    qtbot.addWidget(heatmap)
    heatmap.resize(700, 300)
    heatmap.set_theme(THEMES[name])
    values = np.zeros((7, 292), np.float32)
    values[6, 137] = 1.0
    heatmap.set_matrix(matrix(7, 292, values=values))
    rect = heatmap.cell_rect(6, 137).toRect()
    assert rect.width() <= 3
    before = heatmap.grab(rect).toImage()
    heatmap.set_selected((6, 137))
    assert heatmap.grab(rect).toImage() == before
    assert heatmap.grab(rect.adjusted(-4, -4, 4, 4)).toImage().pixel(2, 8) != before.pixel(0, 4)


def layout_of(heatmap: HeatMap):
    layout = heatmap._ready()
    assert layout is not None
    return layout


@pytest.mark.parametrize("height", [190, 230, 300])
def test_every_row_has_its_label_where_rows_are_twelve_pixels_high(qtbot, height):
    heatmap = HeatMap()
    qtbot.addWidget(heatmap)
    heatmap.resize(730, height)
    notes = tuple(f"→ w{row}" for row in range(8))
    heatmap.set_matrix(matrix(8, 292, row_notes=notes, row_title="row", column_title="column"))
    layout = layout_of(heatmap)
    if heatmap.cell_rect(0, 0).height() >= 12:
        assert layout.row_step == 1
        assert layout.row_notes is not None


LONG_TITLE = "queries: target token → the token it predicts"


@pytest.mark.parametrize("size", [(560, 320), (1500, 900)])
@pytest.mark.parametrize("rows", [1, 2, 3, 7])
def test_titles_and_the_colour_bar_stay_within_their_room(qtbot, rows, size):
    heatmap = HeatMap()
    qtbot.addWidget(heatmap)
    heatmap.resize(*size)
    notes = ("→ w",) * rows
    heatmap.set_matrix(matrix(rows, 9, row_notes=notes, row_title=LONG_TITLE, column_title="keys"))
    layout, cells = layout_of(heatmap), layout_of(heatmap).cells.bounds()
    assert layout.colour_bar.top() >= cells.top()
    assert layout.colour_bar.bottom() <= cells.bottom() + 1
    small = heatmap.face(fonts.SMALL)
    if layout.row_title is None:
        # upright, beside the cells
        assert small.width(LONG_TITLE) <= cells.height() + 2 * heatmap.em + 1
    else:
        needed = small.metrics.boundingRect(layout.row_title, WRAPPED, LONG_TITLE)
        assert needed.height() <= layout.row_title.height() + 1
        assert needed.width() <= layout.row_title.width() + 1
        assert heatmap.rect().contains(layout.row_title.toRect())
    assert cells.height() / rows >= 2 * heatmap.em


def test_cells_of_a_small_matrix_grow_with_the_window_and_stand_in_its_middle(qtbot):
    sizes = []
    for size in ((560, 320), (1400, 900)):
        heatmap = HeatMap()
        qtbot.addWidget(heatmap)
        heatmap.resize(*size)
        heatmap.set_matrix(matrix(4, 5))
        sizes.append(heatmap.cell_rect(0, 0).width())
        cells = layout_of(heatmap).cells.bounds()
        assert heatmap.rect().contains(cells.toRect())
    assert sizes[1] > 1.3 * sizes[0]
    assert sizes[1] <= 125
    assert cells.top() > 0.1 * heatmap.height()
    assert abs(cells.center().x() - heatmap.width() / 2) < 0.1 * heatmap.width()


@pytest.mark.parametrize("name", THEMES)
def test_masked_cells_of_a_thumbnail_are_hatched_and_zeros_are_not(qtbot, name):
    strip = HeadStrip()
    qtbot.addWidget(strip)
    strip.set_theme(THEMES[name])
    strip.resize(strip.sizeHint().width(), 110)
    hidden = np.zeros((4, 4), bool)
    hidden[0, 2:] = True
    values = np.zeros((4, 4), np.float32)
    head = matrix(4, 4, values=values, hidden=hidden, palette="diverging", low=-1.0)
    strip.set_heads((head,), ("head 1",), 0)
    picture = strip.grab().toImage()
    place = strip.picture_rect(0)
    wide, high = place.width() / 4, place.height() / 4

    def colours(row: int, column: int) -> set[int]:
        left, top = int(place.left() + column * wide), int(place.top() + row * high)
        return {
            picture.pixel(left + x, top + y)
            for x in range(2, int(wide) - 1)
            for y in range(2, int(high) - 1)
        }

    assert len(colours(0, 3)) == 2
    assert len(colours(3, 0)) == 1
    assert not colours(0, 3) & colours(3, 0)
