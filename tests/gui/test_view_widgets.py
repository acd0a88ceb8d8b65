"""The painted views of records: what lies under the pointer, at every scale and every size."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from tests.gui.samples import FONT, LEFT_BUTTON, ROOT
from tests.gui.samples import at as pixel
from tests.gui.views import at, view
from visualizer import fonts
from visualizer.lenses import flow, layer, ranking, stage, views
from visualizer.widgets.layer_flow import LayerFlow
from visualizer.widgets.layer_table import LayerTable
from visualizer.widgets.strip_layout import arrange_stack
from visualizer.widgets.strip_stack import StripStack
from visualizer.widgets.token_ranks import TokenRanks

NORM = "decoder.layers.0.norm2"
RESIDUAL = "decoder.layers.0.residual2"


@pytest.fixture(autouse=True)
def bundled_font(qapp: QApplication) -> None:
    fonts.install_fonts(qapp, FONT, exact=True)


def drawn(state):
    return views.stack(state, stage.stage(state))


@pytest.mark.parametrize("scale", ["1", "1.5", "2"])
def test_the_pixel_under_the_pointer_is_the_tapes_value_at_that_row_and_column(scale):
    """All views on tapes of 5×9 and 9×5, in a process with its own scale."""
    run = subprocess.run(
        [sys.executable, Path(__file__).with_name("scaled_views.py"), scale],
        env={
            **os.environ,
            "QT_QPA_PLATFORM": "offscreen",
            "QT_SCALE_FACTOR": scale,
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_pointing_at_a_strip_a_figure_and_a_point_tells_record_row_and_column(qtbot):
    stack = StripStack()
    qtbot.addWidget(stack)
    stack.resize(760, 560)
    stack.set_stack(drawn(at(f"{NORM}.normalised", token=3)))
    stack.show()
    told = []
    stack.cellHovered.connect(lambda *spot: told.append(spot))
    places = (
        (stack.cell_rect(RESIDUAL, 1, 7).center(), (RESIDUAL, 1, 7)),
        (stack.figure_rect(f"{NORM}.mean", 2).center(), (f"{NORM}.mean", 2, 0)),
        (stack.figure_rect(f"{NORM}.variance", 0).center(), (f"{NORM}.variance", 0, 0)),
        (stack.point_of((f"{NORM}.normalised", 3, 4)), (f"{NORM}.normalised", 3, 4)),
    )
    for place, spot in places:
        qtbot.mouseMove(stack, pixel(place))
        qtbot.waitUntil(lambda spot=spot: told[-1:] == [spot])
    with qtbot.waitSignal(stack.cellClicked) as clicked:
        qtbot.mouseClick(stack, LEFT_BUTTON, pos=pixel(stack.cell_rect(RESIDUAL, 3, 11).center()))
    assert clicked.args == [RESIDUAL, 3, 11]


def test_the_height_of_a_point_is_its_value(qtbot):
    stack = StripStack()
    qtbot.addWidget(stack)
    stack.resize(760, 560)
    state = at(f"{NORM}.normalised", token=3)
    stack.set_stack(drawn(state))
    row = state.run.tape[f"{NORM}.normalised"].value[0, 3]
    heights = [stack.point_of((f"{NORM}.normalised", 3, n)).y() for n in range(12)]
    slope, offset = np.polyfit(row, heights, 1)
    assert slope < 0
    np.testing.assert_allclose(np.polyval([slope, offset], row), heights, atol=1e-3)


def test_every_cell_of_the_table_and_the_flow_maps_back_to_itself(qtbot):
    state = at(f"{NORM}.normalised", token=3)
    table, whole = LayerTable(), LayerFlow()
    for widget in (table, whole):
        qtbot.addWidget(widget)
        widget.resize(420, 330)
    table.set_rows(layer.layer_rows(state))
    rows = table.rows
    for site in (rows.read_site, rows.normed_site, rows.mean_site, rows.variance_site):
        spot = (site, 2, 0)
        assert table.spot_at(table.cell_rect(*spot).center()) == spot
    whole.set_flow(flow.flow(state))
    for spot in ((0, False, 5, 4), (1, True, 3, 6), (1, False, 0, 0)):
        assert whole.spot_at(whole.cell_rect(spot).center()) == spot
    # the embedding adds nothing, so there is nothing to point at
    assert whole.spot_at(whole.cell_rect((1, True, 0, 0)).center()) is None


def test_a_line_of_the_ranking_is_the_token_that_is_told(qtbot):
    ranks = TokenRanks()
    qtbot.addWidget(ranks)
    ranks.resize(900, 160)
    state = at("logits")
    ranks.set_ranking(ranking.ranking(state, stage.stage(state)))
    ranks.show()
    assert ranks.shown() > 3
    for place in range(ranks.shown()):
        assert ranks.place_at(ranks.line_rect(place).center()) == place
    with qtbot.waitSignal(ranks.tokenClicked) as clicked:
        qtbot.mouseClick(ranks, LEFT_BUTTON, pos=pixel(ranks.line_rect(3).center()))
    assert clicked.args == [ranks.ranking.ids[3]]


def test_a_pointer_beside_everything_is_on_nothing(qtbot):
    stack = StripStack()
    qtbot.addWidget(stack)
    stack.resize(500, 400)
    assert stack.spot_at(QPointF(250, 200)) is None
    stack.set_stack(drawn(at(RESIDUAL)))
    assert stack.spot_at(QPointF(1, 1)) is None


@pytest.mark.parametrize("size", [(620, 300), (900, 600), (1600, 1250)])
@pytest.mark.parametrize("traits", [{}, {"norm_position": "pre"}])
def test_no_strip_leaves_the_picture_at_any_size(qtbot, size, traits):
    stack = StripStack()
    qtbot.addWidget(stack)
    stack.resize(*size)
    for site in view(**traits).run.tape.sites:
        together = drawn(at(site, **traits))
        if together is None:
            continue
        stack.set_stack(together)
        stack.grab()
        for strip in together.strips:
            rows, columns = strip.matrix.values.shape
            for row, column in ((0, 0), (rows - 1, columns - 1)):
                rect = stack.cell_rect(strip.site, row, column)
                assert stack.rect().contains(rect.toAlignedRect()), (site, strip.site)


@pytest.mark.parametrize("size", [(740, 320), (920, 620)])
def test_labels_of_rows_never_touch_and_never_leave_the_rows(qtbot, size):
    canvas = StripStack()
    qtbot.addWidget(canvas)
    canvas.resize(*size)
    canvas.set_stack(drawn(at(f"{NORM}.out")))
    for place in arrange_stack(canvas, canvas.stack).strips:
        line = place.cells.rect(1, 0).top() - place.cells.rect(0, 0).top()
        assert place.row_step * line >= place.label_scale * canvas.em
        assert place.notes is not None
        assert place.labels[1] < place.notes[0] < place.notes[1] <= place.cells.bounds().left()
