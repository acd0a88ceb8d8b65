"""The attentions of a run: which records hold weights, and what a mask lets them see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from model_core.tape import Tape

Array = np.ndarray[Any, Any]
# Encoder self-attention, cross-attention, decoder self-attention.
Kind = Literal["encoder", "cross", "decoder"]
KINDS: tuple[Kind, ...] = ("encoder", "cross", "decoder")
_KINDS: dict[tuple[str, str], Kind] = {
    ("encoder", "self_attn"): "encoder",
    ("decoder", "cross_attn"): "cross",
    ("decoder", "self_attn"): "decoder",
}


@dataclass(frozen=True)
class Attention:
    """The weights of one attention sublayer: the record `site`, (1, heads, queries, keys)."""

    kind: Kind
    layer: int
    site: str
    heads: int


def attentions(tape: Tape) -> tuple[Attention, ...]:
    """All of a run, by kind and layer."""
    found = []
    for site in tape.sites:
        words = site.split(".")
        if len(words) != 5 or words[1] != "layers" or words[4] != "weights":
            continue
        kind = _KINDS.get((words[0], words[3]))
        if kind is not None:
            record = tape[site]
            heads = record.value.shape[record.axes.index("H")]
            found.append(Attention(kind, int(words[2]), site, heads))
    return tuple(sorted(found, key=lambda one: (KINDS.index(one.kind), one.layer)))


def layers_of(tape: Tape, kind: Kind) -> dict[int, Attention]:
    """The attentions of one kind by their layer."""
    return {one.layer: one for one in attentions(tape) if one.kind == kind}


def allowed_cells(tape: Tape, site: str) -> Array | None:
    """(queries, keys) bool: what the mask of these weights lets them see; None where all is."""
    masked = site.rsplit(".", 1)[0] + ".masked_scores"
    if masked not in tape:
        return None
    allowed = tape[tape[masked].inputs[1]].value
    # a mask has no heads and may have one row for all queries
    queries, keys = tape[site].value.shape[-2:]
    cells = np.broadcast_to(allowed[0, 0, :queries, :keys], (queries, keys))
    return None if cells.all() else cells
