"""One training step under the glass, its check, and what its mistakes do to the loss."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from visualizer.inquiries.base import Cancelled, Inquiry
from visualizer.sentences import task_of
from visualizer.state import Found, ModelEntry, ViewState
from visualizer.step_actions import can_step, pairs_of
from visualizer.step_view import TRIED_STEPS

if TYPE_CHECKING:
    # training is loaded when the first step is taken
    from model_core.training.mistake_runs import Curves
    from model_core.training.step import GlassStep
    from model_core.training.step_check import CheckedParameter

# How long the worker goes on before it tells what it has, in seconds.
PIECE = 0.25
EXAMPLES, TRIED_BATCH, TRIED_RATE, TRIED_WARMUP = 512, 16, 3e-3, 20


@dataclass(frozen=True)
class StepKey:
    """What decides a step; models are told apart by identity."""

    entry: ModelEntry
    pairs: tuple[tuple[str, str], ...]
    seed: int
    fresh: bool
    mistakes: frozenset[str]


@dataclass(frozen=True)
class Refused:
    """Why there is no step, in the core's words."""

    reason: str


@dataclass(frozen=True, eq=False)
class Checking:
    """How far the check of a step has come.

    twin: the step in float64    rows: of the parameters done
    """

    twin: GlassStep
    rows: tuple[CheckedParameter, ...]

    @property
    def total(self) -> int:
        return len(self.twin.parameters)


@dataclass(frozen=True, eq=False)
class Trying:
    """How far the two trainings have come; `going` gives their next steps."""

    going: Iterator[Curves]
    curves: Curves


def step_key(state: ViewState) -> StepKey | None:
    """Which step the state asks for."""
    view, pairs = state.training_step, pairs_of(state)
    if not can_step(state) or not pairs:
        return None
    assert state.model is not None
    return StepKey(state.model, pairs, view.seed, view.fresh, view.mistakes)


def current_step(state: ViewState) -> GlassStep | None:
    """The step that was asked for, once it is there."""
    found = state.glass
    if found is None or found.key != step_key(state) or isinstance(found.result, Refused):
        return None
    step: GlassStep = found.result
    return step


def shown_step(state: ViewState) -> GlassStep | None:
    """The step on show: the one asked for, else the last one of this model."""
    found = state.glass
    if found is None or isinstance(found.result, Refused) or found.key.entry is not state.model:
        return None
    step: GlassStep = found.result
    return step


def refusal(state: ViewState) -> str:
    """Why there is no such step; empty where there is one, or none yet."""
    found = state.glass
    asked = found is not None and found.key == step_key(state)
    return found.result.reason if asked and isinstance(found.result, Refused) else ""  # type: ignore[union-attr]


def found_check(state: ViewState) -> Checking | None:
    """The check of the step that is asked for, as far as it has come."""
    found = state.step_check
    if found is None or found.key != step_key(state):
        return None
    checking: Checking = found.result
    return checking


def tried_key(state: ViewState) -> Hashable:
    """What decides the two trainings."""
    view, task = state.training_step, task_of(state.model)
    return state.model, view.mistakes, () if task else pairs_of(state)


def found_curves(state: ViewState) -> Curves | None:
    """The loss with the chosen mistakes and without, as far as the trainings have come."""
    found = state.mistake_run
    return None if found is None or found.key != tried_key(state) else found.result.curves


class StepInquiry(Inquiry):
    """Takes the step whenever what it is taken of has changed."""

    delay = 250

    def wanted(self, state: ViewState) -> Hashable | None:
        return step_key(state) if state.page == "step" else None

    def answered(self, state: ViewState) -> Hashable | None:
        return None if state.glass is None else state.glass.key

    def work(self, state: ViewState) -> Callable[[Cancelled], Any]:
        key = step_key(state)
        assert key is not None
        return lambda cancelled: _taken(key)

    def answer(self, state: ViewState, key: Hashable, result: Any) -> ViewState:
        return replace(state, glass=Found(key, result))


def _taken(key: StepKey) -> GlassStep | Refused:
    from model_core.training.step import glass_step
    from model_core.training.step_sources import fresh, recipe_of

    model = fresh(key.entry.model, key.seed) if key.fresh else key.entry.model
    try:
        step = glass_step(model, key.pairs, recipe_of(model.card), key.seed, key.mistakes)
    except ValueError as error:
        return Refused(str(error))
    # found here and not while the window draws
    assert step.gradient_sizes and step.norms
    return step


class StepCheckInquiry(Inquiry):
    """Checks the gradients of the step on show, a few parameters at a time."""

    def wanted(self, state: ViewState) -> Hashable | None:
        view, step = state.training_step, current_step(state)
        if state.page != "step" or not view.checking or step is None:
            return None
        done = found_check(state)
        rows = 0 if done is None else len(done.rows)
        return (step_key(state), rows) if rows < len(step.parameters) else None

    def answered(self, state: ViewState) -> Hashable | None:
        return None

    def work(self, state: ViewState) -> Callable[[Cancelled], Any]:
        step, done = current_step(state), found_check(state)
        assert step is not None
        return lambda cancelled: _checked(step, done, cancelled)

    def answer(self, state: ViewState, key: Any, result: Any) -> ViewState:
        if result is None:
            return state
        going = len(result.rows) < result.total
        view = replace(state.training_step, checking=going)
        return replace(state, step_check=Found(key[0], result), training_step=view)


def _checked(step: GlassStep, done: Checking | None, cancelled: Cancelled) -> Checking | None:
    from model_core.training.step_check import check_parameter, in_float64

    end = time.perf_counter() + PIECE
    if done is None:
        done = Checking(in_float64(step), ())
    names, rows = list(step.parameters), list(done.rows)
    while len(rows) < len(names) and (time.perf_counter() < end or len(rows) == len(done.rows)):
        found = check_parameter(done.twin, names[len(rows)], cancelled=cancelled)
        if found is None:
            return None
        rows.append(found)
    return Checking(done.twin, tuple(rows))


class MistakeInquiry(Inquiry):
    """Trains a fresh model twice, with the mistakes and without, a few steps at a time."""

    def wanted(self, state: ViewState) -> Hashable | None:
        view, curves = state.training_step, found_curves(state)
        if state.page != "step" or not view.trying or not view.mistakes or not pairs_of(state):
            return None
        steps = 0 if curves is None else len(curves.right)
        return (tried_key(state), steps) if steps < TRIED_STEPS else None

    def answered(self, state: ViewState) -> Hashable | None:
        return None

    def work(self, state: ViewState) -> Callable[[Cancelled], Any]:
        assert state.model is not None
        model, pairs, task = state.model.model, pairs_of(state), task_of(state.model)
        mistakes, curves = state.training_step.mistakes, found_curves(state)
        going = state.mistake_run.result if curves is not None and state.mistake_run else None
        return lambda cancelled: _tried(model, pairs, task, mistakes, going, cancelled)

    def answer(self, state: ViewState, key: Any, result: Any) -> ViewState:
        if result is None:
            return state
        view = replace(state.training_step, trying=len(result.curves.right) < TRIED_STEPS)
        return replace(state, mistake_run=Found(key[0], result), training_step=view)


def _tried(
    model: Any,
    pairs: tuple[tuple[str, str], ...],
    task: str,
    mistakes: frozenset[str],
    done: Trying | None,
    cancelled: Cancelled,
) -> Trying | None:
    from model_core.training.mistake_runs import loss_curves
    from model_core.training.pairs import examples_of
    from model_core.training.step_sources import drawn_examples, recipe_of

    end = time.perf_counter() + PIECE
    found: Curves | None = None
    if done is None:
        own = recipe_of(model.card)
        recipe = replace(
            own, learning_rate=TRIED_RATE, batch_size=TRIED_BATCH, warmup_steps=TRIED_WARMUP
        )
        examples = drawn_examples(task, model, EXAMPLES) if task else examples_of(model, pairs)
        going = loss_curves(mistakes, model, examples, recipe, TRIED_STEPS)
    else:
        going = done.going
    for curves in going:
        found = curves
        if cancelled() or time.perf_counter() > end:
            break
    return None if found is None else Trying(going, found)
