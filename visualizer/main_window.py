"""The window: where the panels lie, the keys that work anywhere, dropped files, the look."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QGuiApplication,
    QIcon,
    QKeyEvent,
    QKeySequence,
    QPaintEvent,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from model_core.bundled import resources
from model_core.snippets import DATA_FILE
from visualizer import actions, dialogs, fonts, i18n, keys, lab_actions
from visualizer.asking import Asking
from visualizer.cards import title_of
from visualizer.copying import copied
from visualizer.i18n import tr
from visualizer.kept_models import kept_folder, place_to_open_from
from visualizer.pair_files import goes_to_lab
from visualizer.panels.base import COLOURS
from visualizer.qt_words import translate_qt
from visualizer.state import SCALES, ViewState, reads_matrix
from visualizer.store import Store
from visualizer.stylesheet import stylesheet
from visualizer.theme import qpalette, theme_of
from visualizer.widgets.formula import Formula
from visualizer.widgets.key_sheet import KeySheet
from visualizer.workspace import Workspace

LEAST_SIZE = (1120, 640)
# From this size on everything is drawn this much larger, where nobody has chosen.
LARGE_SIZES = (((3200, 1900), 1.75), ((2200, 1300), 1.25))
SETTLED = 200  # milliseconds that the window's size has to stay


def fitting_scale(width: int, height: int, chosen: float | None = None) -> float:
    """The size of type for a window's size in logical pixels: the chosen one, if there is room."""
    if chosen is None:
        fits = (scale for (w, h), scale in LARGE_SIZES if width >= w and height >= h)
        return next(fits, 1.0)
    room = min(width / LEAST_SIZE[0], height / LEAST_SIZE[1])
    return min(chosen, max((scale for scale in SCALES if scale <= room), default=1.0))


class MainWindow(QWidget):
    """openWanted(a bundled model's name or a Path), choicesMade(Choices) for the model in use,
    saveWanted(Path), exportWanted(Snippet, Path) for the arrays that copied text loads;
    closing() before the window goes; painted() once, when its first frame is on the screen.

    choose_path: asks the user for a file, given a folder; None where there is none
    choose_target: asks where to save, given a place and the endings that the model can have
    choose_arrays: asks where to write the arrays that copied text loads, given a place
    """

    openWanted = Signal(object)
    choicesMade = Signal(object)
    saveWanted = Signal(object)
    exportWanted = Signal(object, object)
    closing = Signal()
    painted = Signal()

    def __init__(
        self,
        store: Store,
        choose_path: Callable[[QWidget, Path | None], Path | None] = dialogs.ask_for_path,
        choose_target: Callable[[QWidget, Path, tuple[str, ...]], Path | None] = (
            dialogs.ask_for_target
        ),
        choose_arrays: Callable[[QWidget, Path], Path | None] = dialogs.ask_for_arrays,
    ) -> None:
        super().__init__()
        self.store = store
        # whoever would lose something says so here, and why
        self.may_close: Callable[[], bool] = lambda: True
        self._choose_path, self._choose_target = choose_path, choose_target
        self._choose_arrays, self._arrays_folder = choose_arrays, Path.home()
        self.setProperty("role", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumSize(*LEAST_SIZE)
        self.setWindowIcon(QIcon(str(resources() / "icons" / "glassformer.png")))
        self.setAcceptDrops(True)
        # Before the panels: words and colours have changed when they draw.
        store.changed.connect(self._on_changed)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        self._settling = QTimer(self)
        self._settling.setSingleShot(True)
        self._settling.timeout.connect(self._fit_type)
        self._scale = 1.0
        self._has_painted = False
        self.asking = Asking(self, store)
        self.asking.left.connect(self._to_stage)
        self._fill()
        for sequence, act in (
            (QKeySequence.StandardKey.Open, self.browse),
            (QKeySequence.StandardKey.Save, self.save),
            (QKeySequence("Ctrl+Shift+S"), self.save_as),
            (QKeySequence.StandardKey.Undo, store.undo),
            (QKeySequence.StandardKey.Redo, store.redo),
            (QKeySequence("Ctrl+L"), self._to_sentence),
            (QKeySequence("Ctrl+T"), self._to_target),
            (QKeySequence.StandardKey.Copy, partial(self.copy, False)),
            (QKeySequence("Ctrl+Shift+C"), partial(self.copy, True)),
            (QKeySequence("Ctrl++"), self.larger),
            (QKeySequence("Ctrl+="), self.larger),
            (QKeySequence("Ctrl+-"), self.smaller),
            (QKeySequence("Ctrl+0"), self.fitting),
            (QKeySequence.StandardKey.HelpContents, self.show_keys),
            (QKeySequence("F2"), self.asking.toggle),
        ):
            QShortcut(sequence, self).activated.connect(act)
        self.stage.setFocus()

    def _fill(self) -> None:
        """Make the panels in the size of type that is due, in place of those there are."""
        fonts.resize(QApplication.instance(), self._scale)
        self._take_look(self.store.state)
        self.workspace = Workspace(self.store, self._scale, self)
        self.layout().addWidget(self.workspace)
        for name in ("header", "notice", "map", "stage", "residual", "prediction", "transport"):
            setattr(self, name, getattr(self.workspace, name))
        self.typed_target = self.workspace.typed_target
        self.typed_target.left.connect(self._to_stage)
        self.panels = self.workspace.panels
        self.key_sheet = KeySheet(self)
        self.key_sheet.closed.connect(self._to_stage)
        self.header.openChosen.connect(self.openWanted)
        self.header.choicesMade.connect(self.choicesMade)
        self.header.browse.connect(self.browse)
        self.header.save.connect(self.save)
        self.header.saveAs.connect(self.save_as)
        self.header.left.connect(self._to_stage)
        self.stage.copyWanted.connect(self.copy)
        self.header.keysWanted.connect(self.show_keys)
        self.header.glossaryWanted.connect(self.asking.open_here)
        self.workspace.fit(self.width(), self.height())
        self.workspace.refresh()

    def refresh(self) -> None:
        """Draw every panel from the state as it is."""
        self.workspace.refresh()

    def finish_drawing(self) -> None:
        """Do at once what waits for an idle moment, for a picture without an event loop."""
        for panel in self.panels:
            panel.catch_up()
        for formula in self.stage.findChildren(Formula):
            formula.finish()

    # The look and the title.

    def _on_changed(self, old: ViewState, new: ViewState, fields: frozenset[str]) -> None:
        if fields & (COLOURS | {"language"}):
            self._take_look(new)
        if fields & {"model", "language"}:
            self._name_window(new)
        if "scale" in fields:
            # not while others still draw
            self._settling.start(0)

    def _take_look(self, state: ViewState) -> None:
        i18n.set_language(state.language)
        theme = theme_of(state)
        app = QApplication.instance()
        translate_qt(app, state.language)
        sheet = stylesheet(theme, fonts.em(app.font()))
        if app.styleSheet() != sheet:
            app.setPalette(qpalette(theme))
            app.setStyleSheet(sheet)
        self._name_window(state)

    def _name_window(self, state: ViewState) -> None:
        name = title_of(state.model)
        self.setWindowTitle(tr("ui.window.title", model=name) if name else "Glassformer")

    # The size of type.

    def larger(self) -> None:
        """The next larger size of type."""
        wished = min((s for s in SCALES if s > self._scale), default=SCALES[-1])
        if fitting_scale(self.width(), self.height(), wished) == wished:
            self.store.dispatch(actions.set_scale, wished)

    def smaller(self) -> None:
        """The next smaller size of type."""
        wished = max((s for s in SCALES if s < self._scale), default=SCALES[0])
        self.store.dispatch(actions.set_scale, wished)

    def fitting(self) -> None:
        """The size of type that goes with the window's size."""
        self.store.dispatch(actions.set_scale, None)

    def _fit_type(self) -> None:
        wanted = fitting_scale(self.width(), self.height(), self.store.state.scale)
        if wanted == self._scale:
            return
        self._scale = wanted
        field, sheet = self.header.field, self.key_sheet
        typing = field.cursorPosition() if field.hasFocus() else None
        self.layout().removeWidget(self.workspace)
        self.workspace.retire()
        sheet.deleteLater()
        # at once: the style would be worked out for all of them once more
        for gone in (self.workspace, sheet):
            QCoreApplication.sendPostedEvents(gone, QEvent.Type.DeferredDelete)
        self._fill()
        if typing is None:
            self.stage.setFocus()
        else:
            self.header.field.setFocus()
            self.header.field.setCursorPosition(typing)
        self.asking.renew()

    def showEvent(self, event: QShowEvent) -> None:
        self._fit_type()
        super().showEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._has_painted:
            self._has_painted = True
            # once its children, which come after it, are painted too
            QTimer.singleShot(0, self.painted.emit)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.workspace.fit(self.width(), self.height())
        self.key_sheet.setGeometry(self.rect())
        if self.isVisible():
            # only once the size stays: making the panels takes longer than a frame
            self._settling.start(SETTLED)
        super().resizeEvent(event)

    # Keys.

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """What the focused widget has left; a field takes what edits text."""
        if event.text() == "?" and not self._in_text():
            self.show_keys()
            return
        action = keys.action_of(event, self._in_text())
        if action is None:
            super().keyPressEvent(event)
        else:
            self.store.dispatch(action)

    def _in_text(self) -> bool:
        return isinstance(QApplication.focusWidget(), QLineEdit)

    def _to_stage(self) -> None:
        self.stage.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _to_sentence(self) -> None:
        self.header.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.header.field.selectAll()

    def _to_target(self) -> None:
        state = self.store.state
        if state.model is not None and not reads_matrix(state.model):
            self.workspace.type_target()

    def show_keys(self) -> None:
        """The sheet of keys; once more puts it away."""
        if self.key_sheet.isVisible():
            self.key_sheet.close_sheet()
            return
        lines = [tr(key).rsplit("  ", 1) for key in keys.SHEET]
        self.key_sheet.set_theme(theme_of(self.store.state))
        self.key_sheet.set_lines(tr("ui.help"), [(held, text) for held, text in lines])
        self.key_sheet.open()

    # Opening and saving.

    def browse(self) -> None:
        """Ask for a file and open it."""
        folder = place_to_open_from(self.store.state.recent, kept_folder())
        path = self._choose_path(self, folder)
        if path is not None:
            self.openWanted.emit(path)

    def save(self) -> None:
        """Write the model to its own file, or ask for one where it has none."""
        if self.stage.page.save():
            return
        state = self.store.state
        if state.file is None:
            self.save_as()
        elif state.model is not None:
            self.saveWanted.emit(state.file)

    def save_as(self) -> None:
        """Ask where to write the model, and write it there."""
        if self.stage.page.save():
            return
        state = self.store.state
        if state.model is not None:
            path = self._choose_target(self, *dialogs.suggested_target(state))
            if path is not None:
                self.saveWanted.emit(path)

    def copy(self, whole: bool) -> None:
        """What the page has to give, else the number in focus or its record as NumPy text.

        Where that takes arrays too long for a text, they are written to a file of the user's.
        """
        given = self.stage.page.copied(whole)
        if given:
            self.take_copy(given)
            self.store.dispatch(actions.show_notice, "notice.copied.table")
            return
        # a page that this model does not have is not on show either
        state = replace(self.store.state, page=self.stage.page.name)
        snippet = copied(state, whole)
        if snippet is not None and snippet.arrays:
            path = self._choose_arrays(self, self._arrays_folder / DATA_FILE)
            if path is None:
                return
            self._arrays_folder = path.parent
            # the text is copied once there is a file that it can load
            self.exportWanted.emit(copied(state, whole, path), path)
        elif snippet is not None:
            self.take_copy(snippet.text)
            self.store.dispatch(actions.show_notice, "notice.copied")

    def take_copy(self, text: str) -> None:
        """The text goes to the clipboard."""
        QGuiApplication.clipboard().setText(text)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        path = _dropped_file(event)
        if path is not None:
            event.acceptProposedAction()
            key = "ui.drop.pairs" if self._is_for_lab(path) else "ui.drop"
            self.store.dispatch(actions.show_notice, key)
        elif (several := len(_dragged_files(event))) > 1:
            # taken here only to be told so
            event.acceptProposedAction()
            self.store.dispatch(actions.show_notice, "ui.drop.one", n=several)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.store.dispatch(actions.dismiss_notice)

    def dropEvent(self, event: QDropEvent) -> None:
        path = _dropped_file(event)
        if path is None and len(_dragged_files(event)) > 1:
            return
        self.store.dispatch(actions.dismiss_notice)
        if path is not None:
            event.acceptProposedAction()
            if self._is_for_lab(path):
                self.store.dispatch(lab_actions.choose_file, path)
            else:
                self.openWanted.emit(path)

    def _is_for_lab(self, path: Path) -> bool:
        return goes_to_lab(path, self.stage.page.name == "train")

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.may_close():
            event.ignore()
            return
        self.closing.emit()
        super().closeEvent(event)


def _dropped_file(event: QDropEvent | QDragEnterEvent) -> Path | None:
    """The one local file that is dragged, if that is what it is."""
    files = _dragged_files(event)
    return files[0] if len(files) == 1 else None


def _dragged_files(event: QDropEvent | QDragEnterEvent) -> list[Path]:
    """The local files that are dragged, if there is nothing else among it."""
    urls = event.mimeData().urls() if event.mimeData().hasUrls() else []
    return [Path(url.toLocalFile()) for url in urls] if all(u.isLocalFile() for u in urls) else []
