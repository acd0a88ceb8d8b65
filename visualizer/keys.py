"""Which key does what on the stage: one table, for the window and for the sheet of keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from visualizer import (
    actions,
    chat_actions,
    forcing,
    lab_actions,
    navigation,
    step_actions,
    trail,
)
from visualizer.state import ViewState

Action = Callable[[ViewState], ViewState]

_KEY, _PLAIN = Qt.Key, Qt.KeyboardModifier.NoModifier
_SHIFT, _CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
_ALT = Qt.KeyboardModifier.AltModifier

# These step from anywhere, from within a text field too: presenters' remote controls send them.
ANYWHERE: dict[tuple[Qt.Key, Qt.KeyboardModifier], Action] = {
    (_KEY.Key_PageDown, _PLAIN): navigation.next_op,
    (_KEY.Key_PageUp, _PLAIN): navigation.previous_op,
}
ON_STAGE: dict[tuple[Qt.Key, Qt.KeyboardModifier], Action] = {
    (_KEY.Key_Right, _PLAIN): navigation.next_op,
    (_KEY.Key_Left, _PLAIN): navigation.previous_op,
    (_KEY.Key_Right, _SHIFT): navigation.next_sublayer,
    (_KEY.Key_Left, _SHIFT): navigation.previous_sublayer,
    (_KEY.Key_Right, _CONTROL): navigation.next_layer,
    (_KEY.Key_Left, _CONTROL): navigation.previous_layer,
    (_KEY.Key_Right, _ALT): navigation.next_token,
    (_KEY.Key_Left, _ALT): navigation.previous_token,
    (_KEY.Key_Home, _PLAIN): navigation.home,
    (_KEY.Key_End, _PLAIN): navigation.end,
    (_KEY.Key_Space, _PLAIN): actions.toggle_playing,
    (_KEY.Key_F, _PLAIN): partial(actions.toggle_page, page="layers"),
    (_KEY.Key_A, _PLAIN): partial(actions.toggle_page, page="attention"),
    (_KEY.Key_A, _SHIFT): partial(actions.toggle_page, page="heads"),
    (_KEY.Key_L, _PLAIN): partial(actions.toggle_page, page="lens"),
    (_KEY.Key_D, _PLAIN): partial(actions.toggle_page, page="decoding"),
    (_KEY.Key_C, _PLAIN): chat_actions.toggle_chat,
    (_KEY.Key_T, _PLAIN): lab_actions.toggle_lab,
    (_KEY.Key_U, _PLAIN): step_actions.toggle_step,
    (_KEY.Key_G, _PLAIN): actions.toggle_showing,
    (_KEY.Key_Backspace, _PLAIN): trail.go_back,
    (_KEY.Key_Escape, _PLAIN): forcing.leave,
}

# In the order of the sheet; each line is "keys  what they do".
SHEET = (
    "keys.op",
    "keys.page",
    "keys.sublayer",
    "keys.layer",
    "keys.token",
    "keys.ends",
    "keys.play",
    "keys.head",
    "keys.cell",
    "keys.matrix",
    "keys.flow",
    "keys.attention",
    "keys.lens",
    "keys.decoding",
    "keys.chat",
    "keys.train",
    "keys.lab",
    "keys.step",
    "keys.gradients",
    "keys.back",
    "keys.copy",
    "keys.sentence",
    "keys.target",
    "keys.force",
    "keys.leave",
    "keys.undo",
    "keys.open",
    "keys.save",
    "keys.zoom",
    "keys.glossary",
    "keys.term",
)


def action_of(event: QKeyEvent, in_text: bool) -> Action | None:
    """What a key press asks for; in a text field only what holds anywhere."""
    # arrows carry the keypad's mark on some systems
    held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    pressed = (Qt.Key(event.key()), held)
    if pressed in ANYWHERE:
        return ANYWHERE[pressed]
    if in_text:
        return None
    if held == _PLAIN and _KEY.Key_1 <= event.key() <= _KEY.Key_9:
        head = event.key() - _KEY.Key_1
        return partial(_select_head, head=head)
    return ON_STAGE.get(pressed)


def _select_head(state: ViewState, head: int) -> ViewState:
    return actions.select_head(state, head)
