"""How the factor comes about that a training step's gradients are scaled down by."""

from __future__ import annotations

from visualizer.i18n import tr
from visualizer.inquiries.step import shown_step
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
    from model_core.training.update_terms import latex

    done, most = step.optimised, step.recipe.max_norm
    falling = sorted(step.norms.values(), reverse=True)
    squares = " + ".join(
        rf"({latex(size, 4)})^2" if "cdot" in latex(size, 4) else f"{latex(size, 4)}^2"
        for size in falling[:NORMS]
    )
    rest = r" + \ldots" if len(falling) > NORMS else ""
    norm, factor = latex(done.norm, 4), latex(done.coefficient, 4)
    said = (
        (rf"\| g \| = \sqrt{{{squares}{rest}}} = {norm}", "norm", done.norm),
        (
            r"\min\left(1, c / (\| g \| + 10^{-6})\right) = "
            rf"\min\left(1, {latex(most, 4)} / ({norm} + 10^{{-6}})\right) = {factor}",
            "factor",
            done.coefficient,
        ),
        (
            rf"\| g' \| = {norm} \cdot {factor} = {latex(done.clipped_norm, 4)}",
            "clipped",
            done.clipped_norm,
        ),
    )
    return tuple(
        FormulaSaid(tr(f"step.clipping.{name}"), tex, f"{value!r}") for tex, name, value in said
    )
