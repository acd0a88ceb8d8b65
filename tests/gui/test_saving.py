"""Saving the model in use, and reading a file another way where it leaves that open."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt

import model_core
from model_core import checkpoints
from tests.gui.live_window import live  # noqa: F401 (fixture)
from tests.gui.views import SENTENCE, entry, view, worked_view
from visualizer import actions, dialogs, navigation
from visualizer.lenses.remarks import size_text
from visualizer.menus import model_menu
from visualizer.run import open_entry
from visualizer.state import Choices, own_file

KEY, HELD = Qt.Key, Qt.KeyboardModifier
DATA = Path(__file__).parents[1] / "data"
DOCUMENT = DATA / "document_model" / "model_flat_vocab.json"


def save_as(live, path: Path) -> str:  # noqa: F811
    live.target = path
    live.store.dispatch(actions.dismiss_notice)
    live.press(KEY.Key_S, HELD.ControlModifier | HELD.ShiftModifier)
    return live.notice()


def same_parameters(first, second) -> bool:
    names = first.parameters.keys() == second.parameters.keys()
    return names and all(
        np.array_equal(first.parameters[name], second.parameters[name]) for name in first.parameters
    )


# Saving.


def test_save_as_writes_the_model_and_says_how_much_that_is(live, tmp_path):  # noqa: F811
    path = tmp_path / "saved 存.safetensors"
    sentence = save_as(live, path)
    model = entry().model
    assert sentence.startswith("Saved saved 存.safetensors: ")
    assert "13 + 11 tokens" in sentence and f"{model.parameter_count:,} parameters" in sentence
    assert live.state.notice.level == "info" and str(path) in live.state.notice.details
    again = model_core.open_checkpoint(path)
    assert same_parameters(again, model) and again.config == model.config
    assert live.state.recent == (str(path),) and live.state.inputs.source == SENTENCE


def test_what_went_well_is_not_said_for_ever(live, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr("visualizer.app.READING_TIME", 1000)
    save_as(live, tmp_path / "a.safetensors")
    live.qtbot.waitUntil(lambda: live.state.notice is None, timeout=5000)
    save_as(live, tmp_path / "a.json")
    live.qtbot.wait(1300)
    assert live.state.notice.level == "error"


def test_save_asks_only_where_there_is_no_file_yet(live, tmp_path):  # noqa: F811
    live.target = None
    live.press(KEY.Key_S, HELD.ControlModifier)
    assert live.suggested is not None and live.suggested.suffix == ".safetensors"
    path = tmp_path / "mine.safetensors"
    save_as(live, path)
    path.unlink()
    live.suggested = None
    live.press(KEY.Key_S, HELD.ControlModifier)
    live.qtbot.waitUntil(path.exists, timeout=10_000)
    assert live.suggested is None


def test_a_model_is_saved_as_readable_json_by_its_ending(live, tmp_path):  # noqa: F811
    live.open(DOCUMENT)
    path = tmp_path / "copy.json"
    assert save_as(live, path).startswith("Saved copy.json")
    assert same_parameters(model_core.open_checkpoint(path), live.state.model.model)
    assert own_file(live.state.model) == DOCUMENT


@pytest.mark.parametrize("name", ["small.json", "no such folder/small.safetensors"])
def test_what_cannot_be_saved_is_one_sentence(live, tmp_path, name, caplog):  # noqa: F811
    before = live.state
    path = tmp_path / name
    sentence = save_as(live, path)
    assert sentence.startswith(f"{path.name} was not saved: ") and "\n" not in sentence
    after = live.state
    assert (after.model, after.inputs, after.run) == (before.model, before.inputs, before.run)
    assert after.file is None and after.recent == () and not path.exists()


def test_a_file_that_cannot_be_replaced_keeps_its_old_content(live, tmp_path, caplog):  # noqa: F811
    path = tmp_path / "kept.json"
    path.write_text("old")
    save_as(live, path)
    assert path.read_text() == "old" and os.listdir(tmp_path).count("kept.json") == 1


def test_a_worked_example_is_saved_with_its_numbers_as_they_are_now(live, tmp_path):  # noqa: F811
    live.open("encoder-layer")
    live.store.dispatch(actions.edit_cell, (1, 0), 5.0)
    path = tmp_path / "board.npz"
    assert "and the input matrix" in save_as(live, path)
    assert model_core.open_checkpoint(path).inputs.tolist()[1] == [5.0, 2.5403]
    assert live.state.inputs.cells == ((1, 0, 5.0),)
    live.open(path)
    assert live.state.run.tape["encoder.embed.out"].value[0, 1, 0] == 5.0
    assert live.state.run.tape.source_tokens == ["女生", "撩", "刘海"]


def test_a_save_that_was_asked_for_is_done_before_the_window_goes(live, tmp_path):  # noqa: F811
    path = tmp_path / "last.safetensors"
    live.session.save(path)
    live.window.close()
    assert same_parameters(model_core.open_checkpoint(path), entry().model)


def test_a_file_with_more_in_it_than_is_kept_is_not_written_over():
    attention = worked_view("self-attention")
    assert own_file(attention.model) is None
    path, endings = dialogs.suggested_target(attention)
    assert (path.name, endings) == ("my-self-attention.npz", (".npz",))
    saved = actions.note_saved(attention, Path("/tmp/mine.npz"))
    assert dialogs.suggested_target(saved)[0] == Path("/tmp/mine.npz")


@pytest.mark.parametrize("name", ["small", "document", "worked", "en-zh", "reverse"])
def test_a_model_is_offered_the_formats_alone_that_have_a_place_for_it(tmp_path, name):
    if name in ("small", "worked"):
        chosen = entry() if name == "small" else worked_view().model
    else:
        chosen = open_entry(DOCUMENT if name == "document" else name)
    offered = dialogs.endings_of(chosen)
    assert offered == dialogs.suggested_target(replace(view(), model=chosen))[1]
    for ending in (".safetensors", ".json", ".npz"):
        path = tmp_path / f"model{ending}"
        if ending in offered:
            model_core.save_checkpoint(chosen.model, path)
            assert model_core.open_checkpoint(path).config == chosen.model.config
        else:
            with pytest.raises(ValueError):
                parts = chosen.model.parameters, chosen.model.tokenizer, chosen.model.card
                format = checkpoints.format_of(path)
                checkpoints.save(path, chosen.model.config, *parts, format=format)


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [(734, "734 bytes"), (12_345, "12.3 kB"), (999_960, "1.0 MB"), (2_210_000_000, "2.2 GB")],
)
def test_sizes_are_said_as_people_say_them(n_bytes, text):
    assert size_text(n_bytes) == text


# What a file leaves open.


def test_a_silent_json_says_so_and_can_be_read_another_way(live):  # noqa: F811
    live.session.open(DOCUMENT)
    sentence = live.notice()
    assert "does not say its activation (taken as GELU, tanh) and its LayerNorm's ε" in sentence
    # the file has no example, and the sentence before is none of its characters
    live.store.dispatch(actions.edit_source, "今天天气怎么样？")
    live.until_settled()
    live.store.dispatch(navigation.go_to_site, "encoder.layers.0.ffn.activation")
    cursor, source = live.state.cursor, live.state.inputs.source
    before = live.state.run.tape["encoder.layers.0.ffn.activation"].value.copy()
    live.session.choose(Choices(activation="relu"))
    live.qtbot.waitUntil(lambda: live.state.model.choices.activation == "relu", timeout=10_000)
    live.until_settled()
    after = live.state.run.tape["encoder.layers.0.ffn.activation"].value
    assert after.min() == 0.0 and not np.array_equal(before, after)
    assert (live.state.cursor, live.state.inputs.source) == (cursor, source)


def texts(menu) -> dict[str, bool]:
    return {action.text(): action.isChecked() for action in menu.actions() if action.text()}


def menu_of(live):  # noqa: F811
    header = live.window.header
    return model_menu(header, live.state, lambda s: None, live.session.choose, ())


def test_the_menu_offers_what_the_file_leaves_open_and_goes_on_offering_it(live):  # noqa: F811
    assert "ReLU" not in texts(menu_of(live))
    live.open(DOCUMENT)
    assert texts(menu_of(live))["GELU, tanh"] and texts(menu_of(live))["ε = 1e-6"]
    chosen = next(a for a in menu_of(live).actions() if a.text() == "ε = 1e-5")
    chosen.trigger()
    live.qtbot.waitUntil(lambda: live.state.model.choices.norm_eps == 1e-5, timeout=10_000)
    assert live.state.model.model.config.norm_eps == 1e-5
    marked = texts(menu_of(live))
    assert marked["ε = 1e-5"] and not marked["ε = 1e-6"] and marked["GELU, tanh"]


def test_the_variant_of_an_example_is_chosen_in_the_menu(live):  # noqa: F811
    live.open("self-attention")
    assert texts(menu_of(live))["As in the example"]
    live.store.dispatch(actions.edit_cell, (0, 0), 9.0)
    next(a for a in menu_of(live).actions() if a.text() == "Multi-head").trigger()
    live.qtbot.waitUntil(lambda: live.state.model.choices.variant == "multi_head", timeout=10_000)
    live.until_settled()
    assert live.state.model.model.config.n_heads == 2
    assert live.state.inputs.cells == ((0, 0, 9.0),)
    next(a for a in menu_of(live).actions() if a.text() == "As in the example").trigger()
    live.qtbot.waitUntil(lambda: live.state.model.choices.variant is None, timeout=10_000)


def test_the_models_own_warnings_are_a_quiet_notice_with_details(live):  # noqa: F811
    live.session.open(DATA / "bad_documents" / "js_no_weights.json")
    sentence = live.notice()
    assert "random" in sentence and live.state.notice.level == "warning"
    bar = live.window.notice.bar
    assert bar.more.isVisible() and not bar.details.isVisible()
    live.qtbot.mouseClick(bar.more, Qt.MouseButton.LeftButton)
    assert bar.details.isVisible() and "does not say" in bar.details.toPlainText()
