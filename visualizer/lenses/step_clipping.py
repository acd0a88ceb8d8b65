"""How the factor comes about that a training step's gradients are scaled down by."""

from __future__ import annotations

from visualizer.i18n import tr
from visualizer.inquiries.step import shown_step
from visualizer.lenses.numbers import exact
from visualizer.lenses.step_words import FormulaSaid
from visualizer.state import ViewState


def clipping_formulas(state: ViewState) -> tuple[FormulaSaid, ...]:
    """The norm of all gradients from those of the parameters, the factor, the norm after it."""
    step = shown_step(state)
    if step is None:
        return ()
    # training is loaded by now
    from model_core.training.clipping_terms import explain_clipping

    return tuple(
        FormulaSaid(tr(f"step.clipping.{said.name}"), said.filled, exact(said.value))
        for said in explain_clipping(step)
    )
