"""What the user prefers and where the user was: chosen in menus, remembered, and found again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

import model_core
from model_core import bundled
from tests.gui.live_window import LiveWindow, checkpoint, live  # noqa: F401 (fixtures)
from tests.gui.views import CROSS, SENTENCE, entry, view, worked_view
from visualizer import actions, navigation
from visualizer.app import dress
from visualizer.i18n import tr
from visualizer.menus import Menu, model_menu, view_menu
from visualizer.settings import Last, Settings
from visualizer.state import Choices, Cursor, Inputs, ViewState

SEQUENTIAL = "blue_yellow"
DOCUMENT = Path(__file__).parents[1] / "data" / "document_model" / "model_flat_vocab.json"


def choose(live, *path: str) -> None:  # noqa: F811
    """Take an entry of the view menu, through its submenus."""
    menu = view_menu(live.window, live.store)
    for text in path:
        found = next(action for action in menu.actions() if action.text() == text)
        menu = found.menu()
    found.trigger()


# Preferences.


def test_every_preference_is_in_the_menu_and_is_remembered(live, tmp_path):  # noqa: F811
    choose(live, "中文")
    choose(live, "跟随系统")
    choose(live, "权重配色", "蓝到黄")
    choose(live, "正负数配色", "紫与绿")
    choose(live, "小数位数", "3")
    choose(live, "起始编号", "0")
    live.window.close()
    state = Settings(tmp_path / "settings.ini").apply_to(ViewState())
    assert (state.language, state.follow_system, state.theme) == ("zh", True, "light")
    assert (state.sequential, state.diverging) == (SEQUENTIAL, "purple_green")
    assert (state.decimals, state.count_from) == (3, 0)


def test_a_preference_is_written_down_at_once(live, tmp_path):  # noqa: F811
    live.store.dispatch(actions.set_language, "zh")
    assert Settings(tmp_path / "settings.ini").apply_to(ViewState()).language == "zh"


def test_the_menu_marks_what_is_chosen(live):  # noqa: F811
    live.store.dispatch(actions.set_theme, "dark")
    marked = {a.text() for a in view_menu(live.window, live.store).actions() if a.isChecked()}
    assert marked == {"Dark", "English"}


def test_another_palette_is_on_screen_at_once(live):  # noqa: F811
    heatmap = live.window.stage.pages["record"].heatmap
    viridis = heatmap.theme.packed_table("sequential")
    place = heatmap.cell_rect(0, 0).topLeft().toPoint() + heatmap.rect().topLeft()
    x, y = place.x() + 4, place.y() + 4
    before = heatmap.grab().toImage().pixel(x, y)
    live.store.dispatch(actions.set_sequential, SEQUENTIAL)
    after = heatmap.grab().toImage().pixel(x, y)
    assert before != after and before in viridis
    assert after in heatmap.theme.packed_table("sequential")


def test_decimals_are_written_into_the_cells(live):  # noqa: F811
    live.store.dispatch(actions.set_decimals, 3)
    assert live.window.stage.pages["record"].heatmap.matrix.decimals == 3
    live.store.dispatch(actions.set_decimals, None)
    assert live.window.stage.pages["record"].heatmap.matrix.decimals == 2


def test_the_look_follows_the_system_only_where_that_was_chosen(live):  # noqa: F811
    hints = QApplication.styleHints()
    live.store.dispatch(actions.set_theme, "light")
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert live.state.theme == "light"
    live.store.dispatch(actions.follow_system, "dark")
    assert live.window.stage.pages["record"].heatmap.theme.dark
    # the offscreen platform does not say how it looks, which is as good as light
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert live.state.theme == "light" and live.state.follow_system


def words(menu) -> set[str]:
    """All texts of a menu and of the menus below it."""
    found = {action.text().split("\t")[0] for action in menu.actions() if action.text()}
    return found.union(*(words(action.menu()) for action in menu.actions() if action.menu()))


def menu_words(live) -> set[str]:  # noqa: F811
    commands = [(tr(key), print) for key in ("ui.open", "ui.save", "ui.save_as")]
    model = model_menu(live.window, live.state, print, print, commands)
    return words(model) | words(view_menu(live.window, live.store))


@pytest.mark.parametrize("source", ["self-attention", DOCUMENT])
def test_the_menus_are_in_the_language_in_use(live, source):  # noqa: F811
    live.open(source)
    english = menu_words(live)
    live.store.dispatch(actions.set_language, "zh")
    chinese = menu_words(live)
    same = {text for text in english & chinese if any(c.isalpha() for c in text)}
    names = {*bundled.names(), DOCUMENT.name, "English", "中文", "Viridis", "ReLU", "SiLU"}
    assert {text for text in same if not text.startswith("ε = ")} <= names
    assert len(chinese - english) > 15


def test_a_name_with_an_ampersand_is_shown_as_it_is(live):  # noqa: F811
    menu = Menu(live.window)
    menu.command("R&D.json", lambda: None)
    assert menu.actions()[0].text() == "R&&D.json"


# Where the user was.


@pytest.fixture
def again(qtbot, qapp, tmp_path):
    """Starts a window anew on the same settings, as the program does."""
    dress(qapp, exact=True)
    made = []

    def start(otherwise: str = "self-attention") -> LiveWindow:
        window = LiveWindow(qtbot, tmp_path)
        made.append(window)
        last = window.settings.last
        assert last is not None
        window.session.resume(last, otherwise)
        qtbot.waitUntil(lambda: window.state.model is not None, timeout=10_000)
        window.until_settled()
        return window

    yield start
    for window in made:
        window.end()
    qapp.setStyleSheet("")


def test_model_sentence_and_place_are_found_again(live, again, checkpoint):  # noqa: F811
    live.open(checkpoint)
    live.store.dispatch(actions.edit_source, "s6 s5 今")
    live.store.dispatch(actions.set_temperature, 0.7)
    live.store.dispatch(actions.set_seed, 11)
    live.until_settled()
    live.store.dispatch(navigation.go_to_site, "decoder.layers.1.self_attn.scores")
    live.store.dispatch(navigation.go_to_token, 1)
    live.store.dispatch(actions.select_head, 2)
    left = live.state
    live.window.close()
    found = again().state
    assert found.model.path == checkpoint and found.inputs == left.inputs
    assert (found.cursor, found.head) == (left.cursor, 2)
    assert found.run.chosen == left.run.chosen and found.notice is None


def test_the_numbers_of_a_worked_example_are_found_again(live, again):  # noqa: F811
    live.open("encoder-layer")
    live.store.dispatch(actions.edit_cell, (2, 1), -1.25)
    live.until_settled()
    live.window.close()
    found = again().state
    assert found.model.bundled == "encoder-layer"
    assert found.run.tape["encoder.embed.out"].value[0, 2, 1] == -1.25


def test_a_file_that_is_gone_gives_way_quietly(live, again, checkpoint, caplog):  # noqa: F811
    live.open(checkpoint)
    live.window.close()
    checkpoint.unlink()
    found = again().state
    assert found.model.bundled == "self-attention" and found.notice is None
    assert found.recent == ()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"path": 7}', '{"bundled": "x", "head": "one"}', "\x00", "é" * 9],
)
def test_a_place_that_makes_no_sense_is_none(tmp_path, text):
    assert Last.from_text(text) is None
    path = tmp_path / "settings.ini"
    path.write_text(f"[session]\nlast={text}\n", encoding="utf-8")
    assert Settings(path).last is None


def test_a_place_that_a_model_cannot_use_is_left_out():
    wild = Inputs(source="s4", strategy="sample", temperature=-3.0, top_k=-1, top_p=0.0, seed=-9)
    wild = replace(wild, cells=((0, 0, 1.0), (99, 0, 2.0), (-1, 0, 3.0)))
    state = actions.resume(ViewState(), entry(), wild, Cursor("no.such.site", -4), 99)
    sound = state.inputs
    assert (sound.temperature, sound.top_k, sound.top_p, sound.seed) == (0.0, 1, 0.01, 0)
    assert sound.cells == () and state.cursor.token == 0 and state.head == 1
    worked = actions.resume(ViewState(), worked_view().model, wild, Cursor(CROSS), 0)
    assert worked.inputs.cells == ((0, 0, 1.0),)


def test_what_is_remembered_reads_back_to_the_same():
    inputs = Inputs(source=SENTENCE, cells=((0, 1, 0.1),), top_p=0.9, target=None)
    last = Last("/tmp/小.json", "", Choices(activation="relu"), inputs, Cursor(CROSS, 2), 1)
    assert Last.from_text(last.to_text()) == last
    assert msgspec.json.decode(last.to_text())["inputs"]["source"] == SENTENCE


def test_the_window_has_the_programs_icon(live):  # noqa: F811
    picture = live.window.windowIcon().pixmap(64, 64).toImage()
    colours = np.unique([picture.pixel(x, 32) for x in range(64)])
    assert not picture.isNull() and len(colours) > 5


def test_a_file_whose_name_is_in_chinese_is_found_again(tmp_path):
    path = tmp_path / "模型 一.safetensors"
    model_core.save_checkpoint(entry().model, path)
    state = replace(view(), model=replace(entry(), path=Path(path)))
    settings = Settings(tmp_path / "s.ini")
    settings.remember(state)
    assert Settings(tmp_path / "s.ini").last.source == path
