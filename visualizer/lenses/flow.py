"""Through the layers: how long each token's residual vector is, and what every sublayer adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from model_core.tape import Tape
from visualizer.i18n import tr
from visualizer.lenses.caption import Caption
from visualizer.lenses.gradient_words import target_words
from visualizer.lenses.labels import row_notes
from visualizer.lenses.matrix import with_unit
from visualizer.lenses.numbers import exact, unit_of
from visualizer.lenses.offered import has_flow as has_flow
from visualizer.lenses.reductions import row_norms
from visualizer.lenses.stage import focus_row, shown_rows, words
from visualizer.lenses.token_labels import token_labels
from visualizer.navigation import current_place, current_walk
from visualizer.state import Run, ViewState, current_tape, shown_gradients
from visualizer.walkthrough import Route, Side

Array = np.ndarray[Any, Any]
NORM = r"\Vert x \Vert = \sqrt{ x_1^2 + \dots + x_d^2 }"


@dataclass(frozen=True)
class Station:
    """One column: the stream behind a sublayer, and what that sublayer added.

    stream, added: sites; the embedding adds nothing
    """

    title: str
    group: str
    stream: str
    added: str = ""
    current: bool = False


@dataclass(frozen=True, eq=False)
class FlowSide:
    """One side of the model; `stream` and `added` are (tokens, stations), NaN where nothing is.

    The numbers are L2 norms of the rows of the stations' records.
    notes: what each decoder row predicts
    """

    side: Side
    title: str
    tokens: tuple[str, ...]
    stations: tuple[Station, ...]
    stream: Array
    added: Array
    row: int | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Flow:
    """Both sides on one scale from 0 to `high`.

    owner: the tape that the numbers are of
    target: what they are gradients of, in words; empty where they are values
    unit: the power of ten that the numbers are written in
    """

    run: Run
    sides: tuple[FlowSide, ...]
    stream_title: str
    added_title: str
    high: float
    owner: object = None
    target: str = ""
    unit: float = 1.0


def is_flow_shown(state: ViewState) -> bool:
    """Whether the whole model has the stage."""
    return state.page == "layers" and has_flow(state)


def flow(state: ViewState) -> Flow | None:
    """The norms of all residual records of the run on show."""
    tape, along, place = current_tape(state), current_walk(state), current_place(state)
    if tape is None or along is None or place is None or state.run is None:
        return None
    if not has_flow(state):
        return None
    sides = []
    for side in ("encoder", "decoder"):
        stations = _stations(tape, along.route, state, side)
        if stations:
            sides.append(_side(state, tape, side, stations))
    if not sides:
        return None
    high = max(
        float(np.nanmax(values))
        for part in sides
        for values in (part.stream, part.added)
        if np.isfinite(values).any()
    )
    gradients = shown_gradients(state)
    kind = "" if gradients is None else ".gradient"
    unit = 1.0 if gradients is None else unit_of(high)
    return Flow(
        state.run,
        tuple(sides),
        with_unit(tr(f"flow.stream{kind}"), unit),
        with_unit(tr(f"flow.added{kind}"), unit),
        high or 1.0,
        tape,
        "" if gradients is None else target_words(state, gradients.target),
        unit,
    )


def flow_caption(whole: Flow) -> Caption:
    """The words around the picture of the whole model, in place of a record's."""
    records = sum(len(part.stations) for part in whole.sides)
    added = sum(bool(station.added) for part in whole.sides for station in part.stations)
    return Caption(
        side="accent",
        side_title=tr("flow.badge"),
        layer_title="",
        title=tr("flow.title"),
        op_title=tr("flow.op.gradient" if whole.target else "flow.op"),
        site=tr("flow.site", streams=records, added=added),
        shape="",
        formula=NORM.replace("x", r"\bar{x}") if whole.target else NORM,
        sentence=(
            tr("flow.sentence.gradient", target=whole.target)
            if whole.target
            else tr("flow.sentence")
        ),
        why=tr("flow.why"),
    )


def flow_words(part: FlowSide, row: int, column: int, added: bool) -> tuple[str, str, str]:
    """Of a cell: whose it is, which record and what was made of it, the full number."""
    station = part.stations[column]
    site = station.added if added else station.stream
    value = (part.added if added else part.stream)[row, column]
    reduction = tr("flow.norm", site=f"{site}[0, {row}, :]")
    return f"{part.tokens[row]} · {station.group} {station.title}", reduction, exact(value)


def _stations(tape: Tape, route: Route, state: ViewState, side: str) -> tuple[Station, ...]:
    place = current_place(state)
    assert place is not None
    found = []
    start = f"{side}.embed.out"
    if start in tape:
        here = place.group == f"{side}.embed"
        found.append(Station(tr("block.embed"), "", start, current=here))
    for site in tape.sites:
        if not site.startswith(f"{side}.layers.") or tape[site].op != "residual":
            continue
        added = tape[site].inputs[1]
        owner = route.place(added)
        layer = "" if owner.layer is None else str(owner.layer + state.count_from)
        number = route.place(site).sublayer.removeprefix("residual")
        norm = f"{side}.{owner.layer}.norm{number}"
        here = place.block in (owner.block, route.place(site).block, norm)
        found.append(Station(tr(f"flow.{owner.kind}"), layer, site, added, here))
    return tuple(found)


def _side(state: ViewState, tape: Tape, side: str, stations: tuple[Station, ...]) -> FlowSide:
    decoder = side == "decoder"
    tokens = token_labels(tape.target_tokens if decoder else tape.source_tokens)
    rows = shown_rows(state) if decoder else tape[stations[0].stream].value.shape[1]
    stream = np.stack([row_norms(tape[s.stream], rows) for s in stations], axis=1)
    nothing = np.full(rows, np.nan, stream.dtype)
    added = np.stack(
        [row_norms(tape[s.added], rows) if s.added else nothing for s in stations], axis=1
    )
    return FlowSide(
        "decoder" if decoder else "encoder",
        tr(f"side.{side}"),
        tokens[:rows] or tuple(str(n + state.count_from) for n in range(rows)),
        stations,
        stream,
        added,
        focus_row(state) if decoder else None,
        row_notes("T" if decoder else "S", rows, tape, words(state)),
    )
