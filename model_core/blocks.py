"""A record in blocks: what each needs of the inputs, and its cells once more in float64."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from model_core.expressions import recomputed
from model_core.ops import EmbeddingRows, LearnedPosition
from model_core.ops.base import Array, Op, Operand, Part

# One slice per axis, each with a start and a stop.
Place = tuple[slice, ...]

# What one block may come to: 30 ms of work at most (GELU's erf, number by number) and a few
# megabytes, whatever the record's size.
LARGEST_BLOCK = 2**14
LARGEST_PART = 2**19
# Which rows of a table these read follows from the ids, not from the place.
GATHERS = (EmbeddingRows, LearnedPosition)


def recomputed_at(op: Op, operands: Sequence[Operand], place: Place) -> tuple[Array, Array] | None:
    """The cells at `place` and the sum of the sizes of each one's terms, in float64.

    The op's forward has no part in it. None where the op cannot be had for this block alone.
    """
    if isinstance(op, GATHERS):
        taken = _rows_taken(operands, place)
    else:
        parts = _parts(op, operands, place)
        taken = [Operand(o.name, np.asarray(o.value)[part]) for o, part in zip(operands, parts)]
    value, size = recomputed(op, taken)
    return (value, size) if value.shape == extent(place) else None


def _rows_taken(operands: Sequence[Operand], place: Place) -> list[Operand]:
    """The table's rows that a block has, and the ids as if these were all that it has."""
    table, ids = operands
    used, numbers = np.unique(np.asarray(ids.value)[place[:-1]], return_inverse=True)
    return [Operand(table.name, table.value[used, place[-1]]), Operand(ids.name, numbers)]


def extent(place: Place) -> tuple[int, ...]:
    """The shape of what lies at a place."""
    return tuple(part.stop - part.start for part in place)


def everywhere(shape: Sequence[int]) -> Place:
    """The place of all cells."""
    return tuple(slice(0, size) for size in shape)


def blocks(op: Op, operands: Sequence[Operand], shape: tuple[int, ...]) -> Iterator[Place]:
    """Places that make up the whole, none larger than a block where the op lets it be cut."""
    if 0 in shape:
        return
    last = tuple(size - 1 for size in shape)
    # An axis can be cut where a cell's parts leave one place of it; a softmax needs whole rows.
    own = op.reads(last, operands)[1]
    free = [axis for axis, size in enumerate(shape) if size > 1 and own[axis] == 0]
    yield from _halved(op, operands, everywhere(shape), free)


def row_blocks(shape: tuple[int, ...]) -> Iterator[Place]:
    """Places of whole rows of the last axis that make up the whole."""
    if 0 in shape:
        return
    waiting = [everywhere(shape)]
    while waiting:
        place = waiting.pop()
        sizes = extent(place)
        axis = next((axis for axis, size in enumerate(sizes[:-1]) if size > 1), None)
        if math.prod(sizes) <= LARGEST_BLOCK or axis is None:
            yield place
        else:
            waiting += reversed(_halves(place, axis))


def _halved(
    op: Op, operands: Sequence[Operand], place: Place, free: Sequence[int]
) -> Iterator[Place]:
    waiting = [place]
    while waiting:
        place = waiting.pop()
        if _load(op, operands, place) > 1.0:
            cuts = [_halves(place, axis) for axis in free if extent(place)[axis] > 1]
            if cuts:
                # the first of equals: an outer axis, so that the cells lie side by side
                waiting += reversed(min(cuts, key=lambda cut: _load(op, operands, cut[0])))
                continue
        yield place


def _halves(place: Place, axis: int) -> list[Place]:
    part = place[axis]
    middle = (part.start + part.stop + 1) // 2
    ends = slice(part.start, middle), slice(middle, part.stop)
    return [(*place[:axis], end, *place[axis + 1 :]) for end in ends]


def _load(op: Op, operands: Sequence[Operand], place: Place) -> float:
    """How much larger than allowed a block is, itself or what is read for it."""
    own = math.prod(extent(place)) / LARGEST_BLOCK
    if isinstance(op, GATHERS):
        return own
    read = sum(math.prod(extent(part)) for part in _parts(op, operands, place))
    return max(own, read / LARGEST_PART)


def _parts(op: Op, operands: Sequence[Operand], place: Place) -> list[Place]:
    """What of each operand the cells at a place need: from its first cell's to its last's."""
    first = op.reads(tuple(part.start for part in place), operands)[0]
    last = op.reads(tuple(part.stop - 1 for part in place), operands)[0]
    return [
        _spanned(np.shape(operand.value), *ends)
        for operand, *ends in zip(operands, first, last, strict=True)
    ]


def _spanned(shape: tuple[int, ...], first: Part, last: Part) -> Place:
    if ... in first or ... in last:
        return everywhere(shape)
    ends = zip(_bounds(shape, first), _bounds(shape, last), strict=True)
    return tuple(slice(min(a[0], b[0]), max(a[1], b[1])) for a, b in ends)


def _bounds(shape: tuple[int, ...], part: Part) -> list[tuple[int, int]]:
    return [one.indices(size)[:2] for one, size in zip(part, shape, strict=True)]
