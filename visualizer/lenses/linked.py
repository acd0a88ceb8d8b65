"""All attention at once: who reads whom in the encoder, across, and in the decoder.

Three records of weights, of one encoder layer and one decoder layer, as edges between tokens. The
heads are looked at one by one, or reduced to one matrix (reductions.over_heads).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from model_core.tape import Tape
from visualizer.lenses.attentions import KINDS, Attention, Kind, layers_of
from visualizer.lenses.labels import axis_labels, row_notes
from visualizer.lenses.reductions import over_heads
from visualizer.lenses.stage import shown_rows, words
from visualizer.navigation import current_place
from visualizer.state import Run, ViewState, current_token

Array = np.ndarray[Any, Any]
Side = Literal["encoder", "decoder"]
Token = tuple[Side, int]

# More edges than these are no picture any more, and take too long to paint.
MOST_EDGES = 2400
# How strongly an edge is lit.
FADED, ONE_STEP_ON, OWN = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Edges:
    """The weights of one attention that are drawn, the strongest last.

    site: the record    readers, keys: (n,) positions of queries and keys    weights: (n,)
    """

    kind: Kind
    site: str
    readers: Array
    keys: Array
    weights: Array


@dataclass(frozen=True, eq=False)
class LinkedTokens:
    """The whole picture.

    key: what the edges and labels depend on; equal keys of one run show the same
    attentions: the records, by kind        weights: their reduced cells, (queries, keys) by kind
    sources, targets: the tokens; of the targets those that decoding has reached
    source_notes: the typed word beside <UNK>    target_notes: what each row predicts
    all_rows: how many target rows the run has in the end
    edges: per kind that there is, those that are drawn
    missing: how many more reach the threshold
    row: the current target row; None without a decoder
    pinned: the token whose paths stay lit
    """

    run: Run
    key: Hashable
    attentions: dict[Kind, Attention]
    weights: dict[Kind, Array]
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    source_notes: tuple[str, ...]
    target_notes: tuple[str, ...]
    all_rows: int
    edges: tuple[Edges, ...]
    missing: int
    threshold: float
    row: int | None
    pinned: Token | None


def linked_tokens(state: ViewState) -> LinkedTokens | None:
    """The edges of the layers and heads that are chosen; None where nothing was computed.

    Always of the values: a gradient is no share that one token has of another.
    """
    run = state.run
    if run is None or run.tape is None:
        return None
    tape, chosen = run.tape, state.linked
    found = chosen_attentions(state, tape)
    rows = shown_rows(state)
    weights = {kind: _reduced(tape, one, state) for kind, one in found.items()}
    shown = {kind: _reached(kind, cells, rows) for kind, cells in weights.items()}
    edges, missing = strongest_edges(found, shown, chosen.threshold)
    all_words = words(state)
    sources = len(tape.source_tokens)
    if "encoder" in weights:
        sources = weights["encoder"].shape[0]
    return LinkedTokens(
        run=run,
        key=(
            tuple(one.site for one in found.values()),
            chosen.heads,
            chosen.threshold,
            rows,
            state.count_from,
        ),
        attentions=found,
        weights=shown,
        sources=axis_labels("S", sources, tape, all_words, ""),
        targets=axis_labels("T", rows, tape, all_words, "") if run.rows else (),
        source_notes=row_notes("S", sources, tape, all_words),
        target_notes=row_notes("T", rows, tape, all_words) if run.rows else (),
        all_rows=run.rows,
        edges=edges,
        missing=missing,
        threshold=chosen.threshold,
        row=current_token(state) if run.rows else None,
        pinned=_pinned(state),
    )


def chosen_attentions(state: ViewState, tape: Tape) -> dict[Kind, Attention]:
    """The attentions on show, by kind: of the layers that were chosen, else of the cursor's.

    Where the cursor is in no layer of a side, that is the encoder's last layer, which the decoder
    reads from, and the decoder's first before its layers, the last behind them.
    """
    place = current_place(state)
    found = {}
    for kind in KINDS:
        layers = layers_of(tape, kind)
        if not layers:
            continue
        encoder = kind == "encoder"
        wish = state.linked.encoder_layer if encoder else state.linked.decoder_layer
        if wish is None and place is not None and place.layer is not None:
            wish = place.layer if (place.side == "encoder") == encoder else None
        if wish not in layers:
            behind = place is not None and (place.side == "output" or place.kind == "final_norm")
            wish = max(layers) if encoder or behind else min(layers)
        found[kind] = layers[wish]
    return found


def strongest_edges(
    found: dict[Kind, Attention], weights: dict[Kind, Array], threshold: float
) -> tuple[tuple[Edges, ...], int]:
    """The weights that reach the threshold, the strongest last; and how many had to be left out.

    weights: (queries, keys) by kind
    """
    places = {kind: np.nonzero(weights[kind] >= max(threshold, 1e-9)) for kind in found}
    values = {kind: weights[kind][place] for kind, place in places.items()}
    count = sum(map(len, values.values()))
    missing = max(count - MOST_EDGES, 0)
    least = -np.inf
    if missing:
        least = np.partition(np.concatenate(list(values.values())), missing)[missing]
    edges = []
    room = MOST_EDGES
    for kind, one in found.items():
        (readers, keys), strengths = places[kind], values[kind]
        order = np.argsort(strengths, kind="stable")
        order = order[strengths[order] >= least][-room:] if room else order[:0]
        room -= len(order)
        edges.append(Edges(kind, one.site, readers[order], keys[order], strengths[order]))
    return tuple(edges), missing


def lit(picture: LinkedTokens, token: Token | None) -> tuple[Array, ...]:
    """How strongly each edge is lit, (n,) per `edges`, when a token is looked at.

    A target token lights what it reads among its own words and across, and one step on what the
    source tokens that it reads have read in the encoder. A source token lights what it reads and
    who reads it, and one step on who reads the target rows that have read it. Without a token the
    current row's own edges are lit.
    """
    side, place = token if token is not None else ("decoder", picture.row)
    levels = {edges.kind: np.zeros(len(edges.weights), np.int8) for edges in picture.edges}
    by_kind = {edges.kind: edges for edges in picture.edges}
    cross = by_kind.get("cross")
    if side == "decoder":
        for kind in ("cross", "decoder"):
            if kind in by_kind:
                levels[kind][by_kind[kind].readers == place] = OWN
        if token is not None and cross is not None and "encoder" in by_kind:
            read = np.isin(by_kind["encoder"].readers, cross.keys[cross.readers == place])
            levels["encoder"][read] = ONE_STEP_ON
        return tuple(levels.values())
    own = by_kind.get("encoder")
    if own is not None:
        levels["encoder"][(own.readers == place) | (own.keys == place)] = OWN
    if cross is not None:
        by_rows = cross.keys == place
        levels["cross"][by_rows] = OWN
        if "decoder" in by_kind:
            later = np.isin(by_kind["decoder"].keys, cross.readers[by_rows])
            levels["decoder"][later] = ONE_STEP_ON
    return tuple(levels.values())


def joined_tokens(
    picture: LinkedTokens, levels: tuple[Array, ...], least: int = ONE_STEP_ON
) -> frozenset[Token]:
    """The tokens at the ends of all edges that are lit at least this strongly."""
    found: set[Token] = set()
    for edges, level in zip(picture.edges, levels, strict=True):
        on = level >= least
        reader: Side = "encoder" if edges.kind == "encoder" else "decoder"
        key: Side = "decoder" if edges.kind == "decoder" else "encoder"
        found |= {(reader, place) for place in edges.readers[on].tolist()}
        found |= {(key, place) for place in edges.keys[on].tolist()}
    return frozenset(found)


def _reached(kind: Kind, cells: Array, rows: int) -> Array:
    """The cells of the target rows that decoding has reached; the encoder's are all there."""
    if kind == "encoder":
        return cells
    return cells[:rows, :rows] if kind == "decoder" else cells[:rows]


def _pinned(state: ViewState) -> Token | None:
    """What is pinned, as far as it is there; a target row only as long as the cursor is on it."""
    pinned, run = state.linked.pinned, state.run
    if pinned is None or run is None or run.tape is None:
        return None
    side, place = pinned
    if side == "decoder":
        return pinned if run.rows and place == current_token(state) else None
    return pinned if place < len(run.tape.source_tokens) else None


# Reducing the heads of long sentences takes longer than a step may.
_KEPT: WeakKeyDictionary[Tape, dict[tuple[str, object], Array]] = WeakKeyDictionary()


def _reduced(tape: Tape, one: Attention, state: ViewState) -> Array:
    """The heads of an attention as one matrix, kept with the run."""
    heads = state.linked.heads
    if isinstance(heads, int):
        return over_heads(tape[one.site], heads)
    kept = _KEPT.setdefault(tape, {})
    key = (one.site, heads)
    if key not in kept:
        kept[key] = over_heads(tape[one.site], heads)
    return kept[key]
