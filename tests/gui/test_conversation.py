"""The conversation in the state: what is read, what is kept, what a run brings, what undo does."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.gui.talking import said, started, talker
from tests.gui.views import entry as translator
from visualizer import actions, chat_actions
from visualizer.conversation import Conversation, Spoken, fitting
from visualizer.lenses.chat import Bubble, Divider, chat_caption, rules_said, talk
from visualizer.run import compute
from visualizer.settings import Last
from visualizer.state import Inputs, ViewState, current_token
from visualizer.store import Store


def bubbles(state: ViewState) -> list[tuple[str, str]]:
    return [(item.side, item.text) for item in talk(state) if isinstance(item, Bubble)]


def test_a_chat_model_opens_with_its_chat_and_any_other_with_its_step():
    state = started(talker())
    assert state.page == "chat" and talk(state) == ()
    assert state.inputs.source == "你好"  # the other tabs have something to show
    other = actions.open_model(said(state, "甲"), translator())
    assert other.page == "record" and other.conversation == Conversation()
    assert chat_actions.toggle_chat(other) is other and chat_actions.ask(other, "s4") is other
    there = chat_actions.toggle_chat(started(talker()))
    assert (there.page, chat_actions.toggle_chat(there).page) == ("record", "chat")


def test_what_is_read_is_the_prompt_of_the_last_turns():
    state = said(started(talker()), "你好", "甲", text="好吗好")
    first, second = state.conversation.exchanges
    read = "".join(state.run.tape.source_tokens[:-1])
    assert read == f"用户: 你好\n助手: {first.reply}\n用户: 甲"
    assert second.inputs.history == (("你好", first.reply),) and second.read == 1
    third = said(state, "乙")
    read = "".join(third.run.tape.source_tokens[:-1])
    assert read == f"用户: 甲\n助手: {second.reply}\n用户: 乙"


def test_a_conversation_keeps_so_many_exchanges_for_the_model_and_shows_all():
    state = said(started(talker()), "你", "好", "吗", "甲", "乙")
    assert [question for question, _ in state.inputs.history] == ["好", "吗", "甲"]
    assert len(bubbles(state)) == 10


def test_the_limit_of_the_training_is_drawn_where_reading_begins():
    state = started(talker())
    assert [type(item) for item in talk(said(state, "你"))] == [Bubble, Bubble]
    long = talk(said(state, "你", "好", "吗"))
    place = next(n for n, item in enumerate(long) if isinstance(item, Divider))
    assert place == 4 and "2 turns" in long[place].text
    assert [item.faint for item in long if isinstance(item, Bubble)] == [True] * 4 + [False] * 2
    single = started(talker(chat={"turns": 1}))
    assert isinstance(talk(said(single, "你"))[-1], Divider)
    assert rules_said(state)[0].startswith("The model was trained on 2 turns")
    assert rules_said(state)[0].endswith("older ones are not read.")


def test_a_prompt_that_is_too_long_loses_its_oldest_turn_and_says_so():
    state = said(started(talker()), "甲" * 20, "乙" * 20)
    last = state.conversation.exchanges[-1]
    assert (last.read, last.left_out) == (0, 1)
    assert "".join(state.run.tape.source_tokens[:-1]) == "用户: " + "乙" * 20
    asked = [item for item in talk(state) if isinstance(item, Bubble)][-2]
    assert asked.warning == "Too long together: turns before it that were not read: 1."
    assert "甲" not in asked.tip and last.inputs.history != ()
    model = state.model.model
    assert fitting(model, last.inputs).history == ()
    short = Inputs("乙", history=(("甲", "丙"),))
    assert fitting(model, short) is short


def test_a_question_that_is_too_long_alone_becomes_a_draft_again():
    state = said(started(talker()), "甲" * 60)
    assert state.conversation.exchanges == () and state.run.outcome == "too_long"
    assert state.conversation.draft == "甲" * 60 and chat_actions.pending(state) is None


def test_a_reply_is_cut_where_the_next_speaker_begins():
    state = said(started(talker()), "你", text="好吗\n用户: 甲")
    [exchange] = state.conversation.exchanges
    assert (exchange.reply, exchange.cut) == ("好吗", True)
    reply = talk(state)[-1]
    assert reply.text == "好吗" and reply.warning.startswith("Cut where the next speaker began.")
    assert said(state, "甲").inputs.history == (("你", "好吗"),)


def test_a_reply_says_how_likely_it_was():
    state = said(started(talker()), "你")
    [exchange] = state.conversation.exchanges
    tape, chosen = state.run.tape, state.run.chosen
    rows = tape["logits"].value[0].astype(np.longdouble)
    rows -= np.log(np.exp(rows).sum(-1, keepdims=True))
    total = math.fsum(float(rows[t, token]) for t, token in enumerate(chosen))
    assert exchange.likelihood.log_prob == pytest.approx(total, rel=1e-12)
    assert exchange.likelihood.per_token == pytest.approx(math.exp(total / len(chosen)), rel=1e-12)
    note = talk(state)[-1].note
    assert f"per token {exchange.likelihood.per_token:.3g}"[:14] in note
    assert f"{len(chosen)} tokens" in note


def test_unknown_characters_are_named():
    state = said(started(talker()), "你龙龙猫")
    assert state.conversation.exchanges[0].unknown == ("龙", "猫")
    assert talk(state)[0].warning == "龙 猫 read as <UNK>: not in the vocabulary."


def test_an_unknown_character_is_told_of_under_the_question_that_holds_it():
    state = said(started(talker()), "你龙", "甲", "乙猫")
    first, second, third = state.conversation.exchanges
    assert (first.unknown, second.unknown, third.unknown) == (("龙",), (), ("猫",))
    # though the second was read behind the first
    assert second.read == 1
    assert [bubble.warning for bubble in talk(state) if isinstance(bubble, Bubble)][2] == ""


def test_a_question_that_waits_is_a_draft_once_something_else_is_asked_for():
    state = chat_actions.ask(started(talker()), "好吗")
    assert chat_actions.pending(state) is not None and chat_actions.draft(state) == ""
    edited = actions.edit_source(state, "甲")
    assert chat_actions.pending(edited) is None and chat_actions.draft(edited) == "好吗"
    # taking the edit back, it waits again
    back = actions.edit_source(edited, state.inputs.source)
    assert chat_actions.draft(back) == ""
    # typing on goes on from it, and emptied it stays empty
    typed = chat_actions.write(edited, "好吗好吗")
    assert chat_actions.draft(typed) == "好吗好吗"
    assert chat_actions.draft(chat_actions.write(edited, "")) == ""
    for other in (chat_actions.start_anew(state), chat_actions.start_anew(edited)):
        assert chat_actions.draft(other) == "好吗" and chat_actions.pending(other) is None
    once = said(started(talker()), "甲")
    opened = chat_actions.open_exchange(chat_actions.ask(once, "好吗"), 0)
    assert chat_actions.draft(opened) == "好吗"
    # what is typed by then goes first
    newer = chat_actions.write(state, "乙")
    assert chat_actions.draft(actions.edit_source(newer, "甲")) == "乙"


def test_a_reply_of_nothing_is_said_to_be_nothing():
    state = said(started(talker()), "你", text="")
    assert talk(state)[-1].empty and "<EOS>" in talk(state)[-1].text


def test_settings_are_those_of_the_next_reply_and_stay_with_it():
    state = said(started(talker()), "你")
    moved = chat_actions.set_sampling(state, "temperature", 1.5)
    moved = chat_actions.set_sampling(moved, "top_k", 3)
    assert moved.inputs == state.inputs  # the run on the stage is what it was
    asked = said(moved, "甲")
    first, second = asked.conversation.exchanges
    assert first.inputs.strategy == "greedy"
    chosen = second.inputs
    assert (chosen.strategy, chosen.temperature, chosen.top_k) == ("sample", 1.5, 3)
    assert talk(asked)[-1].note.endswith("temperature 1.5, top-k 3, seed 0")
    back = chat_actions.set_sampling(asked, "strategy", "greedy")
    assert said(back, "甲").conversation.exchanges[-1].inputs.strategy == "greedy"
    beams = said(chat_actions.set_sampling(asked, "strategy", "beam"), "乙")
    assert beams.run.search is not None and talk(beams)[-1].note.endswith("Beam 4")


def test_a_new_conversation_forgets_what_was_said_and_not_how_replies_are_chosen():
    state = chat_actions.set_sampling(said(started(talker()), "你", "好"), "seed", 5)
    anew = chat_actions.start_anew(state)
    assert talk(anew) == () and anew.conversation.settings.seed == 5
    assert anew.run is state.run
    asked = said(anew, "甲")
    assert asked.inputs.history == ()
    assert "".join(asked.run.tape.source_tokens[:-1]) == "用户: 甲"


@pytest.mark.parametrize("number", [0, 1, 2])
def test_opening_a_reply_gives_its_very_run(number):
    state = chat_actions.set_sampling(started(talker()), "temperature", 2.0)
    state = said(state, "你", "好", "吗")
    exchange = state.conversation.exchanges[number]
    opened = chat_actions.open_exchange(state, number)
    assert opened.page == "record" and opened.inputs == exchange.inputs
    run = compute(opened.model, opened.inputs, number=99)
    shown = chat_actions.show_run(opened, run)
    assert run.chosen == exchange.chosen
    assert shown.conversation.exchanges == state.conversation.exchanges
    assert chat_actions.opened(shown) == number
    assert current_token(shown) == run.last_content
    marked = [item.number for item in talk(shown) if isinstance(item, Bubble) and item.current]
    assert marked == [number, number]


def test_what_is_asked_otherwise_is_no_part_of_the_conversation():
    state = said(started(talker()), "你")
    edited = actions.edit_source(chat_actions.ask(state, "甲"), "甲吗")
    assert chat_actions.pending(edited) is None
    shown = chat_actions.show_run(edited, compute(edited.model, edited.inputs, number=7))
    assert bubbles(shown) == bubbles(state)
    assert "".join(shown.run.tape.source_tokens[:-1]).endswith("用户: 甲吗")


def test_a_question_whose_run_is_on_the_stage_is_answered_at_once():
    state = started(talker())
    asked = chat_actions.ask(state, "你好")
    assert asked.inputs == state.inputs and chat_actions.pending(asked) is None
    assert bubbles(asked)[0] == ("user", "你好")


def test_a_growing_reply_is_shown_for_its_own_question_alone():
    state = chat_actions.ask(said(started(talker()), "你"), "甲")
    assert bubbles(state)[-2:] == [("user", "甲"), ("assistant", "…")]
    grown = chat_actions.show_spoken(state, Spoken(state.inputs, "好"))
    assert bubbles(grown)[-1] == ("assistant", "好…")
    stale = Spoken(replace(state.inputs, source="乙"), "吗")
    assert chat_actions.show_spoken(grown, stale) is grown
    next_one = chat_actions.ask(grown, "乙")
    assert bubbles(next_one)[-2:] == [("user", "乙"), ("assistant", "…")]


@pytest.mark.parametrize("question", ["", "  ", "\n"])
def test_nothing_asked_is_nothing_done(question):
    state = started(talker())
    assert chat_actions.ask(state, question) is state


def test_every_question_is_an_undo_step_and_undo_unsays_nothing():
    store = Store(started(talker()))

    def ask(question: str) -> None:
        store.dispatch(chat_actions.ask, question)
        run = compute(store.state.model, store.state.inputs, number=store.state.run.number + 1)
        store.dispatch(chat_actions.show_run, run)

    first = store.state.inputs
    ask("甲")
    ask("乙")
    store.dispatch(actions.edit_source, "丙")
    store.undo()
    assert store.state.inputs.source == "乙"
    store.undo()
    assert store.state.inputs.source == "甲" and len(store.state.conversation.exchanges) == 2
    store.undo()
    assert store.state.inputs == first and not store.can_undo
    store.redo()
    store.redo()
    assert store.state.inputs == store.state.conversation.exchanges[1].inputs
    # a question whose reply has come is not asked a second time
    run = compute(store.state.model, store.state.inputs, number=50)
    store.dispatch(chat_actions.show_run, run)
    assert len(store.state.conversation.exchanges) == 2


def test_undo_while_the_model_answers_takes_the_question_back_and_redo_asks_it_again():
    store = Store(started(talker()))
    store.dispatch(chat_actions.ask, "甲")
    store.undo()
    assert chat_actions.pending(store.state) is None and talk(store.state) == ()
    store.redo()
    assert chat_actions.pending(store.state) == store.state.inputs
    run = compute(store.state.model, store.state.inputs, number=9)
    store.dispatch(chat_actions.show_run, run)
    assert len(store.state.conversation.exchanges) == 1


def test_the_last_session_is_written_without_the_conversation():
    state = said(started(talker()), "你", "好")
    assert state.inputs.history
    text = Last.of(state, replace(state.model, bundled="chat-zh")).to_text()
    assert "history" in text and "你" not in text
    assert Last.from_text(text).inputs.history == ()


def test_more_exchanges_than_the_model_is_given_are_counted_apart():
    state = started(talker())
    shapes = []
    for _ in range(4):
        state = said(state, "吗")
        shapes.append(chat_caption(state).shape)
    assert shapes[0] == "1 exchange" and shapes[2] == "3 exchanges"
    assert shapes[3] == "4 exchanges on screen · the last 3 kept for the model"
    assert "last 3 exchanges are kept for the model" in " ".join(rules_said(state))
