"""The settings that a training step was taken with, where they are used."""

from __future__ import annotations

from dataclasses import dataclass

from visualizer.i18n import tr
from visualizer.inquiries.step import shown_step
from visualizer.lenses.step_tables import digits
from visualizer.state import ViewState


@dataclass(frozen=True)
class SettingSaid:
    """A setting by its name and the sign that it has in the formulas."""

    name: str
    value: str


def update_settings(state: ViewState) -> tuple[SettingSaid, ...]:
    """All that decide the step, but for the data: Adam's own first, then those of the loss."""
    step = shown_step(state)
    if step is None:
        return ()
    recipe, rate = step.recipe, step.optimised.learning_rate
    at_peak = rate == recipe.learning_rate
    peak = tr("step.setting.below_peak", rate=digits(rate), peak=digits(recipe.learning_rate))
    drops = recipe.dropout
    places = ("attention", drops.attention), ("ffn", drops.ffn), ("sublayer", drops.sublayer)
    said = (
        ("rate", digits(rate) if at_peak else peak),
        ("beta1", digits(recipe.beta1)),
        ("beta2", digits(recipe.beta2)),
        ("epsilon", digits(recipe.epsilon)),
        ("max_norm", digits(recipe.max_norm)),
        ("smoothing", digits(recipe.label_smoothing)),
        *((f"dropout.{place}", digits(share)) for place, share in places),
        ("alignment", digits(0.0 if recipe.guided is None else recipe.guided.coefficient)),
    )
    return tuple(SettingSaid(tr(f"step.setting.{name}"), value) for name, value in said)


def clipping_settings(state: ViewState) -> tuple[SettingSaid, ...]:
    """The one that decides how far gradients are scaled down."""
    step = shown_step(state)
    if step is None:
        return ()
    return (SettingSaid(tr("step.setting.max_norm"), digits(step.recipe.max_norm)),)
