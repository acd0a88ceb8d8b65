"""The lab's view of a training: curves, the film and its tables, what one can do."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from visualizer import fonts, lab_actions, lab_orders, lab_unfinished, step_actions, trail
from visualizer.i18n import tr
from visualizer.lab import Lab, Training, shown_step
from visualizer.lenses import lab_charts, lab_words
from visualizer.lenses.lab_check import check_wordings, has_fault
from visualizer.pages.train_film import FilmPart
from visualizer.state import Notice, ViewState
from visualizer.store import Store
from visualizer.widgets.breadcrumb import Breadcrumb
from visualizer.widgets.controls import card, push_button
from visualizer.widgets.lab_chart import LabChart
from visualizer.widgets.parts_note import PartsNote

# Below this width, in parts of the font's size, some commands have fewer words.
NARROW = 90.0
# Shares of the height: of the curves and of what lies below them.
SHARES = (38, 62)
# The least height of a chart, in parts of the font's size.
LEAST_CHART = 6.8


class TrainingPart(QWidget):
    """exportWanted() for the history as a table; saveWanted(step) for a snapshot as a file."""

    exportWanted = Signal()
    saveWanted = Signal(int)

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.store = store
        em = self.em = fonts.em(self.font())
        self.heading = Breadcrumb()
        self.charts = tuple(LabChart() for _ in range(3))
        self.film = FilmPart(store)
        self.reason = QLabel()
        self.reason.setProperty("role", "error")
        self.reason.setWordWrap(True)
        self._why = ""
        self._found: tuple[str, ...] = ()
        # goes on with a training that has failed, from where it was saved
        self.again = push_button()
        self.again.hide()
        self.change = push_button()
        self.pause = push_button(kind="primary")
        self.batch, self.stop, self.check, self.export, self.anew = (
            push_button() for _ in range(5)
        )
        self.glass = push_button()
        self.line = PartsNote()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(round(0.45 * em))
        column.addWidget(self.heading)
        why = QHBoxLayout()
        why.addWidget(self.reason, 1)
        why.addWidget(self.again)
        column.addLayout(why)
        row = QHBoxLayout()
        row.setSpacing(round(0.9 * em))
        for chart in self.charts:
            row.addWidget(chart, 1)
        column.addLayout(row, SHARES[0])
        column.addWidget(self.film, SHARES[1])
        column.addWidget(self._made_commands(em))
        self.heading.set_ground("page")
        for chart in self.charts:
            chart.set_ground("page")
            # lower than they like to be before a frame of the film can no longer be read
            chart.setMinimumHeight(round(LEAST_CHART * em))
        self.line.set_ground("surface")
        self.pause.clicked.connect(self._on_pause)
        self.batch.clicked.connect(partial(self._order, "one_batch"))
        self.glass.clicked.connect(self._on_glass)
        self.stop.clicked.connect(self._on_stop)
        self.again.clicked.connect(self._on_again)
        self.change.clicked.connect(self._on_change)
        # its short name is that of something else
        self.check.setProperty("about", "gradient_check")
        self.check.clicked.connect(self._on_check)
        self.export.clicked.connect(self.exportWanted)
        self.anew.clicked.connect(self._on_anew)
        self.film.saveWanted.connect(self.saveWanted)

    def _made_commands(self, em: float) -> QWidget:
        frame, inside = card(self)
        inside.setDirection(QBoxLayout.Direction.LeftToRight)
        inside.setContentsMargins(*(round(part * em) for part in (0.8, 0.4, 0.8, 0.4)))
        inside.setSpacing(round(0.55 * em))
        for button in (
            self.pause,
            self.batch,
            self.glass,
            self.stop,
            self.check,
            self.export,
            self.change,
            self.anew,
        ):
            inside.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        inside.addWidget(self.line, 1)
        self.commands = inside
        return frame

    def retranslate(self) -> None:
        for button, name in (
            (self.batch, "batch"),
            (self.glass, "glass"),
            (self.check, "check"),
            (self.export, "export"),
            (self.change, "change"),
            (self.anew, "anew"),
        ):
            button.setText(tr(f"lab.command.{name}"))
            button.setToolTip(tr(f"lab.command.{name}.tip"))
        self._widen_pause()
        self._shorten()
        self.film.retranslate()

    def _widen_pause(self) -> None:
        """As wide with either of its words: the buttons behind it stay where they are.

        Once it is over it has words of its own, which are whole as well.
        """
        shown, widths = self.pause.text(), []
        self.pause.setMinimumWidth(0)
        words = tuple(tr(f"lab.command.{name}") for name in ("pause", "resume"))
        for text in words if shown in words else (*words, shown):
            self.pause.setText(text)
            widths.append(self.pause.sizeHint().width())
        self.pause.setText(shown)
        self.pause.setMinimumWidth(max(widths))

    def _shorten(self) -> None:
        """The words of the commands that go with the width."""
        form = self._form()
        for button, name in (
            (self.check, "check"),
            (self.export, "export"),
            (self.change, "change"),
        ):
            button.setText(tr(f"lab.command.{name}{form}"))
        training = self.store.state.lab.training
        if training is not None and training.is_over:
            self.pause.setText(tr(f"lab.command.open{form}"))
            self._widen_pause()

    def _form(self) -> str:
        """Which words there is room for."""
        return ".short" if self.width() < NARROW * self.em else ""

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._shorten()
        if self._found:
            self._say_reason()
        super().resizeEvent(event)

    def draw(self, state: ViewState) -> None:
        lab, training = state.lab, state.lab.training
        if training is None:
            return
        self.heading.set_place(
            (tr("lab.badge"), "encoder"),
            "",
            lab_words.task_name(training.subject.title),
            (),
            lab_words.facts(training),
            lab_words.pace(training),
        )
        drawn = lab_charts.charts(training, lab_charts.looked_step(lab))
        for chart, shown in zip(self.charts, drawn, strict=True):
            chart.set_chart(shown)
        self.film.draw(state)
        self._draw_glass(training, step_actions.paused_training(state) is not None)
        self._draw_commands(lab, training, state.notice)
        told = lab_words.line_below(training)
        kept = lab_words.kept_at(training) is not None
        self.line.set_wordings(told, lab_words.line_below(training, short=True), cut=kept)
        self.line.setToolTip(lab_words.about_line(training))
        # no button is painted in the room that its former words took
        self.commands.activate()

    def _draw_commands(self, lab: Lab, training: Training, notice: Notice | None) -> None:
        # as long as the window's notice says it there is no need to say it twice
        is_said = notice is not None and notice.key.startswith(lab_unfinished.FAILED)
        saved = any(str(entry.path) == training.checkpoint for entry in lab.unfinished)
        can_go_on = training.status == "failed" and saved and training.final is None
        said = [] if is_said or not training.reason else [lab_words.why_ended(training, can_go_on)]
        self._why, self._found = "\n".join(said), check_wordings(lab.check)
        self._say_reason()
        role = "error" if training.reason or has_fault(lab.check) else "muted"
        if self.reason.property("role") != role:
            self.reason.setProperty("role", role)
            self.reason.style().polish(self.reason)
        self.again.setVisible(can_go_on and not is_said)
        self.again.setText(tr("lab.unfinished.resume"))
        paused, over = training.status == "paused", training.is_over
        going = training.status in ("running", "paused")
        if over:
            self.pause.setText(tr(f"lab.command.open{self._form()}"))
            self.pause.setToolTip(tr("lab.command.open.tip"))
            self.pause.setEnabled(shown_step(lab) is not None)
        else:
            key = "lab.command.resume" if paused else "lab.command.pause"
            self.pause.setText(tr(key))
            self.pause.setToolTip(tr("lab.command.pause.tip"))
            self.pause.setEnabled(going)
        self._widen_pause()
        # there is nothing to come any more that the note would have to tell
        self.line.setMinimumWidth(1 if over else 0)
        self.batch.setEnabled(going)
        unkept = lab_orders.is_unkept(training)
        key = "lab.command.keep" if unkept else "lab.command.stop"
        self.stop.setText(tr(key))
        self.stop.setToolTip(tr(f"{key}.tip"))
        self.stop.setEnabled(going or unkept)
        self.anew.setToolTip(tr(f"lab.command.anew.tip{'.over' if over else ''}"))
        self.check.setEnabled(bool(training.snapshots))
        self.export.setEnabled(bool(len(training.steps)))

    def _say_reason(self) -> None:
        """Why it ended, and in a line of its own what a check found: in fewer words where they
        would need a second line, which is the film's.
        """
        face = self.reason.fontMetrics()
        fitting = [words for words in self._found if face.horizontalAdvance(words) <= self.width()]
        found = fitting[:1] or list(self._found[-1:])
        said = [self._why, *found] if self._why else found
        self.reason.setText("\n".join(said))
        self.reason.setToolTip(self._found[0] if self._found else "")
        self.reason.setVisible(bool(said))

    def _draw_glass(self, training: Training, can_look: bool) -> None:
        """It keeps its place while it cannot be pressed: no other button moves, and it says why."""
        self.glass.setEnabled(can_look)
        why = (
            ".over"
            if training.is_over
            else ".unsaved"
            if training.status == "paused"
            else ".running"
        )
        self.glass.setToolTip(tr(f"lab.command.glass.tip{'' if can_look else why}"))

    # What the user does.

    def _order(self, wish: lab_orders.Command) -> None:
        self.store.dispatch(lab_orders.command, wish)

    def _on_pause(self) -> None:
        training = self.store.state.lab.training
        if training is not None and training.is_over:
            self.store.dispatch(lab_orders.open_final)
        else:
            self.store.dispatch(lab_orders.toggle_pause)

    def _on_stop(self) -> None:
        """Of a training that is over there is at most the model that could not be kept."""
        training = self.store.state.lab.training
        if training is not None and training.is_over:
            self.store.dispatch(lab_orders.keep)
        else:
            self._order("stop")

    def _on_again(self) -> None:
        training = self.store.state.lab.training
        if training is not None:
            self.store.dispatch(lab_unfinished.take_up, Path(training.checkpoint))

    def _on_change(self) -> None:
        self.store.dispatch(lab_actions.change_settings)

    def _on_glass(self) -> None:
        """The step that one batch more would be, laid open; the way back leads here."""
        self.store.dispatch(
            lambda state: step_actions.look_at_training(trail.open_page(state, "step"))
        )

    def _on_check(self) -> None:
        self.store.dispatch(lab_orders.check)

    def _on_anew(self) -> None:
        self.store.dispatch(lab_actions.go_to, "choose")
