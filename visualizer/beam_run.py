"""The beam search of a run: its steps as they come, and which hypothesis is traced. No Qt."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np

from model_core.beams import BeamSettings, BeamStep, Hypothesis
from model_core.sampling import distribution, log_probabilities
from model_core.tape import Tape
from visualizer.inputs import Inputs

# A search that lasts longer, in seconds, shows itself as it grows, so often.
PATIENCE, PAUSE = 0.3, 0.1


@dataclass(frozen=True, eq=False)
class Search:
    """A beam search as far as it has come.

    inputs: what was searched for, nothing pinned    done: whether these are all steps
    tape: the best hypothesis', grown while searching; None until the search is done
    """

    inputs: Inputs
    settings: BeamSettings
    steps: tuple[BeamStep, ...]
    done: bool = False
    tape: Tape | None = field(default=None, repr=False)

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """All that were looked at, kept and pruned, in the order of their numbers."""
        return tuple(h for step in self.steps for h in step.hypotheses)

    @property
    def ranking(self) -> tuple[Hypothesis, ...]:
        """The best that are finished so far, by score."""
        return self.steps[-1].ranking if self.steps else ()

    @property
    def best(self) -> Hypothesis | None:
        """The best one that is finished; before there is any, the one that leads."""
        if self.ranking:
            return self.ranking[0]
        return self.steps[-1].running[0] if self.steps and self.steps[-1].running else None


Report = Callable[[Search], None]


@dataclass(frozen=True, eq=False)
class Searched:
    """What a run takes from a search: the traced hypothesis, its rows and what they chose from."""

    search: Search
    tape: Tape
    chosen: tuple[int, ...]
    distributions: tuple[Any, ...]


# The last search of a model, for as long as a run shows it: another pin is no reason to search.
_LAST: WeakKeyDictionary[Any, ReferenceType[Search]] = WeakKeyDictionary()


def settings_of(inputs: Inputs) -> BeamSettings:
    """How the search is to go."""
    return BeamSettings(inputs.beams, inputs.length_penalty, inputs.early_stopping)


def search_run(
    model: Any, inputs: Inputs, check: Callable[[int], None], report: Report | None = None
) -> Searched:
    """Search, and trace the pinned hypothesis or the best one.

    check: called at every step; what it raises ends the search
    report: called with the steps so far once the search takes long
    """
    search = _searched(model, replace(inputs, pinned=None), check, report)
    tape = search.tape
    assert tape is not None
    best = search.ranking[0]
    chosen = tuple(best.ids[1:]) if inputs.pinned is None else inputs.pinned
    if chosen != tuple(best.ids[1:]):
        check(0)
        tape = traced(model, tape, chosen)
    return Searched(search, tape, chosen, _distributions(model, inputs, tape, chosen))


def traced(model: Any, tape: Tape, ids: tuple[int, ...]) -> Tape:
    """The tape of other ids, without the start token, behind the source that a tape has read.

    Each row predicts the next of them.
    """
    target_ids = np.array([[int(tape.target_ids[0, 0]), *ids[:-1]]])
    forced: Tape = model.trace(
        source_ids=tape.source_ids,
        target_ids=target_ids,
        # a token that says PAD was chosen like any other
        source_mask=np.ones_like(tape.source_ids, dtype=bool),
        target_mask=np.ones_like(target_ids, dtype=bool),
    )
    forced.chosen_ids = np.array([ids])
    forced.predicted_tokens = model.tokenizer.target_tokens(list(ids))
    return forced


def _searched(
    model: Any, inputs: Inputs, check: Callable[[int], None], report: Report | None
) -> Search:
    kept = _LAST.get(model)
    last = None if kept is None else kept()
    if last is not None and last.inputs == inputs:
        return last
    settings = settings_of(inputs)
    steps: list[BeamStep] = []
    told = time.perf_counter() + PATIENCE - PAUSE

    def take(step: BeamStep) -> None:
        nonlocal told
        steps.append(step)
        now = time.perf_counter()
        if report is not None and now - told >= PAUSE:
            told = now
            report(Search(inputs, settings, tuple(steps)))

    generation = model.generate(
        inputs.source,
        "beam",
        history=inputs.history,
        beams=inputs.beams,
        length_penalty=inputs.length_penalty,
        early_stopping=inputs.early_stopping,
        max_new_tokens=inputs.max_new_tokens,
        prefix_ids=inputs.prefix,
        constraints=inputs.constraints,
        on_step=check,
        on_beam=take,
    )
    found = Search(inputs, settings, tuple(steps), done=True, tape=generation.tape)
    _LAST[model] = ref(found)
    return found


def _distributions(model: Any, inputs: Inputs, tape: Tape, ids: tuple[int, ...]) -> tuple[Any, ...]:
    """What each row's token stood among, after the constraints, as the search has read it."""
    prefix = inputs.prefix
    _, rules = model.bounds(prefix, inputs.max_new_tokens, inputs.constraints)
    start = int(tape.target_ids[0, 0])
    rows = []
    for row, logits in enumerate(tape["logits"].value[0]):
        read = logits
        if rules is not None and row >= len(prefix):
            log_probs = log_probabilities(logits)
            stages = rules.stages(log_probs, [start, *ids[:row]], log_probabilities=True)
            read = stages[-1].after if stages else log_probs
        rows.append(distribution(read))
    return tuple(rows)
