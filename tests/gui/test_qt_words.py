"""Qt's own words are those of the window's language; the truth is what Qt's catalogue says."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt, QTranslator
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QToolButton,
    QTreeView,
)

from tests.gui.live_window import live  # noqa: F401
from visualizer import actions
from visualizer.qt_words import TRANSLATIONS, translate_qt


def words_of_a_dialog(qtbot) -> tuple[set[str], set[str]]:
    """Labels and buttons of a dialog of Qt's own, as the program asks for files."""
    dialog = QFileDialog()
    qtbot.addWidget(dialog)
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    box = dialog.findChild(QDialogButtonBox)
    labels = {label.text() for label in dialog.findChildren(QLabel)}
    return labels, {button.text() for button in box.buttons()}


def test_file_dialogs_speak_the_language_of_the_window_and_go_back(live, qtbot):  # noqa: F811
    english = words_of_a_dialog(qtbot)
    assert "&Look in:" in english[0] and english[1] == {"&Open", "Cancel"}
    live.store.dispatch(actions.set_language, "zh")
    labels, buttons = words_of_a_dialog(qtbot)
    assert buttons == {"打开(&O)", "取消"}
    assert len(labels) == 3 and all("：" in text for text in labels)
    live.store.dispatch(actions.set_language, "en")
    assert words_of_a_dialog(qtbot) == english


def test_so_do_the_menus_of_fields(qapp, qtbot):
    translate_qt(qapp, "zh")
    field = QLineEdit("abc")
    qtbot.addWidget(field)
    texts = [action.text() for action in field.createStandardContextMenu().actions()]
    assert any("复制" in text for text in texts)


def test_one_translation_is_installed_at_most(qapp):
    for language in ("zh", "zh", "en", "zh"):
        translate_qt(qapp, language)
        assert len(qapp.findChildren(QTranslator)) == (language == "zh")
    assert QCoreApplication.translate("QFileDialog", "Look in:") == "查找范围："


def test_a_qt_without_the_translation_has_its_own_words(qapp, monkeypatch):
    monkeypatch.setitem(TRANSLATIONS, "zh", "qtbase_none")
    translate_qt(qapp, "zh")
    for context, text in (("QFileDialog", "&Open"), ("QShortcut", "Ctrl")):
        assert QCoreApplication.translate(context, text) == text


def test_nothing_in_a_file_dialog_is_left_in_english(qapp, qtbot, tmp_path):
    (tmp_path / "inner").mkdir()
    translate_qt(qapp, "zh")
    for mode in (QFileDialog.AcceptMode.AcceptOpen, QFileDialog.AcceptMode.AcceptSave):
        dialog = QFileDialog(None, "", str(tmp_path))
        qtbot.addWidget(dialog)
        dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
        dialog.setAcceptMode(mode)
        dialog.show()
        tree = dialog.findChild(QTreeView)
        qtbot.waitUntil(lambda tree=tree: tree.model().rowCount(tree.rootIndex()) == 1)
        shown = [label.text() for label in dialog.findChildren(QLabel)]
        shown += [button.toolTip() for button in dialog.findChildren(QToolButton)]
        shown += [button.text() for button in dialog.findChild(QDialogButtonBox).buttons()]
        columns = range(tree.model().columnCount())
        shown += [tree.model().headerData(n, Qt.Orientation.Horizontal) for n in columns]
        shown.append(tree.model().index(0, 2, tree.rootIndex()).data())
        for text in filter(None, shown):
            assert any("\u4e00" <= letter <= "\u9fff" for letter in text), text
        dialog.close()
