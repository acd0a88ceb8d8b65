"""A quiet word to the user: a bar with one sentence, and the text of an empty place."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QSizePolicy, QVBoxLayout, QWidget

from visualizer import fonts
from visualizer.theme import LIGHT, Theme
from visualizer.widgets.canvas import CENTRE, Canvas, box
from visualizer.widgets.controls import push_button


class NoticeBar(QWidget):
    """One sentence, details on demand, a button to put it away; hidden while there is none.

    dismissed() when the user puts it away (the bar hides itself); answered(i) with the i-th of the
    answers that there are to choose from.
    """

    dismissed = Signal()
    answered = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme: Theme = LIGHT
        self._kind = "info"
        self.sentence = QLabel()
        self.sentence.setWordWrap(True)
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.more = push_button(kind="quiet")
        self.more.setCheckable(True)
        self.close_button = push_button("×", kind="quiet")
        self.details = QPlainTextEdit()
        self.details.setReadOnly(True)
        self.details.setMaximumHeight(round(9 * fonts.em(self.font())))
        self.details.hide()
        row = QHBoxLayout()
        row.addWidget(self.sentence, 1)
        self.answers = tuple(push_button() for _ in range(2))
        for number, button in enumerate(self.answers):
            button.hide()
            button.clicked.connect(partial(self._answer, number))
            row.addWidget(button)
        row.addWidget(self.more)
        row.addWidget(self.close_button)
        column = QVBoxLayout(self)
        em = fonts.em(self.font())
        column.setContentsMargins(
            round(1.2 * em), round(0.35 * em), round(0.6 * em), round(0.35 * em)
        )
        column.addLayout(row)
        column.addWidget(self.details)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.more.clicked.connect(self._toggle)
        self.close_button.clicked.connect(self._dismiss)
        self.hide()

    def set_words(self, details: str, dismiss: str) -> None:
        """The label of the details button, and what a screen reader says for the ×."""
        self.more.setText(details)
        self.close_button.setAccessibleName(dismiss)
        self.close_button.setToolTip(dismiss)

    def set_notice(self, sentence: str, kind: str = "info", details: str = "") -> None:
        """kind: info | warning | error. An empty sentence hides the bar."""
        self._kind = kind
        self.sentence.setText(sentence)
        self.setAccessibleName(sentence)
        self.details.setPlainText(details)
        self.more.setVisible(bool(details))
        self.more.setChecked(False)
        self.details.hide()
        self._colour()
        self.setVisible(bool(sentence))

    def set_answers(self, *words: str) -> None:
        """Buttons to answer the sentence with."""
        for number, button in enumerate(self.answers):
            button.setVisible(number < len(words))
            button.setText(words[number] if number < len(words) else "")

    def _answer(self, number: int, _checked: bool = False) -> None:
        self.answered.emit(number)

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self._colour()

    def _colour(self) -> None:
        role = {"warning": "warning", "error": "error"}.get(self._kind, "")
        self.sentence.setProperty("role", role)
        self.sentence.style().polish(self.sentence)
        self.update()

    def _toggle(self) -> None:
        self.details.setVisible(self.more.isChecked())

    def _dismiss(self) -> None:
        self.hide()
        self.dismissed.emit()

    def paintEvent(self, event: object) -> None:
        kind = {"warning": "warning", "error": "error"}.get(self._kind, "accent")
        painter = QPainter(self)
        try:
            painter.fillRect(self.rect(), self.theme.color(f"{kind}_tint"))
            edge = QRectF(0, 0, 0.28 * fonts.em(self.font()), self.height())
            box(painter, edge, self.theme.color(kind), None)
        finally:
            painter.end()


class EmptyState(Canvas):
    """What an empty place says: a heading and a sentence, centred."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._heading = self._sentence = ""

    def set_texts(self, heading: str, sentence: str = "") -> None:
        self._heading, self._sentence = heading, sentence
        self.setAccessibleName(f"{heading} {sentence}".strip())
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(24 * self.em), round(10 * self.em))

    def paint(self, painter: QPainter) -> None:
        em, theme = self.em, self.theme
        head, body = self.face(fonts.TITLE), self.face()
        room = QRectF(self.rect()).adjusted(em, em, -em, -em)
        room.setWidth(min(room.width(), 34 * em))
        room.moveCenter(QRectF(self.rect()).center())
        wrap = CENTRE | Qt.TextFlag.TextWordWrap
        above = _height(head.metrics, room, self._heading, wrap)
        below = _height(body.metrics, room, self._sentence, wrap)
        gap = 0.5 * em if self._heading and self._sentence else 0.0
        top = room.center().y() - (above + gap + below) / 2
        painter.setFont(head.font)
        painter.setPen(theme.color("text"))
        painter.drawText(QRectF(room.left(), top, room.width(), above), wrap, self._heading)
        painter.setFont(body.font)
        painter.setPen(theme.color("muted"))
        under = QRectF(room.left(), top + above + gap, room.width(), below)
        painter.drawText(under, wrap, self._sentence)


def _height(metrics: QFontMetricsF, room: QRectF, text: str, flags: Qt.AlignmentFlag) -> float:
    return metrics.boundingRect(room, flags, text).height() if text else 0.0
