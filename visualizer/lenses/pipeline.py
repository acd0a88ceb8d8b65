"""How the next token is chosen at the cursor's decoder row: its stages, and what they give.

The stages come from the logits that the run has brought and from the inputs as they are now, so
that another temperature needs no forward pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from model_core.chi_square import ChiSquare, chi_square
from model_core.constraints import ConstraintStage
from model_core.sampling import GREEDY_TEMPERATURE, Draw, log_probabilities, uniform_at
from model_core.stages import Pipeline, Staged
from visualizer.bench_actions import bench
from visualizer.lenses.keeping import keep
from visualizer.state import Inputs, Run, ViewState, current_token

# argmax: the largest   draw: by a uniform   beam: kept by a search   forced: by what was clicked
# or typed; where one asks for a draw all the same, that is a draw
Way = Literal["argmax", "draw", "beam", "forced"]
Settings = tuple[float, int | None, float | None]
PLAIN: Settings = (1.0, None, None)
# How many rows' logits stay sorted, and how many settings stay at hand.
ROWS_KEPT, SETTINGS_KEPT = 4, 2


def draws(inputs: Inputs) -> bool:
    """Whether tokens are drawn at all."""
    return inputs.strategy == "sample" and inputs.temperature >= GREEDY_TEMPERATURE


def settings(inputs: Inputs) -> Settings:
    """Temperature, top-k and top-p as far as they count."""
    return (inputs.temperature, inputs.top_k, inputs.top_p) if draws(inputs) else PLAIN


def is_of_run(state: ViewState) -> bool:
    """Whether the run on show was made with the inputs as they are now."""
    return state.run is not None and state.run.inputs == state.inputs


def choosing(inputs: Inputs) -> Inputs:
    """The inputs as far as they say how a token is chosen, whatever is read."""
    return replace(inputs, source="", history=(), cells=())


def first_values(inputs: Inputs) -> str:
    """What the stages start from: a beam search adds up log-probabilities."""
    return "log_probs" if inputs.strategy == "beam" else "logits"


def pipeline(state: ViewState) -> Pipeline | None:
    """The logits of the row with its constraints, sorted once; None without a decoder."""
    run = state.run
    if run is None or state.model is None or not run.rows:
        return None
    if run.tape is None or "logits" not in run.tape:
        return None
    row, site = current_token(state), first_values(state.inputs)
    key = (row, site, state.inputs.constraints)
    return keep(run, "pipeline", key, lambda: _pipeline(state, run, row, site), ROWS_KEPT)


def staged(state: ViewState) -> Staged | None:
    """All stages of the row under the inputs as they are now."""
    found = pipeline(state)
    if found is None:
        return None
    chosen = settings(state.inputs)
    return keep(found, "staged", chosen, lambda: found.staged(*chosen), SETTINGS_KEPT)


def _pipeline(state: ViewState, run: Run, row: int, site: str) -> Pipeline:
    assert run.tape is not None
    values = run.tape.value_of("logits")[0, row]
    if site == "log_probs":
        values = log_probabilities(values)
    return Pipeline(values, _constraints(state, run, row, values, site == "log_probs"))


def _constraints(
    state: ViewState, run: Run, row: int, values: Any, log_probabilities: bool
) -> Sequence[ConstraintStage]:
    """What the checkpoint's own constraints make of the row; nothing where they leave nothing."""
    assert run.tape is not None and state.model is not None
    inputs, model = state.inputs, state.model.model
    if not inputs.constraints or not hasattr(model, "bounds"):
        return ()
    read = run.tape.target_ids[0, : row + 1].tolist()
    prefix = run.inputs.prefix
    # in front of a prefix's end a row is as it would be if nothing were forced
    _, rules = model.bounds(
        prefix if row >= len(prefix) else (), run.inputs.max_new_tokens, inputs.constraints
    )
    if rules is None:
        return ()
    try:
        return tuple(rules.stages(values, read, log_probabilities))
    except ValueError:  # a typed target may come to where no token is left
        return ()


@dataclass(frozen=True)
class Chosen:
    """The token that is taken, and how.

    ties: the ids of the others with the same largest logit   draw: of the uniform, which is
    number `number` of its stream, from 1; 0 where nothing is drawn   of_run: whether that is the
    run's own draw and not one more that was asked for
    """

    way: Way
    id: int
    ties: tuple[int, ...] = ()
    draw: Draw | None = None
    number: int = 0
    of_run: bool = True


def run_number(state: ViewState) -> int:
    """Which uniform of the stream the run draws the row's token with, from 1; 0 for none."""
    if state.run is None or not draws(state.inputs) or forced_token(state) is not None:
        return 0
    return current_token(state) + 1


def forced_token(state: ViewState) -> int | None:
    """The id that was forced behind the row, by a prefix or a typed target."""
    run, row = state.run, current_token(state)
    if run is None or run.tape is None or state.model is None:
        return None
    if run.inputs.target is None and row >= len(run.inputs.prefix):
        return None
    read = run.tape.target_ids[0]
    return int(read[row + 1]) if row + 1 < read.size else state.model.model.tokenizer.end_id


def chosen(state: ViewState, again: bool = True) -> Chosen | None:
    """What is taken at the row.

    again: with the further draws that were asked for on the bench
    """
    found, run = staged(state), state.run
    if found is None or run is None:
        return None
    number, extra = run_number(state), bench(state).again if again else 0
    if draws(state.inputs) and (number or extra):
        which = (state.inputs.seed, number + extra - 1)
        drawn = keep(found, "draw", which, lambda: found.draw(uniform_at(*which)))
        return Chosen("draw", drawn.id, (), drawn, number + extra, not extra)
    forced = forced_token(state)
    if forced is not None:
        return Chosen("forced", forced)
    if state.inputs.strategy == "beam":
        row = current_token(state)
        return Chosen("beam", run.chosen[row] if row < len(run.chosen) else _largest(found)[0])
    largest = keep(found, "largest", None, lambda: _largest(found))
    return Chosen("argmax", largest[0], largest[1:])


def _largest(found: Staged) -> tuple[int, ...]:
    values = found.distribution.logits
    return tuple(np.flatnonzero(values == values.max()).tolist())


@dataclass(frozen=True, eq=False)
class Histogram:
    """counts: (V,) of `times` draws, number `first` to `last` of the stream"""

    counts: np.ndarray
    times: int
    first: int
    last: int
    fit: ChiSquare


def histogram(state: ViewState) -> Histogram | None:
    """The draws that were asked for, from the one behind the run's own on; None for none."""
    times, found = bench(state).times, staged(state)
    if not times or found is None or not draws(state.inputs):
        return None
    skip = run_number(state)
    counts = found.counts(state.inputs.seed, times, skip)
    fit = chi_square(counts, found.distribution.probabilities)
    return Histogram(counts, times, skip + 1, skip + times, fit)
