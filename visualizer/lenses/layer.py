"""The residual stream and LayerNorm of the layer at the cursor, token by token."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from model_core.tape import Tape
from visualizer.i18n import tr
from visualizer.lenses.labels import axis_labels, row_notes
from visualizer.lenses.matrix import picture
from visualizer.lenses.numbers import unit_text
from visualizer.lenses.picture import Matrix
from visualizer.lenses.reductions import deviations
from visualizer.lenses.stage import focus_row, shown_rows, words
from visualizer.navigation import current_place, current_walk
from visualizer.state import Run, ViewState, current_tape
from visualizer.walkthrough import Place, Walk

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class LayerRows:
    """One norm with what it reads and writes.

    read, normed: what goes in and what comes out, the same rows
    mean, sigma: (rows,), the record `mean_site` and √(variance + ε) of `variance_site`; of
    gradients both are the records' own
    heads: what the two numbers are      unit: the power of ten that they are written in
    row: the current token's, None where the side has none
    """

    run: Run
    where: str
    read_title: str
    read: Matrix
    read_site: str
    normed: Matrix
    normed_site: str
    mean: Array
    mean_site: str
    sigma: Array
    variance_site: str
    row: int | None
    heads: tuple[str, str] = ("μ", "σ")
    unit: float = 1.0


def layer_rows(state: ViewState) -> LayerRows | None:
    """The norm of the cursor's sublayer, else the nearest one behind it, else the last before."""
    place, along, tape = current_place(state), current_walk(state), current_tape(state)
    if place is None or along is None or tape is None or state.run is None:
        return None
    norm = _norm_of(place, along)
    if norm is None:
        return None
    mean, variance, out = (f"{norm}.{role}" for role in ("mean", "variance", "out"))
    if variance not in tape or out not in tape:
        return None
    read = tape[mean].inputs[0]
    rows, labels = shown_rows(state), words(state)
    there = along.route.place(out)
    shown = picture(along.route.place(read), tape, labels, rows=rows, labelled=False)
    count = shown.values.shape[0]
    tokens = axis_labels(tape[read].axes[-2], count, tape, labels, "")
    notes = row_notes(tape[read].axes[-2], count, tape, labels)
    shown = replace(shown, row_labels=tokens, row_notes=notes)
    forward = tape.direction == "forward"
    title = tr("residual.sum" if tape[read].op == "residual" else "residual.stream")
    if not forward:
        letter = "r" if tape[read].op == "residual" else "x"
        title = letter
        if shown.unit != 1.0:
            title = tr("residual.gradient", name=letter, unit=unit_text(shown.unit))
    return LayerRows(
        run=state.run,
        where=_where(state, there, read, along, tape),
        read_title=title,
        read=shown,
        read_site=read,
        normed=picture(there, tape, labels, rows=rows, labelled=False),
        normed_site=out,
        mean=tape[mean].value[0, :count, 0],
        mean_site=mean,
        sigma=deviations(tape, variance, count) if forward else tape[variance].value[0, :count, 0],
        variance_site=variance,
        row=focus_row(state) if there.side == "decoder" else None,
        heads=("μ", "σ") if forward else (tr("gradient.mean"), tr("gradient.variance")),
        unit=1.0 if forward else shown.unit,
    )


def _norm_of(place: Place, along: Walk) -> str | None:
    """The sites of norms end in .mean; where a sublayer has none, the next of its side has."""
    norms = [block for block in along.route.blocks if any(s.endswith(".mean") for s in block.sites)]
    side = "decoder" if place.side == "output" else place.side
    own = [block for block in norms if block.side == side]
    if not own:
        return None
    order = {block.id: number for number, block in enumerate(along.route.blocks)}
    here = order[place.block]
    chosen = next((block for block in own if order[block.id] >= here), own[-1])
    mean = next(site for site in chosen.sites if site.endswith(".mean"))
    return mean.removesuffix(".mean")


def _where(state: ViewState, place: Place, read: str, along: Walk, tape: Tape) -> str:
    """ "after cross-attention 1"; the tokens tell which side it is.

    A norm behind a residual is the one of the sublayer that was added; one that reads the stream
    itself goes before the sublayer that reads the norm.
    """
    if place.layer is None:
        return tr(f"side.{place.side}")
    number = place.layer + state.count_from
    if place.kind == "add_norm" and tape[read].op == "residual":
        sublayer = along.route.place(tape[read].inputs[1]).kind
        return tr("residual.after", n=number, name=tr(f"flow.{sublayer}"))
    reader = next((site for site in tape.sites if place.site in tape[site].inputs), None)
    if reader is None:
        return tr("layer", n=number)
    sublayer = along.route.place(reader).kind
    return tr("residual.before", n=number, name=tr(f"flow.{sublayer}"))
