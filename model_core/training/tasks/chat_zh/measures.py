"""How well a chat model answers: its own questions, unseen ones, after an exchange, by draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model_core.chat import cut_reply
from model_core.model import Model
from model_core.training.tasks.chat_zh.drawing import opening
from model_core.training.tasks.chat_zh.lines import answers, facts, follow_ups, rephrasings
from model_core.training.tasks.chat_zh.talk import (
    Exchange,
    alone,
    own_questions,
    second_turns,
    tellings,
)

BATCH_SIZE = 128
TEMPERATURE = 0.8


@dataclass(frozen=True)
class Measure:
    """One figure: how many of so many; `name` in the card, `told` to a person."""

    name: str
    told: str
    hits: int
    of: int


def replies(
    model: Model, asked: Sequence[Exchange], temperature: float = 0.0, seed: int = 0
) -> list[str]:
    """What the model answers to each question after its history; "" where it found no end."""
    order = sorted(range(len(asked)), key=lambda i: sum(map(len, _texts(asked[i]))))
    found = [""] * len(asked)
    for start in range(0, len(order), BATCH_SIZE):
        rows = order[start : start + BATCH_SIZE]
        results = model.generate(
            [asked[i].question for i in rows],
            "sample",
            history=[asked[i].history for i in rows],
            temperature=temperature,
            seed=seed,
        )
        for i, result in zip(rows, results, strict=True):
            found[i] = cut_reply(result.text, model.card) if result.finished else ""
    return found


def _texts(exchange: Exchange) -> list[str]:
    return [exchange.question, *(text for turn in exchange.history for text in turn)]


def misses(model: Model, asked: Sequence[Exchange]) -> list[tuple[Exchange, str]]:
    """The exchanges that go wrong at greedy, each with what the model says instead."""
    return [
        (exchange, reply)
        for exchange, reply in zip(asked, replies(model, asked), strict=True)
        if reply != exchange.answer
    ]


def measured(model: Model, name: str, told: str, asked: Sequence[Exchange]) -> Measure:
    """How many exchanges go right at greedy."""
    return Measure(name, told, len(asked) - len(misses(model, asked)), len(asked))


def unseen(name: str = "unseen") -> list[Exchange]:
    return [Exchange(question, answer) for question, answer in rephrasings(name)]


def after_an_exchange(seed: int = 0) -> list[Exchange]:
    """Every own question once, after some exchange that it has nothing to do with."""
    generator = np.random.default_rng([seed, 5])
    return [Exchange(e.question, e.answer, (opening(generator),)) for e in own_questions()]


def whole_answers() -> set[str]:
    """All replies that were written beforehand, with every value in its place."""
    texts = {text for a in answers() for text in (a.text, a.why, a.more)}
    texts |= {text for f in follow_ups() for text in (f.otherwise, f.alone)}
    for fact in facts():
        texts |= {line.format(v) for line in (fact.reply, fact.answer) for v in fact.values}
        texts.add(fact.untold)
    return texts - {""}


def measure(model: Model) -> list[Measure]:
    """All figures, in the order in which they are told."""
    own = list(own_questions())
    alike = [*own, *tellings(), *alone()]
    said = replies(model, alike, TEMPERATURE)
    whole = whole_answers()
    return [
        measured(model, "own_questions", "own questions, greedy", own),
        measured(model, "told_or_alone", "facts told, follow-ups alone", [*tellings(), *alone()]),
        measured(model, "unseen", "unseen rephrasings", unseen()),
        measured(model, "tuning", "rephrasings that sizes were chosen by", unseen("tuning")),
        measured(model, "two_turns", "two-turn exchanges", second_turns()),
        measured(
            model, "after_an_exchange", "own questions after another one", after_an_exchange()
        ),
        Measure(
            "whole_answers",
            f"whole answers at temperature {TEMPERATURE}",
            sum(reply in whole for reply in said),
            len(said),
        ),
    ]
