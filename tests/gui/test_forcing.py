"""Forcing, freeing and typing while forwards are slow: every picture is of one output alone."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt

from model_core.model import Model
from tests.core.models import small_model
from tests.gui.live_window import WAIT, live  # noqa: F401 (fixture)
from tests.gui.views import entry
from visualizer import actions, bench_actions, decoding_actions, forcing, navigation
from visualizer.lenses.comparison import parting
from visualizer.run import compute
from visualizer.state import Inputs, ModelEntry, current_token
from visualizer.widgets.canvas import Canvas

SITE = "decoder.layers.0.cross_attn.weights"
# Milliseconds between two things that a hand does, while a forward takes up to 90.
PAUSES = (0, 0, 5, 20, 60, 140)
STEPS = 90


@pytest.fixture
def slow(monkeypatch):
    """In the worker a forward takes a while, never the same."""
    pause = random.Random(3)

    def slowed(plain):
        def work(self, *given, **named):
            apart = threading.current_thread() is not threading.main_thread()
            if apart:
                time.sleep(pause.uniform(0.0, 0.05))
            result = plain(self, *given, **named)
            if apart:
                time.sleep(pause.uniform(0.0, 0.04))
            return result

        return work

    for name in ("generate", "trace"):
        monkeypatch.setattr(Model, name, slowed(getattr(Model, name)))


class Truth:
    """What the inputs give, by a model of its own that no window has."""

    def __init__(self) -> None:
        model = small_model("float32")
        model.card = entry().model.card
        self.entry = ModelEntry(model, "apart")
        self._known: dict[Inputs, tuple] = {}

    def of(self, inputs: Inputs):
        """The ids, what a whole pass over them gives, the run, and the ids of the free run."""
        if inputs not in self._known:
            run = compute(self.entry, inputs)
            read = np.array([[1, *run.chosen[:-1]]])
            whole = self.entry.model.trace(
                inputs.source, target_ids=read, target_mask=np.ones_like(read, dtype=bool)
            )
            bare = replace(inputs, target=None, prefix=(), pinned=None)
            free = run.chosen if bare == inputs else compute(self.entry, bare).chosen
            self._known[inputs] = (run.chosen, whole, run, free)
        return self._known[inputs]

    def words(self, ids) -> list[str]:
        return self.entry.model.tokenizer.target_tokens(list(ids))


class Watch:
    """Looks at every picture right after it is painted."""

    def __init__(self) -> None:
        self.live = None
        self.truth = Truth()
        self.finals: dict[str, int] = {}
        self.earlier = 0
        self.shown: list[int] = []

    def begin(self, made) -> None:
        window = made.window
        decoding = window.stage.pages["decoding"]
        self.names = {
            window.transport.chips: "chips",
            window.prediction.bars: "bars",
            window.stage.pages["record"].heatmap: "stage",
            window.typed_target.rows: "rows",
            decoding.columns: "columns",
            decoding.beams.tree.canvas: "tree",
        }
        made.store.changed.connect(self.on_changed)
        self.live = made

    def on_changed(self, old, new, fields) -> None:
        """A run that comes is that of the inputs as they are: what is stale was dropped."""
        if "run" in fields and new.run is not None:
            assert new.run.inputs == new.inputs
            assert not self.shown or new.run.number > self.shown[-1]
            self.shown.append(new.run.number)

    def painted(self, canvas) -> None:
        name = None if self.live is None else self.names.get(canvas)
        if name is None or self.live.state.run is None or self.live.state.run.tape is None:
            return
        state, run = self.live.state, self.live.state.run
        final = run.inputs == state.inputs
        if name != "tree":
            # of the run on show, never of one before it
            assert canvas.painted[0] == run.number
        if final:
            self.finals[name] = self.finals.get(name, 0) + 1
        else:
            self.earlier += 1
        getattr(self, f"see_{name}")(canvas, run, final, current_token(state))

    def see_chips(self, canvas, run, final, row) -> None:
        chosen, _, _, _ = self.truth.of(run.inputs)
        chips = canvas.chips[: len(chosen)]
        assert [chip.text for chip in chips] == self.truth.words(chosen)
        typed, count = run.inputs.target is not None, len(run.inputs.prefix)
        assert [chip.pinned for chip in chips] == [typed or n < count for n in range(len(chosen))]

    def see_bars(self, canvas, run, final, row) -> None:
        chosen, _, apart, _ = self.truth.of(run.inputs)
        bars = canvas._bars
        if final:
            # until then they are what the sliders make of the run on show
            given = apart.distributions[row].probabilities
            np.testing.assert_allclose(bars.values, given[list(bars.ids)], atol=1e-5)
            assert bars.ids[bars.chosen] == chosen[row]

    def see_stage(self, canvas, run, final, row) -> None:
        chosen, whole, _, _ = self.truth.of(run.inputs)
        matrix = canvas.matrix
        assert matrix.source.startswith(SITE)
        head, rows = self.live.state.head, matrix.values.shape[0]
        np.testing.assert_allclose(matrix.values, whole[SITE].value[0, head, :rows], atol=1e-5)
        assert list(matrix.row_labels) == self.truth.words([1, *chosen[:-1]])[:rows]
        assert list(matrix.row_notes) == [f"→ {w}" for w in self.truth.words(chosen)][:rows]

    def see_rows(self, canvas, run, final, row) -> None:
        chosen, _, _, free = self.truth.of(run.inputs)
        first, second = canvas.rows
        if run.inputs.target is None:
            assert first.tokens == () and list(second.tokens) == self.truth.words(chosen)
        else:
            assert list(first.tokens) == self.truth.words(chosen)
            assert list(second.tokens) == self.truth.words(free)
            assert canvas.parting == parting(chosen, free)

    def see_columns(self, canvas, run, final, row) -> None:
        if final:
            assert canvas.board.chosen == self.truth.of(run.inputs)[0][row]

    def see_tree(self, canvas, run, final, row) -> None:
        tree = canvas.tree
        if final and run.search is not None:
            assert tree.search is run.search
            assert tree.traced == self.truth.of(run.inputs)[0] == run.chosen
            assert all(n.ids[: len(run.inputs.prefix)] == run.inputs.prefix for n in tree.nodes)


@pytest.fixture
def watch(monkeypatch):
    made = Watch()
    plain = Canvas.paintEvent

    def paint(self, event):
        plain(self, event)
        made.painted(self)

    monkeypatch.setattr(Canvas, "paintEvent", paint)
    return made


def something(live, hand: random.Random) -> str:  # noqa: F811
    """One thing that a hand may do, whatever is on its way."""
    store, state = live.store, live.state
    rows = max(state.run.rows, 1) if state.run is not None else 1
    words = [f"t{n}" for n in range(4, 11)]
    line = live.window.typed_target.field
    do = {
        "force": lambda: store.dispatch(
            forcing.force_token, hand.randrange(rows), hand.randrange(2, 11)
        ),
        "take back": lambda: store.dispatch(forcing.take_back, hand.randrange(rows)),
        "free": lambda: store.dispatch(forcing.free),
        "type": lambda: live.qtbot.keyClicks(line, " " + hand.choice(words)),
        "delete": lambda: live.qtbot.keyClick(line, Qt.Key.Key_Backspace),
        "another target": lambda: store.dispatch(
            forcing.type_target, " ".join(hand.choices(words, k=hand.randrange(1, 8)))
        ),
        "sentence": lambda: store.dispatch(
            actions.edit_source, " ".join(f"s{hand.randrange(4, 13)}" for _ in range(4))
        ),
        "temperature": lambda: store.dispatch(
            bench_actions.set_sampling, "temperature", hand.uniform(0.5, 2.0)
        ),
        "seed": lambda: store.dispatch(bench_actions.set_sampling, "seed", hand.randrange(99)),
        "beams": lambda: store.dispatch(decoding_actions.set_beams, hand.randrange(1, 5)),
        "greedy": lambda: store.dispatch(decoding_actions.choose_strategy, "greedy"),
        "undo": store.undo,
        "redo": store.redo,
        "token": lambda: store.dispatch(navigation.go_to_token, hand.randrange(rows)),
        "page": lambda: store.dispatch(actions.toggle_page, page="decoding"),
    }
    chances = {"force": 6, "take back": 3, "another target": 3, "type": 3, "undo": 2, "beams": 2}
    name = hand.choices(list(do), [chances.get(name, 1) for name in do])[0]
    do[name]()
    return name


def agree(live) -> bool:  # noqa: F811
    """Whether all panels on screen have painted the run on show."""
    painted = {panel.painted_run for panel in live.window.panels if panel.isVisible()}
    return painted - {-1} == {live.state.run.number}


@pytest.mark.parametrize("seed", range(4))
def test_no_picture_is_of_another_output_whatever_comes_in_between(slow, watch, live, seed):  # noqa: F811
    hand = random.Random(seed)
    live.store.dispatch(decoding_actions.set_max_new_tokens, 7)
    live.window.workspace.type_target()
    live.until_settled()
    watch.begin(live)
    done = set()
    for _ in range(STEPS):
        done.add(something(live, hand))
        live.qtbot.wait(hand.choice(PAUSES))
    for page in ("record", "decoding"):
        live.store.dispatch(actions.show_page, page)
        live.until_settled()
        live.qtbot.waitUntil(lambda: agree(live), timeout=WAIT)
    live.store.dispatch(decoding_actions.choose_strategy, "beam")
    live.store.dispatch(forcing.free)
    live.until_settled()
    live.qtbot.waitUntil(lambda: "tree" in watch.finals, timeout=WAIT)
    # it was no empty promise
    assert len(done) >= 12
    assert {"chips", "bars", "stage", "rows", "columns"} <= set(watch.finals)
    # how many are shown depends on how fast the machine is; some have to be
    assert watch.earlier > 10 and len(watch.shown) > 2
    # more was asked for than shown
    assert watch.shown[-1] - watch.shown[0] > len(watch.shown)
