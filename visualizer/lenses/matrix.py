"""From a record to one labelled heatmap: which axes, which cells, which range, what is hidden."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from model_core.tape import Record, Tape
from visualizer.i18n import tr
from visualizer.lenses.keeping import keep
from visualizer.lenses.labels import (
    Words,
    axis_labels,
    cell_kind,
    column_title,
    row_notes,
    row_title,
    typed_notes,
)
from visualizer.lenses.numbers import unit_of, unit_text
from visualizer.lenses.picture import Matrix, Palette
from visualizer.walkthrough import Place

Array = np.ndarray[Any, Any]
# Numbers that are never negative (or, for log-probabilities, never positive) get one-sided colours.
_ONE_SIDED = {"variance": "low", "mean_square": "low", "log_probs": "high"}


class Range(NamedTuple):
    """The colours of a record: the same for all of its heads and rows, so that they compare."""

    palette: Palette
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Slice:
    """Which cells of a record are on show: a 2-D view and the way from its cells to the record's.

    `lead` are the indices of all axes but the last two; `letters` name the rows and columns.
    """

    values: Array
    lead: tuple[int, ...]
    letters: tuple[str, str]
    dimensions: int

    def cell_index(self, row: int, column: int) -> tuple[int, ...]:
        """The cell's full index into the record's value."""
        return (*self.lead, row, column)[len(self.lead) + 2 - self.dimensions :]


def range_of(place: Place, tape: Tape) -> Range:
    """Palette and range of a record, looked for once."""
    make = partial(colour_range, place, tape[place.site])
    return keep(tape, "range", place.site, make, most=1000)


def colour_range(place: Place, record: Record) -> Range:
    """Palette and explicit range, from the finite cells of the whole record.

    Probabilities run from 0 to 1, signed numbers from -m to m; gradients are always signed.
    """
    value, forward = record.value, record.direction == "forward"
    if value.dtype == np.bool_:
        return Range("mask", 0.0, 1.0)
    if forward and place.role == "weights":
        return Range("sequential", 0.0, 1.0)
    allowed = None if forward or place.role != "weights" else _mask_of(record.site, record.tape)
    if allowed is not None:
        # a weight that is hidden has a gradient, but nobody sees it
        value = np.where(allowed, value, value.dtype.type(0))
    finite = value if _all_finite(value) else value[np.isfinite(value)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    side = _ONE_SIDED.get(place.role) if forward else None
    if side == "low":
        return Range("sequential", 0.0, high if high > 0 else 1.0)
    if side == "high":
        return Range("sequential", low if low < 0 else -1.0, 0.0)
    bound = max(abs(low), abs(high)) or 1.0
    return Range("diverging", -bound, bound)


def _all_finite(value: Array) -> bool:
    # one pass without a temporary: a sum is finite only where every cell is, unless it overflows,
    # and then the slow way is taken and gives the right answer
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(value.sum()))


def slice_of(record: Record, head: int, rows: int) -> Slice:
    """The cells of one head, as far as decoding has come.

    rows: how many of the target positions are on show, on every target axis. Later ones are
    absent: at that token they have not been computed yet.
    """
    value, axes = record.value, record.axes
    lead: list[int] = []
    for letter, size in zip(axes[:-2], value.shape[:-2], strict=True):
        lead.append(min(head, size - 1) if letter == "H" else 0)
    cells = value[tuple(lead)]
    letters = ("", "", *axes)[-2:]
    dimensions = value.ndim
    cells = cells.reshape((1,) * (2 - cells.ndim) + cells.shape)
    stop = [rows if letter == "T" else None for letter in letters]
    return Slice(cells[: stop[0], : stop[1]], tuple(lead), (letters[0], letters[1]), dimensions)


def hidden_cells(place: Place, record: Record, tape: Tape, part: Slice) -> Array | None:
    """True where a mask forbids looking, for records that come after the mask; else None.

    returns: the shape of the slice
    """
    if place.role not in ("masked_scores", "weights") or record.value.ndim != 4:
        return None
    allowed = _mask_of(record.site, tape)
    if allowed is None:
        hidden = np.isneginf(part.values)
        return hidden if hidden.any() else None
    rows, columns = part.values.shape
    # a mask has no heads and may have one row for all queries
    hidden = np.broadcast_to(~allowed[0, 0, :rows, :columns], (rows, columns))
    return hidden if hidden.any() else None


def _mask_of(site: str, tape: Any) -> Array | None:
    """The mask of the attention that a record belongs to: True where one may look."""
    masked = site.rsplit(".", 1)[0] + ".masked_scores"
    # the value, of gradients too: a mask itself has none
    return tape.value_of(tape[masked].inputs[1]) if masked in tape else None


def picture(
    place: Place,
    tape: Tape,
    words: Words,
    *,
    head: int = 0,
    rows: int,
    heads: int = 1,
    colours: Range | None = None,
    labelled: bool = True,
) -> Matrix:
    """The heatmap of a site.

    head: the one shown of records with heads    rows: how many target positions are on show
    heads: how many the model has    colours: the range, where it is known already
    labelled: False for thumbnails
    """
    record = tape[place.site]
    part = slice_of(record, head, rows)
    height, width = part.values.shape
    palette, low, high = colours if colours is not None else range_of(place, tape)
    row_letter, column_letter = part.letters
    unit = unit_of(high) if record.direction == "backward" else 1.0
    described: dict[str, Any] = {}
    if labelled:
        described = {
            "cells": cell_kind(place, record),
            "row_labels": axis_labels(row_letter, height, tape, words, single_row(place)),
            "column_labels": axis_labels(column_letter, width, tape, words, op_title(place)),
            "row_notes": row_notes(row_letter, height, tape, words),
            "column_notes": typed_notes(column_letter, width, words),
            "row_title": row_title(place, record, row_letter, words),
            "column_title": with_unit(
                column_title(place, record, column_letter, width, heads, words), unit
            ),
        }
    else:
        described = {"row_labels": (), "column_labels": ()}
    return Matrix(
        values=part.values,
        hidden=hidden_cells(place, record, tape, part),
        palette=palette,
        low=low,
        high=high,
        source=_source(record, part),
        axes=part.letters,
        owner=tape,
        cell_index=part.cell_index,
        decimals=words.decimals,
        unit=unit,
        **described,
    )


def with_unit(title: str, unit: float) -> str:
    """What the columns are, and the unit of the numbers; what follows a dot may be left out."""
    if unit == 1.0:
        return title
    first, *more = title.split(" · ")
    name = unit_text(unit)
    said = tr("axis.unit.before", title=first, unit=name) if first else tr("axis.unit", unit=name)
    return " · ".join([said, *more])


def _source(record: Record, part: Slice) -> str:
    """The site and the indices that lead to the cells: "…weights[0,1]"."""
    return record.site + (f"[{','.join(map(str, part.lead))}]" if part.lead else "")


def single_row(place: Place) -> str:
    """The label of a row that stands for all."""
    return tr("axis.every_query") if place.sublayer == "mask" else ""


def op_title(place: Place) -> str:
    """The short name of an op where it stands, as the chips and the headings have it."""
    if place.kind == "input":
        return tr("chip.input")
    if place.role.endswith((".dropout", ".dropped")):
        # in training alone
        role, _, last = place.role.rpartition(".")
        return tr(f"chip.{last}", name=op_title(replace(place, role=role)))
    if place.sublayer == "mask" and place.role == "mask" and place.side == "encoder":
        return tr("chip.mask.padding_mask")
    kind = place.sublayer.rstrip("0123456789")
    kind = "attn" if kind.endswith("_attn") else kind
    return tr(f"chip.{kind}.{place.role}" if place.role else f"chip.{kind}")
