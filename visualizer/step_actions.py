"""What one asks of a training step under the glass: (ViewState, ...) -> ViewState."""

from __future__ import annotations

from dataclasses import replace

from visualizer.state import ViewState, reads_matrix
from visualizer.step_view import MOST_PAIRS, TRIED_STEPS, StageName

LARGEST_SEED = 999_999


def can_step(state: ViewState) -> bool:
    """Whether this model can be trained on pairs of texts."""
    entry = state.model
    return entry is not None and not reads_matrix(entry) and entry.model.config.n_decoder_layers > 0


def pairs_of(state: ViewState) -> tuple[tuple[str, str], ...]:
    """The pairs that the step is taken on: those typed, else the sentence and its output."""
    typed = state.training_step.pairs
    if typed or state.run is None:
        return typed
    return ((state.run.inputs.source, state.run.text),)


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


def take_pairs(state: ViewState, pairs: tuple[tuple[str, str], ...]) -> ViewState:
    """Pairs that the task's generator has drawn."""
    drawn = state.training_step.drawn + 1
    taken = _with_pairs(state, pairs[:MOST_PAIRS])
    return replace(taken, training_step=replace(taken.training_step, drawn=drawn))


def set_seed(state: ViewState, seed: int) -> ViewState:
    """Other dropout masks."""
    return _changed(state, seed=min(max(seed, 0), LARGEST_SEED))


def set_fresh(state: ViewState, fresh: bool) -> ViewState:
    """Weights that have learned nothing yet, or the model's own."""
    return _changed(state, fresh=fresh)


def toggle_mistake(state: ViewState, name: str) -> ViewState:
    """Make a classic mistake, or no longer. One mask cannot be off by one in both ways."""
    made = state.training_step.mistakes ^ {name}
    if name in made:
        made -= {"looks_ahead", "hides_itself"} - {name} if name in _OFF_BY_ONE else frozenset()
    return _changed(state, mistakes=frozenset(made), trying=False)


_OFF_BY_ONE = frozenset({"looks_ahead", "hides_itself"})


def show_stage(state: ViewState, stage: StageName) -> ViewState:
    return _changed(state, stage=stage)


def look_at_sentence(state: ViewState, sentence: int) -> ViewState:
    """Whose pictures are on show, from 0."""
    return _changed(state, sentence=min(max(sentence, 0), len(pairs_of(state)) - 1))


def look_at_mask(state: ViewState, site: str) -> ViewState:
    return _changed(state, mask=site)


def look_at_site(state: ViewState, site: str) -> ViewState:
    """Whose gradient is on show."""
    return _changed(state, site=site)


def look_at_parameter(
    state: ViewState, name: str, cell: tuple[int, ...] | None = None
) -> ViewState:
    """Which weight's update is spelled out; None for the one with the largest gradient."""
    return _changed(state, parameter=name, cell=cell)


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
    return _changed(state, pairs=pairs, sentence=sentence)


def _changed(state: ViewState, **values: object) -> ViewState:
    view = replace(state.training_step, **values)  # type: ignore[arg-type]
    return replace(state, training_step=view) if view != state.training_step else state
