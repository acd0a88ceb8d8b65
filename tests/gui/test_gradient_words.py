"""Gradients in words and on the way: what they come back from, their check, back to the target."""

from __future__ import annotations

import pytest

from model_core.finite_difference import Difference
from model_core.gradient_check import Agreement
from model_core.ops.base import Origin
from tests.gui.gradient_views import answered, gradients_at, tape_of
from tests.gui.views import CROSS
from visualizer import actions, gradient_actions, navigation, trail, walkthrough
from visualizer.lenses import backward, check, explanation, stage
from visualizer.lenses.line import plain_text
from visualizer.state import shown_site


@pytest.mark.parametrize("kind", ["log_prob", "loss"])
def test_every_way_leads_to_the_target_which_has_no_cells(kind):
    start = gradients_at("log_probs", token=2)
    if kind == "loss":
        start = answered(gradient_actions.aim_at_loss(start))
    target = tape_of(start).target_site
    for site in tape_of(start).sites:
        if site == target:
            continue
        there = actions.select_cell(navigation.go_to_site(start, site), (0, 0))
        ways = {
            "home": navigation.home(there),
            "chip": navigation.go_to_record(there, target),
            "place": navigation.go_to_site(there, target),
            "link": trail.follow(there, Origin(target, (), "gradient")),
        }
        if navigation.current_index(there) == 1:
            ways["arrow"] = navigation.previous_op(there)
        for way, found in ways.items():
            assert shown_site(found) == target, (site, way)
            assert way == "link" or found.selected is None, (site, way)
            assert stage.stage(found).values.shape == (1, 1)
            # and from there on
            assert shown_site(navigation.next_op(actions.select_cell(found, (0, 0)))) != target


@pytest.mark.parametrize("count_from", [0, 1])
def test_the_records_that_a_gradient_comes_back_from_are_counted_as_the_page_counts(count_from):
    state = actions.set_count_from(gradients_at(CROSS), count_from)
    tape, said = tape_of(state), {}
    for site in ("decoder.layers.1.ffn.out", "decoder.layers.1.cross_attn.q", "log_probs"):
        there = navigation.go_to_site(state, site)
        cell = explanation.cell_text(there, stage.stage(there), (0, 0))
        said[site] = plain_text(cell.lines[0])
    assert f"back from layer {1 + count_from} · residual:" in said["decoder.layers.1.ffn.out"]
    heads = f"back from layer {1 + count_from} · q by head of Cross-attention:"
    assert heads in said["decoder.layers.1.cross_attn.q"]
    assert "back from target:" in said["log_probs"]
    for record in tape:
        for share in record.shares:
            name = backward.reader_name(tape, share.consumer_site, count_from)
            layer_of = walkthrough.route(tuple(tape.sites)).place(share.consumer_site).layer
            assert (layer_of is None) == ("layer" not in name.split(" · ")[0])
            assert layer_of is None or f"layer {layer_of + count_from} · " in name


@pytest.mark.parametrize(
    ("gradient", "slope", "verdict", "texts"),
    [
        (0.0061341, 0.0061344, "agrees", ("0.006134", "0.006134")),
        (0.5, 0.5, "agrees", ("0.5000", "0.5000")),
        (6.1344e-7, 6.1344e-7, "agrees", ("6.134e-7", "6.134e-7")),
        (0.12345671, 0.12345682, "differs", ("0.12345671", "0.12345682")),
        (-0.25, 0.5, "differs", ("-0.2500", "0.5000")),
    ],
)
def test_a_check_shows_as_many_digits_as_it_compares(gradient, slope, verdict, texts):
    apart = abs(gradient - slope) / max(abs(gradient), abs(slope))
    found = Agreement(gradient, Difference(slope, 1e-5, 1.0, 0.0), apart, 1e-4, 1e-9, verdict)
    said = check._told(found).text
    assert said.startswith(f"gradient {texts[0]} · finite difference {texts[1]} · ")
