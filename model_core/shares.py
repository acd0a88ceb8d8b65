"""What one record adds to the gradient of one of its inputs."""

from __future__ import annotations

from typing import NamedTuple

from model_core.expressions import evaluated, in_float64
from model_core.ops.base import Array, Explanation, Index, Op, Operand


class Share(NamedTuple):
    """What one record adds to the gradient of one of its inputs.

    d_out: the record's own gradient, under the record's name   out: its value
    which: the number of the input
    """

    op: Op
    which: int
    d_out: Operand
    out: Operand
    operands: tuple[Operand, ...]

    @property
    def consumer_site(self) -> str:
        """The record that reads the input."""
        return self.out.name

    @property
    def formula(self) -> str:
        """LaTeX of this share; empty where the op does not say."""
        formulas = self.op.backward_formulas
        return formulas[self.which] if self.which < len(formulas) else ""

    def explain(self, index: Index) -> Explanation:
        """How the share in the cell at `index` of the input comes about, in float64."""
        return self.op.explain_backward(self.which, index, self.d_out, self.out, self.operands)


def recomputed_share(share: Share) -> Array:
    """A share of a gradient by its op's backward expression in float64."""
    operands = [in_float64(operand.value) for operand in share.operands]
    names = [f"x{number}" for number in range(len(operands))]
    values = dict(zip(names, operands, strict=True))
    values |= {"d_y": in_float64(share.d_out.value), "y": in_float64(share.out.value)}
    return evaluated(share.op.backward_expression(share.which, "d_y", "y", names), values)
