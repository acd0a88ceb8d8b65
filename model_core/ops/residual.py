"""Sums of two vectors: the embedding plus the position, the residual stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from model_core.ops.base import (
    Array,
    Explanation,
    Index,
    Op,
    Operand,
    Origin,
    Part,
    Term,
    at,
    cell,
    own_index,
    summed,
    unbroadcast,
)


class Add(Op):
    """a + b, where either may lack leading axes.

    a: (B, T, D)   b: (B, T, D) or (T, D)   returns: (B, T, D)
    """

    name = "add"
    formula = r"y = a + b"
    sentence = (
        "The token's vector and the vector of its place are added, so that the same word at "
        "another place reads differently."
    )
    backward_formulas = (r"\bar{a} = \bar{y}", r"\bar{b} = \sum_{\mathrm{batch}} \bar{y}")

    def forward(self, a: Array, b: Array, *, out: Array | None = None) -> Array:
        return np.add(a, b, out=out)

    def backward(self, d_out: Array, out: Array, a: Array, b: Array) -> tuple[Array | None, ...]:
        return unbroadcast(d_out, a.shape), unbroadcast(d_out, b.shape)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        terms = []
        for label, operand in zip(("a", "b"), operands, strict=True):
            place = own_index(index, operand.value.shape)
            terms.append(Term(label, operand.name, place, cell(operand, place)))
        return summed(terms)

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        terms = []
        places = list(_reached(index, operands[which].value.shape, d_out.value.shape))
        for place in places:
            origin = Origin(d_out.name, place, "gradient")
            label = "dy" if len(places) == 1 else f"dy[{','.join(map(str, place))}]"
            terms.append(Term(label, d_out.name, place, cell(d_out, place), (), (origin,)))
        return summed(terms)

    def expression(self, names: Sequence[str]) -> str:
        return f"{names[0]} + {names[1]}"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        # the axes that an input lacks are all in front
        return f"{d_out}.reshape(-1, *{names[which]}.shape).sum(axis=0)"

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        parts = tuple(at(*own_index(index, operand.value.shape)) for operand in operands)
        return parts, (0,) * len(index)

    def magnitude(self, value: Array, operands: Sequence[Array]) -> Array:
        return np.abs(operands[0]) + np.abs(operands[1])


def _reached(index: Index, shape: tuple[int, ...], result: tuple[int, ...]) -> Iterator[Index]:
    """Where a cell of an input was added, the input being of the given shape.

    result: the shape that the input was broadcast to
    """
    lacking = len(result) - len(shape)
    reach: list[Sequence[int]] = [range(size) for size in result[:lacking]]
    for place, size, wide in zip(index, shape, result[lacking:], strict=True):
        reach.append(range(wide) if size == 1 else (place,))
    return product(*reach)


class Residual(Add):
    """x + sublayer(x), the residual connection.

    x: (B, T, D)   returns: (B, T, D)
    Source: Vaswani et al. 2017, section 3.1.
    """

    name = "residual"
    formula = r"y = x + \mathrm{sublayer}(x)"
    sentence = (
        "What the sublayer found out is added to what was there before, so that nothing is lost "
        "and gradients have a straight way back."
    )
    backward_formulas = (r"\bar{x} = \bar{y}", r"\overline{\mathrm{sublayer}(x)} = \bar{y}")

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        return d_out
