"""What comes out: the candidates for the next token and the tokens chosen so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from visualizer.lenses.keeping import keep
from visualizer.lenses.picture import Bars
from visualizer.lenses.pipeline import chosen, pipeline, staged
from visualizer.lenses.token_labels import token_label, token_labels
from visualizer.navigation import current_place, walks_back
from visualizer.state import Run, ViewState, current_token


@dataclass(frozen=True)
class OutputToken:
    """One chosen token. `row` is the decoder row that predicts it; "current" is the cursor's row.

    `probability` is the one it was chosen with, temperature and truncation included.
    """

    row: int
    token: str
    probability: float
    status: Literal["done", "current", "todo"]
    special: bool
    unknown: bool


def next_token(state: ViewState, count: int = 8) -> Bars | None:
    """The likeliest candidates at the cursor's decoder row, likeliest first.

    Candidates outside top-k or top-p follow with probability 0, by their logits. All of it is as
    the inputs say now: at the row's logits another temperature needs no other run.
    """
    found, source = staged(state), pipeline(state)
    if found is None or source is None or state.model is None:
        return None
    row, given = current_token(state), found.distribution
    # no stage behind the constraints swaps two tokens
    ids, taken = source.order[:count], taken_token(state)
    if taken is not None and taken not in ids:
        # forced or drawn from farther down: it comes last
        ids = np.append(ids, taken)
    vocabulary = state.model.model.tokenizer.target_vocabulary
    places = np.flatnonzero(ids == taken)
    return Bars(
        labels=token_labels(vocabulary[i] for i in ids.tolist()),
        values=given.probabilities[ids],
        kept=given.kept[ids],
        source=f"logits[0,{row}]",
        entropy_bits=given.entropy,
        chosen=int(places[0]) if places.size else None,
        ids=tuple(ids.tolist()),
    )


def taken_token(state: ViewState) -> int | None:
    """The id that the cursor's row predicts under the inputs as they are now."""
    taken = chosen(state, again=False)
    return None if taken is None else taken.id


def reached_row(state: ViewState) -> int:
    """The decoder row at the cursor; -1 in the encoder, before all of them.

    Gradients are of a run that is over: wherever one stands, the rows have been there.
    """
    place = current_place(state)
    before = place is None or (place.side == "encoder" and not walks_back(state))
    return -1 if before else current_token(state)


def output_tokens(state: ViewState) -> tuple[OutputToken, ...]:
    """All tokens of the run in order, the end token included, seen from the cursor."""
    run = state.run
    if run is None or run.tape is None or state.model is None or current_place(state) is None:
        return ()
    tokenizer = state.model.model.tokenizer
    specials = {tokenizer.end_id, tokenizer.start_id}
    reached = reached_row(state)
    probabilities = keep(run, "probabilities of the chosen", None, lambda: _chosen_with(run))
    return tuple(
        OutputToken(
            row=row,
            token=token_label(token),
            probability=probability,
            status="done" if row < reached else "current" if row == reached else "todo",
            special=chosen in specials,
            unknown=chosen == tokenizer.unknown_id,
        )
        for row, (token, probability, chosen) in enumerate(
            zip(run.tape.predicted_tokens, probabilities, run.chosen, strict=True)
        )
    )


def _chosen_with(run: Run) -> tuple[float, ...]:
    pairs = zip(run.distributions, run.chosen, strict=True)
    return tuple(float(given.probabilities[chosen]) for given, chosen in pairs)


def likeliest(tempered: Any, count: int) -> Any:
    """The ids of the largest entries, largest first, equal ones by id."""
    count = min(count, tempered.size)
    if tempered.size > 4096:
        # sorting a large vocabulary takes milliseconds
        ids = np.sort(np.argpartition(-tempered, count - 1)[:count])
    else:
        ids = np.arange(tempered.size)
    return ids[np.argsort(-tempered[ids], kind="stable")[:count]]
