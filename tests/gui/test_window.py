"""The window as a user meets it: typing, keys, opening, words, what it says when things fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QInputMethodEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget

from tests.gui.live_window import checkpoint, live  # noqa: F401 (fixtures)
from tests.gui.views import CROSS, SENTENCE, entry
from visualizer import actions, keys, navigation
from visualizer.app import Mishaps, Session
from visualizer.engine import Engine
from visualizer.main_window import MainWindow
from visualizer.settings import Settings
from visualizer.state import ViewState, current_token
from visualizer.store import Store

KEY, HELD = Qt.Key, Qt.KeyboardModifier
STEPS = [
    (KEY.Key_Right, HELD.NoModifier, navigation.next_op),
    (KEY.Key_Left, HELD.NoModifier, navigation.previous_op),
    (KEY.Key_PageDown, HELD.NoModifier, navigation.next_op),
    (KEY.Key_PageUp, HELD.NoModifier, navigation.previous_op),
    (KEY.Key_Right, HELD.ShiftModifier, navigation.next_sublayer),
    (KEY.Key_Left, HELD.ShiftModifier, navigation.previous_sublayer),
    (KEY.Key_Right, HELD.ControlModifier, navigation.next_layer),
    (KEY.Key_Left, HELD.ControlModifier, navigation.previous_layer),
    (KEY.Key_Left, HELD.AltModifier, navigation.previous_token),
    (KEY.Key_Home, HELD.NoModifier, navigation.home),
    (KEY.Key_End, HELD.NoModifier, navigation.end),
]


def compose(widget: QWidget, preedit: str = "", commit: str = "") -> None:
    event = QInputMethodEvent(preedit, [])
    if commit:
        event.setCommitString(commit)
    QApplication.sendEvent(widget, event)


def texts(window: MainWindow) -> set[str]:
    """All words of ordinary labels and buttons on screen."""
    found = {label.text() for label in window.findChildren(QLabel) if label.isVisible()}
    return found | {b.text() for b in window.findChildren(QPushButton) if b.isVisible()}


# Typing.


def test_the_window_opens_with_a_sentence_stepped_into(live):  # noqa: F811
    assert live.field.text() == SENTENCE
    assert live.state.cursor.site == CROSS and live.state.head == 1
    assert "guided" in live.window.stage.breadcrumb.accessibleName()


def test_every_key_is_computed_and_drawn_and_the_cursor_stays(live):  # noqa: F811
    site = "decoder.layers.1.ffn.out"
    live.store.dispatch(navigation.go_to_site, site)
    live.field.selectAll()
    for number, letter in enumerate("s5 s6", 1):
        before = live.state.run.number
        live.type(letter)
        live.until_shown("s5 s6"[:number])
        assert live.state.run.number > before
        assert live.state.cursor.site == site
    shown = live.window.stage.pages["record"].heatmap.matrix.values
    assert np.shares_memory(shown, live.state.run.tape[site].value)


def test_every_panel_says_which_step_it_has_painted(live):  # noqa: F811
    live.store.dispatch(navigation.home)
    live.qtbot.waitUntil(lambda: live.window.map.painted_step == 0, timeout=2000)
    live.window.stage.setFocus()
    live.press(KEY.Key_Right)
    panels = (live.window.map, live.window.stage, live.window.prediction, live.window.transport)
    live.qtbot.waitUntil(lambda: all(p.painted_step == 1 for p in panels), timeout=2000)


def test_an_unknown_word_is_a_chip_with_its_reason(live):  # noqa: F811
    (chip,) = live.field.chips._chips
    assert chip.text == "<UNK> nonsense" and chip.unknown
    assert "nonsense" in chip.tooltip and "vocabulary" in chip.tooltip
    live.field.selectAll()
    live.type("s4")
    live.until_shown("s4")
    assert live.field.chips.isHidden()


def test_tab_takes_the_word_on_offer(live):  # noqa: F811
    live.field.selectAll()
    live.type("s4 s1")
    assert live.field.offered() == ("s10", "s11", "s12")
    live.press(KEY.Key_Down, widget=live.field)
    live.press(KEY.Key_Down, widget=live.field)
    live.press(KEY.Key_Tab, widget=live.field)
    assert live.field.text() == "s4 s11 "
    assert live.state.inputs.source == "s4 s11 "
    assert live.field.hasFocus()


def test_a_known_word_is_not_completed(live):  # noqa: F811
    live.field.selectAll()
    live.type("s4")
    assert live.field.offered() == ()


@pytest.mark.parametrize(
    ("source", "heading"), [("", "No sentence yet"), ("s4 " * 40, "This sentence is too long")]
)
def test_a_sentence_without_a_picture_says_why(live, source, heading):  # noqa: F811
    live.store.dispatch(actions.edit_source, source)
    live.until_shown(source)
    assert live.window.stage.pages["record"].empty.isVisible()
    assert live.window.stage.pages["record"].empty.accessibleName().startswith(heading)


def test_an_immediate_end_is_said_beside_the_picture(live):  # noqa: F811
    run = replace(live.state.run, outcome="immediate_end")
    live.store.dispatch(actions.show_run, run)
    assert live.window.stage.remark.isVisible()
    assert live.window.stage.pages["record"].heatmap.isVisible()


# Keys.


@pytest.mark.parametrize(("key", "held", "move"), STEPS)
def test_the_keys_of_the_stage_walk(live, key, held, move):  # noqa: F811
    live.window.stage.setFocus()
    wanted = move(live.state).cursor
    assert wanted != live.state.cursor or move is navigation.end
    live.press(key, held)
    assert live.state.cursor == wanted


def test_digits_choose_a_head_and_space_plays(live):  # noqa: F811
    live.window.stage.setFocus()
    live.press(KEY.Key_3)
    assert live.state.head == 2
    live.press(KEY.Key_9)
    assert live.state.head == 2
    live.press(KEY.Key_Space)
    assert live.state.playing
    live.press(KEY.Key_Space)
    assert not live.state.playing


def test_in_the_field_the_keys_edit_text_and_pages_step(live):  # noqa: F811
    cursor = live.state.cursor
    live.field.setFocus()
    live.field.setCursorPosition(2)
    for key in (KEY.Key_Right, KEY.Key_Left, KEY.Key_Home, KEY.Key_End):
        for held in (HELD.NoModifier, HELD.ShiftModifier, HELD.AltModifier, HELD.ControlModifier):
            live.press(key, held, live.field)
    assert live.state.cursor == cursor and live.state.inputs.source == SENTENCE
    live.press(KEY.Key_PageDown, widget=live.field)
    assert live.state.cursor != cursor and live.field.hasFocus()


@pytest.mark.parametrize("key", [KEY.Key_Return, KEY.Key_Enter, KEY.Key_Escape])
def test_enter_and_escape_leave_the_field_for_the_stage(live, key):  # noqa: F811
    live.field.setFocus()
    live.press(key, widget=live.field)
    assert live.window.stage.hasFocus()


def test_composing_is_left_to_the_input_method(live):  # noqa: F811
    live.field.setFocus()
    live.field.end(False)
    compose(live.field, preedit="ni")
    live.press(KEY.Key_Return, widget=live.field)
    assert live.field.hasFocus() and live.state.inputs.source == SENTENCE
    compose(live.field, commit="你")
    assert live.state.inputs.source == f"{SENTENCE}你"
    live.press(KEY.Key_Return, widget=live.field)
    assert live.window.stage.hasFocus()


def test_undo_and_redo_are_the_windows_own(live):  # noqa: F811
    live.field.setFocus()
    live.field.selectAll()
    live.type("s7")
    live.until_shown("s7")
    live.press(KEY.Key_Z, HELD.ControlModifier, live.field)
    live.until_shown(SENTENCE)
    assert live.field.text() == SENTENCE
    live.press(KEY.Key_Z, HELD.ControlModifier | HELD.ShiftModifier, live.field)
    live.until_shown("s7")
    assert live.field.text() == "s7"


def test_the_sheet_of_keys_names_every_key_and_goes_with_any_key(live):  # noqa: F811
    live.press(KEY.Key_F1)
    sheet = live.window.key_sheet
    assert sheet.isVisible() and len(sheet._lines) == len(keys.SHEET)
    live.press(KEY.Key_A, widget=sheet)
    assert not sheet.isVisible() and live.window.stage.hasFocus()


# The panels.


def test_a_click_on_the_map_the_output_or_the_timeline_goes_there(live):  # noqa: F811
    block = live.window.map.map.rect_of("encoder.1.ffn").center().toPoint()
    live.qtbot.mouseClick(live.window.map.map, Qt.MouseButton.LeftButton, pos=block)
    assert live.state.cursor.site == "encoder.layers.1.ffn.out"
    token = live.window.transport.chips.rect_of(1).center().toPoint()
    live.qtbot.mouseClick(live.window.transport.chips, Qt.MouseButton.LeftButton, pos=token)
    assert current_token(live.state) == 1
    line = live.window.transport.timeline
    live.qtbot.mouseClick(line, Qt.MouseButton.LeftButton, pos=QPoint(1, 9))
    assert navigation.current_index(live.state) == 0


def test_a_hovered_cell_shows_its_full_value_and_how_it_came_about(live):  # noqa: F811
    heatmap = live.window.stage.pages["record"].heatmap
    live.qtbot.mouseMove(heatmap, heatmap.cell_rect(0, 2).center().toPoint())
    assert live.state.hovered == (0, 2)
    value = live.state.run.tape[CROSS].value[0, 1, 0, 2]
    assert str(value) in live.window.stage.cell._exact
    assert live.window.stage.cell._site == f"{CROSS}[0, 1, 0, 2]"
    assert any("Σ e^score" in piece.text for piece in live.window.stage.cell._lines[0])


def test_a_slider_switches_sampling_on_and_the_seed_decides_the_draw(live):  # noqa: F811
    live.window.prediction.temperature.slider.triggerAction(
        live.window.prediction.temperature.slider.SliderAction.SliderSingleStepAdd
    )
    assert live.state.inputs.strategy == "sample"
    assert live.state.inputs.temperature == pytest.approx(1.05)
    live.window.prediction.seed.setFocus()
    live.press(KEY.Key_Up, widget=live.window.prediction.seed)
    assert live.state.inputs.seed == 1


def test_playing_steps_on_and_stops_at_the_end(live):  # noqa: F811
    live.store.dispatch(navigation.end)
    live.store.dispatch(navigation.previous_op)
    live.store.dispatch(actions.set_speed, 8)
    live.store.dispatch(actions.toggle_playing)
    live.qtbot.waitUntil(lambda: not live.state.playing, timeout=5000)
    assert live.state == navigation.end(live.state)


# Opening.


def test_a_file_opens_and_is_remembered(live, checkpoint, tmp_path):  # noqa: F811
    live.chosen = checkpoint
    live.window.browse()
    live.qtbot.waitUntil(lambda: live.state.model.path == checkpoint, timeout=10_000)
    assert live.state.recent == (str(checkpoint),)
    again = Settings(tmp_path / "settings.ini").apply_to(ViewState())
    assert again.recent == (str(checkpoint),)


def test_a_bad_file_is_one_sentence_and_everything_in_use_stays(live, tmp_path):  # noqa: F811
    bad = tmp_path / "bad.safetensors"
    bad.write_bytes(b"nothing of the kind")
    before = live.state
    live.window.openWanted.emit(bad)
    live.qtbot.waitUntil(lambda: live.state.notice is not None, timeout=10_000)
    after = live.state
    assert (after.model, after.inputs, after.run) == (before.model, before.inputs, before.run)
    sentence = live.window.notice.bar.sentence.text()
    assert live.window.notice.isVisible() and "bad.safetensors" in sentence
    assert "\n" not in sentence
    live.qtbot.mouseClick(live.window.notice.bar.close_button, Qt.MouseButton.LeftButton)
    assert live.state.notice is None and not live.window.notice.isVisible()


def test_a_dropped_file_opens(live, checkpoint):  # noqa: F811
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(checkpoint))])
    event = QDropEvent(
        QPointF(9, 9),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        HELD.NoModifier,
    )
    live.window.dropEvent(event)
    live.qtbot.waitUntil(lambda: live.state.model.path == checkpoint, timeout=10_000)


# Words and looks.


def test_language_and_theme_change_at_once_and_everywhere(live):  # noqa: F811
    english = texts(live.window)
    live.store.dispatch(actions.set_language, "zh")
    live.store.dispatch(actions.set_theme, "dark")
    chinese = texts(live.window)
    same = {text for text in english & chinese if any(c.isalpha() for c in text)}
    assert same <= {"top-k", "top-p"}
    assert live.window.stage.breadcrumb.accessibleName().startswith("解码器")
    assert live.window.stage.pages["record"].heatmap.theme.dark and live.window.map.map.theme.dark
    assert QApplication.palette().window().color().lightness() < 60


def test_whatever_takes_the_focus_has_a_name(live):  # noqa: F811
    takers = [
        widget
        for widget in live.window.findChildren(QWidget)
        if widget.focusPolicy() != Qt.FocusPolicy.NoFocus
        and widget.isVisible()
        and widget.focusProxy() is None
    ]
    assert len(takers) > 12
    nameless = [type(w).__name__ for w in takers if not (w.accessibleName() or _text(w))]
    assert nameless == []


def _text(widget: QWidget) -> str:
    return widget.text() if hasattr(widget, "text") else ""


def test_the_look_and_the_place_are_remembered(live, tmp_path):  # noqa: F811
    live.store.dispatch(actions.set_theme, "dark")
    live.store.dispatch(actions.set_language, "zh")
    live.window.close()
    again = Settings(tmp_path / "settings.ini")
    state = again.apply_to(ViewState())
    assert (state.theme, state.language) == ("dark", "zh")
    assert again.geometry is not None


def test_settings_of_a_stranger_do_no_harm(tmp_path):
    path = tmp_path / "settings.ini"
    path.write_text("[look]\ntheme=purple\nlanguage=xx\n[window]\ngeometry=7\n[files]\nrecent=a\n")
    settings = Settings(path)
    state = settings.apply_to(ViewState())
    assert (state.theme, state.language, state.recent) == ("light", "en", ("a",))
    assert settings.geometry is None


# Mishaps.


def test_an_exception_that_nobody_caught_is_a_quiet_notice(live, tmp_path):  # noqa: F811
    mishaps = Mishaps(live.store, tmp_path / "log.txt")
    error = ZeroDivisionError("by zero")
    with live.store.drawing():
        mishaps.take(ZeroDivisionError, error, None)
    live.qtbot.waitUntil(lambda: live.state.notice is not None, timeout=2000)
    sentence = live.window.notice.bar.sentence.text()
    assert "by zero" in sentence and str(tmp_path / "log.txt") in sentence


def test_a_model_that_fails_leaves_the_last_run_on_show(live):  # noqa: F811
    before = live.state.run
    live.store.dispatch(lambda state: replace(state, inputs=replace(state.inputs, seed=-1)))
    live.qtbot.waitUntil(lambda: live.state.notice is not None, timeout=5000)
    assert live.state.run is before and live.state.notice.level == "error"


def test_nothing_arrives_after_the_window_is_closed(qtbot, qapp, tmp_path):
    window = MainWindow(Store())
    session = Session(window, Engine(), None)
    qtbot.addWidget(window)
    window.show()
    window.store.dispatch(actions.open_model, entry())
    window.close()
    assert session.engine.shutdown()
    qapp.processEvents()
    assert window.store.state.run is None


def test_a_click_on_the_stage_takes_the_keys_out_of_the_field(live):  # noqa: F811
    live.field.setFocus()
    heatmap = live.window.stage.pages["record"].heatmap
    cell = heatmap.cell_rect(1, 1).center().toPoint()
    live.qtbot.mouseClick(heatmap, Qt.MouseButton.LeftButton, pos=cell)
    assert live.window.stage.hasFocus() and live.state.selected == (1, 1)


def test_a_recent_file_that_is_gone_leaves_the_list(live, checkpoint, caplog):  # noqa: F811
    live.open(checkpoint)
    checkpoint.unlink()
    live.session.open(checkpoint)
    assert "not opened" in live.notice()
    assert live.state.recent == ()
