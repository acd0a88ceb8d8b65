"""What one asks of how the output is decoded: (ViewState, ...) -> ViewState."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from model_core.beams import EarlyStopping
from visualizer.actions import FREE, LEAST_PENALTY, MOST_BEAMS, MOST_PENALTY
from visualizer.beam_run import Search
from visualizer.state import Strategy, ViewState
from visualizer.tree_view import ScoreKind

LEAST_ZOOM, MOST_ZOOM = 0.5, 2.0


def choose_strategy(state: ViewState, strategy: Strategy) -> ViewState:
    """How the next token is chosen; no hypothesis stays pinned."""
    return _searching(state, strategy=strategy)


# Beam search: a control that is moved searches, and what was pinned was another search's.


def set_beams(state: ViewState, beams: int) -> ViewState:
    """How many hypotheses run on."""
    return _searching(state, strategy="beam", beams=min(max(beams, 1), MOST_BEAMS))


def set_length_penalty(state: ViewState, length_penalty: float) -> ViewState:
    """The power of the length that a sum of log-probabilities is divided by."""
    penalty = min(max(length_penalty, LEAST_PENALTY), MOST_PENALTY)
    return _searching(state, strategy="beam", length_penalty=penalty)


def set_early_stopping(state: ViewState, early_stopping: EarlyStopping) -> ViewState:
    """When the search ends: see model_core.beams."""
    return _searching(state, strategy="beam", early_stopping=early_stopping)


def set_max_new_tokens(state: ViewState, max_new_tokens: int | None) -> ViewState:
    """How many tokens may follow the start and what is forced; None leaves it to the model."""
    limit = None if max_new_tokens is None else max(1, max_new_tokens)
    return _searching(state, max_new_tokens=limit)


def pin_hypothesis(state: ViewState, ids: tuple[int, ...] | None) -> ViewState:
    """Trace this hypothesis, by its ids behind the start token; once more, or None: the best.

    One of a search for other inputs than those that are there by now is no hypothesis of theirs.
    """
    search, pinned = shown_search(state), None if ids == state.inputs.pinned else ids
    if pinned is not None and not (search and search.done and searches(state, search)):
        return state
    forced = {**FREE, "prefix": state.inputs.prefix, "pinned": pinned}
    return _with_inputs(state, strategy="beam", **forced)


def show_growing(state: ViewState, search: Search) -> ViewState:
    """A search that is not done has come so far; one of other inputs is no longer wanted."""
    return replace(state, growing=search) if searches(state, search) else state


def searches(state: ViewState, search: Search) -> bool:
    """Whether that is the search of the inputs as they are."""
    wanted = replace(state.inputs, pinned=None)
    return wanted.strategy == "beam" and wanted.target is None and search.inputs == wanted


def shown_search(state: ViewState) -> Search | None:
    """The search on show: one that is still going on, else that of the run on show."""
    growing: Search | None = state.growing
    if growing is not None and searches(state, growing):
        return growing
    search: Search | None = None if state.run is None else state.run.search
    return search


# The tree.


def show_score(state: ViewState, score: ScoreKind) -> ViewState:
    """The score below the tokens of the tree."""
    return _with_tree(state, score=score)


def set_n_best(state: ViewState, n_best: int) -> ViewState:
    """How many of the finished hypotheses are listed."""
    return _with_tree(state, n_best=min(max(n_best, 1), MOST_BEAMS))


def lay_greedy(state: ViewState, shown: bool) -> ViewState:
    """The greedy path on the tree, or not."""
    return _with_tree(state, greedy=shown)


def lay_sampled(state: ViewState, shown: bool) -> ViewState:
    """The path that the seed draws on the tree, or not."""
    return _with_tree(state, sampled=shown)


def zoom_tree(state: ViewState, factor: float) -> ViewState:
    """Wider or narrower by a factor; 0 for as wide as there is room."""
    zoom = min(max(state.tree.zoom * factor, LEAST_ZOOM), MOST_ZOOM) if factor else 1.0
    return _with_tree(state, zoom=zoom)


def hover_hypothesis(state: ViewState, ids: tuple[int, ...] | None) -> ViewState:
    """The pointer is on the token that these ids lead to, behind the start token."""
    return _with_tree(state, hovered=ids)


def _searching(state: ViewState, **values: Any) -> ViewState:
    return _with_inputs(state, pinned=None, **values)


def _with_inputs(state: ViewState, **values: Any) -> ViewState:
    inputs = replace(state.inputs, **values)
    return replace(state, inputs=inputs) if inputs != state.inputs else state


def _with_tree(state: ViewState, **values: Any) -> ViewState:
    tree = replace(state.tree, **values)
    return replace(state, tree=tree) if tree != state.tree else state
