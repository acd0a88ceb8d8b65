"""Pages of the stage are made when they are first looked at, or ahead in quiet moments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from PySide6.QtCore import Qt

from tests.gui.live_window import live as live
from visualizer import actions
from visualizer.pages import PAGES, page_class
from visualizer.state import PageName
from visualizer.theme import theme_of
from visualizer.widgets.canvas import Canvas

ROOT = Path(__file__).parents[2]


def test_every_page_has_a_class_of_its_own_name():
    assert set(PAGES) == set(get_args(PageName))
    assert all(page_class(name).name == name for name in PAGES)


def test_the_first_frame_imports_no_page_that_it_does_not_show():
    program = """
import sys
from visualizer.app import make_application
from visualizer.main_window import MainWindow
from visualizer.pages import PAGES, is_imported
from visualizer.state import ViewState
from visualizer.store import Store

app = make_application(["glassformer"])
window = MainWindow(Store(ViewState()))
window.show()
app.processEvents()
print([name for name in PAGES if is_imported(name)], list(window.stage.pages))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "['record'] ['record']\n", done.stderr


def test_a_page_that_comes_late_looks_and_reads_as_if_it_had_been_there(live):
    live.store.dispatch(actions.set_theme, "dark")
    live.store.dispatch(actions.set_language, "zh")
    live.store.dispatch(actions.show_page, "layers")
    page = live.window.stage.page
    assert page.name == "layers" and page.isVisible()
    assert page.flow.accessibleName() == "主视图"
    for canvas in page.findChildren(Canvas):
        assert canvas.theme == theme_of(live.state)
        assert canvas.focusPolicy() == Qt.FocusPolicy.ClickFocus
        assert canvas.focusProxy() is live.window.stage
    live.qtbot.waitUntil(lambda: live.window.stage.painted_run == live.state.run.number)


def test_what_can_be_looked_at_next_is_made_ahead(live):
    stage = live.window.stage
    wanted = {"record", "layers", "attention", "heads", "lens", "decoding", "step", "train"}
    live.qtbot.waitUntil(lambda: set(stage.pages) == wanted, timeout=20_000)
    # a model that holds no conversation has no use for that page
    assert "chat" not in stage.pages and stage.page.name == "record"


@pytest.mark.parametrize("name", ["layers", "decoding"])
def test_a_page_made_ahead_shows_nothing_before_it_is_asked_for(live, name):
    page = live.window.stage.pages[name]
    assert not page.isVisible() and live.window.stage.page.name == "record"
    live.store.dispatch(actions.show_page, name)
    assert page is live.window.stage.page and page.isVisible()
