"""The composition root: store, engine, window and settings, and what passes between them."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import platformdirs
from PySide6.QtCore import QObject, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from model_core import bundled
from visualizer import actions, chat_actions, decoding_actions, fonts, navigation
from visualizer.beam_run import Search
from visualizer.conversation import Spoken
from visualizer.engine import Engine, one_sentence
from visualizer.garbage import GarbageCollector
from visualizer.inputs import chooses_otherwise
from visualizer.inquirer import Inquirer
from visualizer.laboratory import Laboratory
from visualizer.lenses.remarks import say_remarks, say_saved
from visualizer.main_window import MainWindow
from visualizer.pair_files import FOR_THE_LAB, NEITHER, PAIR_ENDINGS, offer_the_lab, pairs_in
from visualizer.preparation import Preparation
from visualizer.settings import PREFERENCES, Last, Settings, default_path
from visualizer.state import AS_IT_IS, Choices, ModelEntry, Run, ViewState
from visualizer.store import Store
from visualizer.theme import system_theme

if TYPE_CHECKING:
    from model_core import Saved
    from model_core.snippets import Snippet

FIRST_MODEL = "en-zh"
FIRST_SIZE = (1600, 1000)
READING_TIME = 8000  # milliseconds that a good word stays
# Words about what went well go by themselves.
FADING = ("notice.saved", "notice.copied", "notice.written", "notice.kept")
# A slider shows at once what it changes. Where decoding what follows from it takes longer than a
# frame or two, it begins once the slider rests; all in milliseconds.
LONG_RUN, RESTED = 40, 80
TITLE_BAR = 40  # pixels; what the frame takes is known only once the window is on screen

log = logging.getLogger("glassformer")


def make_application(arguments: list[str], exact: bool = False) -> QApplication:
    """The QApplication with style and font; exact: the same pixels on every machine."""
    app = QApplication(arguments)
    app.setApplicationName("Glassformer")
    app.setDesktopFileName("glassformer")
    dress(app, exact)
    return app


def dress(app: QApplication, exact: bool = False) -> None:
    """Style and font; the colours come with the window."""
    app.setStyle("Fusion")
    fonts.install_fonts(app, bundled.resources() / "fonts" / fonts.FILE_NAME, exact=exact)


class Session(QObject):
    """One window with its engine: requests go out when inputs change, runs come back."""

    def __init__(self, window: MainWindow, engine: Engine, settings: Settings | None) -> None:
        super().__init__()
        self.window, self.engine, self.settings = window, engine, settings
        self.store = window.store
        self._fading = QTimer(self)
        self._fading.setSingleShot(True)
        self._fading.timeout.connect(self._on_faded)
        self._clock = QTimer(self)
        self._clock.timeout.connect(self._on_tick)
        self._rested = QTimer(self)
        self._rested.setSingleShot(True)
        self._rested.timeout.connect(self._on_rested)
        self._preparation = Preparation(engine)
        self.inquirer = Inquirer(window.store, parent=self)
        self.laboratory = Laboratory(window.store, parent=self)
        # how the model that is being opened takes the stage
        self._show_opened: Callable[[ViewState, ModelEntry], ViewState] = actions.open_model
        self._asked_for: str | Path = ""
        self._fallback: str | Path | None = None
        self.store.changed.connect(self._on_changed)
        engine.finished.connect(self._on_finished)
        engine.failed.connect(self._on_failed)
        engine.progress.connect(self._on_progress)
        engine.opened.connect(self._on_opened)
        engine.open_failed.connect(self._on_open_failed)
        engine.saved.connect(self._on_saved)
        engine.save_failed.connect(self._on_save_failed)
        window.openWanted.connect(self.open)
        window.choicesMade.connect(self.choose)
        window.saveWanted.connect(self.save)
        window.exportWanted.connect(engine.export)
        engine.exported.connect(self._on_exported)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_system_look)
        window.closing.connect(self.close)
        window.may_close = self.laboratory.may_close

    def begin(self, checkpoint: Path | str | None = None) -> None:
        """Once the window is painted: open what is asked for, what was left, or the first model.

        What a model takes is imported then, in the worker's thread.
        """
        self.window.painted.connect(partial(self._open_first, checkpoint))

    def _open_first(self, checkpoint: Path | str | None) -> None:
        self.laboratory.look_for_unfinished()
        last = None if self.settings is None else self.settings.last
        if checkpoint is not None:
            self.open(checkpoint)
        elif last is not None:
            self.resume(last, otherwise=FIRST_MODEL)
        else:
            self.open(FIRST_MODEL)

    def open(self, source: str | Path) -> None:
        """Open a bundled model by its name, or a file."""
        self._request(source, AS_IT_IS, actions.open_model)

    def choose(self, choices: Choices) -> None:
        """Read the model in use another way, where its file leaves that open."""
        entry = self.store.state.model
        if entry is not None:
            self._request(entry.source, choices, actions.reopen_model)

    def resume(self, last: Last, otherwise: str | Path) -> None:
        """Open what was left, at the place where it was left; quietly another model instead."""
        place = {"inputs": last.inputs, "cursor": last.cursor, "head": last.head}
        self._request(last.source, last.choices, partial(actions.resume, **place))
        self._fallback = otherwise

    def save(self, path: Path) -> None:
        """Write the model in use to a file."""
        state = self.store.state
        if state.model is not None:
            self.engine.save(state.model, state.inputs, path.expanduser().absolute())

    def _request(
        self,
        source: str | Path,
        choices: Choices,
        show: Callable[[ViewState, ModelEntry], ViewState],
    ) -> None:
        self._show_opened, self._asked_for, self._fallback = show, source, None
        absolute = source.expanduser().absolute() if isinstance(source, Path) else source
        self.engine.open(absolute, choices)

    def close(self) -> None:
        """Stop the work and remember what is worth remembering."""
        self._clock.stop()
        self._fading.stop()
        self._rested.stop()
        self._preparation.stop()
        self.inquirer.shutdown()
        self.laboratory.shutdown()
        self.engine.shutdown()
        if self.settings is not None:
            self.settings.remember(self.store.state)
            self.settings.remember_geometry(self.window.saveGeometry())

    def _on_changed(self, old: ViewState, new: ViewState, fields: frozenset[str]) -> None:
        if fields & {"model", "inputs"} and new.model is not None:
            self._want_run(old, new)
        if fields & PREFERENCES and self.settings is not None:
            self.settings.remember(new)
        if "notice" in fields and new.notice is not None and new.notice.key.startswith(FADING):
            self._fading.start(READING_TIME)
        if fields & {"playing", "speed"}:
            if new.playing:
                self._clock.start(round(1000 / new.speed))
            else:
                self._clock.stop()

    def _want_run(self, old: ViewState, new: ViewState) -> None:
        long = new.run is not None and new.run.milliseconds > LONG_RUN
        if long and old.model is new.model and chooses_otherwise(old.inputs, new.inputs):
            self.engine.drop_run()
            self._rested.start(RESTED)
        else:
            self._on_rested()

    def _on_rested(self) -> None:
        self._rested.stop()
        state = self.store.state
        if state.model is not None:
            self.engine.request(state.model, state.inputs)

    def _on_finished(self, run: Run) -> None:
        self.store.dispatch(chat_actions.show_run, run)
        if self.store.state.model is not None:
            self._preparation.follow(self.store.state.model, run)
        log.info("run %d is on show: %s %s", run.number, run.outcome, run.text)

    def _on_progress(self, come: Search | Spoken) -> None:
        if isinstance(come, Spoken):
            self.store.dispatch(chat_actions.show_spoken, come)
        else:
            self.store.dispatch(decoding_actions.show_growing, come)

    def _on_failed(self, reason: str, details: str) -> None:
        self.store.dispatch(chat_actions.give_up)
        self.store.dispatch(actions.show_notice, "error.run", "error", details, reason=reason)

    def _on_opened(self, entry: ModelEntry) -> None:
        self.store.dispatch(self._show_opened, entry)
        log.info("opened %s", entry.name)
        if self._show_opened is actions.open_model:
            self.store.dispatch(say_remarks)
        if self.settings is not None:
            self.settings.remember(self.store.state)

    def _on_open_failed(self, name: str, reason: str, details: str) -> None:
        reason = reason.removeprefix(f"{name}: ")  # the sentence names the file itself
        log.info("not opened: %s", reason)
        if isinstance(self._asked_for, Path) and not self._asked_for.exists():
            self.store.dispatch(actions.forget_recent, str(self._asked_for))
        if self._fallback is not None:
            self.open(self._fallback)
            return
        self.store.dispatch(_fail_to_open)
        found = pairs_in(self._asked_for) if isinstance(self._asked_for, Path) else ""
        if isinstance(self._asked_for, Path) and found in FOR_THE_LAB:
            self.store.dispatch(offer_the_lab, self._asked_for, found)
            return
        details = details.removeprefix(f"{name}: ") or str(self._asked_for)
        key, values = "error.open", {"file": name, "reason": reason}
        if found == "nothing":
            key, values = NEITHER, values | {"endings": " ".join(PAIR_ENDINGS)}
        self.store.dispatch(actions.show_notice, key, "error", details, **values)

    def _on_saved(self, saved: Saved) -> None:
        self.store.dispatch(actions.note_saved, saved.path)
        self.store.dispatch(say_saved, saved)
        log.info("saved %s", saved)

    def _on_exported(self, path: Path, snippet: Snippet) -> None:
        self.window.take_copy(snippet.text)
        self.store.dispatch(actions.show_notice, "notice.copied.arrays", file=path)

    def _on_faded(self) -> None:
        """That all went well need not be said for ever."""
        notice = self.store.state.notice
        if notice is not None and notice.key.startswith(FADING):
            self.store.dispatch(actions.dismiss_notice)

    def _on_save_failed(self, name: str, reason: str, details: str) -> None:
        reason, details = (text.removeprefix(f"{name}: ") for text in (reason, details))
        self.store.dispatch(
            actions.show_notice, "error.save", "error", details, file=name, reason=reason
        )

    def _on_system_look(self) -> None:
        if self.store.state.follow_system:
            self.store.dispatch(actions.follow_system, system_theme())

    def _on_tick(self) -> None:
        self.store.dispatch(navigation.advance)


def _fail_to_open(state: ViewState) -> ViewState:
    """Nothing is on its way any more: where there is no model, there will be none by itself."""
    return state if state.model is not None else replace(state, unopened=True)


class Mishaps(QObject):
    """Takes exceptions that nobody caught: writes them down, and tells the user in one sentence."""

    _happened = Signal(str, str)

    def __init__(self, store: Store, log_file: Path) -> None:
        super().__init__()
        self._store, self._log_file = store, log_file
        # queued: it may come from the worker's thread, or from within a draw
        self._happened.connect(self._tell, Qt.ConnectionType.QueuedConnection)

    def take(
        self, kind: type[BaseException], error: BaseException, where: TracebackType | None
    ) -> None:
        """What sys.excepthook calls."""
        if issubclass(kind, KeyboardInterrupt):
            QApplication.exit(130)
            return
        details = "".join(traceback.format_exception(kind, error, where))
        log.error("%s", details)
        self._happened.emit(one_sentence(error), details)

    def _tell(self, reason: str, details: str) -> None:
        values = {"reason": reason, "file": self._log_file}
        self._store.dispatch(actions.show_notice, "error.internal", "error", details, **values)


def start_logging(verbose: bool) -> Path:
    """Write to a file of the user's own; the file's path."""
    path = platformdirs.user_log_path("glassformer") / "glassformer.log"
    logging.getLogger().setLevel(logging.INFO)
    handlers: list[logging.Handler] = [logging.StreamHandler()] if verbose else []
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handlers.append(RotatingFileHandler(path, maxBytes=500_000, backupCount=1, delay=True))
    except OSError:
        pass  # a home that cannot be written to is no reason not to start
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        logging.getLogger().addHandler(handler)
    return path


def place_window(window: MainWindow, settings: Settings) -> None:
    """As it was left, where that is still on a screen; else as large as the first size."""
    kept = settings.geometry
    if kept is not None and window.restoreGeometry(kept) and _on_a_screen(window.frameGeometry()):
        return
    room = QGuiApplication.primaryScreen().availableGeometry()
    width, height = min(FIRST_SIZE[0], room.width()), min(FIRST_SIZE[1], room.height() - TITLE_BAR)
    window.resize(width, height)
    window.move(room.center() - QPoint(width // 2, height // 2))


def _on_a_screen(frame: QRect) -> bool:
    return any(screen.availableGeometry().intersects(frame) for screen in QGuiApplication.screens())


def main(checkpoint: Path | str | None = None, verbose: bool = False) -> int:
    """Show the window until it is closed; the exit code."""
    log_file = start_logging(verbose)
    app = make_application(sys.argv[:1])
    settings = Settings(default_path())
    store = Store(settings.apply_to(ViewState()))
    mishaps = Mishaps(store, log_file)
    sys.excepthook = mishaps.take
    garbage = GarbageCollector()
    engine = Engine()
    window = MainWindow(store)
    session = Session(window, engine, settings)
    place_window(window, settings)
    window.show()
    session.begin(checkpoint)
    try:
        return int(app.exec())
    finally:
        sys.excepthook = sys.__excepthook__
        engine.shutdown()
        garbage.stop()
