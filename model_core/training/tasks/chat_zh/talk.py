"""Who says what after what: every question with its reply, alone or after an exchange."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from model_core.chat import Turn
from model_core.training.tasks.chat_zh.lines import Fact, FollowUp, answers, facts, follow_ups


@dataclass(frozen=True)
class Exchange:
    """A question with its reply, and what was said before it.

    kept: the piece of the question that noise must leave as it is, a name that is told.
    """

    question: str
    answer: str
    history: tuple[Turn, ...] = ()
    kept: str = ""

    @property
    def source_text(self) -> str:
        return self.question

    @property
    def turn(self) -> Turn:
        return Turn(self.question, self.answer)


@cache
def own_questions() -> tuple[Exchange, ...]:
    """All written questions that need nothing said before."""
    return tuple(Exchange(q, answer.text) for answer in answers() for q in answer.questions)


@cache
def tellings() -> tuple[Exchange, ...]:
    """Somebody tells his name, his town or his favourite food."""
    return tuple(
        Exchange(pattern.format(value), fact.reply.format(value), kept=value)
        for fact in facts()
        for value in fact.values
        for pattern in fact.told
    )


@cache
def alone() -> tuple[Exchange, ...]:
    """Questions about something said before, where nothing was."""
    unsaid = [Exchange(q, f.alone) for f in follow_ups() for q in f.questions]
    untold = [Exchange(q, f.untold) for f in facts() for q in f.questions]
    return (*unsaid, *untold)


def recalled(fact: Fact, before: Turn) -> str:
    """What asking a fact back gets after one exchange: the value, if that exchange says it."""
    for value in fact.values:
        if before.answer in (fact.reply.format(value), fact.answer.format(value)):
            return fact.answer.format(value)
    return fact.untold


def followed(follow_up: FollowUp, before: Turn) -> str:
    """What a follow-up gets after one exchange; it goes by the reply alone."""
    if follow_up.kind == "again":
        return before.answer
    for answer in answers():
        if answer.text == before.answer:
            return (answer.why if follow_up.kind == "why" else answer.more) or follow_up.otherwise
    return follow_up.otherwise


@cache
def openings() -> tuple[Exchange, ...]:
    """One exchange for each reply that a conversation may be continued after."""
    first = [Exchange(answer.questions[0], answer.text) for answer in answers()]
    told = [t for t in tellings() if t.question in {f.told[0].format(t.kept) for f in facts()}]
    return (*first, *told)


@cache
def second_turns() -> tuple[Exchange, ...]:
    """Every question that depends on the exchange before it, after each opening.

    Where the opening does not tell the fact that is asked back, in one wording only.
    """
    found = []
    for number, opening in enumerate(openings()):
        before = opening.turn
        for follow_up in follow_ups():
            reply = followed(follow_up, before)
            found += [Exchange(q, reply, (before,)) for q in follow_up.questions]
        for fact in facts():
            reply = recalled(fact, before)
            asked = fact.questions
            if reply == fact.untold:
                asked = (asked[number % len(asked)],)
            found += [Exchange(q, reply, (before,)) for q in asked]
    return tuple(found)
