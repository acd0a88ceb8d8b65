"""What of a training step is looked at, where the wish may be of another one; where links lead."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from model_core.ops.base import Origin
from visualizer.state import ViewState
from visualizer.step_view import Look, StageName

if TYPE_CHECKING:
    from model_core.training.step import GlassStep


def chosen_sentence(state: ViewState, step: GlassStep) -> int:
    """Which pair of the batch pictures are of, from 0."""
    return min(state.training_step.sentence, len(step.batch.source_ids) - 1)


def chosen_record(state: ViewState, step: GlassStep) -> str:
    """The record whose values are on show: at first what the encoder begins with."""
    wish = state.training_step.record
    if state.training_step.masks_alone and step.dropout_sites:
        return wish if wish in step.dropout_sites else step.dropout_sites[0]
    return wish if wish in step.tape else step.tape.sites[0]


def chosen_site(state: ViewState, step: GlassStep) -> str:
    """The record whose gradient is on show: at first that of the logits."""
    wish = state.training_step.site
    return wish if wish in step.gradient_sizes else "logits"


def heads_of(step: GlassStep, site: str) -> int:
    """How many pictures a record has of a sentence, one for each head; 1 where it has no heads."""
    record = step.tape[site]
    lead = dict(zip(record.axes[:-2], record.value.shape, strict=False))
    return int(lead.get("H", 1))


def chosen_parameter(state: ViewState, step: GlassStep) -> str:
    """The parameter on show: at first the one with the largest gradient."""
    wish = state.training_step.parameter
    return wish if wish in step.parameters else max(step.norms, key=lambda n: step.norms[n])


def chosen_cell(state: ViewState, step: GlassStep) -> tuple[int, ...]:
    """The weight whose update is spelled out."""
    name, cell = chosen_parameter(state, step), state.training_step.cell
    shape = step.parameters[name].shape
    fits = cell is not None and len(cell) == len(shape)
    if cell is None or not fits or any(i >= n for i, n in zip(cell, shape, strict=True)):
        return step.place_of_largest(name)
    return cell


def destination(
    state: ViewState, step: GlassStep, origin: Origin
) -> tuple[Look, int | None] | None:
    """Where a number was read: what shows it there, and its head; None for what has no picture."""
    name = step.tape.plan.aliases.get(origin.name, origin.name)
    if origin.of == "value" and name in step.parameters:
        return _looked(state, step, "adam", parameter=name, cell=origin.index), None
    if name not in step.tape or (origin.of == "gradient" and name not in step.gradient_sizes):
        return None
    axes, index = step.tape[name].axes, origin.index
    head = index[axes.index("H")] if "H" in axes else None
    sentence = index[0] if axes[:1] == ("B",) else chosen_sentence(state, step)
    if origin.of == "gradient":
        look = _looked(state, step, "backward", site=name, spot=index, sentence=sentence)
    else:
        look = _looked(state, step, "forward", record=name, spot=index, sentence=sentence)
    return look, head


def weight_look(state: ViewState, step: GlassStep, name: str, cell: tuple[int, ...] | None) -> Look:
    """What shows the update of a weight; None for the one with the largest gradient."""
    return _looked(state, step, "adam", parameter=name, cell=cell)


def _looked(state: ViewState, step: GlassStep, stage: StageName, **values: Any) -> Look:
    """What is looked at now, but for what is given."""
    view = state.training_step
    start = Look(
        stage,
        chosen_sentence(state, step),
        view.record,
        view.site,
        view.parameter,
        view.cell,
    )
    return replace(start, **values)
