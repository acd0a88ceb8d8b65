"""What one asks of gradients: (ViewState, ...) -> ViewState."""

from __future__ import annotations

from dataclasses import replace

from model_core.gradients import Target
from visualizer.state import Beside, Spot, ViewState, current_token, target_of

LOSS = Target("loss")


def aim_at(state: ViewState, row: int, token: int) -> ViewState:
    """The gradients of log p of a token of the vocabulary in a decoder row, both from 0.

    The token that the cursor's row predicts is what is shown without a choice: choosing it
    follows the cursor again. Rows and tokens that are not there change nothing.
    """
    run = state.run
    if run is None or state.model is None or not 0 <= row < run.rows:
        return state
    if not 0 <= token < len(state.model.model.tokenizer.target_vocabulary):
        return state
    wish = Target("log_prob", row, token)
    usual = target_of(replace(state, target=None))
    return _aimed(state, None if wish == usual else wish)


def aim_at_token(state: ViewState, token: int) -> ViewState:
    """Another token in the row that is asked about."""
    return aim_at(state, _row(state), token)


def aim_at_row(state: ViewState, row: int) -> ViewState:
    """Another row; a token that was not chosen is the one that the row predicts."""
    run = state.run
    if run is None or not 0 <= row < run.rows:
        return state
    if state.target is None:
        return _aimed(replace(state, cursor=replace(state.cursor, token=row)), None)
    wish = target_of(state)
    token = wish.token if wish.kind == "log_prob" else run.chosen[row]
    return aim_at(state, row, token)


def aim_at_loss(state: ViewState) -> ViewState:
    """The gradients of the loss against the target sentence, whatever the run's is."""
    return _aimed(state, LOSS)


def follow_cursor(state: ViewState) -> ViewState:
    """The gradients of what the cursor's row predicts again."""
    return _aimed(state, None)


def check_cell(state: ViewState, name: str, index: tuple[int, ...]) -> ViewState:
    """Find the gradient of this cell of a site or parameter by a finite difference too."""
    return replace(state, check=Spot(name, index))


def show_beside(state: ViewState, beside: Beside) -> ViewState:
    """What the panel at the right shows while gradients are on show."""
    return replace(state, beside_gradients=beside)


def _aimed(state: ViewState, target: Target | None) -> ViewState:
    return replace(state, target=target, share=None)


def _row(state: ViewState) -> int:
    target = target_of(state)
    return target.row if target.kind == "log_prob" else current_token(state)
