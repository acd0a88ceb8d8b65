"""Linear maps: the learned projections and the output layer."""

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
    column_sums,
    filled,
    row,
    summed,
)


def product(x: Array, W: Array, out: Array | None = None) -> Array:
    """x W for any number of leading axes, as one product of two matrices.

    x: (..., in)   W: (in, out)   returns: (..., out)
    """
    if x.ndim < 3 or x.shape[0] == 1:
        return np.matmul(x, W, out=out)
    # np.matmul would do a batch sentence by sentence: many small products in place of a large one
    rows = x.reshape(-1, x.shape[-1])
    if out is None:
        return np.matmul(rows, W).reshape(*x.shape[:-1], W.shape[-1])
    if not out.flags.c_contiguous:
        return filled(out, product(x, W))
    np.matmul(rows, W, out=out.reshape(-1, W.shape[-1]))
    return out


class Linear(Op):
    """y = x W + b; the bias may be absent.

    x: (..., in)   W: (in, out)   b: (out,)   returns: (..., out)
    """

    name = "linear"
    formula = r"y = x W + b"
    sentence = (
        "Every output number is a weighted sum of all the input numbers of the same token, "
        "plus a bias; the weights were learned."
    )
    backward_formulas = (
        r"\bar{x} = \bar{y} \, W^{\top}",
        r"\bar{W} = x^{\top} \bar{y}",
        r"\bar{b} = \sum_t \bar{y}_t",
    )

    def forward(
        self, x: Array, W: Array, b: Array | None = None, *, out: Array | None = None
    ) -> Array:
        out = product(x, W, out)
        if b is not None:
            np.add(out, b, out=out)
        return out

    def backward(
        self, d_out: Array, out: Array, x: Array, W: Array, b: Array | None = None
    ) -> tuple[Array | None, ...]:
        rows = x.reshape(-1, x.shape[-1])
        d_rows = d_out.reshape(-1, d_out.shape[-1])
        # All rows in one product: against a transposed matrix, one product per sentence takes
        # twice as long.
        d_x = np.matmul(d_rows, W.T).reshape(x.shape)
        d_W = np.matmul(rows.T, d_rows)
        return (d_x, d_W) if b is None else (d_x, d_W, column_sums(d_rows))

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        return _explained(index, operands, tied=False)

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        x, W = operands[0], operands[1]
        if which == 0:
            return _d_x(index, d_out, W, tied=False)
        if which == 1:
            return _d_W(index, d_out, x)
        return _d_b(index[0], d_out)

    def expression(self, names: Sequence[str]) -> str:
        product = f"{names[0]} @ {names[1]}"
        return product if len(names) == 2 else f"{product} + {names[2]}"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        x, W = names[0], names[1]
        if which == 0:
            return f"{d_out} @ {W}.T"
        rows = f"{d_out}.reshape(-1, {d_out}.shape[-1])"
        if which == 1:
            return f"{x}.reshape(-1, {x}.shape[-1]).T @ {rows}"
        return f"{rows}.sum(axis=0)"

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        own_row = (*at(*index[:-1]), slice(None))
        parts: list[Part] = [own_row, (slice(None), *at(index[-1]))]
        if len(operands) > 2:
            parts.append(at(index[-1]))
        return tuple(parts), (0,) * len(index)

    def magnitude(self, value: Array, operands: Sequence[Array]) -> Array:
        size = np.abs(operands[0]) @ np.abs(operands[1])
        return size if len(operands) == 2 else size + np.abs(operands[2])


def _explained(index: Index, operands: Sequence[Operand], tied: bool) -> Explanation:
    """A cell of x W + b, where W may be read off a table that lies the other way round."""
    x, W = operands[0], operands[1]
    at_row, column = index[:-1], index[-1]
    weights = _row_of(W.value if tied else W.value.T, column)
    terms = []
    for i, (a, w) in enumerate(zip(row(x, at_row).tolist(), weights, strict=True)):
        place = (column, i) if tied else (i, column)
        label = f"x[{i}] * {'E' if tied else 'W'}[{place[0]},{place[1]}]"
        origins = Origin(x.name, (*at_row, i)), Origin(W.name, place)
        terms.append(Term(label, x.name, (*at_row, i), a * w, (a, w), origins))
    if len(operands) > 2:
        bias = operands[2]
        terms.append(Term(f"b[{column}]", bias.name, (column,), cell(bias, (column,))))
    return summed(terms)


def _d_x(index: Index, d_out: Operand, W: Operand, tied: bool) -> Explanation:
    """A cell of the input's gradient, from the gradients of all outputs of its row."""
    at_row, i = index[:-1], index[-1]
    weights = _row_of(W.value.T if tied else W.value, i)
    terms = []
    for j, (d, w) in enumerate(zip(row(d_out, at_row).tolist(), weights, strict=True)):
        place = (j, i) if tied else (i, j)
        label = f"dy[{j}] * {'E' if tied else 'W'}[{place[0]},{place[1]}]"
        origins = Origin(d_out.name, (*at_row, j), "gradient"), Origin(W.name, place)
        terms.append(Term(label, d_out.name, (*at_row, j), d * w, (d, w), origins))
    return summed(terms)


def _d_W(index: Index, d_out: Operand, x: Operand) -> Explanation:
    """The gradient of the weight from input index[0] to output index[1], from all rows."""
    i, j = index
    terms = []
    for place in np.ndindex(x.value.shape[:-1]):
        a, d = cell(x, (*place, i)), cell(d_out, (*place, j))
        origins = Origin(x.name, (*place, i)), Origin(d_out.name, (*place, j), "gradient")
        label = f"x[{_said(place, i)}] * dy[{_said(place, j)}]"
        terms.append(Term(label, d_out.name, (*place, j), a * d, (a, d), origins))
    return summed(terms)


def _d_b(j: int, d_out: Operand) -> Explanation:
    """The gradient of one bias, from all rows."""
    terms = []
    for place in np.ndindex(d_out.value.shape[:-1]):
        origin = Origin(d_out.name, (*place, j), "gradient")
        label, d = f"dy[{_said(place, j)}]", cell(d_out, origin.index)
        terms.append(Term(label, d_out.name, origin.index, d, (), (origin,)))
    return summed(terms)


def _row_of(matrix: Array, i: int) -> list[float]:
    return [float(weight) for weight in matrix[i]]


def _said(place: Index, last: int) -> str:
    """An index without its batch axis, as labels have it."""
    return ",".join(map(str, (*place[1:], last)))


class TiedLinear(Op):
    """y = x E^T + b: the output layer that reads its matrix off the embedding table.

    x: (..., D)   E: (V, D)   b: (V,)   returns: (..., V)
    Source: Press and Wolf 2017.
    """

    name = "tied_linear"
    formula = r"y = x E^{\top} + b"
    sentence = (
        "Every token's score is how well the final vector matches that token's own row of the "
        "embedding table, plus a bias."
    )
    backward_formulas = (
        r"\bar{x} = \bar{y} \, E",
        r"\bar{E} = \bar{y}^{\top} x",
        r"\bar{b} = \sum_t \bar{y}_t",
    )

    def forward(
        self, x: Array, E: Array, b: Array | None = None, *, out: Array | None = None
    ) -> Array:
        out = product(x, E.T, out)
        if b is not None:
            np.add(out, b, out=out)
        return out

    def backward(
        self, d_out: Array, out: Array, x: Array, E: Array, b: Array | None = None
    ) -> tuple[Array | None, ...]:
        rows = x.reshape(-1, x.shape[-1])
        d_rows = d_out.reshape(-1, d_out.shape[-1])
        d_x = np.matmul(d_rows, E).reshape(x.shape)
        d_E = np.matmul(d_rows.T, rows)
        return (d_x, d_E) if b is None else (d_x, d_E, column_sums(d_rows))

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        return _explained(index, operands, tied=True)

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        x, E = operands[0], operands[1]
        if which == 0:
            return _d_x(index, d_out, E, tied=True)
        if which == 1:
            return _d_W(index[::-1], d_out, x)
        return _d_b(index[0], d_out)

    def expression(self, names: Sequence[str]) -> str:
        product = f"{names[0]} @ {names[1]}.T"
        return product if len(names) == 2 else f"{product} + {names[2]}"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        x, E = names[0], names[1]
        if which == 0:
            return f"{d_out} @ {E}"
        rows = f"{d_out}.reshape(-1, {d_out}.shape[-1])"
        if which == 1:
            return f"{rows}.T @ {x}.reshape(-1, {x}.shape[-1])"
        return f"{rows}.sum(axis=0)"

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        parts: list[Part] = [(*at(*index[:-1]), slice(None)), (*at(index[-1]), slice(None))]
        if len(operands) > 2:
            parts.append(at(index[-1]))
        return tuple(parts), (0,) * len(index)

    def magnitude(self, value: Array, operands: Sequence[Array]) -> Array:
        size = np.abs(operands[0]) @ np.abs(operands[1]).T
        return size if len(operands) == 2 else size + np.abs(operands[2])
