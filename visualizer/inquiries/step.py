"""One training step under the glass, its check, and what its mistakes do to the loss."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from visualizer.inquiries.base import Cancelled, Inquiry
from visualizer.inquiries.shelf import SHELF, NoLongerWanted
from visualizer.lab import Subject
from visualizer.sentences import task_of
from visualizer.state import Found, ModelEntry, ViewState
from visualizer.step_actions import can_step, pairs_of, paused_training, weights_of
from visualizer.step_view import TRIED_STEPS, Paused, Weights

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
    """What decides a step; models are told apart by identity.

    entry: the model on show    paused: the training whose next step it is, in its place
    """

    entry: ModelEntry | None
    pairs: tuple[tuple[str, str], ...]
    seed: int
    weights: Weights
    mistakes: frozenset[str]
    paused: Paused | None = None
    attempt: int = 0


@dataclass(frozen=True)
class Refused:
    """Why there is no step, in the core's words.

    broken: whether it is not for what was asked, so that trying once more may help
    """

    reason: str
    broken: bool = False


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
    view, pairs, weights = state.training_step, pairs_of(state), weights_of(state)
    if weights == "paused":
        paused = paused_training(state)
        if paused is None:
            return None
        return StepKey(None, (), 0, weights, view.mistakes, paused, view.attempt)
    if not can_step(state) or not pairs:
        return None
    return StepKey(state.model, pairs, view.seed, weights, view.mistakes, None, view.attempt)


def current_step(state: ViewState) -> GlassStep | None:
    """The step that was asked for, once it is there."""
    found = state.glass
    if found is None or found.key != step_key(state) or isinstance(found.result, Refused):
        return None
    step: GlassStep = found.result
    return step


def shown_step(state: ViewState) -> GlassStep | None:
    """The step on show: the one asked for, else the last one of this model or training."""
    found = state.glass
    if found is None or isinstance(found.result, Refused) or not _belongs(found.key, state):
        return None
    step: GlassStep = found.result
    return step


def _belongs(key: StepKey, state: ViewState) -> bool:
    if weights_of(state) != "paused":
        return key.paused is None and key.entry is state.model
    training, now = state.lab.training, paused_training(state)
    if key.paused is None or training is None or key.paused.number != training.number:
        return False
    # while the training goes on, the last one stays on show
    return now is None or now == key.paused


def refusal(state: ViewState) -> str:
    """Why there is no such step; empty where there is one, or none yet."""
    found = _refused(state)
    return "" if found is None else found.reason


def can_try_again(state: ViewState) -> bool:
    """Whether there is no such step for a reason that may be gone the next time."""
    found = _refused(state)
    return found is not None and found.broken


def _refused(state: ViewState) -> Refused | None:
    found = state.glass
    asked = found is not None and found.key == step_key(state)
    return found.result if asked and isinstance(found.result, Refused) else None  # type: ignore[union-attr]


def found_check(state: ViewState) -> Checking | None:
    """The check of the step that is asked for, as far as it has come."""
    found = state.step_check
    if found is None or found.key != step_key(state):
        return None
    checking: Checking = found.result
    return checking


def tried_key(state: ViewState) -> Hashable:
    """What decides the two trainings.

    Those on a batch of the lab's training stay while that goes on, and at its next pause.
    """
    view, training = state.training_step, state.lab.training
    if weights_of(state) == "paused" and training is not None:
        return training.number, view.mistakes
    task = task_of(state.model)
    return state.model, view.mistakes, () if task else pairs_of(state)


def found_curves(state: ViewState) -> Curves | None:
    """The loss with the chosen mistakes and without, as far as the trainings have come."""
    found = state.mistake_run
    return None if found is None or found.key != tried_key(state) else found.result.curves


def is_trying(state: ViewState) -> bool:
    """Whether the two trainings are under way, or will be as soon as the step is there."""
    return state.training_step.trying and (_can_begin(state) or found_curves(state) is not None)


def _can_begin(state: ViewState) -> bool:
    """Whether there is anything to train on."""
    return bool(pairs_of(state)) or shown_step(state) is not None or step_key(state) is not None


class StepInquiry(Inquiry):
    """Takes the step whenever what it is taken of has changed."""

    delay = 250

    def wanted(self, state: ViewState) -> Hashable | None:
        return step_key(state) if state.page == "step" else None

    def answered(self, state: ViewState) -> Hashable | None:
        return None if state.glass is None else state.glass.key

    def work(self, state: ViewState) -> Callable[[Cancelled], Any]:
        key, training = step_key(state), state.lab.training
        assert key is not None
        subject = None if training is None else training.subject
        return lambda cancelled: _taken(key, subject, cancelled)

    def answer(self, state: ViewState, key: Hashable, result: Any) -> ViewState:
        return state if result is None else replace(state, glass=Found(key, result))

    def failed(self, state: ViewState, key: Hashable, reason: str) -> ViewState:
        return replace(state, glass=Found(key, Refused(reason, broken=True)))


def _taken(
    key: StepKey, subject: Subject | None, cancelled: Cancelled
) -> GlassStep | Refused | None:
    try:
        step = _of_model(key) if key.paused is None else _of_training(key, subject, cancelled)
    except NoLongerWanted:
        return None
    except (ValueError, OSError) as error:
        return Refused(" ".join(str(error).split()), isinstance(error, OSError))
    # found here and not while the window draws
    assert step.gradient_sizes and step.norms and step.value_sizes and step.loss_after is not None
    return step


def _of_model(key: StepKey) -> GlassStep:
    from model_core.training import tasks
    from model_core.training.step import glass_step
    from model_core.training.step_sources import fresh, recipe_of

    assert key.entry is not None
    model = fresh(key.entry.model, key.seed) if key.weights == "fresh" else key.entry.model
    step = glass_step(model, key.pairs, recipe_of(model.card), key.seed, key.mistakes)
    if task := task_of(key.entry):
        # its grammar takes a while to load, and the window is to draw pairs at once
        tasks.task(task)
    return step


def _of_training(key: StepKey, subject: Subject | None, cancelled: Cancelled) -> GlassStep:
    from model_core.training.step_resume import next_step

    assert key.paused is not None and subject is not None
    given = SHELF.prepared(subject, cancelled)
    return next_step(key.paused.path, key.mistakes, at_step=key.paused.step, given=given)


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

    def failed(self, state: ViewState, key: Hashable, reason: str) -> ViewState:
        return replace(state, training_step=replace(state.training_step, checking=False))


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
        there = pairs_of(state) or shown_step(state) is not None or curves is not None
        if state.page != "step" or not view.trying or not view.mistakes or not there:
            return None
        steps = 0 if curves is None else len(curves.right)
        return (tried_key(state), steps) if steps < TRIED_STEPS else None

    def answered(self, state: ViewState) -> Hashable | None:
        return None

    def work(self, state: ViewState) -> Callable[[Cancelled], Any]:
        mistakes, curves = state.training_step.mistakes, found_curves(state)
        going = state.mistake_run.result if curves is not None and state.mistake_run else None
        if weights_of(state) == "paused":
            step = shown_step(state)
            assert step is not None or going is not None
            return lambda cancelled: _tried(lambda: _batch_of(step), mistakes, going, cancelled)
        assert state.model is not None
        model, pairs, task = state.model.model, pairs_of(state), task_of(state.model)
        return lambda cancelled: _tried(
            lambda: _pairs_of(model, pairs, task), mistakes, going, cancelled
        )

    def answer(self, state: ViewState, key: Any, result: Any) -> ViewState:
        if result is None:
            return state
        view = replace(state.training_step, trying=len(result.curves.right) < TRIED_STEPS)
        return replace(state, mistake_run=Found(key[0], result), training_step=view)

    def failed(self, state: ViewState, key: Hashable, reason: str) -> ViewState:
        """A training that broke off has no next steps."""
        view = replace(state.training_step, trying=False)
        return replace(state, mistake_run=None, training_step=view)


def _pairs_of(model: Any, pairs: tuple[tuple[str, str], ...], task: str) -> tuple[Any, Any, Any]:
    """The model on show, what it is trained on, and as it was made."""
    from model_core.training.pairs import examples_of
    from model_core.training.step_sources import drawn_examples, recipe_of

    examples = drawn_examples(task, model, EXAMPLES) if task else examples_of(model, pairs)
    return model, examples, recipe_of(model.card)


def _batch_of(step: GlassStep | None) -> tuple[Any, Any, Any]:
    """The same of a training: its batch, and its recipe."""
    from model_core.training.pairs import examples_in

    assert step is not None
    return step.model, examples_in(step.batch), step.recipe


def _tried(
    source: Callable[[], tuple[Any, Any, Any]],
    mistakes: frozenset[str],
    done: Trying | None,
    cancelled: Cancelled,
) -> Trying | None:
    from model_core.training.mistake_runs import loss_curves

    end = time.perf_counter() + PIECE
    found: Curves | None = None
    if done is None:
        model, examples, own = source()
        recipe = replace(
            own, learning_rate=TRIED_RATE, batch_size=TRIED_BATCH, warmup_steps=TRIED_WARMUP
        )
        going = loss_curves(mistakes, model, examples, recipe, TRIED_STEPS)
    else:
        going = done.going
    for curves in going:
        found = curves
        if cancelled() or time.perf_counter() > end:
            break
    return None if found is None else Trying(going, found)
