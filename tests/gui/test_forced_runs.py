"""Forced tokens and typed targets: what is computed of them, compared, and asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from model_core.sampling import distribution
from tests.gui.views import SENTENCE, TARGET, entry, view
from visualizer import actions, forcing
from visualizer.lenses.caption import run_message
from visualizer.lenses.comparison import comparison, own_line, parting, parting_words, sums
from visualizer.lenses.prediction import next_token, taken_token
from visualizer.run import Cancelled, compute, open_entry
from visualizer.state import Inputs, ViewState
from visualizer.store import Store

END = 2
TOKENS = ("t4", "t6", "t5")


def computed(inputs: Inputs) -> ViewState:
    """The view in which the run of these inputs is on show."""
    state = actions.open_model(ViewState(), entry())
    return rerun(replace(state, inputs=inputs))


def rerun(state: ViewState, number: int = 2) -> ViewState:
    return actions.show_run(state, compute(entry(), state.inputs, number=number))


def own_log_probs(ids, source: str = SENTENCE) -> np.ndarray:
    """log p of each id behind the start token, by a pass of its own."""
    read = np.array([[1, *ids[:-1]]])
    tape = entry().model.trace(source, target_ids=read, target_mask=np.ones_like(read, dtype=bool))
    return tape["log_probs"].value[0][np.arange(len(ids)), list(ids)]


def other_than(state: ViewState, row: int) -> int:
    """A plain token that is not the one at a row."""
    return next(i for i in range(4, 11) if i != state.run.chosen[row])


FREE = Inputs(SENTENCE, max_new_tokens=8)
DRAWN = Inputs(SENTENCE, "sample", temperature=1.3, top_k=7, seed=5, max_new_tokens=12)


# Runs.


@pytest.mark.parametrize("inputs", [FREE, DRAWN, Inputs(SENTENCE, "beam", max_new_tokens=8)])
@pytest.mark.parametrize("prefix", [(4,), (9, 5, 5)])
def test_a_run_with_a_prefix_is_that_of_a_whole_pass_over_its_ids(inputs, prefix):
    run = compute(entry(), replace(inputs, prefix=prefix))
    assert run.chosen[: len(prefix)] == prefix and len(run.chosen) > len(prefix)
    assert run.rows == len(run.chosen) == len(run.distributions)
    read = np.array([[1, *run.chosen[:-1]]])
    whole = entry().model.trace(
        SENTENCE, target_ids=read, target_mask=np.ones_like(read, dtype=bool)
    )
    for record in whole:
        if record.value.dtype.kind == "f":
            found = run.tape[record.site].value
            np.testing.assert_allclose(found, record.value, rtol=1e-4, atol=1e-5)
    for row, given in enumerate(run.distributions):
        logits = whole["logits"].value[0, row]
        own = distribution(logits)
        if inputs.strategy == "sample":
            own = distribution(logits, inputs.temperature, inputs.top_k, inputs.top_p)
        assert np.abs(given.probabilities - own.probabilities).max() < 1e-5
    assert list(run.tape.predicted_tokens) == entry().model.tokenizer.target_tokens(run.chosen)


def test_forcing_what_stands_there_shifts_no_later_draw():
    free = compute(entry(), DRAWN)
    for count in range(1, len(free.chosen) + 1):
        limit = max(DRAWN.max_new_tokens - count, 1)
        forced = replace(DRAWN, prefix=free.chosen[:count], max_new_tokens=limit)
        assert compute(entry(), forced).chosen[: len(free.chosen)] == free.chosen


def test_a_forced_end_ends_the_output():
    run = compute(entry(), replace(FREE, prefix=(5, 6, END)))
    assert run.chosen == (5, 6, END) and run.finished and run.text == "t5 t6"
    assert (run.outcome, run.last_content, run.search) == ("ok", 1, None)
    assert run_message(run) == ""
    alone = compute(entry(), replace(FREE, prefix=(END,)))
    assert alone.outcome == "immediate_end" and alone.chosen == (END,)
    # whatever is chosen by, there is nothing to choose
    beam = compute(entry(), replace(FREE, strategy="beam", prefix=(5, END)))
    assert beam.chosen == (5, END) and beam.search is None


def test_a_prefix_as_long_as_the_model_can_read_stands_as_it_is():
    most = entry().model.config.max_seq_len
    run = compute(entry(), replace(FREE, max_new_tokens=None, prefix=(5,) * most))
    assert run.chosen == (5,) * most and run.rows == most and not run.finished
    assert run_message(run) != ""


def test_a_typed_target_is_read_whole_and_ends():
    run = view().run
    ids = entry().model.tokenizer.encode_target(TARGET).ids
    assert run.chosen == (*ids, END) and run.finished and run.text == TARGET
    same = compute(entry(), Inputs(SENTENCE, prefix=(*ids, END)))
    assert same.chosen == run.chosen
    for record in same.tape:
        np.testing.assert_array_equal(record.value, run.tape[record.site].value)


@pytest.mark.parametrize("strategy", ["greedy", "sample", "beam"])
def test_beside_a_typed_target_stands_what_the_same_inputs_say_freely(strategy):
    inputs = replace(DRAWN, strategy=strategy)
    run = compute(entry(), replace(inputs, target=TARGET))
    free = compute(entry(), inputs)
    assert run.free.ids == free.chosen
    assert run.free.tokens == tuple(free.tape.predicted_tokens)
    np.testing.assert_allclose(run.free.log_probs, own_log_probs(free.chosen), atol=1e-5)
    assert free.free is None and compute(entry(), replace(inputs, prefix=(4,))).free is None


def test_while_a_target_is_typed_the_free_run_is_decoded_once(monkeypatch):
    inputs = Inputs("s9 s9 s9", max_new_tokens=5)
    model, counted = entry().model, []
    plain = type(model).generate

    def generate(self, *given, **named):
        counted.append(given)
        return plain(self, *given, **named)

    monkeypatch.setattr(type(model), "generate", generate)
    for text in ("t4", "t4 t", "t4 t6"):
        compute(entry(), replace(inputs, target=text))
    assert len(counted) == 1
    compute(entry(), replace(inputs, target="t4", seed=3))
    assert len(counted) == 2


def test_a_typed_target_that_is_no_longer_wanted_stops_before_the_free_run():
    told = iter((False, True, True))
    with pytest.raises(Cancelled):
        compute(entry(), Inputs("s4 s4", target="t4"), cancelled=lambda: next(told))


def test_unknown_words_of_a_target_are_told_by_place():
    run = compute(entry(), Inputs(SENTENCE, target="t4 was t5 ist"))
    assert [(w.position, w.text) for w in run.unknown_target] == [(1, "was"), (3, "ist")]
    assert run.chosen == (4, 3, 5, 3, END)
    assert [w.text for w in run.unknown] == ["nonsense"]


def test_a_target_that_is_too_long_is_told_from_a_sentence_that_is():
    most = entry().model.config.max_seq_len
    fits = compute(entry(), Inputs("s4", target=" ".join(["t4"] * (most - 1))))
    assert fits.outcome == "ok" and fits.rows == most
    long = compute(entry(), Inputs("s4", target=" ".join(["t4"] * most)))
    assert (long.outcome, long.length, long.target_too_long) == ("too_long", most + 1, True)
    assert run_message(long).startswith("The target has 25 tokens")
    both = compute(entry(), Inputs(" ".join(["s4"] * 40), target=" ".join(["t4"] * most)))
    assert not both.target_too_long and run_message(both).startswith("This sentence")


# The comparison.


@pytest.mark.parametrize("penalty", [1.0, 0.0, -0.7, 2.0])
def test_totals_and_scores_are_those_of_a_beam_search(penalty):
    inputs = Inputs(SENTENCE, "beam", beams=3, length_penalty=penalty, max_new_tokens=7)
    best = compute(entry(), inputs).search.best
    state = computed(replace(inputs, target=TARGET))
    found = comparison(state.run)
    assert found.free.ids == tuple(best.ids[1:])
    assert found.free.total == pytest.approx(best.cumulative, abs=1e-4)
    assert found.free.score == pytest.approx(best.score, abs=1e-4)
    own = own_log_probs(state.run.chosen).astype(np.float64)
    assert found.typed.total == pytest.approx(float(own.sum()), abs=1e-4)
    assert found.typed.score == pytest.approx(float(own.sum()) / 4.0**penalty, abs=1e-4)
    np.testing.assert_allclose(found.typed.log_probs, own, atol=1e-5)


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ((4, 5, END), (4, 5, END), None),
        ((4, 5, END), (4, 6, END), 1),
        ((END,), (4, END), 0),
        ((4, 5), (4, 5, 6), 2),
        ((4, 5, END), (4, 5), 2),
    ],
)
def test_outputs_part_at_the_first_position_that_differs(one, other, wanted):
    assert parting(one, other) == wanted


def test_the_place_of_parting_is_counted_as_people_do():
    state = computed(replace(FREE, target=TARGET))
    free = compute(entry(), FREE).chosen
    typed = state.run.chosen
    first = next(i for i, pair in enumerate(zip(typed, free, strict=False)) if len({*pair}) > 1)
    assert comparison(state.run).parting == first
    assert parting_words(state) == f"They part at position {first + 1}."
    assert parting_words(replace(state, count_from=0)) == f"They part at position {first}."


def test_a_target_that_says_what_the_model_says_does_not_part():
    bundled = open_entry("en-zh")
    state = actions.open_model(ViewState(), bundled)
    free = compute(bundled, state.inputs, number=1)
    assert free.finished
    state = replace(state, inputs=replace(state.inputs, target=free.text))
    state = actions.show_run(state, compute(bundled, state.inputs, number=2))
    found = comparison(state.run)
    assert found.parting is None and found.typed.ids == found.free.ids == free.chosen
    assert found.typed.total == pytest.approx(found.free.total, abs=1e-5)
    assert parting_words(state) == "Both say the same."


def test_without_a_typed_target_there_is_nothing_to_compare():
    state = computed(FREE)
    assert comparison(state.run) is None and parting_words(state) == ""
    own = own_line(state.run)
    np.testing.assert_allclose(own.log_probs, own_log_probs(state.run.chosen), atol=1e-5)
    assert sums(own).startswith("log p -")


# What one asks.


def test_a_candidate_is_forced_behind_the_tokens_as_they_are():
    state = computed(FREE)
    token = other_than(state, 2)
    forced = forcing.force_token(state, 2, token)
    assert forced.inputs.prefix == (*state.run.chosen[:2], token)
    assert forced.cursor.token == 2
    there = rerun(forced)
    assert there.run.chosen[:3] == forced.inputs.prefix
    assert forcing.forced_count(there) == 3 and taken_token(there) == token
    # what stands there is fixed as well
    fixed = forcing.force_token(state, 3, state.run.chosen[3])
    assert fixed.inputs.prefix == state.run.chosen[:4]


def test_forcing_within_a_prefix_decodes_what_lies_behind_again():
    state = computed(replace(FREE, prefix=(5, 6, 7)))
    assert forcing.force_token(state, 1, 9).inputs.prefix == (5, 9)
    assert forcing.force_token(state, 1, 6).inputs.prefix == (5, 6)
    assert forcing.take_back(state, 2).inputs.prefix == (5, 6)
    assert forcing.take_back(state, 0).inputs == FREE
    # nothing is forced there
    assert forcing.take_back(state, 3) is state
    assert forcing.free(state).inputs == FREE


def test_of_a_typed_target_the_tokens_before_become_the_prefix():
    state = computed(replace(FREE, target=TARGET))
    forced = forcing.force_token(state, 2, 9)
    assert (forced.inputs.target, forced.inputs.prefix) == (None, (4, 6, 9))
    back = forcing.take_back(state, 2)
    assert (back.inputs.target, back.inputs.prefix) == (None, (4, 6))
    assert forcing.free(state).inputs == FREE


def test_tokens_and_rows_that_are_not_there_change_nothing():
    state = computed(FREE)
    for row, token in ((-1, 4), (state.run.rows, 4), (0, -1), (0, 11)):
        assert forcing.force_token(state, row, token) is state
    nothing = computed(Inputs(""))
    assert forcing.force_token(nothing, 0, 4) is nothing
    assert forcing.leave(nothing).inputs == nothing.inputs


def test_a_click_on_a_picture_of_another_output_changes_nothing():
    state = computed(FREE)
    # another sentence has been typed, its run is on its way
    typed = actions.edit_source(state, "s4 s5")
    assert forcing.force_token(typed, 0, 4) is typed
    # another token has been forced: behind it the alternatives are others
    forced = forcing.force_token(state, 1, other_than(state, 1))
    assert forcing.force_token(forced, 4, 4) is forced
    assert forcing.force_token(forced, 1, 9).inputs.prefix == (state.run.chosen[0], 9)
    target = forcing.type_target(state, "t4 t5")
    assert forcing.force_token(target, 2, 9) is target
    assert forcing.take_back(target, 0) is target


def test_another_sentence_frees_the_output():
    state = computed(replace(FREE, prefix=(5, 6)))
    assert actions.edit_source(state, "s4").inputs.prefix == ()
    typed = computed(replace(FREE, target=TARGET))
    assert actions.edit_source(typed, "s4").inputs.target is None


def test_a_target_without_a_word_is_none():
    state = computed(FREE)
    assert forcing.type_target(state, TARGET).inputs.target == TARGET
    for text in ("", "  "):
        assert forcing.type_target(computed(replace(FREE, target="t4")), text).inputs == FREE
    forced = computed(replace(FREE, prefix=(5,)))
    assert forcing.type_target(forced, "t4").inputs.prefix == ()


def test_the_line_of_the_target_goes_with_its_target():
    state = forcing.show_target_line(computed(replace(FREE, target=TARGET)), True)
    assert forcing.show_target_line(state, False).inputs == FREE
    freed = forcing.leave(state)
    assert freed.inputs == FREE and freed.target_line
    assert not forcing.leave(freed).target_line
    # what was clicked is not given up with the line
    clicked = forcing.show_target_line(computed(replace(FREE, prefix=(5,))), True)
    assert forcing.show_target_line(clicked, False).inputs.prefix == (5,)


def test_undo_and_redo_go_from_one_forced_token_to_the_next(qapp):
    store = Store(computed(FREE))
    store.dispatch(forcing.force_token, 1, 9)
    store.dispatch(actions.show_run, compute(entry(), store.state.inputs, number=3))
    store.dispatch(forcing.force_token, 2, 8)
    store.dispatch(actions.show_run, compute(entry(), store.state.inputs, number=4))
    for text in ("t", "t4", "t4 t5"):
        store.dispatch(forcing.type_target, text)
    store.dispatch(forcing.free)
    first = store.state.run.chosen[0]
    steps = [((), None), ((), "t4 t5"), ((first, 9, 8), None), ((first, 9), None), ((), None)]

    def now():
        return store.state.inputs.prefix, store.state.inputs.target

    for wanted in steps[1:]:
        store.undo()
        assert now() == wanted
    assert not store.can_undo
    for wanted in steps[-2::-1]:
        store.redo()
        assert now() == wanted


def test_the_forced_token_is_among_the_candidates_however_unlikely():
    state = computed(FREE)
    row = 2
    least = int(np.argmin(state.run.distributions[row].probabilities))
    there = rerun(forcing.force_token(state, row, least))
    bars = next_token(there, count=4)
    assert bars.ids[bars.chosen] == least == bars.ids[-1] and len(bars.ids) == 5
    given = there.run.distributions[row].probabilities
    np.testing.assert_allclose(bars.values, given[list(bars.ids)], rtol=1e-6)


def test_what_is_forced_in_a_search_is_searched_behind_again():
    state = computed(Inputs(SENTENCE, "beam", max_new_tokens=8))
    token = other_than(state, 0)
    there = rerun(forcing.force_token(state, 0, token))
    wanted = entry().model.generate(SENTENCE, "beam", max_new_tokens=8, prefix_ids=(token,))
    assert there.run.chosen == tuple(wanted.ids[1:]) and there.run.chosen[0] == token
    assert all(h.ids[1] == token for h in there.run.search.ranking)
