"""Sums of two vectors: the embedding plus the position, the residual stream."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model_core.ops.base import (
    Array,
    Explanation,
    Index,
    Op,
    Operand,
    Term,
    cell,
    number,
    own_index,
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

    def forward(self, a: Array, b: Array, *, out: Array | None = None) -> Array:
        return np.add(a, b, out=out)

    def backward(self, d_out: Array, out: Array, a: Array, b: Array) -> tuple[Array | None, ...]:
        return unbroadcast(d_out, a.shape), unbroadcast(d_out, b.shape)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        terms = []
        for label, operand in zip(("a", "b"), operands, strict=True):
            place = own_index(index, operand.value.shape)
            terms.append(Term(label, operand.name, place, cell(operand, place)))
        left, right = terms[0].value, terms[1].value
        return Explanation(left + right, f"{number(left)} + {number(right)}", tuple(terms))

    def expression(self, names: Sequence[str]) -> str:
        return f"{names[0]} + {names[1]}"


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
