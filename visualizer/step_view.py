"""What of one training step is on show, and what it is taken of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

StageName = Literal["batch", "forward", "loss", "backward", "clipping", "adam", "check", "mistakes"]
STAGES: tuple[StageName, ...] = get_args(StageName)
# Whose weights the step begins with: the model's own, drawn anew, or those of a training that
# stands still, with its next batch.
Weights = Literal["trained", "fresh", "paused"]
WEIGHTS: tuple[Weights, ...] = get_args(Weights)
MOST_PAIRS = 8
# So many steps show what a mistake does to the loss.
TRIED_STEPS = 200
# What inquiries have found of a step, which belongs to no run; it goes with the model.
NO_STEP: dict[str, Any] = {"glass": None, "step_check": None, "mistake_run": None}


@dataclass(frozen=True)
class Paused:
    """A training that stands still: its number in the lab, the step, where its checkpoint lies."""

    number: int
    step: int
    path: str


@dataclass(frozen=True)
class Look:
    """What is looked at, to come back to.

    sentence: which pair pictures are of, from 0
    record, site, parameter: whose values, whose gradient, whose update; "" for the first
    cell: of the parameter, None for the one with the largest gradient
    spot: the full index of the cell that is held on to, in the record or in the gradient
    """

    stage: StageName = "batch"
    sentence: int = 0
    record: str = ""
    site: str = ""
    parameter: str = ""
    cell: tuple[int, ...] | None = None
    spot: tuple[int, ...] | None = None


@dataclass(frozen=True)
class StepView(Look):
    """`pairs`, `seed`, `weights` and `mistakes` decide the step; the rest is what is looked at.

    pairs: source and target as typed, () for the sentence on show and the model's own output
    seed: of the dropout masks and of fresh weights    drawn: how often pairs were drawn
    masks_alone: whether of the records only the dropout masks are listed
    trail: where links were followed from
    checking, trying: whether the check, the two trainings are wanted
    attempt: how often the step was asked for once more, after it could not be taken
    """

    pairs: tuple[tuple[str, str], ...] = ()
    seed: int = 0
    weights: Weights = "trained"
    mistakes: frozenset[str] = frozenset()
    drawn: int = 0
    masks_alone: bool = False
    trail: tuple[Look, ...] = ()
    checking: bool = False
    trying: bool = False
    attempt: int = 0
