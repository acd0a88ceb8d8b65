"""The matrix that a worked example starts from."""

from __future__ import annotations

from collections.abc import Sequence

from model_core.ops.base import Array, Explanation, Index, Op, Operand, Term, cell, number


class Given(Op):
    """The numbers that were put in, as they are.

    x: (B, S, D)   returns: (B, S, D), a view
    """

    name = "given"
    formula = r"y = x"
    sentence = (
        "The example starts here: one row of given numbers per token. Nothing is computed yet."
    )
    is_view = True

    def forward(self, x: Array, *, out: Array | None = None) -> Array:
        return x

    def backward(self, d_out: Array, out: Array, x: Array) -> tuple[Array | None, ...]:
        return (d_out,)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        x = operands[0]
        value = cell(x, index)
        return Explanation(value, number(value), (Term("x", x.name, index, value),))

    def expression(self, names: Sequence[str]) -> str:
        return names[0]
