"""What one does in a conversation: (ViewState, ...) -> ViewState."""

from __future__ import annotations

from dataclasses import replace

from model_core.chat import one_line
from visualizer import actions, bench_actions, trail
from visualizer.conversation import (
    Conversation,
    Spoken,
    answered,
    asked_inputs,
    chat_rules,
)
from visualizer.inputs import Inputs
from visualizer.state import Run, ViewState


def pending(state: ViewState) -> Inputs | None:
    """The question that waits for its reply, by its inputs."""
    asked = state.conversation.asked
    return asked if asked is not None and asked == state.inputs else None


def draft(state: ViewState) -> str:
    """What stands in the field: what is typed, else the question that was left unanswered."""
    talk = state.conversation
    lost = talk.asked is not None and talk.asked != state.inputs
    return talk.draft or (talk.asked.source if lost and talk.asked is not None else "")


def _unanswered(state: ViewState) -> str:
    """The same once nothing waits for a reply any longer."""
    asked = state.conversation.asked
    return state.conversation.draft or ("" if asked is None else asked.source)


def opened(state: ViewState) -> int | None:
    """The number of the exchange whose run is on the stage."""
    if state.run is None or state.run.inputs != state.inputs:
        return None
    exchanges = state.conversation.exchanges
    numbers = range(len(exchanges) - 1, -1, -1)
    return next((n for n in numbers if exchanges[n].inputs == state.inputs), None)


def ask(state: ViewState, question: str) -> ViewState:
    """Ask, with the conversation so far; a question that still waits is given up for this one."""
    if state.model is None or chat_rules(state.model) is None or not one_line(question):
        return state
    talk = state.conversation
    wanted = asked_inputs(talk, state.model.model, question)
    talk = replace(talk, asked=wanted, before=state.inputs, spoken=None, draft="")
    cursor = replace(state.cursor, token=None)
    asked = replace(state, inputs=wanted, cursor=cursor, conversation=talk)
    # the run that is on the stage may be that of this very question
    same = state.run is not None and state.run.inputs == wanted
    return take_reply(asked, state.run) if same and state.run is not None else asked


def show_run(state: ViewState, run: Run) -> ViewState:
    """A finished run takes the stage; where it answers the question, it is the reply."""
    return take_reply(actions.show_run(state, run), run)


def take_reply(state: ViewState, run: Run) -> ViewState:
    """A run that answers the question is part of the conversation."""
    if state.model is None:
        return state
    return _talking(state, answered(state.conversation, state.model.model, run))


def show_spoken(state: ViewState, spoken: Spoken) -> ViewState:
    """A reply has come so far."""
    if spoken.inputs != pending(state):
        return state
    return _talking(state, replace(state.conversation, spoken=spoken))


def give_up(state: ViewState) -> ViewState:
    """The question that waits is no longer asked; it can be changed and asked again."""
    if pending(state) is None:
        return state
    return _talking(state, _waiting_no_more(state))


def _waiting_no_more(state: ViewState) -> Conversation:
    talk, left = state.conversation, _unanswered(state)
    return replace(talk, asked=None, before=None, spoken=None, draft=left)


def write(state: ViewState, draft: str) -> ViewState:
    """The question is being typed."""
    talk = state.conversation if pending(state) is not None else _waiting_no_more(state)
    return _talking(state, replace(talk, draft=draft))


def start_anew(state: ViewState) -> ViewState:
    """Forget what was said; how tokens are chosen stays, and the run, and what had no answer."""
    left = _unanswered(state)
    return _talking(state, Conversation(settings=state.conversation.settings, draft=left))


def open_exchange(state: ViewState, number: int) -> ViewState:
    """Make an exchange the run on the stage; the way back leads to the conversation."""
    exchanges = state.conversation.exchanges
    if not 0 <= number < len(exchanges):
        return state
    talk = _waiting_no_more(state)
    there = trail.open_page(state, "record")
    cursor = replace(there.cursor, token=None)
    inputs = exchanges[number].inputs
    return replace(there, inputs=inputs, cursor=cursor, conversation=talk)


def set_sampling(state: ViewState, name: str, value: object) -> ViewState:
    """One of the sampling controls was moved: that is how the next question is answered."""
    talk = state.conversation
    moved = bench_actions.set_sampling(replace(state, inputs=talk.settings), name, value)
    return _talking(state, replace(talk, settings=moved.inputs))


def toggle_chat(state: ViewState) -> ViewState:
    """The conversation takes the stage, or gives it back to the record at the cursor."""
    return state if chat_rules(state.model) is None else actions.toggle_page(state, "chat")


def _talking(state: ViewState, conversation: Conversation) -> ViewState:
    if conversation == state.conversation:
        return state
    return replace(state, conversation=conversation)
