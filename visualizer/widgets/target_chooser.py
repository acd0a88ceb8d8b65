"""What gradients are of: a token's log-probability at a position, or the loss."""

from __future__ import annotations

from PySide6.QtCore import QStringListModel, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QCompleter, QHBoxLayout, QLabel, QLineEdit, QSizePolicy, QWidget

from visualizer import fonts
from visualizer.lenses.target_choice import TargetChoice
from visualizer.theme import Theme
from visualizer.widgets.controls import Choice, SeedBox, push_button
from visualizer.widgets.sentence_field import UndoStaysOutside

KINDS = ("log_prob", "loss")
# Milliseconds that gradients may be on their way without a word.
PATIENCE = 300
HEIGHT = 1.9
MOST_OFFERED = 12


class TokenField(QLineEdit):
    """taken(text) when the user has chosen one; what is half typed goes when the field is left."""

    taken = Signal(str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._token = ""
        self._words = QStringListModel(self)
        completer = QCompleter(self._words, self)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setMaxVisibleItems(MOST_OFFERED)
        self.setCompleter(completer)
        self.installEventFilter(UndoStaysOutside(self))
        completer.activated.connect(self._take)
        self.returnPressed.connect(lambda: self._take(self.text()))

    def set_vocabulary(self, words: tuple[str, ...]) -> None:
        if list(words) != self._words.stringList():
            self._words.setStringList(list(words))

    def set_token(self, token: str) -> None:
        if token != self._token or not self.hasFocus():
            self._token = token
            self.setText(token)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        QTimer.singleShot(0, self, self.selectAll)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        # all of them are on offer until something is typed
        self.completer().setCompletionPrefix("")
        self.completer().complete()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.setText(self._token)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.setText(self._token)
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def _take(self, text: str) -> None:
        self.left.emit()
        self.taken.emit(text.strip())


class TargetChooser(QWidget):
    """kindChosen("log_prob" | "loss"), tokenChosen(text), rowChosen(as people count it),
    followWanted(), and left() when the keys are the stage's again.
    """

    kindChosen = Signal(str)
    tokenChosen = Signal(str)
    rowChosen = Signal(int)
    followWanted = Signal()
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        em = fonts.em(self.font())
        self.head, self.of, self.at, self.against = (QLabel() for _ in range(4))
        self.waiting = QLabel()
        for label in (self.head, self.of, self.at, self.against, self.waiting):
            label.setProperty("role", "muted")
        self.against.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.kind = Choice()
        self.token = TokenField()
        self.token.setFixedWidth(round(8 * em))
        self.row = SeedBox()
        self.row.setFixedWidth(round(3.6 * em))
        self.row.installEventFilter(UndoStaysOutside(self))
        self.follow = push_button(kind="quiet")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(round(0.5 * em))
        for widget in (self.head, self.kind, self.of, self.token, self.at, self.row, self.follow):
            # the picture below needs the room
            widget.setFixedHeight(round(HEIGHT * em))
            row.addWidget(widget)
        row.addWidget(self.against, 1)
        row.addStretch(0)
        row.addWidget(self.waiting)
        self._choice: TargetChoice | None = None
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE)
        self._patience.timeout.connect(self.waiting.show)
        self.waiting.hide()
        self.kind.chosen.connect(lambda number: self.kindChosen.emit(KINDS[number]))
        self.token.taken.connect(self.tokenChosen)
        self.token.left.connect(self.left)
        self.row.edited.connect(self.rowChosen)
        self.row.returnPressed.connect(self.left)
        self.follow.clicked.connect(self.followWanted)

    def set_words(
        self, head: str, kinds: tuple[str, str], of: str, at: str, follow: str, waiting: str
    ) -> None:
        """The words between the controls."""
        self._kinds = kinds
        self.head.setText(head)
        self.of.setText(of)
        self.at.setText(at)
        self.follow.setText(follow)
        self.waiting.setText(waiting)
        self.token.setAccessibleName(of)
        self.row.setAccessibleName(at)

    def set_tips(self, kinds: str, token: str, row: str, follow: str) -> None:
        self.kind.setToolTip(kinds)
        self.token.setToolTip(token)
        self.row.setToolTip(row)
        self.follow.setToolTip(follow)

    def set_choice(self, choice: TargetChoice | None, against: str = "") -> None:
        """against: a loss's labels in words; None hides all."""
        self.setVisible(choice is not None)
        self._choice = choice
        if choice is None:
            self._patience.stop()
            self.waiting.hide()
            return
        self.kind.set_options(self._kinds, KINDS.index(choice.kind))
        single = choice.kind == "log_prob"
        for widget in (self.of, self.token, self.at, self.row):
            widget.setVisible(single)
        self.against.setText("" if single else against)
        self.against.setToolTip("" if single else against)
        self.follow.setVisible(choice.chosen)
        self.token.set_vocabulary(choice.vocabulary)
        self.token.set_token(choice.token)
        self.row.set_value(choice.row)
        self._wait(choice.waiting)

    def _wait(self, waits: bool) -> None:
        if not waits:
            self._patience.stop()
            self.waiting.hide()
        elif not self._patience.isActive() and self.waiting.isHidden():
            self._patience.start()

    def set_theme(self, theme: Theme) -> None:
        """Everything comes from the application's style sheet."""
