"""The input matrix of a worked example, changed by hand in a running window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QApplication

from tests.gui.live_window import live  # noqa: F401 (fixture)
from visualizer import navigation
from visualizer.lenses.numbers import read_number

KEY, HELD = Qt.Key, Qt.KeyboardModifier
START = "encoder.embed.out"


@pytest.fixture
def worked(live):  # noqa: F811
    live.session.open("encoder-layer")
    live.qtbot.waitUntil(lambda: live.state.model.name.startswith("Encoder"), timeout=10_000)
    settled(live)
    live.window.stage.setFocus()
    return live


def settled(live) -> None:  # noqa: F811
    """Until the run of these inputs is painted."""

    def shown() -> bool:
        run = live.state.run
        same = run is not None and run.inputs == live.state.inputs
        return same and live.window.stage.painted_run == run.number

    live.qtbot.waitUntil(shown, timeout=10_000)


def x(live) -> list:  # noqa: F811
    return live.state.run.tape[START].value[0].tolist()


def double_click(live, row: int, column: int) -> None:  # noqa: F811
    place = live.window.stage.pages["record"].heatmap.cell_rect(row, column).center().toPoint()
    live.qtbot.mouseClick(
        live.window.stage.pages["record"].heatmap, Qt.MouseButton.LeftButton, pos=place
    )
    live.qtbot.mouseDClick(
        live.window.stage.pages["record"].heatmap, Qt.MouseButton.LeftButton, pos=place
    )


def test_a_double_click_opens_the_cell_and_enter_takes_the_number(worked):
    editor = worked.window.stage.pages["record"].editor
    double_click(worked, 1, 0)
    assert editor.isVisible() and editor.hasFocus() and editor.text() == "2.8415"
    worked.qtbot.keyClicks(editor, "-0.5")
    worked.press(KEY.Key_Return, widget=editor)
    settled(worked)
    assert not editor.isVisible() and worked.window.stage.hasFocus()
    assert x(worked) == [[3.0, 2.0], [-0.5, 2.5403], [2.9093, 3.5839]]
    assert worked.state.selected == (1, 0)


def test_a_digit_types_over_the_chosen_cell_and_enter_opens_it(worked):
    editor = worked.window.stage.pages["record"].editor
    worked.press(KEY.Key_7)
    assert editor.text() == "7" and editor.cell == (0, 0)
    worked.press(KEY.Key_Down, widget=editor)
    settled(worked)
    assert x(worked)[0] == [7.0, 2.0]
    assert worked.state.selected == (1, 0)
    worked.press(KEY.Key_Return)
    assert editor.cell == (1, 0)
    worked.press(KEY.Key_Tab, widget=editor)
    assert worked.state.selected == (1, 1) and worked.state.inputs.cells == ((0, 0, 7.0),)


def test_escape_leaves_the_number_as_it_was(worked):
    editor = worked.window.stage.pages["record"].editor
    worked.press(KEY.Key_9)
    assert worked.state.inputs.cells == ((0, 0, 9.0),)
    worked.press(KEY.Key_Escape, widget=editor)
    assert not editor.isVisible() and worked.state.inputs.cells == ()
    assert not worked.store.can_undo and not worked.store.can_redo
    assert worked.window.stage.hasFocus()


def test_arrows_move_the_chosen_cell_and_step_once_it_is_let_go(worked):
    worked.store.dispatch(navigation.look_at, START, (0, 0))
    for key in (KEY.Key_Down, KEY.Key_Down, KEY.Key_Down, KEY.Key_Right, KEY.Key_Right):
        worked.press(key)
    assert worked.state.selected == (2, 1)
    worked.press(KEY.Key_Escape)
    assert worked.state.selected is None
    worked.press(KEY.Key_Right)
    assert worked.state.cursor.site == "encoder.layers.0.self_attn.q"


@pytest.mark.parametrize("text", ["", "two", "1e9", "nan", "inf", "1_0", "1.2.3", "--1"])
def test_what_is_no_number_is_one_quiet_sentence(worked, text):
    editor = worked.window.stage.pages["record"].editor
    double_click(worked, 0, 1)
    editor.clear()
    worked.qtbot.keyClicks(editor, text)
    worked.press(KEY.Key_Return, widget=editor)
    assert editor.isVisible()
    assert "no number" in worked.window.notice.bar.sentence.text()
    worked.window.transport.speed.setFocus()
    assert not editor.isVisible() and worked.state.inputs.cells == ()
    assert not worked.store.can_undo and worked.state.notice is None


def test_every_number_that_is_typed_is_computed_at_once_and_is_one_step_of_undo(worked):
    editor = worked.window.stage.pages["record"].editor
    double_click(worked, 1, 1)
    for typed, value in (("4", 4.0), ("4.", 4.0), ("4.2", 4.2), ("4.25", 4.25)):
        worked.qtbot.keyClicks(editor, typed[-1])
        settled(worked)
        assert editor.isVisible() and editor.text() == typed
        assert x(worked)[1] == [2.8415, value]
    worked.press(KEY.Key_Return, widget=editor)
    worked.press(KEY.Key_Z, HELD.ControlModifier)
    settled(worked)
    assert x(worked)[1] == [2.8415, 2.5403] and not worked.store.can_undo


def test_a_click_elsewhere_takes_the_number(worked):
    editor = worked.window.stage.pages["record"].editor
    worked.press(KEY.Key_4)
    worked.window.transport.speed.setFocus()
    assert not editor.isVisible() and worked.state.inputs.cells == ((0, 0, 4.0),)


def test_every_number_is_a_step_of_undo_and_reset_is_one_too(worked):
    editor = worked.window.stage.pages["record"].editor
    for key in (KEY.Key_4, KEY.Key_5):
        worked.press(key)
        worked.press(KEY.Key_Return, widget=editor)
    settled(worked)
    worked.window.header.reset.click()
    settled(worked)
    assert x(worked)[0] == [3.0, 2.0] and worked.window.header.reset.isHidden()
    for first in (5.0, 4.0, 3.0):
        worked.press(KEY.Key_Z, HELD.ControlModifier)
        settled(worked)
        assert x(worked)[0] == [first, 2.0]
    worked.press(KEY.Key_Z, HELD.ControlModifier | HELD.ShiftModifier)
    settled(worked)
    assert x(worked)[0] == [4.0, 2.0]


def test_other_records_are_not_edited(worked):
    worked.store.dispatch(navigation.next_op)
    double_click(worked, 1, 1)
    worked.press(KEY.Key_7)
    assert (
        not worked.window.stage.pages["record"].editor.isVisible()
        and worked.state.inputs.cells == ()
    )


def test_the_field_closes_when_its_cell_leaves_the_stage(worked):
    double_click(worked, 0, 0)
    worked.press(KEY.Key_PageDown, widget=worked.window.stage.pages["record"].editor)
    assert (
        not worked.window.stage.pages["record"].editor.isVisible()
        and worked.state.inputs.cells == ()
    )


def test_an_input_method_may_compose_in_the_field(worked):
    editor = worked.window.stage.pages["record"].editor
    double_click(worked, 0, 0)
    QApplication.sendEvent(editor, QInputMethodEvent("er", []))
    event = QInputMethodEvent("", [])
    event.setCommitString("2")
    QApplication.sendEvent(editor, event)
    worked.press(KEY.Key_Return, widget=editor)
    assert worked.state.inputs.cells == ((0, 0, 2.0),)


def test_numbers_are_read_as_people_write_them():
    assert read_number(" 2.5 ") == read_number("2,5") == 2.5
    assert read_number("−3e-2") == -0.03
    assert read_number("1,000.5") is None and read_number("１") == 1.0
