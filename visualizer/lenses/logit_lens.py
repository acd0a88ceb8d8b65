"""The logit lens: what the decoder would say if it ended behind an earlier sublayer.

The numbers are model_core.logit_lens's, found beside the window; here they get their words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from model_core.logit_lens import LogitLens, State, states
from model_core.tape import Tape
from visualizer.i18n import tr
from visualizer.inquiries.lens import current_readings, has_lens
from visualizer.lenses.caption import Caption
from visualizer.lenses.labels import row_notes
from visualizer.lenses.numbers import exact, figure
from visualizer.lenses.stage import words
from visualizer.lenses.token_labels import token_labels, vocabulary_labels
from visualizer.state import Run, ViewState, current_token, reads_matrix

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Reading:
    """What one state would say at one decoder row.

    token: the likeliest one    probability: its own    final: the token that the model predicts
    final_rank, final_probability: how the state sees that one; rank 1 is the likeliest
    entropy: in bits
    """

    site: str
    row: int
    title: str
    token: str
    probability: float
    final: str
    final_rank: int
    final_probability: float
    entropy: float

    @property
    def place(self) -> str:
        """The row of the record that was read."""
        return f"{self.site}[0, {self.row}, :]"

    @property
    def says(self) -> str:
        return tr("lens.hover.says", token=self.token, p=exact(self.probability))

    @property
    def about_final(self) -> str:
        """Where the final token stands, and how much is left to chance."""
        where = tr(
            "lens.hover.final",
            token=self.final,
            rank=self.final_rank,
            p=exact(self.final_probability),
        )
        return f"{where} · {tr('ui.entropy', bits=figure(self.entropy, 2))}"

    @property
    def hover(self) -> tuple[str, ...]:
        """All of it, line by line."""
        return (self.title, self.says, self.about_final, self.place)


@dataclass(frozen=True, eq=False)
class Depth:
    """The states' readings at one decoder row, from the embedding up.

    titles: of each reading    brief: where there is no room for all, the places that stay, and
    their titles: the ends of the layers    current: the state that the cursor works on
    top_head, rank_head: over the likeliest tokens, and over the ranks of the final one
    """

    readings: tuple[Reading, ...]
    titles: tuple[str, ...]
    brief: tuple[tuple[int, str], ...]
    current: int | None
    top_head: str
    rank_head: str


@dataclass(frozen=True, eq=False)
class LensGrid:
    """Every decoder row against every state.

    groups: title, number, first column and count of columns of each layer
    final_probability: (rows, columns), what the colours tell
    current_row, current_column: where the cursor is
    """

    run: Run
    lens: LogitLens
    vocabulary: Sequence[str]
    row_labels: tuple[str, ...]
    row_notes: tuple[str, ...]
    columns: tuple[str, ...]
    groups: tuple[tuple[str, str, int, int], ...]
    titles: tuple[str, ...]
    current_row: int | None
    current_column: int | None

    @cached_property
    def final_probability(self) -> Array:
        return self.lens.probability.T

    @cached_property
    def settled(self) -> Array:
        """(rows, columns) bool: whether the final token is the likeliest already."""
        return self.lens.top_ids.T == self.lens.final_ids[:, None]

    def token(self, row: int, column: int) -> str:
        return self.vocabulary[int(self.lens.top_ids[column, row])]

    def probability(self, row: int, column: int) -> float:
        """Of the likeliest token."""
        return float(self.lens.top_probability[column, row])

    def reading(self, row: int, column: int) -> Reading:
        return _reading(self.lens, self.vocabulary, row, column, self.titles[column])


def depth(state: ViewState) -> Depth | None:
    """The readings at the cursor's decoder row."""
    lens, run = current_readings(state), state.run
    if lens is None or run is None or run.tape is None or state.model is None:
        return None
    row = current_token(state)
    vocabulary = vocabulary_labels(state.model.model.tokenizer.target_vocabulary)
    titles = state_titles(lens.states, state.count_from)
    return Depth(
        tuple(_reading(lens, vocabulary, row, n, title) for n, title in enumerate(titles)),
        titles,
        _layer_ends(lens.states, state.count_from),
        current_state(state),
        tr("lens.top"),
        tr("lens.rank", token=vocabulary[int(lens.final_ids[row])]),
    )


def lens_grid(state: ViewState) -> LensGrid | None:
    """All readings of the run on show."""
    lens, run = current_readings(state), state.run
    if lens is None or run is None or run.tape is None or state.model is None:
        return None
    return LensGrid(
        run=run,
        lens=lens,
        vocabulary=vocabulary_labels(state.model.model.tokenizer.target_vocabulary),
        row_labels=token_labels(run.tape.target_tokens),
        row_notes=row_notes("T", run.rows, run.tape, words(state)),
        columns=tuple(tr(f"lens.{s.sublayer}") for s in lens.states),
        groups=_groups(lens.states, state.count_from),
        titles=state_titles(lens.states, state.count_from),
        current_row=current_token(state),
        current_column=current_state(state),
    )


def count_states(state: ViewState) -> tuple[int, int]:
    """How many states the run's decoder has, and how many of them end a layer or start it all."""
    run = state.run
    if run is None or run.tape is None or not has_lens(state):
        return 0, 0
    found = states(run.tape.plan)
    return len(found), len(_layer_ends(found, 0))


def current_state(state: ViewState) -> int | None:
    """The number of the state that the sublayer at the cursor makes; None in the encoder."""
    run = state.run
    if run is None or run.tape is None or not has_lens(state):
        return None
    tape: Tape = run.tape
    if state.cursor.site not in tape:
        return None
    site = tape.plan.resolve(state.cursor.site)
    if site.startswith("encoder."):
        return None
    here, found = tape.plan.number(site), states(tape.plan)
    later = (n for n, s in enumerate(found) if tape.plan.number(s.site) >= here)
    return next(later, len(found) - 1)


# Words.


def state_titles(found: Sequence[State], count_from: int) -> tuple[str, ...]:
    """ "embed", "layer 1 · self", …"""
    return tuple(
        tr("lens.embed")
        if s.layer is None
        else tr("lens.state", layer=_layer(s.layer, count_from), sublayer=tr(f"lens.{s.sublayer}"))
        for s in found
    )


def passes(state: ViewState) -> str:
    """What the states go through on their way to a token, in one honest sentence."""
    lens = current_readings(state)
    if lens is None:
        return ""
    return tr("lens.through.norm") if lens.final_norm else tr("lens.through.plain")


def nothing_to_read(state: ViewState) -> str:
    """Why there are no readings on show."""
    if reads_matrix(state.model):
        return tr("lens.no_decoder")
    return tr("lens.reading") if has_lens(state) else tr("lens.none")


def lens_caption(state: ViewState) -> Caption:
    """The words around the grid."""
    lens = current_readings(state)
    site = "" if lens is None else " · ".join(_shortened(lens.through))
    return Caption(
        side="decoder",
        side_title=tr("side.decoder"),
        layer_title="",
        title=tr("lens.title"),
        op_title=tr("lens.op"),
        site=site,
        shape="",
        formula="" if lens is None else _formula(lens),
        sentence=tr("lens.sentence"),
        why=passes(state),
    )


def _shortened(through: Sequence[str]) -> tuple[str, ...]:
    """The names with all of the final norm's as one."""
    norm = "decoder.norm"
    found = (norm if name.startswith(f"{norm}.") else name for name in through)
    return tuple(dict.fromkeys(found))


def _formula(lens: LogitLens) -> str:
    """The way from a state x to the probabilities, with what this model has of it."""
    read = r"\mathrm{LayerNorm}(x)" if lens.final_norm else "x"
    table = r"W_{\mathrm{out}}" if "output.W" in lens.through else r"E^{\top}"
    bias = r" + b_{\mathrm{out}}" if "output.b" in lens.through else ""
    return rf"p = \mathrm{{softmax}}\left( {read} \, {table}{bias} \right)"


def _layer(layer: int, count_from: int) -> str:
    return tr("lens.layer", n=layer + count_from)


def _layer_ends(found: Sequence[State], count_from: int) -> tuple[tuple[int, str], ...]:
    """The embedding and the last state of every layer."""
    ends = []
    for number, s in enumerate(found):
        following = found[number + 1] if number + 1 < len(found) else None
        if following is None or following.layer != s.layer:
            title = tr("lens.embed") if s.layer is None else _layer(s.layer, count_from)
            ends.append((number, title))
    return tuple(ends)


def _groups(found: Sequence[State], count_from: int) -> tuple[tuple[str, str, int, int], ...]:
    groups: list[tuple[str, str, int, int]] = []
    for start, s in enumerate(found):
        if start and found[start - 1].layer == s.layer:
            groups[-1] = (*groups[-1][:3], groups[-1][3] + 1)
        elif s.layer is None:
            groups.append(("", "", start, 1))
        else:
            number = str(s.layer + count_from)
            groups.append((_layer(s.layer, count_from), number, start, 1))
    return tuple(groups)


def _reading(
    lens: LogitLens, vocabulary: Sequence[str], row: int, number: int, title: str
) -> Reading:
    return Reading(
        site=lens.states[number].site,
        row=lens.rows[row],
        title=title,
        token=vocabulary[int(lens.top_ids[number, row])],
        probability=lens.top_probability[number, row],
        final=vocabulary[int(lens.final_ids[row])],
        final_rank=int(lens.rank[number, row]),
        final_probability=lens.probability[number, row],
        entropy=lens.entropy[number, row],
    )
