"""Whose step is on show, how its pairs are drawn, and whose head and padding its pictures show."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

import model_core
from tests.gui.live_window import WAIT, live  # noqa: F401 (fixture)
from tests.gui.samples import LEFT_BUTTON
from tests.gui.test_step_page import answered, opened, stepped
from tests.gui.test_step_training import glassed, run  # noqa: F401 (fixture)
from tests.gui.views import entry, view
from visualizer import actions, i18n, sentences, step_actions
from visualizer.inquiries.step import current_step
from visualizer.lenses.step_batch import batch_grid
from visualizer.lenses.step_padding import is_padding, with_padding
from visualizer.lenses.step_pictures import gradient_picture, record_picture
from visualizer.lenses.step_whose import whose_step
from visualizer.state import ModelEntry
from visualizer.step_view import STAGES
from visualizer.theme import DARK, LIGHT
from visualizer.widgets.heatmap import HeatMap

ATTENTION = "encoder.layers.0.self_attn.weights"


# Whose step it is.


def test_whose_step_it_is_is_said_with_its_number_its_pairs_and_its_dropout():
    said, mistakes = whose_step(stepped(seed=4))
    assert said == f"{entry().name}, trained weights · step 1 · 2 pairs · dropout on, seed 4"
    assert mistakes == ""
    one = stepped(pairs=(("s9", "t8"),), weights="fresh")
    assert "fresh weights" in whose_step(one)[0] and "· 1 pair ·" in whose_step(one)[0]
    wrong = stepped(mistakes=frozenset({"no_scaling", "no_bias_correction"}))
    assert whose_step(wrong)[1] == "mistakes on: Adam without bias correction; Scores not scaled"


def test_a_step_without_dropout_says_so():
    state = view()
    model = replace_card(state.model.model, {"attention": 0.0, "ffn": 0.0, "sublayer": 0.0})
    state = actions.open_model(state, ModelEntry(model, "dry"))
    state = replace(state, run=view().run, page="step")
    pairs = replace(state.training_step, pairs=(("s9", "t8"),))
    state = answered(replace(state, training_step=pairs))
    assert not current_step(state).dropout_sites
    assert whose_step(state)[0].endswith("· dropout off")


def replace_card(model, rates):
    made = copy(model)
    made.card = {"recipe": {"dropout": rates}}
    return made


def test_a_paused_training_says_after_which_step_it_stands(run, tmp_path):  # noqa: F811
    state = glassed(run, tmp_path)
    said = whose_step(state)[0]
    pairs = len(current_step(state).batch.source_ids)
    begins = f"Training pairs.tsv, as it stands after step 7 · step 8 · {pairs} pairs"
    assert said.startswith(begins)
    assert "seed" not in said
    # while the training goes on, the last step stays on show, and so do its words
    training = replace(state.lab.training, status="running", step=20)
    assert whose_step(replace(state, lab=replace(state.lab, training=training)))[0] == said


def test_what_is_said_is_of_the_step_on_show_and_not_of_the_one_on_its_way():
    state = stepped()
    asked = step_actions.toggle_mistake(step_actions.set_seed(state, 9), "no_scaling")
    assert whose_step(asked) == whose_step(state)
    assert whose_step(actions.show_page(view(), "step")) == ("", "")


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_the_line_is_the_same_at_every_stage(live, language):  # noqa: F811
    page = opened(live)
    live.store.dispatch(actions.set_language, language)
    live.store.dispatch(step_actions.toggle_mistake, "no_scaling")
    live.qtbot.waitUntil(lambda: current_step(live.state) is not None, timeout=WAIT)
    met = set()
    for stage in STAGES:
        live.store.dispatch(step_actions.show_stage, stage)
        assert page.whose.isVisible() and page.whose.toolTip() == page.whose.text()
        met.add((page.whose.text(), page.whose.geometry().getRect()))
    [(text, _)] = met
    assert text == " · ".join(whose_step(live.state))


# The pairs that are drawn.


def test_at_first_four_pairs_are_drawn_then_as_many_as_there_are():
    state = actions.show_page(view(), "step")
    assert len(step_actions.pairs_of(state)) == 1 and step_actions.pairs_to_draw(state) == 4
    drawn = step_actions.take_pairs(state, (("s9", "t8"),) * 4)
    assert step_actions.pairs_to_draw(drawn) == 4
    assert step_actions.pairs_to_draw(step_actions.drop_pair(drawn)) == 3
    # who has typed more than that loses none
    for _ in range(5):
        state = step_actions.add_pair(state)
    assert step_actions.pairs_to_draw(state) == 6


def test_the_button_draws_four(live, monkeypatch):  # noqa: F811
    page = opened(live)
    part = page.parts["batch"]
    given = lambda model: lambda number, count: (("s9", "t8"),) * count  # noqa: E731
    monkeypatch.setattr("visualizer.pages.step_batch.pairs_of", given)
    part.draw(live.state)
    live.qtbot.mouseClick(part.fields.draw_pairs, LEFT_BUTTON)
    assert len(live.state.training_step.pairs) == 4


@pytest.mark.parametrize("name", ["numbers", "en-zh", "en-fr", "dates", "reverse", "chat-zh"])
def test_drawn_targets_are_written_as_the_models_own_output_is(name):
    model = model_core.open_checkpoint(name)
    drawn = sentences.pairs_of(ModelEntry(model, name))(0, 40)
    for _, target in drawn:
        ids = model.tokenizer.encode_target(target).ids
        assert ids and model.tokenizer.decode(ids) == target
    if name == "numbers":
        assert any("-" in target for _, target in drawn)
        assert not any("- " in target for _, target in drawn)


# Heads and padding.


def test_the_head_of_a_picture_is_chosen_where_there_are_several(live):  # noqa: F811
    page = opened(live)
    for stage, look in (
        ("forward", step_actions.look_at_record),
        ("backward", step_actions.look_at_site),
    ):
        live.store.dispatch(step_actions.show_stage, stage)
        part = page.parts[stage]
        live.store.dispatch(look, "encoder.embed.out")
        QApplication.processEvents()
        assert not part.head.isVisible()
        before = part.table.geometry()
        live.store.dispatch(look, ATTENTION)
        QApplication.processEvents()
        # the table does not jump while the keys go through it
        assert part.head.isVisible() and part.table.geometry() == before
        live.store.dispatch(actions.select_head, 0)
        assert part.head.label.text() == "Head 1 of 3"
        live.qtbot.mouseClick(part.head.next, LEFT_BUTTON)
        assert live.state.head == 1 and part.head.label.text() == "Head 2 of 3"
        assert "head 2" in part.heatmap.matrix.column_title
        live.store.dispatch(actions.select_head, 2)
        assert not part.head.next.isEnabled() and part.head.before.isEnabled()


@pytest.mark.parametrize("picture", [record_picture, gradient_picture])
@pytest.mark.parametrize(
    "site, rows, columns",
    [
        ("encoder.embed.out", 2, 0),
        (ATTENTION, 2, 2),
        ("decoder.layers.0.cross_attn.weights", 2, 2),
        ("logits", 2, 0),
    ],
)
def test_rows_and_columns_of_padding_are_told_apart(picture, site, rows, columns):
    state = stepped()
    there = step_actions.look_at_site(step_actions.look_at_record(state, site), site)
    short = step_actions.look_at_sentence(there, 1)
    marked = with_padding(short, site, picture(short))
    assert (sum(marked.quiet_rows), sum(marked.quiet_columns)) == (rows, columns)
    padded = [label == "<PAD>" for label in marked.row_labels]
    assert list(marked.quiet_rows) == padded
    assert marked.column_title.endswith(" · grey: padding")
    assert is_padding(marked, (len(padded) - 1, 0)) and not is_padding(marked, (0, 0))
    # the longer sentence is not filled up
    long = step_actions.look_at_sentence(there, 0)
    whole = picture(long)
    assert with_padding(long, site, whole) is whole


def test_a_decoder_that_starts_with_the_padding_token_starts_with_no_padding():
    """Which positions are filled up tell the masks of the batch, and never an id."""
    state = stepped()
    step = current_step(state)
    batch = replace(step.batch, target_ids=np.zeros_like(step.batch.target_ids))
    state = replace(state, glass=replace(state.glass, result=replace(step, batch=batch)))
    short = step_actions.look_at_sentence(step_actions.look_at_record(state, "logits"), 1)
    marked = with_padding(short, "logits", record_picture(short))
    assert marked.quiet_rows == (False, False, True, True)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_labels_of_padding_are_quiet(qtbot, theme):
    """Their ink is the muted one, and the others' is not."""
    state = step_actions.look_at_record(stepped(sentence=1), "encoder.embed.out")
    marked = with_padding(state, "encoder.embed.out", record_picture(state))
    heatmap = HeatMap()
    qtbot.addWidget(heatmap)
    heatmap.set_theme(theme)
    heatmap.resize(700, 420)
    heatmap.set_matrix(marked)
    image = heatmap.grab().toImage()
    wanted = {True: QColor(theme.muted).rgb(), False: QColor(theme.text).rgb()}
    for row, quiet in enumerate(marked.quiet_rows):
        cell = heatmap.cell_rect(row, 0)
        inks = {
            image.pixel(x, y)
            for x in range(int(cell.left()) - 4)
            for y in range(int(cell.top()), int(cell.bottom()))
        }
        assert wanted[quiet] in inks and wanted[not quiet] not in inks


def test_the_line_of_a_cell_of_padding_says_so(live):  # noqa: F811
    page = opened(live)
    live.store.dispatch(step_actions.take_pairs, (("s4 s7 s5", "t4 t6 t5"), ("s9", "t8")))
    live.qtbot.waitUntil(lambda: batch_rows(live.state) == 6, timeout=WAIT)
    live.store.dispatch(step_actions.show_stage, "forward")
    live.store.dispatch(step_actions.look_at_record, "encoder.embed.out")
    live.store.dispatch(step_actions.look_at_sentence, 1)
    part = page.parts["forward"]
    part.heatmap.cellHovered.emit(0, 0)
    assert "padding" not in part.cell._site
    part.heatmap.cellHovered.emit(len(part.heatmap.matrix.row_labels) - 1, 0)
    assert part.cell._site.endswith("· padding")


def batch_rows(state) -> int:
    grid = batch_grid(state)
    return 0 if grid is None or current_step(state) is None else len(grid.rows)
