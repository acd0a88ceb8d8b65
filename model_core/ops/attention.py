"""Attention around its softmax: scores, the mask, the weighted sum."""

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
    empty,
    no_gradient,
    number,
    own_index,
    row,
    summed,
    total,
)


def by_token(shape: tuple[int, ...], like: Array) -> Array:
    """An array (..., H, T, K) to be written into, in memory token by token.

    So putting the heads side by side is a view of it.
    """
    if len(shape) < 3:
        return empty(shape, like)
    *leading, heads, tokens, width = shape
    return empty((*leading, tokens, heads, width), like).swapaxes(-3, -2)


class Scores(Op):
    """How well each query matches each key: their products, scaled.

    q: (B, H, T, K)   k: (B, H, S, K)   returns: (B, H, T, S)
    Source: Vaswani et al. 2017, equation 1.
    """

    name = "scores"
    formula = r"s = \frac{q \, k^{\top}}{\sqrt{d_k}}"
    sentence = (
        "Every query is compared with every key: the more two vectors point the same way, the "
        "higher the score. The scale keeps long vectors from making every choice extreme."
    )
    backward_formulas = (
        r"\bar{q} = \frac{\bar{s} \, k}{\sqrt{d_k}}",
        r"\bar{k} = \frac{\bar{s}^{\top} q}{\sqrt{d_k}}",
    )

    def __init__(self, scale: float) -> None:
        self.scale = float(scale)

    def forward(self, q: Array, k: Array, *, out: Array | None = None) -> Array:
        if out is None and q.ndim >= 3:
            # Laid out key by key in memory: NumPy's maxima and sums over keys, which a softmax
            # takes, are quick only where many of them go on side by side.
            *leading, heads, tokens = q.shape[:-1]
            by_key = empty((*leading, k.shape[-2], heads, tokens), q)
            out = by_key.swapaxes(-3, -2).swapaxes(-2, -1)
        out = np.matmul(q, k.swapaxes(-1, -2), out=out)
        return np.multiply(out, self.scale, out=out)

    def backward(self, d_out: Array, out: Array, q: Array, k: Array) -> tuple[Array | None, ...]:
        d_q = np.matmul(d_out, k, out=by_token(q.shape, d_out))
        d_q *= self.scale
        d_k = np.matmul(d_out.swapaxes(-1, -2), q, out=by_token(k.shape, d_out))
        d_k *= self.scale
        return d_q, d_k

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        q, k = operands
        at_q, at_k = index[:-1], (*index[:-2], index[-1])
        pairs = list(zip(row(q, at_q).tolist(), row(k, at_k).tolist(), strict=True))
        scaled = self._scale_text(len(pairs))
        terms = tuple(
            Term(
                f"q[{i}] * k[{i}]{scaled}",
                q.name,
                (*at_q, i),
                a * b * self.scale,
                (a, b, self.scale),
                (Origin(q.name, (*at_q, i)), Origin(k.name, (*at_k, i)), None),
            )
            for i, (a, b) in enumerate(pairs)
        )
        text = total([f"{number(a)} * {number(b)}" for a, b in pairs])
        product = math.fsum(a * b for a, b in pairs)
        steps = {"product": product, "scale": self.scale, "width": float(len(pairs))}
        return Explanation(product * self.scale, f"({text}) * {number(self.scale)}", terms, steps)

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        *leading, place, channel = index
        other = operands[1 - which]
        scaled = self._scale_text(other.value.shape[-1])
        terms = []
        # over the keys for a query, over the queries for a key
        for i in range(other.value.shape[-2]):
            at_other = (*leading, i, channel)
            at_score = (*leading, place, i) if which == 0 else (*leading, i, place)
            d, x = cell(d_out, at_score), cell(other, at_other)
            label = f"ds[{at_score[-2]},{at_score[-1]}] * {'kq'[which]}[{i},{channel}]{scaled}"
            factors = (d, x, self.scale)
            origins = Origin(d_out.name, at_score, "gradient"), Origin(other.name, at_other), None
            share = d * x * self.scale
            terms.append(Term(label, d_out.name, at_score, share, factors, origins))
        return summed(terms)

    def _scale_text(self, width: int) -> str:
        """The scale as people write it, behind what it scales."""
        if math.isclose(self.scale, 1 / math.sqrt(width), rel_tol=1e-9):
            return f" / √{width}"
        return "" if self.scale == 1.0 else f" * {self.scale:g}"

    def expression(self, names: Sequence[str]) -> str:
        return f"{names[0]} @ {names[1]}.swapaxes(-1, -2) * {self.scale!r}"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        if which == 0:
            return f"{d_out} @ {names[1]} * {self.scale!r}"
        return f"{d_out}.swapaxes(-1, -2) @ {names[0]} * {self.scale!r}"

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        query, key = index[:-1], (*index[:-2], index[-1])
        return ((*at(*query), slice(None)), (*at(*key), slice(None))), (0,) * len(index)

    def magnitude(self, value: Array, operands: Sequence[Array]) -> Array:
        return np.abs(operands[0]) @ np.abs(operands[1]).swapaxes(-1, -2) * abs(self.scale)


class MaskedScores(Op):
    """The scores, with -inf where a key is hidden.

    scores: (B, H, T, S)   mask: bool that broadcasts to it, True = may be attended to
    returns: (B, H, T, S)
    """

    name = "masked_scores"
    formula = r"y_{t,s} = \begin{cases} x_{t,s} & m_{t,s} \\ -\infty & \mathrm{else} \end{cases}"
    sentence = "A hidden key's score becomes minus infinity, so that its weight will be exactly 0."
    backward_formulas = (
        r"\bar{x}_{t,s} = \begin{cases} \bar{y}_{t,s} & m_{t,s} \\ 0 & \mathrm{else} \end{cases}",
        "",
    )

    def forward(self, scores: Array, mask: Array, *, out: Array | None = None) -> Array:
        if out is None:
            out = np.empty_like(scores)
        np.copyto(out, -math.inf)
        np.copyto(out, scores, where=mask)
        return out

    def backward(
        self, d_out: Array, out: Array, scores: Array, mask: Array
    ) -> tuple[Array | None, ...]:
        d_scores = np.zeros_like(d_out)
        # Not a product with the mask: 0 times an infinite gradient would be nan.
        np.copyto(d_scores, d_out, where=mask)
        return d_scores, None

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        scores, mask = operands
        place = own_index(index, mask.value.shape)
        allowed = Origin(mask.name, place)
        if mask.value[place]:
            origins = Origin(scores.name, index), allowed
            return summed([Term("x", scores.name, index, cell(scores, index), (), origins)])
        term = Term("hidden by the mask", mask.name, place, -math.inf, (), (None, allowed))
        return Explanation(-math.inf, "(-inf)", (term,))

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        if which != 0:
            raise no_gradient(self, which)
        mask = operands[1]
        place = own_index(index, mask.value.shape)
        allowed = Origin(mask.name, place)
        if not mask.value[place]:
            return summed([Term("hidden by the mask", mask.name, place, 0.0, (), (None, allowed))])
        origins = Origin(d_out.name, index, "gradient"), allowed
        return summed([Term("dy", d_out.name, index, cell(d_out, index), (), origins)])

    def expression(self, names: Sequence[str]) -> str:
        return f"np.where({names[1]}, {names[0]}, -np.inf)"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        if which != 0:
            raise no_gradient(self, which)
        return f"np.where({names[1]}, {d_out}, 0.0)"

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        parts = at(*index), at(*own_index(index, operands[1].value.shape))
        return parts, (0,) * len(index)


class Context(Op):
    """What each query brings back: the values, averaged by its weights.

    weights: (B, H, T, S)   v: (B, H, S, K)   returns: (B, H, T, K)
    Source: Vaswani et al. 2017, equation 1.
    """

    name = "context"
    formula = r"c = w \, v"
    sentence = (
        "Each token collects the value vectors of the tokens it attends to, each in proportion "
        "to its weight."
    )
    backward_formulas = (r"\bar{w} = \bar{c} \, v^{\top}", r"\bar{v} = w^{\top} \bar{c}")

    def forward(self, weights: Array, v: Array, *, out: Array | None = None) -> Array:
        if out is None and weights.ndim >= 3:
            out = by_token((*weights.shape[:-1], v.shape[-1]), v)
        return np.matmul(weights, v, out=out)

    def backward(
        self, d_out: Array, out: Array, weights: Array, v: Array
    ) -> tuple[Array | None, ...]:
        d_weights = np.matmul(d_out, v.swapaxes(-1, -2))
        d_v = np.matmul(weights.swapaxes(-1, -2), d_out, out=by_token(v.shape, d_out))
        return d_weights, d_v

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        weights, v = operands
        *leading, token, channel = index
        terms = []
        for key, w in enumerate(row(weights, (*leading, token)).tolist()):
            at_w, at_v = (*leading, token, key), (*leading, key, channel)
            label, x = f"w[{key}] * v[{key},{channel}]", cell(v, at_v)
            origins = Origin(weights.name, at_w), Origin(v.name, at_v)
            terms.append(Term(label, v.name, at_v, w * x, (w, x), origins))
        return summed(terms)

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        return (_d_weight if which == 0 else _d_v)(index, d_out, operands[1 - which])

    def expression(self, names: Sequence[str]) -> str:
        return f"{names[0]} @ {names[1]}"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        if which == 0:
            return f"{d_out} @ {names[1]}.swapaxes(-1, -2)"
        return f"{names[0]}.swapaxes(-1, -2) @ {d_out}"

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        *leading, token, channel = index
        weights = (*at(*leading, token), slice(None))
        v = (*at(*leading), slice(None), *at(channel))
        return (weights, v), (0,) * len(index)

    def magnitude(self, value: Array, operands: Sequence[Array]) -> Array:
        return np.abs(operands[0]) @ np.abs(operands[1])


def _d_weight(index: Index, d_out: Operand, v: Operand) -> Explanation:
    """The gradient of a weight: how well the key's value fits what its query wants changed."""
    *leading, token, key = index
    terms = []
    for channel, x in enumerate(row(v, (*leading, key)).tolist()):
        at_c, at_v = (*leading, token, channel), (*leading, key, channel)
        label, d = f"dc[{token},{channel}] * v[{key},{channel}]", cell(d_out, at_c)
        origins = Origin(d_out.name, at_c, "gradient"), Origin(v.name, at_v)
        terms.append(Term(label, d_out.name, at_c, d * x, (d, x), origins))
    return summed(terms)


def _d_v(index: Index, d_out: Operand, weights: Operand) -> Explanation:
    """The gradient of a value, from all queries in proportion to their weights."""
    *leading, key, channel = index
    terms = []
    for token in range(d_out.value.shape[-2]):
        at_w, at_c = (*leading, token, key), (*leading, token, channel)
        w, d = cell(weights, at_w), cell(d_out, at_c)
        label = f"w[{token},{key}] * dc[{token},{channel}]"
        origins = Origin(weights.name, at_w), Origin(d_out.name, at_c, "gradient")
        terms.append(Term(label, d_out.name, at_c, w * d, (w, d), origins))
    return summed(terms)
