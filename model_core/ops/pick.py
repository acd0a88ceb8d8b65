"""One number of an array by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model_core.ops.base import Array, Explanation, Index, Op, Operand, Origin, Term, cell, summed


class Pick(Op):
    """y = x[index], a single number.   x: any shape   returns: ()"""

    name = "pick"
    formula = r"y = x_{t,v}"
    sentence = "One number is chosen out of all: the one whose gradient is asked for."
    backward_formulas = (r"\bar{x}_{s,w} = \bar{y} \, [\, s = t, \; w = v \,]",)

    def __init__(self, index: Sequence[int]) -> None:
        self.index: Index = tuple(int(place) for place in index)

    def _label(self, name: str) -> str:
        """The number as the formula has it: without the batch axis."""
        return f"{name}[{','.join(map(str, self.index[-2:]))}]"

    def forward(self, x: Array, *, out: Array | None = None) -> Array:
        if out is None:
            out = np.empty((), x.dtype)
        out[...] = x[self.index]
        return out

    def backward(self, d_out: Array, out: Array, x: Array) -> tuple[Array | None, ...]:
        d_x = np.zeros_like(x)
        d_x[self.index] = d_out
        return (d_x,)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        x = operands[0]
        return summed([Term(self._label("x"), x.name, self.index, cell(x, self.index))])

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        if tuple(index) != self.index:
            return summed([])
        origins = (Origin(d_out.name, (), "gradient"),)
        return summed([Term("dy", d_out.name, (), cell(d_out, ()), (), origins)])

    def expression(self, names: Sequence[str]) -> str:
        return f"{names[0]}[{self.index}]"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        x = names[0]
        place = f"np.ravel_multi_index({self.index}, {x}.shape)"
        return f"np.where(np.arange({x}.size).reshape({x}.shape) == {place}, {d_out}, 0.0)"
