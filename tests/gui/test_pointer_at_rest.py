"""Pages that come and go under a pointer that rests, and under a field that is being typed in."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QWidget

from model_core.ops.base import Origin
from tests.gui.live_window import live  # noqa: F401 (fixture)
from tests.gui.views import entry
from visualizer import actions, navigation, trail
from visualizer.state import Cursor
from visualizer.widgets.canvas import Canvas

KEY, HELD = Qt.Key, Qt.KeyboardModifier
WEIGHTS = "decoder.layers.0.cross_attn.weights"
PAGES = ("record", "layers", "attention", "heads", "lens", "decoding", "chat", "parameter")
KEYS = {
    "F": (KEY.Key_F, HELD.NoModifier),
    "A": (KEY.Key_A, HELD.NoModifier),
    "Shift+A": (KEY.Key_A, HELD.ShiftModifier),
    "L": (KEY.Key_L, HELD.NoModifier),
    "D": (KEY.Key_D, HELD.NoModifier),
    "G": (KEY.Key_G, HELD.NoModifier),
    "Right": (KEY.Key_Right, HELD.NoModifier),
    "Ctrl+Right": (KEY.Key_Right, HELD.ControlModifier),
    "Home": (KEY.Key_Home, HELD.NoModifier),
    "End": (KEY.Key_End, HELD.NoModifier),
    "Backspace": (KEY.Key_Backspace, HELD.NoModifier),
}


def rest_on(live, widget: QWidget, pos: QPoint) -> None:  # noqa: F811
    """Move the pointer there and leave it."""
    live.qtbot.mouseMove(widget, QPoint(1, 1))
    QCursor.setPos(widget.mapToGlobal(pos))
    live.qtbot.mouseMove(widget, pos)
    QApplication.processEvents()


def pages_pictures(live) -> list[Canvas]:  # noqa: F811
    page = live.window.stage.page
    return [canvas for canvas in page.findChildren(Canvas) if canvas.isVisible()]


@pytest.mark.parametrize("page", PAGES)
def test_every_page_key_may_be_pressed_while_the_pointer_rests_on_any_picture(live, page):  # noqa: F811
    place = Origin("decoder.layers.0.cross_attn.W_q", (0, 0))

    def go() -> None:
        live.store.dispatch(navigation.go_to_record, WEIGHTS)
        if page == "parameter":
            live.store.dispatch(trail.follow, place)
        else:
            live.store.dispatch(actions.show_page, page)
        QApplication.processEvents()

    go()
    assert live.state.page == page
    for number in range(len(pages_pictures(live))):
        for name, (key, held) in KEYS.items():
            go()
            pictures = pages_pictures(live)
            if number >= len(pictures):
                continue
            rest_on(live, pictures[number], pictures[number].rect().center())
            # an error in an event handler fails the test (pytest-qt)
            live.press(key, held, live.window.stage)
            QApplication.processEvents()
            if live.state.page != page:
                assert live.state.hovered is None, (number, name)


def test_a_cell_is_told_again_once_the_pointer_moves(live):  # noqa: F811
    heatmap = live.window.stage.pages["record"].heatmap

    def middle() -> QPoint:
        return heatmap.cell_rect(1, 1).center().toPoint()

    rest_on(live, heatmap, middle())
    assert live.state.hovered == (1, 1)
    live.press(KEY.Key_A, widget=live.window.stage)
    live.press(KEY.Key_A, widget=live.window.stage)
    assert live.state.page == "record" and live.state.hovered is None
    QApplication.processEvents()
    live.qtbot.mouseMove(heatmap, middle() + QPoint(1, 1))
    assert live.state.hovered == (1, 1)


def test_the_pointer_may_rest_on_the_lens_while_a_cell_of_it_is_opened(live):  # noqa: F811
    live.store.dispatch(actions.put_cursor, Cursor("decoder.layers.1.residual3.out", 1))
    live.store.dispatch(actions.show_page, "lens")
    live.store.dispatch(actions.hover_cell, (1, 1))
    live.store.dispatch(navigation.go_to_record, "decoder.layers.1.residual3.out", 1)
    assert live.state.page == "record" and live.state.hovered is None


@pytest.mark.parametrize("typed", ["-", "7"])
@pytest.mark.parametrize("way", ["model", "page", "cursor", "run"])
def test_something_else_may_take_the_stage_while_a_number_is_typed(live, typed, way):  # noqa: F811
    live.open("encoder-layer")
    stage = live.window.stage
    stage.setFocus()
    live.store.dispatch(actions.select_cell, (0, 0))
    live.qtbot.keyClicks(stage, typed)
    editor = stage.pages["record"].editor
    assert editor.isVisible() and editor.hasFocus() and editor.text() == typed
    if way == "model":
        live.store.dispatch(actions.open_model, entry())
    elif way == "page":
        live.store.dispatch(actions.show_page, "layers")
    elif way == "cursor":
        live.store.dispatch(navigation.end)
    else:
        live.store.dispatch(actions.reset_cells)
    live.until_settled()
    if way != "run":
        assert live.state.editing is None
        assert editor.cell is None and not editor.isVisible()
