"""The state of the view and the intents that do not walk."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from tests.gui.views import CROSS, SENTENCE, entry, view
from visualizer import actions, navigation
from visualizer.run import Cancelled, compute
from visualizer.state import (
    Cursor,
    Inputs,
    ModelEntry,
    ViewState,
    changed_fields,
    current_token,
    guided_head,
    shown_site,
)


def test_state_cannot_be_changed_in_place():
    with pytest.raises(FrozenInstanceError):
        ViewState().head = 1


def test_an_action_leaves_the_old_state_alone():
    old = view()
    new = actions.select_head(old, 2)
    assert (old.head, new.head) == (1, 2)
    assert changed_fields(old, new) == {"head"}


def test_the_state_and_the_lenses_import_without_qt():
    modules = "state actions walkthrough navigation run i18n lenses.stage lenses.caption"
    more = "lenses.overview lenses.prediction lenses.explanation"
    names = [f"visualizer.{name}" for name in f"{modules} {more}".split()]
    code = f"import sys, {', '.join(names)}; assert 'PySide6' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# A fresh start.


def test_a_fresh_view_looks_at_the_guided_head_at_the_last_content_token():
    state = view()
    assert shown_site(state) == CROSS
    assert state.head == 1
    assert state.inputs.source == SENTENCE
    assert current_token(state) == state.run.last_content


def test_without_a_guided_head_the_view_starts_at_the_first_cross_attention():
    bare = ModelEntry(entry().model, "bare")
    model = type("Bare", (), {"card": {}, "config": entry().model.config})()
    state = actions.open_model(ViewState(), replace(bare, model=model))
    assert (state.cursor, state.head) == (Cursor(), 0)


@pytest.mark.parametrize(
    "card",
    [
        {},
        {"guided_head": None},
        {"guided_head": "head 1"},
        {"guided_head": {"site": 3, "head": 0}},
        {"guided_head": {"site": CROSS, "head": "first"}},
        {"guided_head": {"site": CROSS, "head": 99}, "examples": "no list"},
        {"guided_head": {"site": CROSS, "head": -1}, "examples": [3, None]},
    ],
)
def test_a_strangers_card_cannot_break_a_fresh_start(card):
    model = type("Stranger", (), {"card": card, "config": entry().model.config})()
    state = actions.open_model(ViewState(), ModelEntry(model, "stranger"))
    assert state.head == 0


def test_opening_a_model_from_a_file_puts_it_first_among_the_recent_ones(tmp_path):
    state = replace(ViewState(), recent=tuple(f"/models/{i}" for i in range(8)))
    state = actions.open_model(state, replace(entry(), path=tmp_path / "m.safetensors"))
    assert state.recent[0] == str(tmp_path / "m.safetensors")
    assert len(state.recent) == 8
    state = actions.add_recent(state, "/models/3")
    assert state.recent[:2] == ("/models/3", str(tmp_path / "m.safetensors"))
    assert "/models/3" not in actions.forget_recent(state, "/models/3").recent


# Typing.


def test_typing_keeps_the_place():
    state = navigation.go_to_site(view(), "encoder.layers.1.ffn.hidden")
    state = actions.edit_source(state, "s4 s5")
    state = actions.show_run(state, compute(entry(), state.inputs))
    assert shown_site(state) == "encoder.layers.1.ffn.hidden"


def test_a_token_that_a_shorter_run_lacks_is_shown_again_when_the_run_grows():
    state = navigation.go_to_token(view(), 1)
    short = compute(entry(), Inputs(source="s4", target=""))
    assert short.rows == 1
    there = actions.show_run(state, short)
    assert current_token(there) == 0
    back = actions.show_run(there, state.run)
    assert current_token(back) == 1


def test_a_cursor_at_the_end_of_the_output_follows_the_new_end():
    state = navigation.go_to_token(view(), view().run.last_content)
    state = actions.edit_source(state, "s4 s5 s6")
    grown = compute(entry(), Inputs(source="s4 s5 s6", target="t4 t5 t6 t7 t8 t9"))
    state = actions.show_run(state, grown)
    assert current_token(state) == grown.last_content > 3


def test_a_cursor_before_the_end_stays_at_its_token():
    state = actions.edit_source(navigation.go_to_token(view(), 1), "s4 s5 s6")
    grown = compute(entry(), Inputs(source="s4 s5 s6", target="t4 t5 t6 t7 t8 t9"))
    assert current_token(actions.show_run(state, grown)) == 1


def test_editing_the_source_lets_the_model_decode_again():
    assert actions.edit_source(view(), "s4").inputs.target is None


def test_the_same_text_again_is_no_edit():
    state = view()
    assert actions.edit_source(state, state.inputs.source) is state


def test_a_new_run_lets_go_of_the_selected_cell():
    state = actions.hover_cell(actions.select_cell(view(), (1, 2)), (0, 0))
    state = actions.show_run(state, state.run)
    assert (state.selected, state.hovered) == (None, None)


# Sampling controls.


def test_moving_a_sampling_control_switches_sampling_on():
    state = view()
    assert state.inputs.strategy == "greedy"
    for action, value in [
        (actions.set_temperature, 0.7),
        (actions.set_top_k, 5),
        (actions.set_top_p, 0.9),
        (actions.set_seed, 42),
    ]:
        assert action(state, value).inputs.strategy == "sample"


def test_sampling_controls_stay_in_their_range():
    state = view()
    assert actions.set_temperature(state, -1.0).inputs.temperature == 0.0
    assert actions.set_top_k(state, 0).inputs.top_k == 1
    assert actions.set_top_p(state, 1.0).inputs.top_p is None
    assert actions.set_top_p(state, 0.0).inputs.top_p > 0
    assert actions.set_seed(state, -5).inputs.seed == 0


# Small intents.


def test_a_head_that_the_model_lacks_changes_nothing():
    state = view()
    assert actions.select_head(state, 3) is state
    assert actions.select_head(state, -1) is state
    assert actions.select_head(state, 0).head == 0


def test_nothing_plays_where_nothing_was_computed():
    assert not actions.toggle_playing(ViewState()).playing
    playing = actions.toggle_playing(view())
    assert playing.playing
    emptied = actions.show_run(playing, compute(entry(), Inputs()))
    assert not emptied.playing


def test_the_speed_is_one_of_those_on_offer():
    assert actions.set_speed(view(), 3.4).speed == 4.0


def test_a_notice_keeps_its_key_and_values_for_another_language():
    state = actions.show_notice(view(), "error.open", "error", file="m.bin", reason="it is empty")
    assert state.notice.key == "error.open"
    assert dict(state.notice.values) == {"file": "m.bin", "reason": "it is empty"}
    assert actions.dismiss_notice(state).notice is None


def test_a_new_sentence_asks_for_the_next_one_of_the_generator():
    state = actions.new_sentence(view(), "s5 s6")
    assert (state.inputs.source, state.sentence_number) == ("s5 s6", 1)


def test_guided_head_of_no_model_is_none():
    assert guided_head(None) is None


# Runs.


def test_empty_and_blank_input_compute_nothing():
    for text in ("", "   ", "\t\n"):
        run = compute(entry(), Inputs(source=text))
        assert (run.outcome, run.tape, run.rows) == ("empty", None, 0)


def test_a_too_long_sentence_says_by_how_much():
    limit = entry().model.config.max_seq_len
    run = compute(entry(), Inputs(source=" ".join(["s4"] * limit)))
    # the end token is one more than the words
    assert (run.outcome, run.length, run.limit) == ("too_long", limit + 1, limit)
    assert compute(entry(), Inputs(source=" ".join(["s4"] * (limit - 1)))).outcome == "ok"


def test_an_output_that_ends_at_once_has_its_own_outcome():
    model = entry(output_bias=True, tgt_vocab_size=9).model
    model.parameters["output.b"][model.tokenizer.end_id] = 1e3
    run = compute(ModelEntry(model, "silent"), Inputs(source="s4 s5"))
    assert run.outcome == "immediate_end"
    assert (run.rows, run.last_content, run.text, run.finished) == (1, 0, "", True)


def test_unknown_words_are_told_by_place():
    unknown = view().run.unknown
    assert [(word.position, word.text) for word in unknown] == [(3, "nonsense")]
    assert view().run.tape.source_tokens[3] == "<UNK>"


def test_greedy_rows_come_from_the_distributions_that_are_shown():
    run = compute(entry(), Inputs(source="s4 s5 s6"))
    assert len(run.distributions) == len(run.chosen) == run.rows
    for row, given in enumerate(run.distributions):
        assert run.chosen[row] == int(given.probabilities.argmax())
        np.testing.assert_array_equal(
            given.logits, run.tape["logits"].value[0, row].astype(np.float64)
        )


def test_the_same_inputs_give_the_same_run():
    inputs = Inputs(source="s4 s5", strategy="sample", temperature=1.5, seed=7)
    assert compute(entry(), inputs).chosen == compute(entry(), inputs).chosen


def test_a_run_that_is_no_longer_wanted_stops_between_two_tokens():
    asked = iter([False, False, True])
    with pytest.raises(Cancelled):
        compute(entry(), Inputs(source="s4 s5 s6"), cancelled=lambda: next(asked))
    assert next(asked, None) is None
