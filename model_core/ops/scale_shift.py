"""The last step of layer norm: a size and a level for each channel.

Source: Ba et al. 2016, equation 4.
"""

from __future__ import annotations

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
    number,
    summed,
    unbroadcast,
)


class ScaleShift(Op):
    """y = x gamma + beta, channel by channel.

    x: (..., D)   gamma, beta: (D,)   returns: (..., D)
    """

    name = "scale_shift"
    formula = r"y = \gamma \odot x + \beta"
    sentence = (
        "Each channel gets back a size and a level of its own, both learned: the model may undo "
        "the normalising where that helps."
    )
    backward_formulas = (
        r"\bar{x} = \bar{y} \odot \gamma",
        r"\bar{\gamma} = \sum_t \bar{y}_t \odot x_t",
        r"\bar{\beta} = \sum_t \bar{y}_t",
    )

    def forward(self, x: Array, gamma: Array, beta: Array, *, out: Array | None = None) -> Array:
        out = np.multiply(x, gamma, out=out)
        return np.add(out, beta, out=out)

    def backward(
        self, d_out: Array, out: Array, x: Array, gamma: Array, beta: Array
    ) -> tuple[Array | None, ...]:
        d_gamma = unbroadcast(np.multiply(d_out, x), gamma.shape)
        return np.multiply(d_out, gamma), d_gamma, unbroadcast(d_out, beta.shape)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        x, gamma, beta = operands
        channel = index[-1:]
        own, factor, shift = cell(x, index), cell(gamma, channel), cell(beta, channel)
        terms = (
            Term(
                f"x * gamma[{channel[0]}]",
                x.name,
                index,
                own * factor,
                (own, factor),
                (Origin(x.name, index), Origin(gamma.name, channel)),
            ),
            Term(f"beta[{channel[0]}]", beta.name, channel, shift),
        )
        text = f"{number(own)} * {number(factor)} + {number(shift)}"
        return Explanation(own * factor + shift, text, terms)

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        x, gamma = operands[0], operands[1]
        channel = index[-1]
        # a number of x meets its channel's gamma once, gamma and beta meet every row
        rows = [index[:-1]] if which == 0 else list(np.ndindex(x.value.shape[:-1]))
        terms = []
        for at_row in rows:
            place = (*at_row, channel)
            d, gradient = cell(d_out, place), Origin(d_out.name, place, "gradient")
            said = ",".join(map(str, place[1:] or place))
            if which == 2:
                terms.append(Term(f"dy[{said}]", d_out.name, place, d, (), (gradient,)))
                continue
            other = Origin(x.name, place) if which else Origin(gamma.name, (channel,))
            label = f"dy[{said}] * x[{said}]" if which else f"dy[{said}] * gamma[{channel}]"
            factor = cell(x if which else gamma, other.index)
            origins = (gradient, other)
            terms.append(Term(label, d_out.name, place, d * factor, (d, factor), origins))
        return summed(terms)

    def expression(self, names: Sequence[str]) -> str:
        return f"{names[0]} * {names[1]} + {names[2]}"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        if which == 0:
            return f"{d_out} * {names[1]}"
        product = f"({d_out} * {names[0]})" if which == 1 else d_out
        return f"{product}.reshape(-1, {d_out}.shape[-1]).sum(axis=0)"

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        channel = at(index[-1])
        return (at(*index), channel, channel), (0,) * len(index)

    def magnitude(self, value: Array, operands: Sequence[Array]) -> Array:
        x, gamma, beta = operands
        return np.abs(x * gamma) + np.abs(beta)
