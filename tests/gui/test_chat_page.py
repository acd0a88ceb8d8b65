"""The chat in a whole window: asking, growing, giving up, opening a reply, both languages."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from tests.gui.live_window import live  # noqa: F401 (fixture)
from tests.gui.talking import Faltering, Slowly, talker
from tests.gui.test_input_method import compose
from tests.gui.views import entry as translator
from visualizer import actions, chat_actions
from visualizer.lenses.chat import Bubble, Divider
from visualizer.state import ModelEntry
from visualizer.widgets.text_block import TextBlock

KEY, LEFT = Qt.Key, Qt.MouseButton.LeftButton


class Chat:
    """A live window with a chat model."""

    def __init__(self, live, entry: ModelEntry) -> None:  # noqa: F811
        self.live, self.entry = live, entry
        live.store.dispatch(actions.open_model, entry)
        live.until_settled()
        self.page = live.window.stage.pages["chat"]

    @property
    def state(self):
        return self.live.state

    @property
    def talk(self) -> list[tuple[str, str]]:
        """What is on screen."""
        return [(i.side, i.text) for i in self.page.bubbles.talk if isinstance(i, Bubble)]

    @property
    def questions(self) -> list[str]:
        return [text for side, text in self.talk if side == "user"]

    def type(self, question: str) -> None:
        self.page.field.setFocus()
        compose(self.page.field, commit=question)

    def send(self, question: str) -> None:
        self.type(question)
        self.live.press(KEY.Key_Return, widget=self.page.field)

    def ask(self, *questions: str) -> None:
        for question in questions:
            count = len(self.state.conversation.exchanges)
            self.send(question)
            self.until(lambda n=count: len(self.state.conversation.exchanges) == n + 1)
            self.live.until_settled()

    def until(self, happened) -> None:
        self.live.qtbot.waitUntil(happened, timeout=10_000)

    def click(self, number: int, side: str = "assistant") -> None:
        self.page.view.show_exchange(number)
        spot = self.page.bubbles.bubble_rect(number, side).center().toPoint()
        self.live.qtbot.mouseClick(self.page.bubbles, LEFT, pos=spot)


@pytest.fixture
def chat(live):  # noqa: F811
    return Chat(live, talker())


@pytest.fixture
def waiting(live):  # noqa: F811
    """A model that has its first run and answers when it is told to."""
    entry = talker()
    made = Chat(live, entry)
    made.slowly = Slowly(entry)
    yield made
    made.slowly.go.set()


def test_the_chat_opens_first_and_invites_with_three_questions(chat):
    stage = chat.live.window.stage
    assert stage.page is chat.page and not stage.tabs.tab_rect("chat").isEmpty()
    assert [button.text() for button in chat.page.examples] == ["你好", "甲", "乙"]
    assert chat.page.offer.isVisible() and chat.page.field.hasFocus()
    assert "cannot say anything sensible" in chat.page.empty.accessibleName()
    assert not chat.live.window.workspace.right.isVisible()
    chat.live.qtbot.mouseClick(chat.page.examples[1], LEFT)
    chat.until(lambda: len(chat.state.conversation.exchanges) == 1)
    assert chat.questions == ["甲"] and chat.page.view.isVisible()
    assert chat.page.field.hasFocus()


def test_another_model_has_no_chat(chat):
    chat.ask("甲")
    chat.live.store.dispatch(actions.open_model, translator())
    chat.live.until_settled()
    stage = chat.live.window.stage
    assert stage.page.name == "record" and stage.tabs.tab_rect("chat").isEmpty()
    chat.live.press(KEY.Key_C, widget=stage)
    assert stage.page.name == "record"


def test_enter_asks_and_the_reply_comes_with_its_figures(chat):
    chat.ask("你好", "吗")
    assert chat.questions == ["你好", "吗"] and chat.page.field.text() == ""
    first, second = chat.state.conversation.exchanges
    assert [text for side, text in chat.talk if side == "assistant"] == [first.reply, second.reply]
    notes = [i.note for i in chat.page.bubbles.talk if isinstance(i, Bubble) and i.note]
    assert len(notes) == 2 and all("per token" in note for note in notes)
    assert chat.live.field.text() == "吗"  # the header shows the question
    assert chat.page.bubbles.bubble_rect(1).bottom() <= chat.page.bubbles.height()


def test_the_rules_are_on_screen(chat):
    assert isinstance(chat.page.rules, TextBlock)
    said = chat.page.rules.accessibleName()
    assert "trained on 2 turns" in said and "older ones are not read" in said
    assert "last 3 exchanges" in said and "“用户:” or “助手:”" in said
    chat.ask("你", "好", "吗")
    dividers = [item for item in chat.page.bubbles.talk if isinstance(item, Divider)]
    assert len(dividers) == 1
    chat.live.qtbot.mouseClick(chat.page.anew, LEFT)
    assert chat.talk == [] and chat.page.offer.isVisible() and not chat.page.anew.isEnabled()
    chat.ask("甲")
    assert chat.state.inputs.history == () and chat.questions == ["甲"]


def test_a_click_on_a_bubble_steps_through_that_very_reply(chat):
    chat.live.store.dispatch(chat_actions.set_sampling, "temperature", 1.8)
    chat.ask("你", "好", "吗", "甲")
    for number, side in ((1, "assistant"), (0, "user")):
        exchange = chat.state.conversation.exchanges[number]
        chat.click(number, side)
        assert chat.live.window.stage.page.name == "record"
        chat.live.until_settled()
        run = chat.state.run
        assert run.chosen == exchange.chosen and run.inputs == exchange.inputs
        assert "".join(run.tape.source_tokens[:-1]).endswith(f"用户: {exchange.inputs.source}")
        chips = chat.live.window.transport.chips._chips
        assert len(chips) >= len(exchange.chosen)
        for page in ("attention", "lens", "decoding", "layers"):
            chat.live.store.dispatch(actions.show_page, page)
            chat.live.until_settled()
            assert chat.live.window.stage.page.name == page
        chat.live.store.dispatch(actions.show_page, "chat")
        chat.live.until_settled()
        current = {i.number for i in chat.page.bubbles.talk if isinstance(i, Bubble) and i.current}
        assert current == {number}
    assert len(chat.state.conversation.exchanges) == 4


def test_backspace_leads_back_to_the_conversation_and_keys_lead_in(chat):
    chat.ask("你", "好")
    stage = chat.live.window.stage
    chat.live.press(KEY.Key_Escape, widget=chat.page.field)
    assert stage.hasFocus()
    chat.live.press(KEY.Key_Up, widget=stage)
    chat.live.press(KEY.Key_Up, widget=stage)
    assert chat.page.bubbles.marked == 0
    chat.live.press(KEY.Key_Return, widget=stage)
    chat.live.until_settled()
    assert chat.state.run.chosen == chat.state.conversation.exchanges[0].chosen
    chat.live.press(KEY.Key_Backspace, widget=stage)
    assert stage.page is chat.page


def test_the_window_lives_while_the_model_answers_and_a_stale_reply_is_dropped(waiting):
    waiting.send("你")
    waiting.until(lambda: waiting.slowly.began == 1)
    assert waiting.talk == [("user", "你"), ("assistant", "…")]
    waiting.type("好")  # one types on meanwhile
    assert waiting.page.field.text() == "好"
    waiting.live.press(KEY.Key_Return, widget=waiting.page.field)
    assert waiting.talk == [("user", "好"), ("assistant", "…")]
    waiting.slowly.go.set()
    waiting.until(lambda: len(waiting.state.conversation.exchanges) == 1)
    waiting.live.until_settled()
    waiting.live.qtbot.wait(50)
    assert waiting.questions == ["好"]
    [exchange] = waiting.state.conversation.exchanges
    assert exchange.chosen == waiting.state.run.chosen and exchange.inputs.history == ()


@pytest.mark.parametrize("from_the_stage", [False, True])
def test_escape_ends_the_waiting_and_gives_the_question_back(waiting, from_the_stage):
    before = waiting.state.inputs
    waiting.send("吗")
    waiting.until(lambda: waiting.slowly.began == 1)
    stage = waiting.live.window.stage
    if from_the_stage:
        stage.setFocus()
    waiting.live.press(KEY.Key_Escape, widget=stage if from_the_stage else waiting.page.field)
    assert waiting.talk == [] and waiting.page.field.text() == "吗"
    assert waiting.state.inputs == before
    waiting.slowly.go.set()
    waiting.live.until_settled()
    waiting.live.qtbot.wait(50)
    assert waiting.state.conversation.exchanges == ()
    waiting.live.press(KEY.Key_Return, widget=waiting.page.field)
    waiting.until(lambda: len(waiting.state.conversation.exchanges) == 1)


def test_another_model_that_is_opened_meanwhile_takes_the_question_with_it(waiting):
    waiting.send("吗")
    waiting.until(lambda: waiting.slowly.began == 1)
    other = talker(seed=5)
    waiting.live.store.dispatch(actions.open_model, other)
    waiting.slowly.go.set()
    waiting.live.until_settled()
    waiting.live.qtbot.wait(50)
    assert waiting.state.model is other and waiting.talk == []
    assert waiting.page.field.text() == ""


def test_a_new_conversation_that_is_begun_meanwhile_drops_the_reply(waiting):
    waiting.send("吗")
    waiting.until(lambda: waiting.slowly.began == 1)
    waiting.live.qtbot.mouseClick(waiting.page.anew, LEFT)
    waiting.slowly.go.set()
    waiting.live.until_settled()
    assert waiting.talk == [] and waiting.state.conversation.exchanges == ()


def test_a_failure_ends_the_waiting(chat, caplog):
    def broken(*arguments, **options):
        raise FloatingPointError("the sums ran away")

    chat.entry.model.generate = broken
    chat.send("你")
    assert "ran away" in chat.live.notice()
    assert chat.talk == [] and chat.page.field.text() == "你"


def test_a_reply_grows_while_it_is_said(live):  # noqa: F811
    entry = talker()
    chat = Chat(live, entry)
    faltering = Faltering(entry)
    chat.send("你")
    chat.until(lambda: len(chat.talk[-1][1]) > 1)
    grown = chat.talk[-1][1].removesuffix("…")
    assert chat.state.conversation.exchanges == ()
    faltering.go.set()
    chat.until(lambda: len(chat.state.conversation.exchanges) == 1)
    assert chat.talk[-1][1].startswith(grown)


def test_undo_and_redo_of_a_question(chat):
    chat.ask("你", "好")
    chat.live.store.undo()
    chat.live.until_settled()
    assert chat.state.inputs.source == "你" and chat.questions == ["你", "好"]
    chat.live.store.redo()
    chat.live.until_settled()
    assert chat.questions == ["你", "好"]
    assert chat.state.run.chosen == chat.state.conversation.exchanges[1].chosen


def test_ctrl_z_takes_back_what_was_typed_before_it_takes_back_a_question(chat):
    chat.ask("你", "好")
    chat.live.qtbot.keyClicks(chat.page.field, "ab")
    control = Qt.KeyboardModifier.ControlModifier
    chat.live.press(KEY.Key_Z, control, chat.page.field)
    assert chat.page.field.text() == "" == chat.state.conversation.draft
    assert chat.state.inputs.source == "好"
    chat.live.press(KEY.Key_Z, control, chat.page.field)
    assert chat.state.inputs.source == "你"


def test_an_input_method_is_left_alone(chat):
    chat.page.field.setFocus()
    compose(chat.page.field, "ni'hao")
    for key in (KEY.Key_Return, KEY.Key_Escape, KEY.Key_Up):
        chat.live.press(key, widget=chat.page.field)
    chat.live.store.dispatch(actions.set_language, "zh")
    assert chat.talk == [] and chat.page.field.hasFocus()
    compose(chat.page.field, commit="你好")
    assert chat.page.field.text() == "你好" == chat.state.conversation.draft
    chat.live.press(KEY.Key_Return, widget=chat.page.field)
    chat.until(lambda: chat.questions == ["你好"])


def test_long_texts_wrap_and_the_end_stays_in_view(chat):
    chat.ask(*["你好" * 15, "甲" * 8] * 5)
    bubbles, view = chat.page.bubbles, chat.page.view
    QApplication.processEvents()
    long = bubbles.bubble_rect(0, "user")
    assert long.height() >= bubbles.bubble_rect(1, "user").height()
    assert all(0 <= item.rect.left() and item.rect.right() <= bubbles.width()
               for item in bubbles.laid())  # fmt: skip
    bar = view.verticalScrollBar()
    assert bar.maximum() > 0 and bar.value() == bar.maximum()
    chat.live.press(KEY.Key_Up, widget=chat.page.field)
    assert bar.value() < bar.maximum()
    chat.ask("你")
    assert bar.value() == bar.maximum()
    chat.live.window.resize(1600, 1000)
    QApplication.processEvents()
    assert bar.value() == bar.maximum()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_words_are_those_of_the_language(chat, language):
    chat.ask("你", "好")
    chat.live.store.dispatch(actions.set_language, language)
    words = {"en": ("New conversation", "Ask", "turns"), "zh": ("新对话", "提问", "轮")}[language]
    assert (chat.page.anew.text(), chat.page.send.text()) == words[:2]
    [divider] = [item for item in chat.page.bubbles.talk if isinstance(item, Divider)]
    assert words[2] in divider.text and words[2] in chat.page.rules.accessibleName()
    assert "chat." not in " ".join(
        f"{i.text} {i.note} {i.tip}" for i in chat.page.bubbles.talk if isinstance(i, Bubble)
    )


def test_the_bundled_model_remembers_a_name_for_one_turn(live):  # noqa: F811
    live.open("chat-zh")
    page = live.window.stage.pages["chat"]
    for question in ("我叫小红", "我叫什么名字"):
        count = len(live.state.conversation.exchanges)
        page.field.setFocus()
        compose(page.field, commit=question)
        live.press(KEY.Key_Return, widget=page.field)
        live.qtbot.waitUntil(
            lambda n=count: len(live.state.conversation.exchanges) == n + 1, timeout=10_000
        )
    assert "小红" in live.state.conversation.exchanges[1].reply
    assert len(page.examples) == 3 and all(button.text() for button in page.examples)


def test_the_button_that_asks_looks_disabled_while_there_is_nothing_to_ask(chat):
    def fill() -> str:
        image = chat.page.send.grab().toImage()
        return image.pixelColor(6, image.height() // 2).name()

    theme = chat.page.bubbles.theme
    assert not chat.page.send.isEnabled() and fill() == theme.sunken
    chat.live.qtbot.keyClicks(chat.page.field, "a")
    assert chat.page.send.isEnabled() and fill() == theme.encoder_fill
