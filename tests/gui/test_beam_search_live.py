"""A beam search while it runs: partial trees, stale ones, and what is pinned meanwhile."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from model_core.growing import GrowingRun
from tests.gui.live_window import WAIT, live  # noqa: F401
from tests.gui.samples import LEFT_BUTTON
from tests.gui.samples import at as pixel
from tests.gui.searches import LIMIT, ids_of, searched
from tests.gui.views import SENTENCE, entry, view
from visualizer import actions, beam_run, decoding_actions
from visualizer.decoding_actions import shown_search
from visualizer.engine import Engine
from visualizer.inquiries.hypothesis import HypothesisInquiry
from visualizer.lenses.beam_tree import arranged, beam_tree
from visualizer.lenses.beam_words import facts, ranked, reading
from visualizer.run import compute
from visualizer.state import Inputs


@pytest.fixture
def slow(monkeypatch):
    """Steps that take their time, and searches that tell of each of them."""
    advance = GrowingRun.advance

    def slowly(self, ids):
        time.sleep(0.02)
        return advance(self, ids)

    monkeypatch.setattr(GrowingRun, "advance", slowly)
    monkeypatch.setattr(beam_run, "PATIENCE", -1.0)
    monkeypatch.setattr(beam_run, "PAUSE", 0.0)


def test_a_growing_search_is_the_beginning_of_the_whole(slow):
    grown = []
    inputs = Inputs(SENTENCE, "beam", beams=3, max_new_tokens=LIMIT)
    run = compute(entry(), inputs, report=grown.append)
    assert [len(search.steps) for search in grown] == list(range(1, len(run.search.steps) + 1))
    for search in grown:
        assert not search.done and search.inputs == inputs
        tree = arranged(search, (), None)
        held = [n.hypothesis for n in tree.nodes if n.hypothesis is not None]
        held += [one for rest in tree.rests for one in rest.hypotheses]
        assert len(held) == len(search.hypotheses)


def test_a_short_search_tells_nothing():
    told = []
    inputs = Inputs("s4 s5 s6", "beam", beams=2, max_new_tokens=3)
    compute(entry(), inputs, report=told.append)
    assert told == []


def test_partial_results_of_another_request_are_dropped(qtbot, slow):
    engine = Engine()
    told, finished = [], []
    engine.progress.connect(told.append)
    engine.finished.connect(finished.append)
    first = Inputs(SENTENCE, "beam", beams=3, max_new_tokens=LIMIT)
    second = replace(first, source="s9 s8")
    engine.request(entry(), first)
    qtbot.waitUntil(lambda: len(told) >= 2, timeout=WAIT)
    # what the worker tells from here on is stale, also what waits in the queue
    time.sleep(0.05)
    engine.request(entry(), second)
    before = len(told)
    qtbot.waitUntil(lambda: bool(finished), timeout=WAIT)
    assert engine.shutdown()
    assert {search.inputs.source for search in told[before:]} == {"s9 s8"}
    assert [run.inputs.source for run in finished] == ["s9 s8"]


def test_a_partial_search_of_other_inputs_is_never_shown(slow):
    state, grown = searched(3), []
    inputs = replace(state.inputs, source="s9 s8")
    compute(entry(), inputs, report=grown.append)
    assert decoding_actions.show_growing(state, grown[0]) is state
    typed = actions.edit_source(state, "s9 s8")
    growing = decoding_actions.show_growing(typed, grown[0])
    assert shown_search(growing) is grown[0]
    assert facts(growing)[1] == "searching, step 1"
    # its inputs change before its run has come
    onward = actions.edit_source(growing, "s9")
    assert shown_search(onward) is state.run.search
    assert actions.show_run(growing, compute(entry(), inputs, number=9)).growing is None


def test_nothing_of_an_old_tree_is_pinned_or_traced_for_new_inputs(slow):
    state, grown = searched(3), []
    ids = ids_of(state, 7)
    typed = actions.edit_source(state, "s9 s8")
    # the old tree stays until the new run has come
    assert shown_search(typed) is state.run.search
    assert decoding_actions.pin_hypothesis(typed, ids) is typed
    compute(entry(), typed.inputs, report=grown.append)
    growing = decoding_actions.show_growing(typed, grown[2])
    ids = tuple(grown[2].hypotheses[0].ids[1:])
    assert decoding_actions.pin_hypothesis(growing, ids) is growing
    # the tape on show has read another sentence
    pointed = decoding_actions.hover_hypothesis(growing, ids)
    assert HypothesisInquiry().wanted(pointed) is None and reading(pointed) is None


def test_without_a_search_there_is_no_tree():
    assert beam_tree(view()) is None and facts(view())[1] == "" and ranked(view()) == ()


# The window.


def test_no_picture_ever_belongs_to_another_target(live, slow, qtbot):  # noqa: F811
    store, page = live.store, live.window.stage.pages["decoding"]
    store.dispatch(actions.show_page, "decoding")
    seen = []

    def watch(old, new, fields):
        run, tree = new.run, page.beams.tree.canvas.tree
        if run is None or run.tape is None:
            return
        model = new.model.model
        # the tape on show is that of its own inputs
        assert (
            run.tape.source_ids[0].tolist() == model.tokenizer.encode_source(run.inputs.source).ids
        )
        assert tuple(run.tape.target_ids[0].tolist()[1:]) == run.chosen[:-1]
        if run.inputs.pinned is not None:
            assert run.chosen == run.inputs.pinned
        if run.search is not None:
            assert run.search.inputs == replace(run.inputs, pinned=None)
            assert run.inputs.pinned is not None or run.chosen == tuple(run.search.best.ids[1:])
        if tree is not None and run.search is not None:
            assert tree.search is shown_search(new)
            own = tree.search is run.search
            assert tree.traced == (run.chosen if own else ())
            assert own or tree.search.inputs == replace(new.inputs, pinned=None)
        seen.append((run.number, None if tree is None else tree.search.done))

    store.changed.connect(watch)
    store.dispatch(decoding_actions.set_max_new_tokens, LIMIT)
    store.dispatch(decoding_actions.choose_strategy, "beam")
    live.until_settled()
    canvas = page.beams.tree.canvas
    place = next(i for i, n in enumerate(canvas.tree.nodes) if i and not n.best)
    qtbot.mouseClick(canvas, LEFT_BUTTON, pos=pixel(canvas.node_rect(place).center()))
    pinned = canvas.tree.nodes[place].ids
    assert store.state.inputs.pinned == pinned
    live.until_settled()
    assert store.state.run.chosen == pinned and canvas.tree.traced == pinned
    for letter in " s5 s6":
        live.type(letter)
        qtbot.wait(15)
    assert store.state.inputs.pinned is None
    live.until_settled()
    assert store.state.run.search.best.ids[1:] == list(store.state.run.chosen)
    store.undo()
    live.until_settled()
    store.undo()
    live.until_settled()
    assert store.state.inputs.pinned is None
    store.redo()
    live.until_settled()
    assert store.state.run.chosen == pinned
    assert {False, True} <= {done for _, done in seen}
