"""A pair to watch a training by: one that has much to look at and can still be taken in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from model_core.training.lab_data import LabData

# It is looked for among so many, and its source has so many characters at most.
FIRST, LONGEST = 12, 40

Pair = tuple[str, str]


def watched_pair(data: LabData, fits: Callable[[str], bool] = lambda source: True) -> Pair | None:
    """(source, target) of the first ones held out, else of all; the target of a task may be "".

    fits: whether the model can read a source. The same data always give the same pair, so that a
    training that is taken up again is watched by the one before; None where none fits.
    """
    from model_core.training.tasks import new_sentence

    if data.module is None:
        chosen = data.held_out or data.train
        return fitting([(p.source, p.target) for p in chosen[:FIRST]], fits)
    splits = getattr(data.dataset, "splits", None)
    if splits is None or not splits.get("held_out"):
        sentence = new_sentence(data.title, 0)
        return (sentence, "") if fits(sentence) else None
    first = splits["held_out"][:FIRST]
    return fitting([(p.source_text, p.target_text) for p in first], fits)


def fitting(pairs: Sequence[Pair], fits: Callable[[str], bool]) -> Pair | None:
    """The longest source of at most LONGEST characters, the first of several; else the shortest."""
    usable = [pair for pair in pairs if fits(pair[0])]
    short = [pair for pair in usable if len(pair[0]) <= LONGEST]
    if short:
        return max(short, key=lambda pair: len(pair[0]))
    return min(usable, key=lambda pair: len(pair[0]), default=None)
