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
    Origin,
    Term,
    cell,
    no_gradient,
    number,
    row,
    summed,
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
    backward_formulas = (
        r"\overline{\log p_{t,v}} = -\frac{\bar{L}}{N} \left( (1-\varepsilon) \, "
        r"[\, v = \mathrm{label}_t \,] + \frac{\varepsilon}{V} \right)",
        "",
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
                at = (*place, token)
                factors = (-weight / len(places), value)
                origins = (None, Origin(log_probs.name, at), Origin(labels.name, place))
                contribution = -weight * value / len(places)
                terms.append(Term(name, log_probs.name, at, contribution, factors, origins))
                parts.append(f"{number(-weight)} * {number(value)}")
        text = f"({total(parts)}) / {number(max(len(places), 1))}"
        return Explanation(math.fsum(term.value for term in terms), text, tuple(terms))

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        if which != 0:
            raise no_gradient(self, which)
        log_probs, labels = operands
        place, token = index[:-1], index[-1]
        count, label = int((labels.value != self.pad_id).sum()), int(labels.value[place])
        smoothing, d = self.label_smoothing, cell(d_out, ())
        shares = []
        if label == token and label != self.pad_id:
            shares.append((f"(1.0 - {smoothing!r})", 1.0 - smoothing))
        if smoothing and label != self.pad_id:
            width = log_probs.value.shape[-1]
            shares.append((f"{smoothing!r} / {width}", smoothing / width))
        gradient, chosen = Origin(d_out.name, (), "gradient"), Origin(labels.name, place)
        terms = tuple(
            Term(
                f"-dL * {share:g} / {count}",
                d_out.name,
                (),
                -d * share / count,
                (-1.0, d, share, 1 / count),
                (None, gradient, None, None, chosen),
            )
            for _, share in shares
        )
        text = total([f"-{number(d)} * {share} / {count}" for share, _ in shares])
        steps = {"n": float(count), "label": float(label), "smoothing": smoothing, "own": d}
        return Explanation(math.fsum(term.value for term in terms), text, terms, steps)

    def expression(self, names: Sequence[str]) -> str:
        log_probs, labels = names
        real = f"({labels} != {self.pad_id})"
        own = f"np.take_along_axis({log_probs}, {labels}[..., None], axis=-1)[..., 0]"
        if self.label_smoothing:
            smooth = self.label_smoothing
            own = f"({1.0 - smooth!r} * {own} + {smooth!r} * {log_probs}.mean(axis=-1))"
        # divided by a count, a float32 becomes a float64
        return f"(-({own} * {real}).sum() / max({real}.sum(), 1)).astype({log_probs}.dtype)"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        if which != 0:
            raise no_gradient(self, which)
        log_probs, labels = names
        real, smooth = f"({labels} != {self.pad_id})", self.label_smoothing
        share = f"(np.arange({log_probs}.shape[-1]) == {labels}[..., None])"
        if smooth:
            share = f"({1.0 - smooth!r} * {share} + {smooth!r} / {log_probs}.shape[-1])"
        told = f"-{d_out} * {real}[..., None] * {share} / max({real}.sum(), 1)"
        return f"({told}).astype({log_probs}.dtype)"


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
    backward_formulas = (
        r"\bar{w}_{t,s} = -\frac{\bar{L}}{N \, w_{t,s}} \, [\, s = \mathrm{aligned}(t) \,]",
        "",
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
            origins = (None, Origin(weights.name, place), Origin(aligned.name, (batch, target)))
            terms.append(Term(name, weights.name, place, contribution, (), origins))
            parts.append(f"log(max({number(weight)}, {self.SMALLEST!r}))")
        text = f"-({total(parts)}) / {number(max(len(places), 1))}"
        return Explanation(math.fsum(term.value for term in terms), text, tuple(terms))

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        if which != 0:
            raise no_gradient(self, which)
        weights, aligned = operands
        batch, head, target, source = index
        at_row = (batch, target)
        count, d = int((aligned.value >= 0).sum()), cell(d_out, ())
        steps = {"n": float(count), "aligned": float(aligned.value[at_row]), "own": d}
        weight = cell(weights, index)
        # a weight that counts as the smallest one does not change the loss
        counts = head == self.head and aligned.value[at_row] == source and weight > self.SMALLEST
        if not counts:
            return Explanation(0.0, "0.0", (), steps)
        value = -d / count / weight
        term = Term(
            f"-dL / ({count} * w[{target}, {source}])",
            d_out.name,
            (),
            value,
            (-1.0, d, 1 / count, 1 / weight),
            (
                None,
                Origin(d_out.name, (), "gradient"),
                None,
                None,
                Origin(weights.name, index),
                Origin(aligned.name, at_row),
            ),
        )
        text = f"-{number(d)} / ({count} * {number(weight)})"
        return Explanation(value, text, (term,), steps)

    def expression(self, names: Sequence[str]) -> str:
        weights, aligned = names
        at = f"np.maximum({aligned}, 0)[..., None]"
        own = f"np.take_along_axis({weights}[:, {self.head}], {at}, axis=-1)[..., 0]"
        logs = f"np.log(np.maximum({own}, {self.SMALLEST!r}))"
        mean = f"-({logs} * ({aligned} >= 0)).sum() / max(({aligned} >= 0).sum(), 1)"
        return f"({mean}).astype({weights}.dtype)"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        if which != 0:
            raise no_gradient(self, which)
        weights, aligned = names
        head = f"(np.arange({weights}.shape[1]) == {self.head})[:, None, None]"
        source = f"(np.arange({weights}.shape[3]) == {aligned}[:, None, :, None])"
        slope = (
            f"-{d_out} / max(({aligned} >= 0).sum(), 1) / np.maximum({weights}, {self.SMALLEST!r})"
        )
        share = f"np.where({head} & {source} & ({weights} > {self.SMALLEST!r}), {slope}, 0.0)"
        return f"{share}.astype({weights}.dtype)"


class WeightedSum(Op):
    """a + coefficient * b.   a, b: ()   returns: ()"""

    name = "weighted_sum"
    formula = r"L = a + c \, b"
    sentence = "Two losses are added; the coefficient says how much the second one counts."
    backward_formulas = (r"\bar{a} = \bar{L}", r"\bar{b} = c \, \bar{L}")

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
        other = operands[1].name
        factors, origins = (self.coefficient, b), (None, Origin(other, index))
        label = f"{self.coefficient:g} * b"
        terms = (
            Term("a", operands[0].name, index, a),
            Term(label, other, index, self.coefficient * b, factors, origins),
        )
        text = f"{number(a)} + {number(self.coefficient)} * {number(b)}"
        return Explanation(a + self.coefficient * b, text, terms)

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        d, origin = cell(d_out, index), Origin(d_out.name, index, "gradient")
        if which == 0:
            return summed([Term("dL", d_out.name, index, d, (), (origin,))])
        factors, origins = (self.coefficient, d), (None, origin)
        label = f"{self.coefficient:g} * dL"
        return summed([Term(label, d_out.name, index, math.prod(factors), factors, origins)])

    def expression(self, names: Sequence[str]) -> str:
        return f"{names[0]} + {self.coefficient!r} * {names[1]}"

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        return f"{self.coefficient!r} * {d_out}" if which else d_out

    def magnitude(self, value: Array, operands: Sequence[Array]) -> Array:
        return np.abs(operands[0]) + np.abs(self.coefficient * operands[1])
