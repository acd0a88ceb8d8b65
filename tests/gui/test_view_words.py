"""What the views say of their records: letters, notes, scales, legends, whose norm it is."""

from __future__ import annotations

import numpy as np
import pytest

from tests.gui.views import at, worked_view
from visualizer import i18n, navigation
from visualizer.lenses import caption, flow, layer, stage, views

PRE = {"norm_position": "pre"}
NORM = "decoder.layers.0.norm2"
RESIDUAL = "decoder.layers.0.residual2"
FFN = "decoder.layers.1.ffn"


def drawn(state):
    return views.stack(state, stage.stage(state))


# One letter, one meaning.


@pytest.mark.parametrize(
    ("site", "traits", "letters"),
    [
        (RESIDUAL, {}, "r = x + s"),
        (f"{NORM}.mean", {}, "r_i"),
        (f"{NORM}.variance", {}, "r_i"),
        (f"{NORM}.normalised", {}, r"\hat{r} = \frac{r - \mu}"),
        (f"{NORM}.out", {}, r"y = \gamma \odot \hat{r} + \beta"),
        (f"{NORM}.out", PRE, r"y = \gamma \odot \hat{x} + \beta"),
        ("encoder.norm.normalised", PRE, r"\hat{x} = \frac{x - \mu}"),
    ],
)
def test_a_norms_formula_has_the_letters_of_its_picture(site, traits, letters):
    assert letters in caption.caption(at(site, **traits)).formula


def test_gamma_and_beta_differ_in_colour_and_in_stroke():
    lines = {line.label: line for line in drawn(at(f"{NORM}.out")).curves.lines}
    assert set(lines) == {"r̂", "y", "γ", "β"}
    gamma, beta = lines["γ"], lines["β"]
    assert gamma.colour != beta.colour and (gamma.style, beta.style) == ("thin", "dashed")


def test_a_profile_of_a_few_numbers_is_of_bars():
    state = worked_view()
    sites = [s for s in state.run.tape.sites if s.endswith("norm1.out")]
    state = navigation.go_to_site(state, sites[0])
    assert {line.style for line in drawn(state).curves.lines} == {"bars"}


# Rows and scales.


def test_every_decoder_row_names_what_it_reads_and_what_it_predicts():
    for site in (RESIDUAL, f"{FFN}.hidden", "decoder.embed.out", "decoder.mask"):
        state = at(site)
        for strip in drawn(state).strips:
            if strip.lane == "row":
                continue
            matrix, tape = strip.matrix, state.run.tape
            assert matrix.row_labels == tuple(tape.target_tokens)
            assert matrix.row_notes == tuple(f"→ {token}" for token in tape.predicted_tokens)


def test_each_strip_says_how_far_its_colours_reach():
    for site in (RESIDUAL, f"{FFN}.hidden", "decoder.embed.out"):
        for strip in drawn(at(site)).strips:
            assert strip.scale.startswith("±")
            assert float(strip.scale[1:]) == pytest.approx(strip.matrix.high, rel=0.05)
    assert not any(strip.scale for strip in drawn(at("decoder.mask")).strips)


@pytest.mark.parametrize("role", ["tokens", "scaled", "position", "out"])
def test_positions_are_always_on_their_own_scale_and_say_so(role):
    _, scaled, position, out = drawn(at(f"decoder.embed.{role}")).strips
    assert position.matrix.high == np.abs(position.matrix.values).max()
    assert "own scale" in position.note
    assert scaled.scale == out.scale != position.scale


def test_masks_name_their_axes_and_tell_of_hidden_cells_only_where_there_are_any():
    masks = drawn(at("decoder.mask", token=3))
    assert masks.legend == "1 = may look · 0 = hidden"
    assert {strip.matrix.column_title for strip in masks.strips} == {"key →"}
    assert [strip.matrix.row_title for strip in masks.strips] == ["", "query ↓", "query ↓"]
    assert drawn(at("decoder.mask", token=0)).legend == "1 = may look"


@pytest.mark.parametrize(
    ("site", "traits", "where"),
    [
        ("decoder.layers.0.cross_attn.weights", {}, "after cross-attention 1"),
        ("decoder.layers.1.norm3.mean", {}, "after feed forward 2"),
        ("decoder.layers.1.norm2.mean", PRE, "before cross-attention 2"),
        ("encoder.layers.0.self_attn.q", {}, "after self-attention 1"),
    ],
)
def test_the_layers_table_says_which_sublayer_its_norm_belongs_to(site, traits, where):
    assert layer.layer_rows(at(site, **traits)).where == where


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_the_whole_model_has_words_of_its_own(language):
    i18n.set_language(language)
    state = at(RESIDUAL)
    words, record = flow.flow_caption(flow.flow(state)), caption.caption(state)
    for name in ("side_title", "title", "op_title", "site", "formula", "sentence"):
        assert getattr(words, name) and getattr(words, name) != getattr(record, name)
    assert "12" in words.site and "10" in words.site


def test_the_flows_decoder_rows_say_what_they_predict():
    state = at(RESIDUAL, token=2)
    encoder, decoder = flow.flow(state).sides
    assert decoder.notes == tuple(f"→ {token}" for token in state.run.tape.predicted_tokens[:3])
    assert len(encoder.notes) in (0, len(encoder.tokens))


def test_the_layers_table_says_what_each_decoder_row_predicts():
    state = at(f"{NORM}.mean", token=2)
    predicted = state.run.tape.predicted_tokens[:3]
    assert layer.layer_rows(state).read.row_notes == tuple(f"→ {token}" for token in predicted)
