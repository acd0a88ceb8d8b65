"""The walk along a run: every record is a step, in the tape's own order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.gui.gradient_views import answered, gradients_at, tape_of
from tests.gui.views import CROSS, view
from visualizer import actions, gradient_actions, navigation
from visualizer.navigation import current_index, current_place, current_walk
from visualizer.state import Cursor, ViewState, current_token, shown_site
from visualizer.walkthrough import route, walk

ROWS = 4
TRAITS = [{}, {"norm_position": "pre"}, {"n_encoder_layers": 1, "n_decoder_layers": 3}]


def visited(state: ViewState) -> list[tuple[str, int]]:
    """Every stop from home to the end, one op at a time."""
    state = navigation.home(state)
    stops = [(shown_site(state), current_token(state))]
    while (following := navigation.next_op(state)) is not state:
        state = following
        stops.append((shown_site(state), current_token(state)))
    return stops


@pytest.mark.parametrize("traits", TRAITS)
def test_every_record_is_one_step_and_the_decoder_is_walked_once_per_token(traits):
    state = view(**traits)
    sites = state.run.tape.sites
    encoder = [site for site in sites if site.startswith("encoder.")]
    decoder = [site for site in sites if not site.startswith("encoder.")]
    stops = visited(state)
    assert [site for site, _ in stops] == encoder + decoder * ROWS
    tokens = [token for _, token in stops[len(encoder) :]]
    assert tokens == [t for t in range(ROWS) for _ in decoder]
    assert len(current_walk(state)) == len(stops)


@pytest.mark.parametrize("traits", TRAITS)
def test_walking_back_passes_the_same_steps(traits):
    state = navigation.end(view(**traits))
    seen = [current_index(state)]
    while (before := navigation.previous_op(state)) is not state:
        state = before
        seen.append(current_index(state))
    assert seen == list(range(len(current_walk(state)) - 1, -1, -1))


def test_a_step_number_and_its_place_agree():
    along = current_walk(view())
    for index in range(len(along)):
        step = along.step(index)
        assert along.index(step.place.site, step.token or 0) == index


# Blocks of the map.


def blocks(state: ViewState, group: str) -> list[tuple[str, str]]:
    return [
        (block.id.removeprefix(f"{group}."), block.kind)
        for block in current_walk(state).route.blocks
        if block.group == group
    ]


def test_a_post_norm_layer_reads_add_and_norm_after_each_sublayer():
    assert blocks(view(), "decoder.1") == [
        ("self_attn", "self_attn"),
        ("norm1", "add_norm"),
        ("cross_attn", "cross_attn"),
        ("norm2", "add_norm"),
        ("ffn", "ffn"),
        ("norm3", "add_norm"),
    ]


def test_a_pre_norm_layer_normalises_before_each_sublayer_and_adds_after_it():
    assert blocks(view(norm_position="pre"), "encoder.0") == [
        ("norm1", "norm"),
        ("self_attn", "self_attn"),
        ("residual1", "add"),
        ("norm2", "norm"),
        ("ffn", "ffn"),
        ("residual2", "add"),
    ]


def test_a_pre_norm_side_ends_in_a_norm_of_its_own():
    state = view(norm_position="pre")
    assert blocks(state, "encoder.norm") == [("encoder.norm", "final_norm")]
    assert blocks(state, "decoder.norm") == [("decoder.norm", "final_norm")]
    assert blocks(view(), "encoder.norm") == []


def test_add_and_norm_holds_the_residual_and_the_norm():
    block = current_walk(view()).route.block("encoder.0.norm1")
    assert [site.removeprefix("encoder.layers.0.") for site in block.sites] == [
        "residual1",
        "norm1.mean",
        "norm1.variance",
        "norm1.normalised",
        "norm1.out",
    ]


@pytest.mark.parametrize("traits", TRAITS)
def test_every_site_lies_in_exactly_one_block(traits):
    state = view(**traits)
    sites = [site for block in current_walk(state).route.blocks for site in block.sites]
    assert sorted(sites) == sorted(state.run.tape.sites)


def test_a_click_on_an_attention_goes_to_its_weights_at_the_same_token():
    state = navigation.go_to_token(view(), 2)
    state = navigation.go_to_block(state, "decoder.1.self_attn")
    assert shown_site(state) == "decoder.layers.1.self_attn.weights"
    assert current_token(state) == 2


def test_a_click_on_the_encoder_and_back_keeps_the_token():
    state = navigation.go_to_token(view(), 2)
    state = navigation.go_to_block(state, "encoder.1.ffn")
    assert shown_site(state) == "encoder.layers.1.ffn.out"
    assert current_token(navigation.go_to_block(state, "output")) == 2


def test_a_click_on_the_box_where_we_are_or_on_an_unknown_one_changes_nothing():
    state = view()
    assert navigation.go_to_block(state, "decoder.0.cross_attn") is state
    assert navigation.go_to_block(state, "decoder.9.ffn") is state
    assert navigation.go_to_site(state, "decoder.layers.9.ffn.out") is state


# Keys.


def at(site: str, token: int = 1, **traits: object) -> ViewState:
    return navigation.go_to_site(navigation.go_to_token(view(**traits), token), site)


def test_shift_goes_to_the_first_op_of_the_next_and_the_previous_sublayer():
    state = at("decoder.layers.0.self_attn.weights")
    assert shown_site(navigation.next_sublayer(state)) == "decoder.layers.0.residual1"
    assert shown_site(navigation.previous_sublayer(state)) == "decoder.embed.tokens"
    back = navigation.previous_sublayer(navigation.next_sublayer(state))
    assert shown_site(back) == "decoder.layers.0.self_attn.q"


def test_ctrl_goes_to_the_same_op_of_the_next_layer():
    state = at("decoder.layers.0.cross_attn.scores")
    there = navigation.next_layer(state)
    assert shown_site(there) == "decoder.layers.1.cross_attn.scores"
    assert shown_site(navigation.previous_layer(there)) == "decoder.layers.0.cross_attn.scores"


def test_ctrl_leaves_the_last_layer_for_the_output_and_then_for_the_next_token():
    state = navigation.next_layer(at("decoder.layers.1.ffn.out", token=1))
    assert (shown_site(state), current_token(state)) == ("logits", 1)
    state = navigation.next_layer(state)
    assert (shown_site(state), current_token(state)) == ("decoder.embed.tokens", 2)


def test_ctrl_from_the_encoder_reaches_the_decoder():
    state = navigation.next_layer(at("encoder.layers.1.self_attn.q"))
    assert (shown_site(state), current_token(state)) == ("decoder.embed.tokens", 0)


def test_alt_goes_to_the_same_op_at_the_next_token_and_stops_at_both_ends():
    state = at(CROSS, token=1)
    assert navigation.next_token(state).cursor == Cursor(CROSS, 2)
    assert navigation.previous_token(state).cursor == Cursor(CROSS, 0)
    first, last = at(CROSS, token=0), at(CROSS, token=ROWS - 1)
    assert navigation.previous_token(first) is first
    assert navigation.next_token(last) is last


def test_alt_from_the_encoder_enters_the_decoder():
    state = navigation.next_token(navigation.home(view()))
    assert (shown_site(state), current_token(state)) == ("decoder.embed.tokens", 0)
    state = navigation.home(view())
    assert navigation.previous_token(state) is state


@pytest.mark.parametrize(
    "move",
    [
        navigation.next_op,
        navigation.next_sublayer,
        navigation.next_layer,
        navigation.next_token,
    ],
)
def test_no_key_leaves_the_walk_at_its_end(move):
    state = navigation.end(view())
    assert move(state) is state


@pytest.mark.parametrize("move", [navigation.next_sublayer, navigation.next_layer])
@pytest.mark.parametrize("traits", TRAITS)
def test_larger_steps_always_come_forward_and_reach_the_end(move, traits):
    state = navigation.home(view(**traits))
    while (following := move(state)) is not state:
        assert current_index(following) > current_index(state)
        state = following
    assert current_index(state) == len(current_walk(state)) - 1


def test_home_and_end_are_the_ends_of_the_walk():
    assert current_index(navigation.home(view())) == 0
    assert current_index(navigation.end(view())) == len(current_walk(view())) - 1


def test_scrubbing_stays_on_the_walk():
    state = view()
    assert current_index(navigation.go_to_index(state, 77)) == 77
    assert current_index(navigation.go_to_index(state, -5)) == 0
    assert current_index(navigation.go_to_index(state, 10**6)) == len(current_walk(state)) - 1


def test_moving_lets_go_of_the_selected_cell():
    state = actions.select_cell(view(), (1, 2))
    assert navigation.next_op(state).selected is None


def test_playing_stops_at_the_end():
    state = actions.set_playing(navigation.previous_op(navigation.end(view())), True)
    state = navigation.advance(state)
    assert state.playing
    assert current_index(state) == len(current_walk(state)) - 1
    assert not navigation.advance(state).playing


def test_without_a_run_no_key_does_anything():
    state = ViewState()
    for move in (navigation.next_op, navigation.home, navigation.end, navigation.next_token):
        assert move(state) is state
    assert current_place(state) is None


def test_a_place_that_another_model_lacks_shows_the_first_record():
    state = replace(view(), cursor=Cursor("decoder.layers.7.ffn.out", 1))
    assert shown_site(state) == state.run.tape.sites[0]


def test_an_alias_is_shown_as_the_record_behind_it():
    state = navigation.go_to_site(view(), "decoder.out")
    assert shown_site(state) == "decoder.layers.1.norm3.out"


# The timeline.


@pytest.mark.parametrize("traits", TRAITS)
def test_the_stretches_of_the_timeline_cover_the_walk_without_a_gap(traits):
    along = current_walk(view(**traits))
    start = 0
    for segment in along.segments():
        assert segment.start == start
        assert segment.count > 0
        start += segment.count
    assert start == len(along)


def test_the_timeline_names_embedding_layers_and_tokens():
    kinds = [(segment.kind, segment.number) for segment in current_walk(view()).segments()]
    assert kinds == [
        ("embed", 0),
        ("encoder", 0),
        ("encoder", 1),
        ("token", 0),
        ("token", 1),
        ("token", 2),
        ("token", 3),
    ]


def test_the_norm_that_ends_a_pre_norm_encoder_is_a_stretch_of_its_own():
    kinds = [segment.kind for segment in current_walk(view(norm_position="pre")).segments()]
    assert kinds[:4] == ["embed", "encoder", "encoder", "memory"]


def test_the_route_of_a_model_is_made_once():
    sites = tuple(view().run.tape.sites)
    assert route(sites) is route(tuple(view().run.tape.sites))
    assert walk(sites, 2).route is walk(sites, 5).route


# Back along the gradients.


@pytest.mark.parametrize("traits", TRAITS)
def test_gradients_are_walked_from_the_target_back_every_record_once(traits):
    state = gradients_at(CROSS, **traits)
    sites = tape_of(state).sites
    encoder = [site for site in sites if site.startswith("encoder.")]
    decoder = [site for site in sites if not site.startswith("encoder.")]
    stops = visited(state)
    assert [site for site, _ in stops] == (encoder + decoder)[::-1]
    assert stops[0][0] == "target"
    assert {token for _, token in stops} == {3}
    assert len(current_walk(state)) == len(stops) == len(sites)


@pytest.mark.parametrize("traits", TRAITS)
def test_a_gradient_is_reached_only_after_all_that_it_comes_from(traits):
    state = gradients_at(CROSS, **traits)
    tape, along = tape_of(state), current_walk(state)
    for record in tape:
        for share in record.shares:
            assert along.index(share.consumer_site, 0) < along.index(record.site, 0)


def test_a_step_number_and_its_place_agree_on_the_way_back():
    along = current_walk(gradients_at(CROSS))
    for index in range(len(along)):
        step = along.step(index)
        assert step.token is None and along.index(step.place.site, 0) == index


@pytest.mark.parametrize("traits", TRAITS)
def test_the_timeline_of_gradients_begins_at_the_target_and_ends_at_the_embedding(traits):
    along = current_walk(gradients_at(CROSS, **traits))
    kinds = [(segment.kind, segment.number) for segment in along.segments()]
    pre = traits.get("norm_position") == "pre"
    encoder = traits.get("n_encoder_layers", 2)
    decoder = traits.get("n_decoder_layers", 2)
    assert kinds == [
        ("target", 0),
        ("output", 0),
        *([("decoder_norm", 0)] if pre else []),
        *(("decoder", layer) for layer in reversed(range(decoder))),
        ("decoder_embed", 0),
        *([("memory", 0)] if pre else []),
        *(("encoder", layer) for layer in reversed(range(encoder))),
        ("embed", 0),
    ]
    start = 0
    for segment in along.segments():
        assert segment.start == start
        start += segment.count
    assert start == len(along)


def test_larger_steps_go_back_by_sublayers_and_layers():
    state = gradients_at("decoder.layers.1.cross_attn.scores")
    assert shown_site(navigation.next_layer(state)) == "decoder.layers.0.cross_attn.scores"
    assert shown_site(navigation.next_sublayer(state)) == "decoder.layers.1.norm1.out"
    assert shown_site(navigation.previous_sublayer(state)) == "decoder.layers.1.norm2.out"
    first = navigation.next_layer(gradients_at("encoder.layers.0.ffn.out"))
    assert current_place(first).group == "encoder.embed"


@pytest.mark.parametrize("move", [navigation.next_sublayer, navigation.next_layer])
@pytest.mark.parametrize("traits", TRAITS)
def test_larger_steps_on_the_way_back_reach_its_end(move, traits):
    state = navigation.home(gradients_at(CROSS, **traits))
    while (following := move(state)) is not state:
        assert current_index(following) > current_index(state)
        state = following
    assert current_index(state) == len(current_walk(state)) - 1


def test_playing_walks_back_to_the_first_record_and_stops():
    state = actions.set_playing(navigation.home(gradients_at(CROSS)), True)
    for _ in range(len(current_walk(state))):
        state = navigation.advance(state)
    assert not state.playing and shown_site(state) == state.run.tape.sites[0]


def test_alt_moves_the_targets_row_and_stays_at_the_record_even_in_the_encoder():
    state = gradients_at("encoder.layers.0.ffn.out", token=1)
    there = answered(navigation.next_token(state))
    assert shown_site(there) == "encoder.layers.0.ffn.out"
    assert (tape_of(there).target.row, current_token(there)) == (2, 2)
    assert tape_of(answered(navigation.previous_token(there))).target.row == 1
    chosen = gradient_actions.aim_at(state, 1, 9)
    assert navigation.next_token(chosen) is chosen


def test_leaving_the_gradients_at_their_target_shows_what_it_was_picked_from():
    state = navigation.home(gradients_at(CROSS))
    assert shown_site(actions.set_showing(state, "values")) == "log_probs"
