"""A parameter as a picture: the learned numbers that a link has led to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from visualizer.i18n import has, tr
from visualizer.lenses.backward import gradient_lines
from visualizer.lenses.caption import Caption
from visualizer.lenses.line import Lines, Piece
from visualizer.lenses.matrix import with_unit
from visualizer.lenses.numbers import exact, figure, unit_of
from visualizer.lenses.picture import Matrix
from visualizer.lenses.stage import words
from visualizer.lenses.token_labels import vocabulary_labels
from visualizer.state import Cell, ViewState, current_tape, shown_gradients
from visualizer.walkthrough import Side

Array = np.ndarray[Any, Any]
# What the letters of a name stand for in formulas.
_LETTERS = {"W": "W", "b": "b", "gamma": r"\gamma", "beta": r"\beta", "weight": "E"}


@dataclass(frozen=True, eq=False)
class ParameterPicture:
    """The parameter on show; rows are what comes in, columns what goes out.

    cell: the number that is looked at     index: of it in the parameter
    """

    name: str
    matrix: Matrix
    cell: Cell
    index: tuple[int, ...]


def parameter_values(state: ViewState, name: str) -> Array | None:
    """The parameter's own numbers, or their gradients where those are on show."""
    tape, gradients = current_tape(state), shown_gradients(state)
    if tape is None or name not in tape.parameters:
        return None
    value = np.asarray(tape.parameters[name] if gradients is None else gradients.gradient_of(name))
    return value.reshape(1, -1) if value.ndim < 2 else value


def parameter_picture(state: ViewState) -> ParameterPicture | None:
    """The heatmap of the parameter that a link led to; None where this model has none such."""
    spot = state.parameter
    values = None if spot is None else parameter_values(state, spot.name)
    if spot is None or values is None or values.ndim != 2:
        return None
    rows, columns = values.shape
    row, column = (0, *spot.index)[-2:]
    cell = (min(row, rows - 1), min(column, columns - 1))
    if state.selected is not None and state.selected[0] < rows and state.selected[1] < columns:
        cell = state.selected
    flat = len(spot.index) == 1
    finite = values[np.isfinite(values)]
    bound = float(np.abs(finite).max()) if finite.size else 1.0
    unit = 1.0 if shown_gradients(state) is None else unit_of(bound)
    matrix = Matrix(
        values=values,
        hidden=None,
        row_labels=_row_labels(state, spot.name, rows),
        column_labels=_numbers(state.count_from, columns),
        row_title="" if flat else tr(f"parameter.{_kind(spot.name)}.row"),
        column_title=with_unit(tr(f"parameter.{_kind(spot.name)}.column"), unit),
        palette="diverging",
        low=-(bound or 1.0),
        high=bound or 1.0,
        source=spot.name,
        current_row=cell[0],
        current_column=cell[1],
        cell_index=(lambda row, column: (column,)) if flat else (lambda row, column: (row, column)),
        decimals=state.decimals,
        unit=unit,
    )
    return ParameterPicture(spot.name, matrix, cell, cell[1:] if flat else cell)


def parameter_caption(state: ViewState) -> Caption | None:
    """The heading of a parameter."""
    picture = parameter_picture(state)
    if picture is None:
        return None
    name, (rows, columns) = picture.name, picture.matrix.values.shape
    last = name.rpartition(".")[2]
    sides: dict[str, Side] = {"encoder": "encoder", "decoder": "decoder", "src_embed": "encoder"}
    side = sides.get(name.split(".")[0], "decoder" if name.startswith("tgt") else "output")
    letter, _, index = last.partition("_")
    formula = _LETTERS.get(letter, letter)
    if index:
        formula += f"_{{{index.upper() if index.isalpha() else index}}}"
    gradients = shown_gradients(state) is not None
    return Caption(
        side=side,
        side_title=tr(f"side.{side}"),
        layer_title=_where(name, state.count_from),
        title=_title(name),
        op_title=tr("parameter.gradient" if gradients else "parameter"),
        site=name,
        shape=f"{rows} × {columns}" if len(picture.index) > 1 else f"{columns}",
        formula=rf"\bar{{{formula}}}" if gradients else formula,
        sentence=tr("parameter.gradient.sentence" if gradients else "parameter.sentence"),
        why=tr(f"parameter.{_kind(name)}.why"),
    )


def parameter_cell(
    state: ViewState, picture: ParameterPicture, cell: Cell
) -> tuple[str, Lines, str, str]:
    """Name, reckoning, full precision and place of one of its numbers."""
    row, column = cell
    value = picture.matrix.values[cell]
    index = cell[1:] if len(picture.index) == 1 else cell
    place = f"{picture.name}[{', '.join(map(str, index))}]"
    label = picture.matrix.row_labels[row] if len(index) > 1 else ""
    dim = tr("parameter.cell", row=label, column=column + state.count_from)
    name = dim if label else tr("parameter.cell.flat", column=column + state.count_from)
    return name, picture_lines(state, picture, index, value), exact(value), place


def picture_lines(
    state: ViewState, picture: ParameterPicture, index: tuple[int, ...], value: Any
) -> Lines:
    """How the number comes about: training has made it, or the walk back."""
    said, gradients = figure(value, max(state.decimals, 3)), shown_gradients(state)
    if gradients is not None:
        name, decimals = picture.name, state.decimals + 1
        return gradient_lines(gradients, name, index, said, decimals, state.share, state.count_from)
    chip = Piece(said, "chip")
    return ((Piece(tr("parameter.learned"), "muted"), chip),)


def _row_labels(state: ViewState, name: str, rows: int) -> tuple[str, ...]:
    entry = state.model
    if name.endswith("_embed.weight") and entry is not None:
        tokenizer = entry.model.tokenizer
        source = name.startswith("src")
        vocabulary = tokenizer.source_vocabulary if source else tokenizer.target_vocabulary
        if len(vocabulary) == rows:
            return vocabulary_labels(vocabulary)
    if rows == 1:
        return ("",)
    return _numbers(words(state).count_from, rows)


def _where(name: str, count_from: int) -> str:
    """The layer and the sublayer whose parameter it is: "layer 1 › Self-attention"."""
    words = name.split(".")
    if len(words) < 3:
        return ""
    parts = []
    if words[1] == "layers":
        parts.append(tr("layer", n=int(words[2]) + count_from))
    kind = words[-2].rstrip("0123456789")
    masked = words[0] == "decoder" and kind == "self_attn"
    key = f"sublayer.{'masked_self_attn' if masked else kind}"
    parts.append(tr(key) if has(key) else kind)
    return " › ".join(parts)


def _title(name: str) -> str:
    """The parameter as formulas have it: "W_Q", "γ", "Embedding table"."""
    kind, last = _kind(name), name.rsplit(".", 1)[-1]
    if kind in ("embedding", "position"):
        return tr(f"parameter.{kind}.title")
    letter, _, index = last.partition("_")
    letter = {"gamma": "γ", "beta": "β"}.get(letter, letter)
    return f"{letter}_{index.upper()}" if index else letter


def _kind(name: str) -> str:
    """What its rows and columns are."""
    if name.endswith("_embed.weight"):
        return "embedding"
    if name.endswith("position.weight"):
        return "position"
    return "weight" if name.rsplit(".", 1)[-1].startswith("W") else "vector"


def _numbers(start: int, count: int) -> tuple[str, ...]:
    return tuple(map(str, range(start, start + count)))
