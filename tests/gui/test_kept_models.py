"""Models that the lab has kept are found again: in the menu, and where files are looked for."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from tests.gui.live_window import LiveWindow
from visualizer import menus
from visualizer.kept_models import MOST, kept_models, place_to_open_from
from visualizer.state import ViewState


def kept(folder: Path, count: int) -> list[Path]:
    """So many files, each written a second after the one before."""
    folder.mkdir()
    paths = [folder / f"dates-{number}.safetensors" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_bytes(b"")
        os.utime(path, (1000 + number, 1000 + number))
    return paths


def test_the_newest_come_first_and_nothing_else_is_listed(tmp_path):
    assert kept_models(tmp_path / "none") == ()
    paths = kept(tmp_path / "kept", 3)
    (tmp_path / "kept" / "notes.txt").write_text("")
    assert kept_models(tmp_path / "kept") == tuple(reversed(paths))


def test_the_menu_opens_them_and_shows_their_folder(qtbot, tmp_path, monkeypatch):
    parent = QWidget()
    qtbot.addWidget(parent)
    paths, opened, shown = kept(tmp_path / "kept", MOST + 2), [], []
    monkeypatch.setattr(menus, "show_folder", shown.append)
    state = ViewState(recent=(str(paths[-1]), str(tmp_path / "other.json")))
    menu = menus.model_menu(parent, state, opened.append, print, (), tmp_path / "kept")
    texts = [action.text() for action in menu.actions()]
    assert sum(text.startswith("dates-") for text in texts) == MOST
    first = next(a for a in menu.actions() if a.text().startswith("dates-"))
    first.trigger()
    assert opened == [paths[-1]]
    folder = next(a for a in menu.actions() if a.text().startswith("Show the folder"))
    assert "2 more" in folder.text()
    folder.trigger()
    assert shown == [tmp_path / "kept"]


def test_a_file_is_looked_for_where_the_last_one_was(tmp_path):
    paths = kept(tmp_path / "kept", 1)
    assert place_to_open_from((), tmp_path / "none") is None
    assert place_to_open_from((), tmp_path / "kept") == tmp_path / "kept"
    gone = str(tmp_path / "gone" / "a.json")
    assert place_to_open_from((gone, str(paths[0])), tmp_path) == tmp_path / "kept"


def test_several_files_at_once_are_refused_with_a_word(qtbot, tmp_path):
    live = LiveWindow(qtbot, tmp_path)
    live.open_small()
    paths = kept(tmp_path / "kept", 2)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    rest = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier(0))
    entered = QDragEnterEvent(QPointF(9, 9).toPoint(), *rest)
    live.window.dragEnterEvent(entered)
    assert entered.isAccepted() and "One file at a time" in live.notice()
    model = live.state.model
    live.window.dropEvent(QDropEvent(QPointF(9, 9), *rest))
    assert "One file at a time" in live.notice() and live.state.model is model
    live.end()


def test_a_first_file_that_cannot_be_opened_is_not_waited_for(qtbot, tmp_path):
    live = LiveWindow(qtbot, tmp_path)
    bad = tmp_path / "bad.json"
    bad.write_text("{}")
    live.session.open(bad)
    qtbot.waitUntil(lambda: live.state.notice is not None, timeout=10_000)
    assert live.state.model is None
    assert live.window.stage.page.empty._heading.startswith("No model is open")
    live.end()
