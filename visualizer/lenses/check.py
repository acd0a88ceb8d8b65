"""A gradient beside its finite difference, in words: whether they agree, as far as one can tell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from model_core.gradient_check import Agreement
from visualizer.i18n import tr
from visualizer.inquiries.difference import difference_key, found_agreement
from visualizer.lenses.numbers import NO_BREAK_SPACE, figure, significant
from visualizer.lenses.stage import has_gradient
from visualizer.state import ViewState, shown_gradients

DIGITS, MOST_DIGITS = 4, 9


@dataclass(frozen=True)
class CheckText:
    """What a check has brought: one line, and all there is to say of it.

    tone: "waiting" until it has come, "quiet" where nothing can be told
    """

    text: str
    full: str
    tone: Literal["good", "bad", "quiet", "waiting"]


def can_check(state: ViewState) -> bool:
    """Whether the number in focus is a gradient that a finite difference can be found for."""
    pages = state.page in ("record", "parameter")
    return pages and shown_gradients(state) is not None and has_gradient(state)


def check_text(state: ViewState, focus: tuple[str, tuple[int, ...]] | None) -> CheckText | None:
    """The check of the number in focus; None where nobody has asked for one."""
    spot = state.check
    if spot is None or focus != (spot.name, spot.index) or not can_check(state):
        return None
    found = found_agreement(state, spot.name, spot.index)
    if found is None:
        asked = difference_key(state) is not None
        return CheckText(tr("check.waiting"), "", "waiting") if asked else None
    return _told(found)


def _told(found: Agreement) -> CheckText:
    # where they differ, as far as they are told apart
    apart = 1 - math.floor(math.log10(found.relative)) if 0 < found.relative < 1 else 0
    digits = max(DIGITS, min(apart, MOST_DIGITS)) if found.verdict == "differs" else DIGITS
    numbers = tr(
        "check.numbers",
        gradient=significant(found.gradient, digits),
        difference=significant(found.difference.value, digits),
    )
    tone: Literal["good", "bad", "quiet"] = "quiet"
    if found.verdict == "too_small":
        said = tr("check.too_small", noise=figure(found.noise, 1))
    else:
        tone = "good" if found.verdict == "agrees" else "bad"
        said = tr(
            f"check.{found.verdict}",
            relative=_percent(found.relative),
            tolerance=_percent(found.tolerance),
        )
    full = tr("check.full", step=figure(found.difference.step, 0), noise=figure(found.noise, 1))
    return CheckText(f"{numbers} · {said}", f"{numbers} · {said}\n{full}", tone)


def _percent(share: float) -> str:
    return f"{100 * share:.2g}{NO_BREAK_SPACE}%"
