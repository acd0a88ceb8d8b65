"""The columns of the decoding bench: every stage over the whole vocabulary, and the draw."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from model_core.sampling import RankedLogits
from model_core.stages import AFTER_TOP_K, AFTER_TOP_P, RENORMALISED, Stage, Staged
from visualizer.bench import BY_ID, Bench
from visualizer.i18n import tr
from visualizer.lenses.keeping import keep
from visualizer.lenses.likelihood import SMALLEST, expected, probability
from visualizer.lenses.numbers import exact, figure
from visualizer.lenses.pipeline import (
    Histogram,
    chosen,
    histogram,
    pipeline,
    staged,
)
from visualizer.lenses.pipeline_words import (
    Lines,
    histogram_words,
    stage_titles,
    stage_words,
)
from visualizer.lenses.token_labels import vocabulary_labels
from visualizer.state import ViewState, current_token

Array = np.ndarray[Any, Any]
DRAWS = "draws"


@dataclass(frozen=True, eq=False)
class Column:
    """One stage as it is drawn, every array over the whole vocabulary (V,) in id order.

    titles, lines: what stands above, in whole words first, then shorter   tip: all of it
    values: of "logits" the stage's logits; of "shares" probabilities: behind top-k what would be
    drawn from if that were all, behind top-p the same without what went, then renormalised; of
    "draws" how many there were   expected: how many there should be
    out: what can no more be drawn   low, high: of the bars
    off: the stage changes nothing, and says so   folds: it may be left out where room is short
    still: it stands in front of the temperature, which does not change it
    """

    name: str
    titles: tuple[str, ...]
    lines: tuple[tuple[str, ...], tuple[str, ...]]
    tip: str
    kind: Literal["logits", "shares", "draws"]
    values: Array
    out: Array
    low: float
    high: float
    off: bool = False
    folds: bool = False
    still: bool = False
    expected: Array | None = None
    decimals: int = 2

    @property
    def title(self) -> str:
        """In whole words."""
        return self.titles[0]

    def text(self, token: int) -> str:
        """The number of a token, as it stands beside its bar."""
        if self.out[token]:
            return tr("decoding.out")
        value = float(self.values[token])
        if self.kind == "logits":
            return figure(value, self.decimals)
        if self.expected is not None:
            return f"{value:.0f} / {expected(self.expected[token])}"
        return probability(value) if value else SMALLEST

    def exact(self, token: int) -> str:
        """The same with every digit."""
        if self.out[token]:
            return tr("decoding.out")
        value = float(self.values[token])
        if self.expected is not None:
            return f"{value:.0f} / {exact(float(self.expected[token]))}"
        return exact(value)

    def share(self, token: int, log: bool) -> tuple[float, float]:
        """Where the bar starts and ends, from 0 to 1.

        log: a logarithmic scale, which only what is never negative can have
        """
        value = float(self.values[token])
        if self.kind == "logits":
            reach = (self.high - self.low) or 1.0
            zero = -self.low / reach
            return zero, zero if self.out[token] else (value - self.low) / reach
        if self.out[token] or value <= 0.0:
            return 0.0, 0.0
        return 0.0, self._length(value, log)

    def mark(self, token: int, log: bool) -> float | None:
        """Where the expected count lies; None where there is none."""
        if self.expected is None or self.out[token]:
            return None
        return self._length(float(self.expected[token]), log)

    def _length(self, value: float, log: bool) -> float:
        if not log:
            return value / self.high
        if value <= self.low:
            return 0.0
        return float(np.log(value / self.low) / (np.log(self.high / self.low) or 1.0))


@dataclass(frozen=True, eq=False)
class Board:
    """All columns, and which rows they have: order are the ids (V,), None for the ids' own.

    key: of the same rows as before, so that what is in view may stay   owner: of columns in front
    of the temperature, which are the same as long as it is
    """

    key: Hashable
    tokens: Sequence[str]
    columns: tuple[Column, ...]
    order: Array | None
    sort: str
    log: bool
    chosen: int | None
    selected: int | None
    owner: object = None

    @property
    def size(self) -> int:
        return len(self.tokens)

    def token_at(self, row: int) -> int:
        """The id in a row, from the top."""
        return row if self.order is None else int(self.order[row])

    def row_of(self, token: int) -> int:
        if self.order is None:
            return token
        return int(np.flatnonzero(self.order == token)[0])

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)


def board(state: ViewState) -> Board | None:
    """What the bench shows of the row at the cursor; None without a decoder."""
    found, run = staged(state), state.run
    if found is None or run is None or state.model is None:
        return None
    sort = _sort(state, found)
    taken = chosen(state)
    tokens = vocabulary_labels(state.model.model.tokenizer.target_vocabulary)
    selected = state.bench.token
    return Board(
        key=(run.inputs.source, current_token(state), sort),
        tokens=tokens,
        columns=_columns(state, found, histogram(state)),
        order=_order(state, found, sort),
        sort=sort,
        log=state.bench.log,
        chosen=None if taken is None else taken.id,
        selected=selected if selected is not None and selected < len(tokens) else None,
        owner=pipeline(state),
    )


def _sort(state: ViewState, found: Staged) -> str:
    names = {stage.name for stage in found.stages} | {BY_ID}
    return state.bench.sort if state.bench.sort in names else Bench().sort


def _order(state: ViewState, found: Staged, sort: str) -> Array | None:
    """Temperature, top-k and top-p swap no two tokens; constraints may."""
    source = pipeline(state)
    assert source is not None
    if sort == BY_ID:
        return None
    values = found[sort].values
    constrained = found.distribution.logits
    earlier = [stage.name for stage in found.stages[: -len(_AFTER)]]
    if sort not in earlier or values is constrained:
        return source.order
    return keep(source, "order", sort, lambda: RankedLogits(values).order)


_AFTER = ("tempered", AFTER_TOP_K, AFTER_TOP_P, RENORMALISED)


def _columns(state: ViewState, found: Staged, drawn: Histogram | None) -> tuple[Column, ...]:
    given = found.distribution
    high = float(given.probabilities.max())
    low = _floor(state, found)
    # behind top-k and behind top-p stand shares of the same whole
    cuts = given.after_top_p is not given.after_top_k
    shares = found[AFTER_TOP_K].probabilities if cuts else given.probabilities
    columns = []
    for place, stage in enumerate(found.stages):
        titles = stage_titles(state, stage)
        lines, tip = stage_words(stage, place, found)
        out = stage.values == -np.inf
        if stage.name in (AFTER_TOP_K, AFTER_TOP_P, RENORMALISED):
            values = given.probabilities if stage.name == RENORMALISED else shares
            if stage.name == RENORMALISED:
                out = given.after_top_p == -np.inf
            column = Column(
                stage.name, titles, lines, tip, "shares", values, out, low, high, stage.is_off
            )
        else:
            column = _logits(stage, titles, lines, tip, out, place, state.decimals)
        columns.append(column)
    if drawn is not None:
        columns.append(_draws(state, drawn, found, low, high))
    return tuple(columns)


def _logits(
    stage: Stage,
    titles: tuple[str, ...],
    lines: Lines,
    tip: str,
    out: Array,
    place: int,
    decimals: int,
) -> Column:
    least = float(np.min(stage.values, where=~out, initial=0.0))
    most = float(np.max(stage.values, where=~out, initial=0.0))
    folds = place > 0 and stage.name != "tempered" and stage.is_off
    return Column(
        stage.name,
        titles,
        lines,
        tip,
        "logits",
        stage.values,
        out,
        least,
        most,
        stage.is_off,
        folds,
        stage.name != "tempered",
        decimals=decimals,
    )


def _draws(state: ViewState, drawn: Histogram, found: Staged, low: float, high: float) -> Column:
    wanted = drawn.times * found.distribution.probabilities
    titles, lines, tip = histogram_words(state, drawn)
    return Column(
        DRAWS,
        titles,
        lines,
        tip,
        "draws",
        drawn.counts.astype(np.float64),
        ~found.distribution.kept,
        # a bar and its mark stand on the scale of the probabilities beside them
        low * drawn.times,
        max(high * drawn.times, float(drawn.counts.max())),
        expected=wanted,
    )


def _floor(state: ViewState, found: Staged) -> float:
    """Where bars on a logarithmic scale start: a step below the smallest probability."""
    if not state.bench.log:
        return 0.0
    given = found.distribution
    return max(float(given.probabilities[given.kept].min()) / 10.0, 1e-300)
