"""The tree of a beam search: which hypotheses have a node, and in which column and row it lies.

Columns are steps. In each column the nodes have the order of their parents, so that no two paths
ever cross; the best path comes first and is a straight line. Every other path goes straight on
where there is room, and gives way downwards where there is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from model_core.beams import Hypothesis
from visualizer.beam_run import Search
from visualizer.decoding_actions import shown_search
from visualizer.inquiries.paths import Path, Paths, current_paths
from visualizer.lenses.token_labels import token_label, token_labels
from visualizer.state import ViewState

Ids = tuple[int, ...]
# Up to so many beams, so many of the pruned hypotheses of a step have a node; the rest is counted.
PRUNED_SHOWN = ((4, 2), (16, 1))


@dataclass(frozen=True, eq=False)
class Node:
    """One token behind its parent.

    ids: all of them behind the start token, up to this one    parent: its place among the nodes
    cumulative, score: the hypothesis' own; of a token that only a laid path has, the path's
    hypothesis: None for the root, and for what only a path has    kept: False if it was pruned
    best, traced: whether the best path, or the traced one, leads through it    rank: its place
    among the finished ones, from 0    greedy, sampled: whether these paths lead through it
    """

    ids: Ids
    parent: int | None
    column: int
    row: int
    token: str
    cumulative: float
    score: float
    hypothesis: Hypothesis | None
    kept: bool
    finished: bool
    best: bool = False
    traced: bool = False
    rank: int | None = None
    greedy: bool = False
    sampled: bool = False


@dataclass(frozen=True, eq=False)
class Rest:
    """The pruned hypotheses of one step that have no node of their own."""

    column: int
    row: int
    hypotheses: tuple[Hypothesis, ...]


@dataclass(frozen=True, eq=False)
class BeamTree:
    """All of a search: nodes by column and row, and what is summed up.

    traced: the ids on the tape, behind the start token; empty while the search grows
    columns, rows: how many there are
    """

    search: Search
    nodes: tuple[Node, ...]
    rests: tuple[Rest, ...]
    columns: int
    rows: int
    traced: Ids

    def place_of(self, ids: Ids) -> int | None:
        """The place of the node that these ids lead to."""
        return next((i for i, node in enumerate(self.nodes) if node.ids == ids), None)

    def path(self, place: int) -> list[int]:
        """The places from the root to a node."""
        path = [place]
        while (parent := self.nodes[path[-1]].parent) is not None:
            path.append(parent)
        return path[::-1]


_KEPT: WeakKeyDictionary[Search, tuple[object, BeamTree]] = WeakKeyDictionary()


def beam_tree(state: ViewState) -> BeamTree | None:
    """The tree on show; None where the output was chosen another way."""
    search = shown_search(state)
    if search is None or not search.steps:
        return None
    own = state.run is not None and state.run.search is search
    traced = state.run.chosen if own and state.run is not None else ()
    paths = current_paths(state) if own else None
    laid = (state.tree.greedy, state.tree.sampled)
    key = (traced, paths, laid)
    kept = _KEPT.get(search)
    if kept is None or kept[0] != key:
        kept = _KEPT[search] = (key, arranged(search, traced, paths, *laid))
    return kept[1]


def arranged(
    search: Search, traced: Ids, paths: Paths | None, greedy: bool = True, sampled: bool = True
) -> BeamTree:
    """Every hypothesis has a node or is counted in a rest, exactly once.

    greedy, sampled: which of the paths are laid on the tree
    """
    start = tuple(search.steps[0].hypotheses[0].wording.start_ids)[1:]
    laid: dict[str, Path] = {}
    if paths is not None and greedy:
        laid["greedy"] = paths.greedy
    if paths is not None and sampled:
        laid["sampled"] = paths.sampled
    ways = {
        name: [start + path.ids[:n] for n in range(len(path.ids) + 1)]
        for name, path in laid.items()
    }
    on_ways = {ids for way in ways.values() for ids in way}
    best = () if search.best is None else tuple(search.best.ids[1:])
    nodes, rests = _of_the_search(search, start, on_ways)
    for name, path in laid.items():
        _add_path(nodes, ways[name], path, search)
    ranks = {tuple(h.ids[1:]): n for n, h in enumerate(search.ranking)}
    for ids, node in nodes.items():
        nodes[ids] = replace(
            node,
            best=best[: len(ids)] == ids,
            traced=bool(traced) and traced[: len(ids)] == ids,
            rank=ranks.get(ids),
            greedy=ids in ways.get("greedy", ()),
            sampled=ids in ways.get("sampled", ()),
        )
    return _placed(search, nodes, rests, traced)


def _of_the_search(
    search: Search, start: Ids, shown: set[Ids]
) -> tuple[dict[Ids, Node], dict[int, list[Hypothesis]]]:
    """The nodes of hypotheses by their ids, and by column those that are only counted."""
    most = next(count for beams, count in PRUNED_SHOWN if search.settings.beams <= beams)
    root = search.steps[0].hypotheses[0].wording
    ids_of: dict[int, Ids] = {0: start}
    nodes = {start: Node(start, None, 0, 0, root.name(root.start_ids[-1]), 0, 0, None, True, False)}
    rests: dict[int, list[Hypothesis]] = {}
    for column, step in enumerate(search.steps, 1):
        pruned = 0
        for one in step.hypotheses:
            assert one.parent is not None
            ids = ids_of[one.number] = (*ids_of[one.parent], one.id)
            if not one.kept:
                pruned += 1
                if pruned > most and ids not in shown:
                    rests.setdefault(column, []).append(one)
                    continue
            nodes[ids] = Node(
                ids, None, column, 0, token_label(one.token), one.cumulative, one.score, one,
                one.kept, one.finished,
            )  # fmt: skip
    return nodes, rests


def _add_path(nodes: dict[Ids, Node], way: list[Ids], path: Path, search: Search) -> None:
    """The tokens of a path that the search has not looked at."""
    total = 0.0
    for length, (ids, token, log_prob) in enumerate(
        zip(way[1:], token_labels(path.tokens), path.log_probs, strict=True), 1
    ):
        total += log_prob
        if ids not in nodes:
            score = search.settings.score(total, length)
            ended = length == len(path.ids)
            nodes[ids] = Node(ids, None, length, 0, token, total, score, None, False, ended)


def _placed(
    search: Search, nodes: dict[Ids, Node], rests: dict[int, list[Hypothesis]], traced: Ids
) -> BeamTree:
    reach = _reach(nodes.values())

    def order(node: Node) -> tuple[bool, bool, bool, int, float]:
        """Among the children of one parent: the best path, then what lives longest."""
        aside = node.hypothesis is None and node.column > 0
        return (not node.best, aside, not node.kept, -reach[node.ids], -node.cumulative)

    columns = 1 + max(node.column for node in nodes.values())
    by_column: list[list[Node]] = [[] for _ in range(columns)]
    for node in nodes.values():
        by_column[node.column].append(node)
    children: dict[Ids, list[Node]] = {}
    for node in nodes.values():
        children.setdefault(node.ids[:-1] if node.column else (), []).append(node)
    heights = [len(by_column[c]) + (c in rests) for c in range(columns)]
    rows = max(heights)
    done: list[Node] = []
    sums: list[Rest] = []
    parents: list[tuple[int | None, list[Node]]] = [(None, by_column[0])]
    for column in range(columns):
        n = len(by_column[column])
        row = -1
        placed: list[Node] = []
        for place, own in parents:
            for node in sorted(own, key=order):
                wished = done[place].row if place is not None else 0
                lowest = rows - (heights[column] - n) - (n - len(placed))
                row = min(max(row + 1, wished), lowest)
                placed.append(replace(node, row=row, parent=place))
        first = len(done)
        done += placed
        if column in rests:
            sums.append(Rest(column, row + 1, tuple(rests[column])))
        parents = [
            (first + i, [c for c in children.get(node.ids, ()) if c.column])
            for i, node in enumerate(placed)
        ]
    return BeamTree(search, tuple(done), tuple(sums), columns, rows, traced)


def _reach(nodes: Iterable[Node]) -> dict[Ids, int]:
    """By ids: the last column that a path through a node comes to."""
    reach: dict[Ids, int] = {}
    for node in sorted(nodes, key=lambda node: -node.column):
        reach[node.ids] = max(reach.get(node.ids, 0), node.column)
        if node.column:
            parent = node.ids[:-1]
            reach[parent] = max(reach.get(parent, 0), reach[node.ids])
    return reach
