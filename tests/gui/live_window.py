"""A whole window with its engine over a small random model, for tests that drive it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QApplication, QWidget

import model_core
from tests.gui.views import SENTENCE, entry
from visualizer import actions
from visualizer.app import Session, dress
from visualizer.engine import Engine
from visualizer.main_window import MainWindow
from visualizer.settings import Settings
from visualizer.state import ViewState
from visualizer.store import Store

WAIT = 10_000


class LiveWindow:
    """The session as the program makes it, settled after each step that a test takes."""

    def __init__(self, qtbot, folder: Path) -> None:
        self.qtbot = qtbot
        self.chosen: Path | None = None
        self.settings = Settings(folder / "settings.ini")
        self.store = Store(self.settings.apply_to(ViewState()))
        self.target: Path | None = None
        self.suggested: Path | None = None
        self.window = MainWindow(self.store, lambda *_: self.chosen, self._choose_target)
        self.session = Session(self.window, Engine(), self.settings)
        self.window.resize(1280, 720)
        with qtbot.waitExposed(self.window):
            self.window.show()
        self.window.activateWindow()

    @property
    def state(self) -> ViewState:
        return self.store.state

    @property
    def field(self):
        return self.window.header.field

    def open_small(self) -> None:
        self.store.dispatch(actions.open_model, entry())
        self.until_shown(SENTENCE)

    def until_shown(self, source: str) -> None:
        """Until the run of this sentence is painted by every panel of the run."""

        def shown() -> bool:
            run = self.state.run
            if run is None or run.inputs.source != source or run.inputs != self.state.inputs:
                return False
            panels = (self.window.map, self.window.stage, self.window.prediction)
            return all(panel.painted_run == run.number for panel in panels)

        self.qtbot.waitUntil(shown, timeout=WAIT)

    def press(
        self,
        key: Qt.Key,
        modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
        widget: QWidget | None = None,
    ) -> None:
        self.qtbot.keyClick(widget or QApplication.focusWidget() or self.window, key, modifiers)

    def type(self, text: str) -> None:
        self.field.setFocus()
        self.qtbot.keyClicks(self.field, text)

    def _choose_target(self, parent: QWidget, suggestion: Path, endings: tuple) -> Path | None:
        self.suggested = suggestion
        return self.target

    def until_settled(self) -> None:
        """Until the run of the inputs as they are is painted, whatever they are."""

        def shown() -> bool:
            run = self.state.run
            same = run is not None and run.inputs == self.state.inputs
            return same and self.window.stage.painted_run == run.number

        self.qtbot.waitUntil(shown, timeout=WAIT)

    def open(self, source: str | Path) -> None:
        """Open a model and wait until its first run is painted."""
        before = self.state.model
        self.session.open(source)
        self.qtbot.waitUntil(lambda: self.state.model is not before, timeout=WAIT)
        self.until_settled()

    def notice(self) -> str:
        """The sentence of the bar, once there is one."""
        self.qtbot.waitUntil(lambda: self.state.notice is not None, timeout=WAIT)
        return self.window.notice.bar.sentence.text()

    def end(self) -> None:
        self.window.close()
        assert self.session.engine.shutdown()
        # Here and now: what is left to Python's collector may be deleted in a worker's thread.
        for made in (self.window, self.session, self.session.engine, self.store):
            made.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def live(qtbot, qapp, tmp_path) -> Iterator[LiveWindow]:
    dress(qapp, exact=True)
    made = LiveWindow(qtbot, tmp_path)
    made.open_small()
    yield made
    made.end()
    qapp.setStyleSheet("")


@pytest.fixture
def checkpoint(tmp_path) -> Path:
    """The small model as a file."""
    path = tmp_path / "small model 小.safetensors"
    model_core.save_checkpoint(entry().model, path)
    return path
