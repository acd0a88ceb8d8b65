"""Masks: which keys a query may attend to. True means that it may."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model_core.ops.base import (
    Array,
    Explanation,
    Index,
    Op,
    Operand,
    Part,
    Term,
    at,
    cell,
    number,
    own_index,
)


class PaddingMask(Op):
    """Real tokens may be attended to by every head and every query, padding by none.

    real: (B, S) bool   returns: (B, 1, 1, S) bool, a view
    """

    name = "padding_mask"
    formula = r"m_{b,1,1,s} = \mathrm{real}_{b,s}"
    sentence = (
        "Sentences of a batch are filled up to one length; this says which keys are real tokens, "
        "so that nobody attends to the filling."
    )
    is_view = True
    backward_formulas = ("",)

    def forward(self, real: Array, *, out: Array | None = None) -> Array:
        return real[..., None, None, :]

    def backward(self, d_out: Array, out: Array, real: Array) -> tuple[Array | None, ...]:
        return (None,)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        place = (*index[:-3], index[-1])
        value = cell(operands[0], place)
        return Explanation(value, number(value), (Term("real", operands[0].name, place, value),))

    def expression(self, names: Sequence[str]) -> str:
        return f"{names[0]}[..., None, None, :]"

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        return (at(*index[:-3], index[-1]),), (0,) * len(index)


class LookAheadMask(Op):
    """A query may attend to keys at its own and earlier positions.

    query_positions: (T,) int   key_positions: (K,) int   returns: (1, 1, T, K) bool
    Source: Vaswani et al. 2017, section 3.2.3.
    """

    name = "look_ahead_mask"
    formula = r"m_{t,k} = [\, k \le t \,]"
    sentence = (
        "A token may look at itself and at earlier tokens only: the later ones are what it has "
        "to guess."
    )
    backward_formulas = ("", "")

    def forward(
        self, query_positions: Array, key_positions: Array, *, out: Array | None = None
    ) -> Array:
        queries = query_positions[None, None, :, None]
        return np.less_equal(key_positions[None, None, None, :], queries, out=out)

    def backward(
        self, d_out: Array, out: Array, query_positions: Array, key_positions: Array
    ) -> tuple[Array | None, ...]:
        return None, None

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        queries, keys = operands
        query, key = cell(queries, (index[-2],)), cell(keys, (index[-1],))
        terms = (
            Term("position of the key", keys.name, (index[-1],), key),
            Term("position of the query", queries.name, (index[-2],), query),
        )
        text = f"1.0 if {number(key)} <= {number(query)} else 0.0"
        return Explanation(1.0 if key <= query else 0.0, text, terms)

    def expression(self, names: Sequence[str]) -> str:
        return f"({names[1]} <= {names[0]}[:, None])[None, None]"

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        return (at(index[-2]), at(index[-1])), (0,) * len(index)


class BothMasks(Op):
    """a and b.   a, b: bool that broadcast together   returns: bool"""

    name = "both_masks"
    formula = r"m = a \wedge b"
    sentence = "A key may be attended to only where both masks allow it."
    backward_formulas = ("", "")

    def forward(self, a: Array, b: Array, *, out: Array | None = None) -> Array:
        return np.logical_and(a, b, out=out)

    def backward(self, d_out: Array, out: Array, a: Array, b: Array) -> tuple[Array | None, ...]:
        return None, None

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        terms = []
        for label, operand in zip(("a", "b"), operands, strict=True):
            place = own_index(index, operand.value.shape)
            terms.append(Term(label, operand.name, place, cell(operand, place)))
        left, right = terms[0].value, terms[1].value
        text = f"min({number(left)}, {number(right)})"
        return Explanation(min(left, right), text, tuple(terms))

    def expression(self, names: Sequence[str]) -> str:
        return f"{names[0]} & {names[1]}"

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        parts = tuple(at(*own_index(index, operand.value.shape)) for operand in operands)
        return parts, (0,) * len(index)
