"""Trainings that were not ended and can go on: (ViewState, ...) -> ViewState. No Qt."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from visualizer import actions
from visualizer.lab import Damaged, Lab, Training, Unfinished, snapshot_steps
from visualizer.lab_actions import ordered, with_lab
from visualizer.lab_orders import fresh, is_unkept, take_news, with_film_of
from visualizer.state import ViewState

# The notices that offer to go on with a training, the last one of several, one that has failed.
UNFINISHED, SEVERAL = "notice.unfinished", "notice.unfinished.several"
FAILED, FAILED_BUT_SAVED = "error.training", "error.training.saved"
# One that was saved and whose data are not there, or not as they were.
WITHOUT_DATA = "error.training.saved.data"
# One that cannot begin for the sake of a file.
WRONG_FILE = "error.training.file"


def take_up(state: ViewState, path: Path | None = None) -> ViewState:
    """Go on with a training that was not ended: the one that lies there, else the last one."""
    wanted = _unfinished(state.lab, path)
    if wanted is None:
        return state
    told = ordered(state.lab, "take_up", wanted)
    training = Training(told.order.number, wanted.subject, saved_step=wanted.step)
    shown = actions.dismiss_notice(actions.show_page(state, "train"))
    begun = with_film_of(fresh(told, training), wanted.path)
    return replace(shown, lab=replace(begun, unfinished=_others(told, wanted)))


def discard(state: ViewState, path: Path | None = None) -> ViewState:
    """Forget a training that was not ended: the one that lies there, else the last one.

    It may be one that cannot go on.
    """
    broken = next((entry for entry in state.lab.damaged if entry.path == path), None)
    wanted = broken or _unfinished(state.lab, path)
    if wanted is None:
        return state
    told = ordered(state.lab, "discard", wanted)
    damaged = tuple(entry for entry in told.damaged if entry is not broken)
    left = replace(told, unfinished=_others(told, wanted), damaged=damaged)
    return replace(actions.dismiss_notice(state), lab=left)


def _unfinished(lab: Lab, path: Path | None) -> Unfinished | None:
    found = (entry for entry in lab.unfinished if path is None or entry.path == path)
    return next(found, None)


def _others(lab: Lab, taken: Unfinished | Damaged) -> tuple[Unfinished, ...]:
    return tuple(entry for entry in lab.unfinished if entry.path != taken.path)


def list_unfinished(
    state: ViewState, found: tuple[Unfinished | Damaged, ...], tell: bool
) -> ViewState:
    """These trainings were not ended. tell: in a notice as well, where nothing else is said."""
    sound = tuple(entry for entry in found if isinstance(entry, Unfinished))
    damaged = tuple(entry for entry in found if isinstance(entry, Damaged))
    listed = with_lab(state, unfinished=sound, damaged=damaged)
    if not sound or not tell or state.notice is not None:
        return listed
    last = sound[0]
    values = {"title": last.subject.title, "step": f"{last.step:,}", "n": len(sound)}
    key = UNFINISHED if len(sound) == 1 else SEVERAL
    return actions.show_notice(listed, key, "info", path=last.path, **values)


def show_unfinished(state: ViewState) -> ViewState:
    """The start page of the lab, with all trainings that can go on."""
    shown = actions.dismiss_notice(actions.show_page(state, "train"))
    return with_lab(shown, step="choose")


def say_set_aside(state: ViewState, training: Training, step: int) -> ViewState:
    """A training was saved to make room for another one."""
    values = {"title": training.subject.title, "step": f"{step:,}"}
    return actions.show_notice(state, "notice.set_aside", "info", **values)


def give_back(
    state: ViewState, number: int, before: Lab, reason: str, key: str = "error.set_aside"
) -> ViewState:
    """The training cannot be set aside: it stays on show, and the other one is not begun."""
    lab = state.lab
    if lab.order.number != number or before.training is None:
        return state
    kept = replace(before, order=lab.order, used=lab.used)
    title = before.training.subject.title
    told = actions.show_notice(state, key, "error", title=title, reason=reason)
    return replace(told, lab=kept)


def unkept_key(training: Training) -> str:
    """What is said where the window is closed on a trained model that is in no file.

    Where its last step was saved it can be had again from there.
    """
    saved = training.checkpoint and training.saved_step == training.step
    return "notice.unkept.saved" if saved else "notice.unkept"


def is_new(training: Training) -> bool:
    """Whether the model of a training that has ended is in no file, or was not come by yet."""
    return not training.is_over or is_unkept(training)


def data_wanted(training: Training, reason: str) -> Path | None:
    """The folder that the file of data has to be put back into, where a reason is about that."""
    path = getattr(training.subject.source, "path", None)
    if path is None or not reason.startswith((f"{Path(path).name}: ", f"{path}: ")):
        return None
    return Path(path).parent


def show_failure(
    state: ViewState, number: int, reason: str, details: str, file: tuple[str, str] = ("", "")
) -> ViewState:
    """A training could not go on; what it had is still there, and where it was saved it can.

    file: the file that is to blame, and why, where the reason says both in one
    """
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
        title = training.subject.title
        values = {"reason": reason, "title": title, "step": f"{saved.step:,}", "path": path}
        folder = data_wanted(training, reason)
        key = FAILED_BUT_SAVED if folder is None else WITHOUT_DATA
        with_it = with_lab(failed, unfinished=listed)
        return actions.show_notice(with_it, key, "error", details, **values, folder=folder)
    if file[0]:
        named = {"file": file[0], "reason": file[1]}
        return actions.show_notice(failed, WRONG_FILE, "error", details, **named)
    title = training.subject.title
    return actions.show_notice(failed, FAILED, "error", details, reason=reason, title=title)
