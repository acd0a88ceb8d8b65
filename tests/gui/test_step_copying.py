"""Ctrl+C on the page of a training step: what its stage shows, as lines with tabs."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication

from tests.gui.live_window import WAIT, live  # noqa: F401 (fixture)
from tests.gui.test_copying import held, press_copy
from tests.gui.test_step_page import finished, opened, stepped
from visualizer import actions, i18n, step_actions
from visualizer.inquiries.step import current_step
from visualizer.lenses import step_tables, step_text
from visualizer.lenses.step_pictures import record_picture
from visualizer.step_view import STAGES

SITE = "encoder.layers.0.self_attn.weights"


def read(text: str) -> list[list[str]]:
    """The cells, as a spreadsheet takes them."""
    return [line.split("\t") for line in text.splitlines()]


def numbers(rows: list[list[str]]) -> np.ndarray:
    return np.array([[np.float32(cell) for cell in row[1:]] for row in rows[1:]])


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_every_stage_is_copied_as_its_own_table(live, language):  # noqa: F811
    opened(live)
    live.store.dispatch(actions.set_language, language)
    met = set()
    for stage in STAGES:
        live.store.dispatch(step_actions.show_stage, stage)
        live.store.dispatch(actions.dismiss_notice)
        press_copy(live)
        assert held() == step_text.stage_text(live.state) != ""
        assert live.state.notice.key == "notice.copied.table"
        met.add(held())
    assert len(met) == len(STAGES)


def test_the_loss_of_the_copied_positions_is_the_loss():
    state = step_actions.show_stage(stepped(), "loss")
    heads, *rows = read(step_text.stage_text(state))
    assert len(heads) == 5 and len(rows) == 8
    costs = [float(row[4]) for row in rows if row[3]]
    assert np.mean(costs) == pytest.approx(current_step(state).loss, rel=1e-3)


def test_the_batch_is_copied_with_the_ids_of_its_tokens():
    rows = read(step_text.stage_text(stepped()))
    batch = current_step(stepped()).batch
    assert [row[0] for row in rows] == ["1"] * 6 + ["2"] * 6
    assert [[int(cell) for cell in row[2:]] for row in rows[1::6]] == batch.source_ids.tolist()
    assert [[int(cell) for cell in row[2:]] for row in rows[5::6]] == batch.labels.tolist()


def test_the_formulas_of_the_weight_are_copied_below_the_parameters():
    state = step_actions.show_stage(stepped(), "adam")
    rows = read(step_text.stage_text(state))
    step = current_step(state)
    assert [row[0] for row in rows[1 : len(step.parameters) + 1]] == list(step.parameters)
    name, *formulas = rows[len(step.parameters) + 2 :]
    assert name[0].startswith(max(step.norms, key=lambda n: step.norms[n]))
    assert len(formulas) == 8 and np.isfinite([float(row[1]) for row in formulas]).all()


def test_the_copied_check_says_what_holds():
    state = finished(step_actions.set_checking(stepped(), True))
    rows = read(step_text.stage_text(step_actions.show_stage(state, "check")))
    marks = {"ok": "✓", "bad": "✗"}
    shown = step_tables.check_table(state).rows
    assert [row[-1] for row in rows[1:]] == [marks[row.mark] for row in shown]


def test_mistakes_are_copied_and_once_they_were_tried_the_losses():
    state = step_actions.show_stage(
        step_actions.toggle_mistake(stepped(), "no_scaling"), "mistakes"
    )
    rows = read(step_text.stage_text(state))
    assert [row[1] for row in rows if row[0]] == ["Scores not scaled"]
    done = finished(step_actions.set_trying(state, True))
    heads, *rows = read(step_text.stage_text(done))
    assert heads == ["step", "without", "with"] and len(rows) == 200


@pytest.mark.parametrize("stage", ["forward", "backward"])
def test_the_picture_under_the_pointer_is_copied_number_by_number(live, stage):  # noqa: F811
    page = opened(live)
    live.store.dispatch(actions.select_head, 2)
    look = {"forward": step_actions.look_at_record, "backward": step_actions.look_at_site}[stage]
    live.store.dispatch(look, SITE)
    live.store.dispatch(step_actions.show_stage, stage)
    heatmap = page.parts[stage].heatmap
    live.qtbot.waitUntil(lambda: not heatmap.cell_rect(0, 1).isEmpty(), timeout=WAIT)
    press_copy(live)
    assert held() == step_text.stage_text(live.state)
    live.qtbot.mouseMove(heatmap, heatmap.cell_rect(0, 1).center().toPoint())
    press_copy(live)
    rows, step = read(held()), current_step(live.state)
    tape = step.tape if stage == "forward" else step.gradients
    assert np.array_equal(numbers(rows), tape[SITE].value[0, 2])
    assert rows[0][0] == f"{SITE}[0, 2] · {'value' if stage == 'forward' else 'gradient'}"
    assert rows[0][1:] == [row[0] for row in rows[1:]] == list(heatmap.matrix.row_labels)
    live.qtbot.mouseMove(page.parts[stage].head, QPoint(1, 1))
    heatmap._hover(None)
    press_copy(live)
    assert held() == step_text.stage_text(live.state)
    # without a pointer the larger of the two is had with Shift, or by holding on to a cell
    press_copy(live, shift=True)
    assert read(held()) == rows
    press_copy(live)
    live.store.dispatch(step_actions.hold, (0, 2, 1, 1))
    press_copy(live)
    assert read(held()) == rows


def test_of_the_weights_the_picture_under_the_pointer_is_copied(live):  # noqa: F811
    page = opened(live)
    live.store.dispatch(step_actions.show_stage, "adam")
    name = "decoder.layers.0.ffn.W_1"
    live.store.dispatch(step_actions.look_at_parameter, name)
    heatmap = page.parts["adam"].changes[2]
    live.qtbot.waitUntil(lambda: not heatmap.cell_rect(0, 1).isEmpty(), timeout=WAIT)
    heatmap._hover((0, 1))
    press_copy(live)
    rows = read(held())
    assert rows[0][0] == f"{name} · after"
    assert np.array_equal(numbers(rows), current_step(live.state).cells(name).after)


def test_a_picture_with_too_many_numbers_is_not_copied_and_says_so(live, monkeypatch):  # noqa: F811
    opened(live)
    live.store.dispatch(step_actions.show_stage, "forward")
    monkeypatch.setattr(step_text, "MOST_NUMBERS", 3)
    press_copy(live)
    before = held()
    press_copy(live, shift=True)
    assert held() == before and live.state.notice.key == "notice.copied.too_many"


def test_yes_and_no_are_copied_as_one_and_nought():
    state = step_actions.look_at_record(stepped(), "decoder.mask")
    matrix = record_picture(state)
    text = step_text.matrix_text(matrix, "mask")
    assert np.array_equal(numbers(read(text)), matrix.values.astype(np.float32))


def test_before_there_is_a_step_nothing_is_copied(live):  # noqa: F811
    live.store.dispatch(actions.show_page, "step")
    live.store.dispatch(lambda state: step_actions.set_pair(state, 0, 1, " "))
    held_before = "nothing was copied"
    QGuiApplication.clipboard().setText(held_before)
    if current_step(live.state) is None:
        press_copy(live)
        assert held() == held_before
