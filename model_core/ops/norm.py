"""Layer norm: its first three steps, and all four of them at once, forward and backward.

The fourth, ScaleShift, is in scale_shift.py.

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
    Origin,
    Part,
    Term,
    at,
    cell,
    column_sums,
    empty,
    filled,
    number,
    ones,
    row,
    total,
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


def _own_row(index: Index) -> Part:
    """The slices that keep the row of a cell alone."""
    return (*at(*index[:-1]), slice(None))


class Mean(Op):
    """The mean of each row.   x: (..., D)   returns: (..., 1)"""

    name = "mean"
    formula = r"\mu = \frac{1}{d} \sum_i x_i"
    sentence = "The average of a token's numbers, to be taken away so that they centre on 0."
    backward_formulas = (r"\bar{x}_i = \frac{1}{d} \, \bar{\mu}",)

    def forward(self, x: Array, *, out: Array | None = None) -> Array:
        return row_means(x, out=out)

    def backward(self, d_out: Array, out: Array, x: Array) -> tuple[Array | None, ...]:
        d_x = np.empty(x.shape, d_out.dtype)
        return (np.divide(d_out, float(x.shape[-1]), out=d_x),)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        x = operands[0]
        numbers = row(x, index[:-1]).tolist()
        width = len(numbers)
        terms = []
        for i, v in enumerate(numbers):
            place, factors = (*index[:-1], i), (v, 1 / width)
            origins = (Origin(x.name, place), None)
            terms.append(Term(f"x[{i}] / {width}", x.name, place, v / width, factors, origins))
        text = f"({total([number(v) for v in numbers])}) / {number(width)}"
        steps = {"total": math.fsum(numbers), "width": float(width)}
        return Explanation(math.fsum(numbers) / width, text, tuple(terms), steps)

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        at_row, width = (*index[:-1], 0), operands[0].value.shape[-1]
        d = cell(d_out, at_row)
        origins = (Origin(d_out.name, at_row, "gradient"), None)
        label, factors = f"dy / {width}", (d, 1 / width)
        term = Term(label, d_out.name, at_row, d / width, factors, origins)
        text = f"{number(d)} / {number(width)}"
        return Explanation(d / width, text, (term,), {"width": float(width)})

    def expression(self, names: Sequence[str]) -> str:
        return f"{names[0]}.mean(axis=-1, keepdims=True)"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        x = names[0]
        return f"np.broadcast_to({d_out} / {x}.shape[-1], {x}.shape)"

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        return (_own_row(index),), (0,) * len(index)

    def magnitude(self, value: Array, operands: Sequence[Array]) -> Array:
        return np.abs(operands[0]).mean(axis=-1, keepdims=True)


class Variance(Op):
    """The mean square distance of each row from its mean (the population variance).

    x: (..., D)   mean: (..., 1)   returns: (..., 1)
    """

    name = "variance"
    formula = r"\sigma^2 = \frac{1}{d} \sum_i (x_i - \mu)^2"
    sentence = "How widely a token's numbers spread around their average."
    backward_formulas = (
        r"\bar{x}_i = \frac{2}{d} \, (x_i - \mu) \, \overline{\sigma^2}",
        r"\bar{\mu} = -\frac{2}{d} \, \overline{\sigma^2} \sum_i (x_i - \mu)",
    )

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
        terms = []
        for i, v in enumerate(numbers):
            place, distance = (*index[:-1], i), v - centre
            terms.append(
                Term(
                    f"(x[{i}] - mean)² / {width}",
                    x.name,
                    place,
                    distance**2 / width,
                    (distance, distance, 1 / width),
                    (None, None, None, Origin(x.name, place), Origin(mean.name, index)),
                )
            )
        squares = total([f"({number(v)} - {number(centre)}) ** 2" for v in numbers])
        value = math.fsum(term.value for term in terms)
        steps = {"mean": centre, "total": value * width, "width": float(width)}
        return Explanation(value, f"({squares}) / {number(width)}", tuple(terms), steps)

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        x, mean = operands
        at_row = (*index[:-1], 0)
        width, sign = x.value.shape[-1], 1 - 2 * which
        d, centre = cell(d_out, at_row), cell(mean, at_row)
        gradient = Origin(d_out.name, at_row, "gradient")
        # the mean gets what all the numbers of its row get, with the other sign
        terms, distances = [], []
        for i in range(width) if which else index[-1:]:
            place = (*index[:-1], i)
            v = cell(x, place)
            factors = (sign * 2 / width, d, v - centre)
            terms.append(
                Term(
                    f"{sign * 2}/{width} * dy * (x[{i}] - mean)",
                    d_out.name,
                    at_row,
                    math.prod(factors),
                    factors,
                    (None, gradient, None, Origin(x.name, place), Origin(mean.name, at_row)),
                )
            )
            distances.append(f"{number(v)} - {number(centre)}")
        text = f"{number(sign * 2)} / {number(width)} * {number(d)} * ({total(distances)})"
        steps = {"mean": centre, "own": d, "width": float(width)}
        return Explanation(math.fsum(term.value for term in terms), text, tuple(terms), steps)

    def expression(self, names: Sequence[str]) -> str:
        x, mean = names
        return f"(({x} - {mean}) ** 2).mean(axis=-1, keepdims=True)"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        x, mean = names
        d_x = f"2 / {x}.shape[-1] * {d_out} * ({x} - {mean})"
        return f"-({d_x}).sum(axis=-1, keepdims=True)" if which else d_x

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        return (_own_row(index), at(*index)), (0,) * len(index)


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
    backward_formulas = (
        r"\bar{x}_i = \frac{\bar{y}_i}{\sqrt{\sigma^2 + \varepsilon}}",
        r"\bar{\mu} = -\frac{1}{\sqrt{\sigma^2 + \varepsilon}} \sum_i \bar{y}_i",
        r"\overline{\sigma^2} = -\frac{1}{2 \, (\sigma^2 + \varepsilon)} \sum_i \bar{y}_i \, y_i",
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
        below = Origin(variance.name, at_row)
        terms = (
            Term(
                f"x[{index[-1]}] / sqrt(variance + eps)",
                x.name,
                index,
                own / root,
                (own, 1 / root),
                (Origin(x.name, index), None, below),
            ),
            Term(
                "-mean / sqrt(variance + eps)",
                mean.name,
                at_row,
                -centre / root,
                (-1.0, centre, 1 / root),
                (None, Origin(mean.name, at_row), None, below),
            ),
        )
        text = f"({number(own)} - {number(centre)}) / sqrt({number(spread)} + {number(self.eps)})"
        steps = {"mean": centre, "variance": spread, "eps": self.eps}
        return Explanation((own - centre) / root, text, terms, steps)

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        variance = operands[2]
        at_row = (*index[:-1], 0)
        spread = cell(variance, at_row)
        if which == 2:
            return self._explain_for_variance(at_row, d_out, out, Operand(variance.name, spread))
        root = math.sqrt(spread + self.eps)
        below = Origin(variance.name, at_row)
        terms, parts = [], []
        for i in range(d_out.value.shape[-1]) if which else index[-1:]:
            place = (*index[:-1], i)
            d, gradient = cell(d_out, place), Origin(d_out.name, place, "gradient")
            sign = "-" if which else ""
            terms.append(
                Term(
                    f"{sign}dy[{i}] / sqrt(variance + eps)",
                    d_out.name,
                    place,
                    -d / root if which else d / root,
                    (-1.0, d, 1 / root) if which else (d, 1 / root),
                    (None, gradient, None, below) if which else (gradient, None, below),
                )
            )
            parts.append(number(d))
        value = math.fsum(term.value for term in terms)
        above = f"-({total(parts)})" if which else parts[0]
        text = f"{above} / sqrt({number(spread)} + {number(self.eps)})"
        return Explanation(value, text, tuple(terms), {"variance": spread, "eps": self.eps})

    def _explain_for_variance(
        self, at_row: Index, d_out: Operand, out: Operand, variance: Operand
    ) -> Explanation:
        """The gradient of a row's variance.   variance: its name and its value for the row"""
        spread = variance.value
        below = -0.5 / (spread + self.eps)
        terms, parts = [], []
        for i in range(d_out.value.shape[-1]):
            place = (*at_row[:-1], i)
            d, y = cell(d_out, place), cell(out, place)
            terms.append(
                Term(
                    f"-dy[{i}] * y[{i}] / (2 * (variance + eps))",
                    d_out.name,
                    place,
                    below * d * y,
                    (below, d, y),
                    (
                        None,
                        Origin(d_out.name, place, "gradient"),
                        Origin(out.name, place),
                        Origin(variance.name, at_row),
                    ),
                )
            )
            parts.append(f"{number(d)} * {number(y)}")
        text = f"-0.5 * ({total(parts)}) / ({number(spread)} + {number(self.eps)})"
        value = math.fsum(term.value for term in terms)
        return Explanation(value, text, tuple(terms), {"variance": spread, "eps": self.eps})

    def expression(self, names: Sequence[str]) -> str:
        x, mean, variance = names
        return f"({x} - {mean}) / np.sqrt({variance} + {self.eps!r})"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        spread = f"({names[2]} + {self.eps!r})"
        if which == 2:
            return f"-0.5 * ({d_out} * {out}).sum(axis=-1, keepdims=True) / {spread}"
        d_x = f"{d_out} / np.sqrt{spread}"
        return f"-({d_x}).sum(axis=-1, keepdims=True)" if which else d_x

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        at_row = at(*index[:-1], 0)
        return (at(*index), at_row, at_row), (0,) * len(index)

    def magnitude(self, value: Array, operands: Sequence[Array]) -> Array:
        x, mean, variance = operands
        return (np.abs(x) + np.abs(mean)) / np.sqrt(variance + self.eps)


def layer_norm(
    x: Array,
    gamma: Array,
    beta: Array,
    eps: float,
    outs: Sequence[Array | None] = (None, None, None, None),
) -> tuple[Array, Array, Array, Array]:
    """The forwards of Mean, Variance, Normalise and ScaleShift at once, to the same bits.

    x: (..., D)   gamma, beta: (D,)   outs: arrays to write into, where there are any
    returns: mean (..., 1), variance (..., 1), normalised (..., D), out (..., D)
    """
    width = float(x.shape[-1])
    mean = row_means(x, out=outs[0])
    normalised = np.subtract(x, mean, out=outs[2])
    variance = outs[1]
    if variance is None:
        variance = np.vecdot(normalised, normalised)[..., None]
    else:
        np.vecdot(normalised, normalised, out=variance[..., 0])
    np.divide(variance, width, out=variance)
    spread = np.add(variance, eps)
    np.sqrt(spread, out=spread)
    np.divide(normalised, spread, out=normalised)
    out = np.multiply(normalised, gamma, out=outs[3])
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
