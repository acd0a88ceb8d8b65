"""What a stage of the training step shows as lines of text with tabs, for a spreadsheet."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from visualizer.i18n import tr
from visualizer.lenses import step_tables
from visualizer.lenses.picture import Matrix
from visualizer.lenses.step_batch import batch_grid
from visualizer.lenses.step_words import (
    loss_curves,
    mistakes_said,
    update_formulas,
    weight_name,
)
from visualizer.state import ViewState
from visualizer.step_view import StageName

# A picture with more numbers would keep the window waiting while they are written.
MOST_NUMBERS = 60_000
MARKS = {"": "", "ok": "✓", "bad": "✗"}


def stage_text(state: ViewState) -> str:
    """The table of the stage on show; empty where there is no step yet."""
    stage = state.training_step.stage
    if stage == "batch":
        return _batch(state)
    if stage == "mistakes":
        return _mistakes(state)
    table = TABLES[stage](state)
    said = "" if table is None else _table(table)
    if stage != "adam" or not said:
        return said
    formulas = [(one.title, one.plain) for one in update_formulas(state)]
    return said + "\n" + _lines([(weight_name(state), ""), *formulas])


TABLES: dict[StageName, Callable[[ViewState], step_tables.Table | None]] = {
    "forward": step_tables.records_table,
    "loss": step_tables.loss_table,
    "backward": step_tables.gradients_table,
    "clipping": step_tables.norms_table,
    "adam": step_tables.parameters_table,
    "check": step_tables.check_table,
}


def matrix_text(matrix: Matrix, name: str) -> str:
    """All numbers of a picture in full precision, with their labels; name: for the corner.

    Empty where there are more than MOST_NUMBERS.
    """
    values = matrix.values
    if values.size > MOST_NUMBERS:
        return ""
    if values.dtype == np.bool_:
        values = values.astype(int)
    rows = ((label, *map(str, row)) for label, row in zip(matrix.row_labels, values, strict=True))
    return _lines([(name, *matrix.column_labels), *rows])


def picture_name(matrix: Matrix, name: str, shown: str) -> str:
    """ "…scores[0, 1] · gradient": which part of a record is on show, and what of it."""
    lead = () if matrix.cell_index is None else matrix.cell_index(0, 0)[:-2]
    place = f"[{', '.join(map(str, lead))}]" if lead else ""
    return f"{name}{place} · {shown}"


def _table(table: step_tables.Table) -> str:
    marked = any(row.mark for row in table.rows)
    rows = (row.cells + ((MARKS[row.mark],) if marked else ()) for row in table.rows)
    return _lines([table.heads, *rows])


def _batch(state: ViewState) -> str:
    grid = batch_grid(state)
    if grid is None:
        return ""
    lines: list[tuple[str, ...]] = []
    pair = ""
    for row in grid.rows:
        pair = row.pair or pair
        lines.append((pair, row.reads, *(cell.text for cell in row.cells)))
        lines.append((pair, tr("step.ids"), *(str(cell.id) for cell in row.cells)))
    return _lines(lines)


def _mistakes(state: ViewState) -> str:
    """The losses with and without, where they have been trained; else what there is to choose."""
    curves = loss_curves(state)
    if curves is None:
        said = mistakes_said(state)
        return _lines((MARKS["ok" if m.made else ""], m.title, m.about, m.effect) for m in said)
    steps = (str(int(step)) for step in curves.lines[0].x)
    losses = (map(repr, line.y.tolist()) for line in curves.lines)
    heads = curves.x_title, *(tr(f"step.curve.{n}", loss="").strip() for n in ("right", "wrong"))
    return _lines([heads, *zip(steps, *losses, strict=True)])


def _lines(rows: Iterable[tuple[str, ...]]) -> str:
    return "".join("\t".join(row).rstrip("\t") + "\n" for row in rows)
