"""Attention around its softmax: heads, scores, the mask, the weighted sum."""

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
    empty,
    number,
    own_index,
    row,
    total,
)


class SplitHeads(Op):
    """Cut the last axis into heads and bring the heads forward.

    x: (B, T, H*K)   returns: (B, H, T, K), a view
    """

    name = "split_heads"
    formula = r"y_{b,h,t,k} = x_{b,t,hK+k}"
    sentence = "Each head takes its own slice of every token's vector; nothing is computed."
    is_view = True

    def __init__(self, n_heads: int) -> None:
        self.n_heads = n_heads

    def forward(self, x: Array, *, out: Array | None = None) -> Array:
        return x.reshape(*x.shape[:-1], self.n_heads, -1).swapaxes(-3, -2)

    def backward(self, d_out: Array, out: Array, x: Array) -> tuple[Array | None, ...]:
        return (d_out.swapaxes(-3, -2).reshape(x.shape),)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        x = operands[0]
        *leading, head, token, channel = index
        place = (*leading, token, head * (x.value.shape[-1] // self.n_heads) + channel)
        return _copied(x, place)

    def expression(self, names: Sequence[str]) -> str:
        x = names[0]
        return f"{x}.reshape(*{x}.shape[:-1], {self.n_heads}, -1).swapaxes(-3, -2)"


class MergeHeads(Op):
    """Put the heads of each token side by side again.

    x: (B, H, T, K)   returns: (B, T, H*K), a view where x lies token by token in memory
    """

    name = "merge_heads"
    formula = r"y_{b,t,hK+k} = x_{b,h,t,k}"
    sentence = "What the heads brought back is put side by side, one vector per token."

    def forward(self, x: Array, *, out: Array | None = None) -> Array:
        by_token = x.swapaxes(-3, -2)
        if out is None:
            return by_token.reshape(*by_token.shape[:-2], -1)
        # Cutting the last axis of an array is always a view of it.
        np.copyto(out.reshape(by_token.shape), by_token)
        return out

    def backward(self, d_out: Array, out: Array, x: Array) -> tuple[Array | None, ...]:
        return (d_out.reshape(*d_out.shape[:-1], x.shape[-3], x.shape[-1]).swapaxes(-3, -2),)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        x = operands[0]
        *leading, token, channel = index
        head, inner = divmod(channel, x.value.shape[-1])
        return _copied(x, (*leading, head, token, inner))

    def expression(self, names: Sequence[str]) -> str:
        x = names[0]
        shape = f"*{x}.shape[:-3], {x}.shape[-2], {x}.shape[-3] * {x}.shape[-1]"
        return f"{x}.swapaxes(-3, -2).reshape({shape})"


def _copied(operand: Operand, place: Index) -> Explanation:
    value = cell(operand, place)
    return Explanation(value, number(value), (Term("x", operand.name, place, value),))


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
        d_q = np.matmul(d_out, k)
        d_q *= self.scale
        d_k = np.matmul(d_out.swapaxes(-1, -2), q)
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
            )
            for i, (a, b) in enumerate(pairs)
        )
        text = total([f"{number(a)} * {number(b)}" for a, b in pairs])
        product = math.fsum(a * b for a, b in pairs)
        steps = {"product": product, "scale": self.scale, "width": float(len(pairs))}
        return Explanation(product * self.scale, f"({text}) * {number(self.scale)}", terms, steps)

    def _scale_text(self, width: int) -> str:
        """The scale as people write it, behind what it scales."""
        if math.isclose(self.scale, 1 / math.sqrt(width), rel_tol=1e-9):
            return f" / √{width}"
        return "" if self.scale == 1.0 else f" * {self.scale:g}"

    def expression(self, names: Sequence[str]) -> str:
        return f"{names[0]} @ {names[1]}.swapaxes(-1, -2) * {self.scale!r}"


class MaskedScores(Op):
    """The scores, with -inf where a key is hidden.

    scores: (B, H, T, S)   mask: bool that broadcasts to it, True = may be attended to
    returns: (B, H, T, S)
    """

    name = "masked_scores"
    formula = r"y_{t,s} = \begin{cases} x_{t,s} & m_{t,s} \\ -\infty & \mathrm{else} \end{cases}"
    sentence = "A hidden key's score becomes minus infinity, so that its weight will be exactly 0."

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
        if mask.value[place]:
            return _copied(scores, index)
        term = Term("hidden by the mask", mask.name, place, -math.inf)
        return Explanation(-math.inf, "(-inf)", (term,))

    def expression(self, names: Sequence[str]) -> str:
        return f"np.where({names[1]}, {names[0]}, -np.inf)"


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

    def forward(self, weights: Array, v: Array, *, out: Array | None = None) -> Array:
        if out is None and weights.ndim >= 3:
            # Laid out token by token in memory, so that putting the heads side by side is a view.
            *leading, heads, tokens = weights.shape[:-1]
            out = empty((*leading, tokens, heads, v.shape[-1]), v).swapaxes(-3, -2)
        return np.matmul(weights, v, out=out)

    def backward(
        self, d_out: Array, out: Array, weights: Array, v: Array
    ) -> tuple[Array | None, ...]:
        return np.matmul(d_out, v.swapaxes(-1, -2)), np.matmul(weights.swapaxes(-1, -2), d_out)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        weights, v = operands
        *leading, token, channel = index
        shares = row(weights, (*leading, token)).tolist()
        values = np.asarray(v.value[(*leading, slice(None), channel)], np.float64).tolist()
        terms = tuple(
            Term(f"w[{key}] * v[{key},{channel}]", v.name, (*leading, key, channel), w * x, (w, x))
            for key, (w, x) in enumerate(zip(shares, values, strict=True))
        )
        text = total([f"{number(w)} * {number(x)}" for w, x in zip(shares, values, strict=True)])
        return Explanation(math.fsum(term.value for term in terms), text, terms)

    def expression(self, names: Sequence[str]) -> str:
        return f"{names[0]} @ {names[1]}"
