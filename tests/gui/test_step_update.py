"""What the stages of clipping, Adam and the check say of a training step's numbers."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from model_core.training.step_check import CheckedParameter
from tests.gui.live_window import WAIT, live  # noqa: F401 (fixture)
from tests.gui.samples import LEFT_BUTTON, at
from tests.gui.test_step_page import PAIRS, answered, finished, opened, stepped
from tests.gui.test_step_training import glassed, run  # noqa: F401 (fixture)
from tests.gui.views import view
from visualizer import i18n, step_actions
from visualizer.inquiries.step import Checking, current_step, found_check
from visualizer.lenses import step_cells, step_pictures, step_tables
from visualizer.lenses.line import plain_text
from visualizer.lenses.numbers import power_of_ten
from visualizer.lenses.step_change import loss_change
from visualizer.lenses.step_check import check_said, checked_cell
from visualizer.lenses.step_choice import chosen_cell
from visualizer.lenses.step_settings import clipping_settings, update_settings
from visualizer.lenses.step_words import update_formulas
from visualizer.state import Found, ViewState

BIAS, W_1 = "encoder.layers.0.ffn.b_1", "decoder.layers.0.ffn.W_1"


def taken_with(recipe: dict, **changes) -> ViewState:
    """The page with a step of a model whose card tells this recipe."""
    state = view()
    model = copy(state.model.model)
    model.card = {"recipe": recipe}
    state = replace(state, model=replace(state.model, model=model), page="step")
    chosen = replace(state.training_step, pairs=PAIRS, **changes)
    return answered(replace(state, training_step=chosen))


# The loss before the step and after it.


def test_a_loss_that_rises_with_empty_averages_says_why_and_at_which_rate():
    state = taken_with({"learning_rate": 0.5, "warmup_steps": 300})
    step = current_step(state)
    assert step.loss_after > step.loss
    why = loss_change(state).why
    assert why.startswith("It rises") and "about 0.5," in why and "near a minimum" in why
    assert "at its peak, 0.5, to which the training warmed up over 300 steps" in why
    i18n.set_language("zh")
    assert "损失反而升高" in loss_change(state).why
    i18n.set_language("en")
    unknown = loss_change(taken_with({"learning_rate": 0.5})).why
    assert "to which a training warms up" in unknown
    fresh = loss_change(taken_with({"learning_rate": 0.5}, weights="fresh"))
    assert "near a minimum" not in fresh.why


def test_a_loss_that_falls_gives_no_reason():
    state = stepped()
    assert current_step(state).loss_after < current_step(state).loss
    assert loss_change(state).why == ""


def test_a_training_with_averages_of_its_own_gives_no_such_reason(run, tmp_path):  # noqa: F811
    state = glassed(run, tmp_path)
    step = current_step(state)
    # as if this batch had become dearer
    step.__dict__["loss_after"] = step.loss + 1.0
    assert step.optimised.before.steps == 7
    assert loss_change(state).why == ""


# The settings.


def test_every_setting_that_the_step_uses_is_told():
    state = taken_with(
        {
            "learning_rate": 0.004,
            "beta1": 0.8,
            "beta2": 0.95,
            "epsilon": 1e-8,
            "max_norm": 0.7,
            "label_smoothing": 0.15,
            "dropout": {"attention": 0.01, "ffn": 0.02, "sublayer": 0.03},
        }
    )
    told = [float(one.value) for one in update_settings(state)]
    assert told == [0.004, 0.8, 0.95, 1e-8, 0.7, 0.15, 0.01, 0.02, 0.03, 0.0]
    assert [one.value for one in clipping_settings(state)] == ["0.7"]


def test_below_its_peak_the_learning_rate_of_a_training_is_told_with_it(run, tmp_path):  # noqa: F811
    state = glassed(run, tmp_path)
    step = current_step(state)
    rate = update_settings(state)[0].value
    assert float(rate.split(" ")[0]) == pytest.approx(step.optimised.learning_rate, rel=1e-3)
    assert rate.endswith("of at most 0.002")


# The pictures of a parameter.


def test_before_and_after_have_one_scale_also_where_all_was_zero():
    state = step_actions.look_at_parameter(stepped(weights="fresh"), BIAS)
    cells = current_step(state).cells(BIAS)
    assert not cells.before.any()
    before, update, after = step_pictures.weight_pictures(state)
    largest = float(np.abs(cells.after).max())
    assert (before.low, before.high) == (after.low, after.high) == (-largest, largest)
    assert before.unit == after.unit
    assert update.high == pytest.approx(float(np.abs(cells.update).max()))
    notes = step_pictures.weight_notes(state)
    assert f"±{power_of_ten(f'{largest:.3g}')}" in notes[0]
    assert "as after" in notes[0] and "as before" in notes[2]


def test_a_cell_under_the_pointer_tells_row_column_and_number_of_all_three(live):  # noqa: F811
    page = opened(live)
    live.store.dispatch(step_actions.show_stage, "adam")
    live.store.dispatch(step_actions.look_at_parameter, W_1)
    part, step = page.parts["adam"], current_step(live.state)
    cells = step.cells(W_1)
    resting = [head._note for head in part.heads]
    assert all("±" in note for note in resting)
    part.changes[1].cellHovered.emit(2, 3)
    count = live.state.count_from
    for head, value in zip(part.heads, (cells.before, cells.update, cells.after), strict=True):
        place, number = head._note.split(": ")
        assert place == f"row {2 + count}, column {3 + count}"
        assert np.float32(number) == value[2, 3]
    part.changes[1].left.emit()
    assert [head._note for head in part.heads] == resting
    live.store.dispatch(step_actions.look_at_parameter, BIAS)
    part.changes[0].cellHovered.emit(0, 3)
    assert part.heads[0]._note.startswith(f"number {3 + count}: ")


def test_moments_that_are_not_corrected_are_not_said_to_be():
    usual = [one.title for one in update_formulas(stepped())]
    wrong = [
        one.title for one in update_formulas(stepped(mistakes=frozenset({"no_bias_correction"})))
    ]
    assert usual[4:6] == ["corrected"] * 2 and wrong[4:6] == ["not corrected"] * 2
    assert usual[:4] + usual[6:] == wrong[:4] + wrong[6:]


# The check.


def test_the_check_names_the_cell_and_a_click_leads_to_its_weight(live):  # noqa: F811
    page = opened(live)
    live.store.dispatch(step_actions.toggle_mistake, "no_key_value_gradient")
    live.qtbot.waitUntil(lambda: current_step(live.state) is not None, timeout=WAIT)
    live.store.dispatch(step_actions.show_stage, "check")
    live.store.dispatch(step_actions.set_checking, True)
    live.qtbot.waitUntil(lambda: not live.state.training_step.checking, timeout=WAIT)
    rows = found_check(live.state).rows
    worst = max(rows, key=lambda row: row.worst)
    assert worst.index is not None
    said, place = check_said(live.state), ", ".join(map(str, worst.index))
    assert f"{worst.name}[{place}]: {step_tables.digits(worst.gradient)}" in said
    assert f"by differences {step_tables.digits(worst.difference)}." in said
    part = page.parts["check"]
    number = next(n for n, row in enumerate(rows) if row.name == worst.name)
    assert part.table.table.rows[number].cells[1] == f"[{place}]"
    # the keys stay on the page
    assert part.step_table(1) and live.state.training_step.stage == "check"
    part.table.scroll(-1000)
    part.table.scroll(number)
    rect = part.table.row_rect(number)
    live.qtbot.mouseClick(part.table, LEFT_BUTTON, pos=at(rect.center()))
    shown = live.state.training_step
    assert (shown.stage, shown.parameter) == ("adam", worst.name)
    assert chosen_cell(live.state, current_step(live.state)) == worst.index
    live.store.dispatch(step_actions.go_back)
    assert live.state.training_step.stage == "check"


def test_one_wrong_parameter_is_one_and_all_cells_at_once_name_none():
    state = finished(step_actions.set_checking(stepped(), True))
    twin, rows = found_check(state).twin, list(found_check(state).rows)
    rows[3] = rows[3]._replace(worst=0.5, index=None)
    wrong = replace(state, step_check=Found(state.step_check.key, Checking(twin, tuple(rows))))
    assert check_said(wrong).startswith(f"1 of {len(rows)} parameters has a wrong gradient")
    assert f"{rows[3].name}:" in check_said(wrong)
    assert step_tables.check_table(wrong).rows[3].cells[1] == "all at once"
    assert checked_cell(wrong, rows[3].name) is None
    rows[4] = CheckedParameter(*rows[4])._replace(worst=0.6)
    wrong = replace(state, step_check=Found(state.step_check.key, Checking(twin, tuple(rows))))
    assert check_said(wrong).startswith(f"2 of {len(rows)} parameters have a wrong gradient")


# Numbers.


def test_the_mean_of_the_costs_is_bracketed_without_a_gap():
    state = step_actions.look_at_record(stepped(), "loss")
    count = int(current_step(state).counted.sum())
    for line in step_cells.record_cell(state, (0, 0)).lines:
        said = plain_text(line)
        assert said.startswith("(") and f") / {count} =" in said
        assert " )" not in said and "( " not in said


def test_the_terms_of_a_small_gradient_add_up_to_it_as_they_are_written():
    state = step_actions.look_at_parameter(stepped(), W_1)
    own = current_step(state).optimised.gradients[W_1]
    sizes = np.where(np.abs(own) > 1e-5, np.abs(own), np.inf)
    cell = tuple(int(i) for i in np.unravel_index(int(sizes.argmin()), own.shape))
    assert 1e-5 < abs(own[cell]) < 1e-3
    line = step_cells.weight_gradient(step_actions.look_at_parameter(state, W_1, cell)).lines[0]
    products = [piece.text.lstrip("+ ") for piece in line if piece.links]
    written = sum(float(eval(text.replace("·", "*"))) for text in products)
    rest = sum(float(p.text.rstrip(")").split(": ")[-1]) for p in line if "more: " in p.text)
    assert written + rest == pytest.approx(float(own[cell]), rel=5e-2)


@pytest.mark.parametrize("zero", [-0.0, 0.0, np.float32(-0.0)])
def test_a_zero_has_no_sign(zero):
    assert step_tables.digits(zero) == "0"
    assert not step_tables.power(zero).startswith("-")
    assert power_of_ten(f"{zero:.2e}", bare=True) == "0e0"


def test_a_small_negative_number_keeps_its_sign():
    assert step_tables.digits(-1e-9) == "-1e-9"
    assert step_tables.digits(-0.25) == "-0.25"


def test_a_label_that_is_nearly_certain_is_not_said_to_be_certain():
    state = stepped()
    step = current_step(state)
    step.__dict__["label_probabilities"] = np.full(step.batch.labels.shape, 1.0 - 3.46e-5)
    assert step_tables.loss_table(state).rows[0].cells[3] == "1 - 3.5e-5"


# On screen.


def test_the_settings_are_broken_between_settings_and_never_make_the_window_grow(live):  # noqa: F811
    page = opened(live)
    before = live.window.size()
    live.store.dispatch(step_actions.show_stage, "adam")
    assert live.window.size() == before
    line = page.parts["adam"].settings
    assert len(line.settings) == 10
    assert [one for part in line.lines() for one in part] == list(line.settings)
    high = line.sizeHint().height()
    line.resize(round(16 * line.em), high)
    assert len(line.lines()) > 3 and line.sizeHint().height() > high
