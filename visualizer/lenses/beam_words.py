"""What is said of a beam search, and which source words a hypothesis has read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from visualizer.decoding_actions import shown_search
from visualizer.i18n import tr
from visualizer.inquiries.hypothesis import looked_at
from visualizer.lenses.attentions import layers_of
from visualizer.lenses.beam_tree import BeamTree, Node, Rest
from visualizer.lenses.numbers import exact, figure
from visualizer.lenses.reductions import over_heads
from visualizer.lenses.token_labels import token_label, token_labels
from visualizer.state import ViewState, guided_head
from visualizer.tree_view import ScoreKind

Array = np.ndarray[Any, Any]
# Scores are printed with so many decimals: two of a nearly certain token would both say 0.
DECIMALS = 2
MOST_TOLD = 12


@dataclass(frozen=True)
class Ranked:
    """One line of the list of the best: its score, its length, its text, and what pins it."""

    ids: tuple[int, ...]
    score: str
    exact: str
    length: int
    text: str
    ended: bool
    traced: bool


@dataclass(frozen=True, eq=False)
class Reading:
    """Which source words a token's row has read.

    record: which cells these are, by name    weights: (source tokens,)
    """

    token: str
    record: str
    words: tuple[str, ...]
    weights: Array


def score_of(node: Node, kind: ScoreKind) -> float:
    """The number that stands below a node."""
    return node.score if kind == "normalised" else node.cumulative


def score_text(value: float) -> str:
    return figure(float(value), DECIMALS)


def facts(state: ViewState) -> tuple[str, str]:
    """How is searched, and the best score so far."""
    search = shown_search(state)
    settings = state.inputs if search is None else search.settings
    how = tr("beams.facts", n=settings.beams, penalty=f"{settings.length_penalty:.1f}")
    if search is None or search.best is None:
        return how.removesuffix(" ·"), ""
    if not search.done:
        return how, tr("beams.growing", n=len(search.steps))
    best = search.ranking[0]
    value = best.score if state.tree.score == "normalised" else best.cumulative
    return how, tr("beams.best", score=score_text(value))


def ranked(state: ViewState) -> tuple[Ranked, ...]:
    """The best of the finished hypotheses, as many as are asked for."""
    search = shown_search(state)
    if search is None:
        return ()
    chosen = state.run.chosen if state.run is not None and state.run.search is search else ()
    kind, lines = state.tree.score, []
    for one in search.ranking[: state.tree.n_best]:
        value = one.score if kind == "normalised" else one.cumulative
        ids = tuple(one.ids[1:])
        lines.append(
            Ranked(
                ids, score_text(value), exact(value), one.length, one.text, one.finished,
                ids == chosen,
            )
        )  # fmt: skip
    return tuple(lines)


def node_tip(node: Node) -> str:
    """What became of a node, and all its numbers exactly."""
    one = node.hypothesis
    lines = [node.token]
    if one is None:
        if node.column:
            lines += [tr("beams.tip.path"), _numbers(node)]
        return "\n".join(lines)
    ended = "finished" if one.finished else "kept" if one.row is not None else "ended"
    lines.append(tr(f"beams.tip.{ended if one.kept else 'pruned'}"))
    if node.rank is not None:
        lines.append(tr("beams.tip.rank", n=node.rank + 1))
    lines.append(tr("beams.tip.log_prob", value=exact(one.log_prob)))
    lines.append(_numbers(node))
    return "\n".join(lines)


def _numbers(node: Node) -> str:
    return "\n".join(
        (
            tr("beams.tip.cumulative", value=exact(node.cumulative)),
            tr("beams.tip.score", value=exact(node.score)),
        )
    )


def rest_text(rest: Rest) -> str:
    return tr("beams.rest", n=len(rest.hypotheses))


def rest_tip(rest: Rest) -> str:
    """The summed-up hypotheses, the best first, each with its parent's token."""
    lines = [rest_text(rest)]
    for one in rest.hypotheses[:MOST_TOLD]:
        assert one.previous is not None
        both = f"{token_label(one.previous.token)} {token_label(one.token)}"
        lines.append(f"{both}  {score_text(one.cumulative)}")
    if len(rest.hypotheses) > MOST_TOLD:
        lines.append("…")
    return "\n".join(lines)


def reading(state: ViewState) -> Reading | None:
    """What the row that chose the token under the pointer has read; None until it is known."""
    tape, ids = looked_at(state), state.tree.hovered
    if tape is None or not ids:
        return None
    across = layers_of(tape, "cross")
    if not across:
        return None
    guided, last = guided_head(state.model), across[max(across)]
    head, row = None, len(ids) - 1
    site = last.site
    if guided is not None and guided[0] in tape and guided[1] < _heads(tape, guided[0]):
        site, head = guided
    weights = over_heads(tape[site], "mean" if head is None else head)[row]
    at = row + state.count_from
    if head is None:
        record = tr("beams.reads.mean", site=site, n=last.heads, row=at)
    else:
        record = tr("beams.reads.guided", site=site, n=head + state.count_from, row=at)
    return Reading(
        token_label(tape.predicted_tokens[row]), record, token_labels(tape.source_tokens), weights
    )


def _heads(tape: Any, site: str) -> int:
    return int(tape[site].value.shape[1])


def path_words(tree: BeamTree, place: int) -> str:
    """The tokens to a node, for whoever cannot see the picture."""
    return " ".join(tree.nodes[p].token for p in tree.path(place))
