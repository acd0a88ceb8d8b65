"""A conversation with a chat model: what was asked and answered, and what the next one reads.

No Qt. Every exchange keeps the inputs of its run, so that the run can be had again at any time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from model_core import chat
from model_core.chat import ChatRules, Turn, cut_reply, kept, one_line, rules_of
from model_core.likelihood import Likelihood, likelihood, log_probs_of
from visualizer.inputs import Inputs
from visualizer.runs import Run

if TYPE_CHECKING:
    from model_core.decoding import Step

# So many exchanges stay on screen; how many of them a model is given its card says.
LONGEST = 200
# A growing reply is told of so often, in seconds.
PAUSE = 0.03


@dataclass(frozen=True)
class Exchange:
    """One question with its reply.

    inputs: of its run: the question, the exchanges before it, how the tokens were chosen
    reply: as shown    chosen: the ids of all that was said, the end token included
    cut: whether the reply was cut at a speaker's mark    finished: by the end token
    unknown: characters of the question that the vocabulary lacks
    read: how many exchanges were read before the question    left_out: how many more would have
    been, had the prompt not become too long for the model
    """

    inputs: Inputs
    reply: str
    chosen: tuple[int, ...]
    likelihood: Likelihood
    cut: bool = False
    finished: bool = True
    unknown: tuple[str, ...] = ()
    read: int = 0
    left_out: int = 0

    @property
    def turn(self) -> Turn:
        return Turn(self.inputs.source, self.reply)


@dataclass(frozen=True)
class Spoken:
    """How far a reply has come."""

    inputs: Inputs
    text: str


@dataclass(frozen=True)
class Conversation:
    """`settings` say how the next question's tokens are chosen; it names no question itself.

    asked: the inputs of the question that waits for its reply: only for as long as they are the
    inputs of the view, so that whatever is asked for in between ends the waiting
    before: the inputs that were in use when it was asked    draft: what is being typed
    """

    exchanges: tuple[Exchange, ...] = ()
    settings: Inputs = field(default_factory=Inputs)
    asked: Inputs | None = None
    before: Inputs | None = None
    spoken: Spoken | None = None
    draft: str = ""


def chat_rules(entry: Any) -> ChatRules | None:
    """How the model of an entry chats; None where it does not, or where there is no model."""
    if entry is None or entry.model.config.input == "matrix":
        return None
    return rules_of(entry.model.card)


def opening(entry: Any, page: str) -> dict[str, Any]:
    """What a model that is opened begins with: a chat model with its chat, page being shown."""
    if chat_rules(entry) is not None:
        page = "chat"
    elif page in ("chat", "parameter", "train"):
        page = "record"
    return {"conversation": Conversation(), "page": page}


def asked_inputs(conversation: Conversation, model: Any, question: str) -> Inputs:
    """What the run of the next question depends on."""
    history = kept(model.card, (exchange.turn for exchange in conversation.exchanges))
    turns = tuple((turn.question, turn.answer) for turn in history)
    return replace(conversation.settings, source=one_line(question), history=turns)


def due(model: Any, inputs: Inputs) -> tuple[tuple[str, str], ...]:
    """The exchanges before a question that the model was trained to read."""
    return tuple(chat.due(model.card, inputs.history))  # type: ignore[arg-type]


def fitting(model: Any, inputs: Inputs) -> Inputs:
    """The inputs without the oldest exchanges where the prompt would be too long with them."""
    history = due(model, inputs)
    if not history:
        return inputs
    read = tuple(chat.fitting(model, history, inputs.source))
    return inputs if read == history else replace(inputs, history=read)  # type: ignore[arg-type]


def telling(
    model: Any, inputs: Inputs, report: Callable[[Spoken], None] | None
) -> Callable[[Step], None] | None:
    """What is called with each token of a reply and reports how far it has come; None: no reply."""
    if report is None or rules_of(model.card) is None:
        return None
    ids = list(inputs.prefix)
    told = time.perf_counter()

    def tell(step: Step) -> None:
        nonlocal told
        ids.append(step.id)
        now = time.perf_counter()
        if now - told >= PAUSE:
            told = now
            report(Spoken(inputs, cut_reply(model.tokenizer.decode(ids), model.card)))

    return tell


def exchange_of(model: Any, run: Run) -> Exchange:
    """What a run has brought to the conversation."""
    assert run.tape is not None
    answer = cut_reply(run.text, model.card)
    asked = model.tokenizer.encode_source(one_line(run.inputs.source))
    wanted, read = due(model, run.inputs), due(model, fitting(model, run.inputs))
    return Exchange(
        run.inputs,
        answer,
        run.chosen,
        likelihood(log_probs_of(run.tape["logits"].value[0], run.chosen)),
        cut=answer != run.text.strip(),
        finished=run.finished,
        # what was said before had its own, and they were told of there
        unknown=tuple(dict.fromkeys(word.text for word in asked.unknown)),
        read=len(read),
        left_out=len(wanted) - len(read),
    )


def answered(conversation: Conversation, model: Any, run: Run) -> Conversation:
    """The conversation once the run of its question has come; any other run changes nothing.

    A question that cannot be read becomes a draft again.
    """
    if conversation.asked is None or run.inputs != conversation.asked:
        return conversation
    rest = replace(conversation, asked=None, before=None, spoken=None)
    if run.tape is None:
        return replace(rest, draft=rest.draft or run.inputs.source)
    exchanges = (*conversation.exchanges, exchange_of(model, run))[-LONGEST:]
    return replace(rest, exchanges=exchanges)
