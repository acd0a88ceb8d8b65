"""Beam search against exhaustive search, greedy decoding, whole passes and worked small cases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

import model_core
from model_core.beams import BeamSettings, BeamStep, Hypothesis, Wording, beam_search
from model_core.constraints import Constraints
from model_core.model import Model
from model_core.tape import Tape
from tests.core.models import TRAITS, small_model

TEXT = "s4 s7 s5"
END = 2
SETTINGS = [
    {"length_penalty": penalty, "early_stopping": stopping}
    for penalty in (0.0, 0.6, 1.0, 2.5, -0.7)
    for stopping in (True, False, "never")
]


def whole_pass(model: Model, ids: Sequence[int], text: str = TEXT) -> Tape:
    """The decoder reads all but the last id; what was generated is no padding, whatever its id."""
    return model.trace(
        source_ids=model.tokenizer.encode_source(text).ids,
        target_ids=list(ids[:-1]),
        target_mask=np.ones(len(ids) - 1, dtype=bool),
    )


def rescored(model: Model, ids: Sequence[int], text: str = TEXT) -> np.ndarray:
    """The log-probabilities that one whole pass gives the tokens behind the start token."""
    tape = whole_pass(model, ids, text)
    return np.take_along_axis(tape["log_probs"].value[0], np.array(ids[1:])[:, None], 1)[:, 0]


def every_sequence(tokens: Sequence[int], longest: int) -> Iterator[list[int]]:
    """All that end with the end token, and all of the greatest length."""
    others = [token for token in tokens if token != END]
    for length in range(1, longest + 1):
        for head in product(others, repeat=length - 1):
            yield [1, *head, END]
    for body in product(others, repeat=longest):
        yield [1, *body]


@pytest.fixture(scope="module")
def tiny() -> tuple[Model, list[tuple[list[int], float]]]:
    """A model of six target tokens, and every sequence of up to three with its log-probability."""
    model = small_model("float64", seed=4, tgt_vocab_size=6)
    sequences = list(every_sequence(range(6), 3))
    return model, [(ids, float(rescored(model, ids).sum())) for ids in sequences]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_beam_as_wide_as_all_there_is_finds_what_exhaustive_search_finds(
    tiny: tuple[Model, list[tuple[list[int], float]]], settings: dict[str, Any]
) -> None:
    model, sequences = tiny
    penalty = settings["length_penalty"]
    expected = sorted(((total / (len(ids) - 1) ** penalty, ids) for ids, total in sequences))[::-1]
    found = model.generate(TEXT, "beam", beams=len(sequences), max_new_tokens=3, **settings)
    assert found.ids == expected[0][1]
    assert found.score == pytest.approx(expected[0][0], rel=1e-12)
    assert len(found.hypotheses) == len(sequences)
    scores = [score for score, _ in expected]
    assert [h.score for h in found.hypotheses] == pytest.approx(scores, rel=1e-10)
    by_ids = {tuple(ids): score for score, ids in expected}
    for h in found.hypotheses:
        assert h.score == pytest.approx(by_ids[tuple(h.ids)], rel=1e-10)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_sixteen_beams_cover_two_words_and_an_end(settings: dict[str, Any]) -> None:
    model = small_model("float64", seed=9)
    allowed = (END, 4, 7)
    others = tuple(i for i in range(11) if i not in allowed)
    found = model.generate(
        TEXT,
        "beam",
        beams=16,
        max_new_tokens=3,
        constraints=Constraints(suppress_tokens=others),
        **settings,
    )
    scores = {
        tuple(ids): rescored(model, ids).sum() / (len(ids) - 1) ** settings["length_penalty"]
        for ids in every_sequence(allowed, 3)
    }
    best = max(scores, key=lambda ids: scores[ids])
    assert tuple(found.ids) == best
    assert found.score == pytest.approx(scores[best], rel=1e-12)
    assert {tuple(h.ids) for h in found.hypotheses} == set(scores)


@pytest.mark.parametrize("traits", TRAITS, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_beam_is_greedy_decoding(traits: dict[str, Any], dtype: str) -> None:
    model = small_model(dtype, **traits)
    for text in ("s4 s5 s6", "", "s9 s8 s7 s6 s5"):
        greedy = model.generate(text, max_new_tokens=12)
        for settings in SETTINGS:
            if settings["early_stopping"] != "never":
                beam = model.generate(text, "beam", beams=1, max_new_tokens=12, **settings)
                assert beam.ids == greedy.ids
                assert beam.log_probs == pytest.approx(greedy.log_probs, rel=1e-5, abs=1e-7)
                assert beam.finished == greedy.finished


@pytest.mark.parametrize("traits", TRAITS, ids=str)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-10)])
def test_cached_scores_are_those_of_whole_passes(
    traits: dict[str, Any], dtype: str, tolerance: float
) -> None:
    # longer than the stretch after which the rows of pruned hypotheses are given up
    model = small_model(dtype, seed=3, **traits)
    for size in (0, 2):
        rules = Constraints(no_repeat_ngram_size=size, min_new_tokens=18)
        found = model.generate(TEXT, "beam", beams=5, max_new_tokens=22, constraints=rules)
        assert len(found.steps) > 17
        pruned = [h for step in found.steps[::5] for h in step.hypotheses if not h.kept]
        for h in (*found.hypotheses, *pruned):
            expected = rescored(model, h.ids)
            scale = max(1.0, float(np.abs(expected).sum()))
            assert np.abs(np.array(h.log_probs) - expected).max() <= tolerance * scale
            assert abs(h.cumulative - float(expected.sum())) <= tolerance * scale
            assert h.score == pytest.approx(h.cumulative / h.length)
            assert h.length == len(h.ids) - 1 == len(h.log_probs)


@pytest.mark.parametrize("traits", TRAITS, ids=str)
def test_the_tape_of_a_hypothesis_is_that_of_a_whole_pass(traits: dict[str, Any]) -> None:
    model = small_model("float64", **traits)
    # the third time the rows of the first step come out of recycled memory
    for prefix in ((), (5, 6), ()):
        found = model.generate(TEXT, "beam", beams=4, max_new_tokens=20, prefix_ids=prefix)
        assert found.tape.chosen_ids is not None
        assert found.tape.chosen_ids.tolist() == [found.ids[1:]]
        for h in found.hypotheses:
            grown = found.tape_of(h)
            whole = whole_pass(model, h.ids)
            assert grown.target_ids.tolist() == [h.ids[:-1]]
            assert grown.sites == whole.sites
            for record in whole:
                value = grown[record.site].value
                assert value.shape == record.value.shape, record.site
                finite = np.isfinite(record.value)
                assert np.array_equal(np.isfinite(value), finite)
                assert np.abs(value[finite] * 1.0 - record.value[finite]).max() < 1e-10


def test_of_a_list_each_sentence_is_searched_as_if_alone() -> None:
    model = small_model("float64")
    texts = ["s4", "s5 s6 s7 s8 s9", "", "s10 s4 s4"]
    together = model.generate(texts, "beam", beams=3, max_new_tokens=8)
    for text, found in zip(texts, together, strict=True):
        alone = model.generate(text, "beam", beams=3, max_new_tokens=8)
        assert found.ids == alone.ids
        assert [h.ids for h in found.hypotheses] == [h.ids for h in alone.hypotheses]
        assert found.score == pytest.approx(alone.score, rel=1e-12)


def test_the_bundled_model_says_the_same_with_and_without_beams() -> None:
    model = model_core.open_checkpoint("en-zh")
    for text in ("the cat sleeps", "I love the dog"):
        beam = model.generate(text, "beam", beams=4, n_best=2)
        assert beam.text == model.generate(text).text
        assert beam.finished
        assert len(beam.hypotheses) == 2
        assert beam.hypotheses[0].text == beam.text
        assert beam.hypotheses[0].tokens == beam.tokens


def test_decoding_yields_the_tree_as_it_grows() -> None:
    model = small_model("float64", seed=3)
    steps = list(model.decode(TEXT, "beam", beams=3, max_new_tokens=6))
    found = model.generate(TEXT, "beam", beams=3, max_new_tokens=6)
    numbers = {0}
    running = 1
    for step in steps:
        assert len(step.hypotheses) == min(6, 11 * running)
        assert step.id == step.hypotheses[0].id
        assert step.token == step.hypotheses[0].token
        sums = [h.cumulative for h in step.hypotheses]
        assert sums == sorted(sums, reverse=True)
        for h in step.hypotheses:
            assert h.parent in numbers
            assert h.previous is not None
            assert h.cumulative == pytest.approx(h.previous.cumulative + h.log_prob)
            assert h.finished == (h.id == END)
            if h.row is not None:
                assert h.kept
                assert step.beam is not None
                assert step.beam.running[h.row] is h
        assert step.beam is not None
        running = len(step.beam.running)
        numbers |= {h.number for h in step.hypotheses}
        assert step.distribution.probabilities.argmax() == step.logits.argmax()
    assert steps[-1].beam is not None
    assert [h.ids for h in steps[-1].beam.ranking] == [h.ids for h in found.hypotheses]


# A search over a written table: what follows each sequence, 2 being the end.
def searched(table: dict[tuple[int, ...], list[float]], **settings: Any) -> list[BeamStep]:
    limit = settings.pop("limit", 4)
    rows: list[list[int]] = []

    def advance(parents: Sequence[int] | None, ids: np.ndarray) -> np.ndarray:
        nonlocal rows
        before = [[]] if parents is None else [rows[i] for i in parents]
        rows = [old + new for old, new in zip(before, ids.tolist(), strict=True)]
        with np.errstate(divide="ignore"):
            return np.log([table[tuple(row[1:])] for row in rows])

    return list(beam_search(advance, BeamSettings(**settings), Wording((9,)), END, limit))


def shape_of(steps: Sequence[BeamStep]) -> list[list[int]]:
    return [h.ids[1:] for h in steps[-1].ranking]


EARLY_END = {(): [0.3, 0.2, 0.5], (0,): [0.05, 0.05, 0.9], (1,): [0.0, 0.0, 1.0]}
EARLY_END |= {(0, i): [0.1, 0.1, 0.8] for i in (0, 1)}


def test_early_stopping_decides_how_long_a_better_hypothesis_is_waited_for() -> None:
    # the end at once: ln 0.5 = -0.69; "0 end": ln 0.27 / 2 = -0.65 is better by its mean
    at_once = searched(EARLY_END, beams=1, early_stopping=True)
    assert (shape_of(at_once), at_once[-1].stopped) == ([[2]], "full")
    # ln 0.3 / 1 does not beat it
    heuristic = searched(EARLY_END, beams=1, early_stopping=False)
    assert (shape_of(heuristic), heuristic[-1].stopped) == ([[2]], "no_better")
    # ln 0.3 / 4 might
    patient = searched(EARLY_END, beams=1, early_stopping="never")
    assert shape_of(patient) == [[0, 2]]
    assert patient[-1].ranking[0].score == pytest.approx(math.log(0.27) / 2)
    # without a penalty a sum never grows again
    plain = searched(EARLY_END, beams=1, early_stopping="never", length_penalty=0.0)
    assert (shape_of(plain), plain[-1].stopped) == ([[2]], "no_better")


def test_the_length_counts_generated_tokens_with_the_end_and_without_start_and_prefix() -> None:
    steps = searched(EARLY_END, beams=2, length_penalty=3.0, early_stopping=True)
    end, first = steps[0].hypotheses[0], steps[0].hypotheses[1]
    assert (end.id, end.length, first.length) == (2, 1, 1)
    assert end.score == pytest.approx(math.log(0.5))
    both = steps[1].hypotheses[0]
    assert (both.ids[1:], both.score) == ([0, 2], pytest.approx(math.log(0.27) / 2**3))
    model = small_model("float64")
    found = model.generate(TEXT, "beam", prefix_ids=(5, 6, 7), max_new_tokens=4)
    assert found.score == pytest.approx(sum(found.log_probs) / 4)
    assert len(found.log_probs) == 4
    assert found.ids[:4] == [1, 5, 6, 7]


def test_an_end_outside_the_first_beams_is_pruned() -> None:
    table = {(): [0.5, 0.3, 0.2], (0,): [0.5, 0.5, 0.0], (1,): [0.5, 0.5, 0.0]}
    steps = searched(table, beams=2, limit=2)
    end = next(h for h in steps[0].hypotheses if h.finished)
    assert not end.kept
    assert steps[0].ranking == ()
    assert [h.ids[1:] for h in steps[0].running] == [[0], [1]]


def test_of_equal_sums_the_lower_id_comes_first_then_the_parent_in_front() -> None:
    table = {(): [0.4, 0.4, 0.2], (0,): [0.5, 0.5, 0.0], (1,): [0.5, 0.5, 0.0]}
    steps = searched(table, beams=2, limit=2)
    assert [h.ids[1:] for h in steps[0].hypotheses] == [[0], [1], [2]]
    # what cannot follow is not looked at, not even to fill the places
    assert [h.ids[1:] for h in steps[1].hypotheses] == [[0, 0], [1, 0], [0, 1], [1, 1]]
    assert steps[-1].stopped == "limit"
    assert shape_of(steps) == [[0, 0], [1, 0]]
    assert [h.finished for h in steps[-1].ranking] == [False, False]


def test_a_search_that_cannot_go_on_ends_with_what_it_has() -> None:
    steps = searched({(): [0.0, 0.0, 1.0]}, beams=3)
    assert (shape_of(steps), steps[-1].stopped) == ([[2]], "no_continuation")


def test_a_worse_finish_does_not_displace_a_better_one() -> None:
    table = {(): [0.1, 0.0, 0.9], (0,): [0.5, 0.0, 0.5], (0, 0): [0.98, 0.0, 0.02]}
    table |= {(0, 0, 0): [0.5, 0.0, 0.5]}
    steps = searched(table, beams=2, early_stopping="never")
    late = next(h for h in steps[2].hypotheses if h.finished)
    # ln 0.001 / 3 against ln 0.05 / 2
    assert not late.kept
    assert [h.ids[1:] for h in steps[2].ranking] == [[2], [0, 2]]
    # ln 0.0245 / 4 is better than that, and of the two alike the lower id was looked at first
    assert shape_of(steps) == [[2], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    "settings",
    [
        {"beams": 0},
        {"beams": 2.0},
        {"beams": True},
        {"beams": 100_000},
        {"length_penalty": math.nan},
        {"length_penalty": math.inf},
        {"length_penalty": "1"},
        {"early_stopping": "always"},
        {"early_stopping": 1},
        {"early_stopping": None},
        {"n_best": 5},
        {"n_best": 0},
    ],
    ids=str,
)
def test_nonsense_is_refused_with_a_sentence(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        small_model().generate(TEXT, "beam", **settings)


def test_nan_is_refused_where_it_appears() -> None:
    with pytest.raises(ValueError, match="nan"):
        searched({(): [0.5, math.nan, 0.5]}, beams=2)


def test_a_stranger_among_the_hypotheses_has_no_grown_tape() -> None:
    found = small_model().generate(TEXT, "beam", beams=2, max_new_tokens=3)
    stranger: Hypothesis = next(h for h in found.steps[0].hypotheses if not h.kept)
    with pytest.raises(ValueError, match="not one of"):
        found.tape_of(stranger)
