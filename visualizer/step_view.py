"""What of one training step is on show, and what it is taken of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

StageName = Literal["batch", "forward", "loss", "backward", "clipping", "adam", "check", "mistakes"]
STAGES: tuple[StageName, ...] = get_args(StageName)
MOST_PAIRS = 4
# So many steps show what a mistake does to the loss.
TRIED_STEPS = 200
# What inquiries have found of a step, which belongs to no run; it goes with the model.
NO_STEP: dict[str, Any] = {"glass": None, "step_check": None, "mistake_run": None}


@dataclass(frozen=True)
class StepView:
    """`pairs`, `seed`, `fresh` and `mistakes` decide the step; the rest is what is looked at.

    pairs: source and target as typed, () for the sentence on show and the model's own output
    seed: of the dropout masks    fresh: whether the weights have learned nothing yet
    drawn: how often pairs were drawn    sentence: which pair pictures are of, from 0
    mask, site, parameter: what is looked at in the stages that have a choice; "" for the first
    cell: of the parameter, None for the one with the largest gradient
    checking, trying: whether the check, the two trainings are wanted
    """

    pairs: tuple[tuple[str, str], ...] = ()
    seed: int = 0
    fresh: bool = False
    mistakes: frozenset[str] = frozenset()
    drawn: int = 0
    stage: StageName = "batch"
    sentence: int = 0
    mask: str = ""
    site: str = ""
    parameter: str = ""
    cell: tuple[int, ...] | None = None
    checking: bool = False
    trying: bool = False
