"""Gradients on the stage: the gradients' own numbers under the name of their own target."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication

from model_core.attribution import gradient_x_input
from model_core.gradients import Target, gradients_of
from model_core.ops.base import Origin
from tests.gui.gradient_views import answered, gradients_at, tape_of
from tests.gui.live_window import live  # noqa: F401
from tests.gui.views import CROSS, view
from visualizer import actions, gradient_actions, navigation, trail
from visualizer.inquirer import answer_all
from visualizer.inquiries import gradients as inquiry
from visualizer.inquiries.difference import DifferenceInquiry
from visualizer.lenses import (
    attribution,
    caption,
    check,
    flow,
    layer,
    ranking,
    stage,
    views,
)
from visualizer.lenses.gradient_words import is_waiting
from visualizer.lenses.target_choice import target_choice
from visualizer.state import (
    current_tape,
    current_token,
    shown_gradients,
    shown_site,
    target_of,
)
from visualizer.store import Store

LEFT = Qt.MouseButton.LeftButton
ROWS = 4
TRAITS = [{}, {"norm_position": "pre"}, {"activation": "gelu"}]


def go(state, site: str):
    return navigation.go_to_site(state, site)


# Pictures.


@pytest.mark.parametrize("traits", TRAITS)
def test_every_picture_shows_the_gradients_own_numbers_of_all_rows(traits):
    state = gradients_at(CROSS, token=1, **traits)
    tape = tape_of(state)
    seen = 0
    for record in tape:
        there = go(state, record.site)
        matrix = stage.stage(there)
        if tape.value_of(record.site).dtype.kind != "f":
            assert matrix is None
            continue
        gradient = record.value
        assert matrix.palette == "diverging" and matrix.low == -matrix.high
        seen_cells = matrix.values if matrix.hidden is None else matrix.values[~matrix.hidden]
        assert matrix.high >= np.abs(seen_cells).max()
        for row, column in np.ndindex(*matrix.values.shape):
            index = matrix.cell_index(row, column)
            assert matrix.values[row, column] == gradient[index]
        if "T" in record.axes[-2:-1]:
            assert matrix.values.shape[0] == ROWS
        seen += 1
    assert seen == len(tape) - 4  # all but the masks


@pytest.mark.parametrize("traits", TRAITS)
def test_every_strip_and_figure_is_a_gradient_of_the_record_it_names(traits):
    state = gradients_at(CROSS, **traits)
    tape, met = tape_of(state), set()
    for site in tape.sites:
        there = go(state, site)
        together = views.stack(there, stage.stage(there))
        for strip in together.strips if together is not None else ():
            value = tape.gradient_of(strip.site)
            np.testing.assert_array_equal(strip.matrix.values, value.reshape(value.shape[-2:]))
            met.add(strip.site.rsplit(".", 1)[-1])
        for figures in together.figures if together is not None else ():
            np.testing.assert_array_equal(figures.values, tape.gradient_of(figures.site)[0, :, 0])
            met.add(figures.site.rsplit(".", 1)[-1])
    assert {"tokens", "out", "hidden", "activation", "normalised", "mean", "variance"} <= met


def test_hidden_cells_stay_hidden_and_have_no_gradient():
    for role in ("masked_scores", "weights"):
        state = gradients_at(f"decoder.layers.0.self_attn.{role}")
        matrix = stage.stage(state)
        assert matrix.hidden.tolist() == np.triu(np.ones((ROWS, ROWS), bool), 1).tolist()
        if role == "masked_scores":
            assert not matrix.values[matrix.hidden].any()
        else:
            # these have one, for what a larger weight there would do: it dims no other colour
            whole = tape_of(state).gradient_of(state.cursor.site)[0]
            assert matrix.high == np.abs(whole[:, ~matrix.hidden]).max()


def test_a_mask_has_no_picture_and_says_why():
    state = gradients_at("decoder.mask")
    assert stage.stage(state) is None
    assert "nothing flows back" in caption.caption(state).sentence


def test_the_words_name_the_target_the_record_and_what_flows_back():
    state = gradients_at(CROSS, token=2)
    words = caption.caption(state)
    token = state.run.tape.predicted_tokens[2]
    assert f"log p({token} | position 3)" in words.sentence and "“weights”" in words.sentence
    assert words.op_title == "gradient of weights"
    assert words.formula == tape_of(state)[CROSS].formula != ""
    assert "context's gradient" in words.why
    stream = caption.caption(go(state, "decoder.layers.0.norm1.out"))
    assert "2 records read these numbers" in stream.why


def test_no_row_of_gradients_is_said_to_sum_to_one():
    assert "sums to 1" in stage.stage(replace(gradients_at(CROSS), showing="values")).column_title
    assert "sums to 1" not in stage.stage(gradients_at(CROSS)).column_title


def test_the_layers_table_and_the_flow_show_gradients_under_that_name():
    state = gradients_at("decoder.layers.0.norm2.out")
    tape, rows = tape_of(state), layer.layer_rows(state)
    np.testing.assert_array_equal(rows.mean, tape.gradient_of(rows.mean_site)[0, :, 0])
    np.testing.assert_array_equal(rows.sigma, tape.gradient_of(rows.variance_site)[0, :, 0])
    assert rows.heads == ("μ", "var.")
    whole = flow.flow(state)
    part = whole.sides[1]
    wanted = np.sqrt((tape.gradient_of(part.stations[-1].stream)[0] ** 2).sum(axis=-1))
    np.testing.assert_allclose(part.stream[:, -1], wanted, rtol=1e-5)
    assert "gradient" in whole.stream_title and whole.target in flow.flow_caption(whole).sentence


def test_the_ranking_of_gradients_begins_with_the_largest_and_keeps_the_probabilities():
    state = gradients_at("logits", token=2)
    found = ranking.ranking(state, stage.stage(state))
    tape = tape_of(state)
    gradient = tape.gradient_of("logits")[0, 2]
    np.testing.assert_array_equal(found.logits, gradient[list(found.ids)])
    assert (np.diff(np.abs(found.logits)) <= 0).all()
    log_probs = state.run.tape["log_probs"].value[0, 2]
    np.testing.assert_array_equal(found.log_probs, log_probs[list(found.ids)])
    assert found.ids[found.chosen] == tape.target.token


# Which gradients: never under a wrong name.


def test_until_the_gradients_come_the_values_stay_under_their_own_name():
    state = actions.set_showing(view(), "gradients")
    assert is_waiting(state)
    assert current_tape(state) is state.run.tape
    assert "Gradient of" not in caption.caption(state).sentence
    assert stage.stage(state).palette == "sequential"
    assert not is_waiting(answered(state))


def test_gradients_of_another_target_keep_its_name_until_the_new_ones_come():
    before = gradients_at(CROSS, token=1)
    moved = navigation.next_token(before)
    assert is_waiting(moved) and tape_of(moved).target.row == 1
    assert "position 2)" in caption.caption(moved).sentence
    after = answered(moved)
    assert tape_of(after).target.row == 2 and "position 3)" in caption.caption(after).sentence


def test_another_run_shows_no_gradients_of_the_one_before():
    state = gradients_at(CROSS)
    other = actions.show_run(state, replace(state.run, number=state.run.number + 1))
    assert shown_gradients(other) is None and is_waiting(other)


# The target.


def test_without_a_choice_the_target_is_what_the_cursors_row_predicts():
    state = gradients_at(CROSS, token=2)
    assert target_of(state) == Target("log_prob", 2, state.run.chosen[2])
    assert tape_of(state).target == target_of(state)
    assert not target_choice(state).chosen


def test_any_token_and_any_row_can_be_the_target_and_what_is_usual_is_no_choice():
    state = gradients_at(CROSS, token=2)
    there = gradient_actions.aim_at_token(state, 9)
    assert target_of(there) == Target("log_prob", 2, 9) and target_choice(there).chosen
    there = gradient_actions.aim_at_row(there, 0)
    assert target_of(there) == Target("log_prob", 0, 9) and current_token(there) == 2
    assert target_of(gradient_actions.follow_cursor(there)) == target_of(state)
    assert gradient_actions.aim_at_token(state, state.run.chosen[2]).target is None
    assert gradient_actions.aim_at_row(state, 1).target is None
    assert gradient_actions.aim_at(state, 99, 4) is state
    assert gradient_actions.aim_at(state, 0, 999) is state


@pytest.mark.parametrize("target", ["t4 t6 t5", None])
def test_the_labels_of_the_loss_are_the_target_sentence_shifted(target):
    state = answered(
        gradient_actions.aim_at_loss(actions.set_showing(view(target=target), "gradients"))
    )
    read = state.run.tape.target_ids[0].tolist()
    labels = tape_of(state).target.labels
    assert list(labels[:-1]) == read[1:]
    end = state.model.model.tokenizer.end_id if target else state.run.chosen[-1]
    assert labels[-1] == end
    log_probs = state.run.tape["log_probs"].value[0]
    wanted = -np.mean([log_probs[row, label] for row, label in enumerate(labels)])
    assert tape_of(state).value_of("loss") == pytest.approx(wanted, rel=1e-5)


def test_a_chosen_row_that_a_shorter_run_lacks_is_its_last():
    state = gradient_actions.aim_at(gradients_at(CROSS), 3, 9)
    shorter = actions.show_run(state, view(target="t4").run)
    assert target_of(shorter) == Target("log_prob", 1, 9)


# Links.


def test_a_link_to_a_later_row_leaves_the_target_where_it_is():
    state = gradients_at(CROSS, token=1)
    there = trail.follow(state, Origin("decoder.layers.1.norm3.out", (0, 3, 5), "gradient"))
    assert (shown_site(there), there.selected) == ("decoder.layers.1.norm3.out", (3, 5))
    assert target_of(there) == target_of(state)
    row = navigation.go_to_record(state, "decoder.embed.out", 3)
    assert row.selected[0] == 3 and target_of(row) == target_of(state)


# Attribution.


def test_the_bars_are_gradient_times_input_of_the_tokens_that_have_been_read():
    state = gradients_at(CROSS, token=1)
    source, target = attribution.attributions(state).sides
    wanted = gradient_x_input(tape_of(state))
    np.testing.assert_array_equal(source.values, wanted.source)
    np.testing.assert_array_equal(target.values, wanted.target[:2])
    assert source.tokens == tuple(state.run.tape.source_tokens)
    assert "not its value" in attribution.attributions(state).about[0]
    assert attribution.attributions(view()) is None


# The check.


def test_a_check_shows_both_numbers_until_the_cell_or_the_target_changes():
    site = "encoder.layers.0.ffn.out"
    state = gradients_at(site)
    cell = (0, 2, 4)
    assert check.can_check(state) and check.check_text(state, (site, cell)) is None
    store = Store(gradient_actions.check_cell(state, site, cell))
    assert check.check_text(store.state, (site, cell)).tone == "waiting"
    answer_all(store, (DifferenceInquiry,))
    told = check.check_text(store.state, (site, cell))
    assert told.tone == "good" and "finite difference" in told.text
    assert check.check_text(store.state, (site, (0, 2, 5))) is None
    other = answered(navigation.previous_token(store.state))
    assert check.check_text(other, (site, cell)).tone == "waiting"


def test_what_is_too_small_to_tell_is_grey_with_the_reason():
    name = "decoder.layers.0.cross_attn.b_k"
    store = Store(gradient_actions.check_cell(gradients_at(CROSS), name, (3,)))
    answer_all(store, (DifferenceInquiry,))
    told = check.check_text(store.state, (name, (3,)))
    assert told.tone == "quiet" and "too small to tell" in told.text


# In a window.


def until_there(live):  # noqa: F811
    live.qtbot.waitUntil(lambda: shown_gradients(live.state) is not None, timeout=5000)
    live.qtbot.waitUntil(lambda: not is_waiting(live.state), timeout=5000)


def test_g_shows_gradients_and_the_right_arrow_walks_back(live):  # noqa: F811
    live.store.dispatch(navigation.go_to_site, "logits")
    live.press(Qt.Key.Key_G, widget=live.window.stage)
    until_there(live)
    assert live.window.stage.target.isVisible()
    live.press(Qt.Key.Key_Right, widget=live.window.stage)
    assert shown_site(live.state) == "decoder.layers.1.norm3.out"
    live.press(Qt.Key.Key_G, widget=live.window.stage)
    assert not live.window.stage.target.isVisible()


def test_a_typed_token_and_a_click_on_a_candidate_choose_the_target(live):  # noqa: F811
    live.store.dispatch(actions.set_showing, "gradients")
    until_there(live)
    chooser = live.window.stage.target
    chooser.token.setFocus()
    chooser.token.selectAll()
    live.qtbot.keyClicks(chooser.token, "t7")
    live.qtbot.keyClick(chooser.token, Qt.Key.Key_Return)
    vocabulary = live.state.model.model.tokenizer.target_vocabulary
    assert vocabulary[target_of(live.state).token] == "t7"
    live.qtbot.waitUntil(lambda: tape_of(live.state).target == target_of(live.state), timeout=5000)
    live.store.dispatch(gradient_actions.show_beside, "next_token")
    bars = live.window.prediction.bars
    live.qtbot.waitUntil(bars.isVisible, timeout=5000)
    place = bars.shown()[2]
    live.qtbot.mouseClick(bars, LEFT, pos=(bars.rect().topLeft() + _line(bars, 2)))
    assert vocabulary[target_of(live.state).token] == bars._bars.labels[place]


def _line(bars, number: int):
    return QPoint(bars.width() // 2, round((number + 0.5) * bars._line()))


def test_a_word_that_is_no_token_is_said_and_changes_nothing(live):  # noqa: F811
    live.store.dispatch(actions.set_showing, "gradients")
    until_there(live)
    before = target_of(live.state)
    live.window.stage.target.tokenChosen.emit("nonsense")
    assert "nonsense" in live.notice() and target_of(live.state) == before


def test_a_click_on_an_attribution_bar_goes_to_the_embeddings_row(live):  # noqa: F811
    live.store.dispatch(actions.set_showing, "gradients")
    until_there(live)
    bars = live.window.prediction.attribution
    live.qtbot.waitUntil(bars.isVisible, timeout=5000)
    QApplication.processEvents()  # it lies where its layout puts it
    spot = bars.line_rect("encoder.embed.out", 2).center().toPoint()
    live.qtbot.mouseClick(bars, LEFT, pos=spot)
    assert shown_site(live.state) == "encoder.embed.out" and live.state.selected[0] == 2


def test_gradients_that_are_no_longer_asked_for_are_dropped(live, monkeypatch):  # noqa: F811
    started, release, asked = threading.Event(), threading.Event(), []

    def slow(tape, target):
        asked.append(target)
        if len(asked) == 1:
            started.set()
            assert release.wait(10)
        return gradients_of(tape, target)

    monkeypatch.setattr(inquiry, "gradients_of", slow)
    shown = []
    live.store.changed.connect(
        lambda old, new, fields: shown.append(tape_of(new).target) if new.gradients else None
    )
    live.store.dispatch(actions.set_showing, "gradients")
    live.qtbot.waitUntil(started.is_set, timeout=5000)
    live.qtbot.waitUntil(live.window.stage.target.waiting.isVisible, timeout=5000)
    live.store.dispatch(gradient_actions.aim_at, 0, 9)
    assert shown_gradients(live.state) is None
    release.set()
    until_there(live)
    assert asked[0] != asked[-1] == Target("log_prob", 0, 9)
    assert set(shown) == {Target("log_prob", 0, 9)}
    assert not live.window.stage.target.waiting.isVisible()


def test_the_check_button_brings_both_numbers(live):  # noqa: F811
    live.store.dispatch(navigation.go_to_site, "decoder.layers.0.ffn.out")
    live.store.dispatch(actions.set_showing, "gradients")
    until_there(live)
    stage_panel = live.window.stage
    live.qtbot.mouseClick(stage_panel.check, LEFT)
    live.qtbot.waitUntil(
        lambda: stage_panel.checked.check is not None and stage_panel.checked.check.tone == "good",
        timeout=5000,
    )
