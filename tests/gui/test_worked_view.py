"""A worked example in the view: an encoder alone over a matrix that can be changed."""

from __future__ import annotations

import numpy as np
import pytest

from tests.gui.views import view, worked_view
from visualizer import actions, navigation
from visualizer.lenses import caption, explanation, overview, prediction, stage
from visualizer.lenses.views import stack
from visualizer.navigation import current_index, current_walk
from visualizer.run import compute
from visualizer.state import ViewState, shown_site
from visualizer.widgets import figures

NAMES = ("encoder-layer", "self-attention")
START = "encoder.embed.out"
MOVES = (
    navigation.next_op,
    navigation.next_sublayer,
    navigation.next_layer,
    navigation.next_token,
    navigation.end,
)


def recomputed(state: ViewState) -> ViewState:
    return actions.show_run(state, compute(state.model, state.inputs, number=2))


# The walk.


@pytest.mark.parametrize("name", NAMES)
def test_a_worked_example_is_stepped_from_its_matrix_to_its_end(name):
    state = worked_view(name)
    assert shown_site(state) == START
    seen = [shown_site(state)]
    while (following := navigation.next_op(state)) is not state:
        state = following
        seen.append(shown_site(state))
    assert seen == list(state.run.tape.sites)


@pytest.mark.parametrize("move", MOVES)
def test_no_key_leaves_the_walk_where_there_is_no_decoder(move):
    state = worked_view()
    while (following := move(state)) is not state:
        assert current_index(following) > current_index(state)
        state = following
    assert navigation.go_to_token(state, 3) is state


def test_a_worked_example_can_be_played_to_its_end():
    state = actions.toggle_playing(worked_view("self-attention"))
    assert state.playing
    for _ in range(len(current_walk(state))):
        state = navigation.advance(state)
    assert not state.playing and state == navigation.end(state)


# What is shown.


def test_the_map_and_the_timeline_show_the_encoder_alone():
    state = worked_view()
    shown = overview.model_map(state)
    assert [group.id for group in shown.encoder] == ["encoder.embed", "encoder.0"]
    assert shown.encoder[0].blocks[0].title == "Input matrix"
    assert shown.decoder == shown.output == () and shown.target_note == ""
    line = overview.timeline(state)
    assert [part.label for part in line.segments] == ["input", "encoder 1"]


def test_rows_are_named_and_nothing_is_predicted():
    state = worked_view()
    assert stage.stage(state).row_labels == ("女生", "撩", "刘海")
    assert prediction.next_token(state) is None
    assert prediction.output_tokens(state) == ()
    assert stage.stage(worked_view("self-attention")).row_labels == ("x1", "x2")


def test_four_decimals_are_shown_and_two_of_other_models():
    state = worked_view()
    matrix = stage.stage(state)
    form = figures.cell_formats(matrix.values, False, matrix.decimals)[0]
    assert figures.cell_texts(matrix.values, form)[2] == "2.8415"
    assert view().decimals == 2
    assert actions.set_decimals(state, 3).decimals == 3
    assert actions.set_decimals(actions.set_decimals(state, 3), None).decimals == 4


@pytest.mark.parametrize("name", NAMES)
def test_every_record_of_a_worked_example_has_words_a_picture_and_an_account(name):
    state = worked_view(name)
    for site in state.run.tape.sites:
        there = navigation.go_to_site(state, site)
        matrix = stage.stage(there)
        stack(there, matrix)
        cell = stage.focus_cell(there, matrix)
        assert caption.caption(there).sentence
        assert explanation.cell_text(there, matrix, cell).value


# Changing the matrix.


def test_an_edited_cell_changes_only_what_depends_on_it():
    before = worked_view()
    after = recomputed(actions.edit_cell(before, (1, 0), 5.0))
    old, new = before.run.tape, after.run.tape
    differs = {site: old[site].value != new[site].value for site in old.sites}
    for site in (START, "encoder.layers.0.self_attn.q", "encoder.layers.0.self_attn.v"):
        # a row of X reaches its own row alone
        assert differs[site][0, 1].any()
        assert not differs[site][0, [0, 2]].any()
    assert differs[START].sum() == 1
    scores = differs["encoder.layers.0.self_attn.scores"][0]
    assert not scores[:, [0, 0, 2, 2], [0, 2, 0, 2]].any() and scores[:, 1].any()
    assert differs["encoder.layers.0.norm2.out"].any()


def test_an_edit_is_part_of_the_inputs_and_the_examples_own_number_is_none():
    state = worked_view()
    edited = actions.edit_cell(actions.edit_cell(state, (2, 1), 1.5), (0, 0), -1.0)
    assert edited.inputs.cells == ((0, 0, -1.0), (2, 1, 1.5))
    assert actions.edit_cell(edited, (0, 0), 2.0).inputs.cells[0] == (0, 0, 2.0)
    assert actions.edit_cell(edited, (0, 0), 3.0).inputs.cells == ((2, 1, 1.5),)
    assert actions.reset_cells(edited).inputs == state.inputs
    run = recomputed(edited).run
    assert run.tape[START].value[0, :, 1].tolist()[2] == 1.5
    assert np.array_equal(state.model.model.inputs, worked_view().model.model.inputs)


def test_the_selected_cell_stays_while_its_numbers_change():
    state = actions.select_cell(worked_view(), (1, 1))
    assert recomputed(actions.edit_cell(state, (1, 1), 0.0)).selected == (1, 1)


def test_a_model_that_reads_text_has_no_matrix_to_edit():
    state = view()
    assert actions.edit_cell(state, (0, 0), 1.0) is state


def test_rows_of_given_numbers_are_tokens_of_no_source_sentence():
    state = worked_view("self-attention")
    titles = set()
    for site in state.run.tape.sites:
        matrix = stage.stage(navigation.go_to_site(state, site))
        titles |= {matrix.row_title, matrix.column_title.split(" · ")[0]}
    assert {"token", "queries: token", "keys: tokens"} <= titles
    assert not any("source" in title for title in titles)
