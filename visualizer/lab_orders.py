"""A training from its beginning to its end, and its film: (ViewState, ...) -> ViewState.

What has to be done beside the window is an order in the state; whoever trains takes it from there
and brings the news.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from visualizer import actions
from visualizer.conversation import chat_rules
from visualizer.lab import (
    Attention,
    Check,
    FilmChoice,
    Lab,
    LabView,
    Shot,
    Training,
    marked_step,
    shown_step,
    snapshot_steps,
)
from visualizer.lab_actions import ordered, with_lab
from visualizer.lab_film import known_target, wrong_probe
from visualizer.state import ModelEntry, Station, ViewState

Command = Literal["pause", "resume", "one_batch", "stop"]
# By so much another head has to tell more than the one on show to take its place.
LEAD = 0.1

# Orders.


def begin(state: ViewState) -> ViewState:
    """Train what is chosen with the settings as they are; one that is under way is set aside."""
    lab = state.lab
    subject = lab.subject
    if subject is None or subject.unread:
        return state
    told = ordered(lab, "start", subject)
    begun = fresh(told, Training(told.order.number, subject))
    if subject.example is not None:
        begun = replace(begun, probe=subject.example[0], expected=subject.example[1] or None)
    used = {**lab.used, subject.source: subject.settings}
    # what was said of another training is over
    return replace(actions.dismiss_notice(state), lab=replace(begun, used=used))


def with_film_of(lab: Lab, checkpoint: Path) -> Lab:
    """The film as it was chosen when the training that lies there was last on show."""
    chosen = lab.films.get(str(checkpoint))
    return lab if chosen is None else replace(lab, **vars(chosen))


def fresh(lab: Lab, training: Training) -> Lab:
    """The lab with nothing of an earlier training, but for what was chosen for its film."""
    films, before = lab.films, lab.training
    if before is not None and before.checkpoint:
        names = ("attention", "layer", "head", "is_chosen", "probe", "expected")
        chosen = FilmChoice(**{name: getattr(lab, name) for name in names})
        films = {**films, before.checkpoint: chosen}
    return replace(
        lab,
        step="training",
        training=training,
        films=films,
        shown=None,
        marked=None,
        probe="",
        expected=None,
        earlier=("", None),
        refused=None,
        shots=(),
        check=None,
        view="film",
        attention="cross",
        layer=0,
        head=0,
        is_chosen=False,
    )


def command(state: ViewState, wish: Command) -> ViewState:
    """Pause, go on, take one step, or end the training and keep its model."""
    training = state.lab.training
    if training is None or training.is_over:
        return state
    return replace(state, lab=ordered(state.lab, wish))


def toggle_pause(state: ViewState) -> ViewState:
    training = state.lab.training
    if training is None:
        return state
    return command(state, "resume" if training.status == "paused" else "pause")


def keep(state: ViewState) -> ViewState:
    """Try again to write the model of a training that is over, where that has failed."""
    training = state.lab.training
    if training is None or not is_unkept(training):
        return state
    return replace(state, lab=ordered(state.lab, "keep"))


def is_unkept(training: Training) -> bool:
    """Whether a training is over and its model in no file."""
    return training.is_over and training.final is not None and training.final.path is None


def check(state: ViewState) -> ViewState:
    """Compare the gradients of a step with the shown weights with finite differences."""
    lab = state.lab
    step = shown_step(lab)
    if lab.training is None or step is None:
        return state
    return with_lab(state, check=Check(lab.training.number, step))


def open_shown(state: ViewState) -> ViewState:
    """The snapshot that is looked at is to take the stage."""
    step = shown_step(state.lab)
    return state if step is None else replace(state, lab=ordered(state.lab, "open", step))


def open_final(state: ViewState) -> ViewState:
    """The model as a training has left it is to take the stage; where there is none, the shown."""
    training = state.lab.training
    if training is None or training.final is None:
        return open_shown(state)
    return replace(state, lab=ordered(state.lab, "open", training.step))


def export_history(state: ViewState, path: Path) -> ViewState:
    """Write the history so far as a table."""
    if state.lab.training is None:
        return state
    return replace(state, lab=ordered(state.lab, "export", path))


def save_snapshot(state: ViewState, entry: ModelEntry, path: Path) -> ViewState:
    """Write a snapshot as a checkpoint: as it was chosen, for the film may give it up meanwhile."""
    return replace(state, lab=ordered(state.lab, "save", (entry, path)))


def set_probe(state: ViewState, probe: str, expected: str | None = None) -> ViewState:
    """The film is to be of another sentence; one that cannot be is refused, and it stays.

    expected: what should come; None where it may be known from the training's own pairs
    """
    lab = state.lab
    if probe == lab.probe:
        return state if lab.refused is None else with_lab(state, refused=None)
    wrong = wrong_probe(lab.training, probe)
    if wrong is not None:
        return with_lab(state, refused=(probe, *wrong))
    if expected is None:
        expected = known_target(lab.training, probe)
    before = (lab.probe, lab.expected)
    return with_lab(state, probe=probe, expected=expected, shots=(), earlier=before, refused=None)


def forget_refusal(state: ViewState) -> ViewState:
    """What could not be a probe is typed anew."""
    return state if state.lab.refused is None else with_lab(state, refused=None)


# News.


def take_news(state: ViewState, number: int, **values: Any) -> ViewState:
    """What a training tells; of an older one than that on show it is dropped."""
    lab = state.lab
    if lab.training is None or lab.training.number != number:
        return state
    probe = values.pop("probe", None)
    lab = replace(lab, training=replace(lab.training, **values))
    if probe is not None and not lab.probe:
        lab = replace(lab, probe=probe[0], expected=probe[1])
    config, before = values.get("config"), state.lab.training
    watched = values.get("watched")
    if watched is not None and _is_first(state.lab):
        lab = replace(lab, probe=watched[0], expected=watched[1] or None)
    elif config is not None and wrong_probe(lab.training, lab.probe):
        # an evaluation has shorter ones
        lab = replace(lab, probe="", expected=None)
    if config is not None and before is not None and before.config is None and not lab.is_chosen:
        settings = lab.training.subject.settings if lab.training is not None else None
        if settings is not None and settings.alignment_loss:
            lab = replace(lab, layer=settings.alignment_layer, head=settings.alignment_head)
        else:
            # where heads form that look at one token
            lab = replace(lab, layer=config.n_decoder_layers - 1)
    return replace(state, lab=lab)


def _is_first(lab: Lab) -> bool:
    """Whether the probe is still the one that the training was begun with."""
    example = lab.training.subject.example if lab.training is not None else None
    return lab.probe == ("" if example is None else example[0])


def take_check(state: ViewState, asked: Check, results: Any, reason: str = "") -> ViewState:
    """What the check of the gradients has found."""
    if state.lab.check is not asked:
        return state
    return with_lab(state, check=replace(asked, results=results, reason=reason))


def take_shots(state: ViewState, number: int, probe: str, shots: tuple[Shot, ...]) -> ViewState:
    """What some more snapshots make of the probe."""
    lab = state.lab
    if lab.training is None or lab.training.number != number or lab.probe != probe:
        return state
    alive = set(snapshot_steps(lab))
    kept = {shot.step: shot for shot in (*lab.shots, *shots) if shot.step in alive}
    found = replace(lab, shots=tuple(kept[step] for step in sorted(kept)))
    return replace(state, lab=with_telling_head(found))


def with_telling_head(lab: Lab) -> Lab:
    """The film is of the cross-attention head that tells most, as the newest snapshot has it.

    Not where the user has chosen a head, or the training guides one: that one is shown then.
    """
    training = lab.training
    if lab.is_chosen or not lab.shots or training is None:
        return lab
    if training.subject.settings.alignment_loss or lab.attention != "cross":
        return lab
    heads = [
        (float(value), int(site.split(".")[2]), head)
        for site, values in lab.shots[-1].telling.items()
        for head, value in enumerate(values)
    ]
    here = next((value for value, *place in heads if place == [lab.layer, lab.head]), 0.0)
    best, layer, head = max(heads, default=(0.0, lab.layer, lab.head))
    # two that tell about as much do not take turns
    return replace(lab, layer=layer, head=head) if best > here + LEAD else lab


def refuse_probe(state: ViewState, probe: str, reason: str) -> ViewState:
    """The probe cannot be read: one sentence, and the film of the one before."""
    lab = state.lab
    if lab.probe != probe:
        return state
    refused = (probe, "lab.probe.wrong", {"reason": reason})
    before, expected = lab.earlier if lab.earlier[0] != probe else ("", None)
    return with_lab(
        state, probe=before, expected=expected, earlier=("", None), refused=refused, shots=()
    )


def open_model(state: ViewState, entry: ModelEntry, sentence: str = "") -> ViewState:
    """A snapshot, or the trained model, takes the stage; the way back leads to the lab."""
    here = Station("train", state.showing, state.cursor, state.head, None, None)
    opened = actions.open_model(state, entry)
    # a chat model is asked, and reads no sentence
    if sentence and chat_rules(entry) is None:
        opened = actions.edit_source(opened, sentence)
    page = "record" if opened.page == "train" else opened.page
    return replace(opened, page=page, trail=(here,))


# The film.


def show_step(state: ViewState, step: int | None) -> ViewState:
    """Look at a snapshot; at the last one means at each new one as it comes."""
    steps = snapshot_steps(state.lab)
    wish = None if step is None or (steps and step >= steps[-1]) else step
    return state if wish == state.lab.shown else with_lab(state, shown=wish)


def step_on(state: ViewState, way: int) -> ViewState:
    """The snapshot after the shown one, or before it."""
    steps, here = snapshot_steps(state.lab), shown_step(state.lab)
    if here is None:
        return state
    place = min(max(steps.index(here) + way, 0), len(steps) - 1)
    return show_step(state, steps[place])


def mark_step(state: ViewState, step: int) -> ViewState:
    """Compare the shown snapshot with this one."""
    if step == shown_step(state.lab):
        return state
    return with_lab(state, marked=step, view="pair")


def swap_marked(state: ViewState) -> ViewState:
    """Look at the one that was compared with, and compare with the one looked at."""
    lab = state.lab
    return with_lab(state, shown=marked_step(lab), marked=shown_step(lab))


def set_view(state: ViewState, view: LabView) -> ViewState:
    return state if view == state.lab.view else with_lab(state, view=view)


def set_attention(state: ViewState, attention: Attention) -> ViewState:
    """The kind of attention that the film shows, of a layer that there is."""
    lab = state.lab
    if attention == lab.attention or lab.training is None or lab.training.config is None:
        return state
    layer = min(lab.layer, depth(lab, attention) - 1)
    return with_lab(state, attention=attention, layer=layer, is_chosen=True)


def set_layer(state: ViewState, layer: int) -> ViewState:
    lab = state.lab
    if not 0 <= layer < depth(lab, lab.attention) or layer == lab.layer:
        return state
    return with_lab(state, layer=layer, is_chosen=True)


def set_head(state: ViewState, head: int) -> ViewState:
    lab = state.lab
    config = lab.training.config if lab.training is not None else None
    if config is None or not 0 <= head < config.n_heads:
        return state
    if head == lab.head and lab.is_chosen:
        return state
    return with_lab(state, head=head, is_chosen=True)


def depth(lab: Lab, attention: Attention) -> int:
    """How many layers have this kind of attention; at least 1."""
    config = lab.training.config if lab.training is not None else None
    if config is None:
        return 1
    return config.n_encoder_layers if attention == "encoder" else config.n_decoder_layers
