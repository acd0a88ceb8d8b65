"""Lenses: every cell on screen is the record's own cell, under the right words and colours."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from tests.gui.views import CROSS, at, entry, view
from visualizer import actions, navigation
from visualizer.lenses import caption, explanation, stage
from visualizer.state import ViewState

SOURCE_WORDS = ("s4", "s7", "s5", "<UNK>", "s9", "<EOS>")
TARGET_WORDS = ("<SOS>", "t4", "t6", "t5")
SITES = view().run.tape.sites
PRE_NORM_SITES = view(norm_position="pre", position="learned").run.tape.sites


# Every record.


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("token", [0, 2])
def test_every_cell_on_show_is_the_records_own_cell(site, token):
    state = at(site, token, head=2)
    value = state.run.tape[site].value
    matrix = stage.stage(state)
    rows, columns = matrix.values.shape
    seen = set()
    for row in range(rows):
        for column in range(columns):
            index = matrix.cell_index(row, column)
            assert len(index) == value.ndim
            assert matrix.values[row, column] == value[index]
            seen.add(index)
    assert len(seen) == rows * columns


@pytest.mark.parametrize("site", SITES)
def test_a_picture_is_a_view_of_the_tape_and_no_copy(site):
    matrix = stage.stage(at(site))
    assert np.shares_memory(matrix.values, view().run.tape[site].value)
    assert not matrix.values.flags.writeable


@pytest.mark.parametrize("site", SITES)
def test_every_row_and_column_has_its_label(site):
    matrix = stage.stage(at(site, token=1))
    rows, columns = matrix.values.shape
    assert (len(matrix.row_labels), len(matrix.column_labels)) == (rows, columns)
    assert len(matrix.row_notes) in (0, rows)


@pytest.mark.parametrize("site", SITES)
def test_the_range_holds_every_finite_cell_of_the_record(site):
    state = at(site)
    matrix = stage.stage(state)
    value = state.run.tape[site].value.astype(np.float64)
    finite = value[np.isfinite(value)]
    assert matrix.low <= finite.min()
    assert finite.max() <= matrix.high
    assert math.isfinite(matrix.low) and math.isfinite(matrix.high)
    assert matrix.low < matrix.high
    if matrix.palette == "diverging":
        assert matrix.low == -matrix.high


@pytest.mark.parametrize("site", sorted({*SITES, *PRE_NORM_SITES}))
def test_every_record_has_a_caption_and_an_explanation(site):
    traits = {} if site in SITES else {"norm_position": "pre", "position": "learned"}
    state = at(site, **traits)
    words = caption.caption(state)
    assert words.site == site
    for text in (words.side_title, words.title, words.op_title, words.formula, words.sentence):
        assert text
        # a key that the catalogue lacks is shown as it is
        assert not re.fullmatch(r"[a-z_]+(\.[a-z_]+)+", text)
    matrix = stage.stage(state)
    cell = stage.focus_cell(state, matrix)
    text = explanation.cell_text(state, matrix, cell)
    assert text.exact == ("" if matrix.values.dtype == bool else str(matrix.values[cell]))
    assert explanation.line(text).endswith(text.value)
    assert sum(chip.current for chip in caption.chips(state)) == 1


# Growing with the decoder.


@pytest.mark.parametrize("site", [site for site in SITES if not site.startswith("encoder.")])
@pytest.mark.parametrize("token", [0, 1, 3])
def test_only_the_target_positions_that_decoding_has_reached_are_on_show(site, token):
    state = at(site, token)
    matrix = stage.stage(state)
    axes = state.run.tape[site].axes
    letters = ("", *axes)[-2:]
    for letter, size in zip(letters, matrix.values.shape, strict=True):
        if letter == "T":
            assert size == token + 1
        if letter == "S":
            assert size == len(SOURCE_WORDS)


def test_encoder_records_are_whole_at_every_token():
    for token in (0, 3):
        assert stage.stage(at("encoder.layers.0.ffn.hidden", token)).values.shape == (6, 14)


# Attention.


def test_cross_attention_reads_target_rows_against_source_columns():
    matrix = stage.stage(at(CROSS, head=2))
    assert matrix.row_labels == TARGET_WORDS
    assert matrix.column_labels == SOURCE_WORDS
    assert (matrix.palette, matrix.low, matrix.high) == ("sequential", 0.0, 1.0)
    assert matrix.source == f"{CROSS}[0,2]"
    assert matrix.cell_index(3, 4) == (0, 2, 3, 4)
    np.testing.assert_array_equal(matrix.values, view().run.tape[CROSS].value[0, 2])


def test_each_decoder_row_shows_the_token_it_reads_and_the_one_it_predicts():
    state = at(CROSS)
    matrix = stage.stage(state)
    predicted = state.run.tape.predicted_ids[0]
    words = state.model.model.tokenizer.target_tokens(predicted.tolist())
    assert matrix.row_notes == tuple(f"→ {word}" for word in words)


def test_encoder_rows_predict_nothing():
    for site in ("encoder.layers.0.self_attn.weights", "decoder.layers.0.cross_attn.k"):
        assert not any("→" in note for note in stage.stage(at(site)).row_notes)


def test_the_future_is_hidden_in_masked_scores_and_weights_but_not_in_plain_scores():
    future = ~np.tri(4, dtype=bool)
    for role in ("masked_scores", "weights"):
        matrix = stage.stage(at(f"decoder.layers.1.self_attn.{role}"))
        np.testing.assert_array_equal(matrix.hidden, future)
    assert stage.stage(at("decoder.layers.1.self_attn.scores")).hidden is None
    assert stage.stage(at(CROSS)).hidden is None


def test_an_unknown_source_token_shows_the_word_that_was_typed():
    state = view("s4 zebra s5")
    unknown = state.run.unknown[0]
    assert unknown.text == "zebra"
    here = navigation.go_to_site(state, "encoder.layers.0.self_attn.weights")
    matrix = stage.stage(here)
    for labels, notes in (
        (matrix.row_labels, matrix.row_notes),
        (matrix.column_labels, matrix.column_notes),
    ):
        assert labels[unknown.position] == "<UNK>"
        assert notes[unknown.position] == "zebra"
        assert [note for note in notes if note] == ["zebra"]
    crossing = stage.stage(navigation.go_to_site(state, CROSS))
    assert crossing.column_notes[unknown.position] == "zebra"
    assert all(note.startswith("→ ") for note in crossing.row_notes)
    known = navigation.go_to_site(view("s4 s5"), CROSS)
    assert stage.stage(known).column_notes == ()


def padded_view() -> ViewState:
    """The same sentence, with its last two source tokens masked as padding."""
    state = view()
    tape = state.run.tape
    real = np.ones_like(tape.source_ids, dtype=bool)
    real[:, 4:] = False
    padded = entry().model.trace(
        source_ids=tape.source_ids, target_ids=tape.target_ids, source_mask=real
    )
    return replace(state, run=replace(state.run, tape=padded))


@pytest.mark.parametrize(
    "site", [CROSS, CROSS.replace("weights", "masked_scores"), "encoder.layers.1.self_attn.weights"]
)
def test_padding_is_hidden_for_every_query_and_head(site):
    state = navigation.go_to_site(padded_view(), site)
    for head in range(3):
        matrix = stage.stage(actions.select_head(state, head))
        assert matrix.hidden[:, 4:].all()
        assert not matrix.hidden[:, :4].any()
        for thumbnail in stage.head_pictures(state):
            np.testing.assert_array_equal(thumbnail.matrix.hidden, matrix.hidden)


def test_minus_infinity_does_not_reach_the_colours():
    matrix = stage.stage(
        navigation.go_to_site(padded_view(), CROSS.replace("weights", "masked_scores"))
    )
    assert np.isneginf(matrix.values).any()
    assert math.isfinite(matrix.high)


def test_masks_are_drawn_as_masks():
    matrix = stage.stage(at("decoder.look_ahead_mask"))
    assert matrix.palette == "mask"
    np.testing.assert_array_equal(matrix.values, np.tri(4, dtype=bool))
    assert stage.stage(at("encoder.mask")).values.shape == (1, 6)


def test_all_heads_share_one_range_and_the_chosen_one_is_marked():
    state = at("decoder.layers.0.cross_attn.scores", head=2)
    heads = stage.head_pictures(state)
    matrix = stage.stage(state)
    assert [head.selected for head in heads] == [False, False, True]
    for number, head in enumerate(heads):
        assert (head.matrix.low, head.matrix.high) == (matrix.low, matrix.high)
        record = state.run.tape["decoder.layers.0.cross_attn.scores"].value
        np.testing.assert_array_equal(head.matrix.values, record[0, number])


def test_the_guided_head_is_labelled_in_its_own_sublayer_only():
    marked = [head.guided for head in stage.head_pictures(at(CROSS))]
    assert marked == [False, True, False]
    assert "guided" in stage.head_pictures(at(CROSS))[1].title
    assert [h.guided for h in stage.head_pictures(at(CROSS.replace("weights", "scores")))] == marked
    other = at(CROSS.replace("layers.0", "layers.1"))
    assert not any(head.guided for head in stage.head_pictures(other))


def test_records_without_heads_have_no_strip():
    assert stage.head_pictures(at("decoder.layers.0.ffn.out")) == ()
    assert len(stage.head_pictures(at("encoder.layers.0.self_attn.v_heads"))) == 3


# Other records.


def test_log_probabilities_and_variances_have_one_sided_ranges():
    log_probs = stage.stage(at("log_probs"))
    assert (log_probs.palette, log_probs.high) == ("sequential", 0.0)
    variance = stage.stage(at("encoder.layers.0.norm1.variance"))
    assert (variance.palette, variance.low) == ("sequential", 0.0)
    assert stage.stage(at("encoder.layers.0.norm1.mean")).palette == "diverging"


def test_logits_are_labelled_by_the_vocabulary_in_id_order():
    matrix = stage.stage(at("logits"))
    assert matrix.column_labels == tuple(entry().model.tokenizer.target_vocabulary)
    assert matrix.values.shape == (4, 11)


def test_dimensions_are_counted_as_people_chose():
    state = at("decoder.layers.0.ffn.hidden")
    assert stage.stage(state).column_labels[0] == "1"
    assert stage.stage(actions.set_count_from(state, 0)).column_labels[:2] == ("0", "1")


def test_positions_have_no_batch_axis():
    matrix = stage.stage(at("encoder.embed.position"))
    assert matrix.values.shape == (6, 12)
    assert matrix.cell_index(2, 3) == (2, 3)


def test_shapes_in_words_name_what_is_on_show():
    shapes = {
        CROSS: "(3 heads, 3 queries, 6 keys)",
        "encoder.layers.0.self_attn.weights": "(3 heads, 6 queries, 6 keys)",
        "decoder.layers.0.cross_attn.k_heads": "(3 heads, 6 tokens, d_head 5)",
        "decoder.layers.0.ffn.hidden": "(3 tokens, d_ff 14)",
        "decoder.layers.0.residual1": "(3 tokens, d_model 12)",
        "decoder.mask": "(3 queries, 3 keys)",
        "encoder.mask": "(6 keys)",
        "logits": "(3 tokens, vocabulary 11)",
        "encoder.layers.0.norm1.mean": "(6 tokens)",
    }
    for site, shape in shapes.items():
        assert caption.caption(at(site, token=2)).shape == shape
    assert caption.caption(at(CROSS, token=0)).shape == "(3 heads, 1 query, 6 keys)"


# The cell in focus.


def test_by_default_the_current_rows_largest_cell_is_in_focus():
    state = at(CROSS, token=2)
    matrix = stage.stage(state)
    row = state.run.tape[CROSS].value[0, 1, 2]
    assert (matrix.current_row, matrix.current_column) == (2, int(row.argmax()))
    assert stage.focus_cell(state, matrix) == (2, int(row.argmax()))


def test_over_the_vocabulary_the_chosen_token_is_in_focus():
    for site in ("logits", "log_probs"):
        state = at(site, token=2)
        chosen = state.run.chosen[2]
        assert stage.focus_cell(state, stage.stage(state)) == (2, chosen)


def test_a_masked_cell_is_never_in_focus_by_itself():
    state = at("decoder.layers.0.self_attn.masked_scores", token=0)
    assert stage.focus_cell(state, stage.stage(state)) == (0, 0)


def test_the_pointer_goes_before_the_selection_and_the_selection_before_the_default():
    state = actions.select_cell(at(CROSS), (1, 5))
    matrix = stage.stage(state)
    assert (matrix.current_row, matrix.current_column) == (1, 5)
    assert stage.focus_cell(state, matrix) == (1, 5)
    assert stage.focus_cell(actions.hover_cell(state, (0, 2)), matrix) == (0, 2)


def test_a_cell_outside_the_picture_is_ignored():
    state = actions.select_cell(at(CROSS, token=1), (3, 5))
    assert stage.focus_cell(state, stage.stage(state))[0] == 1
