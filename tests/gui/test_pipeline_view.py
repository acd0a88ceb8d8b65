"""The decoding bench: every number on it is the stage's, and what is drawn follows them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from model_core.chi_square import chi_square
from model_core.constraints import Constraints
from model_core.sampling import distribution, draw_counts, uniform_at
from model_core.stages import AFTER_TOP_K, AFTER_TOP_P, RENORMALISED
from tests.gui.views import entry, view
from visualizer import actions, bench_actions, i18n, navigation
from visualizer.bench import BY_ID
from visualizer.lenses import board as boards
from visualizer.lenses import pipeline, pipeline_words, prediction
from visualizer.lenses.likelihood import SMALLEST, amount, expected, probability
from visualizer.run import compute
from visualizer.state import Inputs, ModelEntry, Run, ViewState

DATA = Path(__file__).parent.parent / "data" / "sampling"
REFERENCE = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))
with np.load(DATA / "sampling.npz", allow_pickle=False) as archive:
    ARRAYS = {name: archive[name] for name in archive.files}


class OneRow:
    """A tape of a single decoder row with these logits."""

    target_ids = np.array([[1]])
    target_tokens = ("<SOS>",)

    def __init__(self, logits) -> None:
        self.logits = logits

    def __contains__(self, site: str) -> bool:
        return site == "logits"

    def value_of(self, site: str):
        return self.logits[None, None]


def one_row(logits, **inputs) -> ViewState:
    """A state whose row has given logits, over a vocabulary of as many tokens."""
    tokens = [f"t{i}" for i in range(len(logits))]
    tokenizer = SimpleNamespace(target_vocabulary=tokens, end_id=2)
    model = SimpleNamespace(tokenizer=tokenizer, config=SimpleNamespace(input="text"))
    given = Inputs(source="s", strategy="sample")
    run = Run(1, given, "ok", tape=OneRow(np.asarray(logits)), chosen=(0,))
    state = ViewState(model=ModelEntry(model, "one row"), run=run)
    return replace(state, inputs=replace(given, **inputs))


@cache
def constrained_entry() -> ModelEntry:
    small = entry(tgt_vocab_size=12)
    small.model.card["generation"] = {
        "repetition_penalty": 1.5,
        "suppress_tokens": [5, 6],
        "min_length": 4,
        "no_repeat_ngram_size": 9,
    }
    return small


def sampled(source: str = "s4 s5 s6", of: ModelEntry | None = None, **inputs) -> ViewState:
    """A small model's own run with a drawn output."""
    opened = entry() if of is None else of
    settings = {"temperature": 1.3, "top_k": 6, "top_p": 0.9, "seed": 3, **inputs}
    given = Inputs(source=source, strategy="sample", **settings)
    state = replace(actions.open_model(ViewState(), opened), inputs=given)
    return actions.show_run(state, compute(opened, given, number=1))


# The numbers.


@pytest.mark.parametrize("case", REFERENCE["cases"], ids=lambda case: case["case"])
def test_the_columns_agree_with_the_reference(case):
    settings = {name: case[name] for name in ("temperature", "top_k", "top_p")}
    state = one_row(ARRAYS[case["logits"]], **settings)
    shown = boards.board(state).column(RENORMALISED)
    found, wanted = shown.values, ARRAYS[f"probs_{case['case']}"]
    assert np.count_nonzero(found) == case["kept"]
    if case["tie_break_dependent"]:
        found, wanted = np.sort(found), np.sort(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    # the panel beside other pages draws from the very same numbers
    bars = prediction.next_token(state, count=len(found))
    np.testing.assert_array_equal(bars.values, shown.values[list(bars.ids)])
    np.testing.assert_array_equal(bars.kept, shown.values[list(bars.ids)] > 0)
    assert not shown.out[shown.values > 0].any()


NONSENSE = {
    "all -inf": [-np.inf, -np.inf],
    "contains NaN": [0.0, np.nan, 1.0],
    "contains +inf": [0.0, np.inf, 1.0],
}


@pytest.mark.parametrize("refused", REFERENCE["invalid_arguments"], ids=str)
def test_nonsense_is_refused_by_what_the_columns_come_from(refused):
    call = dict(refused["call"])
    logits = NONSENSE[call.pop("logits")] if "logits" in call else [0.5, 1.5]
    settings = {"temperature": 1.0, "top_k": None, "top_p": None, **call}
    with pytest.raises(ValueError, match="expected"):
        pipeline.pipeline(one_row(logits)).staged(**settings)


@pytest.mark.parametrize("decimals", [2, 5])
@pytest.mark.parametrize("row", [0, 2])
def test_every_number_on_the_page_is_the_stages(row, decimals):
    state = actions.set_decimals(navigation.go_to_token(sampled(), row), decimals)
    found, shown = pipeline.staged(state), boards.board(state)
    logits = state.run.tape["logits"].value[0, row].astype(np.float64)
    wanted = distribution(logits, 1.3, 6, 0.9)
    np.testing.assert_array_equal(found.distribution.probabilities, wanted.probabilities)
    behind_top_k = found[AFTER_TOP_K].probabilities
    expected_values = {
        "logits": (wanted.logits, wanted.logits > -np.inf),
        "tempered": (wanted.tempered, wanted.tempered > -np.inf),
        AFTER_TOP_K: (behind_top_k, wanted.after_top_k > -np.inf),
        AFTER_TOP_P: (behind_top_k, wanted.after_top_p > -np.inf),
        RENORMALISED: (wanted.probabilities, wanted.kept),
    }
    assert [column.name for column in shown.columns] == list(expected_values)
    for name, (values, kept) in expected_values.items():
        column = shown.column(name)
        np.testing.assert_array_equal(~column.out, kept)
        for token in range(shown.size):
            text, exact = column.text(token), column.exact(token)
            if not kept[token]:
                assert text == exact == "out"
                continue
            assert float(exact) == values[token]
            assert read(text) == pytest.approx(values[token], rel=5e-3, abs=0.6 * 10**-decimals)
            if column.kind == "shares":
                assert read(text) == pytest.approx(values[token], rel=5e-3)


def read(text: str) -> float:
    """The number that a text stands for."""
    whole, _, missing = text.partition(" - ")
    return float(whole) - (float(missing) if missing else 0.0)


def test_the_figures_of_a_head_are_those_of_its_stage():
    state = sampled()
    found, shown = pipeline.staged(state), boards.board(state)
    mass = 1.0
    for stage, column in zip(found.stages, shown.columns, strict=True):
        kept = np.count_nonzero(stage.values > -np.inf) if stage.name != RENORMALISED else None
        assert f"{stage.kept_count} of 11" in column.lines[0][0]
        assert kept is None or kept == stage.kept_count
        assert probability(min(stage.kept_mass, 1.0)) in column.lines[0][0]
        bits = -sum(p * np.log2(p) for p in stage.probabilities if p > 0)
        assert column.lines[1][0].startswith(f"{amount(stage.entropy)} bits")
        assert stage.entropy == pytest.approx(bits, rel=1e-12)
        assert amount(2.0**stage.entropy) in column.lines[1][0]
        assert repr(stage.entropy) in column.tip and repr(stage.total_mass) in column.tip
        mass *= stage.kept_mass
    assert mass == pytest.approx(found.stages[-1].total_mass)


def test_what_is_kept_but_beneath_all_numbers_says_so():
    shown = boards.board(one_row([0.0, -800.0])).column(RENORMALISED)
    assert (shown.text(0), shown.text(1)) == ("1", SMALLEST)


# Rows.


def test_rows_are_sorted_by_what_can_be_drawn_or_by_a_stage_or_by_id():
    state = sampled(of=constrained_entry())
    found, shown = pipeline.staged(state), boards.board(state)
    constrained, raw = found.distribution.logits, found["logits"].values
    for sort, values in ((RENORMALISED, constrained), ("logits", raw), ("tempered", constrained)):
        order = boards.board(bench_actions.sort_by(state, sort)).order
        wanted = sorted(range(12), key=lambda i: (-values[i], i))
        assert order.tolist() == wanted
    by_id = boards.board(bench_actions.sort_or_not(state, False))
    assert [by_id.token_at(row) for row in range(12)] == list(range(12))
    assert by_id.row_of(7) == 7 and shown.token_at(shown.row_of(7)) == 7
    assert boards.board(bench_actions.sort_or_not(state, True)).sort == RENORMALISED


def test_each_active_constraint_is_a_column_and_idle_ones_may_be_left_out():
    state = navigation.go_to_token(sampled(of=constrained_entry()), 0)
    found, shown = pipeline.staged(state), boards.board(state)
    names = [column.name for column in shown.columns]
    assert names[:5] == [
        "logits",
        "repetition_penalty",
        "no_repeat_ngram_size",
        "min_length",
        "suppress_tokens",
    ]
    assert [c.name for c in shown.columns if c.folds] == ["no_repeat_ngram_size"]
    assert "÷ 1.5" in shown.column("repetition_penalty").title
    suppressed = shown.column("suppress_tokens")
    assert suppressed.text(5) == suppressed.text(6) == "out"
    assert shown.column("min_length").text(2) == "out"
    rules = Constraints.from_settings(state.model.model.card["generation"])
    assert rules == state.model.model.constraints
    assert found.distribution.probabilities.tolist() == (
        state.run.distributions[navigation.current_token(state)].probabilities.tolist()
    )
    free = replace(state, inputs=replace(state.inputs, constraints=False))
    assert len(boards.board(free).columns) == 5


def test_bars_are_as_long_as_the_numbers_say():
    state = sampled(top_p=None, top_k=None, temperature=0.7)
    linear, logarithmic = (boards.board(bench_actions.set_log(state, log)) for log in (False, True))
    column = linear.column(RENORMALISED)
    values = column.values
    most = int(values.argmax())
    for token, value in enumerate(values):
        assert column.share(token, False) == (0.0, pytest.approx(value / values[most]))
    column = logarithmic.column(RENORMALISED)
    lengths = np.array([column.share(token, True)[1] for token in range(len(values))])
    # equal ratios are equal lengths
    a, b, c = np.argsort(values)[[-1, -4, -7]]
    ratio = np.log(values[a] / values[b]) / np.log(values[b] / values[c])
    assert (lengths[a] - lengths[b]) / (lengths[b] - lengths[c]) == pytest.approx(ratio)
    assert lengths[most] == 1.0 and lengths.min() > 0.0
    logits = linear.column("logits")
    for token, value in enumerate(logits.values):
        zero, end = logits.share(token, False)
        assert (end - zero) * (logits.high - logits.low) == pytest.approx(value)


# What is taken.


def test_the_draw_of_each_row_is_the_runs_own():
    state = sampled(top_p=None)
    for row in range(state.run.rows):
        there = navigation.go_to_token(state, row)
        taken = pipeline.chosen(there)
        assert (taken.way, taken.number, taken.of_run) == ("draw", row + 1, True)
        assert taken.id == state.run.chosen[row]
        assert taken.draw.uniform == uniform_at(3, row)
        assert taken.draw.below <= taken.draw.uniform < taken.draw.upto


def test_drawing_again_takes_the_next_uniforms_of_the_stream_and_is_forgotten_elsewhere():
    state = navigation.go_to_token(sampled(), 1)
    for more in (1, 2, 3):
        state = bench_actions.draw_again(state)
        taken = pipeline.chosen(state)
        assert (taken.number, taken.of_run) == (2 + more, False)
        assert taken.draw.uniform == uniform_at(3, 1 + more)
        assert pipeline_words.grouped(taken.number) in pipeline_words.draw_words(state).lines[0]
    # the panel shows the run's own
    assert prediction.taken_token(state) == state.run.chosen[1]
    assert pipeline.chosen(bench_actions.draw_as_run(state)).of_run
    assert pipeline.chosen(navigation.go_to_token(state, 2)).of_run
    assert pipeline.chosen(actions.set_seed(state, 4)).of_run
    # another temperature keeps the uniform: one sees where it falls now
    other = pipeline.chosen(actions.set_temperature(state, 0.4))
    assert other.draw.uniform == taken.draw.uniform


def test_many_draws_have_a_histogram_against_the_exact_distribution():
    state = navigation.go_to_token(sampled(top_k=None, top_p=None), 1)
    assert pipeline.histogram(state) is None and boards.board(state).column("draws") is None
    state = bench_actions.draw_many(bench_actions.draw_many(state))
    found, drawn = pipeline.staged(state), pipeline.histogram(state)
    assert (drawn.times, drawn.first, drawn.last) == (400, 3, 402)
    wanted = draw_counts(found.distribution, 3, 400, 2)
    np.testing.assert_array_equal(drawn.counts, wanted)
    assert drawn.fit == chi_square(wanted, found.distribution.probabilities)
    column = boards.board(state).column("draws")
    for token, (count, p) in enumerate(zip(wanted, found.distribution.probabilities, strict=True)):
        assert column.text(token) == f"{count} / {expected(400 * p)}"
    assert "PCG64" in column.tip and repr(drawn.fit.p_value) in column.tip
    assert boards.board(bench_actions.forget_draws(state)).column("draws") is None


@pytest.mark.parametrize("seed", [0, 3, 42])
def test_ten_thousand_draws_follow_the_displayed_probabilities(seed):
    state = sampled(temperature=1.4, top_k=8, top_p=0.97, seed=seed)
    for _ in range(50):
        state = bench_actions.draw_many(state)
    shown = boards.board(state)
    counts, displayed = shown.column("draws").values, shown.column(RENORMALISED).values
    assert counts.sum() == 10_000
    assert not counts[displayed == 0].any()
    assert chi_square(counts, displayed).p_value > 0.001
    # one by one they are the same draws
    single = np.zeros(len(counts))
    for _ in range(300):
        state = bench_actions.draw_again(state)
        single[pipeline.chosen(state).id] += 1
    found = pipeline.staged(state)
    number = pipeline.run_number(state)
    np.testing.assert_array_equal(single, draw_counts(found.distribution, seed, 300, number))


def test_a_uniform_beside_a_boundary_is_flagged():
    uniform = uniform_at(5, 0)
    for distance, flagged in ((5e-7, True), (-5e-7, True), (3e-6, False)):
        p = uniform + distance
        words = pipeline_words.draw_words(one_row(np.log([p, 1.0 - p]), seed=5))
        assert bool(words.warning) == flagged
        if flagged:
            # every digit that tells on which side r lies
            assert repr(p)[:12] in words.sentence


def test_greedy_marks_the_largest_and_tells_of_ties():
    state = one_row([1.0, 3.0, 0.0, 3.0], strategy="greedy", temperature=0.5, top_k=1)
    taken, words = pipeline.chosen(state), pipeline_words.draw_words(state)
    assert (taken.way, taken.id, taken.ties, taken.draw) == ("argmax", 1, (3,), None)
    assert words.lines[0] == "argmax, nothing is drawn" and "t3" in words.lines[1]
    assert "lowest id" in words.warning
    assert boards.board(state).chosen == 1
    # what only counts for drawing is off
    assert [c.off for c in boards.board(state).columns] == [False, True, True, True, False]
    assert pipeline.histogram(bench_actions.draw_many(state)) is None
    cold = one_row([1.0, 3.0], temperature=0.05)
    assert pipeline.chosen(cold).way == "argmax"


def test_a_typed_target_is_forced_and_nothing_is_drawn():
    state = view()
    for row, token in enumerate((4, 6, 5, 2)):
        there = navigation.go_to_token(state, row)
        taken = pipeline.chosen(there)
        assert (taken.way, taken.id, taken.draw) == ("forced", token, None)
        # what the row would have said is still the panel's
        assert prediction.taken_token(there) == state.run.chosen[row]
    sampling = actions.set_temperature(state, 1.2)
    assert pipeline.chosen(sampling).way == "forced"
    more = pipeline.chosen(bench_actions.draw_again(sampling))
    assert (more.way, more.number) == ("draw", 1)


def test_a_beam_search_starts_from_log_probabilities():
    state = view(target=None)
    inputs = replace(state.inputs, strategy="beam")
    state = actions.show_run(replace(state, inputs=inputs), compute(entry(), inputs, number=2))
    shown, words = boards.board(state), pipeline_words.draw_words(state)
    row = navigation.current_token(state)
    values, float32 = shown.columns[0].values, state.run.tape["log_probs"].value[0, row]
    np.testing.assert_allclose(values, float32, rtol=1e-6)
    # they are what the search has added up; its rows were computed beside others
    [kept] = [h for h in state.run.search.best.path if h.length == row + 1]
    assert float(values[kept.id]) == pytest.approx(kept.log_prob, rel=1e-6)
    assert shown.columns[0].title == "log-probabilities"
    assert pipeline.chosen(state).way == "beam" and "no draw" in words.lines[0]


@pytest.mark.parametrize("language", i18n.LANGUAGES)
@pytest.mark.parametrize("strategy", ["greedy", "sample", "beam"])
def test_everything_is_said_in_both_languages(language, strategy):
    i18n.set_language(language)
    try:
        state = bench_actions.draw_many(sampled(of=constrained_entry()))
        state = replace(state, inputs=replace(state.inputs, strategy=strategy))
        words, caption = pipeline_words.draw_words(state), pipeline_words.decoding_caption(state)
        said = [words.title, *words.lines, words.sentence, caption.shape, caption.sentence]
        for column in boards.board(state).columns:
            said += [*column.titles, *column.lines[0], *column.lines[1], *column.tip.split("\n")]
        assert not [text for text in said if "decoding." in text or "{" in text]
        assert "12" in caption.shape
    finally:
        i18n.set_language("en")


def test_without_a_decoder_or_a_run_there_is_no_board():
    assert boards.board(ViewState()) is None
    assert pipeline_words.draw_words(ViewState()) is None
    empty = actions.show_run(view(), compute(entry(), Inputs(source="")))
    assert boards.board(empty) is None and pipeline_words.decoding_caption(empty) is None


def test_the_stages_are_sorted_once_for_all_settings():
    state = sampled()
    source = pipeline.pipeline(state)
    hotter = actions.set_top_p(actions.set_temperature(state, 1.9), 0.5)
    assert pipeline.pipeline(hotter) is source
    assert pipeline.staged(hotter).distribution.logits is pipeline.staged(state).distribution.logits
    assert pipeline.pipeline(navigation.go_to_token(state, 0)) is not source
    assert bench_actions.sort_by(state, BY_ID).bench.sort == BY_ID
