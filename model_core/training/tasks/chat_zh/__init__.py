"""Chinese small talk, character by character: written answers, and one exchange remembered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from model_core.chat import prompt_of
from model_core.model import Model
from model_core.tokenizers import CharTokenizer
from model_core.training.batching import Example
from model_core.training.loop import Recipe
from model_core.training.tasks.chat_zh import drawing, measures, noise, recipe, talk
from model_core.training.tasks.chat_zh.talk import Exchange

NAME = "chat-zh"

# Questions to start from; the last ones are more fun after one of the others.
EXAMPLES = (
    "你好",
    "你是谁",
    "讲个笑话",
    "什么是注意力",
    "你最喜欢哪个季节",
    "我今天很开心",
    "彩虹有几种颜色",
    "我叫小明",
    "我叫什么名字",
    "为什么",
)


@dataclass(frozen=True)
class ChatData:
    """The exchanges that a model is trained on."""

    name: str
    train: Sequence[Exchange] = field(repr=False)


def generate(seed: int = 0) -> ChatData:
    """The training exchanges; the same seed gives the same ones."""
    return ChatData(NAME, drawing.training(seed))


def prompt(exchange: Exchange) -> str:
    """What the encoder reads of an exchange, as in a conversation."""
    return prompt_of({"chat": recipe.CHAT}, exchange.history, exchange.question)


def tokenizer(data: ChatData) -> CharTokenizer:
    """All characters of prompts and replies; the unknown one of the noise stays unknown."""
    return CharTokenizer.build(
        (prompt(e).replace(noise.UNKNOWN_CHARACTER, ""), e.answer) for e in data.train
    )


def examples(data: ChatData, model: Model) -> list[Example]:
    """The training exchanges as ids."""
    words = model.tokenizer
    return [
        Example(words.encode_source(prompt(e)).ids, words.encode_target(e.answer).ids)
        for e in data.train
    ]


def card(data: ChatData, model: Model, used: Recipe) -> dict[str, Any]:
    """The card of a freshly trained model; nothing in it depends on the day or the machine."""
    # what is measured are conversations, so that the model must know by then that it chats
    model.card = {"chat": dict(recipe.CHAT)}
    figures = {
        m.name: {"questions": m.of, "exact": round(m.hits / m.of, 4)}
        for m in measures.measure(model)
    }
    return {
        "title": recipe.TITLE,
        "task": NAME,
        "about": recipe.ABOUT,
        "chat": dict(recipe.CHAT),
        "examples": list(EXAMPLES),
        "recipe": msgspec.to_builtins(used),
        "training_exchanges": len(data.train),
        "written_questions": len(talk.own_questions()),
        "longest_source_characters": max(len(prompt(e)) for e in data.train),
        "longest_target_characters": max(len(e.answer) for e in data.train),
        "parameters": model.parameter_count,
        "held_out": figures,
    }


def check(data: ChatData, model: Model) -> Iterator[str]:
    """Measure a model and say in lines what came out."""
    for m in measures.measure(model):
        yield f"{m.told}: {m.hits} of {m.of}, {100 * m.hits / m.of:.1f} %"
    for exchange, reply in measures.misses(model, measures.unseen()):
        yield f"  unseen and missed: {exchange.question} - {reply}"


def sentence(generator: np.random.Generator) -> Exchange:
    """One of the written questions."""
    return drawing.one_of(talk.own_questions(), generator)


__all__ = ["EXAMPLES", "NAME", "card", "check", "examples", "generate", "recipe", "sentence"]
__all__ += ["tokenizer"]
