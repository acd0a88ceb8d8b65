"""How the factor comes about that a training step's gradients are scaled down by."""

from __future__ import annotations

import math

from visualizer.i18n import tr
from visualizer.inquiries.step import shown_step
from visualizer.lenses.numbers import exact
from visualizer.lenses.step_words import FormulaSaid
from visualizer.state import ViewState

# So many of the parameters' norms are written out, the largest ones.
NORMS = 3


def clipping_formulas(state: ViewState) -> tuple[FormulaSaid, ...]:
    """The norm of all gradients from those of the parameters, the factor, the norm after it."""
    step = shown_step(state)
    if step is None:
        return ()
    # training is loaded by now
    from model_core.training.step import NORM_GUARD
    from model_core.training.update_terms import latex, written

    done, most = step.optimised, step.recipe.max_norm
    norm, factor = done.norm, done.coefficient
    falling = sorted(step.norms.values(), reverse=True)
    largest, others = falling[:NORMS], falling[NORMS:]
    rest = math.fsum(size**2 for size in others)

    def squares(digits: int) -> str:
        found = [
            rf"({latex(size, digits)})^2"
            if "cdot" in latex(size, digits)
            else f"{latex(size, digits)}^2"
            for size in largest
        ]
        if others:
            found.append(rf"(\ldots = {latex(rest, digits)})")
        return " + ".join(found)

    formulas = (
        (
            "norm",
            norm,
            r"\| g \| = ",
            lambda digits: rf"\sqrt{{{squares(digits)}}}",
            lambda near: math.sqrt(math.fsum(near(size) ** 2 for size in largest) + near(rest)),
        ),
        (
            "factor",
            factor,
            r"\min\left(1, c / (\| g \| + 10^{-6})\right) = ",
            lambda digits: (
                rf"\min\left(1, {latex(most, digits)} / "
                rf"({latex(norm, digits)} + 10^{{-6}})\right)"
            ),
            lambda near: min(1.0, near(most) / (near(norm) + NORM_GUARD)),
        ),
        (
            "clipped",
            done.clipped_norm,
            r"\| g' \| = ",
            lambda digits: rf"{latex(norm, digits)} \cdot {latex(factor, digits)}",
            lambda near: near(norm) * near(factor),
        ),
    )
    said = []
    for name, value, left, fill, reckon in formulas:
        filled, result = written(value, fill, reckon)
        said.append((rf"{left}{filled} = {result}", name, value))
    return tuple(
        FormulaSaid(tr(f"step.clipping.{name}"), tex, exact(value)) for tex, name, value in said
    )
