"""What the training lab shows: what is to be learned, how, and what came of it so far.

No Qt, and nothing of the core is imported before there is something to train: the lab is part of
every start. Everything here is compared by identity; actions give the same thing where nothing
changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from model_core.config import ModelConfig
    from model_core.training.cleaning import CleaningReport
    from model_core.training.data_files import Look, Reading
    from model_core.training.estimates import Estimate
    from model_core.training.held_out import Evaluation
    from model_core.training.lab_data import DataSource, Facts
    from model_core.training.loop import Progress
    from model_core.training.settings import Settings

# What the lab has on show: the choice of data, a file that is looked at, the settings, a training.
Step = Literal["choose", "file", "settings", "training"]
# What lies below the curves: the film, two of its frames side by side, tables.
LabView = Literal["film", "pair", "tables"]
Attention = Literal["cross", "encoder", "decoder"]
Status = Literal["starting", "running", "paused", "finished", "stopped", "failed"]
ENDED: tuple[Status, ...] = ("finished", "stopped", "failed")


@dataclass(frozen=True, eq=False)
class Order:
    """Something that the user wants done beside the window; the newest one alone counts."""

    number: int = 0
    kind: str = ""
    value: Any = None


@dataclass(frozen=True, eq=False)
class FileImport:
    """A file of pairs that is looked at.

    look: as it would be read; None until that is known; report: of all its lines, once read
    suited: settings to start from, once read    refusal: why it cannot be read as wished
    came: the step that one was at when it was chosen; before: the file that there was then
    back: where the way back leads
    """

    path: str
    reading: Reading
    look: Look | None = None
    report: CleaningReport | None = None
    suited: Settings | None = None
    refusal: str = ""
    came: Step = "choose"
    before: FileImport | None = None
    back: Step = "choose"


@dataclass(frozen=True, eq=False)
class Subject:
    """What is to be learned: data by their source, what they are called, what is known of them.

    facts: what the settings are judged by, and for what they were found
    """

    source: DataSource
    title: str
    settings: Settings
    facts: Facts | None = None
    facts_key: Any = None
    # a held-out pair, to watch the training by
    example: tuple[str, str] | None = None
    # what the run will take, and with which settings
    estimate: Estimate | None = None
    estimate_key: Any = None
    # seconds of a step, as tried out, and with what
    seconds_a_step: float | None = None
    seconds_key: Any = None
    # texts of fields that are no value yet: (name, text)
    unread: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class Shot:
    """What a snapshot makes of the probe sentence.

    attentions: (H,·,·) weights by site; rows, columns: tokens that decoder and encoder read
    predicted: the token that each row of the decoder gave; probabilities: how likely each was
    is_ended: whether the last of them ends the output and is no part of its text
    telling: (H,) by site of a cross-attention, how much its rows tell the source's tokens apart
    """

    step: int
    probe: str
    attentions: dict[str, np.ndarray]
    rows: tuple[str, ...]
    predicted: tuple[str, ...]
    columns: tuple[str, ...]
    output: str
    probabilities: tuple[float, ...] = ()
    expected: str | None = None
    is_ended: bool = False
    telling: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def is_right(self) -> bool:
        return self.expected is not None and self.output == self.expected


# So many frames of the film are beside each other at most.
MOST_FRAMES = 9
# As many columns as the core's history has, see model_core.training.history.
NO_STEPS = np.zeros((0, 11))


@dataclass(frozen=True, eq=False)
class Training:
    """A training and what it has told so far; number is that of the order that began it.

    steps: (n,11) the core's history, a row for each step so far
    snapshots: the pictures of the core's film, in order
    began: the step at which it was begun, or gone on with: that of the first snapshot
    watched: the pair to watch it by, see the core; n_held_out: pairs to measure on, once known
    evaluate_every: after how many steps each time
    layers, norm_rows: of the core's history too, (n,1+2L): a step, then two norms of each layer
    evaluations: those that are kept with their examples, in order
    """

    number: int
    subject: Subject
    status: Status = "starting"
    config: ModelConfig | None = None
    total: int = 0
    step: int = 0
    steps: np.ndarray = field(default_factory=lambda: NO_STEPS)
    last: Progress | None = None
    evaluation: Evaluation | None = None
    layers: tuple[str, ...] = ()
    norm_rows: np.ndarray = field(default_factory=lambda: np.zeros((0, 1)))
    evaluations: tuple[Evaluation, ...] = ()
    snapshots: tuple[Any, ...] = ()
    bytes_kept: int = 0
    budget: int = 0
    seconds_a_step: float | None = None
    tokenizer: Any = None
    # what is known of a model that is not trained yet
    card: Any = None
    # the model as it was in the end, once it is over
    final: Any = None
    too_long: int = 0
    began: int = 0
    watched: tuple[str, str] | None = None
    n_held_out: int | None = None
    evaluate_every: int = 0
    n_parameters: int = 0
    n_bytes: int = 0
    # after which step it was saved last, where ("" is nowhere), and every how many seconds
    saved_step: int | None = None
    checkpoint: str = ""
    save_seconds: float = 0.0
    # why it ended before its time, as the core says it, and what there is to know beyond that
    reason: str = ""
    details: str = ""

    @property
    def is_over(self) -> bool:
        return self.status in ENDED

    @property
    def seconds_left(self) -> float | None:
        """At the speed of the last steps; None where that is not known yet."""
        if self.seconds_a_step is None or self.is_over:
            return None
        return max(self.total - self.step, 0) * self.seconds_a_step


@dataclass(frozen=True, eq=False)
class Check:
    """The gradients of a step with the weights of a snapshot, against finite differences.

    results: of every parameter, None until they have come; reason: why they cannot come
    """

    number: int
    step: int
    results: tuple[Any, ...] | None = None
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Unfinished:
    """A training that can go on: where it lies, what it is of, how far it came, when it was saved.

    when: seconds since 1970
    """

    path: Path
    subject: Subject
    step: int
    when: float = 0.0


@dataclass(frozen=True, eq=False)
class Damaged:
    """A training that cannot go on, for none of its checkpoints can be read: where, and why.

    reason: of the last checkpoint, as the core says it    when: seconds since 1970
    """

    path: Path
    reason: str
    when: float = 0.0


@dataclass(frozen=True, eq=False)
class FilmChoice:
    """What was chosen for the film of a training: whose attention, and of which sentence."""

    attention: Attention
    layer: int
    head: int
    is_chosen: bool
    probe: str
    expected: str | None


@dataclass(frozen=True, eq=False)
class Lab:
    """The one field of the view's state that the training lab has.

    shown: the step of the snapshot that is looked at, None follows the newest
    marked: the one it is compared with, None the first
    attention, layer, head: whose attention the film shows, from 0; is_chosen: by the user
    shots: what snapshots make of the probe, for as long as it is this one
    earlier: the probe before, and its expected output
    refused: what was typed as a probe and cannot be one, the key of why, and its values
    unfinished: trainings that were not ended and can go on, the one saved last first
    damaged: those that cannot go on any more
    films: what was chosen for the films of trainings that may be taken up, by their checkpoints
    used: the settings that were last on show, by source
    home: where the way back from the settings leads
    """

    step: Step = "choose"
    file: FileImport | None = None
    subject: Subject | None = None
    training: Training | None = None
    view: LabView = "film"
    shown: int | None = None
    marked: int | None = None
    attention: Attention = "cross"
    layer: int = 0
    head: int = 0
    is_chosen: bool = False
    probe: str = ""
    expected: str | None = None
    shots: tuple[Shot, ...] = ()
    earlier: tuple[str, str | None] = ("", None)
    refused: tuple[str, str, dict[str, Any]] | None = None
    check: Check | None = None
    unfinished: tuple[Unfinished, ...] = ()
    damaged: tuple[Damaged, ...] = ()
    films: dict[str, FilmChoice] = field(default_factory=dict)
    used: dict[Any, Settings] = field(default_factory=dict)
    home: Step = "choose"
    order: Order = field(default_factory=Order)

    @property
    def is_training(self) -> bool:
        return self.training is not None and not self.training.is_over


def site_of(lab: Lab) -> str:
    """The attention that the film shows."""
    if lab.attention == "encoder":
        return f"encoder.layers.{lab.layer}.self_attn.weights"
    kind = "cross_attn" if lab.attention == "cross" else "self_attn"
    return f"decoder.layers.{lab.layer}.{kind}.weights"


def shot_at(lab: Lab, step: int) -> Shot | None:
    """What the snapshot of this step makes of the probe, once that is known."""
    found = (shot for shot in lab.shots if shot.step == step and shot.probe == lab.probe)
    return next(found, None)


def snapshot_steps(lab: Lab) -> tuple[int, ...]:
    """The steps of the snapshots that were kept."""
    kept = lab.training.snapshots if lab.training is not None else ()
    return tuple(int(snapshot.step) for snapshot in kept)


def chosen_steps(steps: tuple[int, ...], room: int, shown: int | None = None) -> tuple[int, ...]:
    """At most so many of the snapshots, evenly spaced; the newest and the shown one among them.

    Those at every so-manieth step, which doubles as more are coming: not by their number, for the
    newer ones lie closer together.
    """
    chosen = [*steps]
    if len(steps) > max(room, 2):
        # the last one may lie between two that are due
        every = min(after - before for before, after in pairwise(steps[:-1]))
        while len(chosen) > max(room - 1, 1):
            chosen = [step for step in steps if (step - steps[0]) % every == 0]
            every *= 2
    if steps and chosen[-1] != steps[-1]:
        chosen.append(steps[-1])
    if shown is not None and shown in steps and shown not in chosen:
        inner = range(1, len(chosen) - 1)
        if len(chosen) >= room and inner:
            chosen[min(inner, key=lambda n: abs(chosen[n] - shown))] = shown
        else:
            chosen.append(shown)
    return tuple(sorted(chosen))


def shown_step(lab: Lab) -> int | None:
    """The step of the snapshot that is looked at; of one that was given up since, the nearest."""
    steps = snapshot_steps(lab)
    if not steps:
        return None
    wish = lab.shown
    return steps[-1] if wish is None else min(steps, key=lambda step: abs(step - wish))


def marked_step(lab: Lab) -> int | None:
    """The step of the snapshot that the shown one is compared with."""
    steps = snapshot_steps(lab)
    if not steps:
        return None
    wish = steps[0] if lab.marked is None else lab.marked
    return min(steps, key=lambda step: abs(step - wish))
