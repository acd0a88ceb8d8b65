"""One training step as tables, a stage at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from visualizer.i18n import tr
from visualizer.inquiries.step import found_check, shown_step
from visualizer.lenses.likelihood import probability
from visualizer.lenses.numbers import power_of_ten, significant
from visualizer.lenses.step_choice import chosen_parameter, chosen_record, chosen_site
from visualizer.lenses.token_labels import token_labels
from visualizer.state import ViewState

Mark = Literal["", "ok", "bad"]
CHECK_HEADS = ("parameter", "worst_cell", "gradient", "difference", "tried", "worst")
# An error that the check lets pass shows in the seventh digit of the largest gradient.
CHECK_DIGITS = 7


@dataclass(frozen=True)
class TableRow:
    """A line of a table. key: what a click on it chooses    quiet: it does not count
    bar: how long a bar is behind it, as a share of the longest    stands_out: it is of a rare kind
    """

    cells: tuple[str, ...]
    key: str = ""
    mark: Mark = ""
    quiet: bool = False
    bar: float | None = None
    stands_out: bool = False


@dataclass(frozen=True)
class Table:
    """heads: of the columns"""

    heads: tuple[str, ...]
    rows: tuple[TableRow, ...]
    selected: str = ""


@dataclass(frozen=True)
class Norms:
    """The norm of all gradients before and after, and the most that is let through."""

    before: float
    after: float
    most: float


def digits(value: float) -> str:
    """Four digits, however large or small."""
    return power_of_ten(f"{value:.4g}")


def power(value: float) -> str:
    """Two digits and a power of ten: "2.8e-9"."""
    return power_of_ten(f"{value:.1e}").removesuffix("e0")


def place_text(name: str, index: tuple[int, ...]) -> str:
    """ "encoder.layers.0.ffn.W_1[3, 5]"; without brackets for a lone number."""
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def records_table(state: ViewState) -> Table | None:
    """The records from the embedding to the loss, with the largest number of each.

    Of a dropout mask, how much it drops; it stands out among the others.
    """
    step = shown_step(state)
    if step is None:
        return None
    masks = frozenset(step.dropout_sites)
    alone = state.training_step.masks_alone and bool(masks)
    rows = []
    for site in step.dropout_sites if alone else step.tape.sites:
        if site in masks:
            said = tr("step.drops", share=f"{step.dropped_share(site):.1%}")
        else:
            said = digits(step.value_sizes[site]) if site in step.value_sizes else ""
        rows.append(TableRow((site, said), site, stands_out=site in masks and not alone))
    heads = tr("step.record"), tr("step.dropped" if alone else "step.size")
    return Table(heads, tuple(rows), chosen_record(state, step))


def loss_table(state: ViewState) -> Table | None:
    """Position by position: what was to be predicted, how likely that was, what it costs."""
    step = shown_step(state)
    if step is None:
        return None
    words, chances, losses = step.model.tokenizer, step.label_probabilities, step.losses
    counted = step.counted
    rows, longest = [], float(np.nanmax(losses)) or 1.0
    for b, t in np.ndindex(*step.batch.labels.shape):
        place = f"{b + state.count_from}.{t + state.count_from}"
        ids = [int(step.batch.target_ids[b, t]), int(step.batch.labels[b, t])]
        read, label = token_labels(words.target_tokens(ids))
        if counted[b, t]:
            cells = (read, label, probability(float(chances[b, t])), digits(float(losses[b, t])))
            rows.append(TableRow((place, *cells), bar=float(losses[b, t]) / longest))
        else:
            rows.append(TableRow((place, read, label, "", tr("step.hidden")), quiet=True))
    cost = "cost.smoothed" if step.recipe.label_smoothing else "cost"
    heads = ("position", "reads", "label", "probability", cost)
    return Table(tuple(tr(f"step.{head}") for head in heads), tuple(rows))


def gradients_table(state: ViewState) -> Table | None:
    """The records from the loss back to the start, with the largest gradient of each."""
    step = shown_step(state)
    if step is None:
        return None
    sizes = step.gradient_sizes
    rows = tuple(TableRow((site, digits(size)), site) for site, size in sizes.items())
    return Table((tr("step.site"), tr("step.largest")), rows, chosen_site(state, step))


def norms_table(state: ViewState) -> Table | None:
    """The norm of each parameter's gradient before and after clipping, the largest first."""
    step = shown_step(state)
    if step is None:
        return None
    falling = sorted(step.norms.items(), key=lambda entry: -entry[1])
    by = step.optimised.coefficient
    longest = falling[0][1] or 1.0
    rows = tuple(
        TableRow((n, digits(size), digits(size * by)), n, bar=size / longest) for n, size in falling
    )
    return Table((tr("step.parameter"), tr("step.before"), tr("step.after")), rows)


def parameters_table(state: ViewState) -> Table | None:
    """Every parameter, with the norm of its gradient."""
    step = shown_step(state)
    if step is None:
        return None
    rows = tuple(TableRow((name, digits(norm)), name) for name, norm in step.norms.items())
    return Table((tr("step.parameter"), tr("step.norm")), rows, chosen_parameter(state, step))


def check_table(state: ViewState) -> Table | None:
    """What finite differences said of each parameter, as far as the check has come.

    The numbers of a line are those of the cell with its worst error.
    """
    step, found = shown_step(state), found_check(state)
    if step is None:
        return None
    checked = () if found is None else found.rows
    rows = [
        TableRow(
            (
                row.name,
                tr("step.all_at_once") if row.index is None else place_text("", row.index),
                significant(row.gradient, CHECK_DIGITS),
                significant(row.difference, CHECK_DIGITS),
                f"{row.cells} / {row.size}",
                power(row.worst),
            ),
            row.name,
            mark="ok" if row.holds else "bad",
        )
        for row in checked
    ]
    rows += [
        TableRow((name, *[""] * (len(CHECK_HEADS) - 1)), quiet=True)
        for name in list(step.parameters)[len(rows) :]
    ]
    return Table(tuple(tr(f"step.{head}") for head in CHECK_HEADS), tuple(rows))


def norms(state: ViewState) -> Norms | None:
    step = shown_step(state)
    if step is None:
        return None
    done = step.optimised
    return Norms(done.norm, done.clipped_norm, step.recipe.max_norm)
