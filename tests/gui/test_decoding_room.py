"""The decoding bench in little room: one half at a time, nothing over anything, refusals."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QApplication, QWidget

from tests.gui.live_window import WAIT, live  # noqa: F401
from tests.gui.samples import LEFT_BUTTON
from tests.gui.samples import at as pixel
from tests.gui.searches import ids_of, searched
from visualizer import actions, bench_actions, decoding_actions, forcing
from visualizer.lenses import pipeline
from visualizer.lenses.caption import nothing_to_show
from visualizer.lenses.likelihood import probability
from visualizer.widgets.canvas import Canvas
from visualizer.widgets.controls import LabelledSlider

SIZES = [(1120, 640), (1280, 720), (1600, 1000)]


@pytest.fixture
def bench(live):  # noqa: F811
    live.store.dispatch(actions.show_page, "decoding")
    live.until_settled()
    return live


def page_of(live):  # noqa: F811
    return live.window.stage.pages["decoding"]


def place_of(widget: QWidget, within: QWidget) -> QRect:
    return QRect(widget.mapTo(within, QPoint()), widget.size())


def parts(page) -> list[QWidget]:
    """What is seen and has nothing in it, as far as no scroll bar moves it."""
    kinds = (Canvas, LabelledSlider)
    found = [w for kind in kinds for w in page.findChildren(kind) if w.isVisible()]
    return [w for w in found if not any(isinstance(p, kinds) for p in above(w, page))]


def above(widget: QWidget, top: QWidget):
    while (widget := widget.parentWidget()) is not top:
        yield widget


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("line", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_nothing_lies_over_anything_and_five_rows_are_in_view(bench, size, line, language):
    bench.store.dispatch(actions.set_language, language)
    bench.store.dispatch(forcing.show_target_line, line)
    bench.window.resize(*size)
    page = page_of(bench)
    for strategy in ("sample", "beam"):
        bench.store.dispatch(decoding_actions.choose_strategy, strategy)
        bench.until_settled()
        QApplication.processEvents()
        for half in (0, 1) if page.halves.isVisible() else (0,):
            if page.halves.isVisible():
                at = pixel(page.halves.title_rect(half).center())
                bench.qtbot.mouseClick(page.halves, LEFT_BUTTON, pos=at)
                QApplication.processEvents()
            assert page.height() >= page.minimumSizeHint().height()
            whole = bench.window.workspace.stage
            assert place_of(page, whole).bottom() <= whole.rect().bottom()
            if page.columns.isVisible():
                assert page.columns.layout_now().rows >= 5
                last = page.columns.layout_now().row_rect(4)
                assert last.bottom() <= page.columns.height() + 0.5
            for slider in page.beams.sliders:
                if slider.isVisible():
                    assert slider.height() >= slider.minimumSizeHint().height()
            places = [(w, place_of(w, page)) for w in parts(page)]
            inside = {w for w, _ in places if page.beams.aside.isAncestorOf(w)}
            inside |= {w for w, _ in places if page.beams.tree.isAncestorOf(w)}
            for n, (one, first) in enumerate(places):
                for other, second in places[n + 1 :]:
                    # what is scrolled is cut by its own frame
                    if one in inside or other in inside:
                        continue
                    assert not first.intersects(second), (one, other)


def test_where_there_is_room_for_both_there_is_no_switch(bench):
    page = page_of(bench)
    bench.store.dispatch(decoding_actions.choose_strategy, "beam")
    bench.until_settled()
    bench.window.resize(1600, 1000)
    bench.qtbot.waitUntil(lambda: page.picture.isVisible() and page.beams.isVisible())
    assert not page.halves.isVisible() and page.note.isVisible()
    bench.window.resize(1120, 640)
    bench.qtbot.waitUntil(page.halves.isVisible)
    # a search that was asked for is what is seen first
    assert page.beams.isVisible() and not page.picture.isVisible()
    at = pixel(page.halves.title_rect(0).center())
    bench.qtbot.mouseClick(page.halves, LEFT_BUTTON, pos=at)
    assert page.picture.isVisible() and not page.beams.isVisible()
    bench.store.dispatch(decoding_actions.choose_strategy, "greedy")
    bench.until_settled()
    assert page.picture.isVisible() and page.beams.offer.isVisible()
    assert not page.halves.isVisible()


def test_the_offer_of_a_search_is_a_slim_line(bench):
    page = page_of(bench)
    assert page.beams.offer.isVisible() and page.beams.height() < 4 * page.em
    bench.qtbot.mouseClick(page.beams.start, LEFT_BUTTON)
    assert bench.state.inputs.strategy == "beam"
    bench.until_settled()
    assert page.beams.searched and not page.beams.offer.isVisible()


@pytest.mark.parametrize("strategy", ["greedy", "beam"])
@pytest.mark.parametrize("sentence", ["", "s4 " * 400])
def test_a_sentence_that_is_refused_is_told_of_as_on_the_step(bench, sentence, strategy):
    page = page_of(bench)
    bench.store.dispatch(decoding_actions.choose_strategy, strategy)
    bench.store.dispatch(actions.edit_source, sentence)
    bench.qtbot.waitUntil(lambda: bench.state.run.inputs == bench.state.inputs, timeout=WAIT)
    title, reason = nothing_to_show(bench.state.run)
    assert title and reason
    told = page.refused.accessibleName()
    assert page.refused.isVisible() and title in told and reason in told
    assert not page.picture.isVisible()
    # nothing could be searched for
    assert not page.beams.start.isVisible()
    bench.store.dispatch(actions.show_page, "record")
    assert bench.window.stage.pages["record"].empty.accessibleName() == told
    bench.store.dispatch(actions.show_page, "decoding")
    bench.store.dispatch(actions.edit_source, "s4 s5")
    bench.until_settled()
    assert page.picture.isVisible() or page.beams.searched
    assert not page.refused.isVisible()


def test_sliders_have_a_track_without_a_run(live):  # noqa: F811
    live.store.dispatch(actions.edit_source, "")
    live.qtbot.waitUntil(lambda: live.state.run.inputs == live.state.inputs, timeout=WAIT)
    live.store.dispatch(actions.show_page, "record")
    live.store.dispatch(actions.show_page, "decoding")
    live.window.resize(1120, 640)
    page = page_of(live)
    live.qtbot.waitUntil(lambda: page.width() < 1000)
    QApplication.processEvents()
    wide = [slider.slider.width() for slider in page.sampling.sliders]
    assert min(wide) >= 3 * page.em - 1
    live.store.dispatch(actions.edit_source, "s4 s5")
    live.until_settled()
    assert [slider.slider.width() for slider in page.sampling.sliders] == wide


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_a_draw_did_is_told_to_its_end_in_the_least_window(bench, language):
    bench.store.dispatch(actions.set_language, language)
    bench.store.dispatch(actions.set_temperature, 1.7)
    bench.until_settled()
    bench.window.resize(1120, 640)
    page = page_of(bench)
    bench.qtbot.waitUntil(lambda: page.width() < 1000)
    for ask in (bench_actions.draw_many, bench_actions.draw_again, bench_actions.draw_again):
        bench.store.dispatch(ask)
        QApplication.processEvents()
        taken = pipeline.chosen(bench.state)
        text, _, whole = page.said.shown()
        assert whole, text
        assert bench.state.model.model.tokenizer.target_vocabulary[taken.id] in text
        assert probability(taken.draw.below) in text and probability(taken.draw.upto) in text
    # by now in few digits: with all of them on hover
    assert f"{taken.draw.uniform:.6f} " in text
    assert repr(taken.draw.uniform) in page.said.toolTip()


def test_no_more_are_listed_than_a_search_is_wide(bench):
    page = page_of(bench)
    bench.store.dispatch(decoding_actions.set_beams, 3)
    bench.until_settled()
    slider = page.beams.n_best
    assert slider.slider.maximum() == 2 and slider.value_label.text() == "3"
    bench.store.dispatch(decoding_actions.set_beams, 16)
    assert slider.slider.maximum() == 15 and slider.value_label.text() == "4"


def test_what_only_counts_for_draws_is_greyed_while_a_search_is_chosen(bench):
    page, panel = page_of(bench), bench.window.prediction
    for strategy, counts in (("beam", False), ("sample", True), ("greedy", True)):
        bench.store.dispatch(decoding_actions.choose_strategy, strategy)
        bench.until_settled()
        assert {slider.isEnabled() for slider in page.sampling.sliders} == {counts}
    bench.store.dispatch(actions.show_page, "record")
    assert all(slider.isEnabled() for slider in panel.sampling.sliders)


@pytest.mark.parametrize(
    "other",
    [
        (actions.set_temperature, 0.7),
        (actions.set_top_k, 3),
        (actions.set_top_p, 0.5),
        (actions.set_seed, 4),
        (actions.set_strategy, "greedy"),
        (decoding_actions.choose_strategy, "sample"),
    ],
)
def test_nothing_stays_pinned_once_another_strategy_is_chosen(other):
    state = searched(3)
    ids = ids_of(state, 7)
    pinned = decoding_actions.pin_hypothesis(state, ids)
    assert pinned.inputs.pinned == ids
    act, value = other
    assert act(pinned, value).inputs.pinned is None
