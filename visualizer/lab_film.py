"""From a snapshot to a model and what it makes of the probe; the check of gradients. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from model_core.chat import source_of
from visualizer.cards import bundled_title
from visualizer.i18n import tr
from visualizer.lab import (
    MOST_FRAMES,
    Lab,
    Shot,
    Training,
    chosen_steps,
    marked_step,
    shown_step,
    snapshot_steps,
)
from visualizer.state import ModelEntry

if TYPE_CHECKING:
    from model_core.model import Model

# The step whose gradients are checked has so many pairs at most.
CHECKED_PAIRS = 4
# While a training runs its newest snapshot is looked at so many times.
LOOKS = 60
# A snapshot's card has so many sentences to try it with.
EXAMPLES = 8
ATTENTIONS = (".cross_attn.weights", ".self_attn.weights")


def model_at(training: Training, step: int) -> Model:
    """The model as a snapshot has it; LookupError where it was given up since."""
    from model_core.model import Model
    from model_core.parameters import parameter_shapes
    from model_core.training.snapshots import Film

    if training.final is not None and step == training.step:
        # not what the film has rounded
        final: Model = training.final.model
        return final
    config = training.config
    assert config is not None
    for frame in training.snapshots:
        if frame.step == step:
            film = Film(parameter_shapes(config), 2**62, 1, "float32")
            film.add(step, frame.flat)
            return Model(config, film.snapshot(0), training.tokenizer, card_of(training))
    raise LookupError(f"the snapshot of step {step:,} is no longer kept")


def card_of(training: Training) -> dict[str, Any]:
    """What can be said of a snapshot: its name, and something to try it with."""
    # what a chat model in training needs to be talked with is in the card that it has already
    card: dict[str, Any] = {"title": training.subject.title, **(training.card or {})}
    if training.evaluation is not None:
        examples = training.evaluation.shown[:EXAMPLES]
        card["examples"] = [shown.source for shown in examples]
    guided = training.subject.settings
    if guided.alignment_loss:
        site = f"decoder.layers.{guided.alignment_layer}.cross_attn.weights"
        card["guided_head"] = {"site": site, "head": guided.alignment_head}
    return card


def task_name(title: str) -> str:
    """What a training is called: as the bundled model of its task, or by its own title."""
    return bundled_title(title)


def name_of(training: Training) -> str:
    """What a training is called, in the language in use."""
    return task_name(training.subject.title)


def entry_at(training: Training, step: int) -> ModelEntry:
    """A snapshot as a model that can take the stage; the last one as it was kept."""
    if training.final is not None and step == training.step:
        final: ModelEntry = training.final
        return final
    title = tr("lab.snapshot", name=name_of(training), step=f"{step:,}")
    return ModelEntry(model_at(training, step), title)


def due_steps(lab: Lab) -> tuple[int, ...]:
    """The snapshots that are looked at: of the newest ones not every one while more are coming."""
    training, steps = lab.training, snapshot_steps(lab)
    if training is None or training.status != "running":
        return steps
    every = max(1, training.total // LOOKS)
    reached = training.step // every * every
    return tuple(step for step in steps if step <= reached)


def missing_steps(lab: Lab) -> tuple[int, ...]:
    """The snapshots whose picture of the probe is not known yet, the most wanted ones first."""
    known = {shot.step for shot in lab.shots if shot.probe == lab.probe}
    here, steps = shown_step(lab), due_steps(lab)
    wanted = [here if here in steps else None, marked_step(lab) if lab.view == "pair" else None]
    wanted += chosen_steps(steps, MOST_FRAMES)
    missing = (step for step in wanted if step is not None and step not in known)
    return tuple(dict.fromkeys(missing))


def wrong_probe(training: Training | None, probe: str) -> tuple[str, dict[str, Any]] | None:
    """Why no film can be made of a sentence, as a key and its values; None where one can."""
    if not probe.strip():
        return "lab.probe.empty", {}
    if training is None or training.config is None or training.tokenizer is None:
        return None
    limit = training.config.max_seq_len
    try:
        read = training.tokenizer.encode_source(source_of(training.card or {}, probe))
    except ValueError as error:
        return "lab.probe.wrong", {"reason": str(error)}
    n_tokens = len(read.ids)
    return ("lab.probe.long", {"n": n_tokens, "limit": limit}) if n_tokens > limit else None


def known_target(training: Training | None, source: str) -> str | None:
    """What should come of a source, where it is among the pairs that the training is watched by."""
    if training is None:
        return None
    pairs = [pair for pair in (training.watched, training.subject.example) if pair is not None]
    if training.evaluation is not None:
        pairs += [(shown.source, shown.expected) for shown in training.evaluation.shown]
    return next((target for known, target in pairs if known == source and target), None)


def shots_of(lab: Lab, cancelled: Callable[[], bool], most: int = 4) -> tuple[Shot, ...]:
    """What the next few snapshots make of the probe; ValueError where it cannot be read."""
    training = lab.training
    assert training is not None
    shots = []
    for step in missing_steps(lab)[:most]:
        if cancelled():
            break
        shots.append(shot_of(model_at(training, step), step, lab.probe, lab.expected))
    return tuple(shots)


def shot_of(model: Model, step: int, probe: str, expected: str | None) -> Shot:
    """What a model makes of the probe: its own output, and how it came to it."""
    encoding = model.tokenizer.encode_source(source_of(model.card, probe))
    limit = model.config.max_seq_len
    if len(encoding.ids) > limit:
        raise ValueError(f"the sentence has {len(encoding.ids)} tokens, the model reads {limit}")
    if expected is not None:
        # as the model's own output is written
        expected = model.tokenizer.decode(model.tokenizer.encode_target(expected).ids)
    done = model.generate(probe, max_new_tokens=_longest(model, expected))
    tape = done.tape
    sites = [site for site in tape.sites if site.endswith(ATTENTIONS)]
    crosses = [site for site in sites if site.endswith(ATTENTIONS[0])]
    return Shot(
        step,
        probe,
        {site: tape[site].value[0] for site in sites},
        tuple(tape.target_tokens),
        tuple(tape.predicted_tokens),
        tuple(tape.source_tokens),
        done.text,
        tuple(float(step.distribution.probabilities[step.id]) for step in done.steps),
        expected,
        done.finished,
        {site: telling_heads(tape[site].value[0]) for site in crosses},
    )


def telling_heads(weights: np.ndarray) -> np.ndarray:
    """How much the rows of each head tell the keys apart, from 0 to nearly 1.

    Sharpness less sink, two of the core's facts: 0 for a head that reads all keys alike, and for
    one whose rows all read the same key; more where each row reads one that others do not.

    weights: (H,T,S)    returns: (H,)
    """
    from model_core.attention_facts import means, row_facts, sinks

    facts = row_facts(weights, own_tokens=False)
    return np.asarray(means(facts)["sharpness"] - sinks(weights, facts.counted)[0])


def _longest(model: Model, expected: str | None) -> int | None:
    """A model that has learned nothing yet does not know when to stop."""
    if expected is None:
        return min(model.config.max_seq_len, 40)
    return min(model.config.max_seq_len, len(model.tokenizer.encode_target(expected).ids) + 4)


def checked(lab: Lab, cancelled: Callable[[], bool]) -> tuple[Any, ...]:
    """Every parameter's gradient, in a step with the shown weights, against finite differences.

    ValueError where there is no pair to take a step with.
    """
    from dataclasses import replace

    from model_core.training.step import glass_step
    from model_core.training.step_check import check_step

    training, asked = lab.training, lab.check
    assert training is not None and asked is not None
    pairs = []
    if training.evaluation is not None:
        pairs = [(s.source, s.expected) for s in training.evaluation.shown][:CHECKED_PAIRS]
    if not pairs and lab.probe and lab.expected:
        pairs = [(lab.probe, lab.expected)]
    if not pairs and training.watched is not None:
        # nothing was measured yet, and of what is typed nobody knows the answer
        pairs = [training.watched]
    settings = training.subject.settings
    # without alignments, which nobody knows of the pairs
    recipe = replace(settings.recipe(1), guided=None)
    step = glass_step(model_at(training, asked.step), pairs, recipe, settings.seed)
    return tuple(check_step(step, cells=4, cancelled=cancelled))
