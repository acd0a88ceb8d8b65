"""Files dropped on the window or opened: pairs go to the training lab, models to the stage."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget

from tests.gui.lab_bench import PAIRS
from tests.gui.live_window import WAIT
from visualizer import actions
from visualizer.pair_files import LOOKED_AT, goes_to_lab, pairs_in

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
COPY = Qt.DropAction.CopyAction


@pytest.fixture
def live(lab_window):
    return lab_window


def dragged(path: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    # as file managers do
    data.setText(str(path))
    return data


def drop_on(widget: QWidget, path: Path) -> None:
    """Qt itself finds the innermost widget that takes the file, and gives it the drop."""
    data = dragged(path)
    enter = QDragEnterEvent(QPoint(5, 5), COPY, data, LEFT, NONE)
    QApplication.sendEvent(widget, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(widget, QDropEvent(QPointF(5, 5), COPY, data, LEFT, NONE))


def pairs_file(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text(PAIRS, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["pairs.tsv", "pairs.csv", "pairs.jsonl", "PAIRS.TXT"])
def test_the_endings_of_pairs_go_to_the_lab_from_everywhere(name):
    assert goes_to_lab(Path(name), in_lab=False) and goes_to_lab(Path(name), in_lab=True)


@pytest.mark.parametrize("name", ["model.safetensors", "model.json", "worked.npz"])
def test_a_checkpoint_is_opened_as_a_model_on_the_lab_too(name):
    assert not goes_to_lab(Path(name), in_lab=False) and not goes_to_lab(Path(name), in_lab=True)


def test_an_unknown_ending_is_meant_for_what_is_on_show():
    assert goes_to_lab(Path("pairs.dat"), in_lab=True)
    assert not goes_to_lab(Path("model.dat"), in_lab=False)


def test_pairs_dropped_anywhere_open_the_lab_with_them(live, qtbot, tmp_path):
    path = pairs_file(tmp_path, "swapped.tsv")
    for place in (live.window.stage, live.window.header.field, live.window.map):
        live.store.dispatch(actions.show_page, "record")
        drop_on(place, path)
        assert live.state.page == "train" and live.state.lab.step == "file"
        assert live.state.notice is None
    qtbot.waitUntil(lambda: live.state.lab.file.report is not None, timeout=WAIT)
    assert live.state.lab.file.report.pairs == 16
    assert live.state.model is not None


def test_dragging_says_what_will_become_of_the_file(live, tmp_path):
    said = []
    for name in ("swapped.tsv", "model.safetensors"):
        data = dragged(tmp_path / name)
        live.window.dragEnterEvent(QDragEnterEvent(QPoint(5, 5), COPY, data, LEFT, NONE))
        said.append(live.window.notice.bar.sentence.text())
    assert "training lab" in said[0] and "checkpoint" in said[1]


def test_pairs_that_are_opened_are_offered_to_the_lab(live, qtbot, tmp_path):
    live.chosen = pairs_file(tmp_path, "swapped.txt")
    model = live.state.model
    live.window.browse()
    qtbot.waitUntil(lambda: live.state.notice is not None, timeout=WAIT)
    bar = live.window.notice.bar
    assert "swapped.txt" in bar.sentence.text() and "training lab" in bar.sentence.text()
    assert "checkpoint" not in bar.sentence.text() and live.state.model is model
    shown = [button for button in bar.answers if button.isVisible()]
    assert [button.text() for button in shown] == ["Take it there"]
    shown[0].click()
    assert live.state.page == "train" and live.state.notice is None
    qtbot.waitUntil(lambda: live.state.lab.file.report is not None, timeout=WAIT)


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("list", b"a\tb\nc\td\n", "pairs"),
        ("lines", b'{"a": "b", "c": "d"}\n{"a": "c", "c": "e"}\n', "pairs"),
        ("notes.md", b"# A title: with a colon\nand a line, with a comma\n", ""),
        ("broken.json", b'{"a": 1,\n"b": 2,\n', ""),
        ("one.tsv", b"a\tb\n", "pairs"),
        ("wide.tsv", "a\tb\nc\td\n".encode("utf-16"), "pairs"),
        ("header.csv", b"source,target\na,b\n", "pairs"),
        # named like pairs, but nothing shows that they are some
        ("onecol.tsv", b"a\nb\nc\n", "maybe"),
        ("half.tsv", b"a\t\nb\t\nc\t\n", "maybe"),
        ("counts.jsonl", b'{"n": 1}\n{"n": 2}\n', "maybe"),
        ("prose.txt", b"Well, now.\nYes, and no.\n", "maybe"),
        ("line.txt", b"x" * (3 * LOOKED_AT), "maybe"),
        ("binary.txt", bytes(range(256)), "nothing"),
        ("empty.tsv", b"", "nothing"),
        ("blank.tsv", b" \n\n", "nothing"),
        ("sparse.csv", bytes(3 * LOOKED_AT), "nothing"),
        ("empty.dat", b"", ""),
    ],
)
def test_pairs_are_spoken_of_only_where_a_look_has_found_them(tmp_path, name, data, found):
    path = tmp_path / name
    path.write_bytes(data)
    assert pairs_in(path) == found
    assert pairs_in(tmp_path / "missing.tsv") == ""


def opened(live, qtbot, path: Path) -> str:
    live.chosen = path
    live.window.browse()
    qtbot.waitUntil(lambda: live.state.notice is not None, timeout=WAIT)
    return live.window.notice.bar.sentence.text()


def test_what_may_be_pairs_is_offered_without_a_claim(live, qtbot, tmp_path):
    path = tmp_path / "onecol.tsv"
    path.write_text("a\nb\nc\n", encoding="utf-8")
    said = opened(live, qtbot, path)
    assert "is no model" in said and "may hold pairs" in said
    shown = [button for button in live.window.notice.bar.answers if button.isVisible()]
    assert [button.text() for button in shown] == ["Take it there"]
    shown[0].click()
    assert live.state.page == "train" and live.state.lab.file.path == str(path)


@pytest.mark.parametrize("size", [0, 5000])
def test_of_an_empty_file_of_pairs_both_kinds_of_files_are_named(live, qtbot, tmp_path, size):
    path = tmp_path / "empty.tsv"
    path.write_bytes(bytes(size))
    said = opened(live, qtbot, path)
    assert "checkpoint" in said and "pairs of sentences" in said and ".tsv" in said
    assert not any(button.isVisible() for button in live.window.notice.bar.answers)
