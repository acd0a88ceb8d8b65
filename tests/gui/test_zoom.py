"""Zoom and pan: what is on show, what stays, what is told where many cells share a pixel."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.gui.live_window import checkpoint, live  # noqa: F401
from tests.gui.samples import FONT, LEFT_BUTTON, ROOT, at, matrix
from visualizer import actions, fonts, navigation
from visualizer.widgets.heatmap import HeatMap
from visualizer.widgets.heatmap_layout import shown_labels
from visualizer.widgets.viewport import Axis, Viewport
from visualizer.widgets.zoomable import ZoomWords

CONTROL = Qt.KeyboardModifier.ControlModifier
PLAIN = Qt.KeyboardModifier.NoModifier


@pytest.fixture(autouse=True)
def bundled_font(qapp: QApplication) -> None:
    fonts.install_fonts(qapp, FONT, exact=True)


@pytest.fixture
def heatmap(qtbot) -> HeatMap:
    shown = HeatMap()
    qtbot.addWidget(shown)
    shown.resize(760, 600)
    shown.set_zoom_words(ZoomWords("larger", "smaller", "fit", "map", "{n}!", "{n} of {all}"))
    shown.set_matrix(matrix(200, 120))
    shown.show()
    return shown


def looked_at(heatmap: HeatMap, *window: int) -> Viewport:
    first_row, rows, first_column, columns = window
    height, width = heatmap.matrix.values.shape
    view = Viewport(Axis(height, first_row, rows), Axis(width, first_column, columns))
    heatmap.set_viewport(view)
    return view


def turn(
    heatmap: HeatMap, pos: QPointF, notches: float, held: Qt.KeyboardModifier = CONTROL
) -> None:
    QApplication.sendEvent(
        heatmap,
        QWheelEvent(
            pos,
            heatmap.mapToGlobal(pos),
            QPoint(),
            QPoint(0, round(120 * notches)),
            Qt.MouseButton.NoButton,
            held,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        ),
    )


# Which cells are on show.


def test_zooming_at_a_point_leaves_the_cell_there_where_it_is():
    view = Viewport.whole((200, 300))
    for _ in range(6):
        before = view.rows.first + 0.25 * view.rows.count
        view = view.zoomed(0.8, 0.25, 0.75, 1.0)
        assert abs(view.rows.first + 0.25 * view.rows.count - before) <= 1
    assert view.rows.count < 100 and view.columns.count < 100
    assert not view.is_whole
    for _ in range(40):
        view = view.zoomed(1.25, 0.25, 0.75, 1.0)
    assert view.is_whole


def test_a_matrix_of_few_long_rows_is_cut_along_the_columns_first():
    view = Viewport.whole((8, 2000))
    for _ in range(8):
        view = view.zoomed(0.7, 0.5, 0.5, 3.0)
    assert view.rows.is_whole
    assert view.columns.count < 200


def test_a_window_never_leaves_the_matrix():
    view = Viewport(Axis(50, 10, 20), Axis(9, 0, 9))
    assert view.moved(-100, 5).window == (0, 20, 0, 9)
    assert view.moved(100, -5).window == (30, 20, 0, 9)
    assert view.centred(49, 8).rows.end == 50


def test_a_cell_is_brought_into_view_with_a_neighbour_and_no_farther():
    view = Viewport(Axis(50, 10, 20), Axis(60, 10, 20))
    assert view.showing(15, 20) == view
    assert view.showing(35, 20).window == (17, 20, 10, 20)
    assert view.showing(0, 59).window == (0, 20, 40, 20)


# The widget.


def test_the_wheel_with_ctrl_zooms_at_the_pointer_and_alone_scrolls(heatmap):
    assert heatmap.viewport.is_whole
    place = heatmap.cell_rect(150, 90).center()
    turn(heatmap, place, 1, PLAIN)
    assert heatmap.viewport.is_whole
    for _ in range(8):
        turn(heatmap, place, 1)
    view = heatmap.viewport
    assert view.contains(150, 90)
    row, column = heatmap.cell_at(place)
    assert abs(row - 150) <= 1 and abs(column - 90) <= 1
    turn(heatmap, place, 1, PLAIN)
    assert heatmap.viewport.rows.first < view.rows.first
    assert heatmap.viewport.columns == view.columns
    turn(heatmap, place, -1, Qt.KeyboardModifier.ShiftModifier)
    assert heatmap.viewport.columns.first > view.columns.first
    for _ in range(30):
        turn(heatmap, place, -1)
    assert heatmap.viewport.is_whole


def test_a_drag_pans_and_a_click_still_chooses_a_cell(qtbot, heatmap):
    looked_at(heatmap, 80, 20, 40, 20)
    start, end = heatmap.cell_rect(90, 50).center(), heatmap.cell_rect(95, 53).center()
    told = []
    heatmap.cellClicked.connect(lambda *cell: told.append(cell))
    qtbot.mousePress(heatmap, LEFT_BUTTON, pos=at(start))
    QTest.mouseMove(heatmap, at((start + end) / 2))
    qtbot.waitUntil(lambda: heatmap.viewport.window != (80, 20, 40, 20))
    QTest.mouseMove(heatmap, at(end))
    qtbot.waitUntil(lambda: heatmap.viewport.window == (75, 20, 37, 20))
    qtbot.mouseRelease(heatmap, LEFT_BUTTON, pos=at(end))
    assert told == []
    assert heatmap.cell_at(QPointF(at(end))) == (90, 50)
    qtbot.mouseClick(heatmap, LEFT_BUTTON, pos=at(end))
    assert told == [(90, 50)]


def test_a_double_click_beside_the_cells_shows_all_of_them_again(qtbot, heatmap):
    looked_at(heatmap, 80, 20, 40, 20)
    qtbot.mouseDClick(heatmap, LEFT_BUTTON, pos=QPoint(8, heatmap.height() // 2))
    assert heatmap.viewport.is_whole


def test_the_keys_zoom_about_the_chosen_cell(qtbot, heatmap):
    def press(text: str) -> bool:
        return heatmap.take_key(QKeyEvent(QEvent.Type.KeyPress, 0, PLAIN, text))

    heatmap.set_selected((190, 4))
    for _ in range(6):
        assert press("+")
    assert heatmap.viewport.contains(190, 4)
    assert heatmap.viewport.rows.count < 60
    smaller = heatmap.viewport
    assert press("-")
    assert heatmap.viewport.rows.count > smaller.rows.count
    assert press("0")
    assert heatmap.viewport.is_whole
    assert not press("a")


def test_the_buttons_come_where_cells_are_too_small_to_read(qtbot, heatmap):
    assert heatmap.zoom_buttons.isVisible()
    assert not heatmap.minimap.isVisible()
    assert [button.isEnabled() for button in heatmap.zoom_buttons.buttons] == [True, False, False]
    qtbot.mouseClick(heatmap.zoom_buttons.buttons[0], LEFT_BUTTON)
    assert not heatmap.viewport.is_whole
    assert heatmap.minimap.isVisible()
    assert all(button.accessibleName() for button in heatmap.zoom_buttons.buttons)
    qtbot.mouseClick(heatmap.zoom_buttons.buttons[2], LEFT_BUTTON)
    assert heatmap.viewport.is_whole
    heatmap.set_matrix(matrix(5, 6))
    assert not heatmap.zoom_buttons.isVisible()


@pytest.mark.parametrize("size", [(560, 320), (760, 600), (1500, 900)])
@pytest.mark.parametrize("shape", [(200, 120), (7, 292), (512, 512), (60, 4)])
def test_buttons_minimap_bar_and_cells_do_not_cover_each_other(qtbot, heatmap, size, shape):
    heatmap.resize(*size)
    heatmap.set_matrix(matrix(*shape, hidden=np.eye(*shape, dtype=bool)))
    heatmap.set_hidden_legend("masked")
    heatmap.zoom_in()
    layout = heatmap._ready()
    parts = [layout.cells.bounds(), layout.colour_bar, layout.legend, layout.buttons]
    parts = [part for part in (*parts, layout.minimap) if part is not None]
    for number, part in enumerate(parts):
        assert heatmap.rect().contains(part.toRect())
        assert not any(part.intersects(other) for other in parts[number + 1 :])


def test_the_window_stays_while_one_steps_and_comes_back_with_the_shape(heatmap):
    heatmap.set_matrix(matrix(200, 120, axes=("T", "S")))
    view = looked_at(heatmap, 80, 20, 40, 20)
    zeros = np.zeros((200, 120), np.float32)
    heatmap.set_matrix(matrix(200, 120, values=zeros, axes=("T", "S")))
    assert heatmap.viewport == view
    # one row more, as at the next token
    heatmap.set_matrix(matrix(201, 120, axes=("T", "S")))
    # another record of the same tokens, with columns of another kind
    heatmap.set_matrix(matrix(201, 32, axes=("T", "K")))
    assert heatmap.viewport.window == (80, 20, 0, 32)
    heatmap.set_matrix(matrix(201, 120, axes=("T", "S")))
    assert heatmap.viewport.window == view.window
    # fewer tokens
    heatmap.set_matrix(matrix(50, 120, axes=("T", "S")))
    assert heatmap.viewport.window == (30, 20, 40, 20)
    heatmap.set_matrix(matrix(10, 120, axes=("T", "S")))
    assert heatmap.viewport.window == (0, 10, 40, 20)


def test_the_current_row_stays_in_view_where_it_was_and_comes_into_view_on_the_other_side(heatmap):
    looked_at(heatmap, 80, 20, 40, 20)
    heatmap.set_matrix(matrix(200, 120, axes=("S", "S"), current_row=95))
    window = (80, 20, 40, 20)
    for row in range(96, 110):
        heatmap.set_matrix(matrix(200, 120, axes=("S", "S"), current_row=row))
        assert heatmap.viewport.rows.has(row)
        assert heatmap.viewport.rows.first <= row - 15
    assert heatmap.viewport.window != window
    # out of view it is left alone
    looked_at(heatmap, *window)
    heatmap.set_matrix(matrix(200, 120, axes=("S", "S"), current_row=111))
    assert heatmap.viewport.window == window
    heatmap.set_matrix(matrix(90, 120, axes=("T", "S"), current_row=4))
    assert heatmap.viewport.contains(4, 45)


def test_a_chosen_cell_is_scrolled_into_view_without_a_word(qtbot, heatmap):
    looked_at(heatmap, 80, 20, 40, 20)
    with qtbot.assertNotEmitted(heatmap.viewChanged):
        heatmap.show_cell(3, 110)
    assert heatmap.viewport.contains(3, 110)
    assert heatmap.viewport.rows.count == 20
    assert not heatmap.cell_rect(3, 110).isEmpty()
    assert heatmap.cell_rect(150, 3).isEmpty()


def test_the_frame_of_the_minimap_lies_over_what_is_on_show_and_is_dragged(qtbot, heatmap):
    looked_at(heatmap, 80, 20, 40, 20)
    minimap = heatmap.minimap
    frame, whole = minimap.frame(), minimap._area()
    middle = (frame.center().y() - whole.top()) / whole.height()
    assert abs(middle - 90 / 200) < 0.02
    qtbot.mousePress(minimap, LEFT_BUTTON, pos=at(frame.center()))
    assert heatmap.viewport.window == (80, 20, 40, 20)
    qtbot.mouseMove(minimap, QPoint(minimap.width() - 1, minimap.height() - 1))
    qtbot.waitUntil(lambda: heatmap.viewport.window == (180, 20, 100, 20))
    qtbot.mouseRelease(minimap, LEFT_BUTTON)


@pytest.mark.parametrize("scale", ["1", "1.5", "2"])
def test_while_zoomed_the_pixel_under_the_pointer_belongs_to_the_cell_that_is_named(scale):
    run = subprocess.run(
        [sys.executable, Path(__file__).with_name("scaled_zoom.py"), scale],
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


def test_labels_that_are_written_do_not_touch(heatmap):
    for window in ((0, 200, 0, 120), (37, 60, 11, 90), (100, 10, 50, 8)):
        looked_at(heatmap, *window)
        layout = heatmap._ready()
        rows = shown_labels(window[1], layout.row_step, None, window[0])
        assert all(window[0] <= row < window[0] + window[1] for row in rows)
        places = [layout.cells.row_centre(row) for row in rows]
        line = heatmap.em * layout.row_scale
        assert all(b - a >= line - 1 for a, b in pairwise(places))


def test_numbers_are_written_once_cells_are_large_enough(heatmap):
    def inks() -> int:
        picture = heatmap.grab().toImage()
        rect = heatmap.cell_rect(100, 60).toRect().adjusted(2, 2, -2, -2)
        return len(
            {
                picture.pixel(x, y)
                for x in range(rect.left(), rect.right())
                for y in range(rect.top(), rect.bottom())
            }
        )

    looked_at(heatmap, 90, 40, 40, 40)
    assert inks() == 1
    looked_at(heatmap, 97, 8, 57, 8)
    assert inks() > 1


def test_the_keys_of_the_stage_zoom_and_a_link_brings_its_cell_into_view(live):  # noqa: F811
    live.store.dispatch(navigation.go_to_site, "encoder.layers.0.self_attn.q")
    stage = live.window.stage
    shown = stage.pages["record"].heatmap
    stage.setFocus()
    live.qtbot.waitUntil(shown.isVisible)
    for _ in range(3):
        QTest.keyClicks(stage, "+")
    view = shown.viewport
    assert not view.is_whole and shown.minimap.isVisible()
    last = view.columns.size - 1
    assert not view.contains(0, last)
    live.store.dispatch(actions.select_cell, (0, last))
    assert shown.viewport.contains(0, last)
    # numbers choose heads as before
    QTest.keyClicks(stage, "2")
    assert live.state.head == 1
    QTest.keyClicks(stage, "0")
    assert shown.viewport.is_whole
