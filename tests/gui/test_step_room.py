"""That nothing of a training step is cut or covered in a small window or with large type."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QByteArray, QPoint, QRect, QRectF
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QWidget

from tests.gui.live_window import WAIT, live  # noqa: F401 (fixture)
from tests.gui.test_step_page import opened
from visualizer import actions, fonts, step_actions
from visualizer.inquiries.step import current_step
from visualizer.lenses.step_tables import Table, TableRow
from visualizer.lenses.strips import Curves, Line
from visualizer.widgets.curve_plot import CurvePlot
from visualizer.widgets.formula import TYPESET_PIXELS, typeset
from visualizer.widgets.pair_fields import MOST_SHOWN
from visualizer.widgets.step_pictures import LossCurves
from visualizer.widgets.step_table import StepTable

FOUR = tuple((f"s{n} s4", f"t{n} t6") for n in (4, 5, 7, 9))


def with_four_pairs(live):  # noqa: F811
    page = opened(live)
    live.store.dispatch(step_actions.take_pairs, FOUR)
    live.qtbot.waitUntil(lambda: current_step(live.state) is not None, timeout=WAIT)
    return page.parts["batch"]


def resized(live, width: int, height: int, scale: float = 1.0) -> None:  # noqa: F811
    live.window.resize(width, height)
    live.store.dispatch(actions.set_scale, scale)
    live.window.grab()


def place_in(outer: QWidget, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(outer, QPoint()), widget.size())


@pytest.mark.parametrize("scale", [1.0, 1.25])
def test_pairs_are_shown_in_whole_rows_and_cover_nothing(live, scale):  # noqa: F811
    part = with_four_pairs(live)
    resized(live, 1280, 720, scale)
    fields, seen = part.fields, part.fields.scrolled.viewport()
    bar = fields.scrolled.verticalScrollBar()
    for value in (0, bar.maximum(), bar.maximum() // 2 + 3):
        bar.setValue(value)
        whole = 0
        for row in fields.rows[: len(FOUR)]:
            place = place_in(seen, row[0])
            assert seen.rect().contains(place) or not seen.rect().intersects(place)
            whole += seen.rect().contains(place)
        assert 1 <= whole <= MOST_SHOWN
    below = place_in(part, fields.scrolled).bottom()
    controls = (fields.add, fields.remove, fields.weights, fields.seed)
    for widget in controls:
        place = place_in(part, widget)
        assert place.top() > below and place.height() >= widget.minimumSizeHint().height()
        assert place.bottom() < place_in(part, part.cells).top()
    assert part.cells.height() >= part.cells.height_of(1)


def test_in_a_high_window_all_pairs_are_seen_and_it_shrinks_again(live):  # noqa: F811
    part = with_four_pairs(live)
    resized(live, 1600, 1200)
    assert part.fields.scrolled.verticalScrollBar().maximum() == 0
    assert part.cells.height() >= part.cells.height_of(len(FOUR))
    resized(live, 1280, 720)
    assert live.window.height() == 720
    assert part.fields.rows_shown() <= MOST_SHOWN


@pytest.mark.parametrize("scale", [1.0, 1.25])
def test_the_formulas_of_an_update_have_one_size_and_lie_apart(live, scale):  # noqa: F811
    page = opened(live)
    live.store.dispatch(step_actions.show_stage, "adam")
    resized(live, 1280, 720, scale)
    shown = page.parts["adam"].formulas
    # at its own size, and not pressed into the height of a line
    for formula in shown.formulas:
        formula.finish()
        size = QSvgRenderer(QByteArray(typeset(formula._tex, formula.theme.text))).defaultSize()
        kept = shown.type_size() / TYPESET_PIXELS
        assert size.height() * kept <= formula.height()
        assert size.width() * kept <= formula.width() + 1
    assert shown.type_size() >= 0.75 * shown.em
    tops = [formula.y() for formula in shown.formulas]
    assert all(b - a >= shown.em * 1.5 for a, b in pairwise(tops))
    column = page.parts["adam"].column
    assert column.viewport().height() >= 5 * shown.em
    for heatmap in page.parts["adam"].changes:
        assert heatmap.height() >= heatmap.minimumSizeHint().height()


def test_the_curves_of_two_trainings_take_the_width_and_stand_clear_of_their_title(qtbot):
    canvas = LossCurves()
    qtbot.addWidget(canvas)
    canvas.resize(440, 340)
    steps = np.arange(1.0, 201.0)
    names = ("without 0.4238", "encoder"), ("with 0.06627", "decoder")
    lines = tuple(Line(name, colour, steps, 3.0 / steps) for name, colour in names)
    curves = Curves("Loss, step 200 of 200", lines, x_title="step")
    plot = CurvePlot(canvas, curves, QRectF(canvas.rect()), None, filled=True)
    assert plot.plot.width() >= 0.85 * canvas.width()
    # a line for the title, one for the names of the lines, and air
    assert min(places[:, 1].min() for places in plot.points) >= 3.5 * canvas.em
    canvas.set_curves(curves, "")
    assert not canvas.grab().isNull()


def test_words_in_the_place_of_the_curves_are_not_cut(qtbot):
    canvas = LossCurves()
    qtbot.addWidget(canvas)
    words = "Two short trainings from the same fresh weights, on the same batches"
    canvas.resize(round(0.6 * canvas.face().width(words)), 300)
    canvas.set_curves(None, words)
    image = canvas.grab().toImage()
    ground = image.pixel(0, 0)
    inked = [
        y
        for y in range(image.height())
        if any(image.pixel(x, y) != ground for x in range(image.width()))
    ]
    # two lines of words, with a gap between them
    assert any(b - a > 1 for a, b in pairwise(inked))
    assert max(inked) - min(inked) > 1.3 * canvas.em


def test_a_number_stands_near_the_name_that_it_belongs_to(qtbot):
    table = StepTable()
    qtbot.addWidget(table)
    table.resize(1300, 600)
    cells = ("encoder.layers.0.self_attn.W_q", "[21, 17]", "-0.1070528", "3.5e-10")
    said = Table(("Parameter", "worst cell", "gradient", "error"), (TableRow(cells, mark="ok"),))
    columns = table._columns(said)
    small = table.face(fonts.SMALL)
    ends = [columns[0][0] + small.width(cells[0])]
    ends += [left + wide for left, wide, _ in columns[1:]]
    for end, (left, wide, _), text in zip(ends, columns[1:], cells[1:], strict=False):
        assert left + wide - small.width(text) - end < 11 * table.em
