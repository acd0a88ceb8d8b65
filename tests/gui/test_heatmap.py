"""The heatmap: which pixel is which cell, in which colour, and what the pointer does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF
from PySide6.QtWidgets import QApplication

from tests.gui.samples import FONT, LEFT_BUTTON, ROOT, at, matrix
from visualizer import fonts
from visualizer.theme import THEMES
from visualizer.widgets.heatmap import HeatMap


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
