"""One setting of a training: its field, its range, what it means, what is wrong with it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QLineEdit, QWidget

from visualizer import fonts, lab_actions
from visualizer.i18n import tr
from visualizer.lenses.lab_form import FormRow, chosen, shown_value
from visualizer.lenses.lab_numbers import read_value
from visualizer.pages.train_file import Picker
from visualizer.store import Store
from visualizer.widgets.controls import push_button
from visualizer.widgets.glossary_link import TermLabel
from visualizer.widgets.wrapped_label import fit_height

# In parts of the font's size: the least width of a label, the width of a field.
LABEL, FIELD = 13.0, 9.0


class AboutSetting(TermLabel):
    """Words that are about one setting, whatever other terms stand in them."""

    def __init__(self, term: str, opens: bool = False) -> None:
        """opens: a click opens the entry"""
        super().__init__()
        self.term, self._opens = term, opens

    @property
    def link(self) -> str:
        return self.term if self._opens else ""

    def term_at(self, pos: QPointF) -> str:
        return self.term


class Setting(QWidget):
    """A label, a field with its range behind it, the explanation below; what is wrong, in red.

    One of three kinds of field, by the row that it is made for. left() on Esc in a field that holds
    its setting; in one that does not, Esc brings the setting back.
    """

    left = Signal()

    def __init__(self, row: FormRow, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.store, self.row = store, row
        em = fonts.em(self.font())
        self.term = row.term
        self.label, self.hint = AboutSetting(row.term, opens=True), AboutSetting(row.term)
        self.explained, self.problem = AboutSetting(row.term), AboutSetting(row.term)
        self.fix = push_button()
        self.field = QLineEdit()
        # files go to the window
        self.field.setAcceptDrops(False)
        self.fixed = QLabel()
        self.picker = Picker()
        small = fonts.scaled(self.font(), fonts.SMALL)
        for label, role in (
            (self.hint, "muted"),
            (self.explained, "muted"),
            (self.problem, "error"),
        ):
            label.setProperty("role", role)
            label.setFont(small)
        self.fix.setFont(small)
        for label in (self.hint, self.explained, self.problem):
            label.setWordWrap(True)
        kinds = {"number": self.field, "choice": self.picker}
        shown = kinds.get(row.kind, self.fixed)
        self.shown: QWidget = shown
        shown.setParent(self)
        if row.kind != "fixed":
            wide = FIELD if row.kind == "number" else 1.6 * FIELD
            shown.setFixedWidth(round(wide * em))
        self.label.setBuddy(shown)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, round(0.35 * em))
        self._gap = round(0.8 * em)
        grid.setHorizontalSpacing(self._gap)
        grid.setVerticalSpacing(round(0.15 * em))
        grid.addWidget(self.label, 0, 0)
        grid.addWidget(shown, 0, 1)
        grid.addWidget(self.hint, 0, 2)
        grid.addWidget(self.explained, 1, 0, 1, 3)
        wrong = QHBoxLayout()
        wrong.addWidget(self.problem, 1)
        wrong.addWidget(self.fix)
        grid.addLayout(wrong, 2, 0, 1, 3)
        self._least_label = round(LABEL * em)
        grid.setColumnMinimumWidth(0, self._least_label)
        grid.setColumnStretch(2, 1)
        self.field.textEdited.connect(self._on_edited)
        self.picker.picked.connect(self._on_picked)
        self.fix.clicked.connect(self._on_fix)

    def draw(self, row: FormRow) -> None:
        self.row = row
        self.label.setText(row.label)
        self.hint.setProperty("role", "warning" if row.unusual else "muted")
        self.hint.style().polish(self.hint)
        self.explained.setText(row.explanation)
        for widget in (self.label, self.shown):
            widget.setToolTip(f"{row.explanation}\n{row.hint}".strip())
        self.shown.setAccessibleName(row.label)
        self.shown.setAccessibleDescription(row.explanation)
        self.fixed.setText(row.text)
        self.problem.setText(row.problem)
        self.problem.setVisible(bool(row.problem))
        self.fix.setVisible(row.fix is not None)
        self.fix.setText("" if row.fix is None else tr("lab.fix", value=row.fix_said))
        self._fit()
        if row.kind == "number":
            self.field.setPlaceholderText(row.placeholder)
            self._write(row)
        elif row.kind == "choice":
            self.picker.set_options(row.choices, row.text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        room = self._hint_room()
        fits = self.hint.fontMetrics().horizontalAdvance(self.row.hint) <= room
        # the range and the name that files have for it are each best read in one piece
        self.hint.setText(self.row.hint if fits else self.row.hint.replace(" · ", "\n"))
        fit_height(self.hint, room)
        for label in (self.explained, self.problem):
            fit_height(label, self.width() - self.fix_room(label))

    def _hint_room(self) -> int:
        """What label and field leave of the width."""
        label = max(self._least_label, self.label.sizeHint().width())
        field = self.shown.minimumWidth() or self.shown.sizeHint().width()
        return self.width() - label - field - 2 * self._gap

    def fix_room(self, label: QLabel) -> int:
        """What the button beside the problem takes of its width."""
        beside = label is self.problem and self.row.fix is not None
        return self.fix.sizeHint().width() + round(fonts.em(self.font())) if beside else 0

    def _write(self, row: FormRow) -> None:
        """The setting's number, unless the field says it in its own way, "007" or "1e-3" say."""
        try:
            same = read_value(row.name, self.field.text(), row.first) == row.value
        except ValueError:
            same = not row.is_read  # what is being typed is no number yet
        if not same:
            self.field.setText(row.text)

    def _on_edited(self, text: str) -> None:
        try:
            value = read_value(self.row.name, text, self.row.first)
        except ValueError:
            self.store.dispatch(lab_actions.leave_unread, self.row.name, text)
        else:
            self.store.dispatch(lab_actions.set_setting, self.row.name, value)

    def _on_picked(self, text: str) -> None:
        value = chosen(self.row.name, text)
        self.store.dispatch(lab_actions.set_setting, self.row.name, value)

    def _on_fix(self) -> None:
        self.store.dispatch(lab_actions.set_setting, self.row.name, self.row.fix)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter goes on to the next field; Esc puts right what is none, or leaves the fields."""
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.focusNextChild()
        elif event.key() == Qt.Key.Key_Escape:
            self._on_escape()
        else:
            super().keyPressEvent(event)

    def _on_escape(self) -> None:
        settings, row = self.store.state.lab.subject.settings, self.row
        wanted = ""
        if row.kind == "number":
            wanted = shown_value(getattr(settings, row.name), row.first)
        if self.row.kind == "number" and self.field.text() != wanted:
            self.field.setText(wanted)
            self._on_edited(wanted)
        else:
            self.left.emit()
