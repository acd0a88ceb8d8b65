"""A conversation in words: its bubbles, how likely each reply was, and the rules of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model_core.chat import source_of
from visualizer.cards import about, title_of
from visualizer.chat_actions import opened, pending
from visualizer.conversation import Exchange, chat_rules, due
from visualizer.i18n import has, tr
from visualizer.inputs import Inputs
from visualizer.lenses.caption import Caption
from visualizer.lenses.likelihood import SMALLEST, probability
from visualizer.lenses.numbers import exact
from visualizer.state import ViewState, card_examples

EXAMPLES = 3


@dataclass(frozen=True)
class Bubble:
    """What one of the two said.

    number: of the exchange, -1 for one that is not finished
    faint: the next question is read without it    current: its run is on the stage
    empty: `text` stands for words that are not there
    note, warning: small lines below    tip: everything
    """

    side: Literal["user", "assistant"]
    text: str
    number: int = -1
    faint: bool = False
    current: bool = False
    empty: bool = False
    note: str = ""
    warning: str = ""
    tip: str = ""


@dataclass(frozen=True)
class Divider:
    """A line across the conversation."""

    text: str


Talk = tuple[Bubble | Divider, ...]


def talk(state: ViewState) -> Talk:
    """Everything that was said, oldest first, and the question that waits."""
    rules = chat_rules(state.model)
    if rules is None:
        return ()
    exchanges, current = state.conversation.exchanges, opened(state)
    first = max(0, len(exchanges) - min(rules.turns - 1, rules.history))
    found: list[Bubble | Divider] = []
    for number, exchange in enumerate(exchanges):
        if number == first:
            found += _divider(number, rules.turns)
        look = {"number": number, "faint": number < first, "current": number == current}
        found += [_question(state, exchange, **look), _reply(exchange, **look)]  # type: ignore[arg-type]
    if exchanges and first == len(exchanges):
        found += _divider(first, rules.turns)
    return (*found, *_waiting(state))


def _divider(number: int, turns: int) -> list[Bubble | Divider]:
    if not number:
        return []
    return [Divider(tr("chat.divider.one" if turns == 1 else "chat.divider", turns=turns))]


def _question(state: ViewState, exchange: Exchange, **look: bool) -> Bubble:
    lines = []
    if exchange.unknown:
        lines.append(tr("chat.unknown", words=" ".join(exchange.unknown)))
    if exchange.left_out:
        lines.append(tr("chat.left_out", n=exchange.left_out))
    prompt = tr("chat.prompt.tip", prompt=f"\n{prompt_of(state, exchange)}")
    return Bubble(
        "user",
        exchange.inputs.source,
        warning=" ".join(lines),
        tip="\n".join((*lines, prompt, tr("chat.open.tip"))),
        **look,  # type: ignore[arg-type]
    )


def prompt_of(state: ViewState, exchange: Exchange) -> str:
    """The text that the encoder read for a question."""
    assert state.model is not None
    model, inputs = state.model.model, exchange.inputs
    history = due(model, inputs)
    return source_of(model.card, inputs.source, history[len(history) - exchange.read :])


def _reply(exchange: Exchange, **look: bool) -> Bubble:
    found, text = exchange.likelihood, exchange.reply
    whole = probability(found.probability) if found.probability else SMALLEST
    per_token = probability(found.per_token)
    key = "chat.likelihood.one" if found.tokens == 1 else "chat.likelihood"
    notes = [tr(key, per_token=per_token, whole=whole, n=found.tokens)]
    if chosen := how_chosen(exchange.inputs):
        notes.append(chosen)
    lines = []
    if exchange.cut:
        lines.append(tr("chat.cut"))
    if not exchange.finished:
        one = ".one" if found.tokens == 1 else ""
        lines.append(tr(f"chat.unfinished{one}", n=found.tokens))
    tip = tr(
        "chat.likelihood.tip",
        mean=exact(found.mean_log_prob),
        sum=exact(found.log_prob),
        n=found.tokens,
    )
    return Bubble(
        "assistant",
        text or tr("chat.nothing"),
        empty=not text,
        note=" · ".join(notes),
        warning=" ".join(lines),
        tip="\n".join((*lines, tip, tr("chat.open.tip"))),
        **look,
    )


def how_chosen(inputs: Inputs) -> str:
    """How the tokens of a reply were chosen; empty where each was the likeliest one."""
    if inputs.strategy == "beam":
        return tr("ui.beam", n=inputs.beams)
    if inputs.strategy == "greedy":
        return ""
    said = [f"{tr('ui.temperature')} {inputs.temperature:g}"]
    if inputs.top_k is not None:
        said.append(f"{tr('ui.top_k')} {inputs.top_k}")
    if inputs.top_p is not None:
        said.append(f"{tr('ui.top_p')} {inputs.top_p:g}")
    return ", ".join((*said, f"{tr('ui.seed')} {inputs.seed}"))


def _waiting(state: ViewState) -> tuple[Bubble, ...]:
    """The question that waits, and as much of its reply as there is."""
    asked = pending(state)
    if asked is None:
        return ()
    spoken = state.conversation.spoken
    text = spoken.text if spoken is not None and spoken.inputs == asked else ""
    growing = Bubble("assistant", f"{text}…", note=tr("chat.growing"))
    return (Bubble("user", asked.source), growing)


# Around the conversation.


def chat_caption(state: ViewState) -> Caption | None:
    """The heading of the page, and what it says of the prompt."""
    rules = chat_rules(state.model)
    if rules is None:
        return None
    count = len(state.conversation.exchanges)
    return Caption(
        side="accent",
        side_title=tr("page.chat"),
        layer_title="",
        title=title_of(state.model),
        op_title="",
        site="",
        shape=_counted(count, rules.history) if count else "",
        formula="",
        # what has no conversation yet says its limits where one is offered
        sentence=limits(state) if count else tr("chat.sentence"),
        why=tr("chat.why"),
    )


def _counted(count: int, kept: int) -> str:
    """How many exchanges there are, and how many of them the model may be given."""
    if count > max(kept, 1):
        return tr("chat.count.more", n=count, kept=kept)
    return tr("chat.count.one" if count == 1 else "chat.count", n=count)


def rules_said(state: ViewState) -> tuple[str, ...]:
    """The rules of the model's card, a sentence each."""
    rules = chat_rules(state.model)
    if rules is None:
        return ()
    marks = {"user": rules.user, "assistant": rules.assistant}
    return (
        tr("chat.rule.turns.one" if rules.turns == 1 else "chat.rule.turns", turns=rules.turns),
        tr("chat.rule.history.one" if rules.history == 1 else "chat.rule.history", n=rules.history),
        tr("chat.rule.cut", **marks),
    )


def limits(state: ViewState) -> str:
    """What the model cannot do, as its card says it."""
    entry = state.model
    key = "" if entry is None else f"card.{entry.bundled}.limits"
    return tr(key) if has(key) else about(entry)


def invitations(state: ViewState) -> tuple[str, ...]:
    """Questions to begin with."""
    return card_examples(state.model)[:EXAMPLES]
