"""The checks of a record in a few words each: what holds, what is broken and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model_core.checks import TOLERANCES, Audit, Check
from model_core.distribution_audit import audit_distribution
from visualizer.i18n import has, tr
from visualizer.lenses.explanation import cell_name
from visualizer.lenses.keeping import keep
from visualizer.lenses.labels import axis_labels
from visualizer.lenses.matrix import picture
from visualizer.lenses.numbers import NO_BREAK_SPACE, brief, exact, figure, short
from visualizer.lenses.stage import head_title, words
from visualizer.lenses.token_labels import token_label
from visualizer.navigation import current_place
from visualizer.state import (
    MATRIX_SITE,
    Inputs,
    Run,
    ViewState,
    current_tape,
    current_token,
    head_count,
)

Index = tuple[int, ...]
# The checks of a sum, a mean or a variance of a row: their numbers are the row's, not a cell's.
OF_ROWS = (
    "rows_sum_to_one",
    "rows_mean_zero",
    "rows_variance",
    "probabilities_sum_to_one",
    "gradient_rows_sum_to_zero",
)
MOST_DECIMALS = 9


@dataclass(frozen=True)
class Badge:
    """One check. `cell` is the full index of the cell that a broken one names."""

    text: str
    tip: str
    state: Literal["ok", "bad", "stated"]
    cell: Index | None = None


def badges(state: ViewState, audit: Audit) -> tuple[Badge, ...]:
    """The checks of the record on show, broken ones first."""
    # of broken ones first the cell that is wrong, then what follows from it
    checks = sorted(audit.checks, key=lambda check: check.holds or check.key != "recomputed")
    made = [_badge(check, audit, state) for check in checks]
    made += _changed(state.inputs, audit)
    # stable: the others keep the order of the checks
    return tuple(sorted(made, key=lambda badge: badge.state != "bad"))


def distribution_badge(state: ViewState) -> Badge | None:
    """All stages from logits to the next token's probabilities in one; None without a decoder."""
    run, row = state.run, current_token(state)
    if run is None or state.model is None or row >= len(run.distributions):
        return None
    key = (row, state.language, state.decimals)
    return keep(run, "badge", key, lambda: _distribution_badge(state, run, row))


def _distribution_badge(state: ViewState, run: Run, row: int) -> Badge:
    assert state.model is not None
    audit = audit_distribution(run.distributions[row])
    tips = [_filled(f"audit.drawn.{check.key}", check) for check in audit.checks]
    broken = next((check for check in audit.checks if check.holds is False), None)
    if broken is None:
        return Badge(tr("audit.drawn"), "\n".join(tips), "ok")
    vocabulary = state.model.model.tokenizer.target_vocabulary
    assert broken.bad is not None
    found, wanted = two_figures(broken, 2)
    text = tr(
        f"audit.drawn.{broken.key}.bad",
        token=token_label(vocabulary[broken.bad[0]]),
        found=found,
        wanted=wanted,
    )
    numbers = tr("audit.numbers", found=exact(broken.found), wanted=exact(broken.wanted))
    return Badge(text, f"{text}\n{numbers}", "bad")


def _badge(check: Check, audit: Audit, state: ViewState) -> Badge:
    key = f"audit.{check.key}"
    how = _how(check, state)
    if check.holds is not False:
        kind: Literal["ok", "stated"] = "ok" if check.holds else "stated"
        return Badge(_filled(_variant(key, check), check), f"{how}\n{audit.site}".strip(), kind)
    assert check.bad is not None
    found, wanted = two_figures(check, state.decimals)
    namer = row_words if check.key in OF_ROWS else cell_words
    text = tr(f"{key}.bad", name=namer(state, check.bad), found=found, wanted=wanted)
    text = _in_head(state, check.bad, text)
    numbers = tr("audit.numbers", found=exact(check.found), wanted=exact(check.wanted))
    counted = _filled("audit.rows" if check.key in OF_ROWS else "audit.cells", check)
    place = f"{audit.site}[{', '.join(map(str, check.bad))}]"
    return Badge(text, f"{text}\n{numbers}\n{counted}\n{how}\n{place}", "bad", check.bad)


def _variant(key: str, check: Check) -> str:
    """Another sentence where there is only one cell, or nothing that a mask hides."""
    if check.cells == 1 and has(f"{key}.one"):
        return f"{key}.one"
    return f"{key}.none" if dict(check.values).get("hidden") == 0 else key


def _filled(key: str, check: Check) -> str:
    values = {name: number(value) for name, value in check.values}
    rest = number(check.cells - check.agreeing)
    return tr(key, cells=number(check.cells), agreeing=number(check.agreeing), rest=rest, **values)


def _how(check: Check, state: ViewState) -> str:
    """How the check is made."""
    key = f"audit.{check.key}.how"
    dtype = getattr(state.model.model, "dtype", "float32") if state.model is not None else "float32"
    tolerance = brief(TOLERANCES.get(str(dtype), 1e-5))
    return tr(key, tolerance=tolerance)


def number(value: float) -> str:
    """A count in groups of three digits, or a number of two decimals."""
    if float(value).is_integer():
        return f"{int(value):,}".replace(",", NO_BREAK_SPACE)
    return figure(float(value), 2)


def two_figures(check: Check, decimals: int) -> tuple[str, str]:
    """What was found and what should be, with as many decimals as it takes to tell them apart."""
    assert check.found is not None and check.wanted is not None
    for digits in range(decimals, MOST_DECIMALS + 1):
        found, wanted = _figure(check.found, digits), _figure(check.wanted, digits)
        if _read(found) != _read(wanted):
            return found, wanted
    return exact(check.found), exact(check.wanted)


def _figure(value: float, decimals: int) -> str:
    """0 and 1 are exact."""
    return str(int(value)) if value in (0.0, 1.0) else short(value, decimals)


def _read(text: str) -> float | str:
    """What a reader takes it for: "0.00" is no other number than "0"."""
    try:
        return float(text)
    except ValueError:
        return text


# Where the cell lies, in words.


def cell_words(state: ViewState, index: Index) -> str:
    """A cell of the record on show by its labels, its index where it has none: "猫 → cat"."""
    place, tape = current_place(state), current_tape(state)
    if place is None or tape is None or not index:
        return tr("audit.the_number")
    matrix = picture(
        place,
        tape,
        words(state),
        head=_head(tape[place.site].axes, index),
        rows=0 if state.run is None else state.run.rows,
        heads=head_count(state),
    )
    row, column = (0, 0, *index)[-2:]
    return cell_name(matrix, (row, column)) or f"[{', '.join(map(str, index))}]"


def row_words(state: ViewState, index: Index) -> str:
    """The row of a cell by its label, its index where it has none."""
    place, tape = current_place(state), current_tape(state)
    if place is None or tape is None or len(index) < 2:
        return tr("audit.the_number")
    record = tape[place.site]
    letter, size, row = record.axes[-2], record.value.shape[-2], index[-2]
    labels = axis_labels(letter, size, tape, words(state), "")
    return labels[row] or str(row + state.count_from)


def _head(axes: tuple[str, ...], index: Index) -> int:
    return index[axes.index("H")] if "H" in axes else 0


def _in_head(state: ViewState, index: Index, said: str) -> str:
    """The head in front, where there are several."""
    place, tape = current_place(state), current_tape(state)
    if place is None or tape is None or head_count(state) < 2:
        return said
    axes = tape[place.site].axes
    if "H" not in axes:
        return said
    return tr("audit.in_head", head=head_title(state, place, _head(axes, index)), said=said)


def _changed(inputs: Inputs, audit: Audit) -> list[Badge]:
    """That the numbers that a worked example starts from are not all its own any more."""
    if audit.site != MATRIX_SITE or audit.direction == "backward" or not inputs.cells:
        return []
    count = len(inputs.cells)
    key = "audit.edited.one" if count == 1 else "audit.edited"
    return [Badge(tr(key, n=count), f"{tr('audit.edited.how')}\n{audit.site}", "stated")]
