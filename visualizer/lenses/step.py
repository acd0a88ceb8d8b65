"""One training step as tables and pictures, a stage at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from visualizer.i18n import tr
from visualizer.inquiries.step import current_step, found_check, shown_step
from visualizer.lenses.backward import gradient_lines
from visualizer.lenses.line import Lines, Piece
from visualizer.lenses.matrix import with_unit
from visualizer.lenses.numbers import exact, figure, unit_of
from visualizer.lenses.picture import Matrix
from visualizer.lenses.token_labels import token_labels, vocabulary_labels
from visualizer.state import ViewState

if TYPE_CHECKING:
    from model_core.training.step import GlassStep

Array = np.ndarray[Any, Any]
Mark = Literal["", "ok", "bad"]


@dataclass(frozen=True)
class TableRow:
    """A line of a table. key: what a click on it chooses    quiet: it does not count
    bar: how long a bar is behind it, as a share of the longest
    """

    cells: tuple[str, ...]
    key: str = ""
    mark: Mark = ""
    quiet: bool = False
    bar: float | None = None


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
    text = f"{value:.4g}"
    mantissa, power, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if power else text


def power(value: float) -> str:
    """Two digits and a power of ten: "2.8e-9"."""
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


# Tables.


def batch_table(state: ViewState) -> Table | None:
    """What encoder and decoder read and what is to be predicted, padding included."""
    step = current_step(state)
    if step is None:
        return None
    words, rows = step.model.tokenizer, []
    for number, read in enumerate(step.batch.source_ids.tolist()):
        place = str(number + state.count_from)
        tokens = "  ".join(token_labels(words.source_tokens(read)))
        rows.append(TableRow((place, tr("step.encoder"), tokens)))
        for key, ids in (("decoder", step.batch.target_ids), ("labels", step.batch.labels)):
            tokens = "  ".join(token_labels(words.target_tokens(ids[number].tolist())))
            rows.append(TableRow(("", tr(f"step.{key}"), tokens)))
    return Table(("", "", tr("step.tokens")), tuple(rows))


def masks_table(state: ViewState) -> Table | None:
    """Every dropout mask and the share that it dropped."""
    step = shown_step(state)
    if step is None:
        return None
    rows = tuple(
        TableRow((site.removesuffix(".dropout"), f"{step.dropped_share(site):.1%}"), site)
        for site in step.dropout_sites
    )
    return Table((tr("step.mask"), tr("step.dropped")), rows, chosen_mask(state, step))


def loss_table(state: ViewState) -> Table | None:
    """Position by position: what was to be predicted, how likely that was, what it costs."""
    step = shown_step(state)
    if step is None:
        return None
    words, chances, losses = step.model.tokenizer, step.label_probabilities, step.losses
    rows, longest = [], float(np.nanmax(losses)) or 1.0
    for b, t in np.ndindex(*step.batch.labels.shape):
        place = f"{b + state.count_from}.{t + state.count_from}"
        ids = [int(step.batch.target_ids[b, t]), int(step.batch.labels[b, t])]
        read, label = token_labels(words.target_tokens(ids))
        if step.counted[b, t]:
            cells = (read, label, digits(float(chances[b, t])), digits(float(losses[b, t])))
            rows.append(TableRow((place, *cells), bar=float(losses[b, t]) / longest))
        else:
            rows.append(TableRow((place, read, label, "", tr("step.hidden")), quiet=True))
    heads = ("position", "reads", "label", "probability", "cost")
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
        TableRow((n, digits(size), digits(size * by)), bar=size / longest) for n, size in falling
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
    """What finite differences said of each parameter, as far as the check has come."""
    step, found = shown_step(state), found_check(state)
    if step is None:
        return None
    checked = () if found is None else found.rows
    rows = [
        TableRow(
            (
                row.name,
                figure(row.gradient, 6),
                figure(row.difference, 6),
                f"{row.cells} / {row.size}",
                power(row.worst),
            ),
            mark="ok" if row.holds else "bad",
        )
        for row in checked
    ]
    rows += [
        TableRow((name, "", "", "", ""), quiet=True) for name in list(step.parameters)[len(rows) :]
    ]
    heads = ("parameter", "gradient", "difference", "tried", "worst")
    return Table(tuple(tr(f"step.{head}") for head in heads), tuple(rows))


# What is chosen.


def chosen_mask(state: ViewState, step: GlassStep) -> str:
    """The dropout mask on show; "" where nothing was dropped."""
    wish, sites = state.training_step.mask, step.dropout_sites
    return wish if wish in sites else next(iter(sites), "")


def chosen_site(state: ViewState, step: GlassStep) -> str:
    """The record whose gradient is on show: at first that of the logits."""
    wish = state.training_step.site
    return wish if wish in step.gradient_sizes else "logits"


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


def norms(state: ViewState) -> Norms | None:
    step = shown_step(state)
    if step is None:
        return None
    done = step.optimised
    return Norms(done.norm, done.clipped_norm, step.recipe.max_norm)


# Pictures.


def mask_picture(state: ViewState) -> Matrix | None:
    """Which numbers of one record were dropped, in one sentence."""
    step = shown_step(state)
    if step is None or not chosen_mask(state, step):
        return None
    site = chosen_mask(state, step)
    high = float(step.tape[site].value.max(initial=1.0))
    return _picture(state, step, site, step.tape[site].value, "mask", 0.0, high)


def gradient_picture(state: ViewState) -> Matrix | None:
    """The gradient of one record, in one sentence."""
    step = shown_step(state)
    if step is None:
        return None
    site = chosen_site(state, step)
    value = step.gradients[site].value
    bound = step.gradient_sizes[site] or 1.0
    return _picture(state, step, site, value, "diverging", -bound, bound)


def _picture(
    state: ViewState,
    step: GlassStep,
    site: str,
    value: Array,
    palette: Literal["mask", "diverging"],
    low: float,
    high: float,
) -> Matrix:
    axes = step.tape[site].axes
    lead: list[int] = []
    for letter, size in zip(axes[:-2], value.shape[:-2], strict=True):
        wished = {"B": state.training_step.sentence, "H": state.head}.get(letter, 0)
        lead.append(min(wished, size - 1))
    cells = value[tuple(lead)]
    letters = ("", "", *axes)[-2:]
    cells = cells.reshape((1,) * (2 - cells.ndim) + cells.shape)
    number = lead[0] if axes[:1] == ("B",) and lead else 0
    unit = unit_of(high) if palette == "diverging" else 1.0
    rows, columns = cells.shape
    said = f"{site}[{','.join(map(str, lead))}]" if lead else site
    if "H" in axes[:-2]:
        said += " · " + tr("step.head", n=lead[axes.index("H")] + state.count_from)
    dimensions = value.ndim
    return Matrix(
        values=cells,
        hidden=None,
        row_labels=_labels(letters[0], rows, step, number, state.count_from),
        column_labels=_labels(letters[1], columns, step, number, state.count_from),
        column_title=with_unit(said, unit),
        palette=palette,
        low=low,
        high=high,
        source=f"{site}{number}",
        cell_index=lambda row, column: (*lead, row, column)[-dimensions:] if dimensions else (),
        decimals=state.decimals,
        unit=unit,
        owner=step,
    )


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
    bound = float(np.abs(cells.before).max(initial=0.0)) or 1.0
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
                column_title=with_unit(tr(f"step.{key}"), unit),
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


def _numbers(state: ViewState, count: int) -> tuple[str, ...]:
    return tuple(map(str, range(state.count_from, state.count_from + count)))


# How a cell comes about.


@dataclass(frozen=True)
class CellSaid:
    """A cell's name, its reckoning, its full precision and its place."""

    name: str
    lines: Lines
    exact: str
    place: str


def mask_cell(state: ViewState, cell: tuple[int, int], share: int | None = None) -> CellSaid | None:
    """How a cell of the dropout mask on show was drawn; it has no shares."""
    step, matrix = shown_step(state), mask_picture(state)
    if step is None or matrix is None or matrix.cell_index is None or not _inside(matrix, cell):
        return None
    site, index = chosen_mask(state, step), matrix.cell_index(*cell)
    told, value = step.explain_mask(site, index), matrix.values[cell]
    drawn = Piece(tr("step.drawn", u=figure(told.terms[0].value, 4), rate=_rate(step, site)))
    line = (drawn, Piece("→", "muted"), Piece(figure(value, 4), "chip", glued=True))
    return CellSaid(_cell_name(matrix, cell), (line,), exact(value), _place(site, index))


def gradient_cell(
    state: ViewState, cell: tuple[int, int], share: int | None = None
) -> CellSaid | None:
    """How a cell of the gradient on show comes about; share: the part that is spelled out."""
    step, matrix = shown_step(state), gradient_picture(state)
    if step is None or matrix is None or matrix.cell_index is None or not _inside(matrix, cell):
        return None
    site, index = chosen_site(state, step), matrix.cell_index(*cell)
    value, places = matrix.values[cell], max(state.decimals, 4)
    lines = gradient_lines(
        step.gradients, site, index, digits(float(value)), places, share, state.count_from
    )
    return CellSaid(_cell_name(matrix, cell), lines, exact(value), _place(site, index))


def _rate(step: GlassStep, site: str) -> str:
    return f"{getattr(step.tape[site].kind, 'rate', 0.0):g}"


def _inside(matrix: Matrix, cell: tuple[int, int]) -> bool:
    rows, columns = matrix.values.shape
    return cell[0] < rows and cell[1] < columns


def _cell_name(matrix: Matrix, cell: tuple[int, int]) -> str:
    row, column = matrix.row_labels[cell[0]], matrix.column_labels[cell[1]]
    return " · ".join(filter(None, (row, column)))


def _place(site: str, index: tuple[int, ...]) -> str:
    return f"{site}[{', '.join(map(str, index))}]"
