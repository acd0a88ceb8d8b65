"""Small controls. Their signals tell what the user did and stay silent for a program's setters."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QIntValidator, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from visualizer import fonts
from visualizer.theme import Theme
from visualizer.widgets.canvas import LEFT, RIGHT, Canvas, box, write
from visualizer.widgets.glossary_link import Links, TermLabel

# A track that a handle can still be moved along, in parts of the font's size.
LEAST_TRACK = 3.0


class LabelledSlider(QWidget):
    """A label, a slider over evenly spaced values, the value as text.

    moved(value) on each step the user makes; released(value) when the handle is let go.
    """

    moved = Signal(float)
    released = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = TermLabel()
        self.slider = QSlider(Qt.Orientation.Horizontal)
        # a drag with the mouse leaves the keys where they are
        self.slider.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.slider.setMinimumWidth(round(LEAST_TRACK * fonts.em(self.font())))
        self.value_label = QLabel()
        self.value_label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.label.setProperty("role", "muted")
        self.label.setBuddy(self.slider)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.label)
        row.addWidget(self.slider, 1)
        row.addWidget(self.value_label)
        self._least, self._step = 0.0, 1.0
        self._text: Callable[[float], str] = "{:g}".format
        # actionTriggered comes for the user's doing alone, before the value has changed.
        self.slider.actionTriggered.connect(self._on_action)
        self.slider.sliderReleased.connect(self._on_release)

    def set_range(
        self, least: float, most: float, step: float, text: Callable[[float], str]
    ) -> None:
        """text: a value -> what is written at the right."""
        self._least, self._step, self._text = least, step, text
        self.slider.setRange(0, round((most - least) / step))
        widest = max((text(least), text(most), text(least + step)), key=len)
        room = self.value_label.fontMetrics().horizontalAdvance(widest)
        self.value_label.setMinimumWidth(round(max(room, 2.6 * fonts.em(self.font()))))
        self.slider.setPageStep(max(self.slider.maximum() // 10, 1))

    def set_value(self, value: float) -> None:
        self.slider.setValue(round((value - self._least) / self._step))
        self.value_label.setText(self._text(value))

    def set_label(self, text: str, width: int = 0) -> None:
        """width: the least, so that labels of sliders above each other take equal room."""
        self.label.setText(text)
        self.label.setMinimumWidth(width)
        self.slider.setAccessibleName(text)

    def set_theme(self, theme: Theme) -> None:
        """Everything comes from the application's style sheet."""

    def _value(self, position: int) -> float:
        return round(self._least + position * self._step, 10)

    def _on_action(self, _action: int) -> None:
        value = self._value(self.slider.sliderPosition())
        self.value_label.setText(self._text(value))
        self.moved.emit(value)

    def _on_release(self) -> None:
        self.released.emit(self._value(self.slider.sliderPosition()))


class Choice(QWidget):
    """Buttons of which one is chosen; chosen(i) when the user presses one."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._group = QButtonGroup(self)
        self._group.idClicked.connect(self.chosen)

    def set_options(self, labels: tuple[str, ...], current: int) -> None:
        buttons = self._group.buttons()
        for index in range(len(buttons), len(labels)):
            button = push_button(kind="choice")
            button.setCheckable(True)
            self._group.addButton(button, index)
            self._row.addWidget(button)
        for button in buttons[len(labels) :]:
            self._group.removeButton(button)
            button.deleteLater()
        for index, label in enumerate(labels):
            self._group.button(index).setText(label)
            self._group.button(index).setAccessibleName(label)
        if 0 <= current < len(labels):
            self._group.button(current).setChecked(True)
        elif self._group.checkedButton() is not None:
            # of those that exclude each other one stays chosen otherwise
            self._group.setExclusive(False)
            self._group.checkedButton().setChecked(False)
            self._group.setExclusive(True)

    def set_terms(self, terms: dict[int, str]) -> None:
        """What a right click on some of the buttons is about, where their words do not say it."""
        for index, term in terms.items():
            self._group.button(index).setProperty("about", term)

    def set_enabled(self, which: tuple[bool, ...]) -> None:
        """Which of the buttons can be pressed."""
        for index, can in enumerate(which):
            self._group.button(index).setEnabled(can)

    def set_theme(self, theme: Theme) -> None:
        """Everything comes from the application's style sheet."""


class SeedBox(QLineEdit):
    """A whole number; edited(value) when the user types or steps it with the arrow keys."""

    edited = Signal(int)
    LARGEST = 999_999

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setValidator(QIntValidator(0, self.LARGEST, self))
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.textEdited.connect(lambda _text: self._tell())

    def value(self) -> int:
        return int(self.text() or 0)

    def set_value(self, value: int) -> None:
        # "007" or an emptied field is the user's, and means the same number.
        if value != self.value() or (not self.text() and not self.hasFocus()):
            self.setText(str(value))

    def set_theme(self, theme: Theme) -> None:
        """Everything comes from the application's style sheet."""

    def sizeHint(self) -> QSize:
        room = self.fontMetrics().horizontalAdvance("9" * 6) + 1.5 * fonts.em(self.font())
        return QSize(round(room), super().sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(Qt.Key(event.key()), 0)
        if not step:
            super().keyPressEvent(event)
            return
        value = min(max(self.value() + step, 0), self.LARGEST)
        if value != self.value() or not self.text():
            self.setText(str(value))
            self._tell()

    def _tell(self) -> None:
        self.edited.emit(self.value())


class Badge(Canvas):
    """A coloured pill: "Encoder" blue, "Decoder" orange, "Output" green."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._text, self._kind = "", "encoder"

    def set_badge(self, text: str, kind: str) -> None:
        """kind: encoder | decoder | output | accent"""
        self._text, self._kind = text, kind
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        width = self.face(fonts.SMALL).width(self._text) + 1.5 * self.em
        return QSize(round(width), round(1.55 * self.em))

    def paint(self, painter: QPainter) -> None:
        if self._text:
            rect = QRectF(self.rect())
            fill = self.theme.color(f"{self._kind}_fill")
            box(painter, rect, fill, None, rect.height() / 2)
            ink = self.theme.color(f"on_{self._kind}")
            write(painter, rect, self._text, self.face(fonts.SMALL), ink)


class SectionHead(Canvas):
    """The small heading of a panel's part, with a note at the right end; `links` of its words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._title = self._note = ""
        self.links = Links(self)

    def set_texts(self, title: str, note: str = "") -> None:
        """The title is written in capitals, where its script has them."""
        if (self._title, self._note) == (title.upper(), note):
            return
        self._title, self._note = title.upper(), note
        self.setAccessibleName(title)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(12 * self.em), round(1.6 * self.em))

    def paint(self, painter: QPainter) -> None:
        title = self.face(0.8, bold=True)
        note = self.face(0.8)
        rect = QRectF(self.rect())
        # the note has what a short title leaves
        room = max(0.6 * rect.width(), rect.width() - title.width(self._title) - self.em)
        taken = min(note.width(self._note), room) if self._note else 0.0
        head = rect.adjusted(0, 0, -taken, 0)
        write(painter, head, self._title, title, self.theme.muted, LEFT)
        end = QRectF(rect.right() - taken, rect.top(), taken, rect.height())
        write(painter, end, self._note, note, self.theme.muted, RIGHT)
        self.links.clear()
        self.links.add(head, self._title, title)
        self.links.add(end, self._note, note, right=True)
        self.links.underline(painter)


class Note(Canvas):
    """One muted line at the right; it takes the room of the longest text so far, and keeps it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self._text = ""
        self._widest = 0

    def text(self) -> str:
        return self._text

    def set_text(self, text: str) -> None:
        if text == self._text:
            return
        self._text = text
        self.setAccessibleName(text)
        # in steps of an em, so that a digit more or less moves nothing
        wide = math.ceil(self.face().width(text) / self.em)
        if wide > self._widest:
            self._widest = wide
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(self._widest * self.em), round(1.6 * self.em))

    def paint(self, painter: QPainter) -> None:
        write(painter, QRectF(self.rect()), self._text, self.face(), self.theme.muted, RIGHT)


def rule(vertical: bool = False) -> QFrame:
    """A hairline between two regions of the window."""
    line = QFrame()
    line.setProperty("kind", "rule")
    if vertical:
        line.setFixedWidth(1)
    else:
        line.setFixedHeight(1)
    return line


def card(parent: QWidget | None = None) -> tuple[QFrame, QVBoxLayout]:
    """A rounded surface, and the layout to put things in."""
    frame = QFrame(parent)
    frame.setProperty("kind", "card")
    inside = QVBoxLayout(frame)
    pad = round(0.8 * fonts.em(frame.font()))
    inside.setContentsMargins(pad, pad, pad, pad)
    return frame, inside


def push_button(text: str = "", kind: str = "") -> QPushButton:
    """A button that leaves the keys where they are when clicked.

    kind: "" | primary | quiet | choice
    """
    button = QPushButton(text)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    if kind:
        button.setProperty("kind", kind)
    return button
