"""The tokens with the highest logits at the current row, as a list beside the whole matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from model_core.gradients import Target
from visualizer.i18n import tr
from visualizer.lenses.picture import Matrix
from visualizer.lenses.prediction import likeliest
from visualizer.lenses.reductions import probabilities as reduced
from visualizer.lenses.token_labels import token_labels
from visualizer.navigation import current_place
from visualizer.state import Run, ViewState, current_tape, shown_gradients

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Ranking:
    """The likeliest tokens of one row, likeliest first; of gradients those with the largest.

    logits, log_probs: (N,), all off the tape; gradients stand in place of the logits
    ids: (N,), the columns in the record          chosen: place of the token that was taken
    marked: place of the token that is looked at
    """

    run: Run
    kind: Literal["logits", "log_probs", "gradients"]
    row: int
    title: str
    labels: tuple[str, ...]
    ids: tuple[int, ...]
    logits: Array
    log_probs: Array
    probabilities: Array
    chosen: int | None
    marked: int | None


def ranking(state: ViewState, matrix: Matrix | None, count: int = 40) -> Ranking | None:
    """The row that is looked at, over the vocabulary; None at other records.

    matrix: the heatmap of the record at the cursor
    """
    place, tape = current_place(state), current_tape(state)
    if place is None or tape is None or matrix is None or state.model is None or state.run is None:
        return None
    if place.side != "output" or tape[place.site].axes[-1:] != ("V",) or "log_probs" not in tape:
        return None
    row = matrix.current_row or 0
    logits, log_probs = (tape.value_of(site)[0, row] for site in ("logits", "log_probs"))
    kind: Literal["logits", "log_probs", "gradients"] = "logits"
    if place.site == "log_probs":
        kind = "log_probs"
    order, taken, gradients = logits, int(tape.predicted_ids[0, row]), shown_gradients(state)
    if gradients is not None:
        kind, logits = "gradients", tape[place.site].value[0, row]
        order, taken = np.abs(logits), target_token(gradients.target, row)
    ids = likeliest(order, count)
    vocabulary = state.model.model.tokenizer.target_vocabulary
    chosen = np.flatnonzero(ids == taken)
    marked = np.flatnonzero(ids == matrix.current_column)
    return Ranking(
        run=state.run,
        kind=kind,
        row=row,
        title=tr(
            "ranking.title" if gradients is None else "ranking.title.gradient",
            token=matrix.row_labels[row],
        ),
        labels=token_labels(vocabulary[i] for i in ids.tolist()),
        ids=tuple(ids.tolist()),
        logits=logits[ids],
        log_probs=log_probs[ids],
        probabilities=reduced(log_probs[ids]),
        chosen=int(chosen[0]) if chosen.size else None,
        marked=int(marked[0]) if marked.size else None,
    )


def target_token(target: Target, row: int) -> int:
    """The token whose log-probability a target counts in a row; -1 for none."""
    if target.kind == "log_prob":
        return target.token if target.row == row else -1
    return target.labels[row] if row < len(target.labels) else -1
