"""Forcing and typing in the window: bars, columns, pins, keys, and the line of the target."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QApplication

from tests.gui.live_window import WAIT, live  # noqa: F401 (fixture)
from tests.gui.samples import LEFT_BUTTON
from tests.gui.samples import at as pixel
from tests.gui.views import SENTENCE, TARGET, entry
from visualizer import (
    actions,
    forcing,
    gradient_actions,
    navigation,
)
from visualizer.lenses.comparison import parting

END = 2


def own_log_probs(*ids: int) -> np.ndarray:
    """log p of each id behind the start token, by a pass of its own."""
    tape = entry().model.trace(SENTENCE, target_ids=[1, *ids[:-1]])
    return tape["log_probs"].value[0][np.arange(len(ids)), list(ids)]


def click_bar(live, place: int) -> int:  # noqa: F811
    """Click the bar at a place from the top; the id that it stands for."""
    bars = live.window.prediction.bars
    shown = bars.shown()[place]
    token = bars._bars.ids[shown]
    live.qtbot.mouseClick(bars, LEFT_BUTTON, pos=pixel(QPointF(40, (place + 0.5) * bars._line())))
    return token


def chips_of(live) -> list[str]:  # noqa: F811
    return [chip.text for chip in live.window.transport.chips.chips if chip.probability is not None]


def test_a_click_on_a_bar_forces_it_and_a_click_on_its_pin_takes_it_back(live):  # noqa: F811
    live.store.dispatch(navigation.go_to_token, 3)
    live.until_settled()
    before = live.state.run.chosen
    token = click_bar(live, 1)
    assert live.state.inputs.prefix == (*before[:3], token)
    live.until_settled()
    chips = live.window.transport.chips
    assert [chip.pinned for chip in chips.chips[:5]] == [True] * 4 + [False]
    assert chips.chips[3].text == entry().model.tokenizer.target_vocabulary[token]
    assert live.window.transport.free.isVisible()
    live.qtbot.mouseClick(chips, LEFT_BUTTON, pos=pixel(chips.pin_of(2).center()))
    assert live.state.inputs.prefix == before[:2]
    live.until_settled()
    # beside the pin a click goes to the row
    live.qtbot.mouseClick(chips, LEFT_BUTTON, pos=pixel(chips.rect_of(0).center()))
    assert live.state.cursor.token == 0 and live.state.inputs.prefix == before[:2]
    live.qtbot.mouseClick(live.window.transport.free, LEFT_BUTTON)
    assert live.state.inputs.prefix == ()
    live.until_settled()
    assert live.state.run.chosen == before
    assert not live.window.transport.free.isVisible()
    live.store.undo()
    assert live.state.inputs.prefix == before[:2]


def test_esc_on_the_stage_gives_up_what_is_forced(live):  # noqa: F811
    click_bar(live, 1)
    live.until_settled()
    live.press(Qt.Key.Key_Escape, widget=live.window.stage)
    assert live.state.inputs.prefix == ()


def test_while_gradients_are_shown_a_bar_is_their_target_and_forces_nothing(live):  # noqa: F811
    live.store.dispatch(actions.set_showing, "gradients")
    live.store.dispatch(gradient_actions.show_beside, "next_token")
    live.qtbot.waitUntil(lambda: navigation.walks_back(live.state), timeout=WAIT)
    live.qtbot.waitUntil(lambda: live.window.prediction.bars.isVisible(), timeout=WAIT)
    token = click_bar(live, 1)
    assert live.state.inputs.prefix == () and live.state.target.token == token


def test_a_click_on_the_columns_of_the_decoding_page_forces_it(live):  # noqa: F811
    live.store.dispatch(navigation.go_to_token, 2)
    live.store.dispatch(actions.show_page, "decoding")
    live.until_settled()
    columns, before = live.window.stage.pages["decoding"].columns, live.state.run.chosen
    layout, token = columns.layout_now(), columns.board.token_at(1)
    start, room = layout.bars_at(0)
    spot = QPointF(start + room / 2, layout.row_rect(1).center().y())
    live.qtbot.mouseClick(columns, LEFT_BUTTON, pos=pixel(spot))
    assert live.state.inputs.prefix == (*before[:2], token)
    live.until_settled()
    assert columns.board.chosen == token


def test_stepping_token_by_token_lists_the_alternatives_of_each_row(live):  # noqa: F811
    live.store.dispatch(navigation.go_to_token, 0)
    live.window.stage.setFocus()
    for row in range(1, 4):
        live.press(Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier, live.window.stage)
        assert live.state.cursor.token == row
        bars, given = live.window.prediction.bars._bars, live.state.run.distributions[row]
        np.testing.assert_allclose(bars.values, given.probabilities[list(bars.ids)], rtol=1e-6)
        assert bars.ids[bars.chosen] == live.state.run.chosen[row]


def test_a_target_is_typed_in_a_line_that_ctrl_t_opens(live):  # noqa: F811
    panel = live.window.typed_target
    assert not panel.isVisible()
    live.press(Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier, live.window)
    assert panel.isVisible() and QApplication.focusWidget() is panel.field
    before = live.state.run.chosen
    live.qtbot.keyClicks(panel.field, "t4 zz t5")
    assert live.state.inputs.target == "t4 zz t5"
    live.until_settled()
    assert live.state.run.chosen == (4, 3, 5, END)
    typed, free = panel.rows.rows
    assert typed.tokens == ("t4", "<UNK>", "t5", "<EOS>")
    assert free.tokens == tuple(entry().model.tokenizer.target_tokens(list(before)))
    assert panel.rows.parting == parting((4, 3, 5, END), before)
    assert [chip.text for chip in panel.field.chips.chips] == ["<UNK> zz"]
    assert chips_of(live) == ["t4", "<UNK>", "t5", "<EOS>"]
    numbers = own_log_probs(4, 3, 5, END)
    assert [float(text) for text in typed.numbers] == pytest.approx(numbers, abs=6e-3)
    panel.field.selectAll()
    live.press(Qt.Key.Key_Delete, widget=panel.field)
    assert live.state.inputs.target is None and panel.isVisible()
    live.until_settled()
    assert live.state.run.chosen == before and live.state.run.free is None
    live.press(Qt.Key.Key_Escape, widget=panel.field)
    live.press(Qt.Key.Key_Escape, widget=live.window.stage)
    assert not panel.isVisible()


def test_the_pencil_opens_and_closes_the_line(live):  # noqa: F811
    pencil, panel = live.window.transport.pencil, live.window.typed_target
    live.qtbot.mouseClick(pencil, LEFT_BUTTON)
    assert panel.isVisible() and pencil.isChecked()
    live.qtbot.keyClicks(panel.field, "t4")
    live.until_settled()
    live.qtbot.mouseClick(pencil, LEFT_BUTTON)
    assert not panel.isVisible() and live.state.inputs.target is None and not pencil.isChecked()


@pytest.mark.parametrize("size", [(1280, 720), (1600, 1000)])
def test_with_the_line_everything_still_has_its_room(live, size):  # noqa: F811
    live.window.resize(*size)
    live.qtbot.wait(250)
    live.press(Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier, live.window)
    live.qtbot.keyClicks(live.window.typed_target.field, " ".join(["t4"] * 20))
    live.until_settled()
    live.qtbot.wait(50)
    assert live.window.workspace.minimumSizeHint().height() <= size[1]
    assert live.window.height() == size[1]
    rows = live.window.typed_target.rows
    assert rows.height() >= rows.minimumSizeHint().height()


def test_a_click_on_a_position_goes_to_its_row(live):  # noqa: F811
    live.store.dispatch(forcing.type_target, TARGET)
    live.until_settled()
    rows = live.window.typed_target.rows
    live.qtbot.mouseClick(rows, LEFT_BUTTON, pos=pixel(rows.rect_of(1).center()))
    assert live.state.cursor.token == 1
    assert "log-probability" in rows.tip_at(rows.rect_of(1).center())
