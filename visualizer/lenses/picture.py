"""Pictures: what a lens gives and a widget draws. Plain frozen values, no Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

Palette = Literal["sequential", "diverging", "mask"]


# eq=False: comparing two arrays gives an array, so pictures are compared by identity.
@dataclass(frozen=True, eq=False)
class Matrix:
    """One labelled heatmap.

    values: 2-D, the tape's own cells (a view)
    hidden: 2-D bool or None, True = masked cell, drawn hatched and never as zero
    low, high: the explicit range of the colours; a diverging range is symmetric about 0
    row_notes: small text beside each row label, "→ 今天" (what the row predicts)
    column_notes: small text under each column label, the typed word under <UNK>
    source: what is shown, "decoder.layers.0.cross_attn.weights[0,1]"
    current_row, current_column: the labels that are highlighted
    quiet_rows, quiet_columns: True where a label stands for nothing real; () where all do
    cell_index: (row, column) -> the full index into the record's value
    decimals: of the numbers in the cells, where they fit
    unit: the power of ten that the numbers in the cells are written in, which the words name
    cells: what a cell is to its row and its column, for its name in words
    axes: the letters of rows and columns in the record, by which a zoom knows its place again
    owner: the tape: pictures of one owner with equal sources and shapes have the same numbers
    """

    values: np.ndarray
    hidden: np.ndarray | None
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    row_notes: tuple[str, ...] = ()
    column_notes: tuple[str, ...] = ()
    row_title: str = ""
    column_title: str = ""
    palette: Palette = "diverging"
    low: float = 0.0
    high: float = 1.0
    row_index: tuple[int, ...] = ()
    source: str = ""
    current_row: int | None = None
    current_column: int | None = None
    quiet_rows: tuple[bool, ...] = ()
    quiet_columns: tuple[bool, ...] = ()
    cell_index: Callable[[int, int], tuple[int, ...]] | None = None
    decimals: int = 2
    unit: float = 1.0
    cells: Literal["attention", "dimension", "token", "plain"] = "plain"
    axes: tuple[str, str] = ("", "")
    owner: object = None


@dataclass(frozen=True, eq=False)
class Bars:
    """Candidates for the next token.

    values: probabilities (N,), one per label      kept: bool (N,), False = outside top-k / top-p
    chosen: place in `labels` of the token that was taken, if it is there
    ids: of the labels in the vocabulary
    """

    labels: tuple[str, ...]
    values: np.ndarray
    kept: np.ndarray
    source: str = ""
    entropy_bits: float = 0.0
    chosen: int | None = None
    ids: tuple[int, ...] = ()
