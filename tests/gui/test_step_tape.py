"""The pass of a training step record by record, and the numbers that lead from one to the next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt

from model_core.ops.base import Origin
from model_core.training.step import glass_step
from tests.core.models import small_model
from tests.core.test_glass_step import BATCH, RECIPE
from tests.gui.live_window import WAIT, live  # noqa: F401 (fixture)
from tests.gui.samples import LEFT_BUTTON, at
from tests.gui.test_step_page import answered, opened, stepped
from visualizer import i18n, step_actions
from visualizer.inquiries.step import current_step
from visualizer.lenses import step_cells, step_pictures, step_tables
from visualizer.lenses.backward import reader_name
from visualizer.lenses.line import plain_text
from visualizer.lenses.step_change import loss_change
from visualizer.lenses.step_choice import destination
from visualizer.step_view import STAGES


def test_every_record_is_listed_in_forward_order_with_the_masks_marked():
    state = stepped()
    step = current_step(state)
    table = step_tables.records_table(state)
    assert [row.key for row in table.rows] == step.tape.sites
    assert table.rows[0].key == "encoder.embed.tokens" and table.rows[-1].key == "loss"
    assert [row.key for row in table.rows if row.stands_out] == list(step.dropout_sites)
    for row in table.rows:
        value = step.tape[row.key].value
        if row.stands_out:
            assert row.cells[1] == f"{np.mean(value == 0):.1%} dropped"
        elif value.dtype != bool:
            largest = np.abs(value[np.isfinite(value)]).max()
            assert float(row.cells[1]) == pytest.approx(float(largest), rel=1e-3)
    alone = step_tables.records_table(step_actions.list_masks_alone(state, True))
    assert [row.key for row in alone.rows] == list(step.dropout_sites)
    assert alone.selected == step.dropout_sites[0]


def test_every_record_is_shown_for_each_sentence_with_arithmetic_that_gives_its_value():
    state = stepped()
    step = current_step(state)
    for site in step.tape.sites:
        for sentence in (0, 1):
            there = step_actions.look_at_record(state, site)
            there = step_actions.look_at_sentence(there, sentence)
            picture = step_pictures.record_picture(there)
            value = step.tape[site].value
            own = value[min(sentence, len(value) - 1)] if value.ndim > 2 else value
            own = own[min(state.head, len(own) - 1)] if own.ndim == 3 else own
            assert np.array_equal(picture.values, np.atleast_2d(own)), site
            cell = step_cells.first_cell(picture)
            said = step_cells.record_cell(there, cell)
            assert said.lines and said.place.startswith(site)
            if value.dtype != bool and site not in step.dropout_sites:
                result = said.lines[0][-1].text
                assert float(result) == pytest.approx(
                    float(picture.values[cell]), rel=1e-2, abs=5e-3
                )


def test_the_masks_hide_what_they_hide_in_each_sentence():
    state = step_actions.look_at_record(stepped(), "decoder.layers.0.cross_attn.weights")
    step = current_step(state)
    for sentence, length in enumerate(step.batch.source_mask.sum(axis=1)):
        there = step_actions.look_at_sentence(state, sentence)
        picture = step_pictures.record_picture(there)
        hidden = np.zeros(picture.values.shape, bool)
        hidden[:, length:] = True
        assert np.array_equal(
            hidden, np.zeros_like(hidden) if picture.hidden is None else picture.hidden
        )
        if hidden.any():
            said = step_cells.record_cell(there, (0, int(length)))
            assert "hidden by the mask" in plain_text(said.lines[0])


def test_the_loss_is_told_as_the_mean_of_what_the_positions_cost():
    state = step_actions.look_at_record(stepped(), "loss")
    step = current_step(state)
    for line in step_cells.record_cell(state, (0, 0)).lines:
        text = plain_text(line)
        assert text.endswith(f"= {step_tables.digits(step.loss)}")
        assert f"/ {int(step.counted.sum())}" in text
    [longest, *_] = step_cells.record_cell(state, (0, 0)).lines
    links = [link.origin for piece in longest for link in piece.links]
    dearest = max(
        (tuple(int(i) for i in place) for place in np.argwhere(step.counted)),
        key=lambda place: step.losses[place],
    )
    assert links[0] == Origin("log_probs", (*dearest, int(step.batch.labels[dearest])))


def test_links_lead_from_the_loss_to_the_embedding_and_back():
    state = step_actions.show_stage(step_actions.look_at_record(stepped(), "loss"), "forward")
    step, start = current_step(state), state.training_step
    met = ["loss"]
    for _ in range(200):
        picture = step_pictures.record_picture(state)
        spot = state.training_step.spot
        cell = step_cells.held_cell(picture, spot) or step_cells.first_cell(picture)
        if spot is not None:
            # what is shown is the very cell that the link was read from
            assert picture.values[cell] == step.tape[met[-1]].value[spot]
        said = step_cells.record_cell(state, cell)
        origins = [link.origin for piece in said.lines[0] for link in piece.links]
        there = [destination(state, step, origin) for origin in origins]
        there = [one for one in there if one is not None and one[0].stage == "forward"]
        if not there:
            break
        state = step_actions.follow(state, *there[0])
        met.append(state.training_step.record)
    assert met[1] == "log_probs" and met[-1].endswith("embed.tokens")
    # the table of the embedding is a weight: its update is shown
    [origin] = [link.origin for piece in said.lines[0] for link in piece.links]
    look, _ = destination(state, step, origin)
    assert look.stage == "adam" and look.parameter == origin.name and look.cell == origin.index
    for _ in met[1:]:
        state = step_actions.go_back(state)
    assert replace(state.training_step, trail=()) == start
    assert step_actions.go_back(state) is state


def test_a_gradients_links_lead_to_gradients_and_to_values():
    state = step_actions.show_stage(stepped(), "backward")
    state = step_actions.look_at_site(state, "decoder.layers.0.ffn.hidden")
    step = current_step(state)
    said = step_cells.gradient_cell(state, (0, 1))
    origins = [link.origin for piece in said.lines[0] for link in piece.links]
    found = {destination(state, step, origin)[0].stage for origin in origins}
    assert "backward" in found
    assert destination(state, step, Origin("labels", (0, 0))) is None
    value = destination(state, step, Origin("decoder.layers.0.ffn.hidden", (1, 0, 3)))
    assert value[0].stage == "forward" and value[0].sentence == 1


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_every_record_that_training_alone_has_is_named_in_words(language):
    i18n.set_language(language)
    step = glass_step(small_model("float32"), BATCH, RECIPE, 3)
    assert step.target == "total_loss"
    for site in step.gradient_sizes:
        named = reader_name(step.gradients, site, 1)
        assert "chip." not in named and "." not in named, named


def test_what_dropout_leaves_of_a_sublayer_is_added_under_its_own_name():
    state = step_actions.look_at_record(stepped(), "encoder.layers.0.residual2")
    said = plain_text(step_cells.record_cell(state, (0, 0)).lines[0])
    assert said.startswith("x + dropout(feed-forward(x)) ="), said


def test_the_loss_after_the_step_is_shown_beside_the_loss_before():
    state = stepped()
    step = current_step(state)
    change = loss_change(state)
    assert float(change.before) == pytest.approx(step.loss, rel=1e-3)
    assert float(change.after) == pytest.approx(step.loss_after, rel=1e-3)
    assert "dropout masks" in change.about


# On screen.


def test_a_cell_is_held_its_number_followed_and_backspace_leads_back(live):  # noqa: F811
    page = opened(live)
    live.store.dispatch(step_actions.show_stage, "forward")
    live.store.dispatch(step_actions.look_at_record, "encoder.embed.scaled")
    part = page.parts["forward"]
    live.qtbot.waitUntil(lambda: not part.heatmap.cell_rect(1, 2).isEmpty(), timeout=WAIT)
    live.qtbot.mouseClick(part.heatmap, LEFT_BUTTON, pos=at(part.heatmap.cell_rect(1, 2).center()))
    assert live.state.training_step.spot == (0, 1, 2)
    [origin] = [link.origin for piece in part.cell._lines[0] for link in piece.links]
    part.cell.linkClicked.emit(origin)
    assert live.state.training_step.record == "encoder.embed.tokens"
    assert live.state.training_step.spot == (0, 1, 2)
    live.window.stage.setFocus()
    live.press(Qt.Key.Key_Backspace)
    assert live.state.training_step.record == "encoder.embed.scaled"
    assert live.state.page == "step"


def test_the_kinds_of_records_and_the_sentences_are_chosen_by_buttons(live):  # noqa: F811
    page = opened(live)
    live.store.dispatch(step_actions.add_pair)
    live.qtbot.waitUntil(lambda: current_step(live.state) is not None, timeout=WAIT)
    page.stages.chosen.emit(STAGES.index("forward"))
    part = page.parts["forward"]
    part.kinds.chosen.emit(1)
    assert live.state.training_step.masks_alone
    live.qtbot.mouseClick(part.sentence.next, LEFT_BUTTON)
    assert live.state.training_step.sentence == 1
    assert part.sentence.label.text() == "Sentence 2 of 2"
    assert not part.sentence.next.isEnabled()


def test_a_key_opens_the_step_and_leaves_it(live):  # noqa: F811
    live.window.stage.setFocus()
    live.press(Qt.Key.Key_U)
    assert live.state.page == "step"
    live.press(Qt.Key.Key_U)
    assert live.state.page == "record"


def test_a_typed_word_that_is_unknown_is_marked_in_the_batch():
    from visualizer.lenses.step_batch import batch_grid

    grid = batch_grid(answered(stepped(pairs=(("s4 zebra", "t4"),))))
    assert [cell.kind for cell in grid.rows[0].cells][:2] == ["plain", "unknown"]
    assert ("unknown", "unknown to the model") in grid.legend
    # an unknown word that is to be predicted counts all the same
    wanted = batch_grid(answered(stepped(pairs=(("s4", "zebra"),)))).rows[2]
    assert (wanted.cells[0].kind, wanted.cells[0].counts) == ("unknown", True)
