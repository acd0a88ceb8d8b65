"""The words around the pictures: explanations, candidates, the map, the timeline, the chips."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from tests.gui.views import CROSS, TARGET, at, entry, view
from visualizer import actions, navigation
from visualizer.lenses import caption, explanation, overview, prediction, stage
from visualizer.lenses.lab_numbers import number_text
from visualizer.lenses.numbers import brief, exact, short, short_power
from visualizer.run import compute
from visualizer.state import Inputs, ViewState, shown_site
from visualizer.widgets import figures

# Explanations.


def test_hover_tells_row_column_full_precision_and_place():
    state = at(CROSS, head=0)
    matrix = stage.stage(state)
    value = state.run.tape[CROSS].value[0, 0, 1, 4]
    text = explanation.hover_text(state, matrix, (1, 4))
    assert "t4 → s9" in text
    assert f"{CROSS}[0, 0, 1, 4]" in text
    shown = next(word for word in text.split() if word.startswith("0."))
    assert np.float32(shown) == value


def test_hover_over_a_masked_cell_says_masked_and_no_number():
    state = at("decoder.layers.0.self_attn.weights")
    matrix = stage.stage(state)
    text = explanation.hover_text(state, matrix, (0, 3))
    assert "masked" in text
    assert "0.0" not in text
    line = explanation.line(explanation.cell_text(state, matrix, (0, 3)))
    assert "hidden by the mask" in line


# What comes out.


def sampled_view() -> ViewState:
    state = view(target=None, source="s4 s5 s6")
    inputs = replace(state.inputs, strategy="sample", temperature=1.3, top_k=4, seed=3)
    return actions.show_run(replace(state, inputs=inputs), compute(entry(), inputs))


def test_bars_are_the_drawn_distribution_likeliest_first():
    state = navigation.go_to_token(sampled_view(), 1)
    bars = prediction.next_token(state, count=6)
    given = state.run.distributions[1]
    vocabulary = list(entry().model.tokenizer.target_vocabulary)
    ids = [vocabulary.index(label) for label in bars.labels]
    np.testing.assert_array_equal(bars.values, given.probabilities[ids])
    assert list(bars.kept) == [True] * 4 + [False] * 2
    assert list(given.tempered[ids]) == sorted(given.tempered, reverse=True)[:6]
    assert bars.entropy_bits == given.entropy
    assert ids[bars.chosen] == state.run.chosen[1]


def test_output_tokens_carry_the_probability_they_were_chosen_with():
    state = navigation.go_to_token(sampled_view(), 1)
    tokens = prediction.output_tokens(state)
    assert [token.status for token in tokens[:3]] == ["done", "current", "todo"]
    for row, token in enumerate(tokens):
        chosen = state.run.chosen[row]
        assert token.probability == state.run.distributions[row].probabilities[chosen]
        assert token.token == entry().model.tokenizer.target_vocabulary[chosen]


def test_an_unknown_token_in_the_output_is_marked():
    # what a row predicts decides, so a row is made to choose <UNK>
    state = view()
    run = replace(state.run, chosen=(3, *state.run.chosen[1:]))
    tokens = prediction.output_tokens(replace(state, run=run))
    assert tokens[0].unknown
    assert [token.unknown for token in tokens[1:]] == [i == 3 for i in state.run.chosen[1:]]


def test_in_the_encoder_no_token_has_come_out_yet():
    tokens = prediction.output_tokens(navigation.home(view()))
    assert {token.status for token in tokens} == {"todo"}


def test_a_forced_target_shows_what_each_row_would_predict():
    state = navigation.go_to_token(view(target=TARGET), 2)
    row = state.run.tape["logits"].value[0, 2]
    bars = prediction.next_token(state)
    assert bars.labels[0] == entry().model.tokenizer.target_vocabulary[int(row.argmax())]


# Map and timeline.


def test_the_map_marks_what_is_done_where_we_are_and_what_is_left():
    state = at("decoder.layers.1.norm1.mean", token=2)
    model_map = overview.model_map(state)
    states = {
        block.id: block.status
        for column in (model_map.encoder, model_map.decoder, model_map.output)
        for group in column
        for block in group.blocks
    }
    assert states["encoder.1.ffn"] == "done"
    assert states["decoder.1.self_attn"] == "done"
    assert states["decoder.1.norm1"] == "current"
    assert states["decoder.1.cross_attn"] == "todo"
    assert states["output"] == "todo"
    assert list(states.values()).count("current") == 1
    assert model_map.target_note == "target · step 3"


def test_the_maps_boxes_are_those_of_the_walk():
    state = at(CROSS)
    model_map = overview.model_map(state)
    for column in (model_map.encoder, model_map.decoder, model_map.output):
        for group in column:
            for block in group.blocks:
                moved = navigation.go_to_block(state, block.id)
                assert navigation.current_place(moved).block == block.id


def test_the_timeline_names_tokens_as_decoding_reaches_them():
    state = at(CROSS, token=1)
    timeline = overview.timeline(state)
    tokens = [segment for segment in timeline.segments if segment.side == "decoder"]
    predicted = state.run.tape.predicted_tokens
    assert [segment.label for segment in tokens] == [
        f"t=1 {predicted[0]}",
        f"t=2 {predicted[1]}",
        "t=3",
        "t=4",
    ]
    assert [segment.current for segment in tokens] == [False, True, False, False]
    assert timeline.total == len(navigation.current_walk(state))
    assert timeline.text == f"step {timeline.index + 1} / {timeline.total}"


# Chips.


def test_the_chips_of_an_attention_are_its_ops_with_the_heads_views_in_one():
    chips = caption.chips(at(CROSS))
    labels = [chip.label for chip in chips]
    assert labels == "q k v heads scores mask weights context concat out".split()
    assert [chip.label for chip in chips if chip.current] == ["weights"]
    reached = {site for chip in chips for site in chip.sites}
    place = navigation.current_place(at(CROSS))
    assert reached == set(navigation.current_walk(at(CROSS)).route.block(place.block).sites)


def test_clicks_on_the_heads_chip_go_round_its_three_views():
    state = at(CROSS)
    seen = []
    for _ in range(4):
        chip = next(chip for chip in caption.chips(state) if len(chip.sites) > 1)
        state = navigation.go_to_site(state, chip.site)
        seen.append(shown_site(state).rsplit(".", 1)[-1])
    assert seen == ["q_heads", "k_heads", "v_heads", "q_heads"]


# Where we are.


@pytest.mark.parametrize(
    ("site", "way"),
    [
        ("decoder.layers.0.norm1.normalised", "layer 1 › self-attention"),
        ("decoder.layers.1.norm2.out", "layer 2 › cross-attention"),
        ("decoder.layers.0.residual3", "layer 1 › feed forward"),
        ("encoder.layers.0.norm2.mean", "layer 1 › feed forward"),
        (CROSS, "layer 1"),
        ("decoder.mask", ""),
    ],
)
def test_the_way_to_an_add_and_norm_names_the_sublayer_whose_output_is_added(site, way):
    assert caption.caption(at(site)).layer_title == way


def test_a_lone_residual_names_its_sublayer_too():
    words = caption.caption(at("encoder.layers.1.residual1", norm_position="pre"))
    assert words.layer_title == "layer 2 › self-attention"


@pytest.mark.parametrize("site", ["encoder.mask", "decoder.mask", "decoder.padding_mask"])
def test_the_masks_say_which_mask(site):
    assert caption.caption(at(site)).op_title not in ("", "mask")


def test_colours_that_all_heads_share_are_said_to_be_shared():
    shared = "one colour scale for all heads"
    for role in ("scores", "masked_scores", "q_heads", "context"):
        title = stage.stage(at(CROSS.replace("weights", role))).column_title
        assert title.endswith(shared)
    assert shared not in stage.stage(at(CROSS)).column_title


# Nothing to show.


@pytest.mark.parametrize("source", ["", "s4 " * 40])
def test_without_a_tape_every_lens_gives_nothing_and_the_message_says_why(source):
    state = actions.show_run(view(), compute(entry(), Inputs(source=source)))
    assert stage.stage(state) is None
    assert stage.head_pictures(state) == ()
    assert caption.caption(state) is None
    assert caption.chips(state) == ()
    assert overview.timeline(state) is None
    assert prediction.next_token(state) is None
    assert prediction.output_tokens(state) == ()
    assert caption.run_message(state.run)


def test_a_good_run_has_no_message():
    assert caption.run_message(view().run) == ""
    assert caption.run_message(None) == ""


# Numbers.


def test_short_numbers_do_not_mislead():
    assert short(0.74, 2) == "0.74"
    assert short(-math.inf, 2) == "-∞"
    assert short(1e-7, 2) == "1.00e-7"
    assert short(1234567.0, 1) == "1.2e6"
    assert short(0.0, 2) == "0.00"
    assert short(np.True_, 2) == "1"
    assert short(float("nan"), 2) == "nan"


def test_exact_numbers_read_back_to_the_same_bits():
    for value in (np.float32(0.1), np.float32(1) / np.float32(3), np.float64(1) / 3):
        assert type(value)(exact(value)) == value
    assert json.loads(exact(0.1)) == 0.1


def test_a_power_of_ten_is_written_in_one_way_and_no_name_is_changed():
    assert exact(1.5e-8) == "1.5e-8" and exact(-2e30) == "-2e30"
    assert exact(np.float32(1e-8)) == "1e-8"
    assert brief(1e-9) == "1e-9" and brief(0.05) == "0.05" and brief(2e-10) == "2e-10"
    assert short(-1.25e-5, 2) == "-1.25e-5"
    assert number_text(1e-9) == "1e-9" and number_text(1.23456789012e-7) == "1.23456789012e-7"
    assert float(number_text(1e-9)) == 1e-9
    assert figures.bound(0.0000123) == "1.23e-5"
    said = "epsilon is 1e-09, set it to 1e-08 (3e+07), not in run-1e-05 or lr1e-05 or 1e-05.txt."
    kept = "epsilon is 1e-9, set it to 1e-8 (3e7), not in run-1e-05 or lr1e-05 or 1e-05.txt."
    assert short_power(said) == kept
