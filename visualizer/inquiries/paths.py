"""What greedy decoding and the inputs' own seed would have chosen, beside a beam search."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any

from visualizer.conversation import fitting
from visualizer.inquiries.base import Cancelled, Inquiry
from visualizer.run import Cancelled as NoLongerWanted
from visualizer.state import Found, ViewState


@dataclass(frozen=True)
class Path:
    """One way of choosing: `ids`, `tokens` and `log_probs` of what follows the start and a prefix.

    log_probs: the model's own
    """

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    log_probs: tuple[float, ...]
    text: str


@dataclass(frozen=True)
class Paths:
    """Where greedy decoding goes, and where the seed leads."""

    greedy: Path
    sampled: Path


def paths_key(state: ViewState) -> int | None:
    """Which paths can be laid on the tree: those of the run on show."""
    run = state.run
    return run.number if run is not None and run.search is not None else None


def current_paths(state: ViewState) -> Paths | None:
    """The paths of the run on show, once they are there."""
    found = state.paths
    if found is None or found.key != paths_key(state):
        return None
    paths: Paths = found.result
    return paths


class PathsInquiry(Inquiry):
    """Decodes the same inputs greedily and by draws from the same seed."""

    def wanted(self, state: ViewState) -> Hashable | None:
        asked = state.page == "decoding" and (state.tree.greedy or state.tree.sampled)
        return paths_key(state) if asked else None

    def answered(self, state: ViewState) -> Hashable | None:
        return None if state.paths is None else state.paths.key

    def work(self, state: ViewState) -> Callable[[Cancelled], Any]:
        assert state.run is not None and state.model is not None
        model = state.model.model
        inputs = fitting(model, state.run.inputs)

        def path(strategy: str, cancelled: Cancelled) -> Path:
            def check(_: int) -> None:
                if cancelled():
                    raise NoLongerWanted

            generation = model.generate(
                inputs.source,
                strategy,
                history=inputs.history,
                temperature=inputs.temperature,
                top_k=inputs.top_k,
                top_p=inputs.top_p,
                seed=inputs.seed,
                max_new_tokens=inputs.max_new_tokens,
                prefix_ids=inputs.prefix,
                constraints=inputs.constraints,
                on_step=check,
            )
            skipped = 1 + len(inputs.prefix)
            return Path(
                tuple(generation.ids[skipped:]),
                tuple(generation.tokens[skipped:]),
                tuple(generation.log_probs),
                generation.text,
            )

        return lambda cancelled: Paths(path("greedy", cancelled), path("sample", cancelled))

    def answer(self, state: ViewState, key: Hashable, result: Any) -> ViewState:
        return replace(state, paths=Found(key, result))
