"""The film of a training: what it shows is what the snapshots' own models compute."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtTest import QTest

from model_core import open_checkpoint
from model_core.bundled import path_of
from model_core.training.watched_pair import fitting
from tests.gui import scripted_training as scripted
from tests.gui.lab_bench import film, subject
from visualizer import actions, lab_actions, lab_orders, lab_unfinished
from visualizer.lab import Check, Shot, Training, site_of
from visualizer.lab_film import checked, model_at, shot_of, shots_of, telling_heads
from visualizer.lenses import lab_charts, lab_words
from visualizer.widgets import figures
from visualizer.widgets.film_detail import FilmDetail
from visualizer.widgets.film_pair import FilmPair
from visualizer.widgets.film_strip import PLACES, FilmStrip
from visualizer.widgets.lab_chart import LabChart


@pytest.fixture
def lab(lab_window):
    return lab_window


def looked_at(bench, qtbot, *steps: int):
    """The lab once all pictures of its film are known."""
    film(bench, qtbot, *steps)
    lab = bench.store.state.lab
    shots = shots_of(lab, lambda: False, most=len(steps))
    return bench.store.dispatch(lab_orders.take_shots, lab.training.number, lab.probe, shots).lab


def test_the_probabilities_shown_are_those_of_the_snapshots_model(qtbot, bench):
    lab = looked_at(bench, qtbot, 0, 10, 20)
    for frame in lab_words.frames(lab, 9):
        model = model_at(lab.training, frame.step)
        ids = model.generate("s4 s5", max_new_tokens=6).ids
        # traced anew over the whole output, not as it was decoded
        tape = model.trace("s4 s5", target_ids=ids[:-1])
        logits = tape["logits"].value[0].astype(np.float64)
        e = np.exp(logits - logits.max(axis=-1, keepdims=True))
        p = (e / e.sum(axis=-1, keepdims=True))[np.arange(len(ids) - 1), ids[1:]]
        np.testing.assert_allclose(frame.sure, p, rtol=1e-4)
        assert len(frame.tokens) == len(frame.rows) == len(frame.sure)


def test_gradients_are_checked_before_anything_was_measured_whatever_is_typed(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.snapshot(0), scripted.steps(1, 2))
    lab = replace(
        bench.store.state.lab,
        probe="no such words",
        training=replace(bench.training, watched=("s4 s5", "t4 t5"), evaluation=None),
        check=Check(1, 0),
    )
    assert not lab.expected
    results = checked(lab, lambda: False)
    assert {result.name for result in results} == set(scripted.MODEL.parameters)
    assert all(result.holds for result in results)


def test_the_frame_looked_at_tells_every_cell_and_every_probability(qtbot, bench):
    lab = looked_at(bench, qtbot, 0, 10, 20)
    shown = lab_words.detail(lab)
    assert shown is not None and shown.frame.step == 20
    assert shown.expected == "expected t4 t5" and not shown.frame.is_right
    detail = FilmDetail()
    qtbot.addWidget(detail)
    detail.resize(600, 300)
    detail.set_detail(shown)
    detail.show()
    frame = shown.frame
    for token, p in zip(frame.tokens, frame.sure, strict=True):
        assert f"{token} {figures.percent(p)}" in detail.accessibleDescription()
    weight = model_at(lab.training, 20).generate("s4 s5", max_new_tokens=6).tape
    value = weight[site_of(lab)].value[0, 0, 1, 0]
    said = detail.cell_words(1, 0)
    assert str(value) in said and f"“{frame.rows[1]}”" in said and f"“{frame.columns[0]}”" in said
    # the pointer finds the cell that is painted there
    rect = detail.picture_rect()
    rows, columns = frame.weights.shape
    at = QPointF(
        rect.left() + 0.5 * rect.width() / columns, rect.top() + 1.5 * rect.height() / rows
    )
    QTest.mouseMove(detail, at.toPoint())
    assert detail._cell == (1, 0)


@pytest.mark.parametrize("width", [460, 600, 900, 1500])
@pytest.mark.parametrize("count", [1, 3, 4, 5, 7, 9])
def test_the_frames_share_the_whole_width(qtbot, width, count):
    strip = FilmStrip()
    qtbot.addWidget(strip)
    strip.resize(width, 240)
    frame = lab_words.coming(0)
    strip.set_frames(tuple(replace(frame, step=n) for n in range(count)))
    places = [strip.picture_rect(n) for n in range(max(count, PLACES))]
    pitches = np.diff([place.left() for place in places])
    assert pitches.max() - pitches.min() <= 1
    assert places[-1].left() + pitches.max() > width - 1 - 0.5 * strip.em
    assert all(a.right() < b.left() for a, b in pairwise(places))


def test_a_frame_to_come_keeps_its_place_and_cannot_be_chosen(qtbot, bench):
    film(bench, qtbot, 0, 10, 20)
    assert lab_words.frames(bench.store.state.lab, 9) == ()
    lab = bench.store.state.lab
    shots = shots_of(lab, lambda: False, most=1)
    lab = bench.store.dispatch(lab_orders.take_shots, lab.training.number, lab.probe, shots).lab
    frames = lab_words.frames(lab, 9)
    assert [f.step for f in frames] == [0, 10, 20]
    assert sum(f.is_known for f in frames) == 1
    strip = FilmStrip()
    qtbot.addWidget(strip)
    strip.resize(700, 200)
    strip.set_frames(frames)
    clicked: list[int] = []
    strip.frameClicked.connect(clicked.append)
    for number in range(3):
        middle = strip.picture_rect(number).center().toPoint()
        QTest.mouseClick(strip, Qt.MouseButton.LeftButton, pos=middle)
    assert clicked == [f.step for f in frames if f.is_known]


# Which head is shown.


def test_a_head_that_reads_one_key_after_another_tells_most():
    even, fixed, moving = np.full((4, 4), 0.25), np.zeros((4, 4)), np.eye(4)
    fixed[:, 2] = 1
    np.testing.assert_allclose(telling_heads(np.stack([even, fixed, moving])), [0, 0, 0.75])


def told(bench, qtbot, **settings):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.snapshot(0))
    training: Training = replace(bench.training, subject=subject(**settings))
    state = bench.store.state
    return replace(state, lab=replace(state.lab, training=training, probe="s4", layer=1, head=0))


def shot(*telling: float) -> Shot:
    site = "decoder.layers.1.cross_attn.weights"
    return Shot(0, "s4", {}, (), (), (), "", telling={site: np.array(telling)})


def test_the_film_is_of_the_head_that_tells_most_until_another_one_is_chosen(qtbot, bench):
    state = told(bench, qtbot)
    number = bench.training.number
    seen = lab_orders.take_shots(state, number, "s4", (shot(0.2, 0.25, 0.6),))
    assert (seen.lab.layer, seen.lab.head) == (1, 2)
    # hardly more is no reason to change
    same = lab_orders.take_shots(seen, number, "s4", (shot(0.2, 0.65, 0.6),))
    assert same.lab.head == 2
    chosen = lab_orders.set_head(seen, 1)
    kept = lab_orders.take_shots(chosen, number, "s4", (shot(0.9, 0.1, 0.2),))
    assert kept.lab.head == 1


def test_a_guided_head_is_shown_whatever_the_others_do(qtbot, bench):
    state = told(bench, qtbot, alignment_loss=0.2)
    seen = lab_orders.take_shots(state, bench.training.number, "s4", (shot(0.2, 0.9, 0.6),))
    assert seen.lab.head == 0


@pytest.mark.parametrize(
    ("name", "probe"), [("dates", "Tuesday, September 2nd, 2014"), ("reverse", "glassformer")]
)
def test_the_guided_head_of_a_bundled_model_is_the_one_that_tells_most(name, probe):
    model = open_checkpoint(path_of(name))
    found = shot_of(model, 0, probe, None)
    guided = model.card["guided_head"]
    heads = found.telling[guided["site"]]
    assert heads.argmax() == guided["head"] and heads.max() > 0.5


# Charts.


@pytest.mark.parametrize("size", [(285, 110), (340, 165), (430, 250), (700, 420)])
def test_names_and_newest_values_stand_where_no_curve_runs(qtbot, bench, size):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.steps(*range(1, 41), evaluated=40))
    for shown in lab_charts.charts(bench.training):
        chart = LabChart()
        qtbot.addWidget(chart)
        chart.resize(*size)
        chart.set_chart(shown)
        above = QRectF(0, 0, size[0], 3.5 * chart.em)
        for line in shown.lines:
            points = chart.places(line)
            assert len(points) and not any(above.contains(QPointF(*p)) for p in points.tolist())


def test_the_second_axis_is_that_of_the_learning_rate(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.steps(1, 2, 3))
    rate = lab_charts.charts(bench.training)[2]
    line = next(line for line in rate.lines if line.most is not None)
    assert line.colour == rate.colours[1] and line.most is not None
    for share, text in rate.right:
        assert float(text) == pytest.approx(share * line.most, rel=1e-2)
    assert all(line.colour != rate.colours[1] for line in rate.lines if line.most is None)


def test_two_frames_side_by_side_tell_the_weights_of_a_cell(qtbot, bench):
    lab = looked_at(bench, qtbot, 0, 20)
    frames = lab_words.pair(lab)
    pair = FilmPair()
    qtbot.addWidget(pair)
    pair.resize(900, 260)
    pair.show()
    pair.set_pair(frames, "B minus A", "", "{row}{column}{weight}", "expected t4 t5")
    rects = [pair.picture_rect(n) for n in range(3)]
    assert all(a.right() < b.left() for a, b in pairwise(rects))
    QTest.mouseMove(pair, QPoint(round(rects[2].left() + 2), round(rects[2].top() + 2)))
    assert pair._cell == (0, 0)
    assert pair.difference()[0, 0] == frames[1].weights[0, 0] - frames[0].weights[0, 0]


# What a training that failed says.


def test_why_it_ended_is_said_once_and_stays_when_the_notice_is_dismissed(lab, qtbot):
    store = lab.store
    store.dispatch(lab_actions.toggle_lab)
    begun = replace(store.state.lab, step="training", training=Training(1, subject()))
    store.dispatch(lambda state: replace(state, lab=begun))
    store.dispatch(lab_unfinished.show_failure, 1, "training stopped: nothing was learned", "")
    part = lab.window.stage.page.parts["training"]
    assert not part.reason.isVisible()
    store.dispatch(actions.dismiss_notice)
    assert part.reason.isVisible()
    assert part.reason.text() == "Training stopped: nothing was learned"


def test_the_probe_is_a_pair_with_much_to_look_at_that_can_be_taken_in():
    pairs = [("a bc", "1"), ("ab cd ef", "2"), ("x" * 41, "3"), ("ab cd gh", "4")]
    assert fitting(pairs, lambda source: True) == ("ab cd ef", "2")
    long = [("x" * 50, "1"), ("y" * 45, "2")]
    assert fitting(long, lambda source: True) == ("y" * 45, "2")
