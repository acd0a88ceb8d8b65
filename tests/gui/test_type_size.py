"""The size of type: chosen by keys or by the window's size, with everything in use kept."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest
from PySide6.QtCore import Qt

from tests.gui.live_window import live  # noqa: F401 (fixture)
from tests.gui.views import CROSS, SENTENCE
from visualizer import actions, fonts
from visualizer.main_window import fitting_scale
from visualizer.panels.base import Panel
from visualizer.settings import Settings
from visualizer.state import SCALES, ViewState

KEY, HELD = Qt.Key, Qt.KeyboardModifier


@pytest.fixture
def roomy(live):  # noqa: F811
    """A window that has room for larger type."""
    live.window.resize(1900, 1100)
    return live


def until_size(live, scale: float) -> None:  # noqa: F811
    def sized() -> bool:
        return live.window.stage.font().pointSizeF() == pytest.approx(fonts.BASE_POINTS * scale)

    live.qtbot.waitUntil(sized, timeout=5000)


def test_keys_make_the_type_larger_and_smaller_and_fitting_again(roomy):
    for key, scale in (
        (KEY.Key_Plus, 1.1),
        (KEY.Key_Equal, 1.25),
        (KEY.Key_Minus, 1.1),
        (KEY.Key_0, 1.0),
    ):
        roomy.press(key, HELD.ControlModifier)
        until_size(roomy, scale)
    assert roomy.state.scale is None


def test_everything_in_use_stays_in_another_size(roomy):
    roomy.store.dispatch(actions.select_cell, (1, 2))
    before, heatmap = roomy.state, roomy.window.stage.pages["record"].heatmap
    cell = heatmap.cell_rect(1, 2).height()
    roomy.store.dispatch(actions.set_scale, 1.25)
    until_size(roomy, 1.25)
    assert (roomy.state.run, roomy.state.selected) == (before.run, (1, 2))
    assert roomy.window.stage.pages["record"].heatmap is not heatmap
    assert roomy.window.stage.pages["record"].heatmap.cell_rect(1, 2).height() != cell
    assert roomy.field.text() == SENTENCE and roomy.window.stage.hasFocus()
    shown = roomy.window.stage.pages["record"].heatmap.matrix.values
    assert np.shares_memory(shown, roomy.state.run.tape[CROSS].value)


def test_typing_goes_on_in_another_size(live):  # noqa: F811
    live.field.setFocus()
    live.field.setCursorPosition(2)
    live.press(KEY.Key_Plus, HELD.ControlModifier, live.field)
    until_size(live, 1.1)
    assert live.field.hasFocus() and live.field.cursorPosition() == 2
    live.qtbot.keyClicks(live.field, "0")
    assert live.state.inputs.source == "s40" + SENTENCE[2:]
    live.until_settled()


def test_the_panels_of_the_old_size_are_gone(roomy):
    for scale in (1.25, 1.5, 1.0):
        roomy.store.dispatch(actions.set_scale, scale)
        until_size(roomy, scale)
        # Python's collector may run in any thread, and must find no widget to delete
        collector = threading.Thread(target=gc.collect)
        collector.start()
        collector.join()
    roomy.qtbot.waitUntil(
        lambda: len(roomy.window.findChildren(Panel)) == len(roomy.window.panels), timeout=5000
    )
    roomy.type("s5")
    roomy.until_settled()
    roomy.press(KEY.Key_F1)
    assert roomy.window.key_sheet.isVisible()


def test_a_large_window_has_larger_type(live):  # noqa: F811
    assert fitting_scale(1280, 720) == fitting_scale(1600, 1000) == fitting_scale(1920, 1080) == 1
    assert fitting_scale(2560, 1440) == 1.25 < fitting_scale(3840, 2160)
    live.window.resize(2560, 1440)
    until_size(live, 1.25)
    live.store.dispatch(actions.set_scale, 0.9)
    until_size(live, 0.9)
    live.window.resize(1280, 720)
    live.qtbot.wait(300)
    until_size(live, 0.9)


def test_type_is_never_larger_than_the_window_has_room_for(live):  # noqa: F811
    assert fitting_scale(1280, 720, 2.0) == 1.1
    assert fitting_scale(1600, 1000, 2.0) == 1.25
    assert fitting_scale(2560, 1440, 2.0) == 2.0
    assert fitting_scale(640, 400, 1.5) == 1.0 and fitting_scale(640, 400, 0.8) == 0.8
    for _ in range(4):
        live.press(KEY.Key_Plus, HELD.ControlModifier)
        until_size(live, 1.1)
    assert live.state.scale == 1.1
    assert live.window.size().toTuple() == (1280, 720)


def test_the_size_is_remembered(live, tmp_path):  # noqa: F811
    live.store.dispatch(actions.set_scale, 1.4)
    assert live.state.scale == 1.5
    live.window.close()
    assert Settings(tmp_path / "settings.ini").apply_to(ViewState()).scale == 1.5


@pytest.mark.parametrize("text", ["", "9", "nan", "-1.0", "1e9", "7.0"])
def test_a_size_that_makes_no_sense_is_the_nearest_or_none(tmp_path, text):
    path = tmp_path / "settings.ini"
    path.write_text(f"[look]\nscale={text}\n")
    assert Settings(path).apply_to(ViewState()).scale in (None, SCALES[-1])


def test_no_widget_of_the_old_size_is_styled_anew(roomy, monkeypatch):
    """The style of the whole application is worked out for every widget there is."""
    from PySide6.QtWidgets import QApplication

    app, left = QApplication.instance(), []
    styled = app.setStyleSheet

    def watched(sheet: str) -> None:
        left.append(len(roomy.window.findChildren(Panel)))
        styled(sheet)

    with monkeypatch.context() as patch:
        patch.setattr(app, "setStyleSheet", watched)
        for scale in (1.25, 1.0):
            roomy.store.dispatch(actions.set_scale, scale)
            until_size(roomy, scale)
    assert left == [0, 0]
