"""The lab's first view: the built-in tasks as cards, and a place for a file of pairs."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from visualizer import fonts, lab_actions, lab_orders
from visualizer.i18n import has, tr
from visualizer.state import ViewState
from visualizer.store import Store
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
        offer = QHBoxLayout()
        self.offer = QLabel()
        self.go_on, self.discard = push_button(kind="primary"), push_button()
        for widget in (self.offer, self.go_on, self.discard):
            offer.addWidget(widget)
        offer.addStretch(1)
        column.addLayout(offer)
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
        cards.addLayout(grid)
        cards.addStretch(1)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setWidget(inside)
        column.addWidget(self.area, 1)
        for card, name in zip(self.cards, self.names, strict=True):
            card.clicked.connect(self._choosing(name))
        self.file.clicked.connect(self.fileWanted)
        self.back.clicked.connect(self._on_back)
        self.go_on.clicked.connect(self._on_go_on)
        self.discard.clicked.connect(self._on_discard)

    def _choosing(self, name: str) -> Callable[[], None]:
        def choose() -> None:
            self.store.dispatch(lab_actions.choose_task, name)

        return choose

    def retranslate(self) -> None:
        self.heading.setText(tr("lab.start.heading"))
        self.sentence.setText(tr("lab.start.sentence"))
        self.back.setText(tr("lab.start.back"))
        self.go_on.setText(tr("lab.unfinished.resume"))
        self.discard.setText(tr("lab.unfinished.discard"))
        for card, name in zip(self.cards, self.names, strict=True):
            card.set_texts(task_title(name), *task_words(name), tr("lab.start.choose"))
        self.file.set_texts(
            tr("lab.file.title"), tr("lab.file.about"), tr("lab.file.example"), tr("lab.file.pick")
        )

    def draw(self, state: ViewState) -> None:
        self.back.setVisible(state.lab.training is not None)
        left = state.lab.unfinished
        for widget in (self.offer, self.go_on, self.discard):
            widget.setVisible(left is not None)
        if left is not None:
            name = task_title(left.subject.title)
            self.offer.setText(tr("notice.unfinished", name=name, step=f"{left.step:,}"))

    def _on_go_on(self) -> None:
        self.store.dispatch(lab_orders.take_up)

    def _on_discard(self) -> None:
        self.store.dispatch(lab_orders.discard)

    def _on_back(self) -> None:
        self.store.dispatch(lab_actions.go_to, "training")


def known_tasks() -> frozenset[str]:
    """The names of the tasks that the core has."""
    from model_core.training.tasks import TASKS

    return frozenset(TASKS)


def task_title(name: str) -> str:
    """What a task is called: as its bundled model, where there is one."""
    key = f"lab.task.{name}.title"
    return tr(key) if has(key) else name


def task_words(name: str) -> tuple[str, str]:
    """What a task is about, and an example."""
    keys = (f"lab.task.{name}.about", f"lab.task.{name}.example")
    return tuple(tr(key) if has(key) else "" for key in keys)  # type: ignore[return-value]
