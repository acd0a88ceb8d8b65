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
    asked = pending(state)
    if asked is None:
        return state
    talk = state.conversation
    draft = talk.draft or asked.source
    return _talking(state, replace(talk, asked=None, before=None, spoken=None, draft=draft))


def write(state: ViewState, draft: str) -> ViewState:
    """The question is being typed."""
    return _talking(state, replace(state.conversation, draft=draft))


def start_anew(state: ViewState) -> ViewState:
    """Forget what was said; how tokens are chosen stays. The run on the stage stays as well."""
    return _talking(state, Conversation(settings=state.conversation.settings))


def open_exchange(state: ViewState, number: int) -> ViewState:
    """Make an exchange the run on the stage; the way back leads to the conversation."""
    exchanges = state.conversation.exchanges
    if not 0 <= number < len(exchanges):
        return state
    talk = replace(state.conversation, asked=None, before=None, spoken=None)
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
