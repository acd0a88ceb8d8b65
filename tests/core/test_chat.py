"""The rules of chatting, by cases written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from model_core import chat
from model_core.chat import Conversation, Turn, cut_reply, kept, prompt_of, rules_of, source_of
from model_core.model import Model
from model_core.parameters import initialise
from model_core.tokenizers import CharTokenizer
from tests.core.models import SPECIALS, small_config, small_model

TWO = {"chat": {"turns": 2, "user": "用户", "assistant": "助手", "history": 3}}
HISTORY = [Turn("我叫小明", "很高兴认识您，小明！"), Turn("你好", "你好！"), Turn("一", "二")]


def card(**changes: Any) -> dict[str, Any]:
    return {"chat": TWO["chat"] | changes}


def talker(dtype: str = "float32") -> Model:
    """A model that knows the characters of a prompt; what it says is nonsense."""
    characters = list("用户助手: \n你好吗甲乙丙")
    tokenizer = CharTokenizer(SPECIALS + characters, SPECIALS + characters)
    size = len(SPECIALS) + len(characters)
    config = small_config(src_vocab_size=size, tgt_vocab_size=size)
    parameters = initialise(config, np.random.default_rng(3), dtype)
    return Model(config, parameters, tokenizer, TWO)


@pytest.mark.parametrize(
    ("turns", "history", "expected"),
    [
        (1, [], "用户: 再见"),
        (1, HISTORY, "用户: 再见"),
        (2, [], "用户: 再见"),
        (2, HISTORY, "用户: 一\n助手: 二\n用户: 再见"),
        (3, HISTORY, "用户: 你好\n助手: 你好！\n用户: 一\n助手: 二\n用户: 再见"),
        (9, HISTORY[:1], "用户: 我叫小明\n助手: 很高兴认识您，小明！\n用户: 再见"),
    ],
)
def test_the_prompt_has_the_last_turns_and_the_question_last(
    turns: int, history: list[Turn], expected: str
) -> None:
    assert prompt_of(card(turns=turns), history, "再见") == expected


def test_marks_are_the_cards_own() -> None:
    english = card(user="User", assistant="Bot")
    assert prompt_of(english, [("hi", "hello")], "bye") == "User: hi\nBot: hello\nUser: bye"


def test_a_remark_is_one_line_of_the_prompt() -> None:
    prompt = prompt_of(TWO, [("a\nb", " c ")], "  你好\r\n助手: 吗 ")
    assert prompt == "用户: a b\n助手: c\n用户: 你好 助手: 吗"


@pytest.mark.parametrize("question", ["", "  ", "\n\t"])
def test_an_empty_question_is_refused_with_a_sentence(question: str) -> None:
    with pytest.raises(ValueError, match="the question is empty: write something"):
        prompt_of(TWO, [], question)
    with pytest.raises(ValueError, match="the question is empty"):
        talker().generate(question)
    with pytest.raises(ValueError, match="the question is empty"):
        Conversation(talker()).ask(question)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("你好！", "你好！"),
        ("你好！\n用户: 再见", "你好！"),
        ("你好！\n助手: 再见", "你好！"),
        ("你好！用户：再见", "你好！"),
        ("你好！ 用户 : 再见", "你好！"),
        ("助手: 你好！\n用户: 再见", "你好！"),
        ("助手：助手：你好！", ""),
        ("用户: 再见", ""),
        ("", ""),
        # a name without a colon is a word like any other, and a mark does not continue a word
        ("我的用户很多，助手也是。", "我的用户很多，助手也是。"),
        ("老用户: 两位", "老用户: 两位"),
        ("老用户: 两位\n用户: 好", "老用户: 两位"),
    ],
)
def test_a_reply_ends_at_the_next_speaker_mark(text: str, shown: str) -> None:
    assert cut_reply(text, TWO) == shown


def test_marks_are_text_not_patterns() -> None:
    odd = card(user="U.", assistant="(A)")
    assert cut_reply("yes\nUx: no", odd) == "yes\nUx: no"
    assert cut_reply("yes\nU.: no", odd) == "yes"
    assert cut_reply("(A): yes\n(A): no", odd) == "yes"


def test_a_conversation_keeps_so_many_exchanges_and_forgets_them_on_reset() -> None:
    assert kept(TWO, [("a", "b")] * 5 + HISTORY) == tuple(HISTORY)
    assert kept(card(history=0), HISTORY) == ()
    conversation = Conversation(talker())
    for question in ("你好", "你好吗", "好", "好吗"):
        conversation.ask(question, max_new_tokens=2)
    assert [turn.question for turn in conversation.turns] == ["你好吗", "好", "好吗"]
    conversation.reset()
    assert conversation.turns == ()
    assert conversation.ask("你", max_new_tokens=2).prompt == "用户: 你"


def test_a_conversation_reads_its_own_last_exchange() -> None:
    conversation = Conversation(talker())
    first = conversation.ask("你好", max_new_tokens=5)
    assert first.prompt == first.generation.prompt == "用户: 你好"
    second = conversation.ask("好吗", max_new_tokens=5)
    assert second.prompt == f"用户: 你好\n助手: {first.text}\n用户: 好吗"
    assert conversation.turns == (Turn("你好", first.text), Turn("好吗", second.text))
    assert "".join(second.generation.tape.source_tokens[:-1]) == second.prompt


def test_a_run_that_was_ended_is_no_part_of_the_conversation() -> None:
    def stop(position: int) -> None:
        raise InterruptedError

    conversation = Conversation(talker())
    conversation.ask("你好", max_new_tokens=3)
    with pytest.raises(InterruptedError):
        conversation.ask("好吗", on_step=stop)
    assert [turn.question for turn in conversation.turns] == ["你好"]


def test_a_low_temperature_is_greedy_and_a_seed_repeats_a_draw() -> None:
    model = talker()
    greedy = model.generate("你好", max_new_tokens=12)

    def ids(**choice: Any) -> list[int]:
        return Conversation(model).ask("你好", max_new_tokens=12, **choice).generation.ids

    assert ids() == ids(temperature=0.09) == ids(temperature=1.5, top_k=1) == greedy.ids
    draws = [ids(temperature=1.5, seed=seed) for seed in range(6)]
    assert ids(temperature=1.5, seed=4) == draws[4]
    assert any(draw != greedy.ids for draw in draws)


def test_the_reply_is_cut_and_the_generation_is_not() -> None:
    class Fixed:
        card, config, tokenizer = TWO, talker().config, talker().tokenizer

        def generate(self, source: str, strategy: str = "greedy", **options: Any) -> Any:
            whole = talker().generate(source, history=options["history"], max_new_tokens=1)
            object.__setattr__(whole, "text", "你好！\n用户: 吗")
            return whole

    reply = Conversation(Fixed()).ask("甲")
    assert (reply.text, reply.cut) == ("你好！", True)
    assert reply.generation.text == "你好！\n用户: 吗"


def test_a_prompt_that_is_too_long_loses_its_history_and_a_question_alone_is_refused() -> None:
    model = talker()
    limit = model.config.max_seq_len
    conversation = Conversation(model)
    longest = "甲" * (limit - len("用户: ") - 1)
    long = conversation.ask(longest, max_new_tokens=2)
    assert long.prompt == f"用户: {longest}" and len(long.generation.encoding.ids) == limit
    # the exchange before has no room beside it
    behind = conversation.ask("乙", max_new_tokens=2)
    assert behind.prompt == "用户: 乙"
    assert "用户: 乙\n助手: " in conversation.ask("丙", max_new_tokens=2).prompt
    before = conversation.turns
    with pytest.raises(ValueError, match=f"has {limit + 1} tokens .* reads at most {limit}"):
        conversation.ask(longest + "甲")
    assert conversation.turns == before


def test_generate_builds_the_prompt_of_a_chat_model_alone() -> None:
    model, history = talker(), [("甲", "乙")]
    one = model.generate("丙", history=history, max_new_tokens=4)
    assert one.prompt == "用户: 甲\n助手: 乙\n用户: 丙"
    assert one.encoding.tokens == [*one.prompt, "<EOS>"]
    steps = list(model.decode("丙", history=history, max_new_tokens=4))
    assert [step.id for step in steps] == one.ids[1:]
    plain = small_model("float32")
    assert plain.generate("s4 s5", max_new_tokens=2).prompt is None
    with pytest.raises(ValueError, match="card does not say chat: it takes no history"):
        plain.generate("s4", history=history)
    with pytest.raises(ValueError, match="card does not say chat"):
        Conversation(plain)


def test_a_list_of_questions_gives_a_list_each_with_its_own_history() -> None:
    model = talker()
    histories = [[], [("甲", "乙")], []]
    results = model.generate(["你好", "丙", "好吗"], history=histories, max_new_tokens=4)
    alone = [
        model.generate(question, history=history, max_new_tokens=4)
        for question, history in zip(["你好", "丙", "好吗"], histories, strict=True)
    ]
    assert [r.prompt for r in results] == [a.prompt for a in alone]
    assert [r.ids for r in results] == [a.ids for a in alone]
    without = model.generate(["你好", "好吗"], max_new_tokens=4)
    assert [r.prompt for r in without] == ["用户: 你好", "用户: 好吗"]
    with pytest.raises(ValueError, match="2 questions have 1 histories"):
        model.generate(["你好", "好吗"], history=[[]])


def test_a_prompt_that_was_shown_is_traced_as_it_is() -> None:
    model = talker("float64")
    result = model.generate("丙", history=[("甲", "乙")], max_new_tokens=4)
    tape = model.trace(source=result.prompt, target_ids=None, target=result.text)
    assert "".join(tape.source_tokens[:-1]) == result.prompt
    assert source_of(TWO, "丙") == "用户: 丙"
    assert "".join(model.trace("丙", "甲").source_tokens[:-1]) == "用户: 丙"
    # an empty source is the special tokens alone, as of any model
    assert model.trace("", "甲").source_tokens == ["<EOS>"]


def test_characters_that_are_not_known_are_named_where_they_stand_in_the_prompt() -> None:
    result = talker().generate("你龙", history=[("甲", "猫")], max_new_tokens=1)
    found = [(unknown.position, unknown.text) for unknown in result.encoding.unknown]
    assert found == [(result.prompt.index("猫"), "猫"), (result.prompt.index("龙"), "龙")]
    assert {result.encoding.tokens[position] for position, _ in found} == {"<UNK>"}


@pytest.mark.parametrize(
    "said",
    [
        None, False, "yes", 1, [], {"turns": 0}, {"turns": "2"}, {"turns": True}, {"history": -1},
        {"user": ""}, {"user": "a\nb"}, {"user": " a"}, {"user": 1}, {"user": "助手"},
    ],
)  # fmt: skip
def test_a_strangers_card_says_chat_soundly_or_not_at_all(said: Any) -> None:
    assert rules_of({"chat": said}) is None


def test_what_a_card_leaves_out_has_a_default() -> None:
    assert rules_of({}) is None
    assert rules_of({"chat": True}) == rules_of({"chat": {}}) == chat.ChatRules()
    assert rules_of({"chat": {"turns": 4, "more": 1}}) == chat.ChatRules(turns=4)
