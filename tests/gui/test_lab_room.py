"""The lab's pages keep to the room they have, and what there is room for is whole."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication

from tests.gui.samples import FONT
from visualizer import actions, fonts, lab_actions
from visualizer.pages.train_setting import Setting

SIZES = [(1280, 720), (1440, 900), (1600, 1000), (1920, 1080)]


@pytest.fixture
def bundled_font(qapp):
    """What fits depends on the font: it shall be the one that the window has."""
    before = qapp.font()
    fonts.install_fonts(qapp, FONT, exact=True)
    yield
    qapp.setFont(before)


def form_of(live, size: tuple[int, int], scale: float = 1.0, language: str = "en"):
    """The settings of a built-in task in a window of this size."""
    live.window.resize(*size)
    live.store.dispatch(actions.set_language, language)
    live.store.dispatch(actions.set_scale, scale)
    live.qtbot.wait(300)
    live.store.dispatch(lab_actions.toggle_lab)
    live.store.dispatch(lab_actions.choose_task, "dates")
    live.qtbot.waitUntil(lambda: live.state.lab.subject.facts is not None, timeout=20_000)
    # as many warnings as there can be, which are the longest words of a setting
    live.store.dispatch(lab_actions.set_setting, "n_heads", 5)
    live.store.dispatch(lab_actions.set_setting, "learning_rate", 1e9)
    live.qtbot.wait(100)
    return live.window.stage.page.parts["settings"]


@pytest.mark.parametrize("scale", [1.0, 1.1, 1.5])
@pytest.mark.parametrize("size", SIZES)
def test_the_settings_are_never_wider_than_their_panel(bundled_font, lab_window, size, scale):
    part = form_of(lab_window, size, scale)
    inside, room = part.area.widget(), part.area.viewport().width()
    assert inside.width() == room
    assert inside.minimumSizeHint().width() <= room
    for setting in part.settings.values():
        assert setting.mapTo(inside, QPoint(setting.width(), 0)).x() <= room
        for label in (setting.label, setting.hint, setting.explained, setting.problem):
            if label.isHidden():
                continue
            assert label.width() >= label.minimumSizeHint().width(), label.text()
            assert label.geometry().right() < setting.width(), label.text()
            wanted = label.heightForWidth(label.width()) if label.wordWrap() else label.height()
            assert label.height() >= wanted, label.text()


def test_the_keys_go_through_the_settings_without_moving_the_page_sideways(
    bundled_font, lab_window
):
    part = form_of(lab_window, (1600, 1000))
    bar = part.area.horizontalScrollBar()
    part.settings["d_model"].shown.setFocus()
    seen = set()
    for _ in range(80):
        seen.add(QApplication.focusWidget())
        lab_window.press(Qt.Key.Key_Tab)
        assert (bar.value(), bar.maximum()) == (0, 0)
    shown = [one.shown for one in part.settings.values() if one.row.kind != "fixed"]
    assert seen >= set(shown)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_range_of_a_setting_is_whole_and_beside_its_field(bundled_font, lab_window, language):
    part = form_of(lab_window, (1600, 1000), language=language)
    assert part._wide
    for setting in part.findChildren(Setting):
        lines = setting.hint.text().split("\n")
        room = setting.hint.width()
        assert all(setting.hint.fontMetrics().horizontalAdvance(line) <= room for line in lines)
        assert " · ".join(lines) == setting.row.hint
