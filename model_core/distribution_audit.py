"""Whether the stages from logits to the next token's probabilities are what they should be."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from model_core.blocks import everywhere
from model_core.checks import TOLERANCES, Audit, Check, Worst, excess
from model_core.ops.base import Array
from model_core.sampling import Distribution

TOLERANCE = TOLERANCES["float64"]
TINY = float(np.finfo(np.float64).tiny)


def audit_distribution(given: Distribution) -> Audit:
    """Check every stage against the one before it; a broken check names the token's id."""
    return Audit("distribution", tuple(_checks(given)))


def _checks(given: Distribution) -> Iterator[Check]:
    yield _tempered(given)
    before = given.tempered
    for key, after in (("top_k", given.after_top_k), ("top_p", given.after_top_p)):
        # a stage that is off is the same array
        if after is not before:
            yield _truncated(f"{key}_kept", before, after)
        before = after
    yield _renormalised(given)
    yield _outside(given)


def _tempered(given: Distribution) -> Check:
    """All logits are divided by one temperature; their softmax sums to 1."""
    real = np.isfinite(given.logits) & (given.logits != 0.0)
    with np.errstate(all="ignore"):
        ratios = (given.logits / given.tempered)[real]
        temperature = float(np.median(ratios)) if ratios.size else 1.0
        wanted = given.logits / temperature
    worst = Worst("tempered")
    _compare(worst, given.tempered, wanted)
    shares = _softmax(given.tempered)
    return worst.check(("temperature", temperature), ("sum", float(shares.sum())))


def _truncated(key: str, before: Array, after: Array) -> Check:
    """The likeliest tokens stay as they were, the others get -inf; how much probability stays."""
    kept = ~np.isneginf(after)
    least = float(np.min(before, where=kept, initial=np.inf))
    worst = Worst(key)
    # one that went is wrong where it is likelier than one that stayed; ties may go either way
    wanted = np.where(kept | (before > least), before, -np.inf)
    _compare(worst, after, wanted)
    mass = float(_softmax(before)[kept].sum())
    return worst.check(("kept", int(np.count_nonzero(kept))), ("mass", mass))


def _renormalised(given: Distribution) -> Check:
    """What is drawn from is the softmax of the last stage and sums to 1."""
    wanted = _softmax(given.after_top_p)
    worst = Worst("probabilities_sum_to_one")
    _compare(worst, given.probabilities, wanted)
    if worst.bad is None:
        total = float(given.probabilities.sum())
        beyond = excess(np.array([total]), np.ones(1), np.ones(1), TOLERANCE, TINY)
        place = int(np.argmax(given.probabilities))
        worst.cells = 0
        worst.look((slice(place, place + 1),), beyond, np.array([total]), np.ones(1))
        worst.cells = given.probabilities.size
    return worst.check(("sum", float(given.probabilities.sum())))


def _outside(given: Distribution) -> Check:
    """No token outside the last stage can be drawn, and `kept` says which can."""
    out = np.isneginf(given.after_top_p)
    wrong = (out & (given.probabilities != 0.0)) | (given.kept != (given.probabilities > 0.0))
    worst = Worst("nothing_outside_kept")
    wanted = np.where(out, 0.0, given.probabilities)
    beyond = np.where(wrong, np.inf, 0.0)
    worst.look(everywhere(wrong.shape), beyond, given.probabilities, wanted)
    return worst.check(("kept", int(np.count_nonzero(given.kept))))


def _compare(worst: Worst, found: Array, wanted: Array) -> None:
    beyond = excess(found, wanted, np.abs(wanted), TOLERANCE, TINY)
    worst.look(everywhere(found.shape), beyond, found, wanted)


def _softmax(logits: Array) -> Array:
    """Shares that sum to 1, computed beside the stages.   logits: (V,) with a finite one"""
    with np.errstate(all="ignore"):
        powers = np.exp(logits - logits.max())
        return powers / powers.sum()
