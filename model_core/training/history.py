"""What happened at every step of a run, as a table of numbers that grows; exported as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from model_core.training.loop import Progress

Array = np.ndarray[Any, Any]

COLUMNS = (
    "step",
    "epoch",
    "loss",
    "alignment_loss",
    "gradient_norm",
    "clipped_norm",
    "learning_rate",
    "tokens",
    "seconds",
    "held_out_loss",
    "exact_share",
)
WHOLE = frozenset({"step", "epoch", "tokens"})
FIRST_ROWS = 256
STORED_AS = np.dtype(np.float32)


class Table:
    """Rows of float32 in one array that grows by an eighth when it is full; NaN is "not measured".

    Column by column, for the curves read a column: of a long run 44 bytes from number to number
    take five times as long.

    A model is trained in float32, so that a loss is whole; steps are up to 2^24.
    """

    def __init__(self, columns: Sequence[str], rows: Array | None = None) -> None:
        self.columns = tuple(columns)
        width = len(self.columns)
        self._rows = np.empty((FIRST_ROWS, width), STORED_AS, order="F")
        if rows is not None:
            self._rows = np.array(rows, STORED_AS, order="F")
        if self._rows.ndim != 2 or self._rows.shape[1] != width:
            raise ValueError(
                f"a history has rows of shape {self._rows.shape}, expected {width} wide"
            )
        self._count = 0 if rows is None else len(self._rows)

    def __len__(self) -> int:
        return self._count

    @property
    def rows(self) -> Array:
        """All rows (n,c), a view."""
        return self._rows[: self._count]

    def column(self, name: str) -> Array:
        """The values of a column (n,), a view."""
        return self.rows[:, self.columns.index(name)]

    def add(self, row: Sequence[float]) -> None:
        if self._count == len(self._rows):
            # more would be in memory unused: the system hands out large pages for large arrays
            shape = self._count + max(FIRST_ROWS, self._count // 8), len(self.columns)
            larger = np.empty(shape, STORED_AS, order="F")
            larger[: self._count] = self._rows
            self._rows = larger
        self._rows[self._count] = row
        self._count += 1


class History:
    """The steps of a run, and beside them the norms of its layers at the steps they were taken.

    norms: columns "step", then "parameters:LAYER" and "update:LAYER"
    """

    def __init__(self, layers: Sequence[str], steps: Array | None = None, norms: Any = None):
        self.layers = tuple(layers)
        kinds = ("parameters", "update")
        names = [f"{kind}:{layer}" for layer in self.layers for kind in kinds]
        self.steps = Table(COLUMNS, steps)
        self.norms = Table(("step", *names), norms)

    def add(self, progress: Progress, seconds: float) -> None:
        """Take down a step; seconds since the start of the run."""
        p, evaluation = progress, progress.evaluation
        nan = float("nan")
        self.steps.add(
            (
                p.step,
                p.epoch,
                p.loss,
                nan if p.alignment_loss is None else p.alignment_loss,
                p.gradient_norm,
                p.clipped_norm,
                p.learning_rate,
                p.tokens,
                seconds,
                nan if evaluation is None else evaluation.loss,
                nan if evaluation is None else evaluation.exact_share,
            )
        )
        if p.norms:
            self.norms.add((p.step, *(n for row in p.norms for n in (row.parameters, row.update))))

    @property
    def seconds(self) -> float:
        """How long the run took so far."""
        return float(self.steps.rows[-1, COLUMNS.index("seconds")]) if len(self.steps) else 0.0

    def csv_lines(self) -> Iterator[str]:
        """The header, then every step so far as a line; what was not measured is left empty.

        Line by line, for a long run is a long text. Steps may be added meanwhile, in another
        thread too: they are left out.
        """
        steps, measured = self.steps.rows, self.norms.rows
        yield ",".join((*COLUMNS, *self.norms.columns[1:])) + "\n"
        empty, at = [""] * (len(self.norms.columns) - 1), 0
        for row in steps:
            cells = [_cell(name, value) for name, value in zip(COLUMNS, row, strict=True)]
            while at < len(measured) and measured[at, 0] < row[0]:
                at += 1
            has_norms = at < len(measured) and measured[at, 0] == row[0]
            norms = [_cell("", value) for value in measured[at, 1:]] if has_norms else empty
            yield ",".join([*cells, *norms]) + "\n"


def _cell(name: str, value: float) -> str:
    if value != value:
        return ""
    return str(int(value)) if name in WHOLE else f"{value:.7g}"
