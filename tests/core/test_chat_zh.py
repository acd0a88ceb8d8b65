"""chat-zh: its written lines are sound, and the bundled model does with them what it should."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

import model_core
from model_core import bundled
from model_core.__main__ import main
from model_core.chat import Conversation, Turn
from model_core.model import Model
from model_core.tokenizers import UNKNOWN_ID
from model_core.training.tasks import chat_zh
from model_core.training.tasks.chat_zh import drawing, lines, measures, talk
from model_core.training.tasks.chat_zh.noise import UNKNOWN_CHARACTER, bare, slipped
from model_core.training.tasks.chat_zh.talk import Exchange

MILLION = 1_000_000


@pytest.fixture(scope="module")
def data() -> chat_zh.ChatData:
    return chat_zh.generate(chat_zh.recipe.SEED)


@pytest.fixture(scope="module")
def model() -> Model:
    return model_core.open_checkpoint(chat_zh.NAME)


def missed(model: Model, asked: list[Exchange]) -> list[tuple[str, str]]:
    return [(exchange.question, reply) for exchange, reply in measures.misses(model, asked)]


# The lines


def test_there_are_enough_written_pairs() -> None:
    assert len(talk.own_questions()) >= 150
    assert len(lines.answers()) >= 60
    assert len(measures.whole_answers()) > 150


def test_no_question_has_two_answers() -> None:
    exchanges = [*talk.own_questions(), *talk.tellings(), *talk.alone()]
    counts = Counter(exchange.question for exchange in exchanges)
    assert [question for question, count in counts.items() if count > 1] == []
    # nor, without the fillers around it, the answer of another
    assert len({(bare(e.question), e.answer) for e in exchanges}) == len(
        {bare(e.question) for e in exchanges}
    )
    answers = [answer.text for answer in lines.answers()]
    assert len(set(answers)) == len(answers)


def test_noise_never_makes_one_question_into_two(data: chat_zh.ChatData) -> None:
    answers: dict[tuple[tuple[Turn, ...], str], str] = {}
    for exchange in data.train:
        asked = (exchange.history, exchange.question)
        assert answers.setdefault(asked, exchange.answer) == exchange.answer, asked


def test_every_line_ends_as_a_sentence_does() -> None:
    assert [text for text in measures.whole_answers() if text[-1] not in "。！？"] == []


@pytest.mark.parametrize("name", ["unseen", "tuning"])
def test_no_rephrasing_is_trained_on(name: str, data: chat_zh.ChatData) -> None:
    questions = {bare(question) for question, _ in lines.rephrasings(name)}
    assert len(questions) == 30
    trained = {e.question for e in data.train} | {t.question for e in data.train for t in e.history}
    assert questions & ({*trained} | {bare(question) for question in trained}) == set()


@pytest.mark.parametrize("name", ["unseen", "tuning"])
def test_a_rephrasing_is_more_than_a_trained_question_with_a_filler(name: str) -> None:
    written = {bare(e.question) for e in talk.own_questions()}
    listed = {answer.text for answer in lines.answers()}
    for question, answer in lines.rephrasings(name):
        assert answer in listed, question
        assert bare(question) not in written
    unseen, tuning = ({q for q, _ in lines.rephrasings(n)} for n in ("unseen", "tuning"))
    assert not unseen & tuning


def test_a_reply_is_read_off_the_exchange_before() -> None:
    why, more, again = lines.follow_ups()
    told = Turn("我叫小明", "很高兴认识您，小明！")
    joke = Turn("讲个笑话", "有一天，数字一去找零玩，结果变成了十。")
    name, city, food = lines.facts()
    assert talk.recalled(name, told) == talk.recalled(name, Turn("我是谁", "您叫小明。"))
    assert talk.recalled(name, told) == "您叫小明。"
    assert talk.recalled(city, told) == "您还没有告诉我您住在哪里。"
    assert talk.recalled(food, Turn("我爱吃火锅", "火锅一定很好吃！")) == "您喜欢吃火锅。"
    assert talk.followed(why, joke) == "因为一和零站在一起就是十。"
    assert talk.followed(more, joke) == "香蕉走路摔了一跤，结果变成了茄子。"
    assert talk.followed(again, joke) == joke.answer
    assert talk.followed(more, told) == "暂时就这些，您可以问我别的。"


def test_slips_spare_a_told_name_and_the_words_that_turn_the_meaning() -> None:
    generator = np.random.default_rng(1)
    noisy = [slipped("我的名字是小明不是张伟", "小明", generator) for _ in range(300)]
    assert len(set(noisy)) > 50
    assert all("小明" in text and "不" in text and text.startswith("我") for text in noisy)
    assert any(UNKNOWN_CHARACTER in text for text in noisy)


def test_training_has_all_written_questions_noise_and_histories(data: chat_zh.ChatData) -> None:
    assert data.train == chat_zh.generate(chat_zh.recipe.SEED).train
    alone = {e.question for e in data.train if not e.history}
    assert {e.question for e in talk.own_questions()} <= alone
    share = np.mean([bool(e.history) for e in data.train])
    assert 0.4 < share < 0.8
    assert 0.03 < np.mean([UNKNOWN_CHARACTER in e.question for e in data.train]) < 0.2
    other = drawing.drawn(np.random.default_rng(9))
    assert other == drawing.drawn(np.random.default_rng(9))


# The model


def test_the_file_is_small_and_its_card_says_how_to_chat(model: Model) -> None:
    assert bundled.path_of(chat_zh.NAME).stat().st_size <= MILLION
    assert model.card["chat"] == chat_zh.recipe.CHAT
    assert model.card["chat"]["turns"] == 2
    assert model.card["examples"] == list(chat_zh.EXAMPLES)
    assert model.card["recipe"]["seed"] == chat_zh.recipe.SEED
    assert "cannot" in model.card["about"] and "knows nothing" in model.card["about"]
    assert model.card["about"] == chat_zh.recipe.ABOUT
    catalogue = json.loads((bundled.resources() / "i18n" / "en.json").read_text(encoding="utf-8"))
    assert catalogue["card.chat-zh.about"] == chat_zh.recipe.ABOUT
    assert catalogue["card.chat-zh.title"] == chat_zh.recipe.TITLE == model.card["title"]


def test_its_card_tells_the_figures_that_are_measured(model: Model) -> None:
    figures = {m.name: m for m in measures.measure(model)}
    told = {name: figure["exact"] for name, figure in model.card["held_out"].items()}
    assert set(told) == set(figures)
    for name, m in figures.items():
        # another machine rounds otherwise, which may turn a close choice
        assert abs(told[name] - m.hits / m.of) < 2.5 / m.of, name
    assert figures["own_questions"].hits >= 0.98 * figures["own_questions"].of
    assert figures["unseen"].of == 30
    assert figures["unseen"].hits >= 27
    assert figures["two_turns"].hits >= 0.98 * figures["two_turns"].of
    assert figures["after_an_exchange"].hits >= 0.98 * figures["after_an_exchange"].of
    assert figures["whole_answers"].hits >= 0.98 * figures["whole_answers"].of


def test_a_conversation_remembers_the_exchange_before_and_no_more(model: Model) -> None:
    conversation = Conversation(model)
    told = [conversation.ask(q).text for q in ("我叫小红", "我叫什么名字", "你好", "我叫什么名字")]
    assert told == [
        "很高兴认识您，小红！",
        "您叫小红。",
        "你好！很高兴见到您。",
        "您还没有告诉我您的名字。",
    ]
    conversation.reset()
    assert conversation.ask("再说一遍").text == "我还什么都没说呢。"


def test_unknown_characters_are_reported_and_do_not_end_the_talk(model: Model) -> None:
    result = model.generate("你好龘")
    [unknown] = result.encoding.unknown
    assert (unknown.text, result.encoding.ids[unknown.position]) == ("龘", UNKNOWN_ID)
    assert result.text == "你好！很高兴见到您。"


def test_what_it_says_at_a_temperature_differs_with_the_seed(model: Model) -> None:
    odd = "今天的月亮"
    said = {Conversation(model).ask(odd, temperature=1.5, seed=s).text for s in range(12)}
    assert len(said) > 1
    greedy = Conversation(model).ask(odd).text
    assert greedy == Conversation(model).ask(odd, temperature=0.05, seed=3).text
    assert greedy == Conversation(model).ask(odd, temperature=1.5, top_k=1).text


def test_every_reply_has_a_tape_like_any_other_run(model: Model) -> None:
    reply = Conversation(model).ask("你好")
    tape = reply.generation.tape
    assert "".join(tape.source_tokens[:-1]) == reply.prompt == "用户: 你好"
    assert "".join(tape.predicted_tokens[:-1]) == reply.text
    traced = model.trace(source="你好", target=reply.text)
    for site in ("encoder.out", "decoder.layers.0.cross_attn.weights", "logits"):
        assert np.allclose(traced[site].value, tape[site].value, atol=1e-4), site
    assert all(a.position + 1 == b.position for a, b in pairwise(reply.generation.steps))


def test_the_command_line_tells_the_prompt_and_what_it_does_not_know(
    capsys: pytest.CaptureFixture[str],
) -> None:
    long = "好" * 60 + "龘"
    assert main(["translate", chat_zh.NAME, "你好", "--json"]) == 0
    assert main(["translate", chat_zh.NAME, long]) == 0
    assert main(["translate", chat_zh.NAME, " "]) == 2
    out, err = capsys.readouterr()
    answer = json.loads(out.splitlines()[0])
    assert (answer["prompt"], answer["text"]) == ("用户: 你好", "你好！很高兴见到您。")
    assert "warning: 65 characters; the longest sentence in training had" in err
    assert "'龘' is not in the vocabulary" in err
    assert "the question is empty" in err


# What it says it can do


HONEST = (
    ("今天天气怎么样", "不知道"),
    ("明天会下雨吗", "不知道"),
    ("外面冷不冷", "不知道"),
    ("现在几点了", "不知道"),
    ("今天几号", "不知道"),
    ("一加一等于几", "不会"),
    ("二加三是多少", "不会"),
    ("你会翻译吗", "不会"),
    ("帮我翻译一下", "不会"),
    ("你会说英语吗", "不会"),
)


@pytest.mark.parametrize(("question", "honest"), HONEST)
def test_what_its_card_says_it_cannot_do_it_does_not_claim(
    model: Model, question: str, honest: str
) -> None:
    assert honest in Conversation(model).ask(question).text


def test_no_answer_claims_what_the_card_denies() -> None:
    told = measures.whole_answers()
    claims = ("翻译助手", "可以翻译", "天气很好", "可能会下雨", "喜欢翻译", "在学习", "继续学习")
    assert [text for text in told if any(claim in text for claim in claims)] == []
    for answer in lines.answers():
        asked = " ".join(answer.questions)
        if (
            any(word in asked for word in ("天气", "下雨", "几点", "星期几"))
            and "夏天" not in asked
        ):
            assert "不知道" in answer.text, answer
        if "会翻译" in asked or "一加一" in asked:
            assert "不会" in answer.text, answer


def test_what_it_can_do_is_told_without_translation(model: Model) -> None:
    assert Conversation(model).ask("你会做什么").text == "我会陪您聊天，回答一些简单的问题。"
    assert "翻译" not in Conversation(model).ask("你叫什么名字").text
