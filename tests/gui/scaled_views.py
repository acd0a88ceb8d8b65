"""Paint every view of real small tapes at the process's own scale; exit 1 where a pixel lies.

Run by test_view_widgets.py with QT_SCALE_FACTOR set: the scale belongs to the whole process.
The tapes are of 5 tokens of 9 numbers, and of 9 tokens of 5: rows and columns cannot be mixed up.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from tests.gui.views import at
from visualizer.lenses.flow import flow
from visualizer.lenses.layer import layer_rows
from visualizer.lenses.ranking import ranking
from visualizer.lenses.stage import stage
from visualizer.lenses.views import stack
from visualizer.state import ViewState
from visualizer.theme import LIGHT
from visualizer.widgets.canvas import Canvas
from visualizer.widgets.heatmap_cells import colour_indices
from visualizer.widgets.layer_flow import LayerFlow
from visualizer.widgets.layer_table import LayerTable
from visualizer.widgets.strip_stack import StripStack
from visualizer.widgets.token_ranks import TokenRanks

SHAPES = ((5, 9), (9, 5))
STACKS = (
    ("decoder.layers.0.norm2.normalised", {}),
    ("decoder.layers.1.norm3.variance", {}),
    ("encoder.layers.0.residual1", {}),
    ("decoder.layers.1.norm2.mean", {"norm_position": "pre"}),
    ("decoder.layers.0.residual3", {"norm_position": "pre"}),
    ("encoder.norm.out", {"norm_position": "pre"}),
    ("decoder.embed.out", {}),
    ("encoder.embed.position", {"position": "learned"}),
    ("decoder.layers.0.ffn.activation", {"activation": "relu"}),
    ("decoder.mask", {}),
)
HATCH = {0xFF000000 | int(colour[1:], 16) for colour in (LIGHT.hatch, LIGHT.hatch_line)}


def standing(site: str, shape: tuple[int, int], **traits: object) -> ViewState:
    """A view of `shape` tokens × numbers at the last token, nothing marked."""
    tokens, width = shape
    words = " ".join(f"s{4 + n}" for n in range(tokens - 1))
    target = " ".join(f"t{4 + n % 5}" for n in range(tokens - 1))
    sizes = {"d_model": width, "d_ff": width, "n_heads": 1, "d_head": 4}
    return at(site, tokens - 1, 0, source=words, target=target, **sizes, **traits)


def colour_of(value: np.generic, low: float, high: float, palette: str) -> set[int]:
    """What a cell of this value may be painted with."""
    if palette == "mask" and not value:
        return HATCH
    index = colour_indices(np.array([[value]]), low, high)[0, 0]
    return {int(LIGHT.packed_table(palette)[index])}


def lies(
    canvas: Canvas,
    scale: float,
    expected: Callable[[tuple], set[int]],
    rects: dict[tuple, QRectF],
) -> Iterator[str]:
    """Every pixel of a cell has its colour, and its outermost pixels are told to be that cell.

    expected: the colours that a cell may have    rects: where each cell is said to be
    """
    picture = canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    width, height = picture.width(), picture.height()
    if width != round(canvas.width() * scale):
        yield f"the picture is {width} wide, not {canvas.width()} times {scale}"
    pixels = np.frombuffer(picture.constBits(), np.uint32).reshape(height, width)
    for spot, rect in rects.items():
        left, right = round(rect.left() * scale), round(rect.right() * scale)
        top, bottom = round(rect.top() * scale), round(rect.bottom() * scale)
        found = set(pixels[top:bottom, left:right].ravel().tolist())
        if not found or not found <= expected(spot):
            yield f"{spot} shows {sorted(found)[:4]}, not {expected(spot)}"
        for x in (left, right - 1):
            for y in (top, bottom - 1):
                told = canvas.spot_at(QPointF((x + 0.5) / scale, (y + 0.5) / scale))
                if told != spot:
                    yield f"pixel {x},{y} lies in {spot} and is said to be {told}"


def stack_lies(state: ViewState, scale: float) -> Iterator[str]:
    drawn = stack(state, stage(state))
    # without marks, so that every pixel of a cell is its value's
    drawn = replace(drawn, row=None, column=None, curves=None)
    drawn = replace(drawn, figures=tuple(replace(f, current=False) for f in drawn.figures))
    canvas = StripStack()
    # too small for numbers in the cells
    rows = sum(strip.matrix.values.shape[0] for strip in drawn.strips)
    canvas.resize(*((330, 190) if drawn.across else (260, 15 * len(drawn.strips) + 4 * rows)))
    canvas.set_stack(drawn)
    tape = state.run.tape

    def expected(spot: tuple) -> set[int]:
        site, row, column = spot
        strip = drawn.strip_of(site)
        value = tape[site].value
        value = value.reshape(value.shape[-2:])[row, column]
        return colour_of(value, strip.matrix.low, strip.matrix.high, strip.matrix.palette)

    rects = {
        (strip.site, row, column): canvas.cell_rect(strip.site, row, column)
        for strip in drawn.strips
        for row in range(strip.matrix.values.shape[0])
        for column in range(strip.matrix.values.shape[1])
    }
    yield from lies(canvas, scale, expected, rects)


def table_lies(state: ViewState, scale: float) -> Iterator[str]:
    rows = replace(layer_rows(state), row=None)
    canvas = LayerTable()
    canvas.set_ground("surface")
    canvas.resize(300, 140)
    canvas.set_rows(rows)
    tape = state.run.tape
    ranges = {rows.read_site: rows.read, rows.normed_site: rows.normed}

    def expected(spot: tuple) -> set[int]:
        matrix = ranges[spot[0]]
        value = tape[spot[0]].value[0, spot[1], spot[2]]
        return colour_of(value, matrix.low, matrix.high, "diverging")

    height, width = rows.read.values.shape
    rects = {
        (site, row, column): canvas.cell_rect(site, row, column)
        for site in ranges
        for row in range(height)
        for column in range(width)
    }
    yield from lies(canvas, scale, expected, rects)


def flow_lies(state: ViewState, scale: float) -> Iterator[str]:
    drawn = flow(state)
    sides = tuple(
        replace(part, stations=tuple(replace(s, current=False) for s in part.stations))
        for part in drawn.sides
    )
    drawn = replace(drawn, sides=sides)
    canvas = LayerFlow()
    canvas.resize(300, 360)
    canvas.set_flow(drawn)
    tape = state.run.tape

    def expected(spot: tuple) -> set[int]:
        side, added, row, column = spot
        station = drawn.sides[side].stations[column]
        vector = tape[station.added if added else station.stream].value[0, row]
        norm = np.sqrt(np.sum(vector.astype(np.float64) ** 2))
        at_edge = [colour_of(norm + e, 0.0, drawn.high, "sequential") for e in (-1e-6, 0, 1e-6)]
        return set().union(*at_edge)

    rects = {
        (number, added, row, column): canvas.cell_rect((number, added, row, column))
        for number, part in enumerate(drawn.sides)
        for added in (False, True)
        for row in range(len(part.tokens))
        for column, station in enumerate(part.stations)
        if station.added or not added
    }
    yield from lies(canvas, scale, expected, rects)


def ranking_lies(state: ViewState, scale: float) -> Iterator[str]:
    """Every pixel of a line is told to be that line, whose numbers are the tape's at its token."""
    drawn = ranking(state, stage(state))
    canvas = TokenRanks()
    canvas.resize(420, 120)
    canvas.set_ranking(drawn)
    canvas.grab()
    tape, row = state.run.tape, state.run.rows - 1
    logits, log_probs = tape["logits"].value[0, row], tape["log_probs"].value[0, row]
    order = np.argsort(-logits, kind="stable")
    if canvas.shown() < 3:
        yield f"only {canvas.shown()} tokens are shown"
    for place in range(canvas.shown()):
        token, rect = drawn.ids[place], canvas.line_rect(place)
        if token != order[place]:
            yield f"line {place} is token {token}, the tape's is {order[place]}"
        if drawn.logits[place] != logits[token] or drawn.log_probs[place] != log_probs[token]:
            yield f"line {place} shows {drawn.logits[place]}, the tape has {logits[token]}"
        for x in (rect.left() + 0.5 / scale, rect.right() - 0.5 / scale):
            for y in (rect.top() + 0.5 / scale, rect.bottom() - 0.5 / scale):
                if canvas.place_at(QPointF(x, y)) != place:
                    yield f"{x},{y} lies in line {place} and is told to be another"


def main() -> int:
    app = QApplication([])
    scale = float(sys.argv[1])
    wrong = []
    for shape in SHAPES:
        for site, traits in STACKS:
            state = standing(site, shape, **traits)
            wrong += [f"{shape} {site}: {lie}" for lie in stack_lies(state, scale)]
        state = standing("decoder.layers.1.cross_attn.weights", shape)
        wrong += [f"{shape} layer: {lie}" for lie in table_lies(state, scale)]
        wrong += [f"{shape} flow: {lie}" for lie in flow_lies(state, scale)]
        state = standing("logits", shape)
        wrong += [f"{shape} ranking: {lie}" for lie in ranking_lies(state, scale)]
    print("\n".join(wrong[:20]))
    app.quit()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
