"""That nothing of a training step is cut or covered in a small window or with large type."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QByteArray, QPoint, QRect
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QWidget

from tests.gui.live_window import WAIT, live  # noqa: F401 (fixture)
from tests.gui.test_step_page import opened
from visualizer import actions, step_actions
from visualizer.inquiries.step import current_step
from visualizer.widgets.formula import TYPESET_PIXELS, typeset
from visualizer.widgets.pair_fields import MOST_SHOWN

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
