"""The log-probability of a nearly certain token: digits that hold, the same text everywhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from model_core.sampling import distribution, log_probabilities
from visualizer import actions, navigation
from visualizer.inquirer import answer_all
from visualizer.inquiries.paths import PathsInquiry
from visualizer.lenses import board as boards
from visualizer.lenses.beam_tree import beam_tree
from visualizer.lenses.beam_words import score_of, score_text
from visualizer.lenses.comparison import comparison, own_line
from visualizer.run import compute, open_entry
from visualizer.state import Inputs, ViewState
from visualizer.store import Store

SENTENCE = "the black cat sleeps on the table today"


@pytest.fixture(scope="module")
def entry():
    return open_entry("en-zh")


def shown(entry, **inputs) -> ViewState:
    state = actions.open_model(ViewState(), entry)
    asked = Inputs(SENTENCE, **inputs)
    state = replace(state, inputs=asked, page="decoding")
    return actions.show_run(state, compute(entry, asked, number=1))


def test_float64_holds_where_float32_says_certain():
    logits = np.array([23.5, 0.0, -1.0], dtype=np.float32)
    exact = logits.astype(np.longdouble)
    exact -= exact[0]
    exact -= np.log1p(np.exp(exact[1:]).sum())
    found = log_probabilities(logits)
    np.testing.assert_allclose(found, exact.astype(np.float64), rtol=1e-14)
    assert -1e-9 < found[0] < 0.0
    assert distribution(logits).log_prob_of(0) == found[0]
    # so nearly certain that float64 could not write the probability
    assert log_probabilities([100.0, 0.0])[0] == pytest.approx(-np.exp(-100.0))
    assert log_probabilities([3.0, -np.inf]).tolist() == [0.0, -np.inf]
    batch = np.random.default_rng(1).normal(size=(2, 3, 7))
    np.testing.assert_array_equal(log_probabilities(batch)[1, 2], log_probabilities(batch[1, 2]))


def test_no_certain_token_of_a_trained_model_is_zero(entry):
    line = own_line(shown(entry).run)
    assert max(line.log_probs) < 0.0
    assert not {"0.00", "0", "-0.00"} & set(line.texts)


def test_the_same_token_has_the_same_text_in_tree_target_line_free_run_and_stages(entry):
    plain = shown(entry)
    line = own_line(plain.run)
    typed = comparison(shown(entry, target=plain.run.text).run)
    # traced at once, decoded row by row, decoded beside the trace
    assert typed.typed.texts == typed.free.texts == line.texts
    searched = shown(entry, strategy="beam")
    store = Store(searched)
    answer_all(store, (PathsInquiry,))
    searched = store.state
    assert own_line(searched.run).texts == line.texts
    tree = beam_tree(searched)
    first = next(n for n in tree.nodes if n.ids == line.ids[:1])
    assert score_text(score_of(first, "cumulative")) == line.texts[0]
    # the tree adds up what stands below the tokens of the line
    best = tree.search.best
    assert [score_text(h.log_prob) for h in best.path] == list(line.texts)
    for position, token in enumerate(line.ids):
        there = navigation.go_to_token(searched, position)
        column = boards.board(there).columns[0]
        assert column.text(token) == line.texts[position], position


def test_python_gives_what_the_window_shows(entry):
    line = own_line(shown(entry).run)
    generation = entry.model.generate(SENTENCE)
    assert generation.log_probs == pytest.approx(line.log_probs, rel=1e-4)
    found = entry.model.generate(SENTENCE, "beam").hypotheses[0]
    assert found.log_probs == pytest.approx(line.log_probs, rel=1e-4)
