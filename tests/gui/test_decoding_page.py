"""The decoding bench on screen: the pointer, the sliders, the buttons, what its tab hides."""

from __future__ import annotations

from threading import Event

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from model_core.chi_square import chi_square
from model_core.sampling import distribution
from tests.gui.live_window import WAIT, checkpoint, live  # noqa: F401
from tests.gui.samples import FONT, LEFT_BUTTON
from tests.gui.samples import at as pixel
from tests.gui.test_pipeline_view import one_row
from visualizer import actions, bench_actions, fonts, navigation
from visualizer.lenses import board as boards
from visualizer.lenses import pipeline, pipeline_words
from visualizer.lenses.board import Board
from visualizer.run import compute
from visualizer.widgets.draw_bar import DrawBar
from visualizer.widgets.pipeline_columns import PipelineColumns


@pytest.fixture(autouse=True)
def bundled_font(qapp: QApplication) -> None:
    fonts.install_fonts(qapp, FONT, exact=True)


def columns(qtbot, board: Board, size=(1000, 300)) -> PipelineColumns:
    widget = PipelineColumns()
    qtbot.addWidget(widget)
    widget.resize(*size)
    widget.set_board(board)
    widget.show()
    return widget


def many(count: int = 400, **inputs):
    """A row over many tokens."""
    logits = np.random.default_rng(4).normal(0.0, 3.0, count)
    return one_row(logits, temperature=0.7, top_k=30, **inputs)


# The columns.


def test_pointing_at_a_number_tells_its_token_and_its_column(qtbot):
    board = boards.board(many())
    widget = columns(qtbot, board)
    layout, told = widget.layout_now(), []
    widget.tokenHovered.connect(lambda *thing: told.append(thing))
    for row, place in ((0, 0), (3, 2), (layout.rows - 1, 4)):
        start, room = layout.bars_at(place)
        spot = QPointF(start + room / 2, layout.row_rect(row).center().y())
        qtbot.mouseMove(widget, pixel(spot))
        wanted = (board.token_at(row), place)
        qtbot.waitUntil(lambda wanted=wanted: told[-1:] == [wanted])


def test_a_click_takes_the_token_and_a_click_on_a_head_its_order(qtbot):
    board = boards.board(many())
    widget = columns(qtbot, board)
    layout = widget.layout_now()
    with qtbot.waitSignal(widget.tokenClicked) as clicked:
        qtbot.mouseClick(widget, LEFT_BUTTON, pos=pixel(layout.row_rect(2).center()))
    assert clicked.args == [board.token_at(2)]
    with qtbot.waitSignal(widget.sortWanted) as wanted:
        qtbot.mouseClick(widget, LEFT_BUTTON, pos=pixel(layout.head_rect(1).center()))
    assert wanted.args == ["tempered"]


def wheel(widget: PipelineColumns, notches: int) -> None:
    at = QPointF(widget.width() / 2, widget.height() / 2)
    turned = QPoint(0, -120 * notches)
    none, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
    plain = Qt.KeyboardModifier.NoModifier
    event = QWheelEvent(at, widget.mapToGlobal(at), QPoint(), turned, none, plain, phase, False)
    QApplication.sendEvent(widget, event)


@pytest.mark.parametrize("sorts", [True, False])
def test_the_wheel_and_the_handle_reach_the_last_token(qtbot, sorts):
    board = boards.board(bench_actions.sort_or_not(many(), sorts))
    widget = columns(qtbot, board)
    rows = widget.layout_now().rows
    assert widget.shown() == [board.token_at(row) for row in range(rows)]
    wheel(widget, 2)
    assert widget.shown()[0] == board.token_at(6)
    wheel(widget, 10_000)
    assert widget.shown()[-1] == board.token_at(399)
    wheel(widget, -10_000)
    assert widget.shown()[0] == board.token_at(0)
    thumb = widget.layout_now().thumb.center()
    qtbot.mousePress(widget, LEFT_BUTTON, pos=pixel(thumb))
    qtbot.mouseMove(widget, QPoint(round(thumb.x()), widget.height() + 50))
    qtbot.waitUntil(lambda: widget.shown()[-1] == board.token_at(399))
    qtbot.mouseRelease(widget, LEFT_BUTTON, pos=QPoint(round(thumb.x()), widget.height() - 1))
    # what slides along stays where one looked
    hotter = bench_actions.sort_or_not(many(seed=9), sorts)
    widget.set_board(boards.board(actions.set_temperature(hotter, 1.4)))
    assert widget.shown()[-1] == board.token_at(399)
    widget.reveal(board.token_at(17))
    assert board.token_at(17) in widget.shown()


def test_the_longest_bar_is_painted_from_end_to_end_and_what_is_out_is_not(qtbot):
    board = boards.board(many())
    widget = columns(qtbot, board)
    image, layout = widget.grab().toImage(), widget.layout_now()
    place = [column.name for column, _ in layout.columns].index("renormalised")
    start, _ = layout.bars_at(place)
    green = widget.theme.color("output").getRgb()[:3]
    y = round(layout.row_rect(0).center().y())
    assert image.pixelColor(round(start) + 4, y).getRgb()[:3] == green
    assert "out" == layout.columns[place][0].text(board.token_at(35))
    widget.scroll_to(35)
    image = widget.grab().toImage()
    assert image.pixelColor(round(start) + 2, y).getRgb()[:3] != green


@pytest.mark.parametrize("width", [500, 760, 1000, 1400])
def test_columns_fit_into_the_width(qtbot, width):
    state = bench_actions.draw_many(many())
    widget = columns(qtbot, boards.board(state), (width, 240))
    layout = widget.layout_now()
    for place in range(len(layout.columns)):
        start, room = layout.bars_at(place)
        assert layout.columns[place][1] <= start and room > 0
        assert start + room <= layout.track.left()
        if place:
            before, wide = layout.bars_at(place - 1)
            assert before + wide < layout.columns[place][1]


# The draw.


def bar(qtbot, state) -> DrawBar:
    widget = DrawBar()
    qtbot.addWidget(widget)
    widget.resize(180, 400)
    tokens = state.model.model.tokenizer.target_vocabulary
    given = pipeline.staged(state).distribution
    widget.set_draw(pipeline_words.draw_words(state), given, pipeline.chosen(state), tokens)
    widget.show()
    return widget


def test_the_pieces_of_the_bar_are_the_probabilities_in_the_order_of_the_ids(qtbot):
    state = one_row(np.log([0.1, 0.4, 0.2, 0.3]), seed=5)
    widget = bar(qtbot, state)
    whole, pieces = widget.bar_rect(), widget.pieces()
    assert [token for token, _ in pieces] == [0, 1, 2, 3]
    heights = [rect.height() / whole.height() for _, rect in pieces]
    np.testing.assert_allclose(heights, [0.1, 0.4, 0.2, 0.3])
    for (_, rect), top in zip(pieces, (0.0, 0.1, 0.5, 0.7), strict=True):
        assert rect.top() == pytest.approx(widget.y_of(top))
    taken = pipeline.chosen(state)
    at = QPointF(whole.center().x(), widget.y_of(taken.draw.uniform))
    assert widget.token_at(at) == taken.id
    with qtbot.waitSignal(widget.tokenClicked) as clicked:
        qtbot.mouseClick(widget, LEFT_BUTTON, pos=pixel(pieces[3][1].center()))
    assert clicked.args == [3]


def test_the_mark_lies_where_the_uniform_falls(qtbot):
    widget = bar(qtbot, one_row(np.log([0.1, 0.4, 0.2, 0.3]), seed=5))
    image = widget.grab().toImage()
    y = round(widget.y_of(widget._taken.draw.uniform))
    x = round(widget.bar_rect().right()) + 4
    ink = widget.theme.color("text").getRgb()[:3]
    rows = [row for row in range(image.height()) if image.pixelColor(x, row).getRgb()[:3] == ink]
    assert rows and abs(np.mean(rows) - y) <= 1.0


def test_tokens_thinner_than_a_pixel_are_found_all_the_same(qtbot):
    widget = bar(qtbot, one_row(np.zeros(60_000), seed=1))
    assert widget.pieces() == []
    middle = widget.bar_rect().center()
    assert widget.token_at(middle) == pytest.approx(30_000, abs=100)


# The window.


@pytest.fixture
def bench(live):  # noqa: F811
    """The window with the page on show and a drawn output."""
    live.store.dispatch(actions.set_temperature, 1.2)
    live.until_settled()
    live.press(Qt.Key.Key_D, widget=live.window.stage)
    assert live.state.page == "decoding"
    return live


def page_of(live):  # noqa: F811
    return live.window.stage.pages["decoding"]


def test_the_page_takes_the_room_at_the_right_and_gives_it_back(bench):
    workspace = bench.window.workspace
    wide = page_of(bench).width()
    assert not workspace.right.isVisible() and page_of(bench).isVisible()
    bench.store.dispatch(actions.set_top_k, 3)
    bench.until_settled()
    bench.press(Qt.Key.Key_D, widget=bench.window.stage)
    assert workspace.right.isVisible() and bench.state.page == "record"
    assert bench.window.stage.width() < wide
    # what changed while nobody saw it is there
    assert bench.window.prediction.sampling.top_k.value_label.text() == "3"
    bars = bench.window.prediction.bars
    bench.qtbot.waitUntil(lambda: bars.painted[:1] == (bench.state.run.number,), timeout=WAIT)
    assert bars._bars.kept.sum() == 3


@pytest.mark.parametrize("name", ["temperature", "top_k", "top_p"])
@pytest.mark.parametrize("place", ["decoding", "record"])
def test_a_slider_repaints_before_the_model_is_called(bench, monkeypatch, name, place):
    bench.store.dispatch(actions.set_top_k, 5)
    bench.until_settled()
    bench.store.dispatch(actions.show_page, place)
    page, panel = page_of(bench), bench.window.prediction
    sampling = (page if place == "decoding" else panel).sampling
    canvas = page.columns if place == "decoding" else panel.bars
    bench.qtbot.waitUntil(lambda: canvas.isVisible() and not canvas.is_stale, timeout=WAIT)
    called, go_on = Event(), Event()
    plain = compute

    def slow(*arguments):
        called.set()
        assert go_on.wait(WAIT / 1000)
        return plain(*arguments)

    monkeypatch.setattr("visualizer.run.compute", slow)
    run = bench.state.run
    row = bench.state.run.tape["logits"].value[0, bench.state.run.last_content]
    slider = getattr(sampling, name).slider
    slider.triggerAction(slider.SliderAction.SliderToMinimum)
    assert canvas.is_stale
    bench.qtbot.waitUntil(lambda: not canvas.is_stale, timeout=WAIT)
    inputs = bench.state.inputs
    assert bench.state.run is run and inputs != run.inputs
    wanted = distribution(row, inputs.temperature, inputs.top_k, inputs.top_p)
    if place == "decoding":
        found = page.columns.board.column("renormalised").values
    else:
        found = panel.bars._bars.values
        wanted_ids = list(panel.bars._bars.ids)
    shown = wanted.probabilities if place == "decoding" else wanted.probabilities[wanted_ids]
    np.testing.assert_array_equal(found, shown)
    go_on.set()
    # and what follows from it is decoded all the same
    bench.qtbot.waitUntil(lambda: bench.state.run.inputs == inputs, timeout=WAIT)
    assert called.is_set()


def test_the_buttons_draw_ten_thousand_times_as_displayed(bench):
    page = page_of(bench)
    for _ in range(50):
        bench.qtbot.mouseClick(page.many, LEFT_BUTTON)
    shown = page.columns.board
    counts, displayed = shown.column("draws").values, shown.column("renormalised").values
    assert counts.sum() == 10_000
    assert chi_square(counts, displayed).p_value > 0.001
    bench.qtbot.mouseClick(page.forget, LEFT_BUTTON)
    assert page.columns.board.column("draws") is None and not page.forget.isVisible()


def test_drawing_again_says_which_number_of_the_stream_it_is(bench):
    page = page_of(bench)
    number = pipeline.chosen(bench.state).number
    assert not page.of_run.isVisible()
    bench.qtbot.mouseClick(page.again, LEFT_BUTTON)
    taken = pipeline.chosen(bench.state)
    assert taken.number == number + 1
    assert f"no. {number + 1}" in page.bar._words.lines[0]
    assert f"seed {bench.state.inputs.seed}" in page.bar._words.lines[0]
    assert page.columns.board.chosen == taken.id
    bench.qtbot.mouseClick(page.of_run, LEFT_BUTTON)
    assert pipeline.chosen(bench.state).number == number


def test_pointing_at_a_token_tells_every_digit(bench):
    # the logits of the first row depend on no token that was drawn
    bench.store.dispatch(navigation.go_to_token, 0)
    page = page_of(bench)
    layout, shown = page.columns.layout_now(), page.columns.board
    start, room = layout.bars_at(0)
    spot = QPointF(start + room / 2, layout.row_rect(1).center().y())
    bench.qtbot.mouseMove(page.columns, pixel(spot))
    token = shown.token_at(1)
    exact = repr(float(shown.columns[0].values[token]))
    bench.qtbot.waitUntil(lambda: exact in page.said.accessibleName(), timeout=WAIT)
    assert page.bar._pointed == token
    # a run that comes in between leaves what is pointed at
    bench.store.dispatch(actions.set_seed, bench.state.inputs.seed + 1)
    bench.until_settled()
    assert exact in page.said.accessibleName()
    held = Qt.KeyboardModifier.ShiftModifier
    bench.qtbot.mouseClick(page.columns, LEFT_BUTTON, held, pixel(spot))
    assert bench.state.bench.token == token == page.columns.board.selected
    bench.qtbot.mouseClick(page.columns, LEFT_BUTTON, held, pixel(spot))
    assert bench.state.bench.token is None


def test_greedy_offers_no_draw(bench):
    page = page_of(bench)
    assert page.again.isEnabled()
    bench.qtbot.mouseClick(page.sampling.choice._group.button(0), LEFT_BUTTON)
    assert bench.state.inputs.strategy == "greedy"
    assert not page.again.isEnabled() and not page.many.isEnabled()
    assert page.bar._words.lines[0] == "argmax, nothing is drawn"
