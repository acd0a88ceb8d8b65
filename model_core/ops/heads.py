"""The heads of attention: cutting every token's vector into theirs, and joining them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

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
    summed,
)


class SplitHeads(Op):
    """Cut the last axis into heads and bring the heads forward.

    x: (B, T, H*K)   returns: (B, H, T, K), a view
    """

    name = "split_heads"
    formula = r"y_{b,h,t,k} = x_{b,t,hK+k}"
    sentence = "Each head takes its own slice of every token's vector; nothing is computed."
    is_view = True
    backward_formulas = (r"\bar{x}_{b,t,hK+k} = \bar{y}_{b,h,t,k}",)

    def __init__(self, n_heads: int) -> None:
        self.n_heads = n_heads

    def forward(self, x: Array, *, out: Array | None = None) -> Array:
        return x.reshape(*x.shape[:-1], self.n_heads, -1).swapaxes(-3, -2)

    def backward(self, d_out: Array, out: Array, x: Array) -> tuple[Array | None, ...]:
        return (d_out.swapaxes(-3, -2).reshape(x.shape),)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        x = operands[0]
        return _copied("x", x, merged(index, x.value.shape[-1] // self.n_heads))

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        place = split(index, operands[0].value.shape[-1] // self.n_heads)
        return _copied("dy", d_out, place, "gradient")

    def expression(self, names: Sequence[str]) -> str:
        x = names[0]
        return f"{x}.reshape(*{x}.shape[:-1], {self.n_heads}, -1).swapaxes(-3, -2)"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        return f"{d_out}.swapaxes(-3, -2).reshape({names[0]}.shape)"

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        *leading, head, token, channel = index
        width = operands[0].value.shape[-1] // self.n_heads
        # this channel of every head: the expression cuts what it is given into as many heads
        part = (*at(*leading, token), slice(channel, None, width))
        return (part,), (*(0,) * len(leading), head, 0, 0)


class MergeHeads(Op):
    """Put the heads of each token side by side again.

    x: (B, H, T, K)   returns: (B, T, H*K), a view where x lies token by token in memory
    """

    name = "merge_heads"
    formula = r"y_{b,t,hK+k} = x_{b,h,t,k}"
    sentence = "What the heads brought back is put side by side, one vector per token."
    backward_formulas = (r"\bar{x}_{b,h,t,k} = \bar{y}_{b,t,hK+k}",)

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
        return _copied("x", x, split(index, x.value.shape[-1]))

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        return _copied("dy", d_out, merged(index, operands[0].value.shape[-1]), "gradient")

    def expression(self, names: Sequence[str]) -> str:
        x = names[0]
        shape = f"*{x}.shape[:-3], {x}.shape[-2], {x}.shape[-3] * {x}.shape[-1]"
        return f"{x}.swapaxes(-3, -2).reshape({shape})"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        x = names[0]
        shape = f"*{d_out}.shape[:-1], {x}.shape[-3], {x}.shape[-1]"
        return f"{d_out}.reshape({shape}).swapaxes(-3, -2)"

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        return (at(*split(index, operands[0].value.shape[-1])),), (0,) * len(index)


def merged(index: Index, width: int) -> Index:
    """Where the cell (..., head, token, channel) lies with the heads side by side."""
    *leading, head, token, channel = index
    return (*leading, token, head * width + channel)


def split(index: Index, width: int) -> Index:
    """Where the cell (..., token, channel) lies with the heads apart, each of this width."""
    *leading, token, channel = index
    head, inner = divmod(channel, width)
    return (*leading, head, token, inner)


def _copied(
    label: str, operand: Operand, place: Index, of: Literal["value", "gradient"] = "value"
) -> Explanation:
    origin = Origin(operand.name, place, of)
    return summed([Term(label, operand.name, place, cell(operand, place), (), (origin,))])
