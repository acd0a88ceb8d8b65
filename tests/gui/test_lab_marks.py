"""The lab's curves beside an earlier frame of the film, and what their axis cuts off."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QMouseEvent

from model_core.training.held_out import Evaluation
from tests.gui import scripted_training as scripted
from tests.gui.lab_bench import film, subject
from tests.gui.test_lab_views import told
from visualizer import lab_orders
from visualizer.lab import Training
from visualizer.lenses import lab_charts
from visualizer.lenses.lab_picture import Chart, ChartLine
from visualizer.pages.train_views import TrainingPart
from visualizer.widgets.lab_chart import LabChart, pointed_texts, shorter_legends

LOSS, EXACT, RATE = range(3)


def column(training, name: str) -> np.ndarray:
    return training.steps[:, lab_charts.COLUMNS.index(name)]


def painted(qtbot, chart: Chart, width: int = 600, height: int = 260) -> LabChart:
    made = LabChart()
    qtbot.addWidget(made)
    made.resize(width, height)
    made.set_chart(chart)
    return made


def colours_below(widget: LabChart, step: int) -> list[str]:
    """The pixels just below the axis where a step is."""
    plot, chart = widget.plot_rect(), widget.chart
    x = round(plot.left() + step / chart.last * plot.width())
    image = widget.grab().toImage()
    ratio = image.devicePixelRatio()
    y = round((plot.bottom() + 0.2 * widget.em) * ratio)
    return [image.pixelColor(round((x + d) * ratio), y).name() for d in (-1, 0, 1)]


# An earlier frame.


def test_an_earlier_frame_is_marked_in_all_three_charts(qtbot, bench):
    film(bench, qtbot, 0, 10, 40)
    assert lab_charts.looked_step(bench.store.state.lab) is None
    bench.store.dispatch(lab_orders.show_step, 10)
    looked = lab_charts.looked_step(bench.store.state.lab)
    assert looked == 10
    for chart in lab_charts.charts(bench.training, looked):
        assert (chart.looked, chart.here) == (10, 40)
        widget = painted(qtbot, chart)
        muted = QColor(widget.theme.muted).name()
        assert muted in colours_below(widget, 10)
        assert muted not in colours_below(widget, 30)
    bench.store.dispatch(lab_orders.show_step, 40)
    assert lab_charts.looked_step(bench.store.state.lab) is None


def test_the_charts_of_the_page_follow_the_frame(lab_window, qtbot):
    bench = scripted_lab(lab_window)
    part = TrainingPart(lab_window.store)
    qtbot.addWidget(part)
    for shown, marked in ((10, 10), (40, None), (0, 0)):
        lab = replace(bench, shown=shown if marked is not None else None)
        part.draw(replace(lab_window.state, lab=lab))
        assert [chart.chart.looked for chart in part.charts] == [marked] * 3


def scripted_lab(live):
    steps = np.zeros((40, len(lab_charts.COLUMNS)))
    steps[:, 0] = range(1, 41)
    kept = tuple(SimpleNamespace(step=step) for step in (0, 10, 40))
    training = Training(
        1, subject(), "running", total=50, step=40, steps=steps, snapshots=kept, n_held_out=2
    )
    return replace(live.state.lab, training=training)


def test_the_values_are_those_of_the_history_at_that_step(qtbot, bench):
    training = told(bench, qtbot, loss=np.linspace(4, 1, 40), learning_rate=np.arange(1, 41) / 8e3)
    loss, _, rate = lab_charts.charts(training, 10)
    train, mean = loss.lines[:2]
    assert float(train.now) == pytest.approx(column(training, "loss")[9], abs=5e-4)
    assert float(mean.now) == pytest.approx(column(training, "loss")[:10].mean(), abs=5e-4)
    assert [float(line.now) for line in rate.lines] == pytest.approx(
        [column(training, name)[9] for name in ("gradient_norm", "clipped_norm", "learning_rate")],
        rel=5e-3,
    )
    for chart in (loss, rate):
        assert any("step 10" in note for note in chart.notes)
    newest = lab_charts.charts(training)
    assert newest[LOSS].lines[0].now == "1.000" and newest[LOSS].notes == ()


def test_what_is_measured_now_and_then_says_when_it_was(qtbot, bench):
    held, share = np.full(40, np.nan), np.full(40, np.nan)
    held[[4, 19, 39]], share[[4, 19, 39]] = (3.0, 2.0, 1.0), (0.125, 0.5, 0.75)
    training = told(bench, qtbot, held_out_loss=held, exact_share=share)
    kept = (Evaluation(20, 2.0, 6, 12),)
    training = replace(training, evaluations=kept)

    def said(looked):
        loss, exact, _ = lab_charts.charts(training, looked)
        return loss.lines[2].now, exact.lines[0].now

    assert said(20) == ("2.000", "6 of 12")
    assert said(31) == ("2.000 at 20", "6 of 12 at 20")
    # the examples of the fifth step were given up, its share is in the history
    assert said(5) == ("3.000", "12.5%")
    # before the first measurement there is nothing to say
    assert said(4) == ("", "") == said(0)
    assert lab_charts.charts(training, 0)[LOSS].lines[0].now == ""


def test_the_number_of_the_step_never_lies_on_those_of_the_axis(qtbot, bench, bundled_font):
    chart = lab_charts.loss_chart(told(bench, qtbot))
    for step in (0, 1, 20, 39):
        # the ends of the axis look as they do without the mark
        plain = painted(qtbot, replace(chart, key=()), 285, 140)
        marked = painted(qtbot, replace(chart, key=(), looked=step), 285, 140)
        plot, em = plain.plot_rect(), plain.em
        before, after = plain.grab().toImage(), marked.grab().toImage()
        ratio = before.devicePixelRatio()
        ends = [(plot.left() + 2, plot.left() + 0.5 * em), (plot.right() - em, plot.right())]
        for y in range(round((plot.bottom() + 0.4 * em) * ratio), before.height() - 4):
            for start, end in ends:
                for x in range(round(start * ratio), round(end * ratio)):
                    assert before.pixel(x, y) == after.pixel(x, y)


# What is cut off.


def spiked(bench, qtbot):
    norm = np.linspace(50, 20, 400)
    norm[[3, 200]] = 165.0, 90.0
    return told(bench, qtbot, 400, gradient_norm=norm)


def test_cut_off_norms_are_marked_and_the_largest_is_said(qtbot, bench):
    rate = lab_charts.rate_chart(spiked(bench, qtbot))
    assert rate.high < 90 and any("165" in note for note in rate.notes)
    widget = painted(qtbot, rate)
    plot, marks = widget.plot_rect(), widget.cut_places()
    expected = [plot.left() + step / rate.last * plot.width() for step in (4, 201)]
    assert [at.x() for at in marks] == pytest.approx(expected)
    image = widget.grab().toImage()
    ratio = image.devicePixelRatio()
    above = QPointF(marks[1].x(), plot.top() - 0.25 * widget.em) * ratio
    assert image.pixelColor(above.toPoint()).name() == QColor(widget.theme.encoder).name()


def test_nothing_is_marked_where_nothing_is_cut_off(qtbot, bench):
    for chart in lab_charts.charts(told(bench, qtbot, gradient_norm=np.linspace(50, 20, 40))):
        assert chart.notes == () and painted(qtbot, chart).cut_places() == []


def test_close_peaks_share_a_mark(qtbot, bench):
    norm = np.full(4000, 10.0)
    norm[1000:1030] = 100.0
    rate = lab_charts.rate_chart(told(bench, qtbot, 4000, gradient_norm=norm))
    assert len(painted(qtbot, rate).cut_places()) == 1


def test_the_pointer_at_the_upper_edge_is_told_the_largest_value(qtbot, bench):
    widget = painted(qtbot, lab_charts.rate_chart(spiked(bench, qtbot)), 285, 110)
    plot = widget.plot_rect()
    for y, said in ((plot.top(), True), (plot.bottom(), False)):
        at = QPointF(plot.center().x(), y)
        none, keys = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
        widget.mouseMoveEvent(QMouseEvent(QEvent.Type.MouseMove, at, at, none, none, keys))
        assert ("165" in widget.toolTip()) is said


# The legend.


def test_the_mean_says_of_how_many_as_long_as_others_can_be_shorter():
    lines = (
        ChartLine("train", "encoder", now="1", faint=True),
        ChartLine("mean of 25", "encoder", now="2", brief="mean"),
        ChartLine("held-out", "decoder", now="3"),
        ChartLine("alignment, mean of 25", "accent", now="4", brief="alignment"),
    )
    wordings = [", ".join(texts) for _, texts in shorter_legends(lines)]
    assert wordings[0] == "train 1, mean of 25 2, held-out 3, alignment, mean of 25 4"
    assert wordings[1] == "train 1, mean of 25 2, held-out 3, alignment 4"
    short = [text.startswith("mean 2") or ", mean 2" in text for text in wordings]
    assert short == sorted(short) and wordings[-1] == "mean 2, held-out 3, alignment 4"
    assert [len(texts) for _, texts in shorter_legends(lines[:1])]


def test_there_is_room_for_the_number_beside_an_alignment_curve(qtbot, bench, bundled_font):
    values = np.linspace(2.0, 0.5, 40)
    chart = lab_charts.loss_chart(told(bench, qtbot, alignment_loss=values))
    widget = painted(qtbot, chart, 390, 250)
    widget.grab()
    said = " ".join(word[1] for word in widget.links._words)
    assert "mean of 25" in said and "alignment" in said


# The pointer, and an empty chart.


@pytest.mark.parametrize("width", [285, 430])
def test_what_the_pointer_tells_lies_inside_the_card(qtbot, bench, bundled_font, width):
    for shown in lab_charts.charts(told(bench, qtbot, alignment_loss=0.5)):
        widget = painted(qtbot, shown, width, 200)
        plot, card = widget.plot_rect(), QRectF(widget.rect())
        for x in np.linspace(plot.left(), plot.right(), 40):
            said = pointed_texts(shown, 40)
            assert card.contains(widget.pointed_rect(float(x), said))


def test_the_pointer_tells_the_step_and_of_which_step_an_older_value_is(qtbot, bench):
    training = told(bench, qtbot, count=40, loss=0.25)
    loss = lab_charts.loss_chart(training)
    said = [text for _, text in pointed_texts(loss, 40)]
    assert said[:3] == ["step 40", "train 0.25", "mean of 25 0.25"]
    assert pointed_texts(loss, 45)[1][1] == "train 0.25 at 40"
    assert not pointed_texts(loss, 0)


def test_a_chart_without_a_point_yet_says_when_there_will_be_one(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.steps(1, 2))
    shown = lab_charts.exact_chart(bench.training)
    every = bench.client.start.evaluate_every
    # the training is over before that, and is measured then
    assert scripted.TOTAL < every and not len(shown.lines[0].x)
    assert shown.waiting == f"measured first at step {scripted.TOTAL}"
    taken_up = replace(bench.training, began=2 * every + 1)
    taken_up = replace(taken_up, total=10 * every)
    assert lab_charts.exact_chart(taken_up).waiting == f"measured first at step {3 * every:,}"
