"""Training exchanges drawn from the tables: noisy questions, alone or after another exchange."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TypeVar

import numpy as np

from model_core.chat import Turn
from model_core.training.tasks.chat_zh.lines import answers, facts, follow_ups, rephrasings
from model_core.training.tasks.chat_zh.noise import bare, noisy
from model_core.training.tasks.chat_zh.talk import (
    Exchange,
    alone,
    followed,
    own_questions,
    recalled,
    tellings,
)

T = TypeVar("T")

TRAIN_SIZE = 60_000


def one_of(choices: Sequence[T], generator: np.random.Generator) -> T:
    return choices[int(generator.integers(len(choices)))]


@cache
def spoken_for() -> dict[str, str]:
    """Questions whose answer is fixed, and those that training must not see, in their bare form."""
    fixed = {bare(e.question): e.answer for e in (*own_questions(), *alone())}
    return fixed | {bare(q): "" for name in ("unseen", "tuning") for q, _ in rephrasings(name)}


def typed(exchange: Exchange, generator: np.random.Generator) -> Exchange:
    """An exchange with noise in its question, but for noise that turns it into another one."""
    question = noisy(exchange.question, exchange.kept, generator)
    known = spoken_for()
    own = known.get(bare(exchange.question))
    if question != exchange.question and known.get(bare(question), own) != own:
        return exchange
    return replace(exchange, question=question)


def opening(generator: np.random.Generator) -> Turn:
    """An exchange to continue after: any question, or, now and then, a follow-up."""
    chance = generator.random()
    if chance < 0.62:
        return typed(one_of(own_questions(), generator), generator).turn
    if chance < 0.85:
        return typed(one_of(tellings(), generator), generator).turn
    if chance < 0.9:
        return one_of(alone(), generator).turn
    if chance < 0.95:
        fact = one_of(facts(), generator)
        return Turn(
            one_of(fact.questions, generator), fact.answer.format(one_of(fact.values, generator))
        )
    follow_up = one_of(follow_ups(), generator)
    return Turn(
        one_of(follow_up.questions, generator),
        followed(follow_up, Turn("", one_of(answers(), generator).text)),
    )


def second_turn(generator: np.random.Generator) -> Exchange:
    """A question that depends on the exchange before it: a fact asked back, or a follow-up."""
    if generator.random() < 0.5:
        return asked_back(generator)
    before, follow_up = opening(generator), one_of(follow_ups(), generator)
    return Exchange(one_of(follow_up.questions, generator), followed(follow_up, before), (before,))


def asked_back(generator: np.random.Generator) -> Exchange:
    """A fact asked back: after it was told, after another one was, after something else."""
    fact = one_of(facts(), generator)
    chance = generator.random()
    if chance < 0.45:
        value = one_of(fact.values, generator)
        told = Exchange(one_of(fact.told, generator).format(value), fact.reply.format(value))
        before = typed(replace(told, kept=value), generator).turn
    elif chance < 0.6:
        before = typed(one_of(tellings(), generator), generator).turn
    else:
        before = opening(generator)
    return Exchange(one_of(fact.questions, generator), recalled(fact, before), (before,))


def drawn(generator: np.random.Generator) -> Exchange:
    """One training exchange, its question and what was said before as somebody may type them."""
    chance = generator.random()
    if chance < 0.34:
        return typed(second_turn(generator), generator)
    if chance < 0.4:
        return typed(one_of(alone(), generator), generator)
    source = tellings() if chance < 0.48 else own_questions()
    exchange = typed(one_of(source, generator), generator)
    if generator.random() < 0.5:
        return replace(exchange, history=(opening(generator),))
    return exchange


def training(seed: int) -> list[Exchange]:
    """The training exchanges; every written question is among them as it is written."""
    generator = np.random.default_rng([seed, 3])
    found = [*own_questions(), *tellings(), *alone()]
    answers_to = {(e.history, e.question): e.answer for e in found}
    while len(found) < TRAIN_SIZE:
        exchange = drawn(generator)
        asked = (exchange.history, exchange.question)
        # two questions with a slip each may come out as the same one: the first keeps it
        if answers_to.setdefault(asked, exchange.answer) == exchange.answer:
            found.append(exchange)
    return found
