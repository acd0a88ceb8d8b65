"""Beam search, step by step: every hypothesis that was looked at, kept or pruned.

The search is that of `transformers` 5.24 (GenerationMixin._beam_search), for one sentence:

- A hypothesis' score is the sum of its log-probabilities / length ** length_penalty. The length
  counts the generated tokens, the end token among them; not the start token, nor a forced prefix.
- Of all continuations of the running hypotheses the 2 * beams with the largest sums are looked
  at. The first `beams` that do not end run on. One that ends (with the end token, or because the
  length limit is reached) is finished if it is among the first `beams` of them, else pruned; of
  the finished ones the best `beams` by score stay.
- Once there are `beams` finished ones: early_stopping True stops at once; False stops when the
  best running sum, scored at its present length, does not beat the worst of them; "never" scores
  it at the length limit instead where length_penalty is above 0, the most that it could reach.

Where sums are equal the lower token id comes first, then the parent that stands first. Unlike
there, a continuation of probability 0 is none, and no row stands in for a missing hypothesis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal

import numpy as np

from model_core.ops.base import Array

EarlyStopping = bool | Literal["never"]
# As many as a window can draw; from Python a search may be wider.
MOST_BEAMS_SHOWN = 16
MOST_BEAMS = 1024


@dataclass(frozen=True)
class BeamSettings:
    """How wide, how scored, when stopped, and how many of the finished are handed out.

    n_best: None for all, which are as many as beams
    """

    beams: int = 4
    length_penalty: float = 1.0
    early_stopping: EarlyStopping = False
    n_best: int | None = None

    def __post_init__(self) -> None:
        if not _is_whole(self.beams) or not 1 <= self.beams <= MOST_BEAMS:
            raise ValueError(f"beams is {self.beams!r}, expected 1 to {MOST_BEAMS}")
        penalty: Any = self.length_penalty
        is_number = isinstance(penalty, Real) and not isinstance(penalty, bool)
        # beyond these a power of the length leaves float64
        if not is_number or not -10.0 <= penalty <= 10.0:
            raise ValueError(f"length_penalty is {penalty!r}, expected a number from -10 to 10")
        stopping: Any = self.early_stopping
        if not (isinstance(stopping, bool) or stopping == "never"):
            raise ValueError(f'early_stopping is {stopping!r}, expected True, False or "never"')
        n_best = self.n_best
        if n_best is not None and (not _is_whole(n_best) or not 1 <= n_best <= self.beams):
            raise ValueError(
                f"n_best is {n_best!r}, expected 1 to {self.beams}, the number of beams"
            )

    def score(self, cumulative: float, length: int) -> float:
        """cumulative: sum of log-probabilities   length: of the generated tokens"""
        return cumulative / float(length) ** self.length_penalty


@dataclass(frozen=True)
class Wording:
    """What the ids of a search mean: its start, and how ids are spelled."""

    start_ids: tuple[int, ...]
    name: Callable[[int], str] = str
    text: Callable[[Sequence[int]], str] = lambda ids: " ".join(map(str, ids))


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """One node of the tree: a token put behind a parent, and what the way to it adds up to.

    number: in the order of appearance, the root being 0   parent: the parent's number
    log_prob: of this token, after the constraints   cumulative: the sum of all   score: that sum
    / length ** length_penalty   finished: by the end token   kept: it runs on or was finished
    among the best; else it was pruned   row: the batch row in which it runs on, None otherwise
    """

    number: int
    id: int
    log_prob: float
    cumulative: float
    score: float
    length: int
    finished: bool
    kept: bool
    row: int | None
    previous: Hypothesis | None = field(repr=False)
    wording: Wording = field(repr=False)

    @property
    def parent(self) -> int | None:
        return None if self.previous is None else self.previous.number

    @property
    def token(self) -> str:
        return self.wording.name(self.id)

    @property
    def path(self) -> list[Hypothesis]:
        """The hypotheses from the first generated token to this one."""
        path, node = [], self
        while node.previous is not None:
            path.append(node)
            node = node.previous
        return path[::-1]

    @property
    def ids(self) -> list[int]:
        """The whole sequence, the start token and a forced prefix in front."""
        return [*self.wording.start_ids, *(node.id for node in self.path)]

    @property
    def tokens(self) -> list[str]:
        return [self.wording.name(i) for i in self.ids]

    @property
    def text(self) -> str:
        return self.wording.text(self.ids[1:])

    @property
    def log_probs(self) -> list[float]:
        """One per generated token; their sum is `cumulative`."""
        return [node.log_prob for node in self.path]

    @property
    def rows(self) -> list[int]:
        """The batch row of each step that computed it."""
        return [node.previous.row or 0 for node in self.path if node.previous is not None]


@dataclass(frozen=True, eq=False)
class BeamStep:
    """All that one step of the search looked at.

    hypotheses: by cumulative log-probability, the largest first   running: the rows of the next
    step   ranking: the best finished so far, by score   stopped: why the search ends here
    ("limit", "full", "no_better", "no_continuation"), None while it goes on
    """

    position: int
    hypotheses: tuple[Hypothesis, ...]
    running: tuple[Hypothesis, ...]
    ranking: tuple[Hypothesis, ...]
    stopped: str | None


def beam_search(
    advance: Callable[[Sequence[int] | None, Array], Array],
    settings: BeamSettings,
    wording: Wording,
    end_id: int,
    max_new_tokens: int,
    constrain: Callable[[Array, Sequence[int]], Array] | None = None,
) -> Iterator[BeamStep]:
    """Search, one step at a time; the last step's ranking is the result.

    advance: (parents, ids (n,m)) -> log-probabilities (n,V) of what follows. ids are what the
    rows read now; parents are the rows of the call before that they go on from, None at first.
    constrain: (log-probabilities (V,), ids so far) -> log-probabilities (V,)
    """
    root = Hypothesis(0, wording.start_ids[-1], 0.0, 0.0, 0.0, 0, False, True, 0, None, wording)
    running, ranking, number = [root], list[Hypothesis](), 1
    log_probs = advance(None, np.array([wording.start_ids], dtype=np.int64))
    for position in range(max_new_tokens):
        if position:
            parents = [h.previous.row or 0 for h in running if h.previous is not None]
            log_probs = advance(parents, np.array([[h.id] for h in running], dtype=np.int64))
        scored = np.asarray(log_probs, dtype=np.float64)
        if constrain is not None:
            scored = np.stack([constrain(r, h.ids) for r, h in zip(scored, running, strict=True)])
        if not ranking and scored.max() == -np.inf:
            at = len(running[0].ids)
            raise ValueError(
                f"the constraints leave no token at position {at}, expected at least one"
            )
        length, at_limit = position + 1, position + 1 == max_new_tokens
        sums = scored + np.array([[h.cumulative] for h in running])
        looked_at: list[Hypothesis] = []
        following: list[Hypothesis] = []
        ended: list[Hypothesis] = []
        for rank, (row, token) in enumerate(_best(sums, 2 * settings.beams)):
            finished = token == end_id
            ends, row_next = finished or at_limit, None
            if not ends and len(following) < settings.beams:
                row_next = len(following)
            total = float(sums[row, token])
            hypothesis = Hypothesis(
                number,
                token,
                float(scored[row, token]),
                total,
                settings.score(total, length),
                length,
                finished,
                row_next is not None or (ends and rank < settings.beams),
                row_next,
                running[row],
                wording,
            )
            number += 1
            looked_at.append(hypothesis)
            if row_next is not None:
                following.append(hypothesis)
            elif hypothesis.kept:
                ended.append(hypothesis)
        # stable: what was finished first stays in front of its equals
        ranking = sorted([*ranking, *ended], key=lambda h: -h.score)[: settings.beams]
        left_out = {h.number for h in ended} - {h.number for h in ranking}
        stopped = _why_stopped(settings, length, max_new_tokens, following, ranking)
        yield BeamStep(
            position,
            tuple(_pruned(h) if h.number in left_out else h for h in looked_at),
            tuple(following),
            tuple(ranking),
            stopped,
        )
        if stopped is not None:
            return
        running = following


def _best(sums: Array, count: int) -> list[tuple[int, int]]:
    """Row and token of the largest sums; equal ones by token, then by row. -inf is left out."""
    if np.isnan(sums.max()):
        raise ValueError("the log-probabilities contain nan, expected numbers, some may be -inf")
    count = min(count, sums.size)
    bound = np.partition(sums, sums.size - count, axis=None)[sums.size - count]
    rows, tokens = np.nonzero((sums >= bound) & (sums > -np.inf))
    order = np.lexsort((rows, tokens, -sums[rows, tokens]))[:count]
    return list(zip(rows[order].tolist(), tokens[order].tolist(), strict=True))


def _why_stopped(
    settings: BeamSettings,
    length: int,
    limit: int,
    running: Sequence[Hypothesis],
    ranking: Sequence[Hypothesis],
) -> str | None:
    if length == limit:
        return "limit"
    if not running:
        return "no_continuation"
    if len(ranking) < settings.beams:
        return None
    if settings.early_stopping is True:
        return "full"
    optimistic = settings.early_stopping == "never" and settings.length_penalty > 0.0
    most = settings.score(running[0].cumulative, limit if optimistic else length)
    return None if most > ranking[-1].score else "no_better"


def _pruned(hypothesis: Hypothesis) -> Hypothesis:
    h = hypothesis
    return Hypothesis(
        h.number, h.id, h.log_prob, h.cumulative, h.score, h.length, h.finished, False, None,
        h.previous, h.wording,
    )  # fmt: skip


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
