"""The tree of a beam search: every hypothesis once, every number the search's own."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from PySide6.QtCore import QPointF

from tests.gui.live_window import WAIT, live  # noqa: F401
from tests.gui.samples import LEFT_BUTTON
from tests.gui.samples import at as pixel
from tests.gui.searches import LIMIT, WIDTHS, by_number, ids_of, plain_search, searched, with_paths
from tests.gui.views import SENTENCE, entry
from visualizer import actions, decoding_actions
from visualizer.inquirer import answer_all
from visualizer.inquiries.hypothesis import HypothesisInquiry
from visualizer.lenses.beam_tree import beam_tree
from visualizer.lenses.beam_words import facts, node_tip, ranked, reading, rest_tip, score_text
from visualizer.run import compute
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.widgets.beam_list import BeamList
from visualizer.widgets.beam_tree import BeamTreeCanvas, BeamTreeView

# The tree.


@pytest.mark.parametrize("beams", WIDTHS)
@pytest.mark.parametrize("laid", [False, True])
def test_the_tree_holds_every_hypothesis_of_the_search_exactly_once(beams, laid):
    state = with_paths(searched(beams)) if laid else searched(beams)
    tree = beam_tree(state)
    held = [node.hypothesis.number for node in tree.nodes if node.hypothesis is not None]
    held += [one.number for rest in tree.rests for one in rest.hypotheses]
    looked_at = [h for step in plain_search(beams).steps for h in step.hypotheses]
    assert Counter(held) == Counter(h.number for h in looked_at)
    # what is summed up is pruned, and stands in the column of its step
    for rest in tree.rests:
        assert all(not one.kept and one.length == rest.column for one in rest.hypotheses)
        assert rest_tip(rest).startswith(f"+{len(rest.hypotheses)} pruned")


@pytest.mark.parametrize("beams", WIDTHS)
def test_every_node_stands_behind_its_parent(beams):
    tree = beam_tree(with_paths(searched(beams)))
    root, *others = tree.nodes
    assert root.parent is None and root.token == "<SOS>" and root.column == 0
    for node in others:
        parent = tree.nodes[node.parent]
        assert parent.ids == node.ids[:-1] and parent.column == node.column - 1
        if node.hypothesis is not None:
            before = node.hypothesis.previous
            wanted = 0 if parent.hypothesis is None else parent.hypothesis.number
            assert wanted == before.number == node.hypothesis.parent
            assert tuple(node.hypothesis.ids[1:]) == node.ids
            assert node.kept == node.hypothesis.kept and node.finished == node.hypothesis.finished


@pytest.mark.parametrize("beams", WIDTHS)
def test_no_two_paths_cross_and_the_best_one_is_straight(beams):
    tree = beam_tree(with_paths(searched(beams)))
    assert {node.row for node in tree.nodes if node.best} == {0}
    best = [node for node in tree.nodes if node.best]
    assert best[-1].ids == tuple(plain_search(beams).ids[1:])
    for column in range(tree.columns):
        nodes = [node for node in tree.nodes if node.column == column]
        rows = [node.row for node in nodes]
        assert rows == sorted(set(rows)) and max(rows) < tree.rows
        parents = [node.parent or 0 for node in nodes]
        assert [tree.nodes[p].row for p in parents] == sorted(tree.nodes[p].row for p in parents)
        below = [rest.row for rest in tree.rests if rest.column == column]
        assert all(max(rows) < row < tree.rows for row in below)


@pytest.mark.parametrize("penalty", [0.0, 1.0, 2.0])
def test_every_number_shown_is_the_searchs_own(qtbot, penalty):
    state = searched(3, length_penalty=penalty)
    search = plain_search(3, length_penalty=penalty)
    hypotheses = {tuple(h.ids): h for step in search.steps for h in step.hypotheses}
    start = search.ids[0]
    for kind in ("normalised", "cumulative"):
        canvas = BeamTreeCanvas()
        qtbot.addWidget(canvas)
        canvas.set_tree(beam_tree(state), kind, 1.0)
        shown = zip(canvas.tree.nodes[1:], canvas.texts[1:], strict=True)
        for node, text in shown:
            own = hypotheses[(start, *node.ids)]
            value = own.score if kind == "normalised" else own.cumulative
            assert text == score_text(value)
            tip = node_tip(node)
            assert str(own.cumulative) in tip and str(own.score) in tip
            assert str(own.log_prob) in tip
    best = search.hypotheses[0]
    assert facts(state)[1] == f"best {score_text(best.score)}"
    state = decoding_actions.show_score(state, "cumulative")
    assert facts(state)[1] == f"best {score_text(best.cumulative)}"


def test_the_sums_are_those_of_a_forced_trace():
    state, model = searched(4), entry().model
    for number in (1, 7, 20, 41):
        one = by_number(state)[number]
        tape = model.trace(SENTENCE, target_ids=one.ids[:-1])
        log_probs = tape["log_probs"].value[0]
        total = sum(float(log_probs[row, i]) for row, i in enumerate(one.ids[1:]))
        assert one.cumulative == pytest.approx(total, abs=1e-4)
        assert one.score == pytest.approx(total / one.length, abs=1e-4)


def test_the_list_has_the_best_of_the_finished_in_order():
    state = decoding_actions.set_n_best(searched(4), 3)
    wanted = plain_search(4).hypotheses[:3]
    lines = ranked(state)
    assert [line.ids for line in lines] == [tuple(h.ids[1:]) for h in wanted]
    assert [line.score for line in lines] == [score_text(h.score) for h in wanted]
    assert [line.length for line in lines] == [h.length for h in wanted]
    assert [line.text for line in lines] == [h.text for h in wanted]
    assert [line.traced for line in lines] == [True, False, False]
    ranks = {node.rank: node.ids for node in beam_tree(state).nodes if node.rank is not None}
    assert [ranks[n] for n in range(3)] == [line.ids for line in lines]


# Other ways of choosing.


def test_greedy_and_sampled_paths_are_the_models_own_and_leave_the_tree_where_they_must():
    state = with_paths(searched(3, seed=5, temperature=1.5))
    tree, model = beam_tree(state), entry().model
    for name, strategy, more in (
        ("greedy", "greedy", {}),
        ("sampled", "sample", {"seed": 5, "temperature": 1.5}),
    ):
        generation = model.generate(SENTENCE, strategy, max_new_tokens=LIMIT, **more)
        on = [node for node in tree.nodes if getattr(node, name)]
        assert sorted(node.ids for node in on) == [
            tuple(generation.ids[1 : n + 1]) for n in range(len(generation.ids))
        ]
        totals = np.cumsum(generation.log_probs)
        for node in on:
            if node.hypothesis is None and node.column:
                assert node.cumulative == pytest.approx(totals[node.column - 1])
                assert node.score == pytest.approx(totals[node.column - 1] / node.column)
    assert any(node.sampled and node.hypothesis is None for node in tree.nodes[1:])
    alone = beam_tree(decoding_actions.lay_sampled(state, False))
    assert not any(node.sampled for node in alone.nodes)
    assert any(node.greedy for node in alone.nodes)


# Pinning.


@pytest.mark.parametrize("number", [2, 11, 35])
def test_a_pinned_trace_is_the_forced_trace(number):
    state = searched(4, pinned=number)
    run, one = state.run, by_number(searched(4))[number]
    forced = entry().model.trace(SENTENCE, target_ids=one.ids[:-1])
    assert run.tape.sites == forced.sites
    for site in forced.sites:
        np.testing.assert_array_equal(run.tape[site].value, forced[site].value)
    assert run.tape.target_tokens == one.tokens[:-1]
    assert run.tape.predicted_tokens == one.tokens[1:]
    assert run.chosen == tuple(one.ids[1:]) and run.rows == len(run.chosen)
    assert len(run.distributions) == run.rows
    for row, shown in enumerate(run.distributions):
        np.testing.assert_array_equal(shown.logits, forced["logits"].value[0, row])
    tree = beam_tree(state)
    assert tree.traced == run.chosen
    assert sorted(n.ids for n in tree.nodes if n.traced)[-1] == run.chosen


def test_without_a_pin_the_best_is_traced_as_it_grew():
    state = searched(4)
    best = plain_search(4)
    np.testing.assert_array_equal(state.run.tape["logits"].value, best.tape["logits"].value)
    assert state.run.chosen == tuple(best.ids[1:]) and state.run.text == best.text


def test_another_pin_is_no_reason_to_search_again(monkeypatch):
    state = searched(4)
    monkeypatch.setattr(type(entry().model), "generate", None)
    pinned = decoding_actions.pin_hypothesis(state, ids_of(state, 7))
    run = compute(entry(), pinned.inputs, number=2)
    assert run.search is state.run.search
    again = compute(entry(), state.inputs, number=3)
    assert again.search is state.run.search and again.tape is state.run.tape


def test_pinning_once_more_lets_go_and_undo_unpins():
    state = searched(4)
    ids = ids_of(state, 7)
    pinned = decoding_actions.pin_hypothesis(state, ids)
    assert pinned.inputs.pinned == ids
    assert decoding_actions.pin_hypothesis(pinned, ids).inputs == state.inputs
    store = Store(state)
    store.dispatch(decoding_actions.pin_hypothesis, ids)
    store.undo()
    assert store.state.inputs == state.inputs
    store.redo()
    assert store.state.inputs.pinned == ids


def test_what_was_pinned_is_let_go_with_its_search():
    pinned = decoding_actions.pin_hypothesis(searched(4), (4, 5))
    for act in (
        lambda s: decoding_actions.set_beams(s, 5),
        lambda s: decoding_actions.set_length_penalty(s, 0.5),
        lambda s: decoding_actions.set_early_stopping(s, True),
        lambda s: decoding_actions.set_max_new_tokens(s, 3),
        lambda s: decoding_actions.choose_strategy(s, "greedy"),
        lambda s: actions.edit_source(s, "s4"),
        lambda s: actions.force_target(s, "t4"),
    ):
        assert act(pinned).inputs.pinned is None
    assert decoding_actions.set_beams(pinned, 99).inputs.beams == 16
    assert decoding_actions.set_length_penalty(pinned, 99.0).inputs.length_penalty == 3.0


def test_a_forced_prefix_is_searched_behind():
    state = searched(3, prefix=(4, 6))
    tree = beam_tree(state)
    assert tree.nodes[0].ids == (4, 6)
    assert all(node.ids[:2] == (4, 6) for node in tree.nodes)
    assert state.run.rows == len(state.run.chosen) == len(state.run.distributions)
    assert state.run.chosen[:2] == (4, 6)
    laid = beam_tree(with_paths(state))
    assert sum(node.greedy for node in laid.nodes) > 1


# What a hypothesis has read.


@pytest.mark.parametrize("number", [3, 30])
def test_a_pointed_hypothesis_shows_the_cells_of_the_record_that_it_names(number):
    store = Store(searched(4))
    one = by_number(store.state)[number]
    store.dispatch(decoding_actions.hover_hypothesis, tuple(one.ids[1:]))
    answer_all(store, (HypothesisInquiry,))
    told = reading(store.state)
    forced = entry().model.trace(SENTENCE, target_ids=one.ids[:-1])
    site = "decoder.layers.0.cross_attn.weights"
    wanted = forced[site].value[0, 1, len(one.ids) - 2]
    np.testing.assert_allclose(told.weights, wanted, rtol=1e-5)
    assert told.record == f"{site} · guided head 2 · row {len(one.ids) - 1}"
    assert told.token == one.token and told.words == tuple(forced.source_tokens)


def test_a_model_without_a_guided_head_shows_the_mean_of_its_last_layer(monkeypatch):
    monkeypatch.setitem(entry().model.card, "guided_head", None)
    store = Store(searched(2))
    ids = store.state.run.chosen[:2]
    store.dispatch(decoding_actions.hover_hypothesis, ids)
    # the run's own tape has it: there is nothing to ask
    assert HypothesisInquiry().wanted(store.state) is None
    told = reading(store.state)
    site = "decoder.layers.1.cross_attn.weights"
    wanted = store.state.run.tape[site].value[0, :, 1].mean(axis=0)
    np.testing.assert_allclose(told.weights, wanted, rtol=1e-6)
    assert told.record == f"{site} · mean of 3 heads · row 2"


# The widget.


def drawn(qtbot, state: ViewState, width: int = 900, height: int = 300) -> BeamTreeView:
    tree = BeamTreeView()
    qtbot.addWidget(tree)
    tree.resize(width, height)
    tree.show()
    tree.set_tree(beam_tree(state), "normalised", 1.0)
    return tree


@pytest.mark.parametrize("beams", WIDTHS)
def test_a_position_leads_to_the_node_that_is_drawn_there(qtbot, beams):
    canvas = drawn(qtbot, with_paths(searched(beams))).canvas
    boxes = [canvas.node_rect(place) for place in range(len(canvas.tree.nodes))]
    for place, rect in enumerate(boxes):
        assert canvas.node_at(rect.center()) == place
        assert rect.right() <= canvas.width() and rect.bottom() <= canvas.height()
        assert not any(rect.intersects(other) for other in boxes[:place])
    assert canvas.node_at(QPointF(1, 1)) is None


def test_what_does_not_fit_is_scrolled_to_and_never_too_small_to_read(qtbot):
    tree = drawn(qtbot, searched(16), 600, 150)
    assert tree.horizontalScrollBar().maximum() and tree.verticalScrollBar().maximum()
    canvas = tree.canvas
    assert min(rect.height() for rect in canvas.places().nodes) >= 1.2 * canvas.em
    assert canvas.places().token_face.font.pointSizeF() >= 0.7 * canvas.font().pointSizeF()
    roomy = drawn(qtbot, searched(1), 1400, 300)
    assert not roomy.horizontalScrollBar().maximum()
    assert not roomy.verticalScrollBar().maximum()
    assert not roomy.canvas.places().flat
    tree.show_ids(canvas.tree.nodes[-1].ids)
    seen = tree.canvas.visibleRegion().boundingRect()
    assert seen.contains(canvas.node_rect(len(canvas.tree.nodes) - 1).center().toPoint())


def test_pointing_and_clicking_tell_the_ids(qtbot):
    canvas = drawn(qtbot, searched(3)).canvas
    pointed, clicked = [], []
    canvas.hovered.connect(pointed.append)
    canvas.clicked.connect(clicked.append)
    node = canvas.tree.nodes[4]
    where = pixel(canvas.node_rect(4).center())
    qtbot.mouseMove(canvas, where)
    assert pointed == [node.ids] and canvas.lit == 4
    qtbot.mouseClick(canvas, LEFT_BUTTON, pos=where)
    assert clicked == [node.ids]
    # the root was not chosen
    root = pixel(canvas.node_rect(0).center())
    qtbot.mouseMove(canvas, root)
    qtbot.mouseClick(canvas, LEFT_BUTTON, pos=root)
    assert pointed[-1] is None and canvas.lit is None and len(clicked) == 1


def test_a_line_of_the_list_tells_its_hypothesis(qtbot):
    widget = BeamList()
    qtbot.addWidget(widget)
    widget.resize(260, 200)
    lines = ranked(searched(4))
    widget.set_lines(lines, "", tuple("" for _ in lines))
    told = []
    widget.clicked.connect(told.append)
    where = pixel(widget.line_rect(2).center())
    qtbot.mouseClick(widget, LEFT_BUTTON, pos=where)
    assert told == [lines[2].ids]


# While it grows.
