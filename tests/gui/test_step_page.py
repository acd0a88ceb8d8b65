"""One training step on screen: its stages, its check, its mistakes; nothing of it blocks."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt

from model_core.training.mistakes import MISTAKES
from model_core.training.step import glass_step
from model_core.training.step_sources import recipe_of
from tests.gui.live_window import WAIT, live  # noqa: F401 (fixture)
from tests.gui.samples import LEFT_BUTTON, at
from tests.gui.views import view, worked_view
from visualizer import actions, i18n, step_actions
from visualizer.inquirer import answer_all
from visualizer.inquiries.step import (
    current_step,
    found_check,
    found_curves,
    refusal,
    shown_step,
    step_key,
)
from visualizer.lenses import step_cells, step_pictures, step_tables, step_words
from visualizer.lenses.step_batch import batch_grid
from visualizer.lenses.step_check import check_said
from visualizer.lenses.step_choice import chosen_cell
from visualizer.state import ViewState
from visualizer.step_view import MOST_PAIRS, STAGES, TRIED_STEPS
from visualizer.store import Store

PAIRS = (("s4 s7 s5", "t4 t6 t5"), ("s9", "t8"))


def stepped(pairs=PAIRS, **changes) -> ViewState:
    """The page with its step taken."""
    state = actions.show_page(view(), "step")
    shown = replace(state.training_step, pairs=pairs, **changes)
    return answered(replace(state, training_step=shown))


def answered(state: ViewState) -> ViewState:
    store = Store(state)
    answer_all(store)
    return store.state


def finished(state: ViewState) -> ViewState:
    """Answered until nothing is wanted any more."""
    store = Store(state)
    for _ in range(400):
        answer_all(store)
        view = store.state.training_step
        if not view.checking and not view.trying:
            return store.state
    raise AssertionError("never done")


# What is asked for.


def test_the_first_step_is_taken_on_the_sentence_and_the_models_own_output():
    state = actions.show_page(view(), "step")
    assert step_actions.pairs_of(state) == ((state.run.inputs.source, state.run.text),)
    taken = current_step(answered(state))
    assert taken is not None and taken.batch.labels.shape[0] == 1


def test_the_step_shown_is_the_cores_own():
    state = stepped(seed=4, mistakes=frozenset({"no_scaling"}))
    model = state.model.model
    wanted = glass_step(model, PAIRS, recipe_of(model.card), 4, ["no_scaling"])
    assert current_step(state).loss == wanted.loss


def test_nothing_is_asked_for_beside_the_page_or_where_there_is_no_decoder():
    assert answered(view()).glass is None
    worked = actions.show_page(worked_view(), "step")
    assert step_key(worked) is None
    assert answered(worked).glass is None


def test_pairs_are_typed_added_removed_and_bounded():
    state = actions.show_page(view(), "step")
    state = step_actions.set_pair(state, 0, 1, "t4")
    assert step_actions.pairs_of(state)[0][1] == "t4"
    for _ in range(MOST_PAIRS + 2):
        state = step_actions.add_pair(state)
    assert len(step_actions.pairs_of(state)) == MOST_PAIRS
    state = step_actions.look_at_sentence(state, 3)
    for _ in range(MOST_PAIRS + 2):
        state = step_actions.drop_pair(state)
    assert len(step_actions.pairs_of(state)) == 1
    assert state.training_step.sentence == 0


def test_texts_that_make_no_batch_say_why_and_keep_the_step_before_on_show():
    state = stepped()
    bad = answered(step_actions.set_pair(state, 1, 1, " "))
    assert refusal(bad) == "pair 2 has no target text; type what should come of its source"
    assert step_words.step_caption(bad).sentence == (
        "Pair 2 has no target text; type what should come of its source"
    )
    assert step_words.waiting(bad) == ""
    assert current_step(bad) is None and shown_step(bad) is None
    i18n.set_language("zh")
    assert step_words.step_caption(bad).sentence == "第 2 对没有目标句，请输入源句应得的目标句"
    again = answered(step_actions.set_pair(bad, 1, 1, "t8"))
    assert current_step(again) is not None


def test_another_model_lets_go_of_the_step():
    state = finished(step_actions.set_checking(stepped(), True))
    assert state.step_check is not None
    other = actions.open_model(state, view(d_ff=10).model)
    assert (other.glass, other.step_check, other.mistake_run) == (None, None, None)
    assert other.training_step.pairs == ()


def test_a_mask_is_not_off_by_one_in_both_ways():
    state = step_actions.toggle_mistake(stepped(), "looks_ahead")
    state = step_actions.toggle_mistake(state, "no_scaling")
    state = step_actions.toggle_mistake(state, "hides_itself")
    assert state.training_step.mistakes == {"hides_itself", "no_scaling"}
    state = step_actions.toggle_mistake(state, "no_scaling")
    assert state.training_step.mistakes == {"hides_itself"}


# What is shown.


def test_padding_is_shown_and_does_not_count():
    state = stepped()
    rows = step_tables.loss_table(state).rows
    assert len(rows) == 2 * 4
    assert [row.quiet for row in rows] == [False] * 4 + [False, False, True, True]
    costs = [float(row.cells[-1]) for row in rows if not row.quiet]
    assert np.mean(costs) == pytest.approx(current_step(state).loss, rel=1e-3)
    grid = batch_grid(state)
    assert [cell.kind for cell in grid.rows[5].cells] == ["counted"] * 2 + ["padding"] * 2
    assert [cell.id for cell in grid.rows[5].cells] == current_step(state).batch.labels[1].tolist()
    assert grid.rows[5].cells[3].text == "<PAD>"


def test_a_mask_shows_which_numbers_were_dropped_and_tells_how_it_was_drawn():
    state = stepped(sentence=1)
    step = current_step(state)
    site = step.dropout_sites[2]
    state = step_actions.look_at_record(state, site)
    picture = step_pictures.record_picture(state)
    assert np.array_equal(picture.values, step.tape[site].value[1])
    assert set(np.unique(picture.values)) <= {0.0, np.float32(1 / 0.9)}
    dropped = tuple(int(i) for i in np.argwhere(picture.values == 0.0)[0])
    kept = tuple(int(i) for i in np.argwhere(picture.values > 0.0)[0])
    for cell, low in ((dropped, True), (kept, False)):
        said = step_cells.record_cell(state, cell)
        u = float(said.lines[0][0].text.split(",")[0].removeprefix("u = "))
        assert (u < 0.1) == low


def test_gradients_are_shown_sentence_by_sentence_with_their_arithmetic():
    state = stepped()
    step = current_step(state)
    table = step_tables.gradients_table(state)
    assert table.rows[0].key == "loss" and table.selected == "logits"
    assert table.rows[-1].key.startswith("encoder.embed")
    for site in ("logits", "decoder.layers.0.cross_attn.weights", "encoder.embed.out"):
        for sentence in (0, 1):
            there = step_actions.look_at_site(state, site)
            there = step_actions.look_at_sentence(there, sentence)
            there = actions.select_head(there, 2)
            picture = step_pictures.gradient_picture(there)
            own = step.gradients[site].value[sentence]
            assert np.array_equal(picture.values, own[2] if own.ndim == 3 else own)
            said = step_cells.gradient_cell(there, (1, 2))
            index = picture.cell_index(1, 2)
            assert said.place == f"{site}[{', '.join(map(str, index))}]"
            assert step.gradients[site].value[index] == picture.values[1, 2]


def test_the_formulas_of_a_weight_lead_to_its_new_value():
    state = stepped()
    step = current_step(state)
    name = "decoder.layers.1.ffn.b_1"
    state = step_actions.look_at_parameter(state, name, (3,))
    said = step_words.update_formulas(state)
    assert len(said) == 8
    assert float(said[-1].plain) == pytest.approx(float(step.cells(name).after[3]), rel=1e-5)
    before, update, after = step_pictures.weight_pictures(state)
    assert np.allclose(before.values - update.values, after.values, atol=1e-7)
    assert before.current_column == 3
    # a place that this parameter has not falls back to the largest gradient
    wrong = step_actions.look_at_parameter(state, name, (3, 99))
    assert chosen_cell(wrong, step) == step.place_of_largest(name)


def test_of_a_keys_bias_it_is_said_that_its_gradient_is_rounding():
    state = step_actions.show_stage(stepped(), "adam")
    said = {}
    for name in ("b_k", "b_q"):
        there = step_actions.look_at_parameter(state, f"encoder.layers.0.self_attn.{name}")
        said[name] = step_words.step_caption(there).sentence
    assert "What is left is rounding" in said["b_k"]
    assert "rounding" not in said["b_q"]


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_every_formula_can_be_typeset(language):
    from visualizer.widgets.formula import typeset

    i18n.set_language(language)
    for mistakes in (frozenset(), frozenset({"no_bias_correction"})):
        for one in step_words.update_formulas(stepped(mistakes=mistakes)):
            assert typeset(one.tex, "#123456") is not None, one.tex


def test_the_window_knows_of_each_mistake_whether_the_check_finds_it():
    assert {n: m.found_by_check for n, m in MISTAKES.items()} == step_words.MISTAKES


def test_where_nothing_is_dropped_a_shared_dropout_object_is_said_to_be_harmless():
    usual = {one.name: one.effect for one in step_words.mistakes_said(stepped())}
    assert usual["shared_dropout"].startswith("The check finds it.")
    state = view()
    model = copy(state.model.model)
    model.card = {"recipe": {"dropout": {"attention": 0.0, "ffn": 0.0, "sublayer": 0.0}}}
    state = replace(state, model=replace(state.model, model=model), page="step")
    chosen = replace(state.training_step, pairs=PAIRS, mistakes=frozenset({"shared_dropout"}))
    state = answered(replace(state, training_step=chosen))
    assert not current_step(state).dropout_sites
    said = {one.name: one.effect for one in step_words.mistakes_said(state)}
    assert said.pop("shared_dropout").startswith("Nothing is dropped in this step")
    assert said == {name: effect for name, effect in usual.items() if name in said}
    done = finished(step_actions.set_checking(state, True))
    assert "are right" in check_said(done)


@pytest.mark.parametrize("mistake", ["", "no_key_value_gradient"])
def test_the_check_goes_through_all_parameters_and_finds_what_is_wrong(mistake):
    state = stepped(mistakes=frozenset({mistake} - {""}))
    rows = step_tables.check_table(state).rows
    assert all(row.quiet and not row.mark for row in rows)
    done = finished(step_actions.set_checking(state, True))
    found = found_check(done)
    assert len(found.rows) == found.total == len(state.model.model.parameters)
    marks = {row.mark for row in step_tables.check_table(done).rows}
    assert marks == ({"ok", "bad"} if mistake else {"ok"})
    said = check_said(done)
    assert ("wrong gradient" in said) == bool(mistake)
    # once more from the start
    assert step_actions.set_checking(done, True).step_check is None
    # of another step nothing is known yet
    assert found_check(step_actions.set_seed(done, 9)) is None


def test_the_loss_is_compared_with_and_without_a_mistake():
    state = stepped()
    assert not step_actions.set_trying(state, True).training_step.trying
    state = step_actions.toggle_mistake(state, "no_scaling")
    done = finished(step_actions.set_trying(state, True))
    curves = found_curves(done)
    assert len(curves.right) == len(curves.wrong) == TRIED_STEPS
    assert curves.right != curves.wrong
    plot = step_words.loss_curves(done)
    assert [len(line.y) for line in plot.lines] == [TRIED_STEPS] * 2
    assert found_curves(step_actions.toggle_mistake(done, "looks_ahead")) is None


# On screen.


def opened(live):  # noqa: F811
    """The page with a step taken on a pair that the model has room for."""
    live.store.dispatch(actions.show_page, "step")
    live.store.dispatch(step_actions.set_pair, 0, 1, "t4 t6")
    live.qtbot.waitUntil(lambda: current_step(live.state) is not None, timeout=WAIT)
    return live.window.stage.pages["step"]


def test_every_stage_is_drawn_and_the_arrow_keys_go_through_its_table(live):  # noqa: F811
    page = opened(live)
    for place, stage in enumerate(STAGES):
        page.stages.chosen.emit(place)
        assert page.stack.currentWidget() is page.parts[stage]
        assert not live.window.grab().isNull()
        assert live.state.training_step.stage == stage
    live.store.dispatch(step_actions.show_stage, "adam")
    table = page.parts["adam"].table.table
    keys = [row.key for row in table.rows]
    here = keys.index(table.selected)
    live.window.stage.setFocus()
    key, by = (Qt.Key.Key_Up, -1) if here else (Qt.Key.Key_Down, 1)
    live.press(key)
    assert live.state.training_step.parameter == keys[here + by]


def test_a_pair_is_typed_and_the_step_follows(live):  # noqa: F811
    page = opened(live)
    before = current_step(live.state)
    _, target = page.parts["batch"].fields.rows[0]
    target.setFocus()
    target.selectAll()
    live.qtbot.keyClicks(target, "t4 t9")
    assert live.state.training_step.pairs[0][1] == "t4 t9"
    live.qtbot.waitUntil(lambda: current_step(live.state) not in (None, before), timeout=WAIT)
    assert current_step(live.state).batch.labels.tolist() == [[4, 9, 2]]


def test_a_click_on_a_line_a_cell_and_a_switch(live):  # noqa: F811
    page = opened(live)
    live.store.dispatch(step_actions.show_stage, "forward")
    table = page.parts["forward"].table
    row = table.table.rows[2]
    live.qtbot.mouseClick(table, LEFT_BUTTON, pos=at(table.row_rect(2).center()))
    assert live.state.training_step.record == row.key
    live.store.dispatch(step_actions.show_stage, "adam")
    heatmap = page.parts["adam"].changes[0]
    live.qtbot.waitUntil(lambda: not heatmap.cell_rect(0, 1).isEmpty(), timeout=WAIT)
    live.qtbot.mouseClick(heatmap, LEFT_BUTTON, pos=at(heatmap.cell_rect(0, 1).center()))
    assert live.state.training_step.cell[-1] == 1
    live.store.dispatch(step_actions.show_stage, "mistakes")
    switch = page.parts["mistakes"].switches.rows["shared_dropout"][0]
    live.qtbot.mouseClick(switch, LEFT_BUTTON, pos=QPoint(8, switch.height() // 2))
    assert live.state.training_step.mistakes == {"shared_dropout"}
    assert switch.isChecked()


def test_the_check_runs_beside_the_window_and_stops_where_it_is_told(live):  # noqa: F811
    page = opened(live)
    live.store.dispatch(step_actions.show_stage, "check")
    live.qtbot.mouseClick(page.parts["check"].button, LEFT_BUTTON)
    assert live.state.training_step.checking
    live.qtbot.waitUntil(lambda: found_check(live.state) is not None, timeout=WAIT)
    if live.state.training_step.checking:
        live.qtbot.mouseClick(page.parts["check"].button, LEFT_BUTTON)
        rows = len(found_check(live.state).rows)
        live.qtbot.wait(400)
        assert len(found_check(live.state).rows) == rows
        live.qtbot.mouseClick(page.parts["check"].button, LEFT_BUTTON)
    live.qtbot.waitUntil(lambda: not live.state.training_step.checking, timeout=WAIT)
    found = found_check(live.state)
    assert len(found.rows) == found.total and all(row.holds for row in found.rows)


def test_leaving_the_page_gives_up_what_is_under_way(live):  # noqa: F811
    opened(live)
    live.store.dispatch(step_actions.toggle_mistake, "no_scaling")
    live.store.dispatch(step_actions.set_trying, True)
    live.qtbot.waitUntil(lambda: found_curves(live.state) is not None, timeout=WAIT)
    live.store.dispatch(actions.show_page, "record")
    live.qtbot.wait(300)
    steps = len(found_curves(live.state).right)
    live.qtbot.wait(500)
    assert len(found_curves(live.state).right) == steps
