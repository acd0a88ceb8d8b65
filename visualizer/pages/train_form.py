"""The settings of a training: every one explained, what stands in the way, what it takes."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from visualizer import fonts, lab_actions
from visualizer.i18n import tr
from visualizer.lab import Subject
from visualizer.lab_orders import begin
from visualizer.lenses.lab_form import (
    Form,
    form,
    preset_settings,
    presets,
)
from visualizer.pages.train_setting import Setting
from visualizer.pages.train_start import task_title
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.theme import theme_of
from visualizer.widgets.column_area import ColumnArea
from visualizer.widgets.controls import Choice, SectionHead, card, push_button
from visualizer.widgets.title_label import TitleLabel

ASIDE = 22.0
# From this width on, in parts of the font's size, the settings have two columns: below it the
# range of a setting with a list would not stand beside the list.
WIDE = 98.0
ASIDE_GROUPS = ("training", "data")


def _reading(subject: Subject) -> str:
    """What is said while the data come: those of a task are made, which takes longer."""
    made = hasattr(subject.source, "name")
    return tr("lab.facts.reading.task" if made else "lab.facts.reading")


class FormPart(QWidget):
    """The settings in groups at the left, what they come to at the right.

    left() when the user is done with the fields.
    """

    left = Signal()

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.store = store
        em = self.em = fonts.em(self.font())
        self.heading = TitleLabel()
        self.heading.setFont(fonts.scaled(self.font(), fonts.TITLE, bold=True))
        self.preset = Choice()
        self.back, self.train = push_button(), push_button(kind="primary")
        self.facts, self.estimate, self.wrong = QLabel(), QGridLayout(), QLabel()
        self.wrong.setProperty("role", "error")
        self.running = QLabel()
        self.running.setProperty("role", "warning")
        for label in (self.facts, self.wrong, self.running):
            label.setWordWrap(True)
        self.facts_head, self.estimate_head = SectionHead(), SectionHead()
        for canvas in (self.facts_head, self.estimate_head):
            canvas.set_ground("surface")
        self.settings: dict[str, Setting] = {}
        self.heads: dict[str, SectionHead] = {}
        self._names: tuple[str, ...] = ()
        self._wide = False
        self._lines: list[tuple[QLabel, QLabel]] = []
        self._presets: tuple[tuple[str, str], ...] = ()
        self.area, self.told = ColumnArea(self), ColumnArea(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, round(0.3 * em), 0, round(0.5 * em))
        column.setSpacing(round(0.6 * em))
        head = QHBoxLayout()
        head.addWidget(self.heading, 1)
        head.addWidget(self.preset)
        column.addLayout(head)
        both = QHBoxLayout()
        both.setSpacing(round(0.9 * em))
        frame, inside = card(self)
        inside.addWidget(self.area)
        both.addWidget(frame, 1)
        both.addWidget(self._made_aside(em))
        column.addLayout(both, 1)
        self.preset.chosen.connect(self._on_preset)
        self.back.clicked.connect(self._on_back)
        self.train.clicked.connect(self._on_train)

    def _made_aside(self, em: float) -> QWidget:
        frame, inside = card(self)
        frame.setFixedWidth(round(ASIDE * em))
        inside.setSpacing(round(0.45 * em))
        # words that do not fit are scrolled to, never cut; what goes on from here stays in place
        words = QWidget()
        words.setProperty("role", "surface")
        column = QVBoxLayout(words)
        column.setContentsMargins(0, 0, round(0.5 * em), 0)
        column.setSpacing(round(0.45 * em))
        column.addWidget(self.facts_head)
        column.addWidget(self.facts)
        column.addSpacing(round(0.6 * em))
        column.addWidget(self.estimate_head)
        self.estimate.setColumnStretch(0, 1)
        self.estimate.setVerticalSpacing(round(0.3 * em))
        column.addLayout(self.estimate)
        column.addSpacing(round(0.6 * em))
        column.addWidget(self.wrong)
        column.addStretch(1)
        self.told.setWidget(words)
        inside.addWidget(self.told, 1)
        inside.addWidget(self.running)
        row = QHBoxLayout()
        row.addWidget(self.back)
        row.addWidget(self.train, 1)
        inside.addLayout(row)
        return frame

    @property
    def forth(self) -> QPushButton:
        """The button that goes on from here, which Enter presses."""
        return self.train

    def retranslate(self) -> None:
        self.facts_head.set_texts(tr("lab.facts"))
        self.estimate_head.set_texts(tr("lab.estimate"))
        self.back.setText(tr("lab.back"))
        self.train.setText(tr("lab.train"))
        for group, head in self.heads.items():
            head.set_texts(tr(f"lab.group.{group}"))

    def draw(self, state: ViewState) -> None:
        subject = state.lab.subject
        if subject is None:
            return
        shown = form(subject, state.count_from)
        if self._make_rows(shown):
            theme = theme_of(state)
            for head in self.heads.values():
                head.set_theme(theme)
        for row in shown.rows:
            self.settings[row.name].draw(row)
        self.heading.setText(tr("lab.form.heading", name=task_title(subject.title)))
        self._presets = presets(subject)
        names = tuple(name for name, _ in self._presets)
        current = names.index(shown.preset) if shown.preset in names else -1
        self.preset.set_options(tuple(words for _, words in self._presets), current)
        self.facts.setText("\n".join(shown.facts) or _reading(subject))
        self._draw_estimate(shown)
        self._draw_wrong("\n".join(shown.problems))
        running = state.lab.is_training
        self.running.setText(tr("lab.form.running") if running else "")
        self.running.setVisible(running)
        self.train.setEnabled(shown.ready)

    def _draw_wrong(self, words: str) -> None:
        """What stands in the way comes into view when it is new."""
        if words and words != self.wrong.text():
            QTimer.singleShot(0, self.wrong, lambda: self.told.ensureWidgetVisible(self.wrong))
        self.wrong.setText(words)
        self.wrong.setVisible(bool(words))

    def _draw_estimate(self, shown: Form) -> None:
        for number, (name, value) in enumerate(shown.estimate):
            if number == len(self._lines):
                pair = QLabel(), QLabel()
                pair[0].setProperty("role", "muted")
                for place, label in enumerate(pair):
                    self.estimate.addWidget(label, number, place)
                self._lines.append(pair)
            self._lines[number][0].setText(name)
            self._lines[number][1].setText(value)
        for number, pair in enumerate(self._lines):
            for label in pair:
                label.setVisible(number < len(shown.estimate))

    def _make_rows(self, shown: Form) -> bool:
        """The fields of these data, made when they are first shown; whether they were."""
        names = tuple(row.name for row in shown.rows)
        wide = self.width() >= WIDE * self.em
        if (names, wide) == (self._names, self._wide):
            return False
        self._names, self._wide = names, wide
        inside = QWidget()
        inside.setProperty("role", "surface")
        both = QHBoxLayout(inside)
        both.setContentsMargins(0, 0, round(0.6 * self.em), 0)
        both.setSpacing(round(2.2 * self.em))
        columns = tuple(QVBoxLayout() for _ in range(2 if wide else 1))
        for column in columns:
            # a layout inside another one takes its spacing otherwise
            column.setSpacing(round(0.35 * self.em))
        self.settings, self.heads = {}, {}
        for group in shown.groups:
            column = columns[wide and group in ASIDE_GROUPS]
            rows = [row for row in shown.rows if row.group == group]
            if not rows:
                continue
            head = self.heads[group] = SectionHead()
            head.set_ground("surface")
            head.set_texts(tr(f"lab.group.{group}"))
            column.addWidget(head)
            for row in rows:
                setting = self.settings[row.name] = Setting(row, self.store)
                setting.left.connect(self.left)
                column.addWidget(setting)
            column.addSpacing(round(0.7 * self.em))
        for column in columns:
            column.addStretch(1)
            both.addLayout(column, 1)
        self.area.setWidget(inside)
        self._order_tabs(columns)
        return True

    def _order_tabs(self, columns: tuple[QVBoxLayout, ...]) -> None:
        """Presets, settings column by column, each with its way out, then what goes on."""
        order = [*self.preset.findChildren(QPushButton)]
        for column in columns:
            for place in range(column.count()):
                setting = column.itemAt(place).widget()
                if isinstance(setting, Setting) and setting.row.kind != "fixed":
                    order += [setting.shown, setting.fix]
        for before, after in pairwise([*order, self.back, self.train]):
            QWidget.setTabOrder(before, after)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width may have room for another number of columns."""
        super().resizeEvent(event)
        if self._names and (self.width() >= WIDE * self.em) != self._wide:
            QTimer.singleShot(0, self, self._redraw)

    def _redraw(self) -> None:
        with self.store.drawing() as state:
            self.draw(state)

    # What the user does.

    def _subject(self) -> Subject:
        subject = self.store.state.lab.subject
        assert subject is not None
        return subject

    def _on_preset(self, place: int) -> None:
        settings = preset_settings(self._subject(), self._presets[place][0])
        self.store.dispatch(lab_actions.use_settings, settings)

    def _on_back(self) -> None:
        self.store.dispatch(lab_actions.leave_settings)

    def _on_train(self) -> None:
        self.store.dispatch(begin)
