"""What the training lab asks for beside the window: a file's look, its report, facts, the time."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from visualizer import lab_actions, lab_orders
from visualizer.inquiries.base import Cancelled, Inquiry
from visualizer.inquiries.shelf import SHELF, NoLongerWanted
from visualizer.lab import Check, FileImport, Subject
from visualizer.lab_film import checked, missing_steps, shots_of
from visualizer.state import ViewState

# So many snapshots are looked at before what they show is shown.
AT_ONCE = 4
# Steps are tried for so many seconds.
TRIED = 0.8
# Parameters times tokens of a side that are tried at once, about a second's work.
MOST_TRIED = 3_000_000_000


@dataclass(frozen=True)
class Refusal:
    """Why something cannot be had, in the core's own sentence."""

    reason: str


def attempted(work: Callable[[], Any]) -> Any:
    """What the work gives; what is wrong with a stranger's data is an answer too."""
    try:
        return work()
    except NoLongerWanted:
        return None
    except (ValueError, OSError) as error:
        return Refusal(" ".join(str(error).split()))


def _file(state: ViewState) -> FileImport | None:
    lab = state.lab
    return lab.file if state.page == "train" and lab.step in ("file", "choose") else None


def _subject(state: ViewState) -> Subject | None:
    lab = state.lab
    return lab.subject if state.page == "train" and lab.step == "settings" else None


class LookInquiry(Inquiry):
    """How the chosen file would be read."""

    delay = 60

    def wanted(self, state: ViewState) -> Hashable | None:
        file = _file(state)
        return None if file is None or file.refusal else (file.path, file.reading)

    def answered(self, state: ViewState) -> Hashable | None:
        return None

    def work(self, state: ViewState) -> Callable[[Cancelled], Any]:
        from model_core.training.data_files import look
        from model_core.training.lab_data import FileSource
        from model_core.training.settings import Settings

        file = state.lab.file
        assert file is not None
        path, reading = file.path, file.reading

        def find(cancelled: Cancelled) -> Any:
            found = look(path, reading)
            if not found.encoding_is_sure:
                return found, None, None
            # they are what the settings will be about
            subject = Subject(FileSource(path, found.reading), "", Settings())
            data = SHELF.data(subject, cancelled)
            return found, data.report, first_settings(data)

        return lambda cancelled: attempted(lambda: find(cancelled))

    def answer(self, state: ViewState, key: Hashable, result: Any) -> ViewState:
        path, reading = key  # type: ignore[misc]
        if isinstance(result, Refusal):
            return lab_actions.refuse_file(state, path, result.reason)
        if result is None:
            return state
        return lab_actions.show_look(state, reading, *result)


def first_settings(data: Any) -> Any:
    """Settings to start from; few pairs are gone through so often that steps say it better."""
    import msgspec

    from model_core.training.settings import FIELDS, Settings
    from model_core.training.suiting import suited_settings

    suited = suited_settings(data)
    most = next(entry.high for entry in FIELDS if entry.name == "epochs")
    if most is None or suited.epochs <= most:
        return suited
    steps = suited.total_steps(len(data.train))
    return msgspec.structs.replace(suited, steps=steps, epochs=Settings().epochs)


class FactsInquiry(Inquiry):
    """What the settings are judged by: how many pairs, how long, how many tokens."""

    delay = 150

    def wanted(self, state: ViewState) -> Hashable | None:
        subject = _subject(state)
        if subject is None or _is_refused(subject):
            return None
        return lab_actions.facts_key(subject)

    def answered(self, state: ViewState) -> Hashable | None:
        subject = _subject(state)
        known = None if subject is None else subject.facts_key
        return known if isinstance(known, tuple) else None

    def work(self, state: ViewState) -> Callable[[Cancelled], Any]:
        subject = state.lab.subject
        assert subject is not None

        def find(cancelled: Cancelled) -> Any:
            from model_core.training.watched_pair import watched_pair

            data = SHELF.data(subject, cancelled)
            return data.facts(subject.settings), watched_pair(data)

        return lambda cancelled: attempted(lambda: find(cancelled))

    def answer(self, state: ViewState, key: Hashable, result: Any) -> ViewState:
        if isinstance(result, Refusal):
            return lab_actions.refuse_subject(state, key, result.reason)
        return state if result is None else lab_actions.show_facts(state, key, *result)


def _is_refused(subject: Subject) -> bool:
    """Whether the data cannot be had with these settings, which is said beside their fields."""
    from model_core.training.problems import problems

    return any(found.field in lab_actions.OF_THE_DATA for found in problems(subject.settings))


def _sound(state: ViewState) -> Subject | None:
    """What is to be learned, once all that is known of it and of its data belongs together."""
    subject = _subject(state)
    if subject is None or subject.facts is None or subject.unread:
        return None
    return subject if subject.facts_key == lab_actions.facts_key(subject) else None


class EstimateInquiry(Inquiry):
    """What the run will take, but for the time."""

    def wanted(self, state: ViewState) -> Hashable | None:
        subject = _sound(state)
        return None if subject is None else lab_actions.timing_key(subject)

    def answered(self, state: ViewState) -> Hashable | None:
        subject = _subject(state)
        known = None if subject is None else subject.estimate_key
        return known if isinstance(known, tuple) else None

    def work(self, state: ViewState) -> Callable[[Cancelled], Any]:
        subject = state.lab.subject
        assert subject is not None and subject.facts is not None
        settings, facts = subject.settings, subject.facts

        def find() -> Any:
            from model_core.training.estimates import estimate
            from model_core.training.problems import problems

            return None if problems(settings, facts) else estimate(settings, facts)

        return lambda cancelled: attempted(find)

    def answer(self, state: ViewState, key: Hashable, result: Any) -> ViewState:
        if result is None or isinstance(result, Refusal):
            return state
        return lab_actions.show_estimate(state, key, result)


def trial(subject: Subject) -> tuple[Any, float]:
    """Settings to try steps with, and the share of a step that one of these is.

    A step cannot be broken off, and what is asked next waits for it: a very large one is tried
    with fewer pairs.
    """
    import msgspec

    from model_core.training.estimates import largest_batch

    assert subject.facts is not None and subject.estimate is not None
    settings = subject.settings
    rows, sources, targets = largest_batch(settings, subject.facts)
    a_row = subject.estimate.parameters * max(sources, targets)
    fewer = max(1, min(rows, MOST_TRIED // max(1, a_row)))
    if fewer == rows:
        return settings, 1.0
    return msgspec.structs.replace(settings, batch_size=fewer), fewer / rows


class TimingInquiry(Inquiry):
    """How long a step takes, by trying a few once the settings rest."""

    delay = 900

    def wanted(self, state: ViewState) -> Hashable | None:
        subject = _sound(state)
        if subject is None or state.lab.is_training:
            return None
        found = subject.estimate_key == lab_actions.timing_key(subject)
        return lab_actions.pace_key(subject) if found else None

    def answered(self, state: ViewState) -> Hashable | None:
        subject = _subject(state)
        known = None if subject is None else subject.seconds_key
        return known if isinstance(known, tuple) else None

    def work(self, state: ViewState) -> Callable[[Cancelled], Any]:
        subject = state.lab.subject
        assert subject is not None and subject.estimate is not None
        found, (settings, share) = subject.estimate, trial(subject)

        def find(cancelled: Cancelled) -> Any:
            from model_core.training.estimates import timed
            from model_core.training.lab_data import prepare

            prepared = prepare(SHELF.data(subject, cancelled), settings)
            if cancelled():
                return None
            return timed(found, prepared, settings, TRIED).seconds_per_step / share

        return lambda cancelled: attempted(lambda: find(cancelled))

    def answer(self, state: ViewState, key: Hashable, result: Any) -> ViewState:
        if result is None or isinstance(result, Refusal):
            return state
        return lab_actions.show_timing(state, key, result)


class FilmInquiry(Inquiry):
    """What the snapshots make of the probe, a few at a time: those first that are on show."""

    def wanted(self, state: ViewState) -> Hashable | None:
        lab = state.lab
        if state.page != "train" or lab.step != "training" or lab.training is None or not lab.probe:
            return None
        missing = missing_steps(lab)[:AT_ONCE]
        return (lab.training.number, lab.probe, missing) if missing else None

    def answered(self, state: ViewState) -> Hashable | None:
        return None

    def work(self, state: ViewState) -> Callable[[Cancelled], Any]:
        lab = state.lab
        return lambda cancelled: attempted(lambda: shots_of(lab, cancelled))

    def answer(self, state: ViewState, key: Hashable, result: Any) -> ViewState:
        number, probe, _ = key  # type: ignore[misc]
        if isinstance(result, Refusal):
            return lab_orders.refuse_probe(state, probe, result.reason)
        return lab_orders.take_shots(state, number, probe, result)


class CheckInquiry(Inquiry):
    """The gradients of a step against finite differences, once asked for."""

    def wanted(self, state: ViewState) -> Hashable | None:
        check = state.lab.check
        return check if check is not None and check.results is None and not check.reason else None

    def answered(self, state: ViewState) -> Hashable | None:
        return None

    def work(self, state: ViewState) -> Callable[[Cancelled], Any]:
        lab = state.lab
        return lambda cancelled: attempted(lambda: checked(lab, cancelled))

    def answer(self, state: ViewState, key: Hashable, result: Any) -> ViewState:
        assert isinstance(key, Check)
        if isinstance(result, Refusal):
            return lab_orders.take_check(state, key, None, result.reason)
        return lab_orders.take_check(state, key, result)
