"""Trainings that were not ended and can go on: (ViewState, ...) -> ViewState. No Qt."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from visualizer import actions
from visualizer.lab import Lab, Training, Unfinished, snapshot_steps
from visualizer.lab_actions import ordered, with_lab
from visualizer.lab_orders import fresh, take_news
from visualizer.state import ViewState

# The notices that offer to go on with a training, the last one of several, one that has failed.
UNFINISHED, SEVERAL = "notice.unfinished", "notice.unfinished.several"
FAILED, FAILED_BUT_SAVED = "error.training", "error.training.saved"


def take_up(state: ViewState, path: Path | None = None) -> ViewState:
    """Go on with a training that was not ended: the one that lies there, else the last one."""
    wanted = _unfinished(state.lab, path)
    if wanted is None:
        return state
    told = ordered(state.lab, "take_up", wanted)
    training = Training(told.order.number, wanted.subject)
    shown = actions.dismiss_notice(actions.show_page(state, "train"))
    return replace(shown, lab=replace(fresh(told, training), unfinished=_others(told, wanted)))


def discard(state: ViewState, path: Path | None = None) -> ViewState:
    """Forget a training that was not ended: the one that lies there, else the last one."""
    wanted = _unfinished(state.lab, path)
    if wanted is None:
        return state
    told = ordered(state.lab, "discard", wanted)
    left = replace(told, unfinished=_others(told, wanted))
    return replace(actions.dismiss_notice(state), lab=left)


def _unfinished(lab: Lab, path: Path | None) -> Unfinished | None:
    found = (entry for entry in lab.unfinished if path is None or entry.path == path)
    return next(found, None)


def _others(lab: Lab, taken: Unfinished) -> tuple[Unfinished, ...]:
    return tuple(entry for entry in lab.unfinished if entry.path != taken.path)


def list_unfinished(state: ViewState, found: tuple[Unfinished, ...], tell: bool) -> ViewState:
    """These trainings can go on. tell: in a notice as well, where nothing else is said."""
    listed = with_lab(state, unfinished=found)
    if not found or not tell or state.notice is not None:
        return listed
    last = found[0]
    values = {"title": last.subject.title, "step": f"{last.step:,}", "n": len(found)}
    key = UNFINISHED if len(found) == 1 else SEVERAL
    return actions.show_notice(listed, key, "info", path=last.path, **values)


def show_unfinished(state: ViewState) -> ViewState:
    """The start page of the lab, with all trainings that can go on."""
    shown = actions.dismiss_notice(actions.show_page(state, "train"))
    return with_lab(shown, step="choose")


def say_set_aside(state: ViewState, training: Training, step: int) -> ViewState:
    """A training was saved to make room for another one."""
    values = {"title": training.subject.title, "step": f"{step:,}"}
    return actions.show_notice(state, "notice.set_aside", "info", **values)


def give_back(state: ViewState, number: int, before: Lab, reason: str) -> ViewState:
    """The training cannot be set aside: it stays on show, and the other one is not begun."""
    lab = state.lab
    if lab.order.number != number or before.training is None:
        return state
    kept = replace(before, order=lab.order, used=lab.used)
    title = before.training.subject.title
    told = actions.show_notice(state, "error.set_aside", "error", title=title, reason=reason)
    return replace(told, lab=kept)


def show_failure(state: ViewState, number: int, reason: str, details: str) -> ViewState:
    """A training could not go on; what it had is still there, and where it was saved it can."""
    training = state.lab.training
    if training is None or training.number != number:
        return state
    failed = take_news(state, number, status="failed", reason=reason, details=details)
    if training.final is not None:
        good = [step for step in snapshot_steps(state.lab) if step <= training.step]
        # not what the last steps have made of it
        failed = with_lab(failed, shown=good[-1]) if good else failed
    elif training.saved_step is not None and training.checkpoint:
        path = Path(training.checkpoint)
        saved = Unfinished(path, training.subject, training.saved_step, time.time())
        listed = (saved, *_others(failed.lab, saved))
        values = {"reason": reason, "step": f"{saved.step:,}", "path": path}
        return actions.show_notice(
            with_lab(failed, unfinished=listed), FAILED_BUT_SAVED, "error", details, **values
        )
    return actions.show_notice(failed, FAILED, "error", details, reason=reason)
