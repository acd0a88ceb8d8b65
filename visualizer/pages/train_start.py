"""The lab's first view: the built-in tasks as cards, and a place for a file of pairs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from visualizer import fonts, lab_actions, lab_unfinished
from visualizer.cards import bundled_title
from visualizer.i18n import has, tr
from visualizer.lab import Damaged, Unfinished
from visualizer.reasons import translated
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.widgets.column_area import ColumnArea
from visualizer.widgets.controls import push_button
from visualizer.widgets.wrapped_label import fit_height

COLUMNS = 3


class ChoiceCard(QFrame):
    """A title, what it is about, an example; clicked() anywhere on it, or its button."""

    clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        em = fonts.em(self.font())
        self.title, self.about, self.example = QLabel(), QLabel(), QLabel()
        self.title.setFont(fonts.scaled(self.font(), fonts.LARGE, bold=True))
        for label in (self.about, self.example):
            label.setProperty("role", "muted")
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.example.setProperty("role", "accent")
        self.button = push_button()
        self.button.clicked.connect(self.clicked)
        column = QVBoxLayout(self)
        column.setContentsMargins(*(round(part * em) for part in (1.0, 0.5, 0.8, 0.55)))
        column.setSpacing(round(0.3 * em))
        row = QHBoxLayout()
        row.addWidget(self.title, 1)
        row.addWidget(self.button)
        column.addLayout(row)
        column.addWidget(self.about)
        column.addWidget(self.example)
        column.addStretch(1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        sides = self.layout().contentsMargins()
        room = self.width() - sides.left() - sides.right()
        for label in (self.about, self.example):
            fit_height(label, room)

    def set_texts(self, title: str, about: str, example: str, button: str) -> None:
        self.title.setText(title)
        self.about.setText(about)
        self.example.setText(example)
        self.button.setText(button)
        self.button.setAccessibleName(f"{button}: {title}")
        self._fit()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit()


class UnfinishedRow(QWidget):
    """A training that was not ended: resumed(path) where it can go on, discarded(path)."""

    resumed = Signal(object)
    discarded = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.path = Path()
        self.words = QLabel()
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setMinimumWidth(1)
        self._whole = ""
        self.go_on, self.discard = push_button(), push_button(kind="quiet")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        for widget in (self.words, self.go_on, self.discard):
            row.addWidget(widget)
        row.addStretch(1)
        self.go_on.clicked.connect(self._on_resumed)
        self.discard.clicked.connect(self._on_discarded)

    def draw(self, entry: Unfinished | Damaged) -> None:
        self.path = entry.path
        words = self._whole = row_words(entry)
        self.go_on.setVisible(isinstance(entry, Unfinished))
        for button, key in ((self.go_on, "resume"), (self.discard, "discard")):
            button.setText(tr(f"lab.unfinished.{key}"))
            button.setAccessibleName(f"{button.text()}: {words}")
        self._shorten()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._shorten()

    def _shorten(self) -> None:
        """No more words than there is room for beside the buttons; the tooltip has them all."""
        shown = [b for b in (self.go_on, self.discard) if not b.isHidden()]
        room = self.parentWidget().width() if self.isHidden() else self.width()
        room -= sum(b.sizeHint().width() + self.layout().spacing() for b in shown)
        lines = self.words.fontMetrics()
        text = lines.elidedText(self._whole, Qt.TextElideMode.ElideRight, room)
        self.words.setText(text)
        self.words.setToolTip("" if text == self._whole else self._whole)

    def _on_resumed(self) -> None:
        self.resumed.emit(self.path)

    def _on_discarded(self) -> None:
        self.discarded.emit(self.path)


class StartPart(QWidget):
    """fileWanted() when the user wants to pick a file."""

    fileWanted = Signal()

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.store = store
        em = fonts.em(self.font())
        self.heading, self.sentence = QLabel(), QLabel()
        self.heading.setFont(fonts.scaled(self.font(), fonts.TITLE, bold=True))
        self.sentence.setProperty("role", "muted")
        self.sentence.setWordWrap(True)
        self.names = tuple(name for name in lab_actions.TASKS if name in known_tasks())
        self.cards = tuple(ChoiceCard() for _ in self.names)
        self.file = ChoiceCard()
        self.back = push_button(kind="primary")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, round(0.3 * em), 0, round(0.5 * em))
        column.setSpacing(round(0.6 * em))
        top = QHBoxLayout()
        top.addWidget(self.heading, 1)
        top.addWidget(self.back)
        column.addLayout(top)
        column.addWidget(self.sentence)
        self.offer = QLabel()
        self.offer.setFont(fonts.scaled(self.font(), fonts.LARGE, bold=True))
        self.rows: list[UnfinishedRow] = []
        self.unfinished = QVBoxLayout()
        self.unfinished.setSpacing(round(0.25 * em))
        self.unfinished.addWidget(self.offer)
        grid = QGridLayout()
        grid.setSpacing(round(0.65 * em))
        for place, card in enumerate((*self.cards, self.file)):
            wide = COLUMNS - place % COLUMNS if card is self.file else 1
            grid.addWidget(card, place // COLUMNS, place % COLUMNS, 1, wide)
        for place in range(COLUMNS):
            grid.setColumnStretch(place, 1)
        inside = QWidget()
        inside.setProperty("role", "page")
        cards = QVBoxLayout(inside)
        cards.setContentsMargins(0, 0, 0, 0)
        cards.setSpacing(round(0.65 * em))
        cards.addLayout(self.unfinished)
        cards.addLayout(grid)
        cards.addStretch(1)
        self.area = ColumnArea()
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setWidget(inside)
        column.addWidget(self.area, 1)
        for card, name in zip(self.cards, self.names, strict=True):
            card.clicked.connect(self._choosing(name))
        self.file.clicked.connect(self.fileWanted)
        self.back.clicked.connect(self._on_back)

    def _choosing(self, name: str) -> Callable[[], None]:
        def choose() -> None:
            self.store.dispatch(lab_actions.choose_task, name)

        return choose

    def retranslate(self) -> None:
        self.heading.setText(tr("lab.start.heading"))
        self.sentence.setText(tr("lab.start.sentence"))
        self.back.setText(tr("lab.start.back"))
        self.offer.setText(tr("lab.unfinished"))
        for card, name in zip(self.cards, self.names, strict=True):
            card.set_texts(task_title(name), *task_words(name), tr("lab.start.choose"))
        self.file.set_texts(
            tr("lab.file.title"), tr("lab.file.about"), tr("lab.file.example"), tr("lab.file.pick")
        )

    def draw(self, state: ViewState) -> None:
        self.back.setVisible(state.lab.training is not None)
        left = (*state.lab.unfinished, *state.lab.damaged)
        self.offer.setVisible(bool(left))
        while len(self.rows) < len(left):
            row = UnfinishedRow(self.area.widget())
            row.resumed.connect(self._on_resumed)
            row.discarded.connect(self._on_discarded)
            self.unfinished.addWidget(row)
            self.rows.append(row)
        for number, row in enumerate(self.rows):
            row.setVisible(number < len(left))
            if number < len(left):
                row.draw(left[number])

    def _on_resumed(self, path: Path) -> None:
        self.store.dispatch(lab_unfinished.take_up, path)

    def _on_discarded(self, path: Path) -> None:
        self.store.dispatch(lab_unfinished.discard, path)

    def _on_back(self) -> None:
        self.store.dispatch(lab_actions.go_to, "training")


def row_words(entry: Unfinished | Damaged) -> str:
    """What a training is of, how far it came and when it was saved; or why it cannot go on."""
    when = datetime.fromtimestamp(entry.when).strftime("%Y-%m-%d %H:%M")
    if isinstance(entry, Damaged):
        reason = translated(entry.reason)
        return tr("lab.unfinished.damaged", file=entry.path.name, when=when, reason=reason)
    name = task_title(entry.subject.title)
    return tr("lab.unfinished.row", name=name, step=f"{entry.step:,}", when=when)


def known_tasks() -> frozenset[str]:
    """The names of the tasks that the core has."""
    from model_core.training.tasks import TASKS

    return frozenset(TASKS)


def task_title(name: str) -> str:
    """What a task is called: as the model that has learned it."""
    return bundled_title(name)


def task_words(name: str) -> tuple[str, str]:
    """What a task is about, and an example."""
    keys = (f"lab.task.{name}.about", f"lab.task.{name}.example")
    return tuple(tr(key) if has(key) else "" for key in keys)  # type: ignore[return-value]
