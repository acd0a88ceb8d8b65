"""Losses: how wrong the predictions are, in one number."""

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
    number,
    row,
    total,
)


def _scalar(value: float, dtype: np.dtype, out: Array | None) -> Array:
    if out is None:
        return np.array(value, dtype)
    out[...] = value
    return out


class CrossEntropy(Op):
    """The mean over real labels of -log p(label), smoothed.

    log_probs: (B, T, V)   labels: (B, T) int   returns: ()
    Labels equal to pad_id are not counted; without any other label the loss is 0. Smoothing e
    aims at (1 - e) for the label plus e / V for every token.
    Source: Szegedy et al. 2015, section 7.
    """

    name = "cross_entropy"
    formula = (
        r"L = \frac{1}{N} \sum_{t} \left( -(1-\varepsilon) \log p_{t,\mathrm{label}} "
        r"- \frac{\varepsilon}{V} \sum_v \log p_{t,v} \right)"
    )
    sentence = (
        "The loss is small where the model gave the right next token a high probability; padding "
        "is not counted."
    )

    def __init__(self, label_smoothing: float = 0.0, pad_id: int = 0) -> None:
        if not 0.0 <= label_smoothing < 1.0:
            raise ValueError(f"label_smoothing is {label_smoothing}, expected 0 <= e < 1")
        self.label_smoothing = float(label_smoothing)
        self.pad_id = pad_id

    def _real(self, log_probs: Array, labels: Array) -> tuple[Array, Array, Array]:
        """Flat rows (N, V), the numbers of the rows that count, and those rows' labels."""
        rows = log_probs.reshape(-1, log_probs.shape[-1])
        flat = labels.reshape(-1)
        real = np.flatnonzero(flat != self.pad_id)
        return rows, real, flat[real]

    def forward(self, log_probs: Array, labels: Array, *, out: Array | None = None) -> Array:
        rows, real, own = self._real(log_probs, labels)
        loss = 0.0
        if real.size:
            loss = -(1.0 - self.label_smoothing) * float(rows[real, own].sum(dtype=np.float64))
            if self.label_smoothing:
                share = self.label_smoothing / rows.shape[-1]
                loss -= share * float(rows[real].sum(dtype=np.float64))
            loss /= real.size
        return _scalar(loss, log_probs.dtype, out)

    def backward(
        self, d_out: Array, out: Array, log_probs: Array, labels: Array
    ) -> tuple[Array | None, ...]:
        d_log_probs = np.zeros(log_probs.shape, log_probs.dtype)
        rows, real, own = self._real(d_log_probs, labels)
        if real.size:
            each = -float(d_out) / real.size
            if self.label_smoothing:
                rows[real] = each * self.label_smoothing / rows.shape[-1]
            rows[real, own] += each * (1.0 - self.label_smoothing)
        return d_log_probs, None

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        log_probs, labels = operands
        places = list(zip(*np.nonzero(labels.value != self.pad_id), strict=True))
        terms, parts = [], []
        for place in (tuple(int(axis) for axis in place) for place in places):
            label = int(labels.value[place])
            values = row(log_probs, place)
            share = self.label_smoothing / len(values)
            for token in range(len(values)) if self.label_smoothing else (label,):
                weight = share + (1.0 - self.label_smoothing if token == label else 0.0)
                value = float(values[token])
                name = f"-log p[{place[-1]}, {token}] * {weight:g} / {len(places)}"
                contribution = -weight * value / len(places)
                terms.append(Term(name, log_probs.name, (*place, token), contribution))
                parts.append(f"{number(-weight)} * {number(value)}")
        text = f"({total(parts)}) / {number(max(len(places), 1))}"
        return Explanation(math.fsum(term.value for term in terms), text, tuple(terms))

    def expression(self, names: Sequence[str]) -> str:
        log_probs, labels = names
        real = f"({labels} != {self.pad_id})"
        own = f"np.take_along_axis({log_probs}, {labels}[..., None], axis=-1)[..., 0]"
        if self.label_smoothing:
            smooth = self.label_smoothing
            own = f"({1.0 - smooth!r} * {own} + {smooth!r} * {log_probs}.mean(axis=-1))"
        return f"-({own} * {real}).sum() / max({real}.sum(), 1)"


class AlignmentLoss(Op):
    """The mean of -log of the weight that one head gives to the aligned source token.

    weights: (B, H, T, S)   aligned: (B, T) int, -1 where a target token has none   returns: ()
    Weights count as at least 1e-9.
    Source: Garg et al. 2019, equation 5.
    """

    name = "alignment_loss"
    formula = r"L = \frac{1}{N} \sum_t -\log w_{t,\mathrm{aligned}(t)}"
    sentence = (
        "One head is rewarded for attending to the source word that each target word translates."
    )

    SMALLEST = 1e-9

    def __init__(self, head: int) -> None:
        self.head = head

    def _places(self, aligned: Array) -> tuple[Array, int, Array, Array]:
        batch, target = np.nonzero(aligned >= 0)
        return batch, self.head, target, aligned[batch, target]

    def forward(self, weights: Array, aligned: Array, *, out: Array | None = None) -> Array:
        own = weights[self._places(aligned)]
        loss = 0.0
        if own.size:
            loss = -float(np.log(np.maximum(own, self.SMALLEST)).sum(dtype=np.float64)) / own.size
        return _scalar(loss, weights.dtype, out)

    def backward(
        self, d_out: Array, out: Array, weights: Array, aligned: Array
    ) -> tuple[Array | None, ...]:
        d_weights = np.zeros(weights.shape, weights.dtype)
        places = self._places(aligned)
        own = weights[places]
        if own.size:
            slope = -float(d_out) / own.size / np.maximum(own, self.SMALLEST)
            d_weights[places] = np.where(own > self.SMALLEST, slope, 0.0)
        return d_weights, None

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        weights, aligned = operands
        places = [tuple(int(axis) for axis in p) for p in np.argwhere(aligned.value >= 0)]
        terms, parts = [], []
        for batch, target in places:
            source = int(aligned.value[batch, target])
            place = (batch, self.head, target, source)
            weight = cell(weights, place)
            contribution = -math.log(max(weight, self.SMALLEST)) / len(places)
            name = f"-log w[{target}, {source}] / {len(places)}"
            terms.append(Term(name, weights.name, place, contribution))
            parts.append(f"log(max({number(weight)}, {self.SMALLEST!r}))")
        text = f"-({total(parts)}) / {number(max(len(places), 1))}"
        return Explanation(math.fsum(term.value for term in terms), text, tuple(terms))

    def expression(self, names: Sequence[str]) -> str:
        weights, aligned = names
        at = f"np.maximum({aligned}, 0)[..., None]"
        own = f"np.take_along_axis({weights}[:, {self.head}], {at}, axis=-1)[..., 0]"
        logs = f"np.log(np.maximum({own}, {self.SMALLEST!r}))"
        return f"-({logs} * ({aligned} >= 0)).sum() / max(({aligned} >= 0).sum(), 1)"


class WeightedSum(Op):
    """a + coefficient * b.   a, b: ()   returns: ()"""

    name = "weighted_sum"
    formula = r"L = a + c \, b"
    sentence = "Two losses are added; the coefficient says how much the second one counts."

    def __init__(self, coefficient: float) -> None:
        self.coefficient = float(coefficient)

    def forward(self, a: Array, b: Array, *, out: Array | None = None) -> Array:
        if out is None:
            out = np.empty(np.shape(a), a.dtype)
        np.multiply(b, self.coefficient, out=out)
        return np.add(a, out, out=out)

    def backward(self, d_out: Array, out: Array, a: Array, b: Array) -> tuple[Array | None, ...]:
        return np.asarray(d_out), np.asarray(d_out * self.coefficient)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        a, b = cell(operands[0], index), cell(operands[1], index)
        terms = (
            Term("a", operands[0].name, index, a),
            Term(f"{self.coefficient:g} * b", operands[1].name, index, self.coefficient * b),
        )
        text = f"{number(a)} + {number(self.coefficient)} * {number(b)}"
        return Explanation(a + self.coefficient * b, text, terms)

    def expression(self, names: Sequence[str]) -> str:
        return f"{names[0]} + {self.coefficient!r} * {names[1]}"
