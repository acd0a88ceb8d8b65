"""The records, the gradients and the weights of a training step as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from visualizer.i18n import tr
from visualizer.inquiries.step import shown_step
from visualizer.lenses.matrix import with_unit
from visualizer.lenses.numbers import exact, power_of_ten, unit_of
from visualizer.lenses.picture import Matrix, Palette
from visualizer.lenses.step_choice import (
    chosen_cell,
    chosen_parameter,
    chosen_record,
    chosen_sentence,
    chosen_site,
)
from visualizer.lenses.token_labels import token_labels, vocabulary_labels
from visualizer.state import Cell, ViewState

if TYPE_CHECKING:
    from model_core.training.step import GlassStep

Array = np.ndarray[Any, Any]


class Colours(NamedTuple):
    """The same for all sentences and heads of a record, so that they compare."""

    palette: Palette
    low: float
    high: float


def record_picture(state: ViewState) -> Matrix | None:
    """The values of one record, in one sentence."""
    step = shown_step(state)
    if step is None:
        return None
    site = chosen_record(state, step)
    return _picture(state, step, site, step.tape[site].value, _colours(step, site))


def gradient_picture(state: ViewState) -> Matrix | None:
    """The gradient of one record, in one sentence."""
    step = shown_step(state)
    if step is None:
        return None
    site = chosen_site(state, step)
    bound = step.gradient_sizes[site] or 1.0
    value = step.gradients[site].value
    return _picture(state, step, site, value, Colours("diverging", -bound, bound))


def _colours(step: GlassStep, site: str) -> Colours:
    """Masks are one colour, probabilities run from 0, signed numbers from -m to m."""
    size = step.value_sizes.get(site, 1.0) or 1.0
    if site not in step.value_sizes or site in step.dropout_sites:
        return Colours("mask", 0.0, size)
    if site.endswith((".weights", ".weights.dropped")):
        return Colours("sequential", 0.0, max(size, 1.0))
    return Colours("diverging", -size, size)


def _picture(
    state: ViewState, step: GlassStep, site: str, value: Array, colours: Colours
) -> Matrix:
    axes, sentence = step.tape[site].axes, chosen_sentence(state, step)
    lead: list[int] = []
    for letter, size in zip(axes[:-2], value.shape[:-2], strict=True):
        wished = {"B": sentence, "H": state.head}.get(letter, 0)
        lead.append(min(wished, size - 1))
    cells = value[tuple(lead)]
    letters = ("", "", *axes)[-2:]
    cells = cells.reshape((1,) * (2 - cells.ndim) + cells.shape)
    unit = unit_of(colours.high) if colours.palette == "diverging" else 1.0
    rows, columns = cells.shape
    said = f"{site}[{','.join(map(str, lead))}]" if lead else site
    if "H" in axes[:-2]:
        said += " · " + tr("step.head", n=lead[axes.index("H")] + state.count_from)
    dimensions = value.ndim
    return Matrix(
        values=cells,
        hidden=_hidden(step, site, cells, sentence),
        row_labels=_labels(letters[0], rows, step, sentence, state.count_from),
        column_labels=_labels(letters[1], columns, step, sentence, state.count_from),
        column_title=with_unit(said, unit),
        palette=colours.palette,
        low=colours.low,
        high=colours.high,
        source=f"{site}{sentence}",
        cell_index=lambda row, column: (*lead, row, column)[-dimensions:] if dimensions else (),
        decimals=state.decimals,
        unit=unit,
        owner=step,
    )


def _hidden(step: GlassStep, site: str, cells: Array, sentence: int) -> Array | None:
    """True where a mask forbids looking: in the scores behind it and in the weights."""
    masked = site.rsplit(".", 1)[0] + ".masked_scores"
    if site.rsplit(".", 1)[-1] not in ("masked_scores", "weights") or masked not in step.tape:
        return None
    allowed = np.asarray(step.tape.value_of(step.tape[masked].inputs[1]))
    allowed = allowed[min(sentence, len(allowed) - 1), 0]
    hidden = np.broadcast_to(~allowed, cells.shape)
    return hidden if hidden.any() else None


def _labels(
    letter: str, size: int, step: GlassStep, sentence: int, count_from: int
) -> tuple[str, ...]:
    words = step.model.tokenizer
    if letter == "S":
        return token_labels(words.source_tokens(step.batch.source_ids[sentence].tolist()))[:size]
    if letter == "T":
        return token_labels(words.target_tokens(step.batch.target_ids[sentence].tolist()))[:size]
    if letter == "V":
        return vocabulary_labels(words.target_vocabulary)[:size]
    if letter in ("", "1"):
        return ("",) * size
    return tuple(map(str, range(count_from, count_from + size)))


def weight_pictures(state: ViewState) -> tuple[Matrix, Matrix, Matrix] | None:
    """The chosen parameter before the step, what is taken off it, and after."""
    step = shown_step(state)
    if step is None:
        return None
    name, place = chosen_parameter(state, step), chosen_cell(state, step)
    cells = step.cells(name)
    # one scale for both: fresh biases are all 0 before, and a weight may grow
    both = (cells.before, cells.after)
    bound = max(float(np.abs(value).max(initial=0.0)) for value in both) or 1.0
    change = float(np.abs(cells.update).max(initial=0.0)) or 1.0
    row, column = (0, *place)[-2:]
    found = []
    for key, value, high in (
        ("weight_before", cells.before, bound),
        ("weight_update", cells.update, change),
        ("weight_after", cells.after, bound),
    ):
        flat = value.ndim < 2
        value = value.reshape(1, -1) if flat else value
        unit = unit_of(high)
        found.append(
            Matrix(
                values=value,
                hidden=None,
                row_labels=("",) if flat else _numbers(state, value.shape[0]),
                column_labels=_numbers(state, value.shape[1]),
                # the heading above has the name already
                column_title=with_unit("", unit) or tr(f"step.{key}"),
                palette="diverging",
                low=-high,
                high=high,
                source=f"{name} {key}",
                current_row=None if flat else row,
                current_column=column,
                cell_index=(lambda r, c: (c,)) if flat else (lambda r, c: (r, c)),
                decimals=state.decimals,
                unit=unit,
                owner=step,
            )
        )
    return found[0], found[1], found[2]


def weight_notes(state: ViewState, cell: Cell | None = None) -> tuple[str, str, str]:
    """What stands beside the heading of each of these pictures.

    cell: the one that the pointer is on, whose number each has; None for none, and then it is
    what the colours reach to
    """
    pictures = weight_pictures(state)
    if pictures is None:
        return "", "", ""
    if cell is None:
        keys = ("step.scale.before", "step.scale.update", "step.scale.after")
        said = [
            tr(k, bound=power_of_ten(f"{p.high:.3g}")) for k, p in zip(keys, pictures, strict=True)
        ]
    else:
        row, column = (place + state.count_from for place in cell)
        key = "step.cell" if pictures[0].row_labels[cell[0]] else "step.cell.vector"
        said = [tr(key, row=row, column=column, value=exact(p.values[cell])) for p in pictures]
    return said[0], said[1], said[2]


def _numbers(state: ViewState, count: int) -> tuple[str, ...]:
    return tuple(map(str, range(state.count_from, state.count_from + count)))
