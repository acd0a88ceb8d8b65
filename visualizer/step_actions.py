"""What one asks of a training step under the glass: (ViewState, ...) -> ViewState."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, Literal

from visualizer.actions import select_head, show_page
from visualizer.lab_film import known_target
from visualizer.state import ViewState, reads_matrix
from visualizer.step_view import MOST_PAIRS, TRIED_STEPS, Look, Paused, StageName, Weights

LARGEST_SEED = 999_999
LONGEST_TRAIL = 100
FIRST_DRAWN = 4


def can_step(state: ViewState) -> bool:
    """Whether there is a step to be shown: of a training, or of a model that can be trained."""
    return weights_of(state) == "paused" or can_train(state)


def can_train(state: ViewState) -> bool:
    """Whether the model on show can be trained on pairs of texts."""
    entry = state.model
    return entry is not None and not reads_matrix(entry) and entry.model.config.n_decoder_layers > 0


def paused_training(state: ViewState) -> Paused | None:
    """The lab's training where it stands still and has been saved as it is."""
    training = state.lab.training
    if training is None or training.status != "paused" or training.saved_step != training.step:
        return None
    return Paused(training.number, training.step, training.checkpoint)


def weights_of(state: ViewState) -> Weights:
    """Whose weights the step begins with: those wished for, while there are any."""
    wish, training = state.training_step.weights, state.lab.training
    if wish == "paused" and (training is None or training.is_over):
        return "trained"
    return wish


def pairs_of(state: ViewState) -> tuple[tuple[str, str], ...]:
    """The pairs that the step is taken on: those typed, else the sentence and what should come.

    That is the model's own output where nobody knows better. A training has its own pairs.
    """
    if weights_of(state) == "paused":
        return ()
    typed = state.training_step.pairs
    if typed or state.run is None:
        return typed
    target, _ = _target_of(state)
    return ((state.run.inputs.source, target),)


# Where a target comes from: somebody knows it, or it is what the model says, as far as that fits.
TargetKind = Literal["known", "own", "own_cut"]


def target_kind(state: ViewState, pairs: tuple[tuple[str, str], ...]) -> TargetKind:
    """Where the target of these pairs comes from; what is typed over an output counts as known."""
    own = state.run is not None and not state.training_step.pairs and pairs == pairs_of(state)
    return _target_of(state)[1] if own else "known"


def _target_of(state: ViewState) -> tuple[str, TargetKind]:
    """What should come of the sentence on show, and who says so."""
    run, entry = state.run, state.model
    assert run is not None
    if entry is None or reads_matrix(entry):
        return run.text, "own"
    words, limit = entry.model.tokenizer, entry.model.config.max_seq_len
    training = state.lab.training
    # a snapshot of the training on show, or its model, has its tokenizer
    if training is not None and training.tokenizer is not None:
        final = training.final
        is_its = words is training.tokenizer or (
            final is not None and words is final.model.tokenizer
        )
        known = known_target(training, run.inputs.source) if is_its else None
        if known:
            written = _as_written(words, known)
            if _fitting(words, written, limit) == written:
                return written, "known"
    fitted = _fitting(words, run.text, limit)
    return fitted, "own" if fitted == run.text else "own_cut"


@lru_cache(maxsize=8)
def _as_written(words: Any, text: str) -> str:
    from model_core.training.step_sources import as_written

    return as_written(words, text)


@lru_cache(maxsize=8)
def _fitting(words: Any, text: str, limit: int) -> str:
    """The text, or as much of its beginning as there is room for with the token that ends it."""
    ids, kept = words.encode_target(text).ids, limit - 1
    while len(ids) > limit - 1 and kept > 0:
        # what is cut may be read as more tokens than it had
        text, kept = words.decode(ids[:kept]), kept - 1
        ids = words.encode_target(text).ids
    return text


def set_pair(state: ViewState, number: int, side: int, text: str) -> ViewState:
    """Another source (side 0) or target (1) of a pair."""
    pairs = [list(pair) for pair in pairs_of(state)]
    if not 0 <= number < len(pairs):
        return state
    pairs[number][side] = text
    return _with_pairs(state, tuple((source, target) for source, target in pairs))


def add_pair(state: ViewState) -> ViewState:
    """One more pair, to be typed over: the last one once more."""
    pairs = pairs_of(state)
    if not pairs or len(pairs) >= MOST_PAIRS:
        return state
    return _with_pairs(state, (*pairs, pairs[-1]))


def drop_pair(state: ViewState) -> ViewState:
    """The last pair goes; one is left."""
    pairs = pairs_of(state)
    return _with_pairs(state, pairs[:-1]) if len(pairs) > 1 else state


def pairs_to_draw(state: ViewState) -> int:
    """So many as there are; at first enough to see how a batch is filled up."""
    here, drawn = len(pairs_of(state)), state.training_step.drawn
    return max(here, 1 if drawn else FIRST_DRAWN)


def take_pairs(state: ViewState, pairs: tuple[tuple[str, str], ...]) -> ViewState:
    """Pairs that the task's generator has drawn."""
    drawn = state.training_step.drawn + 1
    taken = _with_pairs(state, pairs[:MOST_PAIRS])
    return replace(taken, training_step=replace(taken.training_step, drawn=drawn))


def set_seed(state: ViewState, seed: int) -> ViewState:
    """Other dropout masks."""
    return _changed(state, seed=min(max(seed, 0), LARGEST_SEED))


def set_weights(state: ViewState, weights: Weights) -> ViewState:
    """Whose weights the step begins with; what is looked at then is the new step's own."""
    changed = _changed(state, weights=weights, checking=False, trying=False)
    taken = "paused" in (weights_of(state), weights_of(changed))
    if not taken or changed is state:
        return changed
    look = Look(stage=state.training_step.stage)
    return _changed(changed, trail=(), **_values(look))


def look_at_training(state: ViewState) -> ViewState:
    """The step that the lab's training takes next, from its batch on."""
    if paused_training(state) is None:
        return state
    shown = set_weights(show_page(state, "step"), "paused")
    return show_stage(shown, "batch")


def toggle_step(state: ViewState) -> ViewState:
    """To the step and back, where there is one."""
    if state.page == "step":
        return show_page(state, "record")
    return show_page(state, "step") if can_step(state) else state


def toggle_mistake(state: ViewState, name: str) -> ViewState:
    """Make a classic mistake, or no longer. One mask cannot be off by one in both ways."""
    made = state.training_step.mistakes ^ {name}
    if name in made:
        made -= {"looks_ahead", "hides_itself"} - {name} if name in _OFF_BY_ONE else frozenset()
    return _changed(state, mistakes=frozenset(made), trying=False)


_OFF_BY_ONE = frozenset({"looks_ahead", "hides_itself"})


def show_stage(state: ViewState, stage: StageName) -> ViewState:
    return _changed(state, stage=stage, spot=None)


def look_at_sentence(state: ViewState, sentence: int) -> ViewState:
    """Whose pictures are on show, from 0; beyond the last one it is the last."""
    return _changed(state, sentence=max(sentence, 0), spot=None)


def look_at_record(state: ViewState, site: str) -> ViewState:
    """Whose values are on show."""
    return _changed(state, record=site, spot=None)


def list_masks_alone(state: ViewState, alone: bool) -> ViewState:
    return _changed(state, masks_alone=alone)


def look_at_site(state: ViewState, site: str) -> ViewState:
    """Whose gradient is on show."""
    return _changed(state, site=site, spot=None)


def look_at_parameter(
    state: ViewState, name: str, cell: tuple[int, ...] | None = None
) -> ViewState:
    """Which weight's update is spelled out; None for the one with the largest gradient."""
    return _changed(state, parameter=name, cell=cell)


def hold(state: ViewState, spot: tuple[int, ...] | None) -> ViewState:
    """Keep to the arithmetic of one cell of the picture; None goes with the pointer."""
    return _changed(state, spot=spot)


def follow(state: ViewState, there: Look, head: int | None = None) -> ViewState:
    """Go where a number was read, with a way back; head: where it has one, from 0."""
    view = state.training_step
    here = Look(**_values(view))  # type: ignore[arg-type]
    trail = (*view.trail, here)[-LONGEST_TRAIL:]
    gone = _changed(state, trail=trail, masks_alone=False, **_values(there))
    return gone if head is None else select_head(gone, head)


def go_back(state: ViewState) -> ViewState:
    """To where the last link was followed from."""
    view = state.training_step
    if not view.trail:
        return state
    *before, last = view.trail
    return _changed(state, trail=tuple(before), **_values(last))


def _values(look: Look) -> dict[str, object]:
    return {field.name: getattr(look, field.name) for field in fields(Look)}


def take_again(state: ViewState) -> ViewState:
    """Ask once more for a step that could not be taken."""
    return _changed(state, attempt=state.training_step.attempt + 1)


def set_checking(state: ViewState, checking: bool) -> ViewState:
    """Check all gradients, or stop. What is found already stays, unless that was all."""
    found = state.step_check
    if checking and found is not None and len(found.result.rows) == found.result.total:
        state = replace(state, step_check=None)
    return _changed(state, checking=checking)


def set_trying(state: ViewState, trying: bool) -> ViewState:
    """Train twice, with the mistakes and without, or stop; once all is done, anew."""
    found = state.mistake_run
    if trying and found is not None and len(found.result.curves.right) >= TRIED_STEPS:
        state = replace(state, mistake_run=None)
    return _changed(state, trying=trying and bool(state.training_step.mistakes))


def _with_pairs(state: ViewState, pairs: tuple[tuple[str, str], ...]) -> ViewState:
    sentence = min(state.training_step.sentence, len(pairs) - 1)
    return _changed(state, pairs=pairs, sentence=sentence, spot=None, trail=())


def _changed(state: ViewState, **values: object) -> ViewState:
    view = replace(state.training_step, **values)  # type: ignore[arg-type]
    return replace(state, training_step=view) if view != state.training_step else state
