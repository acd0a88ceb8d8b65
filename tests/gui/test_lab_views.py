"""The lab's curves, tables and note: all numbers fit, and all of them are of the step they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QWheelEvent

from tests.gui import scripted_training as scripted
from tests.gui.lab_bench import Bench, film
from tests.gui.live_window import LiveWindow
from visualizer import actions, lab_actions, lab_orders
from visualizer.lenses import lab_charts, lab_words
from visualizer.lenses.lab_picture import Frame, NormBar, Sample
from visualizer.widgets.film_pair import FilmPair
from visualizer.widgets.lab_chart import LabChart
from visualizer.widgets.lab_tables import LINE, NormTable, SampleTable, shared
from visualizer.widgets.parts_note import PartsNote


def told(bench, qtbot, count: int = 40, **columns: float | np.ndarray):
    """A training of so many steps, with these columns of its history."""
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.steps(*range(1, count + 1), evaluated=count))
    steps = bench.training.steps.copy()
    for name, values in columns.items():
        steps[:, lab_charts.COLUMNS.index(name)] = values
    return replace(bench.training, steps=steps)


# Curves.


@pytest.mark.parametrize("size", [(285, 110), (430, 250), (700, 420)])
def test_the_axis_of_the_losses_is_named_and_cuts_no_curve(qtbot, bench, size):
    loss = np.geomspace(4, 2e-3, 40)
    loss[30] = 3e-7
    training = told(bench, qtbot, loss=loss, alignment_loss=np.linspace(6, 0.1, 40))
    shown = lab_charts.loss_chart(training)
    assert shown.log and shown.axis == "log"
    chart = LabChart()
    qtbot.addWidget(chart)
    chart.resize(*size)
    chart.set_chart(shown)
    plot = chart.plot_rect()
    for line in shown.lines:
        assert line.y.min() >= shown.low and line.y.max() <= shown.high
        up = np.log(line.y.astype(np.float64) / shown.low) / np.log(shown.high / shown.low)
        expected = plot.bottom() - up * plot.height()
        np.testing.assert_allclose(chart.places(line)[:, 1], expected, atol=1e-6)


def test_the_alignment_loss_is_a_curve_where_the_training_has_one(qtbot, bench):
    values = np.linspace(2.0, 0.5, 40)
    guided = lab_charts.loss_chart(told(bench, qtbot, alignment_loss=values)).lines[-1]
    assert "alignment" in guided.label and guided.x.tolist() == list(range(1, 41))
    mean = [values[max(0, n - 25) : n].mean() for n in range(1, 41)]
    np.testing.assert_allclose(guided.y, mean)
    assert guided.now == f"{mean[-1]:.3f}"
    plain = lab_charts.loss_chart(told(bench, qtbot))
    assert not any("alignment" in line.label for line in plain.lines)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0.000"),
        (0.3841, "0.384"),
        (0.0534, "0.053"),
        (0.00534, "0.0053"),
        (0.000121, "1.2e-4"),
        (3e-12, "3.0e-12"),
        (12.5, "12.500"),
        (4321.7, "4,322"),
        (619107319808.0, "6.2e11"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
    ],
)
def test_a_number_is_written_in_a_form_that_tells_and_fits(value, said):
    assert lab_charts.fitting(value, 3) == said


@pytest.mark.parametrize("value", [1e-300, 3e-9, 2.4e-4, 0.053, 1, 99.96, 4e4, 6.19e11, 1e300])
def test_the_numbers_of_an_axis_are_short_whatever_they_are(value):
    low, high, ticks = lab_charts.log_axis(np.array([value, 40 * value]))
    for at, text in ticks:
        assert low <= at <= high * (1 + 1e-9) and len(text) <= 8
        assert float(text.replace(",", "")) == pytest.approx(at, rel=0.06)
    for number in (value, -value):
        text = lab_charts.three_digits(number)
        assert len(text) <= 10 and float(text.replace(",", "")) == pytest.approx(number, rel=0.006)


def test_a_chart_is_painted_again_only_when_its_numbers_change(qtbot, bench):
    training = told(bench, qtbot)
    for shown, again in zip(
        lab_charts.charts(training), lab_charts.charts(replace(training)), strict=True
    ):
        chart = LabChart()
        qtbot.addWidget(chart)
        chart.set_chart(shown)
        asked = []
        chart.update = lambda *where, asked=asked: asked.append(where)
        chart.set_chart(again)
        assert not asked and chart.chart is shown


def test_a_faint_curve_is_painted_with_an_opaque_colour(qtbot, bench):
    """A translucent one takes fifty times as long."""
    chart = LabChart()
    qtbot.addWidget(chart)
    chart.resize(600, 300)
    chart.set_chart(lab_charts.loss_chart(told(bench, qtbot)))

    class Pens:
        def __init__(self):
            self.seen = []

        def setPen(self, pen):
            self.seen.append(pen)

        def drawLines(self, lines): ...
        def drawPoints(self, points): ...

    painter = Pens()
    for line in chart.chart.lines:
        chart._draw_line(painter, line)
    assert painter.seen and all(pen.color().alpha() == 255 for pen in painter.seen)


# Tables.


def test_the_tables_are_of_the_snapshot_that_is_looked_at(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), *(scripted.snapshot(step) for step in (0, 10, 20)))
    bench.tell(scripted.steps(*range(1, 11), evaluated=8))
    bench.tell(scripted.steps(*range(11, 24), evaluated=18))
    training = bench.training
    for shown, evaluated, measured in (
        (None, 18, 23),
        (20, 18, 20),
        (10, 8, 10),
        (0, 8, 1),
    ):
        assert lab_words.evaluation_at(training, shown).step == evaluated
        step, norms = lab_words.norms_at(training, shown)
        assert step == measured
        assert norms == tuple(
            (row.layer, np.float32(row.parameters), np.float32(row.update))
            for row in scripted.progress(1).norms
        )


def test_the_headings_say_of_which_step_the_tables_are(qtbot, bench):
    from visualizer.pages.train_film import FilmPart

    bench.begin(qtbot)
    bench.tell(scripted.started(), *(scripted.snapshot(n) for n in (0, 10, 20)))
    bench.tell(scripted.steps(*range(1, 25), evaluated=8))
    part = FilmPart(bench.store)
    qtbot.addWidget(part)
    part.retranslate()
    for shown, said in ((10, ("step 8", "step 10")), (0, ("step 8", "step 1"))):
        part.draw(bench.store.dispatch(lab_orders.show_step, shown))
        for table, step in zip((part.samples[0], part.norms[0]), said, strict=True):
            assert table.accessibleName().split(", ")[0].startswith(f"{step} · ")


def examples(count: int) -> tuple[Sample, ...]:
    return tuple(
        Sample(f"source {n}", f"target {n}", f"output {n}", n % 2 == 0) for n in range(count)
    )


def turn(table, notches: int) -> None:
    place = QPointF(table.rect().center())
    event = QWheelEvent(
        place,
        place,
        QPoint(),
        QPoint(0, 120 * notches),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    table.wheelEvent(event)


@pytest.mark.parametrize(("width", "columns"), [(240, 1), (620, 2), (1400, 4)])
def test_as_many_examples_are_shown_as_there_is_room_for(qtbot, width, columns):
    table = SampleTable()
    qtbot.addWidget(table)
    table.resize(width, round(21 * LINE * table.em))
    table.set_samples(examples(64), ("source", "expected", "output"), "")
    assert (table.room(), table.blocks()) == (20, columns)
    assert len(table.shown()) == min(20 * columns, 64)
    table.grab()
    first = table.line_at(QPointF(2, 1.5 * LINE * table.em))
    assert table.words_of(first) == "source 0   target 0   output 0"


@pytest.mark.parametrize("kind", ["samples", "norms"])
def test_what_has_no_room_is_reached_with_the_wheel_and_a_bar_says_so(qtbot, kind):
    table = SampleTable() if kind == "samples" else NormTable()
    qtbot.addWidget(table)
    table.resize(300, round(5 * LINE * table.em))
    if kind == "samples":
        table.set_samples(examples(9), ("source", "expected", "output"), "")
    else:
        bars = tuple(NormBar(f"layer {n}", 1.0 + n, 0.1, ("1", "2", "3")) for n in range(9))
        table.set_norms(bars, ("layer", "parameters", "update", "ratio"), "")
    bar = QRectF(table.content(), LINE * table.em, 300 - table.content(), table.height())
    before = table.grab().toImage()
    assert table.shown() == range(4) and bar.width() > 0
    for _ in range(4):
        turn(table, -1)
    assert table.shown() == range(5, 9)
    assert table.grab().toImage() != before
    turn(table, 9)
    assert table.shown() == range(4)
    table.resize(300, round(10 * LINE * table.em))
    assert table.shown() == range(9) and table.content() == 300


# Two frames side by side.


def frame(rows: str, weights: np.ndarray, mark: str) -> Frame:
    return Frame(1, "step", weights, rows, mark=mark, rows=tuple(rows), columns=tuple("xyz"))


def test_there_is_a_difference_only_where_both_frames_read_the_same(qtbot):
    rng = np.random.default_rng(3)
    first = rng.random((4, 3), np.float32)
    second = rng.random((5, 3), np.float32)
    pair = FilmPair()
    qtbot.addWidget(pair)
    pair.resize(1000, 300)
    pair.set_pair(
        (frame("sabc", first, "A"), frame("saxcd", second, "B")),
        "B minus A",
        "",
        "",
        "",
        "{n}/{all}",
    )
    change = pair.difference()
    assert change.shape == (4, 3)
    for row in range(4):
        if row == 2:
            assert np.isnan(change[row]).all()
        else:
            np.testing.assert_array_equal(change[row], second[row] - first[row])
    image, rect = pair.grab().toImage(), pair.picture_rect(2)
    middle = rect.top() + 2.5 / 4 * rect.height()
    seen = {
        image.pixel(round(rect.left() + (n + 0.5) / 3 * rect.width()), round(middle))
        for n in range(3)
    }
    assert len(seen) == 1


def test_self_attention_is_compared_between_tokens_that_are_the_same(qtbot):
    weights = np.tril(np.ones((3, 3), np.float32))
    frames = [
        Frame(n, "step", weights * n, rows, mark="AB"[n - 1], rows=tuple(rows), columns=tuple(rows))
        for n, rows in ((1, "sab"), (2, "scb"))
    ]
    pair = FilmPair()
    qtbot.addWidget(pair)
    pair.set_pair(tuple(frames), "B minus A", "", "")
    known = np.isfinite(pair.difference())
    assert known.tolist() == [[True, False, True], [False] * 3, [True, False, True]]


# The note at the right.


@pytest.mark.parametrize("width", [700, 400, 300, 200, 150])
def test_the_note_finds_words_for_its_room(qtbot, width):
    wide = (
        "gradient norm 3.16 → clipped 1.00",
        "update / weight 2.6e-3",
        "snapshots 25 (1.2 of 32 MB)",
    )
    short = ("norm 3.16 → 1.00", "update / weight 2.6e-3", "25 snapshots (1.2 of 32 MB)")
    note = PartsNote()
    qtbot.addWidget(note)
    note.resize(width, 34)
    note.set_wordings(wide, short)
    face, lines = note.lines()
    assert 1 <= len(lines) <= 2 and all(face.width(line) <= width for line in lines)
    assert len(lines) * 1.15 * note.em <= 34
    told = " · ".join(lines)
    assert told in (" · ".join(wide), " · ".join(short), " · ".join(short[:2]))
    assert width < 300 or "25" in told


def test_a_short_column_is_whole_where_a_long_one_is_cut():
    assert shared([95.0, 300.0, 280.0], 300.0) == [95.0, 102.5, 102.5]
    assert shared([95.0, 100.0, 80.0], 300.0) == [95.0, 100.0, 80.0]


def live_training(qtbot, tmp_path, *steps: int):
    """A window with a paused training of these snapshots, in its lab."""
    live, bench = LiveWindow(qtbot, tmp_path), Bench(tmp_path)
    live.open_small()
    live.store.dispatch(lab_actions.toggle_lab)
    film(bench, qtbot, *steps)
    bench.tell(scripted.steps(30, evaluated=30))
    training = replace(bench.training, status="paused")
    # without the order, which would be obeyed once more
    order = live.state.lab.order
    shown = {**vars(bench.store.state.lab), "training": training, "order": order}
    live.store.dispatch(lambda state: lab_actions.with_lab(state, **shown))
    return live, bench


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("size", [(1120, 640), (1280, 720), (1600, 1000)])
def test_no_command_and_no_heading_of_the_lab_is_cut(bundled_font, qtbot, tmp_path, size, language):
    live, bench = live_training(qtbot, tmp_path, 0, 10, 20)
    live.store.dispatch(actions.set_language, language)
    live.window.resize(*size)
    live.store.dispatch(lab_orders.set_view, "pair")
    qtbot.wait(50)
    part = live.window.stage.page.parts["training"]
    assert part.glass.isVisible()
    buttons = (
        part.pause,
        part.batch,
        part.glass,
        part.stop,
        part.check,
        part.export,
        part.change,
        part.anew,
    )
    for button in buttons:
        assert button.width() >= button.sizeHint().width(), button.text()
    face, lines = part.line.lines()
    assert all(face.width(line) <= part.line.width() for line in lines)
    head = part.film
    assert head.switch.geometry().right() < head.probe_label.geometry().left()
    assert head.probe_label.width() >= head.probe_label.sizeHint().width()
    bench.laboratory.shutdown()
    live.end()


@pytest.mark.parametrize(("size", "scale"), [((1600, 1000), 1.0), ((2560, 1440), 1.5)])
def test_the_tables_stay_below_the_film_in_larger_type_where_there_is_room(
    bundled_font, qtbot, tmp_path, size, scale
):
    live, bench = live_training(qtbot, tmp_path, 0, 10, 20)
    live.window.resize(*size)
    live.store.dispatch(actions.set_scale, scale)
    qtbot.waitUntil(lambda: live.window.stage.font().pointSizeF() == 10 * scale)
    qtbot.wait(300)
    film = live.window.stage.page.parts["training"].film
    table = film.samples[1]
    assert table.isVisible() and table.room() >= 5
    assert film.strip.height() >= film.strip.wished_height() - 1
    assert (
        table.mapTo(film, QPoint()).y()
        >= film.strip.mapTo(film, QPoint()).y() + film.strip.height()
    )
    bench.laboratory.shutdown()
    live.end()
