"""Typing through an input method: what is being composed is left alone until it is committed."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QApplication, QWidget

from tests.gui.live_window import live  # noqa: F401 (fixture)
from tests.gui.views import SENTENCE
from visualizer import actions, navigation

KEY = Qt.Key


def compose(widget: QWidget, preedit: str = "", commit: str = "") -> None:
    cursor = QInputMethodEvent.Attribute(
        QInputMethodEvent.AttributeType.Cursor, len(preedit), 1, None
    )
    event = QInputMethodEvent(preedit, [cursor] if preedit else [])
    if commit:
        event.setCommitString(commit)
    QApplication.sendEvent(widget, event)


@pytest.fixture
def composing(live):  # noqa: F811
    """In the middle of the pinyin for 今天, at the end of the sentence."""
    live.field.setFocus()
    live.field.end(False)
    for preedit in ("j", "jin", "jin'tian"):
        compose(live.field, preedit)
    return live


def test_what_is_being_composed_is_no_input_yet(composing):
    assert composing.state.inputs.source == SENTENCE == composing.field.text()
    compose(composing.field, commit="今天")
    assert composing.state.inputs.source == f"{SENTENCE}今天"
    composing.until_settled()


@pytest.mark.parametrize(
    "happens",
    [
        lambda at: at.store.dispatch(actions.set_language, "zh"),
        lambda at: at.store.dispatch(actions.set_theme, "dark"),
        lambda at: at.store.dispatch(actions.show_run, at.state.run),
        lambda at: at.store.dispatch(navigation.next_op),
        lambda at: at.store.dispatch(actions.show_notice, "ui.drop"),
        lambda at: at.store.dispatch(actions.set_seed, 5),
    ],
    ids=["language", "theme", "run", "step", "notice", "inputs"],
)
def test_nothing_that_happens_meanwhile_disturbs_composing(composing, happens):
    happens(composing)
    composing.until_settled()
    assert composing.field.hasFocus() and composing.field._composing
    compose(composing.field, commit="今天")
    assert composing.field.text() == f"{SENTENCE}今天" == composing.state.inputs.source


@pytest.mark.parametrize("key", [KEY.Key_Return, KEY.Key_Escape, KEY.Key_Down, KEY.Key_Tab])
def test_keys_that_choose_a_candidate_do_nothing_else(composing, key):
    before = composing.state
    composing.press(key, widget=composing.field)
    assert composing.state.inputs == before.inputs and composing.state.cursor == before.cursor


def test_a_composition_that_is_given_up_leaves_the_sentence(composing):
    compose(composing.field)
    assert composing.field.text() == SENTENCE == composing.state.inputs.source
    composing.press(KEY.Key_Return, widget=composing.field)
    assert composing.window.stage.hasFocus()


def test_no_words_are_offered_while_composing(composing):
    assert not composing.field._offering()
