"""Layer norm in its four steps, and its whole backward at once.

Source: Ba et al. 2016, equations 3 and 4.
"""

from __future__ import annotations

import math
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
    column_sums,
    empty,
    filled,
    number,
    ones,
    row,
    total,
    unbroadcast,
)


def row_means(x: Array, *, out: Array | None = None) -> Array:
    """The mean of each row.   x: (..., D)   returns: (..., 1)"""
    width = x.shape[-1]
    if out is None:
        out = empty((*x.shape[:-1], 1), x)
    elif not out.flags.c_contiguous:
        return filled(out, row_means(x))
    # A product with ones takes a fifth of the time of x.mean.
    np.matmul(x.reshape(-1, width), ones(width, x.dtype), out=out.reshape(-1, 1))
    return np.divide(out, float(width), out=out)


class Mean(Op):
    """The mean of each row.   x: (..., D)   returns: (..., 1)"""

    name = "mean"
    formula = r"\mu = \frac{1}{d} \sum_i x_i"
    sentence = "The average of a token's numbers, to be taken away so that they centre on 0."

    def forward(self, x: Array, *, out: Array | None = None) -> Array:
        return row_means(x, out=out)

    def backward(self, d_out: Array, out: Array, x: Array) -> tuple[Array | None, ...]:
        d_x = np.empty(x.shape, d_out.dtype)
        return (np.divide(d_out, float(x.shape[-1]), out=d_x),)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        x = operands[0]
        numbers = row(x, index[:-1]).tolist()
        width = len(numbers)
        terms = tuple(
            Term(f"x[{i}] / {width}", x.name, (*index[:-1], i), v / width, (v, 1 / width))
            for i, v in enumerate(numbers)
        )
        text = f"({total([number(v) for v in numbers])}) / {number(width)}"
        steps = {"total": math.fsum(numbers), "width": float(width)}
        return Explanation(math.fsum(numbers) / width, text, terms, steps)

    def expression(self, names: Sequence[str]) -> str:
        return f"{names[0]}.mean(axis=-1, keepdims=True)"


class Variance(Op):
    """The mean square distance of each row from its mean (the population variance).

    x: (..., D)   mean: (..., 1)   returns: (..., 1)
    """

    name = "variance"
    formula = r"\sigma^2 = \frac{1}{d} \sum_i (x_i - \mu)^2"
    sentence = "How widely a token's numbers spread around their average."

    def forward(self, x: Array, mean: Array, *, out: Array | None = None) -> Array:
        centred = np.subtract(x, mean)
        if out is None:
            out = np.empty(mean.shape, x.dtype)
        np.vecdot(centred, centred, out=out[..., 0])
        return np.divide(out, float(x.shape[-1]), out=out)

    def backward(self, d_out: Array, out: Array, x: Array, mean: Array) -> tuple[Array | None, ...]:
        d_x = np.subtract(x, mean)
        d_x *= d_out * (2.0 / x.shape[-1])
        # 0 where the mean is x's own; whoever changes the mean wants to know.
        return d_x, -d_x.sum(axis=-1, keepdims=True)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        x, mean = operands
        numbers, centre = row(x, index[:-1]).tolist(), cell(mean, index)
        width = len(numbers)
        terms = tuple(
            Term(
                f"(x[{i}] - mean)² / {width}",
                x.name,
                (*index[:-1], i),
                (v - centre) ** 2 / width,
                (v - centre, v - centre, 1 / width),
            )
            for i, v in enumerate(numbers)
        )
        squares = total([f"({number(v)} - {number(centre)}) ** 2" for v in numbers])
        value = math.fsum(term.value for term in terms)
        steps = {"mean": centre, "total": value * width, "width": float(width)}
        return Explanation(value, f"({squares}) / {number(width)}", terms, steps)

    def expression(self, names: Sequence[str]) -> str:
        x, mean = names
        return f"(({x} - {mean}) ** 2).mean(axis=-1, keepdims=True)"


class Normalise(Op):
    """Each row shifted to mean 0 and scaled to variance 1.

    x: (..., D)   mean, variance: (..., 1)   returns: (..., D)
    """

    name = "normalise"
    formula = r"y = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}}"
    sentence = (
        "A token's numbers are moved to average 0 and stretched to spread 1, so that every layer "
        "reads numbers of the same size."
    )

    def __init__(self, eps: float) -> None:
        self.eps = float(eps)

    def _spread(self, variance: Array) -> Array:
        spread = np.add(variance, self.eps)
        return np.sqrt(spread, out=spread)

    def forward(self, x: Array, mean: Array, variance: Array, *, out: Array | None = None) -> Array:
        out = np.subtract(x, mean, out=out)
        return np.divide(out, self._spread(variance), out=out)

    def backward(
        self, d_out: Array, out: Array, x: Array, mean: Array, variance: Array
    ) -> tuple[Array | None, ...]:
        d_x = np.divide(d_out, self._spread(variance))
        d_mean = -d_x.sum(axis=-1, keepdims=True)
        # d y / d variance = -y / (2 · (variance + eps))
        d_variance = np.vecdot(d_out, out)[..., None]
        d_variance *= -0.5
        d_variance /= variance + self.eps
        return d_x, d_mean, d_variance

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        x, mean, variance = operands
        at_row = (*index[:-1], 0)
        own, centre, spread = cell(x, index), cell(mean, at_row), cell(variance, at_row)
        root = math.sqrt(spread + self.eps)
        terms = (
            Term(
                f"x[{index[-1]}] / sqrt(variance + eps)", x.name, index, own / root, (own, 1 / root)
            ),
            Term(
                "-mean / sqrt(variance + eps)",
                mean.name,
                at_row,
                -centre / root,
                (-centre, 1 / root),
            ),
        )
        text = f"({number(own)} - {number(centre)}) / sqrt({number(spread)} + {number(self.eps)})"
        steps = {"mean": centre, "variance": spread, "eps": self.eps}
        return Explanation((own - centre) / root, text, terms, steps)

    def expression(self, names: Sequence[str]) -> str:
        x, mean, variance = names
        return f"({x} - {mean}) / np.sqrt({variance} + {self.eps!r})"


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
            Term(f"x * gamma[{channel[0]}]", x.name, index, own * factor, (own, factor)),
            Term(f"beta[{channel[0]}]", beta.name, channel, shift),
        )
        text = f"{number(own)} * {number(factor)} + {number(shift)}"
        return Explanation(own * factor + shift, text, terms)

    def expression(self, names: Sequence[str]) -> str:
        return f"{names[0]} * {names[1]} + {names[2]}"


def layer_norm(
    x: Array, gamma: Array, beta: Array, eps: float
) -> tuple[Array, Array, Array, Array]:
    """The forwards of Mean, Variance, Normalise and ScaleShift at once, to the same bits.

    x: (..., D)   gamma, beta: (D,)
    returns: mean (..., 1), variance (..., 1), normalised (..., D), out (..., D)
    """
    width = float(x.shape[-1])
    mean = row_means(x)
    normalised = np.subtract(x, mean)
    variance = np.vecdot(normalised, normalised)[..., None]
    np.divide(variance, width, out=variance)
    spread = np.add(variance, eps)
    np.sqrt(spread, out=spread)
    np.divide(normalised, spread, out=normalised)
    out = np.multiply(normalised, gamma)
    np.add(out, beta, out=out)
    return mean, variance, normalised, out


def layer_norm_backward(
    d_out: Array, normalised: Array, variance: Array, eps: float, gamma: Array
) -> tuple[Array, Array, Array]:
    """The backwards of Mean, Variance, Normalise and ScaleShift at once.

    d_out, normalised: (..., D)   variance: (..., 1)   gamma: (D,)
    returns: d_x (..., D), d_gamma (D,), d_beta (D,)
    """
    width = gamma.shape[0]
    d_rows, rows = d_out.reshape(-1, width), normalised.reshape(-1, width)
    product = np.multiply(d_rows, rows)
    d_gamma, d_beta = column_sums(product), column_sums(d_rows)
    # With g = d_out · gamma and y = normalised:
    # d_x = (g - mean of g - y · mean of g·y) / sqrt(variance + eps)
    weights = (gamma / width).reshape(width, 1)
    along = np.matmul(product, weights)
    level = np.matmul(d_rows, weights)
    d_x = np.multiply(d_rows, gamma)
    d_x -= level
    np.multiply(rows, along, out=product)
    d_x -= product
    spread = np.add(variance.reshape(-1, 1), eps)
    np.sqrt(spread, out=spread)
    d_x /= spread
    return d_x.reshape(d_out.shape), d_gamma, d_beta
