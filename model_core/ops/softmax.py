"""Softmax and its logarithm: scores to probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeGuard

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
    filled,
    number,
    ones,
    row,
    total,
)

# A row's shift starts here and a row's sum there, so that a row of only -inf gives 0 / TINY = 0:
# -inf minus -inf and 0 / 0 would be nan. Both lie beyond what any other row can reach.
LOWEST = -3e38
TINY = 1e-37
# Up to here an explanation tells e^x itself, beyond it e^x over the e^x of the largest.
PLAIN_POWERS = 30.0
# A share below this may have lost all its digits, or itself, to the smallest float32.
FAINT = 1e-30


def _shifted(x: Array, out: Array | None) -> Array:
    """Every row minus its largest entry, so that no e^x overflows.   x, out: (..., keys)"""
    largest = np.maximum.reduce(x, axis=-1, keepdims=True, initial=LOWEST)
    return np.subtract(x, largest, out=out)


def _row_sums(powers: Array) -> Array:
    """The sum of each row, never 0.   powers: (..., keys)   returns: (..., 1)"""
    if powers.flags.c_contiguous:
        # a product with ones adds up a long row in a fraction of the time
        rows = powers.reshape(-1, powers.shape[-1])
        sums = np.matmul(rows, ones(rows.shape[-1], rows.dtype)).reshape(*powers.shape[:-1], 1)
        return np.maximum(sums, TINY, out=sums)
    return np.add.reduce(powers, axis=-1, keepdims=True, initial=TINY)


def _laid_out_otherwise(out: Array | None, x: Array) -> TypeGuard[Array]:
    """Whether sums over `out` would be taken in another order than over a new result."""
    return out is not None and out.strides != np.empty_like(x).strides


def _own_row(index: Index) -> tuple[tuple[Part, ...], Index]:
    """What a cell reads that depends on its whole row, and where it lies in that row alone."""
    before = index[:-1]
    return ((*at(*before), slice(None)),), (*(0 for _ in before), index[-1])


def _counted(shares: Sequence[float], i: int) -> tuple[list[int], float]:
    """Which entries of a row are summed in the gradient of entry i, and what its own one counts.

    All of them, and 1. But for the largest share, all others and what these come to: 1 minus a
    share close to 1 has lost its digits, the sum of the others has all of them.
    """
    entries = list(range(len(shares)))
    if i != int(np.argmax(shares)):
        return entries, 1.0
    del entries[i]
    return entries, math.fsum(shares[j] for j in entries)


def _with_rest(term: Term, rest: float, counted: Sequence[Origin]) -> Term:
    """A term times the sum of the other shares, and where these were read."""
    factors = (*term.factors, rest)
    label, origins = f"{term.label} * (the other shares)", (*term.origins, None, *counted)
    return term._replace(label=label, value=math.prod(factors), factors=factors, origins=origins)


def _is_largest(out: str) -> str:
    """A NumPy expression: whether an entry is the (first) largest one of its row."""
    return f"(np.arange({out}.shape[-1]) == {out}.argmax(axis=-1, keepdims=True))"


class Softmax(Op):
    """Each row of the last axis as shares that sum to 1; a row of only -inf gives zeros.

    x: (..., keys)   returns: (..., keys)
    Source: Vaswani et al. 2017, equation 1.
    """

    name = "softmax"
    formula = r"y_i = \frac{e^{x_i}}{\sum_j e^{x_j}}"
    sentence = (
        "The scores of a row become shares that are positive and sum to 1: the larger the score, "
        "the larger the share, and a hidden key gets none."
    )
    backward_formulas = (r"\bar{x}_i = y_i \left( \bar{y}_i - \sum_j \bar{y}_j \, y_j \right)",)

    def forward(self, x: Array, *, out: Array | None = None) -> Array:
        if _laid_out_otherwise(out, x):
            return filled(out, self.forward(x))
        out = _shifted(x, out)
        np.exp(out, out=out)
        return np.divide(out, _row_sums(out), out=out)

    def backward(self, d_out: Array, out: Array, x: Array) -> tuple[Array | None, ...]:
        # d x_i = y_i · (d y_i - sum over j of d y_j · y_j). Adding a number to all d y of a row
        # changes nothing: without what they have in common, the second sum of a row with a share
        # close to 1 is small, and has all its digits.
        d_x = np.subtract(d_out, np.vecdot(d_out, out)[..., None])
        d_x -= np.vecdot(d_x, out)[..., None]
        d_x *= out
        return (d_x,)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        x = operands[0]
        scores = row(x, index[:-1])
        largest = float(scores.max())
        if largest == -math.inf:
            shares, text = np.zeros_like(scores), "0.0"
            steps = {"shift": 0.0, "power": 0.0, "sum": 0.0}
        else:
            powers = np.exp(scores - largest)
            shares = powers / powers.sum()
            parts = [f"exp({number(s)} - {number(largest)})" for s in scores]
            text = f"{parts[index[-1]]} / ({total(parts)})"
            # the plain powers where they are numbers that one can read
            shift = 0.0 if abs(largest) <= PLAIN_POWERS else largest
            steps = {
                "shift": shift,
                "power": math.exp(float(scores[index[-1]]) - shift),
                "sum": float(powers.sum()) * math.exp(largest - shift),
            }
        terms = []
        for key, share in enumerate(shares.tolist()):
            place = (*index[:-1], key)
            origins = (None, Origin(x.name, place))
            terms.append(Term(f"share of x[{key}]", x.name, place, share, (), origins))
        return Explanation(float(shares[index[-1]]), text, tuple(terms), steps)

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        at_row, i = index[:-1], index[-1]
        gradients, shares = row(d_out, at_row).tolist(), row(out, at_row).tolist()
        own, share = gradients[i], shares[i]
        counted, rest = _counted(shares, i)
        read_at, own_origin = Origin(out.name, index), Origin(d_out.name, index, "gradient")
        own_text, steps = number(own), {"own": own, "share": share}
        term = Term(f"y[{i}] * dy[{i}]", d_out.name, index, share * own, (share, own))
        term = term._replace(origins=(read_at, own_origin))
        if len(counted) < len(shares):
            own_text += f" * ({total([number(shares[j]) for j in counted])})"
            steps["rest"] = rest
            term = _with_rest(term, rest, [Origin(out.name, (*at_row, j)) for j in counted])
        terms, parts = [term], []
        for j in counted:
            d, y, place = gradients[j], shares[j], (*at_row, j)
            terms.append(
                Term(
                    f"-y[{i}] * dy[{j}] * y[{j}]",
                    d_out.name,
                    place,
                    -share * d * y,
                    (-1.0, share, d, y),
                    (None, read_at, Origin(d_out.name, place, "gradient"), Origin(out.name, place)),
                )
            )
            parts.append(f"{number(d)} * {number(y)}")
        steps["along"] = along = math.fsum(gradients[j] * shares[j] for j in counted)
        text = f"{number(share)} * ({own_text} - ({total(parts)}))"
        return Explanation(share * (own * rest - along), text, tuple(terms), steps)

    def expression(self, names: Sequence[str]) -> str:
        x = names[0]
        power = f"np.exp({x} - np.maximum({x}.max(axis=-1, keepdims=True), {LOWEST}))"
        return f"{power} / np.maximum({power}.sum(axis=-1, keepdims=True), {TINY})"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        above = f"({d_out} - ({d_out} * {out}).sum(axis=-1, keepdims=True))"
        return f"{out} * ({above} - ({above} * {out}).sum(axis=-1, keepdims=True))"

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        return _own_row(index)

    def magnitude(self, value: Array, operands: Sequence[Array]) -> Array:
        return np.maximum(value, FAINT)


class LogSoftmax(Op):
    """The logarithm of the softmax of each row of the last axis, without its underflow.

    x: (..., V)   returns: (..., V)
    """

    name = "log_softmax"
    formula = r"y_i = x_i - \log \sum_j e^{x_j}"
    sentence = (
        "The scores of all vocabulary tokens become log-probabilities: 0 would be certain, and "
        "every step down by 0.69 halves the chance."
    )
    backward_formulas = (r"\bar{x}_i = \bar{y}_i - e^{y_i} \sum_j \bar{y}_j",)

    def forward(self, x: Array, *, out: Array | None = None) -> Array:
        if _laid_out_otherwise(out, x):
            return filled(out, self.forward(x))
        out = _shifted(x, out)
        sums = _row_sums(np.exp(out))
        return np.subtract(out, np.log(sums, out=sums), out=out)

    def backward(self, d_out: Array, out: Array, x: Array) -> tuple[Array | None, ...]:
        # d x_i = d y_i - p_i · (sum of all d y), with p = e^y. The largest p of a row may be so
        # close to 1 that d y_i - p_i · d y_i loses its digits: there it is, of the others alone,
        # d y_i · (sum of their p) - p_i · (sum of their d y).
        shares, d_x = np.exp(out, order="C"), d_out.copy()
        rows, d_rows = (array.reshape(-1, out.shape[-1]) for array in (shares, d_x))
        largest = np.arange(len(rows)), out.reshape(rows.shape).argmax(axis=-1)
        share, own = rows[largest], d_rows[largest]
        rows[largest] = d_rows[largest] = 0.0
        column = ones(out.shape[-1], out.dtype)
        rest, along = np.matmul(rows, column)[:, 0], np.matmul(d_rows, column)[:, 0]
        rows *= (along + own)[:, None]
        d_rows -= rows
        d_rows[largest] = own * rest - share * along
        return (d_x,)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        x = operands[0]
        scores = row(x, index[:-1])
        own, largest = float(scores[index[-1]]), float(scores.max())
        if largest == -math.inf:
            return Explanation(-math.inf, "(-inf)", (Term("x", x.name, index, -math.inf),))
        log_sum = largest + math.log(float(np.exp(scores - largest).sum()))
        parts = [f"exp({number(s)} - {number(largest)})" for s in scores]
        text = f"{number(own)} - ({number(largest)} + log({total(parts)}))"
        # The largest score stands for the sum, of which it is the largest part.
        top = (*index[:-1], int(scores.argmax()))
        origins = (None, Origin(x.name, top))
        terms = (
            Term(f"x[{index[-1]}]", x.name, index, own),
            Term("-log of the row's sum of e^x", x.name, top, -log_sum, (), origins),
        )
        return Explanation(own - log_sum, text, terms, {"log_sum": log_sum})

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        at_row, i = index[:-1], index[-1]
        gradients, logarithms = row(d_out, at_row).tolist(), row(out, at_row).tolist()
        own, share = gradients[i], math.exp(logarithms[i])
        counted, rest = _counted([math.exp(y) for y in logarithms], i)
        own_origin = Origin(d_out.name, index, "gradient")
        own_text, steps = number(own), {"own": own, "share": share}
        term = Term(f"dy[{i}]", d_out.name, index, own, (own,), (own_origin,))
        if len(counted) < len(logarithms):
            own_text += f" * ({total([f'exp({number(logarithms[j])})' for j in counted])})"
            steps["rest"] = rest
            term = _with_rest(term, rest, [Origin(out.name, (*at_row, j)) for j in counted])
        terms = [term]
        for j in counted:
            d, origin = gradients[j], Origin(d_out.name, (*at_row, j), "gradient")
            terms.append(
                Term(
                    f"-exp(y[{i}]) * dy[{j}]",
                    d_out.name,
                    origin.index,
                    -share * d,
                    (-1.0, share, d),
                    (None, None, origin, Origin(out.name, index)),
                )
            )
        steps["along"] = along = math.fsum(gradients[j] for j in counted)
        sum_of_counted = total([number(gradients[j]) for j in counted])
        text = f"{own_text} - exp({number(logarithms[i])}) * ({sum_of_counted})"
        return Explanation(own * rest - share * along, text, tuple(terms), steps)

    def expression(self, names: Sequence[str]) -> str:
        x = names[0]
        shifted = f"{x} - {x}.max(axis=-1, keepdims=True)"
        return f"{shifted} - np.log(np.exp({shifted}).sum(axis=-1, keepdims=True))"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        largest, end = _is_largest(out), "sum(axis=-1, keepdims=True)"
        rest = f"np.where({largest}, 0.0, np.exp({out})).{end}"
        along = f"np.where({largest}, 0.0, {d_out}).{end}"
        plain = f"{d_out} - np.exp({out}) * {d_out}.{end}"
        return f"np.where({largest}, {d_out} * {rest} - np.exp({out}) * {along}, {plain})"

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        return _own_row(index)

    def magnitude(self, value: Array, operands: Sequence[Array]) -> Array:
        x = operands[0]
        return np.abs(x) + np.abs(np.logaddexp.reduce(x, axis=-1, keepdims=True))
