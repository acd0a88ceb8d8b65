"""Talking with a model: the prompt of the last turns, and the reply cut at the next speaker mark.

A model whose card has "chat" reads a prompt instead of the bare question: one line per remark,
each behind its speaker's mark, the question last:

    用户: 我叫小明
    助手: 很高兴认识您，小明！
    用户: 我叫什么名字

Speaker and remark are parted by a colon and a space, lines by one line break; nothing follows
the question. The card says {"chat": {"turns": 2, "user": "用户", "assistant": "助手",
"history": 10}}: `turns` is how many exchanges the model was trained to read, the one with the
question among them; `history` how many finished exchanges a conversation keeps at most.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

AFTER_MARK = ": "
BETWEEN_LINES = "\n"


class Turn(NamedTuple):
    """One finished exchange: what was asked, and the reply as it was shown."""

    question: str
    answer: str


@dataclass(frozen=True)
class ChatRules:
    """What a card says of chatting; see above."""

    turns: int = 1
    user: str = "用户"
    assistant: str = "助手"
    history: int = 10


History = Sequence[tuple[str, str]]


def rules_of(card: Mapping[str, Any]) -> ChatRules | None:
    """The rules of a card; None where it does not say chat, or says it in no sound way.

    A card may come from a stranger's file. What it leaves out is as in ChatRules.
    """
    said = card.get("chat")
    if said is True:
        return ChatRules()
    if not isinstance(said, Mapping):
        return None
    values = {
        name: said[name] for name in ("turns", "user", "assistant", "history") if name in said
    }
    counts = [values[name] for name in ("turns", "history") if name in values]
    marks = [values[name] for name in ("user", "assistant") if name in values]
    if not all(isinstance(mark, str) and one_line(mark) == mark != "" for mark in marks):
        return None
    if not all(isinstance(n, int) and not isinstance(n, bool) for n in counts):
        return None
    rules = ChatRules(**values)
    sound = rules.turns >= 1 and rules.history >= 0 and rules.user != rules.assistant
    return rules if sound else None


def one_line(text: str) -> str:
    """A remark as it stands in a prompt: a line break would look like the next speaker's."""
    return " ".join(text.split())


def due(card: Mapping[str, Any], history: History) -> History:
    """The exchanges before a question that the model was trained to read; of no chat model none."""
    rules = rules_of(card)
    number = 0 if rules is None else min(rules.turns - 1, len(history))
    return history[len(history) - number :]


def prompt_of(card: Mapping[str, Any], history: History, question: str) -> str:
    """What the encoder reads: the last turns as far as the model was trained on, the question.

    history: finished exchanges, oldest first. ValueError where the card does not say chat or
    nothing is asked.
    """
    rules = rules_of(card)
    if rules is None:
        raise ValueError("this model's card does not say chat: it takes no history and no question")
    asked = one_line(question)
    if not asked:
        raise ValueError("the question is empty: write something to be answered")
    lines = []
    for earlier, answer in due(card, history):
        lines += [(rules.user, one_line(earlier)), (rules.assistant, one_line(answer))]
    lines.append((rules.user, asked))
    return BETWEEN_LINES.join(speaker + AFTER_MARK + remark for speaker, remark in lines)


def source_of(card: Mapping[str, Any], text: str, history: History = ()) -> str:
    """The text that the encoder reads for a text that somebody wrote.

    For a chat model that is the prompt; a text that begins with the user's mark is one already,
    so that a prompt that was shown can be read again. For any other model it is the text itself.
    """
    rules = rules_of(card)
    if not history and (rules is None or text.startswith(rules.user + AFTER_MARK)):
        return text
    return prompt_of(card, history, text)


def sources_of(
    card: Mapping[str, Any], texts: Sequence[str], histories: Sequence[Any]
) -> list[str]:
    """`source_of` for a list of texts; histories: none at all, or one for each text."""
    if histories and len(histories) != len(texts):
        raise ValueError(
            f"{len(texts)} questions have {len(histories)} histories, expected as many"
        )
    return [
        source_of(card, text, history)
        for text, history in zip(texts, histories or [()] * len(texts), strict=True)
    ]


def cut_reply(text: str, card: Mapping[str, Any]) -> str:
    """A reply up to the next speaker mark, without a mark of its own in front and space around it.

    A mark is a speaker's name with a colon, of either width, that does not continue a word:
    "老用户: " is none, nor is a name without a colon.
    """
    rules = rules_of(card)
    if rules is None:
        return text
    own = re.match(rf"\s*{re.escape(rules.assistant)}\s*[:：]", text)
    if own:
        text = text[own.end() :]
    speakers = "|".join(map(re.escape, (rules.user, rules.assistant)))
    mark = re.search(rf"(?<!\w)(?:{speakers})\s*[:：]", text)
    return (text[: mark.start()] if mark else text).strip()


def kept(card: Mapping[str, Any], turns: Iterable[tuple[str, str]]) -> tuple[Turn, ...]:
    """The last turns of a conversation, as many as its model's card lets it keep."""
    rules = rules_of(card) or ChatRules()
    finished = tuple(Turn(*turn) for turn in turns)
    return finished[max(0, len(finished) - rules.history) :]


class ChatModel(Protocol):
    """What a conversation asks of a model; model_core.Model is one."""

    card: dict[str, Any]
    config: Any
    tokenizer: Any

    def generate(self, source: str, strategy: str = ..., **options: Any) -> Any: ...


def fitting(model: ChatModel, history: History, question: str) -> History:
    """The exchanges that are due, without the oldest where the prompt would be too long with them.

    A question that is too long by itself has none left.
    """
    history = due(model.card, history)
    while history and prompt_length(model, history, question) > model.config.max_seq_len:
        history = history[1:]
    return history


def prompt_length(model: ChatModel, history: History, question: str) -> int:
    """How many tokens the encoder reads of a question behind a history."""
    prompt = prompt_of(model.card, history, question)
    return len(model.tokenizer.encode_source(prompt).ids)


@dataclass(frozen=True, eq=False)
class Reply:
    """What the model answered: the text as shown, the prompt that was read, the run behind it.

    `generation` is a Generation, its text uncut and its tape to be opened like any other run's;
    `cut`: whether something was cut off.
    """

    text: str
    prompt: str
    generation: Any
    cut: bool


class Conversation:
    """Questions and replies in turn, with one model."""

    def __init__(self, model: ChatModel) -> None:
        if rules_of(model.card) is None:
            raise ValueError("this model's card does not say chat: there is no talking with it")
        self.model = model
        self._turns: tuple[Turn, ...] = ()

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The exchanges that are kept, oldest first."""
        return self._turns

    def reset(self) -> None:
        """Forget what was said."""
        self._turns = ()

    def ask(
        self,
        text: str,
        *,
        temperature: float = 0.0,
        top_k: int | None = None,
        top_p: float | None = None,
        seed: int = 0,
        max_new_tokens: int | None = None,
        on_step: Callable[[int], None] | None = None,
    ) -> Reply:
        """Ask and keep the exchange; a run that is ended by an exception is not kept.

        temperature: below 0.1 the likeliest token is taken each time, as in every decoding.
        Where the prompt would be too long for the model, the oldest exchanges are not read; a
        question that is too long alone is refused with a ValueError.
        """
        history, limit = fitting(self.model, self._turns, text), self.model.config.max_seq_len
        length = prompt_length(self.model, history, text)
        if length > limit:
            raise ValueError(
                f"the question has {length} tokens with its mark, the model reads at most {limit}"
            )
        generation = self.model.generate(
            text,
            "sample",
            history=history,
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            seed=seed,
            max_new_tokens=max_new_tokens,
            on_step=on_step,
        )
        card = self.model.card
        answer = cut_reply(generation.text, card)
        self._turns = kept(card, (*self._turns, Turn(one_line(text), answer)))
        return Reply(answer, generation.prompt, generation, answer != generation.text.strip())
