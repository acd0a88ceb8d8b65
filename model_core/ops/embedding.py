"""Embeddings: rows of a table, for tokens and for places."""

from __future__ import annotations

import math
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
    no_gradient,
    number,
    summed,
)


class EmbeddingRows(Op):
    """The rows of a table at the given ids.

    table: (V, D)   ids: (B, T) int   returns: (B, T, D)
    """

    name = "embedding_rows"
    formula = r"y_t = E_{\mathrm{id}_t}"
    sentence = (
        "Every token has its own row of numbers, learned in training; its id says which row to "
        "take."
    )
    backward_formulas = (r"\bar{E}_v = \sum_{t:\, \mathrm{id}_t = v} \bar{y}_t", "")

    def forward(self, table: Array, ids: Array, *, out: Array | None = None) -> Array:
        return np.take(table, ids, axis=0, out=out)

    def backward(
        self, d_out: Array, out: Array, table: Array, ids: Array
    ) -> tuple[Array | None, ...]:
        return scatter_rows(d_out, ids, table.shape[0]), None

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        return _row_taken(index, *operands)

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        if which != 0:
            raise no_gradient(self, which)
        return _rows_gathered(index, d_out, operands[1])

    def expression(self, names: Sequence[str]) -> str:
        return f"{names[0]}[{names[1]}]"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        if which != 0:
            raise no_gradient(self, which)
        return _gathering(d_out, *names)

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        return _up_to_the_row(index, operands[1])


def _row_taken(index: Index, table: Operand, rows: Operand) -> Explanation:
    """A cell of the table, in the row that an id or a position names."""
    place = (int(rows.value[index[:-1]]), index[-1])
    value = cell(table, place)
    origins = Origin(table.name, place), Origin(rows.name, index[:-1])
    term = Term(f"row {place[0]} of the table", table.name, place, value, (), origins)
    return Explanation(value, number(value), (term,))


def _rows_gathered(index: Index, d_out: Operand, rows: Operand) -> Explanation:
    """A cell of the table's gradient: the sum over all places that took its row."""
    terms = []
    for found in np.argwhere(np.asarray(rows.value) == index[0]).tolist():
        place = (*found, index[1])
        d = cell(d_out, place)
        origins = Origin(d_out.name, place, "gradient"), Origin(rows.name, place[:-1])
        label = f"dy[{found[-1]},{index[1]}]"
        terms.append(Term(label, d_out.name, place, d, (), origins))
    return summed(terms)


def _gathering(d_out: str, table: str, rows: str) -> str:
    """NumPy text: for every row of the table the sum of the gradients at the places it went to."""
    taken = f"np.arange(len({table}))[:, None] == {rows}.reshape(-1)"
    return f"({taken}) @ {d_out}.reshape(-1, {d_out}.shape[-1])"


def _up_to_the_row(index: Index, rows: Operand) -> tuple[tuple[Part, ...], Index]:
    """The rows before the one that is taken stay: its number has to keep its meaning."""
    named = int(rows.value[index[:-1]])
    channel = at(index[-1])
    return ((slice(named + 1), *channel), at(*index[:-1])), (0,) * len(index)


def scatter_rows(rows: Array, ids: Array, n_rows: int) -> Array:
    """Add each row into the table row that its id names.

    rows: (..., D)   ids: (...) int   returns: (n_rows, D)
    """
    width = rows.shape[-1]
    table = np.zeros(n_rows * width, rows.dtype)
    # Cell by cell: for one axis NumPy has a quick add.at, for rows it takes five times as long.
    cells = ids.reshape(-1, 1) * width + np.arange(width)
    np.add.at(table, cells.reshape(-1), rows.reshape(-1))
    return table.reshape(n_rows, width)


class Scale(Op):
    """x times a constant.   x: any shape   returns: the same

    Source: Vaswani et al. 2017, section 3.4.
    """

    name = "scale"
    formula = r"y = \sqrt{d_{\mathrm{model}}} \, x"
    sentence = (
        "The token's vector is made larger, so that the position added next does not drown it."
    )
    backward_formulas = (r"\bar{x} = \sqrt{d_{\mathrm{model}}} \, \bar{y}",)

    def __init__(self, factor: float) -> None:
        self.factor = float(factor)

    def forward(self, x: Array, *, out: Array | None = None) -> Array:
        return np.multiply(x, self.factor, out=out)

    def backward(self, d_out: Array, out: Array, x: Array) -> tuple[Array | None, ...]:
        return (np.multiply(d_out, self.factor),)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        return self._scaled("x", cell(operands[0], index), Origin(operands[0].name, index))

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        return self._scaled("dy", cell(d_out, index), Origin(d_out.name, index, "gradient"))

    def _scaled(self, name: str, value: float, origin: Origin) -> Explanation:
        label, factors = f"{name} * {self.factor:g}", (value, self.factor)
        share = value * self.factor
        return summed([Term(label, origin.name, origin.index, share, factors, (origin, None))])

    def expression(self, names: Sequence[str]) -> str:
        return f"{names[0]} * {self.factor!r}"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        return f"{d_out} * {self.factor!r}"

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        return (at(*index),), (0,) * len(index)


class SinusoidalPosition(Op):
    """Waves of falling frequency, one pair of sine and cosine for every two channels.

    positions: (T,) int   returns: (T, D) in `dtype`
    `table` is the type the exact values are rounded to first; `layout` puts sine and cosine side
    by side ("interleaved", as in the paper) or all sines before all cosines ("halves").
    Source: Vaswani et al. 2017, section 3.5.
    """

    name = "sinusoidal_position"
    formula = (
        r"y_{p,2i} = \sin \frac{p}{10000^{2i/d}} \quad y_{p,2i+1} = \cos \frac{p}{10000^{2i/d}}"
    )
    sentence = (
        "Every place in the sentence gets its own pattern of waves, from fast to slow, like the "
        "digits of a clock; attention alone could not tell places apart."
    )
    backward_formulas = ("",)

    def __init__(
        self,
        d_model: int,
        table: Literal["float32", "float64"] = "float32",
        dtype: str | np.dtype = "float32",
        layout: Literal["interleaved", "halves"] = "interleaved",
    ) -> None:
        if layout not in ("interleaved", "halves"):
            raise ValueError(f"layout is {layout!r}, expected interleaved or halves")
        self.d_model = d_model
        self.table = np.dtype(table)
        self.dtype = np.dtype(dtype)
        self.layout = layout
        self._rows = np.empty((0, d_model), self.dtype)

    def forward(self, positions: Array, *, out: Array | None = None) -> Array:
        # A longer table replaces the shorter one and is never grown in place: another thread
        # may be reading it.
        rows = self._rows
        n_rows = int(positions.max(initial=-1)) + 1
        if n_rows > len(rows):
            rows = self._rows = self._build(max(n_rows, 2 * len(rows), 64))
        if out is None:
            # of the positions' class: np.take itself asks only its table and its out
            shape = (*positions.shape, self.d_model)
            out = np.empty_like(positions, rows.dtype, shape=shape)
        return np.take(rows, positions, axis=0, out=out)

    def _build(self, n_rows: int) -> Array:
        rows = self.waves(np.arange(n_rows), range(self.d_model))
        return rows.astype(self.table).astype(self.dtype)

    def waves(self, places: Array, channels: Sequence[int]) -> Array:
        """The exact waves of some channels, between the positions too.

        places: (N,) any numbers   returns: (N, channels) float64
        """
        columns = [self._wave(channel) for channel in channels]
        exponents = np.array([exponent for exponent, _ in columns])
        is_cosine = np.array([cosine for _, cosine in columns])
        angles = places[:, None] / 10000.0**exponents
        return np.where(is_cosine, np.cos(angles), np.sin(angles))

    def _wave(self, channel: int) -> tuple[float, bool]:
        """The exponent of 10000, and whether the wave is a cosine, of one channel."""
        if self.layout == "interleaved":
            pair, cosine = divmod(channel, 2)
        else:
            n_sines = (self.d_model + 1) // 2
            cosine, pair = divmod(channel, n_sines)
        return 2 * pair / self.d_model, bool(cosine)

    def backward(self, d_out: Array, out: Array, positions: Array) -> tuple[Array | None, ...]:
        return (None,)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        positions = operands[0]
        position = cell(positions, index[:-1])
        exponent, cosine = self._wave(index[-1])
        angle = position / 10000.0**exponent
        value = math.cos(angle) if cosine else math.sin(angle)
        wave = "cos" if cosine else "sin"
        text = f"{wave}({number(position)} / 10000.0 ** {number(exponent)})"
        term = Term("position", positions.name, index[:-1], position)
        steps = {"position": position, "power": exponent * self.d_model, "width": self.d_model}
        return Explanation(value, text, (term,), steps)

    def expression(self, names: Sequence[str]) -> str:
        channels = f"np.arange({self.d_model})"
        if self.layout == "interleaved":
            pair, cosine = f"{channels} // 2", f"{channels} % 2 == 1"
        else:
            n_sines = (self.d_model + 1) // 2
            pair, cosine = f"{channels} % {n_sines}", f"{channels} >= {n_sines}"
        angles = f"{names[0]}[..., None] / 10000.0 ** (2 * ({pair}) / {self.d_model})"
        waves = f"np.where({cosine}, np.cos({angles}), np.sin({angles}))"
        rounded = f"{waves}.astype(np.{self.table.name})"
        return rounded if self.table == self.dtype else f"{rounded}.astype(np.{self.dtype.name})"

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        # every wave of the position: which one a channel has, the expression counts off itself
        return (at(*index[:-1]),), (*(0,) * (len(index) - 1), index[-1])


class LearnedPosition(Op):
    """The rows of a learned table at the given positions; there are none beyond its end.

    table: (N, D)   positions: (T,) int   returns: (T, D)
    """

    name = "learned_position"
    formula = r"y_t = P_t"
    sentence = (
        "Every place in the sentence has its own row of numbers, learned in training; attention "
        "alone could not tell places apart."
    )
    backward_formulas = (r"\bar{P}_p = \sum_{t:\, p_t = p} \bar{y}_t", "")

    def forward(self, table: Array, positions: Array, *, out: Array | None = None) -> Array:
        n_tokens = int(positions.max(initial=-1)) + 1
        if n_tokens > len(table):
            raise ValueError(
                f"learned positions reach max_seq_len {len(table)}, "
                f"the sentence has {n_tokens} tokens"
            )
        return np.take(table, positions, axis=0, out=out)

    def backward(
        self, d_out: Array, out: Array, table: Array, positions: Array
    ) -> tuple[Array | None, ...]:
        return scatter_rows(d_out, positions, table.shape[0]), None

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        return _row_taken(index, *operands)

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        if which != 0:
            raise no_gradient(self, which)
        return _rows_gathered(index, d_out, operands[1])

    def expression(self, names: Sequence[str]) -> str:
        return f"{names[0]}[{names[1]}]"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        if which != 0:
            raise no_gradient(self, which)
        return _gathering(d_out, *names)

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        return _up_to_the_row(index, operands[1])
