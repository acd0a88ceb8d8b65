"""Activations: what the feed-forward layer does to each number by itself."""

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
    number,
)
from model_core.ops.erf import normal_below

SQRT_TWO_OVER_PI = math.sqrt(2.0 / math.pi)
CUBIC = 0.044715
# Farther out float32 cannot hold e^-x, and what it makes of the result is as small as this.
FAINT = 1e-28


def _input_term(index: Index, operand: Operand) -> tuple[Term, ...]:
    return (Term("x", operand.name, index, cell(operand, index)),)


class CellByCell:
    """What the ops here share: a cell is reckoned from the same cell of the input alone."""

    def slope(self, x: float) -> tuple[tuple[str, float], ...]:
        """The derivative at x as a sum: each part's name and size."""
        raise NotImplementedError

    def slope_text(self, x: float) -> str:
        """The derivative at x, to be evaluated with EVALUATION_NAMES."""
        raise NotImplementedError

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        x, d = cell(operands[0], index), cell(d_out, index)
        parts = self.slope(x)
        origins = Origin(d_out.name, index, "gradient"), None, Origin(operands[0].name, index)
        terms = tuple(
            Term(f"dy * {name}", d_out.name, index, d * part, (d, part), origins)
            for name, part in parts
        )
        slope = math.fsum(part for _, part in parts)
        text = f"{number(d)} * ({self.slope_text(x)})"
        return Explanation(d * slope, text, terms, {"own": d, "x": x, "slope": slope})

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        return (at(*index),), (0,) * len(index)


class Relu(CellByCell, Op):
    """x where it is positive, else 0.   x: any shape   returns: the same"""

    name = "relu"
    formula = r"y = \max(0, x)"
    sentence = (
        "Negative numbers become 0 and positive ones pass: the bend that lets two linear maps "
        "in a row say more than one."
    )
    backward_formulas = (r"\bar{x} = \bar{y} \; [\, x > 0 \,]",)

    def forward(self, x: Array, *, out: Array | None = None) -> Array:
        return np.maximum(x, 0.0, out=out)

    def backward(self, d_out: Array, out: Array, x: Array) -> tuple[Array | None, ...]:
        return (np.multiply(d_out, x > 0),)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        x = cell(operands[0], index)
        return Explanation(max(0.0, x), f"max(0.0, {number(x)})", _input_term(index, operands[0]))

    def slope(self, x: float) -> tuple[tuple[str, float], ...]:
        return (("[x > 0]", float(x > 0)),)

    def slope_text(self, x: float) -> str:
        return f"1.0 if {number(x)} > 0 else 0.0"

    def expression(self, names: Sequence[str]) -> str:
        return f"np.maximum({names[0]}, 0.0)"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        return f"{d_out} * ({names[0]} > 0)"


class Gelu(CellByCell, Op):
    """x times the chance that a standard normal number lies below x.

    x: any shape   returns: the same
    Source: Hendrycks and Gimpel 2016, section 2.
    """

    name = "gelu"
    formula = r"y = x \, \Phi(x) = \frac{x}{2} \left( 1 + \mathrm{erf} \frac{x}{\sqrt{2}} \right)"
    sentence = (
        "Positive numbers pass almost unchanged and negative ones fade to 0, with a smooth bend "
        "in between."
    )
    backward_formulas = (
        r"\bar{x} = \bar{y} \left( \Phi(x) + x \, \frac{e^{-x^2/2}}{\sqrt{2\pi}} \right)",
    )

    def forward(self, x: Array, *, out: Array | None = None) -> Array:
        out = normal_below(x, out=out)
        return np.multiply(out, x, out=out)

    def backward(self, d_out: Array, out: Array, x: Array) -> tuple[Array | None, ...]:
        # d = Φ(x) + x · (the density at x)
        density = np.multiply(x, x)
        density *= -0.5
        np.exp(density, out=density)
        density *= 1.0 / math.sqrt(2.0 * math.pi)
        density *= x
        # Φ(x) is y / x: read off faster than computed again
        below = np.full_like(x, 0.5)
        np.divide(out, x, out=below, where=x != 0.0)
        density += below
        density *= d_out
        return (density,)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        x = cell(operands[0], index)
        value = 0.5 * x * (1.0 + math.erf(x / math.sqrt(2.0)))
        text = f"0.5 * {number(x)} * (1.0 + erf({number(x)} / sqrt(2.0)))"
        return Explanation(value, text, _input_term(index, operands[0]))

    def slope(self, x: float) -> tuple[tuple[str, float], ...]:
        density = math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
        # Φ(x) in its two parts, of which a rounding error has the size
        return (
            ("1/2", 0.5),
            ("erf(x / √2) / 2", 0.5 * math.erf(x / math.sqrt(2.0))),
            ("x * density(x)", x * density),
        )

    def slope_text(self, x: float) -> str:
        n = number(x)
        below = f"0.5 + 0.5 * erf({n} / sqrt(2.0))"
        return f"{below} + {n} * exp(-0.5 * {n} * {n}) / sqrt(2.0 * pi)"

    def expression(self, names: Sequence[str]) -> str:
        x = names[0]
        error = f"np.vectorize(math.erf, otypes=[float])({x} / math.sqrt(2.0))"
        return f"(0.5 * {x} * (1.0 + {error})).astype({x}.dtype)"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        x = names[0]
        below = f"0.5 * (1.0 + np.vectorize(math.erf, otypes=[float])({x} / math.sqrt(2.0)))"
        density = f"np.exp(-0.5 * {x} ** 2) / math.sqrt(2.0 * math.pi)"
        # the error function is reckoned in float64
        return f"{d_out} * ({below} + {x} * {density}).astype({x}.dtype)"

    def magnitude(self, value: Array, operands: Sequence[Array]) -> Array:
        # 0.5 and erf / 2 cancel where x is far below 0
        return np.abs(operands[0])


class GeluTanh(CellByCell, Op):
    """GELU's approximation by a tanh.

    x: any shape   returns: the same
    Source: Hendrycks and Gimpel 2016, section 2.
    """

    name = "gelu_tanh"
    formula = (
        r"y = \frac{x}{2} \left( 1 + \tanh \left( \sqrt{\frac{2}{\pi}} "
        r"\left( x + 0.044715 \, x^3 \right) \right) \right)"
    )
    sentence = (
        "Positive numbers pass almost unchanged and negative ones fade to 0, with a smooth bend "
        "in between (an approximation of GELU that needs no error function)."
    )
    backward_formulas = (
        r"\bar{x} = \frac{\bar{y}}{2} \left( 1 + \tanh u "
        r"+ x \, (1 - \tanh^2 u) \, \frac{\partial u}{\partial x} \right), \quad "
        r"u = \sqrt{\frac{2}{\pi}} \left( x + 0.044715 \, x^3 \right)",
    )

    def forward(self, x: Array, *, out: Array | None = None) -> Array:
        out = np.multiply(x, x, out=out)
        np.multiply(out, CUBIC * SQRT_TWO_OVER_PI, out=out)
        np.add(out, SQRT_TWO_OVER_PI, out=out)
        np.multiply(out, x, out=out)
        np.tanh(out, out=out)
        np.add(out, 1.0, out=out)
        np.multiply(out, 0.5, out=out)
        return np.multiply(out, x, out=out)

    def backward(self, d_out: Array, out: Array, x: Array) -> tuple[Array | None, ...]:
        square = np.multiply(x, x)
        inner = np.multiply(square, CUBIC * SQRT_TWO_OVER_PI)
        inner += SQRT_TWO_OVER_PI
        inner *= x
        bend = np.tanh(inner, out=inner)
        # d inner / dx, then times x/2 · (1 - tanh²)
        square *= 3.0 * CUBIC * SQRT_TWO_OVER_PI
        square += SQRT_TWO_OVER_PI
        square *= x
        square *= 0.5
        slope = np.multiply(bend, bend)
        np.subtract(1.0, slope, out=slope)
        slope *= square
        bend += 1.0
        bend *= 0.5
        slope += bend
        slope *= d_out
        return (slope,)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        x = cell(operands[0], index)
        value = 0.5 * x * (1.0 + math.tanh(math.sqrt(2.0 / math.pi) * (x + CUBIC * x * x * x)))
        n = number(x)
        inner = f"sqrt(2.0 / pi) * ({n} + {CUBIC} * {n} * {n} * {n})"
        text = f"0.5 * {n} * (1.0 + tanh({inner}))"
        return Explanation(value, text, _input_term(index, operands[0]))

    def slope(self, x: float) -> tuple[tuple[str, float], ...]:
        bend = math.tanh(SQRT_TWO_OVER_PI * (x + CUBIC * x * x * x))
        steep = SQRT_TWO_OVER_PI * (1.0 + 3.0 * CUBIC * x * x)
        return (
            ("1/2", 0.5),
            ("tanh(u) / 2", 0.5 * bend),
            ("x/2 * (1 - tanh(u)²) * du/dx", 0.5 * x * (1.0 - bend * bend) * steep),
        )

    def slope_text(self, x: float) -> str:
        n = number(x)
        bend = f"tanh(sqrt(2.0 / pi) * ({n} + {CUBIC} * {n} * {n} * {n}))"
        steep = f"sqrt(2.0 / pi) * (1.0 + 3.0 * {CUBIC} * {n} * {n})"
        return f"0.5 + 0.5 * {bend} + 0.5 * {n} * (1.0 - {bend} ** 2) * {steep}"

    def expression(self, names: Sequence[str]) -> str:
        x = names[0]
        inner = f"math.sqrt(2.0 / math.pi) * ({x} + {CUBIC} * {x} ** 3)"
        return f"0.5 * {x} * (1.0 + np.tanh({inner}))"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        x = names[0]
        bend = f"np.tanh(math.sqrt(2.0 / math.pi) * ({x} + {CUBIC} * {x} ** 3))"
        steep = f"math.sqrt(2.0 / math.pi) * (1.0 + 3.0 * {CUBIC} * {x} ** 2)"
        return f"0.5 * {d_out} * (1.0 + {bend} + {x} * (1.0 - {bend} ** 2) * {steep})"

    def magnitude(self, value: Array, operands: Sequence[Array]) -> Array:
        # 1 and tanh cancel where x is far below 0
        return np.abs(operands[0])


class Silu(CellByCell, Op):
    """x times the logistic function of x, also called swish.

    x: any shape   returns: the same
    Source: Elfwing et al. 2017, equation 2.
    """

    name = "silu"
    formula = r"y = x \, \sigma(x) = \frac{x}{1 + e^{-x}}"
    sentence = (
        "Each number is multiplied by how far it lies above 0, on a scale from 0 to 1: positive "
        "numbers pass, negative ones fade."
    )
    backward_formulas = (r"\bar{x} = \bar{y} \, \sigma(x) \left( 1 + x \, (1 - \sigma(x)) \right)",)

    def forward(self, x: Array, *, out: Array | None = None) -> Array:
        out = _one_plus_exp_minus(x, out)
        return np.divide(x, out, out=out)

    def backward(self, d_out: Array, out: Array, x: Array) -> tuple[Array | None, ...]:
        # With s = 1 / (1 + e^-x): d = s · (1 + x · (1 - s)) = s + y · (1 - s)
        gate = _one_plus_exp_minus(x, None)
        np.divide(1.0, gate, out=gate)
        slope = np.subtract(1.0, gate)
        slope *= out
        slope += gate
        slope *= d_out
        return (slope,)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        x = cell(operands[0], index)
        n = number(x)
        if x >= 0:
            value, text = x / (1.0 + math.exp(-x)), f"{n} / (1.0 + exp({number(-x)}))"
        else:
            # exp of a large positive number would overflow
            value = x * math.exp(x) / (1.0 + math.exp(x))
            text = f"{n} * exp({n}) / (1.0 + exp({n}))"
        return Explanation(value, text, _input_term(index, operands[0]))

    def slope(self, x: float) -> tuple[tuple[str, float], ...]:
        power = math.exp(-abs(x))
        # σ(x) in its two parts, of which a rounding error has the size
        return (
            ("1/2", 0.5),
            ("tanh(x / 2) / 2", 0.5 * math.tanh(0.5 * x)),
            ("x * σ(x) * (1 - σ(x))", x * power / (1.0 + power) ** 2),
        )

    def slope_text(self, x: float) -> str:
        n, power = number(x), f"exp({number(-abs(x))})"
        return f"0.5 + 0.5 * tanh(0.5 * {n}) + {n} * {power} / (1.0 + {power}) ** 2"

    def expression(self, names: Sequence[str]) -> str:
        x = names[0]
        # e^-x over- or underflows far below 0, and 1 + tanh(x/2) would lose its digits there
        return f"{x} * np.exp(np.minimum({x}, 0.0)) / (1.0 + np.exp(-np.abs({x})))"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        x = names[0]
        power = f"np.exp(-np.abs({x}))"
        gate = f"np.exp(np.minimum({x}, 0.0)) / (1.0 + {power})"
        return f"{d_out} * ({gate} + {x} * {power} / (1.0 + {power}) ** 2)"

    def magnitude(self, value: Array, operands: Sequence[Array]) -> Array:
        return np.maximum(np.abs(value), FAINT)


def _one_plus_exp_minus(x: Array, out: Array | None) -> Array:
    """1 + e^-x, as large as the type can hold where e^-x is larger still."""
    out = np.maximum(x, -87.0 if x.dtype == np.float32 else -708.0, out=out)
    np.negative(out, out=out)
    np.exp(out, out=out)
    out += 1.0
    return out


ACTIVATIONS: dict[str, type[Op]] = {op.name: op for op in (Relu, Gelu, GeluTanh, Silu)}


def activation(name: str) -> Op:
    """The activation op of that name: relu, gelu, gelu_tanh or silu."""
    if name not in ACTIVATIONS:
        raise ValueError(f"activation is {name!r}, expected one of {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]()
