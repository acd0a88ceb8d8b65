"""Above the transport, on demand: a line to type the target in, and the free run beside it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from visualizer import fonts, forcing, navigation
from visualizer.i18n import tr
from visualizer.lenses.caption import unknown_reason
from visualizer.lenses.comparison import (
    Line,
    comparison,
    own_line,
    parting_words,
    sums,
    sums_tip,
)
from visualizer.lenses.keeping import keep
from visualizer.lenses.numbers import exact
from visualizer.lenses.pipeline import is_of_run
from visualizer.lenses.prediction import reached_row
from visualizer.lenses.token_labels import token_label
from visualizer.panels.base import PLACE, Panel
from visualizer.state import ViewState, reads_matrix
from visualizer.store import Store
from visualizer.widgets.compared_rows import ComparedRows, TokenRow
from visualizer.widgets.controls import push_button, rule
from visualizer.widgets.sentence_field import SentenceField
from visualizer.widgets.token_chips import Chip


class TypedTargetPanel(Panel):
    """Typing forces the whole output; an emptied line gives the free run back.

    left() for the stage. Nothing is shown until the line is asked for or a target is typed.
    """

    watches = frozenset({"run", "cursor", "model", "inputs", "target_line"})

    left = Signal()

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(store, parent)
        self.set_ground("surface")
        em = fonts.em(self.font())
        self.label, self.said = QLabel(), QLabel()
        for words in (self.label, self.said):
            words.setProperty("role", "muted")
        self.field = SentenceField()
        self.field.setProperty("kind", "target")
        self.close_line = push_button("×", kind="quiet")
        self.rows = ComparedRows()
        self.rows.set_ground("surface")
        line = QHBoxLayout()
        line.setSpacing(round(0.6 * em))
        line.addWidget(self.label)
        line.addWidget(self.field, 1)
        line.addWidget(self.said)
        line.addWidget(self.close_line)
        inside = QVBoxLayout()
        inside.setContentsMargins(round(em), round(0.5 * em), round(em), round(0.4 * em))
        inside.setSpacing(round(0.4 * em))
        inside.addLayout(line)
        inside.addWidget(self.rows)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(inside)
        whole.addWidget(rule())
        self.carriers = (self.rows,)
        self.rows.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        self.field.edited.connect(self._on_edited)
        self.field.finished.connect(self.left)
        self.close_line.clicked.connect(self._on_close)
        self.rows.positionChosen.connect(self._on_position)

    def retranslate(self) -> None:
        self.label.setText(tr("forcing.target"))
        # the field keeps its width, whatever is said of it
        widest = max((tr("forcing.parting", n=888), tr("forcing.same")), key=len)
        self.said.setMinimumWidth(self.said.fontMetrics().horizontalAdvance(widest))
        self.field.setAccessibleName(tr("forcing.target"))
        self.field.setPlaceholderText(tr("forcing.placeholder"))
        self.close_line.setToolTip(tr("forcing.close.tip"))
        self.close_line.setAccessibleName(tr("forcing.close.tip"))
        self.rows.describe(tr("forcing.compared"))

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        wanted = state.target_line or state.inputs.target is not None
        shown = wanted and state.model is not None and not reads_matrix(state.model)
        if shown:
            self._draw(state, fields)
        self.setVisible(shown)

    def _draw(self, state: ViewState, fields: frozenset[str]) -> None:
        self.field.set_text(state.inputs.target or "")
        if not self.isVisible() or fields & (PLACE | {"inputs"}):
            self.field.set_chips(_unknown_chips(state), tr("unknown.short"))
            self.said.setText(parting_words(state))
            found, reached = comparison(state.run), reached_row(state)
            parting = None if found is None else found.parting
            self.rows.set_rows(_rows(state), parting, reached if reached >= 0 else None)
            # an output that is on its way takes the place of this one
            self.rows.set_waiting(state.run is not None and not is_of_run(state))

    def _on_edited(self, text: str) -> None:
        self.store.dispatch(forcing.type_target, text)

    def _on_close(self) -> None:
        self.store.dispatch(forcing.show_target_line, False)
        self.left.emit()

    def _on_position(self, position: int) -> None:
        self.store.dispatch(navigation.go_to_token, position)


def _rows(state: ViewState) -> tuple[TokenRow, ...]:
    """The typed target and the free run; as long as nothing is typed, the output as it is."""
    run = state.run
    if run is None:
        return ()
    return keep(run, "compared rows", state.language, lambda: _made(state))


def _made(state: ViewState) -> tuple[TokenRow, ...]:
    found, own = comparison(state.run), own_line(state.run)
    if found is not None:
        return (
            _row(state, found.typed, tr("forcing.typed")),
            _row(state, found.free, tr("forcing.free.row")),
        )
    empty = TokenRow(tr("forcing.typed"), (), (), "")
    return (empty,) if own is None else (empty, _row(state, own, tr("ui.output")))


def _row(state: ViewState, line: Line, title: str) -> TokenRow:
    tips = tuple(
        tr("forcing.token.tip", token=token, value=exact(value))
        for token, value in zip(line.tokens, line.log_probs, strict=True)
    )
    return TokenRow(title, line.tokens, line.texts, sums(line), tips, sums_tip(state, line))


def _unknown_chips(state: ViewState) -> tuple[Chip, ...]:
    """One chip per word that is no word of the target vocabulary."""
    if state.run is None or state.model is None or not state.run.unknown_target:
        return ()
    vocabulary = state.model.model.tokenizer.target_vocabulary
    mark = vocabulary[state.model.model.tokenizer.unknown_id]
    return tuple(
        Chip(f"{mark} {token_label(word.text)}", tooltip=unknown_reason(word.text), unknown=True)
        for word in state.run.unknown_target
    )
