"""From logits to the next token: temperature, then top-k, then top-p, then one draw.

Every stage is kept, over the whole vocabulary in id order, so that what is shown is what
was drawn from. Top-k: Fan et al. 2018; top-p (nucleus): Holtzman et al. 2020.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from operator import index
from typing import Any, TypeVar

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ids = np.ndarray[Any, np.dtype[np.int64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
Kind = TypeVar("Kind", bound=np.ndarray[Any, Any])

# Below this a temperature only sharpens an argmax into overflow, so decoding takes it as greedy.
GREEDY_TEMPERATURE = 0.1


@dataclass(frozen=True, eq=False)
class Distribution:
    """The stages from logits to probabilities: read-only float64 arrays (V,) in id order.

    `tempered` is logits / temperature; `after_top_k` and `after_top_p` are the tempered logits
    with -inf outside the set that the stage leaves; `probabilities` are the softmax of
    `after_top_p`; `kept` is where they are above 0: what can be drawn at all. A stage that is
    off is the same array as the one before it.
    """

    logits: Floats
    tempered: Floats
    after_top_k: Floats
    after_top_p: Floats
    probabilities: Floats
    kept: Flags

    @cached_property
    def entropy(self) -> float:
        """How undecided the distribution is, in bits: 0 for a certain token, log2 V at most."""
        positive = self.probabilities[self.probabilities > 0.0]
        # not by BLAS, whose threads take longer to meet than one takes for the sum
        return abs(float((positive * np.log2(positive)).sum()))

    @cached_property
    def order(self) -> Ids:
        """All ids, most probable first; equally probable ones by id.

        Sorting a large vocabulary takes milliseconds: `top` is cheaper for the first few.
        """
        return _frozen(np.argsort(-self.probabilities, kind="stable"))

    def top(self, count: int) -> Ids:
        """The first `count` ids of `order`, without sorting the rest."""
        size = self.probabilities.size
        if not 0 < count < size:
            return self.order[: max(count, 0)]
        bound = np.partition(self.probabilities, size - count)[size - count]
        certain = np.flatnonzero(self.probabilities > bound)
        tied = np.flatnonzero(self.probabilities == bound)[: count - certain.size]
        ids = np.concatenate((certain, tied))
        return ids[np.argsort(-self.probabilities[ids], kind="stable")]

    @cached_property
    def cumulative(self) -> Floats:
        """Running sum of the probabilities in id order, as `draw` reads it."""
        return _frozen(np.cumsum(self.probabilities))

    @cached_property
    def _log_probs(self) -> Floats:
        return log_probabilities(self.logits)

    def log_prob_of(self, token_id: int) -> float:
        """Natural log of the model's own probability of a token.

        This is the softmax of the raw logits: no temperature, no truncation. So the score of
        a text does not depend on how it was drawn, and no drawn token scores -inf.
        """
        if not 0 <= token_id < self.logits.size:
            raise ValueError(f"token id is {token_id}, expected 0 to {self.logits.size - 1}")
        return float(self._log_probs[token_id])


def log_probabilities(logits: Any) -> Floats:
    """Natural logs of the softmax over the last axis (...,V), in float64 whatever logits are.

    Of a token that is nearly certain float32 leaves no digit that holds: what is missing to 1 is
    less than its rounding. So whatever tells how likely a token was takes it from here.
    """
    values = np.asarray(logits, dtype=np.float64)
    shifted = values - values.max(axis=-1, keepdims=True)
    shares = np.exp(shifted)
    np.put_along_axis(shares, shifted.argmax(axis=-1, keepdims=True), 0.0, axis=-1)
    found: Floats = shifted - np.log1p(shares.sum(axis=-1, keepdims=True))
    return found


class RankedLogits:
    """Logits with their ranking, which moving a temperature, a top-k or a top-p does not change.

    Given to `distribution` in place of plain logits, it saves the sorting and changes no bit of
    what comes out. logits: (V,), read-only float64
    """

    def __init__(self, logits: Any) -> None:
        self.logits = _logits(logits)

    @cached_property
    def ascending(self) -> Floats:
        """The logits from the smallest up."""
        return _frozen(np.sort(self.logits))

    @cached_property
    def order(self) -> Ids:
        """All ids, largest logit first; equal ones by id."""
        order = np.argsort(-self.logits)
        # The quick sort may swap equal ones, and they are few: sorting those takes less time than
        # a stable sort of all.
        found = self.logits[order]
        differs = np.concatenate(([True], found[1:] != found[:-1], [True]))
        tied = np.flatnonzero(~(differs[:-1] & differs[1:]))
        group = np.cumsum(differs[:-1])[tied]
        order[tied] = order[tied][np.lexsort((order[tied], group))]
        return _frozen(order)


@dataclass(frozen=True)
class Draw:
    """One draw: `uniform` fell on `id`, whose share of the cumulative is `below` to `upto`.

    `near_boundary` says that another computation of the same run may draw a neighbour.
    """

    uniform: float
    id: int
    below: float
    upto: float
    near_boundary: bool


def distribution(
    logits: Any,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Distribution:
    """The distribution that the next token is drawn from, with every stage on the way.

    logits: (V,), -inf allowed (never drawn), or a RankedLogits. Top-k keeps what ties with the
    k-th; top-p keeps the smallest set of most probable tokens whose mass reaches p, at least
    one, the lower id first where several are equal; None, a top_k of V or more and a top_p of 1
    are off.
    Raises ValueError for arguments that have no meaning; a temperature of 0 is one of them
    (`argmax` is the greedy choice).
    """
    heat = _temperature(temperature)
    rank = _top_k(top_k)
    mass = _top_p(top_p)
    ranked = logits if isinstance(logits, RankedLogits) else None
    raw = _logits(logits) if ranked is None else ranked.logits
    # A tiny temperature may carry a finite logit beyond float64: refused or -inf below.
    with np.errstate(over="ignore"):
        tempered = raw if heat == 1.0 else _frozen(raw / heat)
        peak = tempered.max()
        if not math.isfinite(peak):
            raise ValueError(
                f"temperature is {heat}, expected one that keeps logits / temperature finite"
            )
        # Dividing by a temperature swaps no two logits, so the ranking is that of the raw ones.
        ascending = None
        if ranked is not None and (rank is not None or mass is not None):
            ascending = ranked.ascending / heat
        after_top_k = tempered if rank is None else _keep_top_k(tempered, rank, ascending)
        after_top_p = after_top_k if mass is None else _keep_top_p(after_top_k, mass, ascending)
        # The largest logit survives every stage, so it stays the shift of the softmax.
        probabilities = np.exp(after_top_p - peak)
    probabilities /= probabilities.sum()
    return Distribution(
        logits=raw,
        tempered=tempered,
        after_top_k=after_top_k,
        after_top_p=after_top_p,
        probabilities=_frozen(probabilities),
        kept=_frozen(probabilities > 0.0),
    )


def draw(given: Distribution, uniform: float) -> int:
    """The id at `uniform` in [0, 1] on the cumulative distribution in id order.

    A token of probability 0 is never drawn, not even by a uniform next to 1 that rounding
    has left beyond the last sum.
    """
    _check_uniform(uniform)
    # "right": the first id whose running sum exceeds the uniform, so it has added something.
    drawn = int(np.searchsorted(given.cumulative, uniform, side="right"))
    if drawn == given.cumulative.size:
        return int(np.flatnonzero(given.probabilities)[-1])
    return drawn


def near_boundary(given: Distribution, uniform: float, tolerance: float = 1e-6) -> bool:
    """Whether probabilities that differ by `tolerance` in sum could have drawn another token.

    Two computations of the same run (cached and full, float32 and float64) need agree on a
    drawn id only where this is False.
    """
    _check_uniform(uniform)
    sums = given.cumulative
    # The few sums around the uniform, twice as wide so that rounding leaves none out.
    start = np.searchsorted(sums, uniform - 2 * tolerance, side="left")
    # What reaches the whole is the last positive token's upper end, which is no boundary, nor is
    # the lower end of the first.
    stop = min(
        np.searchsorted(sums, uniform + 2 * tolerance, side="right"),
        np.searchsorted(sums, sums[-1], side="left"),
    )
    near = sums[start:stop]
    return bool(np.any((near > 0.0) & (np.abs(near - uniform) <= tolerance)))


def drawn(given: Distribution, uniform: float) -> Draw:
    """What `draw` gives, with the piece of the cumulative distribution that the uniform fell on."""
    token = draw(given, uniform)
    below = float(given.cumulative[token - 1]) if token else 0.0
    upto = float(given.cumulative[token])
    return Draw(float(uniform), token, below, upto, near_boundary(given, uniform))


def draw_counts(given: Distribution, seed: int, times: int, skip: int = 0) -> Ids:
    """How often each token is drawn (V,) by so many uniforms of a seed, `skip` left out first.

    The same ids as `draw` gives one by one for `uniforms(seed)`.
    """
    for name, value in (("times", times), ("skip", skip)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise ValueError(f"{name} is {value!r}, expected a whole number >= 0")
    bits = _bit_generator(seed)
    # one uniform takes one step of the generator
    bits.advance(int(skip))
    found = np.searchsorted(
        given.cumulative, np.random.Generator(bits).random(int(times)), side="right"
    )
    last = np.flatnonzero(given.probabilities)[-1]
    return np.bincount(np.minimum(found, last), minlength=given.probabilities.size)


def uniforms(seed: int, skip: int = 0) -> Iterator[float]:
    """Endless floats in [0, 1) from NumPy's PCG64 with this seed, one for each drawn token.

    Number t belongs to position t of the output, whether it is used there or not: `skip` leaves
    out those of the tokens that are forced in front, so that no later draw changes with them.

    The same stream in any process, on any machine and of any NumPy from 1.17 on:
    np.random.Generator(np.random.PCG64(seed)).random(), repeatedly. That is PCG XSL RR 128/64
    (O'Neill 2014), seeded through NumPy's SeedSequence; of each 64 bits the upper 53, times
    2**-53. So the same seed draws the same tokens unless a uniform is `near_boundary`.
    """
    bits = _bit_generator(seed)
    bits.advance(int(skip))
    return _stream(np.random.Generator(bits))


def uniform_at(seed: int, skip: int) -> float:
    """The uniform of a seed that comes after `skip` others: uniforms(seed)'s, without those."""
    bits = _bit_generator(seed)
    bits.advance(int(skip))
    return float(np.random.Generator(bits).random())


def argmax(logits: Any) -> int:
    """The greedy choice: the id of the largest logit, the lowest id where several are equal.

    logits: (V,)
    """
    return int(_logits(logits).argmax())


def _bit_generator(seed: int) -> np.random.PCG64:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed is {seed!r}, expected a whole number >= 0")
    return np.random.PCG64(int(seed))


def _stream(generator: np.random.Generator) -> Iterator[float]:
    while True:
        yield generator.random()


def _frozen(array: Kind) -> Kind:
    array.setflags(write=False)
    return array


def _keep_top_k(tempered: Floats, rank: int, ascending: Floats | None) -> Floats:
    if rank >= tempered.size:
        return tempered
    place = tempered.size - rank
    bound = (np.partition(tempered, place) if ascending is None else ascending)[place]
    return _frozen(np.where(tempered >= bound, tempered, -np.inf))


def _keep_top_p(tempered: Floats, mass: float, ascending: Floats | None) -> Floats:
    """tempered: -inf where top-k has cut   ascending: all, nothing cut yet"""
    finite = tempered[tempered > -np.inf]
    # what is left of the ranking is its upper end
    finite = np.sort(finite) if ascending is None else ascending[ascending.size - finite.size :]
    weights = np.exp(finite - finite[-1])
    # Summed from the least probable up, the small ones keep their digits: what is dropped is
    # the largest set of least probable tokens whose mass is at most 1 - p.
    sums = np.cumsum(weights / weights.sum())
    dropped = min(int(np.searchsorted(sums, 1.0 - mass, side="right")), finite.size - 1)
    bound = finite[dropped]
    kept = tempered > bound
    missing = finite.size - dropped - int(np.count_nonzero(kept))
    kept[np.flatnonzero(tempered == bound)[:missing]] = True
    return _frozen(np.where(kept, tempered, -np.inf))


def _logits(logits: Any) -> Floats:
    found = np.asarray(logits)
    if found.dtype.kind not in "fiu" or found.ndim != 1 or not found.size:
        raise ValueError(
            f"logits are {found.dtype} of shape {found.shape}, expected a list of numbers, "
            "one per token"
        )
    raw = found.astype(np.float64)
    peak = raw.max()  # nan where any is nan
    if not math.isfinite(peak):
        what = {math.inf: "contain +inf", -math.inf: "are all -inf"}.get(peak, "contain nan")
        raise ValueError(f"logits {what}, expected at least one finite number, others may be -inf")
    return _frozen(raw)


def _temperature(value: Any) -> float:
    if not _is_real(value) or not 0.0 < value < math.inf:
        raise ValueError(f"temperature is {value!r}, expected a finite number above 0")
    return float(value)


def _top_k(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"top_k is {value!r}, expected a whole number >= 1, or None for off")
    return index(value)


def _top_p(value: Any) -> float | None:
    if value is None:
        return None
    if not _is_real(value) or not 0.0 < value <= 1.0:
        raise ValueError(f"top_p is {value!r}, expected a number above 0 and at most 1, or None")
    return None if value == 1.0 else float(value)


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _check_uniform(uniform: Any) -> None:
    if not _is_real(uniform) or not 0.0 <= uniform <= 1.0:
        raise ValueError(f"uniform is {uniform!r}, expected a number from 0 to 1")
