"""What a run depends on beside the model: the sentence, and how the output is chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from model_core.beams import EarlyStopping

Strategy = Literal["greedy", "sample", "beam"]
# (question, answer) of a chat
Turn = tuple[str, str]


@dataclass(frozen=True)
class Inputs:
    """Everything that a run depends on beside the model: the same inputs give the same run.

    `target` is a forced target text, None lets the model decode; `prefix` are ids forced at the
    start of the output, behind which it is decoded. `pinned` is the hypothesis of a beam search
    that is traced in place of the best one, by its ids behind the start token. `history` are the
    turns of a chat that came before. `cells` are the changed cells of a worked example's input
    matrix: (row, column, value), in order, one per cell.
    """

    source: str = ""
    strategy: Strategy = "greedy"
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    seed: int = 0
    target: str | None = None
    prefix: tuple[int, ...] = ()
    beams: int = 4
    length_penalty: float = 1.0
    early_stopping: EarlyStopping = False
    max_new_tokens: int | None = None
    constraints: bool = True
    pinned: tuple[int, ...] | None = None
    history: tuple[Turn, ...] = ()
    cells: tuple[tuple[int, int, float], ...] = ()


def chooses_otherwise(old: Inputs, new: Inputs) -> bool:
    """Whether all that differs is how a token is taken from the same logits."""
    choice = {
        name: getattr(new, name) for name in ("strategy", "temperature", "top_k", "top_p", "seed")
    }
    return old != new and replace(old, **choice) == new
