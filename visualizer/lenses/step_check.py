"""What finite differences have found of a training step's gradients, in words."""

from __future__ import annotations

from visualizer.i18n import tr, tr_count
from visualizer.inquiries.step import found_check
from visualizer.lenses.step_tables import digits, place_text, power
from visualizer.state import ViewState


def check_said(state: ViewState) -> str:
    """How far the check has come and what it has found; of errors the worst, by its cell."""
    found = found_check(state)
    if found is None:
        return tr("step.check.none")
    wrong = sum(not row.holds for row in found.rows)
    done, total = len(found.rows), found.total
    if done < total:
        return tr("step.check.going", done=done, total=total, wrong=wrong)
    worst = max(found.rows, key=lambda row: row.worst)
    if not wrong:
        return tr("step.check.right", total=total, worst=power(worst.worst))
    return tr_count(
        "step.check.wrong",
        wrong,
        total=total,
        name=worst.name if worst.index is None else place_text(worst.name, worst.index),
        gradient=digits(worst.gradient),
        difference=digits(worst.difference),
    )


def checked_cell(state: ViewState, name: str) -> tuple[int, ...] | None:
    """The cell of a parameter that had the worst error; None where all were moved at once."""
    found = found_check(state)
    rows = () if found is None else found.rows
    return next((row.index for row in rows if row.name == name), None)
