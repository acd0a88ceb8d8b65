"""Gradient times input per token: how much each embedding moves the target, as signed bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from model_core.attribution import READ, gradient_x_input
from visualizer.i18n import tr
from visualizer.lenses.gradient_words import target_words
from visualizer.lenses.keeping import keep
from visualizer.lenses.numbers import exact, figure, unit_of, unit_text
from visualizer.lenses.token_labels import token_labels
from visualizer.state import ViewState, shown_gradients

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class TokenShares:
    """The tokens of one side.

    values: (tokens,), the sums over the dimensions of `site` times its gradient
    row: the one that is looked at
    """

    title: str
    site: str
    tokens: tuple[str, ...]
    values: Array
    row: int | None = None


@dataclass(frozen=True, eq=False)
class Attributions:
    """Both sides on one scale from -high to high; `owner` are the gradients that they are of.

    unit: the power of ten that the numbers are written in      about: sentences, the first short
    """

    sides: tuple[TokenShares, ...]
    high: float
    unit: float
    unit_text: str
    about: tuple[str, ...]
    owner: object


def attributions(state: ViewState) -> Attributions | None:
    """The bars of the gradients on show; None while there are none.

    Of the target's tokens those that have been read: what comes later has no gradient.
    """
    gradients = shown_gradients(state)
    if gradients is None:
        return None
    found = keep(gradients, "gradient x input", None, lambda: gradient_x_input(gradients))
    target = gradients.target
    read = target.row + 1 if target.kind == "log_prob" else len(found.target)
    both = (
        TokenShares(
            tr("attribution.source"),
            READ["encoder"],
            token_labels(gradients.source_tokens),
            found.source,
        ),
        TokenShares(
            tr("attribution.target"),
            READ["decoder"],
            token_labels(gradients.target_tokens[:read]),
            found.target[:read],
            read - 1 if target.kind == "log_prob" else None,
        ),
    )
    sides = tuple(side for side in both if side.values.size)
    values = np.concatenate([side.values for side in sides]) if sides else np.zeros(1)
    high = float(np.abs(values).max()) or 1.0
    unit = unit_of(high)
    return Attributions(
        sides,
        high,
        unit,
        "" if unit == 1.0 else f"× {unit_text(unit)}",
        (
            tr(
                "attribution.where",
                target=target_words(state, target),
                sum=figure(float(values.sum()), 2),
            ),
            tr("attribution.caveat"),
        ),
        gradients,
    )


def share_text(side: TokenShares, row: int) -> str:
    """One token's number at full length, and what it is the sum of."""
    return tr(
        "attribution.hover",
        token=side.tokens[row],
        value=exact(side.values[row]),
        site=side.site,
        row=row,
    )
