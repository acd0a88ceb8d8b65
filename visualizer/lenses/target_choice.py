"""What gradients are of, as a choice: one token's log-probability at a position, or the loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from visualizer.lenses.gradient_words import is_waiting, label_text, token_text
from visualizer.lenses.token_labels import vocabulary_labels
from visualizer.state import ViewState, current_token, gradients_key, target_of


@dataclass(frozen=True)
class TargetChoice:
    """The target that is asked for.

    token, row: of the log-probability, the row counted as people do; of a loss, those that a
    change to a log-probability would begin with
    labels: of a loss, one after the other      chosen: that it does not follow the cursor
    waiting: its gradients are still on their way
    """

    kind: Literal["log_prob", "loss"]
    token: str
    row: int
    labels: str
    chosen: bool
    waiting: bool
    vocabulary: tuple[str, ...]


def target_choice(state: ViewState) -> TargetChoice | None:
    """The choice while gradients are asked for; None where there are none."""
    if gradients_key(state) is None or state.model is None or state.run is None:
        return None
    target = target_of(state)
    row = target.row if target.kind == "log_prob" else current_token(state)
    vocabulary = vocabulary_labels(state.model.model.tokenizer.target_vocabulary)
    token = token_text(state, target) or vocabulary[state.run.chosen[row]]
    return TargetChoice(
        target.kind,
        token,
        row + state.count_from,
        label_text(state, target),
        state.target is not None,
        is_waiting(state),
        vocabulary,
    )
