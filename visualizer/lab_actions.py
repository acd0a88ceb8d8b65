"""What one does in the training lab before there is a training: (ViewState, ...) -> ViewState."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from visualizer import actions
from visualizer.lab import FileImport, Lab, Order, Step, Subject
from visualizer.state import ViewState

if TYPE_CHECKING:
    from model_core.training.cleaning import CleaningReport
    from model_core.training.data_files import Look, Reading
    from model_core.training.estimates import Estimate
    from model_core.training.lab_data import Facts
    from model_core.training.settings import Settings

# The built-in tasks in the order of their cards; those that there are not are left out.
TASKS = ("reverse", "dates", "numbers", "en-zh", "en-fr", "chat-zh")
# Which settings the facts about the data depend on.
OF_THE_DATA = ("tokenizer", "min_count", "vocab_size", "held_out_share", "seed", "tying")
# Which settings a step takes no longer with, nor shorter.
OF_NO_TIME = frozenset(
    {
        *("learning_rate", "beta1", "beta2", "epsilon", "max_grad_norm", "final_share"),
        *("epochs", "steps", "warmup_steps"),
    }
)


def toggle_lab(state: ViewState) -> ViewState:
    """The training lab takes the stage, or gives it back to the record at the cursor."""
    return actions.toggle_page(state, "train")


def with_lab(state: ViewState, **values: Any) -> ViewState:
    """The lab with other values."""
    return replace(state, lab=replace(state.lab, **values))


def ordered(lab: Lab, kind: str, value: Any = None) -> Lab:
    """The lab with something new to be done beside the window."""
    return replace(lab, order=Order(lab.order.number + 1, kind, value))


def go_to(state: ViewState, step: Step) -> ViewState:
    """Another step of the lab; to the training only where there is one."""
    lab = state.lab
    missing = {"training": lab.training, "settings": lab.subject, "file": lab.file}
    if step == lab.step or (step in missing and missing[step] is None):
        return state
    return with_lab(state, step=step)


# The choice of data.


def choose_task(state: ViewState, name: str) -> ViewState:
    """A built-in task is to be learned, with the settings that were last on show for it; at first
    with those that its own model was made with.
    """
    from model_core.training.lab_data import TaskSource, task_settings

    source = TaskSource(name)
    settings = state.lab.used.get(source) or task_settings(name)
    return with_lab(state, step="settings", subject=Subject(source, name, settings), home="choose")


def choose_file(state: ViewState, path: Path) -> ViewState:
    """A file of pairs is to be looked at; everything about it is found out."""
    from model_core.training.data_files import Reading

    lab = state.lab
    shown = actions.dismiss_notice(actions.show_page(state, "train"))
    before = None if lab.file is None else replace(lab.file, before=None)
    # another file in place of this one has its way back
    back = before.back if lab.step == "file" and before is not None else lab.step
    file = FileImport(str(path), Reading(), came=lab.step, before=before, back=back)
    return with_lab(shown, step="file", file=file)


def set_reading(state: ViewState, **values: Any) -> ViewState:
    """The file is to be read another way; what is None is found out."""
    file = state.lab.file
    if file is None:
        return state
    import msgspec

    reading = msgspec.structs.replace(file.reading, **values)
    if reading == file.reading:
        return state
    return with_lab(
        state, file=replace(file, reading=reading, report=None, suited=None, refusal="")
    )


def swap_columns(state: ViewState) -> ViewState:
    """Source and target the other way round."""
    file = state.lab.file
    if file is None or file.look is None:
        return state
    return set_reading(state, source=file.look.target, target=file.look.source)


def show_look(
    state: ViewState,
    reading: Reading,
    look: Look,
    report: CleaningReport | None,
    suited: Settings | None,
) -> ViewState:
    """How the file looks; the report of all its lines and settings to start from, where it was
    read as a whole.
    """
    file = state.lab.file
    if file is None or file.path != look.path or file.reading != reading:
        return state
    return with_lab(state, file=replace(file, look=look, report=report, suited=suited, refusal=""))


def refuse_file(state: ViewState, path: str, reason: str, details: str = "") -> ViewState:
    """The file cannot be read as wished: one sentence; whatever is open stays open."""
    lab = state.lab
    file = lab.file
    if file is None or file.path != path:
        return state
    name = Path(path).name
    reason = reason.removeprefix(f"{name}: ").removeprefix(f"{path}: ")
    noted = actions.show_notice(state, "error.pairs", "error", details, file=name, reason=reason)
    if file.look is not None:
        # it could be read before: another way of reading it may do
        return with_lab(noted, step="file", file=replace(file, report=None, refusal=reason))
    # it never was on show: back to where one was, with all that was there
    step = file.came if lab.step == "file" else lab.step
    return with_lab(noted, step=step, file=file.before)


def accept_file(state: ViewState) -> ViewState:
    """The file as it is looked at is what is to be learned."""
    from model_core.training.data_files import file_name
    from model_core.training.lab_data import FileSource

    file = state.lab.file
    if file is None or file.look is None or file.report is None or file.suited is None:
        return state
    source = FileSource(file.path, file.look.reading)
    settings = state.lab.used.get(source) or file.suited
    subject = Subject(source, file_name(file.path), settings)
    # from here the way back is that of a fresh start
    file = replace(file, back="choose", before=None)
    return with_lab(state, step="settings", subject=subject, home="file", file=file)


def change_settings(state: ViewState) -> ViewState:
    """The settings of the training on show, for another one of the same data."""
    training = state.lab.training
    if training is None:
        return state
    subject = replace(training.subject, unread=())
    return with_lab(state, step="settings", subject=subject, home="training")


def leave_settings(state: ViewState) -> ViewState:
    """The way back from the settings, to where they were come to from."""
    return go_to(state, state.lab.home)


def leave_file(state: ViewState) -> ViewState:
    """The way back from a file, to where one was before it."""
    file = state.lab.file
    there = "choose" if file is None else file.back
    there = there if go_to(state, there) is not state else "choose"
    return go_to(state, there)


def with_settings(state: ViewState, subject: Subject) -> ViewState:
    """What is to be learned with other settings, which are kept for the next time."""
    used = {**state.lab.used, subject.source: subject.settings}
    return with_lab(state, subject=subject, used=used)


# The settings.


def set_setting(state: ViewState, name: str, value: Any) -> ViewState:
    """One of the settings has another value."""
    subject = state.lab.subject
    if subject is None:
        return state
    import msgspec

    settings = msgspec.structs.replace(subject.settings, **{name: value})
    unread = tuple(entry for entry in subject.unread if entry[0] != name)
    if settings == subject.settings and unread == subject.unread:
        return state
    return with_settings(state, replace(subject, settings=settings, unread=unread))


def leave_unread(state: ViewState, name: str, text: str) -> ViewState:
    """What stands in a field is no value; the setting stays, and training waits."""
    subject = state.lab.subject
    if subject is None or (name, text) in subject.unread:
        return state
    others = tuple(entry for entry in subject.unread if entry[0] != name)
    return with_lab(state, subject=replace(subject, unread=(*others, (name, text))))


def use_settings(state: ViewState, settings: Settings) -> ViewState:
    """All settings at once: those of a preset."""
    subject = state.lab.subject
    if subject is None:
        return state
    return with_settings(state, replace(subject, settings=settings, unread=()))


def facts_key(subject: Subject) -> tuple[Any, ...]:
    """What the facts about the data depend on."""
    return (
        subject.source,
        *(getattr(subject.settings, name) for name in OF_THE_DATA),
    )


def show_facts(
    state: ViewState, key: Any, facts: Facts, example: tuple[str, str] | None = None
) -> ViewState:
    """The facts about the data have been found, and a pair to watch a training by."""
    subject = state.lab.subject
    if subject is None or facts_key(subject) != key:
        return state
    return with_lab(state, subject=replace(subject, facts=facts, facts_key=key, example=example))


def timing_key(subject: Subject) -> tuple[Any, ...]:
    """What it depends on how much a run will take."""
    return subject.source, subject.settings


def pace_key(subject: Subject) -> tuple[Any, ...]:
    """What the time of a step depends on: not how far it goes, nor how many there are."""
    names = subject.settings.__struct_fields__
    settings = (getattr(subject.settings, name) for name in names if name not in OF_NO_TIME)
    return subject.source, *settings


def show_estimate(state: ViewState, key: Any, found: Estimate) -> ViewState:
    """What the run will take with these settings, but for the time."""
    subject = state.lab.subject
    if subject is None or timing_key(subject) != key:
        return state
    return with_lab(state, subject=replace(subject, estimate=found, estimate_key=key))


def show_timing(state: ViewState, key: Any, seconds: float) -> ViewState:
    """A few steps with these settings were tried."""
    subject = state.lab.subject
    if subject is None or pace_key(subject) != key:
        return state
    return with_lab(state, subject=replace(subject, seconds_a_step=seconds, seconds_key=key))


def refuse_subject(state: ViewState, key: Any, reason: str) -> ViewState:
    """The data cannot be had (any more)."""
    subject = state.lab.subject
    if subject is None or facts_key(subject) != key:
        return state
    return actions.show_notice(state, "error.lab", "error", reason=reason)
