"""The window: where the panels lie, the keys that work anywhere, dropped files, the look."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QIcon,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from model_core.bundled import resources
from visualizer import actions, dialogs, fonts, i18n, keys
from visualizer.i18n import tr
from visualizer.panels.base import COLOURS, Panel
from visualizer.panels.header import HeaderPanel
from visualizer.panels.map import MapPanel
from visualizer.panels.notice import NoticePanel
from visualizer.panels.prediction import PredictionPanel
from visualizer.panels.residual import ResidualPanel
from visualizer.panels.stage import StagePanel
from visualizer.panels.transport import TransportPanel
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.stylesheet import stylesheet
from visualizer.theme import qpalette, theme_of
from visualizer.widgets.canvas import Canvas
from visualizer.widgets.controls import rule
from visualizer.widgets.key_sheet import KeySheet

LEAST_SIZE = (1120, 640)
# Shares of the window's width, and the least and most pixels of a side panel.
LEFT_SHARE, LEFT_ROOM = 0.156, (196, 300)
RIGHT_SHARE, RIGHT_ROOM = 0.236, (290, 470)


class MainWindow(QWidget):
    """openWanted(a bundled model's name or a Path), choicesMade(Choices) for the model in use,
    saveWanted(Path); closing() before the window goes.

    choose_path: asks the user for a file, None where there is none
    choose_target: asks where to save, given a place and the endings that the model can have
    """

    openWanted = Signal(object)
    choicesMade = Signal(object)
    saveWanted = Signal(object)
    closing = Signal()

    def __init__(
        self,
        store: Store,
        choose_path: Callable[[QWidget], Path | None] = dialogs.ask_for_path,
        choose_target: Callable[[QWidget, Path, tuple[str, ...]], Path | None] = (
            dialogs.ask_for_target
        ),
    ) -> None:
        super().__init__()
        self.store = store
        self._choose_path, self._choose_target = choose_path, choose_target
        self.setProperty("role", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumSize(*LEAST_SIZE)
        self.setWindowIcon(QIcon(str(resources() / "icons" / "glassformer.png")))
        self.setAcceptDrops(True)
        # Before the panels: words and colours have changed when they draw.
        store.changed.connect(self._on_changed)
        self._take_look(store.state)
        self.header, self.notice = HeaderPanel(store), NoticePanel(store)
        self.map, self.stage = MapPanel(store), StagePanel(store)
        self.residual, self.prediction = ResidualPanel(store), PredictionPanel(store)
        self.transport = TransportPanel(store)
        self.panels: tuple[Panel, ...] = (
            self.header,
            self.notice,
            self.map,
            self.stage,
            self.residual,
            self.prediction,
            self.transport,
        )
        self._lay_out()
        # A click on what is painted takes the keys out of a text field, to the stage.
        for panel in self.panels[2:]:
            for canvas in panel.findChildren(Canvas):
                canvas.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
                canvas.setFocusProxy(self.stage)
        self.key_sheet = KeySheet(self)
        self.key_sheet.closed.connect(self._to_stage)
        self.header.openChosen.connect(self.openWanted)
        self.header.choicesMade.connect(self.choicesMade)
        self.header.browse.connect(self.browse)
        self.header.save.connect(self.save)
        self.header.saveAs.connect(self.save_as)
        self.header.left.connect(self._to_stage)
        self.header.keysWanted.connect(self.show_keys)
        for sequence, act in (
            (QKeySequence.StandardKey.Open, self.browse),
            (QKeySequence.StandardKey.Save, self.save),
            (QKeySequence("Ctrl+Shift+S"), self.save_as),
            (QKeySequence.StandardKey.Undo, store.undo),
            (QKeySequence.StandardKey.Redo, store.redo),
            (QKeySequence("Ctrl+L"), self._to_sentence),
            (QKeySequence.StandardKey.HelpContents, self.show_keys),
        ):
            QShortcut(sequence, self).activated.connect(act)
        self.refresh()
        self.stage.setFocus()

    def _lay_out(self) -> None:
        middle = QHBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self.map)
        middle.addWidget(rule(vertical=True))
        middle.addWidget(self.stage, 1)
        middle.addWidget(rule(vertical=True))
        self.right = QWidget()
        self.right.setProperty("role", "surface")
        right = QVBoxLayout(self.right)
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(0)
        right.addWidget(self.residual)
        right.addWidget(self.prediction, 1)
        middle.addWidget(self.right)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.header)
        whole.addWidget(rule())
        whole.addWidget(self.notice)
        whole.addLayout(middle, 1)
        whole.addWidget(rule())
        whole.addWidget(self.transport)

    def refresh(self) -> None:
        """Draw every panel from the state as it is."""
        for panel in self.panels:
            panel.refresh()

    def finish_drawing(self) -> None:
        """Do at once what waits for an idle moment, for a picture without an event loop."""
        self.stage.formula.finish()

    # The look and the title.

    def _on_changed(self, old: ViewState, new: ViewState, fields: frozenset[str]) -> None:
        if fields & (COLOURS | {"language"}):
            self._take_look(new)
        if fields & {"model", "language"}:
            self._name_window(new)

    def _take_look(self, state: ViewState) -> None:
        i18n.set_language(state.language)
        theme = theme_of(state)
        app = QApplication.instance()
        sheet = stylesheet(theme, fonts.em(app.font()))
        if app.styleSheet() != sheet:
            app.setPalette(qpalette(theme))
            app.setStyleSheet(sheet)
        self._name_window(state)

    def _name_window(self, state: ViewState) -> None:
        name = "" if state.model is None else state.model.name
        self.setWindowTitle(tr("ui.window.title", model=name) if name else "Glassformer")

    def resizeEvent(self, event: QResizeEvent) -> None:
        width = self.width()
        for panel, share, (least, most) in (
            (self.map, LEFT_SHARE, LEFT_ROOM),
            (self.right, RIGHT_SHARE, RIGHT_ROOM),
        ):
            panel.setFixedWidth(round(min(max(share * width, least), most)))
        self.key_sheet.setGeometry(self.rect())
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
        path = self._choose_path(self)
        if path is not None:
            self.openWanted.emit(path)

    def save(self) -> None:
        """Write the model to its own file, or ask for one where it has none."""
        state = self.store.state
        if state.file is None:
            self.save_as()
        elif state.model is not None:
            self.saveWanted.emit(state.file)

    def save_as(self) -> None:
        """Ask where to write the model, and write it there."""
        state = self.store.state
        if state.model is not None:
            path = self._choose_target(self, *dialogs.suggested_target(state))
            if path is not None:
                self.saveWanted.emit(path)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _dropped_file(event) is not None:
            event.acceptProposedAction()
            self.store.dispatch(actions.show_notice, "ui.drop")

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.store.dispatch(actions.dismiss_notice)

    def dropEvent(self, event: QDropEvent) -> None:
        path = _dropped_file(event)
        self.store.dispatch(actions.dismiss_notice)
        if path is not None:
            event.acceptProposedAction()
            self.openWanted.emit(path)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.closing.emit()
        super().closeEvent(event)


def _dropped_file(event: QDropEvent | QDragEnterEvent) -> Path | None:
    """The one local file that is dragged, if that is what it is."""
    urls = event.mimeData().urls() if event.mimeData().hasUrls() else []
    if len(urls) != 1 or not urls[0].isLocalFile():
        return None
    return Path(urls[0].toLocalFile())
