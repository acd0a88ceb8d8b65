"""The matrix that a worked example starts from."""

from __future__ import annotations

from collections.abc import Sequence

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
    summed,
)


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
    backward_formulas = (r"\bar{x} = \bar{y}",)

    def forward(self, x: Array, *, out: Array | None = None) -> Array:
        return x

    def backward(self, d_out: Array, out: Array, x: Array) -> tuple[Array | None, ...]:
        return (d_out,)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        x = operands[0]
        return summed([Term("x", x.name, index, cell(x, index))])

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        origin = Origin(d_out.name, index, "gradient")
        return summed([Term("dy", d_out.name, index, cell(d_out, index), (), (origin,))])

    def expression(self, names: Sequence[str]) -> str:
        return names[0]

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        return d_out

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        return (at(*index),), (0,) * len(index)
