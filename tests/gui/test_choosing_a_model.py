"""What is offered to be opened, and which sentence a model begins with."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QFileDialog

from model_core import bundled, open_checkpoint, save_checkpoint
from tests.core.models import small_model
from tests.gui.live_window import live  # noqa: F401 (fixture)
from tests.gui.views import SENTENCE, entry, worked_view
from visualizer import actions, dialogs, i18n
from visualizer.cards import title_of
from visualizer.menus import model_menu
from visualizer.run import open_entry
from visualizer.state import Inputs, ModelEntry, ViewState


def without_examples() -> ModelEntry:
    return ModelEntry(small_model("float32"), "bare")


def opened(source: str) -> str:
    state = replace(ViewState(), inputs=Inputs(source=source))
    return actions.open_model(state, without_examples()).inputs.source


@pytest.mark.parametrize("source", ["s4 s5", ""])
def test_a_sentence_that_the_next_model_can_read_stays(source):
    assert opened(source) == source


@pytest.mark.parametrize("source", ["the cat", "s4 nonsense", "s4 " * 40])
def test_a_sentence_that_the_next_model_cannot_read_goes(source):
    assert opened(source) == ""


def test_the_sentence_waits_while_a_worked_example_is_looked_at():
    state = replace(worked_view(), inputs=Inputs(source="s4 s5"))
    state = actions.open_model(state, worked_view("self-attention").model)
    assert actions.open_model(state, without_examples()).inputs.source == "s4 s5"


def test_the_empty_field_of_a_model_without_examples_names_words(live):  # noqa: F811
    assert "s4" not in live.field.placeholderText()
    live.store.dispatch(actions.edit_source, SENTENCE)
    live.store.dispatch(actions.open_model, without_examples())
    assert live.field.text() == "" and live.state.inputs.source == ""
    assert "s4 s5 s6 s7 s8 s9 …" in live.field.placeholderText()
    live.store.dispatch(actions.set_language, "zh")
    assert "例句" in live.field.placeholderText()
    live.store.dispatch(actions.open_model, entry())
    assert "s4" not in live.field.placeholderText()


def test_bundled_models_are_offered_by_title_and_file_name(live):  # noqa: F811
    def offered() -> dict[str, str]:
        menu = model_menu(live.window, live.state, print, print, ())
        texts = [action.text().split("\t") for action in menu.actions()]
        return {text[1]: text[0] for text in texts if len(text) == 2}

    english = offered()
    assert list(english) == bundled.names()
    assert english["en-zh"] == "English → 中文"
    live.store.dispatch(actions.set_language, "zh")
    assert offered()["en-zh"] == "英语 → 中文"


def test_the_model_in_use_is_called_as_the_language_has_it(live):  # noqa: F811
    live.open("self-attention")
    assert "Self-attention" in live.window.windowTitle()
    live.store.dispatch(actions.set_language, "zh")
    assert "自注意力" in live.window.windowTitle()
    assert "手算" in live.window.header.model.toolTip()


@pytest.mark.parametrize("name", ["reverse", "dates", "en-fr"])
def test_a_kept_model_of_a_task_is_called_as_the_language_has_it(tmp_path, name):
    """Truth: the title that the core writes into the card of a task's model, and the catalogues."""
    titles = {language: i18n.catalogue(language)[f"card.{name}.title"] for language in ("en", "zh")}
    model = open_checkpoint(bundled.path_of(name))
    path = tmp_path / "kept.safetensors"
    save_checkpoint(model, path)
    again = open_entry(path)
    assert again.name == titles["en"] != titles["zh"]
    # one that is opened straight from the lab has its name in the language of that moment
    begun = replace(again, name=titles["zh"])
    own = replace(again, name="my letters")
    for language in ("zh", "en"):
        i18n.set_language(language)
        assert title_of(again) == title_of(begun) == titles[language]
        assert title_of(own) == "my letters"


def test_the_dialog_offers_all_formats_at_once(live, monkeypatch):  # noqa: F811
    asked = []
    monkeypatch.setattr(
        QFileDialog, "getOpenFileName", lambda *a: (asked.append(a[3]), ("", ""))[1]
    )
    assert dialogs.ask_for_path(live.window) is None
    assert asked[0].split(";;")[0].endswith("(*.safetensors *.json *.npz)")
    assert asked[0].split(";;")[1] == "Pairs of sentences (*.tsv *.csv *.jsonl *.txt)"
