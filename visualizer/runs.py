"""A computed run: what the model made of the inputs, and what it was made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from model_core.tape import Tape
from visualizer.inputs import Inputs

Outcome = Literal["ok", "empty", "too_long", "immediate_end"]
# What inquiries have found goes with the model that it was found in: it holds a lot of memory.
NOTHING_FOUND: dict[str, Any] = {
    "gradients": None,
    "audit": None,
    "readings": None,
    "difference": None,
    "check": None,
    "growing": None,
    "paths": None,
    "hypothesis": None,
}


class Cancelled(Exception):
    """The run is no longer wanted."""


@dataclass(frozen=True)
class UnknownWord:
    """A word that the vocabulary lacks; `position` counts in the ids that are read."""

    position: int
    text: str


@dataclass(frozen=True, eq=False)
class FreeRun:
    """What the model says by itself, beside a forced output: its tokens without the start."""

    tokens: tuple[str, ...]
    log_probs: tuple[float, ...]
    ids: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Run:
    """One computed run. `tape` is None where there was nothing to compute.

    `search` is the beam search behind it, `free` the free run beside a forced one, if any.
    `distributions[t]` is what decoder row t chose `chosen[t]` from, or would have, had it not been
    forced. `last_content` is the row that predicts the last token before the end token.
    `unknown` are words of the source, `unknown_target` of a typed target. `length` and `limit`
    count source tokens; where `target_too_long`, those of the typed target and its start.
    """

    number: int
    inputs: Inputs
    outcome: Outcome
    tape: Tape | None = None
    distributions: tuple[Any, ...] = ()
    chosen: tuple[int, ...] = ()
    text: str = ""
    finished: bool = False
    search: Any = None
    free: FreeRun | None = None
    unknown: tuple[UnknownWord, ...] = ()
    unknown_target: tuple[UnknownWord, ...] = ()
    target_too_long: bool = False
    last_content: int = 0
    length: int = 0
    limit: int = 0
    milliseconds: float = 0.0

    @property
    def rows(self) -> int:
        """The number of decoder rows T."""
        return 0 if self.tape is None else len(self.tape.target_tokens)
