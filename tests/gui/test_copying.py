"""What is copied is the number on show, under its own name, and only once it can be run."""

from __future__ import annotations

import contextlib
import io
import re
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from model_core.ops.base import Origin
from tests.gui.gradient_views import answered, gradients_at
from tests.gui.live_window import live  # noqa: F401 (fixture)
from tests.gui.views import CROSS, at
from visualizer import actions, copying, gradient_actions, navigation, trail
from visualizer.inquiries.audit import audit_key

NOTHING = "nothing was copied"
# Pages on which no cell of a record is meant.
WITHOUT = ("layers", "attention", "heads", "lens", "decoding")


def held() -> str:
    return QGuiApplication.clipboard().text()


def press_copy(live, shift: bool = False) -> None:  # noqa: F811
    mark = Qt.KeyboardModifier.ControlModifier
    if shift:
        mark |= Qt.KeyboardModifier.ShiftModifier
    live.qtbot.keyClick(live.window, Qt.Key.Key_C, mark)


def printed(text: str) -> float:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, "<snippet>", "exec"), {})
    return float(out.getvalue())


@pytest.mark.parametrize("page", WITHOUT)
@pytest.mark.parametrize("whole", [False, True])
def test_a_page_that_tells_of_no_cell_copies_none(live, page, whole):  # noqa: F811
    live.store.dispatch(actions.select_cell, (1, 1))
    live.store.dispatch(actions.show_page, page)
    assert live.window.stage.page.name == page
    QGuiApplication.clipboard().setText(NOTHING)
    press_copy(live, whole)
    assert held() == NOTHING and live.state.notice is None
    assert not live.window.stage.copy.isVisible()
    live.store.dispatch(actions.show_page, "record")
    assert live.window.stage.copy.isVisible()


@pytest.mark.parametrize("selected", [None, (2, 2)])
def test_the_number_under_the_pointer_is_the_one_that_is_copied(live, selected):  # noqa: F811
    live.store.dispatch(navigation.go_to_record, CROSS)
    live.store.dispatch(actions.select_cell, selected)
    live.store.dispatch(actions.hover_cell, (1, 3))
    press_copy(live)
    state, weights = live.state, live.state.run.tape[CROSS].value
    assert f"{CROSS}[0, {state.head}, 1, 3]" in held()
    assert printed(held()) == pytest.approx(float(weights[0, state.head, 1, 3]), rel=1e-5)
    live.store.dispatch(actions.hover_cell, None)
    press_copy(live)
    assert f"{CROSS}[0, {state.head}, 1, 3]" not in held()


def test_a_cell_of_a_record_beside_the_cursors_is_copied_as_its_line_tells_it():
    state = at("decoder.layers.0.norm1.out")
    state = actions.hover_cell(state, (2, 0), "decoder.layers.0.norm1.variance")
    snippet = copying.copied(state, whole=False)
    assert "decoder.layers.0.norm1.variance[0, 2, 0]" in snippet.text
    # a check is of what is selected: whoever clicks its button points at nothing
    assert copying.focus(state)[0] == "decoder.layers.0.norm1.out"


def test_a_parameter_gives_the_number_under_the_pointer():
    state = trail.follow(at(CROSS), Origin("decoder.layers.0.ffn.W_1", (1, 2)))
    assert copying.told(state) == ("decoder.layers.0.ffn.W_1", (1, 2))
    assert copying.told(actions.hover_cell(state, (3, 0))) == ("decoder.layers.0.ffn.W_1", (3, 0))


def test_what_lies_behind_the_chat_is_not_copied():
    state = replace(at(CROSS), page="chat")
    assert not copying.can_copy(state) and copying.copied(state, whole=True) is None


@pytest.mark.parametrize("site", ["decoder.mask", "encoder.mask"])
def test_a_mask_has_no_gradient_to_be_checked_or_copied(site):
    there = navigation.go_to_record(gradients_at(CROSS), site)
    assert not copying.can_copy(there) and copying.told(there) is None
    assert audit_key(there) is None
    values = replace(there, showing="values")
    assert copying.can_copy(values) and audit_key(values) is not None


@pytest.mark.parametrize("whole", [False, True])
def test_the_text_of_a_gradient_names_what_it_is_the_gradient_of(whole):
    state = gradients_at(CROSS, token=2)
    token = state.run.tape.predicted_tokens[2]
    snippet = copying.copied(state, whole)
    first = snippet.text.splitlines()[0]
    assert first.startswith(f"# the gradient of log p({token} | position 3) with respect to")
    there = trail.follow(state, Origin("decoder.layers.0.ffn.W_1", (1, 2), "gradient"))
    assert f"log p({token} | position 3)" in copying.copied(there, whole).text


def test_the_text_of_the_losss_gradient_names_the_loss():
    state = gradient_actions.aim_at_loss(gradients_at(CROSS))
    assert "# the gradient of the loss" in copying.copied(answered(state), False).text


def test_text_that_loads_a_file_is_copied_once_the_file_is_written(live, tmp_path):  # noqa: F811
    chosen = tmp_path / "arrays.npz"
    live.window._choose_arrays = lambda parent, place: chosen
    live.store.dispatch(navigation.go_to_record, "decoder.layers.0.ffn.hidden")
    QGuiApplication.clipboard().setText(NOTHING)
    press_copy(live, shift=True)
    live.qtbot.waitUntil(lambda: live.state.notice is not None, timeout=5000)
    assert str(chosen) in held() and chosen.exists()
    with np.load(chosen) as arrays:
        assert all(re.search(rf"\b{name}\b", held()) for name in arrays)


def test_where_the_file_cannot_be_written_the_clipboard_keeps_what_it_had(live, tmp_path):  # noqa: F811
    live.window._choose_arrays = lambda parent, place: tmp_path / "no such folder" / "arrays.npz"
    live.store.dispatch(navigation.go_to_record, "decoder.layers.0.ffn.hidden")
    QGuiApplication.clipboard().setText(NOTHING)
    press_copy(live, shift=True)
    live.qtbot.waitUntil(lambda: live.state.notice is not None, timeout=5000)
    assert live.state.notice.level == "error" and held() == NOTHING
