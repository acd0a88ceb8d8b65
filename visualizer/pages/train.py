"""The training lab: choosing data, settings, watching a training; each its own part."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QStackedLayout, QWidget

from visualizer import actions, dialogs, lab_actions, lab_orders
from visualizer.lab import Step, shown_step
from visualizer.lenses.caption import Caption
from visualizer.pages.base import Page
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.theme import theme_of
from visualizer.widgets.canvas import Canvas
from visualizer.widgets.cell_line import CellLine

WATCHED = frozenset({"lab", "language", "count_from", "page", "notice"})


class TrainPage(Page):
    """Its parts are made when they are first shown: none of them costs a start anything.

    ask_for_pairs, ask_for_target, ask_for_table: the dialogs that the user picks files with
    """

    name = "train"
    shows_cell = False
    shows_gradients = False
    hides_right = True
    own_heading = True
    word_lines = 0
    ahead = frozenset({"lab", "notice"})
    ask_for_pairs = staticmethod(dialogs.ask_for_pairs)
    ask_for_target = staticmethod(dialogs.ask_for_target)
    ask_for_table = staticmethod(dialogs.ask_for_table)

    def __init__(self, store: Store, cell: CellLine, parent: QWidget | None = None) -> None:
        super().__init__(store, cell, parent)
        self.parts: dict[Step, QWidget] = {}
        self.stack = QStackedLayout(self)
        self.tools = QWidget(self)
        self.tools.setFixedHeight(0)

    def caption(self, state: ViewState) -> Caption | None:
        return None

    def retranslate(self) -> None:
        for part in self.parts.values():
            part.retranslate()  # type: ignore[attr-defined]

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        if not fields & WATCHED:
            return
        part = self.part(state.lab.step)
        if self.stack.currentWidget() is not part:
            self.stack.setCurrentWidget(part)
        part.draw(state)  # type: ignore[attr-defined]

    def part(self, step: Step) -> QWidget:
        """The widget of a step, made where it is not there yet."""
        found = self.parts.get(step)
        if found is None:
            found = self.parts[step] = self._made(step)
            self.stack.addWidget(found)
            found.retranslate()  # type: ignore[attr-defined]
            self._dress(found)
        return found

    def _made(self, step: Step) -> QWidget:
        # these bring the training half of the core with them
        if step == "choose":
            from visualizer.pages.train_start import StartPart

            start = StartPart(self.store, self)
            start.fileWanted.connect(self.browse)
            return start
        if step == "file":
            from visualizer.pages.train_file import FilePart

            file = FilePart(self.store, self)
            file.fileWanted.connect(self.browse)
            return file
        if step == "settings":
            from visualizer.pages.train_form import FormPart

            form = FormPart(self.store, self)
            form.left.connect(self.left)
            return form
        from visualizer.pages.train_views import TrainingPart

        training = TrainingPart(self.store, self)
        training.exportWanted.connect(self._on_export)
        training.saveWanted.connect(self._on_save)
        training.film.left.connect(self.left)
        film = training.film
        for term, things in (
            ("snapshot", (film.strip, film.scrubber, film.detail, film.pair)),
            ("probe", (film.probe,)),
            ("held_out", film.samples),
            ("weight_update", film.norms),
            ("gradient_norm", (training.line,)),
        ):
            for thing in things:
                # what a right click there, or F2, is about
                thing.term = term
        return training

    def _dress(self, part: QWidget) -> None:
        """What the others were given when the window was made."""
        theme = theme_of(self.store.state)
        for child in (part, *part.findChildren(QWidget)):
            if hasattr(child, "set_theme"):
                child.set_theme(theme)
            if isinstance(child, Canvas):
                child.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
                child.setFocusProxy(self.parentWidget())

    def _take_step(self, step: Step, key: int) -> bool:
        part = self.parts.get(step)
        if step == "choose" or part is None:
            return False
        button = part.back if key == Qt.Key.Key_Escape else part.forth  # type: ignore[attr-defined]
        if key not in (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            return False
        button.click()
        return True

    # What the user does.

    def browse(self) -> None:
        """Ask for a file of pairs and look at it."""
        path = self.ask_for_pairs(self)
        if path is not None:
            self.store.dispatch(lab_actions.choose_file, path)

    def _on_export(self) -> None:
        path = self.ask_for_table(self, Path.home() / f"{self._stem()}.csv")
        if path is not None:
            self.store.dispatch(lab_orders.export_history, path)

    def _stem(self) -> str:
        from visualizer.lenses.lab_words import plain

        training = self.store.state.lab.training
        assert training is not None
        return plain(training.subject.title)

    def _on_save(self, step: int) -> None:
        from visualizer.lab_film import entry_at

        training = self.store.state.lab.training
        assert training is not None
        # taken now: while one looks for a folder, the training goes on and the film thins out
        entry = entry_at(training, step)
        name = f"{self._stem()}-step-{step}.safetensors"
        path = self.ask_for_target(self, Path.home() / name, dialogs.endings_of(entry))
        if path is not None:
            self.store.dispatch(lab_orders.save_snapshot, entry, path)

    def save(self) -> bool:
        """Of a training it is the shown snapshot that is saved, not the model on the stage."""
        lab = self.store.state.lab
        if lab.step != "training" or lab.training is None:
            return False
        step = shown_step(lab)
        if step is None:
            self.store.dispatch(actions.show_notice, "notice.no_snapshot")
        else:
            self._on_save(step)
        return True

    def take_key(self, event: QKeyEvent) -> bool:
        """The arrows go through the snapshots, Enter opens one, Space pauses.

        Before there is a training Enter goes on and Esc goes back.
        """
        lab = self.store.state.lab
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        key = event.key()
        if lab.step != "training":
            return self._take_step(lab.step, key)
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.store.dispatch(lab_orders.step_on, -1 if key == Qt.Key.Key_Left else 1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and shown_step(lab) is not None:
            self.store.dispatch(lab_orders.open_shown)
        elif key == Qt.Key.Key_Space:
            self.store.dispatch(lab_orders.toggle_pause)
        elif Qt.Key.Key_1 <= key <= Qt.Key.Key_9:
            self.store.dispatch(lab_orders.set_head, key - Qt.Key.Key_1)
        else:
            return False
        return True
