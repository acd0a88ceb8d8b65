"""What becomes of the loss of a training step's batch, and why it may rise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from visualizer.i18n import tr
from visualizer.inquiries.step import shown_step
from visualizer.lenses.step_tables import digits
from visualizer.state import ViewState

if TYPE_CHECKING:
    from model_core.training.step import GlassStep


@dataclass(frozen=True)
class LossChange:
    """What is minimised before the step and after it, what the two have in common.

    why: it has risen; empty where it has not, or where nothing general can be said of it
    """

    title: str
    before: str
    after: str
    about: str
    why: str = ""


def loss_change(state: ViewState) -> LossChange | None:
    """The loss of the batch before the step and after, with the same dropout masks."""
    step = shown_step(state)
    if step is None:
        return None
    kind = "total" if step.recipe.guided is not None else "loss"
    title, about = tr(f"step.change.{kind}"), tr("step.change.about")
    why = _why_it_rises(state, step)
    return LossChange(title, digits(step.loss), digits(step.loss_after), about, why)


def _why_it_rises(state: ViewState, step: GlassStep) -> str:
    """A first step of Adam moves all weights alike, too far for a model that has learned."""
    move, rate = step.first_move, step.optimised.learning_rate
    if move is None or step.loss_after <= step.loss:
        return ""
    own = state.model is not None and step.model is state.model.model
    said = tr("step.rise.trained" if own else "step.rise", move=digits(move))
    if rate < step.recipe.learning_rate:
        return said
    # training is loaded by now
    from model_core.training.step_sources import warmup_of

    steps = warmup_of(step.model.card)
    key = "step.rise.warmed" if steps else "step.rise.peak"
    return tr(key, said=said, rate=digits(rate), n=f"{steps:,}")
