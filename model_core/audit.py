"""Whether a record is what it should be: its numbers once more in float64, and its algebra.

What is checked follows from a record's op and from what it reads, never from its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from model_core.blocks import blocks, everywhere, recomputed_at, row_blocks
from model_core.checks import Audit, Check, Worst, WorstRow, excess, tiny_of, tolerance_of
from model_core.expressions import in_float64
from model_core.gradient_audit import gradient_checks
from model_core.gradients import GradientRecord
from model_core.ops import (
    Add,
    BothMasks,
    DropoutMask,
    Dropped,
    Given,
    LogSoftmax,
    LookAheadMask,
    MaskedScores,
    Normalise,
    PaddingMask,
    Softmax,
)
from model_core.ops.base import Array, Index, Op
from model_core.tape import Record

ZERO_CHECKS: dict[type[Op], str] = {
    LookAheadMask: "zero_above_diagonal",
    PaddingMask: "zero_on_padding",
}


class Stopped(Exception):
    """The audit is no longer wanted."""


Stop = Callable[[], None]
Checks = Iterator[Check]


def audit(record: Record | GradientRecord, cancelled: Callable[[], bool] = lambda: False) -> Audit:
    """Check one record of a tape, or one of a tape of gradients, against all it should be.

    `cancelled` is asked every few milliseconds; Stopped is raised once it says so.
    """

    def stop() -> None:
        if cancelled():
            raise Stopped

    stop()
    if isinstance(record, GradientRecord):
        return Audit(record.site, tuple(gradient_checks(record, stop)), "backward")
    return Audit(record.site, tuple(_checks(record, stop)))


def _checks(record: Record, stop: Stop) -> Checks:
    for kind, check in CHECKS:
        if isinstance(record.kind, kind):
            yield from check(record, stop)
    if not isinstance(record.kind, DropoutMask | Given):
        yield _agreement(record, stop)


def _agreement(record: Record, stop: Stop) -> Check:
    """Every cell against the op's expression in float64."""
    op, operands, value = record.kind, record.operands, record.value
    worst, tolerance, tiny = Worst("recomputed"), tolerance_of(value), tiny_of(value)
    for place in blocks(op, operands, value.shape):
        stop()
        again = recomputed_at(op, operands, place)
        if again is None:
            return _agreement_at_once(record, worst.key)
        found = value[place]
        worst.look(place, excess(found, *again, tolerance, tiny), found, again[0])
    return worst.check()


def _agreement_at_once(record: Record, key: str) -> Check:
    """The same for an op that cannot be cut after all."""
    value, worst = record.value, Worst(key)
    place = everywhere(value.shape)
    again = recomputed_at(record.kind, record.operands, place)
    if again is None:
        raise ValueError(f"{record.op} of {record.site} gives another shape than {value.shape}")
    worst.look(place, excess(value, *again, tolerance_of(value), tiny_of(value)), value, again[0])
    return worst.check()


def _cell_of_row(record: Record, row: Index) -> Index:
    """The full index of the cell that makes a row wrong: the one furthest from its own number."""
    value = record.value
    place = (*(slice(i, i + 1) for i in row), slice(0, value.shape[-1]))
    again = recomputed_at(record.kind, record.operands, place)
    found = value[place]
    if again is None:
        distance = np.abs(in_float64(found))
    else:
        distance = excess(found, *again, tolerance_of(value), tiny_of(value))
    return (*row, int(np.argmax(distance)))


# What an op's value should be.


def _shares(record: Record, stop: Stop) -> Checks:
    """Rows of a softmax sum to 1; those in which everything is hidden to 0, and they are told."""
    value, scores = record.value, record.operands[0].value
    worst, tolerance = WorstRow("rows_sum_to_one"), tolerance_of(value)
    empty, first = 0, None
    for place in row_blocks(value.shape):
        stop()
        sums = value[place].sum(axis=-1, keepdims=True, dtype=np.float64)
        hidden = np.isneginf(scores[place]).all(axis=-1, keepdims=True)
        wanted = np.where(hidden, 0.0, 1.0)
        # 1 and the shares that it is the sum of; all of them are positive
        worst.look_at_rows(place, sums, wanted, np.full_like(sums, 2 * tolerance))
        count = int(np.count_nonzero(hidden))
        if count and first is None:
            within = np.unravel_index(int(np.argmax(hidden)), hidden.shape)
            first = tuple(int(i) + part.start for i, part in zip(within, place, strict=True))
        empty += count
    yield worst.check_row(partial(_cell_of_row, record))
    if empty:
        yield Check("fully_masked_rows", None, worst.cells, worst.cells - empty, first)
    yield from _zeros(record, stop)


def _zeros(record: Record, stop: Stop) -> Checks:
    """Weights are exactly 0 where a mask hides the key, told apart by the mask that hides it."""
    tape = record.tape
    scores = record.inputs[0]
    if scores not in tape or not isinstance(tape[scores].kind, MaskedScores):
        return
    value = record.value
    for key, allowed in _masks(tape, tape[scores].inputs[1]):
        worst = Worst(key)
        allowed = np.broadcast_to(allowed, value.shape)
        for place in row_blocks(value.shape):
            stop()
            found, hidden = value[place], ~allowed[place]
            beyond = np.where(hidden & (found != 0.0), np.inf, 0.0)
            worst.look(place, beyond, found, np.zeros_like(found))
            worst.cells -= int(hidden.size - np.count_nonzero(hidden))
        if worst.cells:
            yield worst.check()


def _masks(tape: Any, name: str) -> Iterator[tuple[str, Array]]:
    """The masks that a mask is put together from: key of the check, True = may be attended to."""
    if name in tape and isinstance(tape[name].kind, BothMasks):
        for part in tape[name].inputs:
            yield from _masks(tape, part)
        return
    key = ZERO_CHECKS.get(type(tape[name].kind)) if name in tape else None
    yield key or "zero_where_masked", np.asarray(tape.value_of(name))


def _hidden(record: Record, stop: Stop) -> Checks:
    """Scores are -inf where the mask hides the key, and nowhere else."""
    value = record.value
    scores, mask = (operand.value for operand in record.operands)
    allowed = np.broadcast_to(mask, value.shape)
    worst = Worst("hidden_where_masked")
    for place in row_blocks(value.shape):
        stop()
        found, before = value[place], scores[place]
        should = ~allowed[place] | np.isneginf(before)
        beyond = np.where(np.isneginf(found) == should, 0.0, np.inf)
        worst.look(place, beyond, found, np.where(should, -np.inf, before))
    hidden = value.size - int(np.count_nonzero(allowed))
    yield worst.check(("hidden", hidden))


def _normalised(record: Record, stop: Stop) -> Checks:
    """Rows have mean 0 and variance v / (v + eps), v being the variance that was divided by."""
    kind, value = record.kind, record.value
    assert isinstance(kind, Normalise)
    x, mean, variance = (operand.value for operand in record.operands)
    tolerance = tolerance_of(value)
    means, variances = WorstRow("rows_mean_zero"), WorstRow("rows_variance")
    for place in row_blocks(value.shape):
        stop()
        narrow = (*place[:-1], slice(0, 1))
        rows, spread = in_float64(value[place]), in_float64(variance[narrow])
        root = np.sqrt(spread + kind.eps)
        size = (np.abs(in_float64(x[place])) + np.abs(in_float64(mean[narrow]))) / root
        found = rows.mean(axis=-1, keepdims=True)
        rounding = tolerance * size.mean(axis=-1, keepdims=True)
        means.look_at_rows(place, found, np.zeros_like(found), rounding + tiny_of(value))
        square = (rows**2).mean(axis=-1, keepdims=True)
        wanted = spread / (spread + kind.eps)
        # (y + d)² - y² for a d of tolerance · size
        allowed = 2 * tolerance * (np.abs(rows) * size).mean(axis=-1, keepdims=True)
        allowed += tolerance**2 * (size**2).mean(axis=-1, keepdims=True) + 2 * tolerance * wanted
        variances.look_at_rows(place, square - found**2, wanted, allowed + tiny_of(value))
    for worst in (means, variances):
        yield worst.check_row(partial(_cell_of_row, record))


def _sum(record: Record, stop: Stop) -> Checks:
    """A sum is the sum of its parts."""
    value = record.value
    a, b = (np.broadcast_to(operand.value, value.shape) for operand in record.operands)
    worst, tolerance, tiny = Worst("sum_of_parts"), tolerance_of(value), tiny_of(value)
    for place in row_blocks(value.shape):
        stop()
        left, right, found = in_float64(a[place]), in_float64(b[place]), value[place]
        size = np.abs(left) + np.abs(right)
        beyond = excess(found, left + right, size, tolerance, tiny)
        worst.look(place, beyond, found, left + right)
    yield worst.check()


def _log_shares(record: Record, stop: Stop) -> Checks:
    """e to the power of a row sums to 1."""
    value, scores = record.value, record.operands[0].value
    worst, tolerance = WorstRow("probabilities_sum_to_one"), tolerance_of(value)
    for place in row_blocks(value.shape):
        stop()
        largest = np.abs(in_float64(scores[place]).max(axis=-1, keepdims=True))
        with np.errstate(over="ignore"):
            sums = np.exp(in_float64(value[place])).sum(axis=-1, keepdims=True)
        # a logarithm is off by as much as the scores are, and that makes a factor of its power
        allowed = 2 * tolerance * (1.0 + largest)
        worst.look_at_rows(place, sums, np.ones_like(sums), allowed)
    yield worst.check_row(partial(_cell_of_row, record))


def _dropout_mask(record: Record, stop: Stop) -> Checks:
    """What chance chose is told; but every number is 0 or the one that keeps the average."""
    kind, value = record.kind, record.value
    assert isinstance(kind, DropoutMask)
    kept = value.dtype.type(kind.kept)
    beyond = np.where((value == 0.0) | (value == kept), 0.0, np.inf)
    worst = Worst("dropout_levels")
    worst.look(everywhere(value.shape), beyond, value, np.full_like(value, kept))
    if worst.failing:
        yield worst.check()
    yield _dropped_cells(value, kind.rate)


def _dropped(record: Record, stop: Stop) -> Checks:
    yield _dropped_cells(record.operands[1].value)


def _dropped_cells(mask: Array, rate: float | None = None) -> Check:
    kept = int(np.count_nonzero(mask))
    values: tuple[tuple[str, float], ...] = (("dropped", mask.size - kept),)
    if rate is not None:
        values += (("rate", rate),)
    return Check("dropout", None, mask.size, kept, values=values)


def _given(record: Record, stop: Stop) -> Checks:
    """Numbers that were put in: nothing was computed, they only have to be the same."""
    value, given = record.value, record.operands[0].value
    worst = Worst("given")
    beyond = np.where(value == given, 0.0, np.inf)
    worst.look(everywhere(value.shape), beyond, value, given)
    if worst.failing:
        yield worst.check()
    else:
        yield Check("given", None, value.size, value.size)


CHECKS: Sequence[tuple[type[Op], Callable[[Record, Stop], Checks]]] = (
    (Softmax, _shares),
    (MaskedScores, _hidden),
    (Normalise, _normalised),
    (Add, _sum),
    (LogSoftmax, _log_shares),
    (DropoutMask, _dropout_mask),
    (Dropped, _dropped),
    (Given, _given),
)
