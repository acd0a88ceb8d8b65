"""Gradients in words: what they are of, what they are with respect to, what flows back and why."""

from __future__ import annotations

from functools import reduce
from typing import cast

from model_core.gradients import GradientTape, Share, Target
from visualizer.i18n import has, tr
from visualizer.lenses.matrix import op_title
from visualizer.lenses.stage import has_gradient
from visualizer.lenses.token_labels import token_label
from visualizer.navigation import current_walk
from visualizer.state import ViewState, current_tape, gradients_key, shown_gradients
from visualizer.walkthrough import Place


def target_words(state: ViewState, target: Target) -> str:
    """The target as a formula in words: "log p(睡觉 | position 7)"."""
    if target.kind == "loss":
        return tr("gradient.loss")
    return tr("gradient.log_prob", token=token_text(state, target), n=target.row + state.count_from)


def token_text(state: ViewState, target: Target) -> str:
    """The target's token; empty where the target is no token."""
    if state.model is None or target.kind != "log_prob":
        return ""
    vocabulary = state.model.model.tokenizer.target_vocabulary
    return token_label(vocabulary[target.token]) if target.token < len(vocabulary) else ""


def label_text(state: ViewState, target: Target) -> str:
    """The labels of a loss, one after the other."""
    if state.model is None:
        return ""
    vocabulary = state.model.model.tokenizer.target_vocabulary
    return " ".join(token_label(vocabulary[label]) for label in target.labels)


def is_waiting(state: ViewState) -> bool:
    """Whether the gradients that are asked for are still on their way."""
    found, key = state.gradients, gradients_key(state)
    return key is not None and (found is None or found.key != key)


def gradient_sentences(state: ViewState, place: Place, name: str) -> tuple[str, str]:
    """What the picture shows, and what flows back into it; ("", "") where values are on show."""
    tape = shown_gradients(state)
    if tape is None:
        return "", ""
    target = target_words(state, tape.target)
    if place.site == tape.target_site:
        return tr("gradient.start", target=target), ""
    if not has_gradient(state):
        return tr("gradient.none"), ""
    said = tr("gradient.sentence", target=target, name=name)
    return said, flow_back(state, tape.shares_of(place.site))


def flow_back(state: ViewState, shares: tuple[Share, ...]) -> str:
    """One plain sentence of how the gradient comes back from the records that read a number."""
    rules = dict.fromkeys(_rule(share) for share in shares)
    if not rules:
        return tr("back.nobody")
    if len(rules) == 1:
        return tr(next(iter(rules)))
    along = current_walk(state)
    names: list[str] = []
    for share in shares:
        site = share.consumer_site
        known = along is not None and site in along.route.numbers
        place = along.route.place(site) if along is not None and known else None
        names.append(site if place is None else _reader(place))
    said = reduce(lambda a, b: tr("back.and", first=a, second=b), dict.fromkeys(names))
    return tr("back.several", n=len(shares), names=said)


def _rule(share: Share) -> str:
    """The key of the sentence; some ops have one per input."""
    own = f"back.{share.op.name}.{share.which}"
    return own if has(own) else f"back.{share.op.name}"


def _reader(place: Place) -> str:
    if place.kind.endswith("_attn"):
        return tr("back.reader", op=op_title(place), sublayer=tr(f"block.{place.kind}"))
    if place.kind == "ffn":
        return tr("block.ffn")
    return op_title(place)


def gradient_formula(state: ViewState, place: Place) -> str:
    """The formulas of the ways back, in the letters of the ops that read the record."""
    tape = cast(GradientTape, current_tape(state))
    if place.site == tape.target_site:
        return r"\bar{y} = 1"
    return tape[place.site].formula
