"""What of a beam search's tree is on show, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ScoreKind = Literal["normalised", "cumulative"]


@dataclass(frozen=True)
class TreeView:
    """How the tree is looked at; it changes nothing that is computed.

    score: which one stands below a token    n_best: how many of the finished are listed
    greedy, sampled: whether these paths are laid on the tree    zoom: 1 as wide as there is room
    hovered: the ids, without the start token, up to the token under the pointer
    """

    score: ScoreKind = "normalised"
    n_best: int = 4
    greedy: bool = True
    sampled: bool = True
    zoom: float = 1.0
    hovered: tuple[int, ...] | None = None
