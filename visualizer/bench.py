"""What is looked at on the decoding bench, beside what the run depends on."""

from __future__ import annotations

from dataclasses import dataclass

# (what the model reads, the decoder row, the seed): where further draws were asked for
Spot = tuple[str, int, int]
BY_ID = "id"


@dataclass(frozen=True)
class Bench:
    """`again` and `times` count draws beyond the run's own and hold at one spot only.

    again: how many uniforms further down the stream the draw on show is   times: how many draws
    the histogram has, from the one behind the run's own on   sort: the stage whose order the rows
    have, BY_ID for the vocabulary's   log: whether bars of probabilities have a logarithmic scale
    token: the one that was clicked, by its id   tree: whether the beam tree is seen, where
    there is no room for it and the stages
    """

    spot: Spot | None = None
    again: int = 0
    times: int = 0
    sort: str = "renormalised"
    log: bool = False
    token: int | None = None
    tree: bool = True
