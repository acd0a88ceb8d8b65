"""Whether a gradient is what it should be: the shares once more in float64, and their algebra."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from model_core.blocks import Place, everywhere, row_blocks
from model_core.checks import Check, Worst, WorstRow, excess, tiny_of, tolerance_of
from model_core.expressions import in_float64
from model_core.gradients import GradientRecord, GradientTape
from model_core.ops import LogSoftmax, Softmax
from model_core.ops.base import Array, Index, Operand
from model_core.shares import Share, recomputed_share

# Rounding errors are measured by what becomes of small ones: so often, and so small.
DRAWS, NUDGE = 4, 2.0**-20
# A larger operand is left as it is: the numbers that it is multiplied with are nudged anyway.
LARGEST_NUDGED = 2**20
SOFTMAXES = (Softmax, LogSoftmax)


def gradient_checks(record: GradientRecord, stop: Callable[[], None]) -> Iterator[Check]:
    """All checks of one gradient; `stop` is called every few milliseconds."""
    shares = record.shares
    if shares and all(isinstance(share.op, SOFTMAXES) for share in shares):
        yield _rows_sum_to_zero(record, shares, stop)
    yield _agreement(record, shares, stop)


def largest_of(tape: GradientTape, stop: Callable[[], None]) -> float:
    """The largest number in the gradients of all sites."""
    largest = 0.0
    for record in tape:
        stop()
        sizes = record.value[np.isfinite(record.value)]
        if sizes.size:
            largest = max(largest, float(-sizes.min()), float(sizes.max()))
    return largest


def _agreement(
    record: GradientRecord, shares: tuple[Share, ...], stop: Callable[[], None]
) -> Check:
    """Every cell against the sum of the ops' backward expressions in float64."""
    value = record.value
    worst, tolerance, tiny = Worst("recomputed"), tolerance_of(value), tiny_of(value)
    for place in _places(value.shape, shares):
        stop()
        wanted, size = _again(record, shares, place, stop)
        size = np.maximum(size, float(np.abs(wanted).max(initial=0.0)))
        found = value[place]
        worst.look(place, excess(found, wanted, size, tolerance, tiny), found, wanted)
    return worst.check()


def _again(
    record: GradientRecord, shares: tuple[Share, ...], place: Place, stop: Callable[[], None]
) -> tuple[Array, Array]:
    """The gradient at a place in float64, and what its rounding errors are measured against."""
    if not shares:
        return record.recompute()
    value, size = np.zeros(()), np.zeros(())
    for share in shares:
        cut = _cut(share, place)
        part = recomputed_share(cut)
        value = value + part
        size = size + np.abs(part) + _feels(cut, part, stop)
    return value, size


def _feels(share: Share, value: Array, stop: Callable[[], None]) -> Array:
    """How much a share feels errors of the numbers that it is reckoned from, row by row.

    An op that rounds on its way is no better than one that reads numbers which are off by a
    rounding error each, and no worse: terms that all but cancel out, in the gradient of a mean or
    of a certain choice, leave an error of the terms' size and not of their sum's. A relative error
    e of all that is read makes one of about e times the number that is returned.
    """
    generator, total = np.random.default_rng(0), np.zeros(value.shape)

    def nudged(operand: Operand) -> Operand:
        array = in_float64(operand.value)
        if array.dtype.kind != "f" or array.size > LARGEST_NUDGED:
            return operand
        errors = generator.random(array.shape, dtype=np.float32) - 0.5
        # of a mean square of 1
        return Operand(operand.name, array * (1.0 + NUDGE * math.sqrt(12.0) * errors))

    for _ in range(DRAWS):
        stop()
        operands = tuple(map(nudged, share.operands))
        moved = share._replace(d_out=nudged(share.d_out), out=nudged(share.out), operands=operands)
        total += ((recomputed_share(moved) - value) / NUDGE) ** 2
    size: Array = np.sqrt(total / DRAWS)
    return size.max(axis=-1, keepdims=True) if size.ndim else size


def _terms(share: Share, place: Place) -> Array:
    """The sum of the sizes of the terms of a softmax's gradient, which all but cancel out."""
    d_out = np.abs(in_float64(share.d_out.value[place]))
    out = in_float64(share.out.value[place])
    if isinstance(share.op, Softmax):
        d_out *= out
        return d_out + out * d_out.sum(axis=-1, keepdims=True)
    return d_out + np.exp(out) * d_out.sum(axis=-1, keepdims=True)


def _places(shape: tuple[int, ...], shares: tuple[Share, ...]) -> Iterator[Place]:
    """Head by head where no share mixes heads, else all at once."""
    if shares and all(_by_heads(share, shape) for share in shares):
        heads = np.ndindex(shape[:2])
        yield from ((slice(b, b + 1), slice(h, h + 1), *everywhere(shape[2:])) for b, h in heads)
    elif 0 not in shape:
        yield everywhere(shape)


def _by_heads(share: Share, shape: tuple[int, ...]) -> bool:
    """Whether batch and heads are leading axes of all that a share reads: none is mixed then."""
    arrays = [share.d_out, share.out, *share.operands]
    shapes = [np.shape(array.value) for array in arrays]
    alike = all(
        len(one) == 4 and all(a in (1, b) for a, b in zip(one[:2], shape[:2], strict=True))
        for one in shapes
    )
    return alike and len(shape) == 4 and shapes[0][:2] == shape[:2]


def _cut(share: Share, place: Place) -> Share:
    """A share with the part of its arrays that belongs to one head; a whole place is no cut."""
    if not _by_heads(share, share.operands[share.which].value.shape):
        return share

    def part(operand: Operand) -> Operand:
        value = np.asarray(operand.value)
        ends = tuple(
            slice(None) if size == 1 else own
            for size, own in zip(value.shape[:2], place, strict=False)
        )
        return Operand(operand.name, value[ends])

    operands = tuple(map(part, share.operands))
    return share._replace(d_out=part(share.d_out), out=part(share.out), operands=operands)


def _rows_sum_to_zero(
    record: GradientRecord, shares: tuple[Share, ...], stop: Callable[[], None]
) -> Check:
    """What a softmax reads may all rise alike without any effect: its gradients sum to 0."""
    value = record.value
    worst, tolerance = WorstRow("gradient_rows_sum_to_zero"), tolerance_of(value)
    tiny = tiny_of(value) * value.shape[-1]
    for place in row_blocks(value.shape):
        stop()
        found = value[place].sum(axis=-1, keepdims=True, dtype=np.float64)
        size = sum(_terms(share, place).sum(axis=-1, keepdims=True) for share in shares)
        worst.look_at_rows(place, found, np.zeros_like(found), tolerance * size + tiny)

    def cell_of(row: Index) -> Index:
        again = record.recompute()[0]
        return (*row, int(np.argmax(np.abs(in_float64(value[row]) - again[row]))))

    return worst.check_row(cell_of)
