"""What is said of a training step: its heading, its formulas, its mistakes, their curves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from visualizer.i18n import tr
from visualizer.inquiries.step import (
    can_try_again,
    current_step,
    found_curves,
    refusal,
    shown_step,
    step_key,
)
from visualizer.lab_film import name_of
from visualizer.lenses.caption import Caption
from visualizer.lenses.numbers import brief, exact
from visualizer.lenses.step_choice import chosen_cell, chosen_parameter
from visualizer.lenses.step_tables import digits
from visualizer.lenses.strips import Colour, Curves, Line
from visualizer.reasons import translated
from visualizer.state import ViewState
from visualizer.step_actions import paused_training, weights_of
from visualizer.step_view import STAGES, TRIED_STEPS, WEIGHTS

# Which mistakes a gradient check finds; a test compares this with the core's own list.
MISTAKES: dict[str, bool] = {
    "no_key_value_gradient": True,
    "shared_dropout": True,
    "looks_ahead": False,
    "hides_itself": False,
    "no_bias_correction": False,
    "no_scaling": False,
}
# The loss is smoothed over so many steps, so that one batch does not hide the course of it.
SMOOTHED = 10


@dataclass(frozen=True)
class MistakeSaid:
    """A mistake's title, what is done wrong, what the check and the loss show of it."""

    name: str
    title: str
    about: str
    effect: str
    made: bool


@dataclass(frozen=True)
class FormulaSaid:
    """One formula of the update: what it gives, LaTeX, the same with numbers, the value."""

    title: str
    tex: str
    plain: str


def step_caption(state: ViewState) -> Caption | None:
    """The heading and what the stage is about; what stands in the way, if anything does."""
    stage = state.training_step.stage
    reason = refusal(state)
    return Caption(
        side="accent",
        side_title=tr("step.side"),
        layer_title=tr(f"step.stage.{stage}"),
        title=tr(f"step.title.{stage}"),
        op_title="",
        site="",
        shape=_facts(state),
        formula="",
        sentence=_refusal_said(state, translated(reason)) if reason else _about(state),
        why="",
    )


def waiting(state: ViewState) -> str:
    """What stands where a step will be; empty where none is to come."""
    return "" if refusal(state) or step_key(state) is None else tr("step.waiting")


def _refusal_said(state: ViewState, reason: str) -> str:
    """The core's words as a sentence of its own; of what has failed, that it has."""
    if can_try_again(state):
        return tr("step.failed", reason=reason)
    return reason[:1].upper() + reason[1:]


def _facts(state: ViewState) -> str:
    step = shown_step(state)
    if step is None:
        return ""
    said = {
        "loss": digits(float(step.tape["loss"].value)),
        "count": f"{int(step.counted.sum()):,}",
        "norm": digits(step.optimised.norm),
        "rate": digits(step.optimised.learning_rate),
    }
    guided = step.recipe.guided
    if guided is None:
        return tr("step.facts", **said)
    said["weight"] = brief(guided.coefficient)
    said["alignment"] = digits(float(step.tape["alignment_loss"].value))
    return tr("step.facts.guided", **said)


def _about(state: ViewState) -> str:
    """What the stage is about; of a training, that it goes on, or that it takes this step."""
    stage, training = state.training_step.stage, state.lab.training
    if weights_of(state) != "paused" or training is None:
        return _about_stage(state)
    if paused_training(state) is None:
        return tr("step.training.goes_on", name=name_of(training))
    if stage != "batch":
        return _about_stage(state)
    made = state.training_step.mistakes
    return tr("step.training.with_mistakes" if made else "step.training")


def _about_stage(state: ViewState) -> str:
    stage, step = state.training_step.stage, shown_step(state)
    if stage == "adam" and step is not None and _is_rounding(chosen_parameter(state, step)):
        return tr("step.about.adam.rounding")
    if stage != "loss" or step is None:
        return tr(f"step.about.{stage}")
    recipe = step.recipe
    kind = "smoothed" if recipe.label_smoothing else "plain"
    said = tr(f"step.about.loss.{kind}", share=brief(recipe.label_smoothing))
    if recipe.guided is None:
        return said
    return tr("step.about.loss.guided", said=said, weight=brief(recipe.guided.coefficient))


def _is_rounding(parameter: str) -> bool:
    # training is loaded by now
    from model_core.training.mistakes import is_rounding_alone

    return is_rounding_alone(parameter)


def weights_said(state: ViewState) -> tuple[tuple[str, ...], int, bool]:
    """The choices of weights, the chosen one, and whether the last can be chosen."""
    chosen, training = WEIGHTS.index(weights_of(state)), state.lab.training
    names = tuple(tr(f"step.{name}") for name in WEIGHTS)
    if training is None or training.is_over:
        return names[:-1], chosen, True
    return names, chosen, paused_training(state) is not None or chosen == len(names) - 1


def stage_titles(state: ViewState) -> tuple[str, ...]:
    """The stages in order; behind the mistakes, how many are made on purpose."""
    made = len(state.training_step.mistakes)
    titles = [tr(f"step.stage.{stage}") for stage in STAGES]
    if made:
        titles[-1] = tr("step.made", title=titles[-1], n=made)
    return tuple(titles)


def update_formulas(state: ViewState) -> tuple[FormulaSaid, ...]:
    """The chosen weight's way from its gradient to its new value."""
    step = current_step(state) or shown_step(state)
    if step is None:
        return ()
    # training is loaded by now
    from model_core.training.update_terms import explain_update

    name, place = chosen_parameter(state, step), chosen_cell(state, step)
    found = []
    for one in explain_update(step, name, place):
        filled = f"{one.filled} = {one.result}" if one.result else one.filled
        first = one.formula.split("=", 1)[1].strip()
        right = filled.split("=", 1)[1].strip()
        left = one.formula.split("=", 1)[0].strip()
        # with that mistake the moments stay as they are
        skipped = one.name.endswith("_corrected") and set(step.optimised.corrections) == {1.0}
        title = tr("step.formula.uncorrected" if skipped else f"step.formula.{one.name}")
        found.append(FormulaSaid(title, f"{left} = {first} = {right}", exact(one.value)))
    return tuple(found)


def weight_name(state: ViewState) -> str:
    """ "encoder.layers.0.ffn.W_1[3, 5]" """
    step = shown_step(state)
    if step is None:
        return ""
    place = ", ".join(map(str, chosen_cell(state, step)))
    return f"{chosen_parameter(state, step)}[{place}]"


def mistakes_said(state: ViewState) -> tuple[MistakeSaid, ...]:
    """All mistakes that can be made, and which of them are."""
    step = shown_step(state)
    # without a mask there is none to share; the step with the mistake has as many as without
    harmless = {"shared_dropout"} if step is not None and not step.dropout_sites else set()
    return tuple(
        MistakeSaid(
            name,
            tr(f"step.mistake.{name}"),
            tr(f"step.mistake.{name}.about"),
            tr("step.no_dropout")
            if name in harmless
            else tr(
                "step.effect",
                check=tr("step.found" if found else "step.not_found"),
                loss=tr(f"step.mistake.{name}.loss"),
            ),
            name in state.training_step.mistakes,
        )
        for name, found in MISTAKES.items()
    )


def loss_curves(state: ViewState) -> Curves | None:
    """The loss of both trainings, smoothed; None before the first steps are done."""
    found = found_curves(state)
    if found is None or len(found.right) < 2:
        return None
    lines = []
    names: tuple[tuple[str, Colour], ...] = (("right", "encoder"), ("wrong", "decoder"))
    for (key, colour), smooth in zip(names, found.smoothed(SMOOTHED), strict=True):
        label = tr(f"step.curve.{key}", loss=digits(float(smooth[-1])))
        lines.append(Line(label, colour, np.arange(1.0, len(smooth) + 1), smooth))
    title = tr("step.curve.title", n=len(found.right), all=TRIED_STEPS)
    return Curves(title, tuple(lines), x_title=tr("step.curve.x"))
