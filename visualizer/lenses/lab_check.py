"""What a check of the gradients has found, in words. No Qt."""

from __future__ import annotations

from visualizer.i18n import tr
from visualizer.lab import Check
from visualizer.lenses.numbers import power_of_ten
from visualizer.reasons import translated


def check_wordings(check: Check | None) -> tuple[str, ...]:
    """What was asked for, and what came out: in many words, then in fewer; () for nothing."""
    if check is None:
        return ()
    if check.reason:
        return (tr("lab.check.failed", reason=translated(check.reason)),)
    if check.results is None:
        return (tr("lab.check.running", step=f"{check.step:,}"),)
    wrong = [found for found in check.results if not found.holds]
    worst = max(check.results, key=lambda found: found.worst, default=None)
    if worst is None:
        return ()
    values = {
        "n": len(check.results),
        "cells": f"{sum(found.cells for found in check.results):,}",
        "step": f"{check.step:,}",
        "worst": power_of_ten(f"{worst.worst:.1e}"),
        "name": worst.name,
    }
    what = "wrong" if wrong else "holds"
    return tuple(
        tr(f"lab.check.{what}{form}", wrong=len(wrong), **values) for form in ("", ".short")
    )


def has_fault(check: Check | None) -> bool:
    """Whether a gradient is wrong, or could not be checked."""
    if check is None:
        return False
    return bool(check.reason) or any(not found.holds for found in check.results or ())
