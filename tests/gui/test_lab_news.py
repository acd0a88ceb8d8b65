"""What a training tells, shown as it was told: numbers, the film, the end; with a scripted one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from model_core import open_checkpoint
from model_core.training.history import COLUMNS
from model_core.training.messages import Failed, Paused, Running
from tests.gui import scripted_training as scripted
from tests.gui.lab_bench import film
from visualizer import lab_actions, lab_orders, trail
from visualizer.lab import Shot, chosen_steps, site_of, snapshot_steps
from visualizer.lab_film import entry_at, model_at, shots_of
from visualizer.lenses import lab_charts, lab_words, remarks

# What is told of a training.


def test_every_number_shown_is_the_events(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.snapshot(0))
    bench.tell(scripted.steps(1, 2, 3, 4, evaluated=4))
    training = bench.training
    assert training.status == "running"
    assert lab_words.pace(training) == "step 4 / 40 · 20 ms a step · 0.7 s left"
    count = scripted.MODEL.parameter_count
    assert f"{count:,} parameters" in lab_words.facts(training)
    assert "2+2 layers · d_model 12 · 3 heads" in lab_words.facts(training)
    below = " · ".join(lab_words.line_below(training))
    assert "gradient norm 6.41 → clipped 1.00" in below
    assert "update / weight 1.0e-3" in below
    assert "snapshots 1 " in below and f"of {training.budget / 1e6:.0f} MB" in below
    loss, exact, rate = lab_charts.charts(training)
    raw, _, held = loss.lines
    assert raw.x.tolist() == [1, 2, 3, 4]
    # as the models are trained, in float32
    assert raw.y.tolist() == np.float32([4.0 / n for n in (1, 2, 3, 4)]).tolist()
    assert (held.x.tolist(), held.y.tolist()) == ([4], [2.5])
    assert exact.lines[0].y.tolist() == [pytest.approx(3 / 7)]
    assert exact.lines[0].now == "3 of 7"
    assert rate.lines[0].y.tolist() == np.float32([2.41 + n for n in (1, 2, 3, 4)]).tolist()
    assert rate.lines[2].y.tolist() == np.float32([1e-3 * n for n in (1, 2, 3, 4)]).tolist()
    assert [s.output for s in lab_words.samples(training.evaluation)] == ["t4 t6", "t6"]
    step, norms = lab_words.norms_at(training, None)
    bars = lab_words.norm_bars(norms, 1)
    assert step == 4
    assert [(b.label, b.parameters, b.update) for b in bars] == [
        ("encoder 1", 3.0, np.float32(0.003)),
        ("output", 4.0, np.float32(0.004)),
    ]


def test_events_of_an_older_training_are_dropped(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.steps(1, 2))
    old, number = bench.client, bench.training.number
    bench.begin(qtbot)
    assert old.closed is False and old.saved_step == 2
    old.script.append(scripted.steps(3, 4))
    bench.tell(scripted.started())
    assert bench.training.step == 0 and not len(bench.training.steps)
    state = bench.store.dispatch(lab_orders.take_news, number, step=99)
    assert state.lab.training is not None and state.lab.training.step == 0
    shot = Shot(0, "s4", {}, (), (), (), "")
    assert lab_orders.take_shots(state, number, state.lab.probe, (shot,)).lab.shots == ()


def test_the_buttons_say_what_they_are_for(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started())
    for act, said in (("pause", "Pause"), ("one_batch", "StepOnce"), ("stop", "StopAndKeep")):
        bench.store.dispatch(lab_orders.command, act)
        qtbot.waitUntil(lambda said=said: bench.client.said[-1:] == [said])
    bench.tell(Paused(3))
    assert bench.training.status == "paused"
    bench.store.dispatch(lab_orders.toggle_pause)
    qtbot.waitUntil(lambda: bench.client.said[-1] == "GoOn")
    bench.tell(Running(3))
    assert bench.training.status == "running"


def test_stop_and_keep_opens_the_model_and_writes_it(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.snapshot(0), scripted.steps(1, 2))
    bench.store.dispatch(lab_orders.command, "stop")
    qtbot.waitUntil(lambda: "StopAndKeep" in bench.client.said)
    bench.tell(scripted.finished(2, False))
    state = bench.store.state
    assert state.lab.training is not None and state.lab.training.status == "stopped"
    assert state.page == "record" and state.model is not None and state.model.path is not None
    kept = open_checkpoint(state.model.path)
    for name, value in scripted.parameters(2).items():
        np.testing.assert_array_equal(state.model.model.parameters[name], value)
        np.testing.assert_array_equal(kept.parameters[name], value)
    assert trail.go_back(state).page == "train"


def test_a_training_that_ends_by_itself_leaves_the_stage_as_it_is(qtbot, bench):
    bench.begin(qtbot)
    before = bench.store.state.model
    bench.tell(scripted.started(), scripted.steps(39, 40), scripted.finished(40, True))
    assert bench.training.status == "finished"
    assert bench.store.state.page == "train" and bench.store.state.model is before
    assert bench.training.final is not None


def test_a_snapshot_is_opened_with_its_own_parameters(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), *(scripted.snapshot(n) for n in (0, 10, 20)))
    bench.store.dispatch(lab_orders.show_step, 10)
    bench.store.dispatch(lab_orders.open_shown)
    qtbot.waitUntil(lambda: bench.store.state.page == "record")
    state = bench.store.state
    assert state.model is not None and state.model.name == "Letters backwards, step 10"
    for name, value in scripted.parameters(10).items():
        wanted = value.astype(np.float16) if bench.client.film.stored_as == "float16" else value
        np.testing.assert_allclose(state.model.model.parameters[name], wanted, rtol=1e-3, atol=1e-6)
    assert trail.go_back(state).page == "train"


def test_a_snapshot_is_written_and_read_again(qtbot, bench, tmp_path):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.snapshot(0), scripted.snapshot(10))
    path = tmp_path / "ten.safetensors"
    bench.store.dispatch(lab_orders.save_snapshot, entry_at(bench.training, 10), path)
    qtbot.waitUntil(path.exists)
    model = open_checkpoint(path)
    for name, value in scripted.parameters(10).items():
        np.testing.assert_allclose(model.parameters[name], value, rtol=1e-3, atol=1e-6)


def test_a_snapshot_that_was_chosen_is_written_although_the_film_gave_it_up(qtbot, bench, tmp_path):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.snapshot(0), scripted.snapshot(10))
    training = bench.store.state.lab.training
    entry = entry_at(training, 10)
    thinned = replace(training, snapshots=training.snapshots[:1])
    bench.store.dispatch(lambda state: lab_actions.with_lab(state, training=thinned))
    path = tmp_path / "ten.safetensors"
    bench.store.dispatch(lab_orders.save_snapshot, entry, path)
    qtbot.waitUntil(path.exists)
    np.testing.assert_array_equal(
        open_checkpoint(path).parameters["output.W"], entry.model.parameters["output.W"]
    )


def test_the_history_is_exported_row_by_row(qtbot, bench, tmp_path):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.steps(1, 2, 3, evaluated=3))
    path = tmp_path / "history.csv"
    bench.store.dispatch(lab_orders.export_history, path)
    qtbot.waitUntil(path.exists)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].split(",")[: len(COLUMNS)] == list(COLUMNS)
    assert [line.split(",")[0] for line in lines[1:]] == ["1", "2", "3"]
    assert [float(line.split(",")[2]) for line in lines[1:]] == pytest.approx([4, 2, 4 / 3], 1e-6)


def test_divergence_is_told_in_the_cores_sentence_with_the_last_good_state(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.snapshot(0), scripted.steps(1, 2))
    sentence = "training stopped: the loss of step 3 is nan"
    bench.tell(Failed(sentence, good_step=2, parameters=scripted.flat(2)))
    training = bench.training
    assert training.status == "failed" and training.reason == sentence
    assert remarks.notice_text(bench.store.state.notice) == f"T{sentence[1:]}"
    assert snapshot_steps(bench.store.state.lab)[-1] == 2
    bench.store.dispatch(lab_orders.open_final)
    qtbot.waitUntil(lambda: bench.store.state.page == "record")
    model = bench.store.state.model
    assert model is not None and model.name == "Letters backwards, step 2"
    for name, value in scripted.parameters(2).items():
        np.testing.assert_array_equal(model.model.parameters[name], value)


def test_after_divergence_the_heading_says_how_far_it_came(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.snapshot(0), scripted.steps(1, 2, 3))
    assert lab_words.pace(bench.training).startswith("step 3 / 40")
    bench.tell(Failed("training stopped", good_step=0, parameters=scripted.flat(0)))
    # the curves have three steps, the model that is kept is of none of them
    assert len(bench.training.steps) == 3 and bench.training.step == 0
    assert lab_words.pace(bench.training).startswith("step 3 / 40 · ")


def test_a_training_that_cannot_begin_is_told_and_nothing_else_is_lost(qtbot, bench):
    before = bench.store.state.model
    bench.begin(qtbot)
    bench.tell(Failed("the data has no pair to train on"))
    assert bench.training.status == "failed"
    assert bench.store.state.model is before


def test_closing_keeps_what_is_trained(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started(), scripted.steps(1))
    bench.laboratory._end(save=True)
    assert bench.client.closed is True


# The film.


def test_frames_are_the_models_own_attention_and_output(qtbot, bench):
    film(bench, qtbot, 0, 10, 20)
    lab = bench.store.state.lab
    assert (lab.probe, lab.expected) == ("s4 s5", "t4 t5")
    shots = shots_of(lab, lambda: False)
    state = bench.store.dispatch(lab_orders.take_shots, lab.training.number, lab.probe, shots)
    frames = lab_words.frames(state.lab, 9)
    assert [frame.step for frame in frames] == [0, 10, 20]
    assert [frame.chosen for frame in frames] == [False, False, True]
    for frame in frames:
        done = model_at(lab.training, frame.step).generate("s4 s5", max_new_tokens=6)
        np.testing.assert_array_equal(frame.weights, done.tape[site_of(lab)].value[0, 0])
        assert frame.output == done.text
    other = lab_orders.set_head(state, 2)
    assert not np.array_equal(lab_words.frames(other.lab, 9)[0].weights, frames[0].weights)


def test_two_frames_are_compared_the_earlier_first(qtbot, bench):
    film(bench, qtbot, 0, 10, 20)
    lab = bench.store.state.lab
    shots = shots_of(lab, lambda: False)
    bench.store.dispatch(lab_orders.take_shots, lab.training.number, lab.probe, shots)
    state = bench.store.dispatch(lab_orders.mark_step, 10)
    assert state.lab.view == "pair"
    assert [(f.step, f.mark) for f in lab_words.pair(state.lab)] == [(10, "A"), (20, "B")]
    state = bench.store.dispatch(lab_orders.show_step, 0)
    assert [f.step for f in lab_words.pair(state.lab)] == [0, 10]


def test_another_probe_forgets_the_pictures_of_the_one_before(qtbot, bench):
    film(bench, qtbot, 0)
    state = bench.store.dispatch(lab_orders.set_probe, "s6 s7")
    assert (state.lab.probe, state.lab.expected, state.lab.shots) == ("s6 s7", None, ())
    blank = lab_orders.set_probe(state, "  ")
    assert (blank.lab.probe, blank.lab.refused) == ("s6 s7", ("  ", "lab.probe.empty", {}))


def test_the_newest_snapshot_is_followed_until_another_one_is_chosen(qtbot, bench):
    film(bench, qtbot, 0, 10)
    bench.store.dispatch(lab_orders.step_on, -1)
    bench.tell(scripted.snapshot(20))
    assert bench.store.state.lab.shown == 0
    bench.store.dispatch(lab_orders.step_on, 1)
    bench.store.dispatch(lab_orders.step_on, 1)
    assert bench.store.state.lab.shown is None


@pytest.mark.parametrize("count", [1, 2, 7, 9, 10, 33, 300])
@pytest.mark.parametrize("room", [3, 5, 9])
def test_frames_are_evenly_spaced_and_fit(count, room):
    steps = tuple(range(0, 10 * count, 10))
    chosen = chosen_steps(steps, room)
    assert len(chosen) <= room and chosen[-1] == steps[-1] and chosen[0] == 0
    assert len(set(np.diff(chosen)[:-1])) <= 1
    for shown in steps[:: max(1, count // 5)]:
        with_it = chosen_steps(steps, room, shown)
        assert shown in with_it and len(with_it) <= room


def test_frames_are_evenly_spaced_where_the_newer_snapshots_lie_closer_together():
    steps = (*range(0, 200, 20), *range(200, 305, 10), 307)
    assert chosen_steps(steps, 5) == (0, 80, 160, 240, 307)
    assert chosen_steps(steps, 9) == (0, 40, 80, 120, 160, 200, 240, 280, 307)


def test_a_look_at_a_long_training_copies_no_column_of_it(qtbot, bench):
    bench.begin(qtbot)
    bench.tell(scripted.started())
    for n in range(400):
        bench.client.script.append(scripted.steps(*range(10 * n + 1, 10 * n + 11)))
    bench.tell()
    steps = bench.training.steps
    assert len(steps) == 4000
    loss, _, rate = lab_charts.charts(bench.training)
    measured = [loss.lines[0], *rate.lines]
    assert all(np.shares_memory(part, steps) for line in measured for part in (line.x, line.y))
    # each of them in one piece, for it is read a column at a time
    assert all(line.y.flags.c_contiguous for line in measured)
