"""Whose training step is on show: of which model or training, which step, on what, how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from visualizer.cards import title_of
from visualizer.i18n import tr
from visualizer.inquiries.step import StepKey, shown_step
from visualizer.lab_film import name_of
from visualizer.state import ViewState
from visualizer.step_actions import target_kind

if TYPE_CHECKING:
    from model_core.training.step import GlassStep


def whose_step(state: ViewState) -> tuple[str, str]:
    """(what is said of the step on show at every stage, the mistakes made in it); empty without.

    Of the step that is there, and not of what is being asked for.
    """
    step = shown_step(state)
    if step is None or state.glass is None:
        return "", ""
    key: StepKey = state.glass.key
    pairs = len(step.batch.source_ids)
    said = tr(
        "step.whose",
        who=_who(state, key),
        n=f"{step.optimised.count:,}",
        pairs=_pairs(state, key, pairs),
        dropout=_dropout(step, key),
    )
    titles = [tr(f"step.mistake.{name}") for name in sorted(step.mistakes)]
    if not titles:
        return said, ""
    names = titles[0]
    for title in titles[1:]:
        names = tr("step.whose.and", first=names, second=title)
    return said, tr("step.whose.mistakes", names=names)


def _who(state: ViewState, key: StepKey) -> str:
    training = state.lab.training
    if key.paused is not None and training is not None:
        return tr("step.whose.training", name=name_of(training), n=f"{key.paused.step:,}")
    return tr(f"step.whose.{key.weights}", name=title_of(key.entry))


def _pairs(state: ViewState, key: StepKey, count: int) -> str:
    """How many there are; of the one that nobody has typed, whose target it has."""
    if count != 1:
        return tr("step.whose.pairs", n=count)
    kind = "known" if key.paused else target_kind(state, key.pairs)
    said = tr("step.whose.pair")
    return said if kind == "known" else tr(f"step.whose.pair.{kind}", pair=said)


def _dropout(step: GlassStep, key: StepKey) -> str:
    if not step.dropout_sites:
        return tr("step.whose.no_dropout")
    # a training goes on with the random numbers where it stood; nobody chose a seed for them
    return tr("step.whose.own_dropout" if key.paused else "step.whose.dropout", seed=key.seed)
