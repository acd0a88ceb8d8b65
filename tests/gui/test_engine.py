"""The engine: one worker, the newest request wins, nothing stale arrives, failures are told."""

from __future__ import annotations

import logging
import threading
import time

import pytest
from PySide6.QtCore import QThread, QThreadPool

import model_core
from tests.gui.views import entry
from visualizer.engine import Engine, Lane, one_sentence
from visualizer.run import Cancelled
from visualizer.state import Inputs, ModelEntry

WAIT = 10_000


@pytest.fixture
def engine(qapp):
    engine = Engine()
    yield engine
    assert engine.shutdown()


@pytest.fixture
def lane(qapp):
    pool = QThreadPool()
    pool.setMaxThreadCount(1)
    lane = Lane(pool)
    lane.pool = pool
    yield lane
    lane.stop()
    assert pool.waitForDone(WAIT)


class Heard:
    """What a lane or an engine said, and in which thread."""

    def __init__(self) -> None:
        self.said: list[tuple] = []
        self.threads: set[int] = set()

    def take(self, *values) -> None:
        self.said.append(values)
        self.threads.add(threading.get_ident())


def test_a_request_brings_its_run_with_its_number(engine, qtbot):
    inputs = Inputs(source="s4 s5")
    with qtbot.waitSignal(engine.finished, timeout=WAIT) as told:
        number = engine.request(entry(), inputs)
    (run,) = told.args
    assert (run.number, run.inputs, run.outcome) == (number, inputs, "ok")


def test_the_model_runs_beside_the_window_and_the_result_comes_into_it(engine, qtbot):
    computed = set()

    class Watching:
        def __getattr__(self, name):
            computed.add(threading.get_ident())
            return getattr(entry().model, name)

    heard = Heard()
    engine.finished.connect(heard.take)
    with qtbot.waitSignal(engine.finished, timeout=WAIT):
        engine.request(ModelEntry(Watching(), "watched"), Inputs(source="s4"))
    assert threading.get_ident() not in computed
    assert len(computed) == 1
    assert heard.threads == {threading.get_ident()}


def test_the_newest_of_many_requests_wins(engine, qtbot):
    heard = Heard()
    engine.finished.connect(heard.take)
    numbers = [engine.request(entry(), Inputs(source="s4 " * n)) for n in range(1, 20)]
    qtbot.waitUntil(lambda: not engine.busy, timeout=WAIT)
    assert [run.number for (run,) in heard.said] == [numbers[-1]]
    assert heard.said[0][0].inputs.source == "s4 " * 19


def test_a_running_request_is_cancelled_by_the_next_one(lane, qtbot):
    started, told = threading.Event(), []

    def patient(number, cancelled):
        started.set()
        while not cancelled():
            time.sleep(0.001)
        told.append(number)
        raise Cancelled

    heard = Heard()
    lane.done.connect(heard.take)
    first = lane.request(patient)
    assert started.wait(10)
    with qtbot.waitSignal(lane.done, timeout=WAIT):
        second = lane.request(lambda number, cancelled: "new")
    assert told == [first]
    assert heard.said == [(second, "new")]


def test_a_result_that_is_stale_when_it_arrives_is_dropped(lane, qtbot):
    release = threading.Event()

    def deaf(number, cancelled):
        release.wait(10)
        return "old"

    heard = Heard()
    lane.done.connect(heard.take)
    lane.request(deaf)
    lane.request(lambda number, cancelled: "never started")
    newest = lane.request(lambda number, cancelled: "new")
    release.set()
    qtbot.waitUntil(lambda: not lane.busy, timeout=WAIT)
    assert heard.said == [(newest, "new")]


def test_only_one_request_runs_at_a_time(lane, qtbot):
    running, most = [0], [0]

    def work(number, cancelled):
        running[0] += 1
        most[0] = max(most[0], running[0])
        time.sleep(0.002)
        running[0] -= 1
        return number

    for _ in range(10):
        lane.request(work)
        qtbot.wait(3)
    qtbot.waitUntil(lambda: not lane.busy, timeout=WAIT)
    assert most == [1]


def test_a_failure_is_told_in_one_sentence_and_the_engine_lives_on(engine, qtbot, caplog):
    class Broken:
        tokenizer = entry().model.tokenizer
        config = entry().model.config
        card = entry().model.card

        def generate(self, *arguments, **values):
            raise FloatingPointError("the sums\n  ran away")

    with (
        caplog.at_level(logging.CRITICAL, logger="visualizer.engine"),
        qtbot.waitSignal(engine.failed, timeout=WAIT) as told,
    ):
        engine.request(ModelEntry(Broken(), "broken"), Inputs(source="s4"))
    sentence, details = told.args
    assert sentence == "the sums ran away" and "FloatingPointError" in details
    with qtbot.waitSignal(engine.finished, timeout=WAIT):
        engine.request(entry(), Inputs(source="s4"))


def test_a_stale_failure_is_not_told(lane, qtbot, caplog):
    release = threading.Event()

    def failing(number, cancelled):
        release.wait(10)
        raise ValueError("old trouble")

    heard = Heard()
    lane.failed.connect(heard.take)
    with caplog.at_level(logging.CRITICAL, logger="visualizer.engine"):
        lane.request(failing)
        with qtbot.waitSignal(lane.done, timeout=WAIT):
            lane.request(lambda number, cancelled: "new")
            release.set()
    assert heard.said == []


def test_shutdown_cancels_waits_and_lets_nothing_more_out(qapp, qtbot):
    engine = Engine()
    heard = Heard()
    engine.finished.connect(heard.take)
    engine.failed.connect(heard.take)
    for _ in range(3):
        engine.request(entry(), Inputs(source="s4 " * 20))
    assert engine.shutdown()
    engine.request(entry(), Inputs(source="s4"))
    qtbot.wait(50)
    assert heard.said == []


def test_shutdown_says_when_the_worker_does_not_come_to_rest(qapp):
    engine = Engine()
    release = threading.Event()
    engine._runs.request(lambda number, cancelled: release.wait(10))
    assert not engine.shutdown(20)
    release.set()
    assert engine.shutdown()


def test_a_checkpoint_file_is_opened_beside_the_window(engine, qtbot, tmp_path):
    path = tmp_path / "small.safetensors"
    model_core.save_checkpoint(entry().model, path)
    with qtbot.waitSignal(engine.opened, timeout=WAIT) as told:
        engine.open(path)
    (opened,) = told.args
    assert (opened.name, opened.path) == ("small", path)
    assert opened.model.config == entry().model.config


def test_a_bad_file_gets_one_sentence(engine, qtbot, tmp_path, caplog):
    path = tmp_path / "bad.safetensors"
    path.write_bytes(b"no checkpoint at all")
    with (
        caplog.at_level(logging.CRITICAL, logger="visualizer.engine"),
        qtbot.waitSignal(engine.open_failed, timeout=WAIT) as told,
    ):
        engine.open(path)
    name, reason, details = told.args
    assert (name, details) == ("bad.safetensors", "")
    assert reason and "\n" not in reason


def test_a_missing_file_and_an_unknown_name_get_one_sentence(engine, qtbot, tmp_path, caplog):
    for source in (tmp_path / "gone.safetensors", "no-such-model"):
        with (
            caplog.at_level(logging.CRITICAL, logger="visualizer.engine"),
            qtbot.waitSignal(engine.open_failed, timeout=WAIT) as told,
        ):
            engine.open(source)
        assert told.args[1] and "Traceback" not in told.args[1]


def test_thousands_of_requests_leave_no_thread_behind(lane, qtbot):
    heard = Heard()
    lane.done.connect(heard.take)
    for _ in range(2000):
        with qtbot.waitSignal(lane.done, timeout=WAIT):
            lane.request(lambda number, cancelled: number)
    assert len(heard.said) == 2000
    assert lane.pool.activeThreadCount() <= 1
    assert QThread.currentThread() is not None


def test_one_sentence_is_one_line_of_bounded_length():
    assert one_sentence(ValueError("a\n b\t c")) == "a b c"
    assert one_sentence(KeyError("no site 'x'")) == "no site 'x'"
    assert one_sentence(RuntimeError()) == "RuntimeError"
    assert len(one_sentence(ValueError("x" * 9999))) == 300


@pytest.mark.parametrize("wanted", ["run", "model"])
def test_what_is_made_ready_gives_way_to_what_the_user_waits_for(engine, qtbot, wanted):
    begun = threading.Event()

    class Preparing:
        @staticmethod
        def prepare(length, cancelled):
            begun.set()
            while not cancelled():
                time.sleep(0.001)
            return True

    prepared = Heard()
    engine.prepared.connect(prepared.take)
    engine.prepare(ModelEntry(Preparing(), "slow"), 7)
    assert begun.wait(WAIT / 1000)
    signal = engine.finished if wanted == "run" else engine.opened
    with qtbot.waitSignal(signal, timeout=WAIT):
        if wanted == "run":
            engine.request(entry(), Inputs(source="s4 s5"))
        else:
            engine.open("self-attention")
    assert not prepared.said
    engine.prepare(entry(), 7)
    # whether there was anything left to make ready depends on what others did with this model
    qtbot.waitUntil(lambda: len(prepared.said) == 1, timeout=WAIT)
