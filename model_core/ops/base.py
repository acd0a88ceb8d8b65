"""What every op knows: its forward, its backward, its formula and how one cell comes about."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
Index = tuple[int, ...]
# Slices, one per axis, or (...,) for all of an array.
Part = tuple[Any, ...]


class Operand(NamedTuple):
    """One input of a record: its name (a site, a parameter or a run input) and its value."""

    name: str
    value: Any


class Origin(NamedTuple):
    """Where a number was read: a cell of a site, parameter or run input, or of its gradient."""

    name: str
    index: Index  # type: ignore[assignment]  # hides tuple.index, which nobody needs
    of: Literal["value", "gradient"] = "value"


class Term(NamedTuple):
    """One contribution to a cell: where it comes from and its signed share.

    factors: the numbers whose product the share is, where it is a product
    origins: where each factor was read, None for a constant; of a term without factors, where
        its own number was read, None where it was reckoned. Without origins it is the value of
        `site` at `index`. Behind these stand the cells that decided what was read (an id, a
        mask) and those that a number was reckoned from.
    """

    label: str
    site: str
    index: Index  # type: ignore[assignment]  # hides tuple.index, which nobody needs
    value: float
    factors: tuple[float, ...] = ()
    origins: tuple[Origin | None, ...] = ()


class Explanation(NamedTuple):
    """How one cell comes about: evaluating `text` with EVALUATION_NAMES gives `value`.

    steps: numbers on the way from the terms to the value, by the names that the op gives them
    """

    value: float
    text: str
    terms: tuple[Term, ...]
    steps: Mapping[str, float] = MappingProxyType({})


# The names that an explanation's text may use; all of them take and give Python floats.
EVALUATION_NAMES: dict[str, Callable[..., float] | float] = {
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "erf": math.erf,
    "tanh": math.tanh,
    "sin": math.sin,
    "cos": math.cos,
    "max": max,
    "min": min,
    "inf": math.inf,
    "pi": math.pi,
}

LONGEST_SUM = 256


class Op:
    """One kind of operation; an instance carries its constants (a scale, an eps, a head count).

    `forward` writes into `out` when it is given an array there (of the result's shape and
    type) and otherwise makes a new one; a view ignores it. It never changes an input.
    `backward` returns one gradient per input, in the input's own shape, None where there is
    none to give.
    """

    name: ClassVar[str]
    formula: ClassVar[str]
    sentence: ClassVar[str]
    # True when the result is a view of the first input: nothing is computed.
    is_view: ClassVar[bool] = False
    # LaTeX of the gradient of each input, in the inputs' order; "" where an input has none.
    # ∂y is \bar{y}: \bar{x} = \bar{y} W^{\top}
    backward_formulas: ClassVar[tuple[str, ...]] = ()

    # Each op names its own inputs; only a signature of Anys lets a type checker accept that.
    def forward(self, *inputs: Any, **out: Any) -> Array:
        """forward(*inputs, out=None) -> the result."""
        raise NotImplementedError

    def backward(self, *arrays: Any, **none: Any) -> tuple[Array | None, ...]:
        """backward(d_out, out, *inputs) -> a gradient per input."""
        raise NotImplementedError

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        """The cell at `index` in float64, from the operands' values; never calls forward."""
        raise NotImplementedError

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        """This record's share in the gradient of its input `which` at that input's cell `index`.

        d_out: the gradient of the record, under the record's name    out: the record's value
        In float64, by the formula that `backward` implements; never calls forward or backward.
        Raises ValueError for an input that gets no gradient, as an op does that says nothing.
        """
        raise no_gradient(self, which)

    def expression(self, names: Sequence[str]) -> str:
        """A NumPy expression over the names of the inputs that gives the whole result.

        `np` and `math` are the only other names it uses.
        """
        raise NotImplementedError

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        """A NumPy expression that gives the gradient of input `which`, in its own shape.

        d_out, out, names: the names of the record's gradient, its value and its inputs
        Raises ValueError for an input that gets no gradient, as an op does that says nothing.
        """
        raise no_gradient(self, which)

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        """What of the inputs the cell at `index` is reckoned from, and where the cell lies then.

        returns: per input the slices to take (all axes kept), and the cell's index in the result
        of `expression` over these parts. An op that says nothing reads all of its inputs.
        """
        return tuple((...,) for _ in operands), index

    def magnitude(self, value: Array, operands: Sequence[Array]) -> Array:
        """The sum of the sizes of each cell's terms: what a rounding error is measured against.

        value: the result in float64    operands: the inputs, floats as float64
        """
        return np.abs(value)


def number(value: Any) -> str:
    """A float as text that reads back to the same bits; negative numbers stand in brackets."""
    value = float(value)
    text = repr(value)
    return f"({text})" if text.startswith("-") else text


@cache
def ones(length: int, dtype: np.dtype) -> Array:
    """A column of ones: a product with it sums rows in a fraction of the time of x.sum."""
    column = np.ones((length, 1), dtype)
    column.setflags(write=False)
    return column


def empty(shape: tuple[int, ...], like: Array) -> Array:
    """An array to be written into, of the type of `like`."""
    # np.empty would not say which pass it is for (see capture.py)
    return np.empty_like(like, shape=shape, order="C")


def filled(out: Array, result: Array) -> Array:
    """`out` holding the result, for an `out` whose memory a kernel cannot write through."""
    np.copyto(out, result)
    return out


def no_gradient(op: Op, which: int) -> ValueError:
    """The error of asking an op for the gradient of an input that gets none."""
    return ValueError(f"{op.name} gives its input {which} no gradient")


def cell(operand: Operand, index: Index) -> float:
    """One cell of an operand, in float64."""
    return float(operand.value[index])


def row(operand: Operand, index: Index) -> Array:
    """One row (or any other part) of an operand, in float64."""
    return np.asarray(operand.value[index], dtype=np.float64)


def whole(axes: int) -> tuple[slice, ...]:
    """The slices that keep so many axes whole."""
    return (slice(None),) * axes


def at(*index: int) -> tuple[slice, ...]:
    """The slices that keep one cell of each of these axes, and the axes themselves."""
    return tuple(slice(i, i + 1) for i in index)


def own_index(index: Index, shape: tuple[int, ...]) -> Index:
    """Where a cell of a result reads an input of the given shape that was broadcast."""
    kept = index[len(index) - len(shape) :]
    return tuple(0 if size == 1 else place for place, size in zip(kept, shape, strict=True))


def total(parts: Sequence[str]) -> str:
    """The text of a sum, in groups: a parser gives up on a few thousand terms in one chain."""
    while len(parts) > LONGEST_SUM:
        groups = [parts[i : i + LONGEST_SUM] for i in range(0, len(parts), LONGEST_SUM)]
        parts = [f"({' + '.join(group)})" for group in groups]
    return " + ".join(parts) if parts else "0.0"


def summed(terms: Sequence[Term]) -> Explanation:
    """The explanation of a sum of terms, each a product of its factors or a number."""
    parts = [" * ".join(map(number, term.factors or (term.value,))) for term in terms]
    return Explanation(math.fsum(term.value for term in terms), total(parts), tuple(terms))


def column_sums(rows: Array) -> Array:
    """The sum of each column, as a product with ones.   rows: (N, D)   returns: (D,)"""
    return np.matmul(ones(rows.shape[0], rows.dtype).T, rows)[0]


def unbroadcast(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Sum a gradient over the axes along which its input was broadcast.

    gradient: any shape that `shape` broadcasts to    returns: shape
    """
    if gradient.shape == shape:
        return gradient
    extra = gradient.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(
        axis + extra
        for axis, size in enumerate(shape)
        if size == 1 and gradient.shape[axis + extra] != 1
    )
    return gradient.sum(axis=axes).reshape(shape)
