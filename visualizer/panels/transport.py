"""Bottom: play controls, the output so far, the step, the timeline."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QVBoxLayout, QWidget

from visualizer import actions, fonts, forcing, navigation
from visualizer.i18n import tr
from visualizer.lenses.caption import is_cut_off, run_message
from visualizer.lenses.keeping import keep
from visualizer.lenses.overview import timeline
from visualizer.lenses.pipeline import is_of_run
from visualizer.lenses.prediction import output_tokens, reached_row
from visualizer.panels.base import PLACE, Panel
from visualizer.state import SPEEDS, ViewState, reads_matrix
from visualizer.store import Store
from visualizer.widgets.controls import Note, push_button
from visualizer.widgets.figures import milliseconds
from visualizer.widgets.pencil_button import PencilButton
from visualizer.widgets.timeline import Segment, Timeline
from visualizer.widgets.token_chips import Chip, TokenChips
from visualizer.widgets.transport import TransportButton


class TransportPanel(Panel):
    """A click on an output token goes to the row that predicts it; the timeline is scrubbed.

    Forced tokens have a pin, which takes them back; the pencil opens the line for a target.
    typeWanted() when that is to be typed in.
    """

    watches = frozenset({"run", "cursor", "model", "playing", "speed", "showing", "gradients"})
    watches |= {"inputs", "target_line"}

    typeWanted = Signal()

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(store, parent)
        self.set_ground("surface")
        em = fonts.em(self.font())
        self.first, self.back = TransportButton("first"), TransportButton("back")
        self.play = TransportButton("play", primary=True)
        self.forward, self.last = TransportButton("forward"), TransportButton("last")
        self.speed = push_button(kind="quiet")
        self.output_label = QLabel()
        self.output_label.setProperty("role", "muted")
        self.pencil = PencilButton()
        self.chips = TokenChips()
        self.free = push_button(kind="quiet")
        self.steps = Note()
        self.timeline = Timeline()
        row = QHBoxLayout()
        row.setSpacing(round(0.5 * em))
        self.buttons = (self.first, self.back, self.play, self.forward, self.last)
        for button in self.buttons:
            row.addWidget(button)
        row.addWidget(self.speed)
        row.addSpacing(round(0.6 * em))
        row.addWidget(self.output_label)
        row.addWidget(self.pencil)
        row.addWidget(self.chips, 1)
        row.addWidget(self.free)
        row.addSpacing(round(0.6 * em))
        row.addWidget(self.steps)
        column = QVBoxLayout(self)
        column.setContentsMargins(round(em), round(0.7 * em), round(em), round(0.8 * em))
        column.setSpacing(round(0.7 * em))
        column.addLayout(row)
        column.addWidget(self.timeline)
        self.carriers = (self.chips, self.timeline)
        self.ground("surface", self.chips, self.timeline, self.steps)
        self.first.clicked.connect(self._on_first)
        self.back.clicked.connect(self._on_back)
        self.play.clicked.connect(self._on_play)
        self.forward.clicked.connect(self._on_forward)
        self.last.clicked.connect(self._on_last)
        self.speed.clicked.connect(self._on_speed)
        self.chips.tokenChosen.connect(self._on_token)
        self.chips.pinChosen.connect(self._on_pin)
        self.pencil.clicked.connect(self._on_pencil)
        self.free.clicked.connect(self._on_free)
        self.timeline.scrubbed.connect(self._on_scrubbed)

    def retranslate(self) -> None:
        names = ("ui.first", "ui.back", "ui.play", "ui.forward", "ui.last")
        keys = ("Home", "←", tr("key.space"), "→", "End")
        for button, name, key in zip(self.buttons, names, keys, strict=True):
            button.describe(tr(name), f"{tr(name)}  ({key})")
        self.output_label.setText(tr("ui.output"))
        self.chips.describe(tr("ui.output"))
        self.chips.set_pin_tip(tr("forcing.pin.tip"))
        self.pencil.setAccessibleName(tr("forcing.pencil"))
        self.pencil.setToolTip(f"{tr('forcing.pencil')}  (Ctrl+T)")
        self.free.setText(tr("forcing.free"))
        self.free.setToolTip(tr("forcing.free.tip"))
        self.timeline.describe(tr("ui.timeline"))
        self.speed.setAccessibleName(tr("ui.speed"))
        self.speed.setToolTip(tr("ui.speed.tip"))

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        if fields & {"playing", "language"}:
            self.play.set_sign("pause" if state.playing else "play")
            self.play.setText(tr("ui.pause" if state.playing else "ui.play"))
        if fields & {"speed", "language"}:
            self.speed.setText(_speed_text(state.speed))
        if fields & PLACE:
            self._draw_place(state)
        if fields & {"inputs", "target_line", "model", "run", "language"}:
            self._draw_forced(state)

    def _draw_forced(self, state: ViewState) -> None:
        """What is forced can be given up; and an output that takes long is on its way."""
        inputs = state.inputs
        self.pencil.setVisible(not reads_matrix(state.model))
        self.pencil.setEnabled(state.model is not None)
        self.pencil.setChecked(state.target_line)
        self.free.setVisible(bool(inputs.prefix) or inputs.target is not None)
        self.chips.set_waiting(state.run is not None and not is_of_run(state))

    def _draw_place(self, state: ViewState) -> None:
        reached = reached_row(state)
        key = (reached, state.language, state.count_from)
        chips = keep(state.run, "chips", key, lambda: _chips(state), most=4)
        self.chips.set_chips(chips, reached if reached >= 0 else None)
        drawn = timeline(state)
        self.output_label.setVisible(not reads_matrix(state.model))
        for button in self.buttons:
            button.setEnabled(drawn is not None)
        if drawn is None:
            self.timeline.set_segments(())
            self.steps.set_text("")
            return
        self.timeline.set_segments(
            tuple(Segment(part.label, part.side, part.count) for part in drawn.segments)
        )
        self.timeline.set_step(drawn.index)
        assert state.run is not None
        taken = tr("ui.forward_time", ms=milliseconds(state.run.milliseconds))
        self.steps.set_text(f"{drawn.text}  ·  {taken}")

    def _on_first(self) -> None:
        self.store.dispatch(navigation.home)

    def _on_back(self) -> None:
        self.store.dispatch(navigation.previous_op)

    def _on_play(self) -> None:
        self.store.dispatch(actions.toggle_playing)

    def _on_forward(self) -> None:
        self.store.dispatch(navigation.next_op)

    def _on_last(self) -> None:
        self.store.dispatch(navigation.end)

    def _on_token(self, row: int) -> None:
        self.store.dispatch(navigation.go_to_token, row)

    def _on_pin(self, row: int) -> None:
        self.store.dispatch(forcing.take_back, row)

    def _on_free(self) -> None:
        self.store.dispatch(forcing.free)

    def _on_pencil(self) -> None:
        self.store.dispatch(forcing.show_target_line, not self.store.state.target_line)
        if self.store.state.target_line:
            self.typeWanted.emit()

    def _on_scrubbed(self, step: int) -> None:
        self.store.dispatch(navigation.go_to_index, step)

    def _on_speed(self) -> None:
        menu = QMenu(self)
        for speed in SPEEDS:
            entry = menu.addAction(_speed_text(speed))
            entry.setCheckable(True)
            entry.setChecked(speed == self.store.state.speed)
            entry.setData(speed)
        menu.triggered.connect(self._on_speed_chosen)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.speed.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def _on_speed_chosen(self, entry: QAction) -> None:
        self.store.dispatch(actions.set_speed, entry.data())


def _chips(state: ViewState) -> tuple[Chip, ...]:
    """The output so far, what is still to come faint."""
    run, done = state.run, reached_row(state) + 1
    # the two looks of every token are made once, for all steps along it
    solid, faint = keep(
        run, "looks", None, lambda: tuple(_looks(state, faint) for faint in (False, True))
    )
    chips = solid[:done] + faint[done:]
    if run is not None and is_cut_off(run):
        chips += (Chip(tr("output.limit"), tooltip=run_message(run), unknown=True),)
    return chips


def _looks(state: ViewState, faint: bool) -> tuple[Chip, ...]:
    forced = forcing.forced_count(state)
    return tuple(
        Chip(
            token.token,
            token.probability,
            unknown=token.unknown,
            faint=faint,
            pinned=token.row < forced,
        )
        for token in output_tokens(state)
    )


def _speed_text(speed: float) -> str:
    return tr("ui.speed.value", speed=f"{speed:g}")
