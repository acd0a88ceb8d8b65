"""Dropout, in training only: which numbers are dropped, and the dropping."""

from __future__ import annotations

import copy
from collections.abc import Sequence

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
    no_gradient,
    number,
    summed,
)

# A quarter of a random 64-bit number decides about each cell: three times as fast as a float
# each, and a rate of 0.1 becomes 0.100006.
LEVELS = 2**16
CELLS_PER_DRAW = 4


class DropoutMask(Op):
    """0 with the chance `rate`, else 1 / (1 - rate), drawn anew for every cell of x.

    x: any shape   generator: np.random.Generator, advanced by the draw
    returns: the shape and type of x
    Source: Srivastava et al. 2014, scaled while training.

    To explain or to repeat a mask, the generator must be in the state it had before the draw.
    """

    name = "dropout_mask"
    formula = (
        r"m = \begin{cases} 0 & u < r \\ \frac{1}{1-r} & \mathrm{else} \end{cases}"
        r"\quad u \sim U(0,1)"
    )
    sentence = (
        "Chance chooses numbers to leave out of this training step, so that no number becomes "
        "indispensable; the others grow a little to keep the average."
    )
    backward_formulas = ("", "")

    def __init__(self, rate: float) -> None:
        if not 0.0 <= rate < 1.0:
            raise ValueError(f"dropout rate is {rate}, expected 0 <= rate < 1")
        self.rate = float(rate)
        self.kept = 1.0 / (1.0 - self.rate)
        self.threshold = round(self.rate * LEVELS)

    def forward(
        self, x: Array, generator: np.random.Generator, *, out: Array | None = None
    ) -> Array:
        if out is None:
            out = np.empty(x.shape, x.dtype)
        kept = self._levels(x, generator) >= self.threshold
        return np.multiply(kept, self.kept, out=out, dtype=out.dtype)

    def _levels(self, x: Array, generator: np.random.Generator) -> Array:
        draws = -(-x.size // CELLS_PER_DRAW)
        bits = generator.integers(0, 2**64 - 1, draws, dtype=np.uint64, endpoint=True)
        return bits.view(np.uint16)[: x.size].reshape(x.shape)

    def backward(
        self, d_out: Array, out: Array, x: Array, generator: np.random.Generator
    ) -> tuple[Array | None, ...]:
        return None, None

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        x, generator = operands
        level = float(self._levels(x.value, copy.deepcopy(generator.value))[index]) / LEVELS
        threshold = self.threshold / LEVELS
        text = f"0.0 if {number(level)} < {number(threshold)} else {number(self.kept)}"
        value = 0.0 if level < threshold else self.kept
        # drawn, so that there is no place to read it at
        return Explanation(value, text, (Term("u", generator.name, index, level, (), (None,)),))

    def expression(self, names: Sequence[str]) -> str:
        x, generator = names
        draws = f"-(-{x}.size // {CELLS_PER_DRAW})"
        bits = f"{generator}.integers(0, 2**64 - 1, {draws}, dtype=np.uint64, endpoint=True)"
        levels = f"{bits}.view(np.uint16)[:{x}.size].reshape({x}.shape)"
        return f"(({levels} >= {self.threshold}) * {self.kept!r}).astype({x}.dtype)"


class Dropped(Op):
    """x times a dropout mask.   x, mask: the same shape   returns: the same"""

    name = "dropped"
    formula = r"y = x \odot m"
    sentence = "The numbers that chance chose are left out; the others pass, scaled up a little."
    backward_formulas = (r"\bar{x} = \bar{y} \odot m", "")

    def forward(self, x: Array, mask: Array, *, out: Array | None = None) -> Array:
        return np.multiply(x, mask, out=out)

    def backward(self, d_out: Array, out: Array, x: Array, mask: Array) -> tuple[Array | None, ...]:
        return np.multiply(d_out, mask), None

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        x, mask = operands
        return _kept("x", cell(x, index), Origin(x.name, index), mask)

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        if which != 0:
            raise no_gradient(self, which)
        origin = Origin(d_out.name, index, "gradient")
        return _kept("dy", cell(d_out, index), origin, operands[1])

    def expression(self, names: Sequence[str]) -> str:
        return f"{names[0]} * {names[1]}"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        if which != 0:
            raise no_gradient(self, which)
        return f"{d_out} * {names[1]}"

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        return (at(*index), at(*index)), (0,) * len(index)


def _kept(name: str, value: float, origin: Origin, mask: Operand) -> Explanation:
    """A number times its cell of the mask."""
    factor = cell(mask, origin.index)
    origins = origin, Origin(mask.name, origin.index)
    share, factors = value * factor, (value, factor)
    return summed([Term(f"{name} * mask", origin.name, origin.index, share, factors, origins)])
