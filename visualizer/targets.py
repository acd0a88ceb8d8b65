"""What a wished target is in a run: the wish outlives its run, its row and its labels do not."""

from __future__ import annotations

from dataclasses import replace

from model_core.gradients import Target


def fitted(wish: Target, read: tuple[int, ...], chosen: tuple[int, ...], end: int | None) -> Target:
    """The target as the run on show has it.

    read: what the decoder reads, the start token first
    chosen: what each of its rows predicts      end: what a forced target ends with, else None
    """
    if wish.kind == "log_prob":
        return replace(wish, row=max(0, min(wish.row, len(chosen) - 1)))
    # each row is to say what the next one reads; the last one the end, or what it did say
    last = chosen[-1:] if end is None else (end,)
    return Target("loss", labels=(*read[1:], *last))
