"""The views of a sublayer's records: which cells they show, and what they add in words."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.gui.views import at, entry, view
from visualizer import actions, i18n, navigation
from visualizer.lenses import embedding, explanation, flow, layer, ranking, stage, views
from visualizer.lenses.strips import standing_on

PRE = {"norm_position": "pre"}
NORM = "decoder.layers.0.norm2"
RESIDUAL = "decoder.layers.0.residual2"
FFN = "decoder.layers.1.ffn"


def drawn(state):
    return views.stack(state, stage.stage(state))


def sites(state) -> list[str]:
    return [strip.site for strip in drawn(state).strips]


# Which records a view shows.


def test_post_norm_shows_stream_sublayer_sum_and_then_the_norm():
    for role in ("residual2", "norm2.mean", "norm2.variance", "norm2.normalised", "norm2.out"):
        state = at(f"decoder.layers.0.{role}")
        assert sites(state) == [
            "decoder.layers.0.norm1.out",
            "decoder.layers.0.cross_attn.out",
            RESIDUAL,
            f"{NORM}.normalised",
            f"{NORM}.out",
        ]
        assert [strip.sign for strip in drawn(state).strips] == ["x", "+ s", "= r", "→ r̂", "→ y"]


def test_pre_norm_shows_the_norm_first_and_the_sum_later():
    stream = "decoder.layers.0.residual1"
    normed = ["decoder.layers.0.norm2.normalised", "decoder.layers.0.norm2.out"]
    assert sites(at("decoder.layers.0.norm2.mean", **PRE)) == [stream, *normed]
    added = "decoder.layers.0.cross_attn.out"
    assert sites(at("decoder.layers.0.residual2", **PRE)) == [stream, added, RESIDUAL]
    assert sites(at("encoder.norm.out", **PRE))[0] == "encoder.layers.1.residual2"


def test_the_feed_forward_shows_what_stands_before_and_after_the_activation():
    assert sites(at(f"{FFN}.hidden")) == [
        "decoder.layers.1.norm2.out",
        f"{FFN}.hidden",
        f"{FFN}.activation",
        f"{FFN}.out",
    ]


def test_the_embedding_shows_its_four_steps_and_the_masks_theirs():
    found = sites(at("decoder.embed.scaled"))
    assert found == [f"decoder.embed.{r}" for r in ("tokens", "scaled", "position", "out")]
    masks = ["decoder.padding_mask", "decoder.look_ahead_mask", "decoder.mask"]
    assert sites(at("decoder.look_ahead_mask")) == masks
    assert drawn(at("encoder.mask")) is None
    assert drawn(at("decoder.layers.0.cross_attn.weights")) is None


@pytest.mark.parametrize("traits", [{}, PRE, {"scale_embedding": False, "position": "learned"}])
def test_the_record_at_the_cursor_is_the_one_that_is_marked(traits):
    for site in view(**traits).run.tape.sites:
        together = drawn(at(site, **traits))
        if together is None:
            continue
        marked = [strip.site for strip in together.strips if strip.current]
        marked += [figures.site for figures in together.figures if figures.current]
        assert marked == [site]


def test_only_the_rows_that_decoding_has_reached_are_on_show():
    for strip in drawn(at(f"{NORM}.out", token=1)).strips:
        assert strip.matrix.values.shape == (2, 12)


def test_every_strip_is_a_view_of_its_record():
    state = at(f"{NORM}.normalised")
    for strip in drawn(state).strips:
        value = state.run.tape[strip.site].value
        assert np.shares_memory(strip.matrix.values, value)
        np.testing.assert_array_equal(strip.matrix.values, value[0])


def test_what_is_added_up_is_drawn_in_the_same_colours_as_its_sum():
    strips = drawn(at(RESIDUAL)).strips
    assert len({(strip.matrix.low, strip.matrix.high) for strip in strips[:3]}) == 1
    for strip in strips:
        assert np.abs(strip.matrix.values).max() <= strip.matrix.high * (1 + 1e-6)


# The numbers beside the strips.


def test_the_figures_are_the_tapes_mean_and_the_root_of_variance_and_epsilon():
    state = at(f"{NORM}.normalised")
    tape = state.run.tape
    mean, sigma = drawn(state).figures
    np.testing.assert_array_equal(mean.values, tape[f"{NORM}.mean"].value[0, :, 0])
    x = tape[RESIDUAL].value[0].astype(np.float64)
    expected = np.sqrt(x.var(axis=1) + entry().model.config.norm_eps)
    np.testing.assert_allclose(sigma.values, expected, rtol=1e-5)
    assert {figures.strip for figures in (mean, sigma)} == {2}


def test_on_the_variance_itself_the_figure_is_the_variance():
    state = at(f"{NORM}.variance")
    figures = drawn(state).figures[1]
    variance = state.run.tape[f"{NORM}.variance"].value[0, :, 0]
    assert figures.current
    np.testing.assert_array_equal(figures.values, variance)


def test_the_words_beside_a_variance_tell_sigma_in_full():
    state = at(f"{NORM}.normalised")
    words = views.remark(state, f"{NORM}.variance", (2, 0))
    sigma = drawn(state).figures[1].values[2]
    assert str(sigma) in words
    assert views.remark(state, f"{NORM}.mean", (2, 0)) == ""


def test_the_note_compares_the_lengths_of_what_is_added_and_of_the_stream():
    state = at(RESIDUAL, token=2)
    x = state.run.tape["decoder.layers.0.norm1.out"].value[0, 2]
    s = state.run.tape["decoder.layers.0.cross_attn.out"].value[0, 2]
    ratio = np.sqrt((s.astype(float) ** 2).sum() / (x.astype(float) ** 2).sum())
    assert f"{ratio:.2f} for “t6”" in drawn(state).strips[1].note


# Curves.


def points(state):
    return [
        (line, index)
        for line in drawn(state).curves.lines
        if line.cells is not None
        for index in range(len(line.x))
    ]


@pytest.mark.parametrize("role", ["residual2", "norm2.mean", "norm2.normalised", "norm2.out"])
def test_the_points_of_a_profile_are_the_cells_they_say(role):
    state = at(f"decoder.layers.0.{role}", token=2)
    assert points(state)
    for line, index in points(state):
        row, column = line.cells[index]
        assert row == 2
        assert line.y[index] == state.run.tape[line.site].value[0, row, column]


def test_the_points_on_the_activations_curve_are_hidden_and_activation():
    state = at(f"{FFN}.activation", token=1)
    tape = state.run.tape
    for line, index in points(state):
        row, column = line.cells[index]
        assert line.x[index] == tape[f"{FFN}.hidden"].value[0, row, column]
        assert line.y[index] == tape[f"{FFN}.activation"].value[0, row, column]


@pytest.mark.parametrize("name", ["relu", "gelu", "gelu_tanh", "silu"])
def test_the_activations_points_lie_on_its_curve(name):
    curve, dots = drawn(at(f"{FFN}.activation", activation=name)).curves.lines
    between = np.interp(dots.x, curve.x, curve.y)
    np.testing.assert_allclose(dots.y, between, atol=0.01)


@pytest.mark.parametrize("first", [0, 1])
def test_the_waves_are_sinusoids_and_the_dots_the_tapes_positions_on_them(first):
    state = replace(at("decoder.embed.position", token=3), count_from=first)
    curves = drawn(state).curves
    for wave, dots in zip(curves.lines[::2], curves.lines[1::2], strict=True):
        channel = dots.cells[0][1]
        positions = state.run.tape["decoder.embed.position"].value[:4, channel]
        np.testing.assert_array_equal(dots.y, positions)
        np.testing.assert_array_equal(dots.x, np.arange(4) + first)
        angle = (wave.x - first) / 10000 ** (channel // 2 * 2 / 12)
        np.testing.assert_allclose(wave.y, np.cos(angle) if channel % 2 else np.sin(angle))
        assert np.diff(wave.x).max() <= 0.125
    assert curves.x_title.endswith(f"counted from {first}")


def test_waves_of_a_learned_table_are_its_own_cells_alone():
    lines = drawn(at("decoder.embed.out", position="learned")).curves.lines
    assert all(line.style == "dots" for line in lines)


def test_the_channels_of_the_waves_run_from_fast_to_slow_and_hold_the_one_looked_at():
    assert embedding.waves_of(64, 41) == (0, 8, 16, 32, 41)
    assert embedding.waves_of(4, None) == (0, 2)


# The layer's table, the whole model, the ranking.


@pytest.mark.parametrize(
    ("site", "norm"),
    [
        ("decoder.layers.0.cross_attn.weights", "decoder.layers.0.norm2"),
        ("decoder.layers.1.ffn.hidden", "decoder.layers.1.norm3"),
        ("decoder.layers.0.norm1.mean", "decoder.layers.0.norm1"),
        ("encoder.embed.tokens", "encoder.layers.0.norm1"),
        ("decoder.mask", "decoder.layers.0.norm1"),
        ("log_probs", "decoder.layers.1.norm3"),
    ],
)
def test_the_table_shows_the_norm_of_the_sublayer_at_the_cursor(site, norm):
    state = at(site)
    rows = layer.layer_rows(state)
    tape = state.run.tape
    assert rows.normed_site == f"{norm}.out"
    np.testing.assert_array_equal(rows.read.values, tape[tape[f"{norm}.mean"].inputs[0]].value[0])
    np.testing.assert_array_equal(rows.normed.values, tape[f"{norm}.out"].value[0])
    np.testing.assert_array_equal(rows.mean, tape[f"{norm}.mean"].value[0, :, 0])


def test_the_flow_has_a_station_for_every_residual_and_its_numbers_are_norms():
    state = at("decoder.layers.1.cross_attn.weights", token=2)
    encoder, decoder = flow.flow(state).sides
    assert (len(encoder.stations), len(decoder.stations)) == (5, 7)
    assert (encoder.stream.shape, decoder.stream.shape) == ((6, 5), (3, 7))
    assert [s.stream for s in decoder.stations if s.current] == ["decoder.layers.1.residual2"]
    for part in (encoder, decoder):
        for column, station in enumerate(part.stations):
            rows = state.run.tape[station.stream].value[0, : len(part.tokens)]
            expected = np.sqrt((rows.astype(np.float64) ** 2).sum(axis=1))
            np.testing.assert_allclose(part.stream[:, column], expected, rtol=1e-6)
        assert np.isnan(part.added[:, 0]).all() and not np.isnan(part.added[:, 1:]).any()


def test_each_number_of_the_flow_names_its_record_and_the_reduction():
    part = flow.flow(at(RESIDUAL)).sides[1]
    name, reduction, value = flow.flow_words(part, 2, 2, added=True)
    assert name == "t6 · 1 cross-attention"
    assert reduction == "L2 norm of decoder.layers.0.cross_attn.out[0, 2, :]"
    assert value == str(part.added[2, 2])


@pytest.mark.parametrize("site", ["logits", "log_probs"])
def test_the_ranking_lists_the_rows_own_numbers_likeliest_first(site):
    state = at(site, token=2)
    ranks = ranking.ranking(state, stage.stage(state))
    tape = state.run.tape
    assert list(ranks.logits) == sorted(tape["logits"].value[0, 2], reverse=True)
    np.testing.assert_array_equal(ranks.logits, tape["logits"].value[0, 2, list(ranks.ids)])
    np.testing.assert_array_equal(ranks.log_probs, tape["log_probs"].value[0, 2, list(ranks.ids)])
    vocabulary = entry().model.tokenizer.target_vocabulary
    assert ranks.labels == tuple(vocabulary[i] for i in ranks.ids)
    assert ranks.ids[ranks.chosen] == state.run.chosen[2]
    assert ranks.ids[ranks.marked] == stage.stage(state).current_column


def test_there_is_no_ranking_away_from_the_vocabulary():
    state = at(RESIDUAL)
    assert ranking.ranking(state, stage.stage(state)) is None


# In both languages.


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_no_word_of_a_view_is_a_key(language):
    i18n.set_language(language)
    for traits in ({}, PRE, {"position": "learned"}):
        for site in view(**traits).run.tape.sites:
            together = drawn(at(site, **traits))
            if together is None:
                continue
            words = [text for s in together.strips for text in (s.title, s.note)]
            if together.curves is not None:
                words += [together.curves.title, together.curves.x_title, together.curves.y_title]
                words += [line.label for line in together.curves.lines]
            assert not [w for w in words if re.fullmatch(r"[a-z_]+(\.[a-z_]+)+", w)]
    stations = [s for part in flow.flow(at(RESIDUAL)).sides for s in part.stations]
    assert not [s for s in stations if "." in s.title]


# What stays while one steps, and what a click does.


def test_a_selected_cell_stays_selected_through_the_records_of_one_picture():
    state = actions.select_cell(at(RESIDUAL), (1, 5))
    for site in (f"{NORM}.mean", f"{NORM}.variance", f"{NORM}.normalised", f"{NORM}.out"):
        state = navigation.next_op(state)
        assert (state.cursor.site, state.selected) == (site, (1, 5))
        matrix = stage.stage(state)
        assert stage.focus_cell(state, matrix)[1] == (5 if matrix.values.shape[1] > 1 else 0)
    assert navigation.next_op(state).selected is None


def test_hidden_units_and_dimensions_are_no_cells_of_each_other():
    state = actions.select_cell(at(f"{FFN}.hidden"), (1, 5))
    state = navigation.next_op(state)
    assert state.selected == (1, 5)
    assert navigation.next_op(state).selected is None


def test_a_model_without_a_residual_stream_offers_no_way_through_the_layers():
    assert flow.has_flow(at(RESIDUAL))
    state = actions.show_page(view(source=""), "layers")
    assert not flow.is_flow_shown(state)
    assert flow.flow(state) is None


def test_a_cell_of_another_record_is_explained_as_if_one_stood_there():
    state = actions.hover_cell(at(f"{NORM}.out"), (1, 5), RESIDUAL)
    there = standing_on(state, state.hovered_site)
    matrix = stage.stage(there)
    text = explanation.cell_text(there, matrix, stage.focus_cell(there, matrix))
    assert text.site == RESIDUAL
    assert text.exact == str(state.run.tape[RESIDUAL].value[0, 1, 5])
    assert text.lines[0][0].text == "x + cross-attention(x) ="


def test_a_click_on_another_strip_goes_to_its_record_and_keeps_the_cell():
    state = navigation.look_at(at(f"{NORM}.out"), RESIDUAL, (1, 5))
    assert (state.cursor.site, state.selected) == (RESIDUAL, (1, 5))
    assert navigation.look_at(state, RESIDUAL, (1, 5)).selected is None


def test_the_whole_model_gives_the_stage_back_when_a_record_is_chosen():
    state = actions.toggle_page(at(RESIDUAL), "layers")
    assert navigation.next_op(state).page == "layers"
    assert navigation.go_to_record(state, RESIDUAL).page == "record"
    assert actions.toggle_page(state, "layers").page == "record"
