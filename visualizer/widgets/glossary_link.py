"""Words on screen that lead to the glossary: one signal carries them all to the window.

A window that has a glossary owns one `GlossaryBus`; a widget anywhere below it calls `ask`. The
words of painted widgets are kept by their `Links`, those of labels by `TermLabel`. What has a
click of its own says by a method `term_at(position)`, or by an attribute `term`, what a right
click or F2 there is about.
"""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QEnterEvent, QHelpEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QAbstractButton, QLabel, QToolTip, QWidget

from visualizer import glossary
from visualizer.widgets.canvas import Canvas, Face, ink


class GlossaryBus(QObject):
    """wanted(id of an entry), from whichever word of the window was asked about."""

    wanted = Signal(str)


def ask(widget: QWidget, term: str) -> None:
    """Open the glossary of the widget's window at a term, where the window has one."""
    options = Qt.FindChildOption.FindDirectChildrenOnly
    bus = widget.window().findChild(GlossaryBus, options=options)
    if bus is not None and term:
        bus.wanted.emit(term)


def tip(term: str) -> str:
    """What a pointer that rests on a word is told: rich text, so that it wraps."""
    item = glossary.entry(term)
    if item is None:
        return ""
    return f"<p><b>{escape(item.term)}</b><br>{escape(item.definition)}</p>"


def first_term(text: str) -> str:
    """The first term in a text: of a label or button that is clicked as a whole."""
    found = glossary.found_in(text)
    return found[0].id if found else ""


def term_under(widget: QWidget | None, place: QPoint) -> str:
    """What the thing at a place of the screen is about, asked from the inside out."""
    while widget is not None:
        pos = QPointF(widget.mapFromGlobal(place))
        links, at = getattr(widget, "links", None), getattr(widget, "term_at", None)
        found = links.at(pos) if isinstance(links, Links) else None
        term = found.term if found is not None else at(pos) if at is not None else ""
        if not term and isinstance(widget, QAbstractButton | QLabel):
            term = first_term(widget.text())
        term = term or getattr(widget, "term", "")
        if term:
            return term
        widget = None if widget.isWindow() else widget.parentWidget()
    return ""


class Link(NamedTuple):
    """A word that can be clicked: where it is painted, the level of its letters' feet, its term."""

    rect: QRectF
    baseline: float
    term: str


class Word(NamedTuple):
    """Words as painted in one line; `term` is what they are about, "" to look for terms in them."""

    rect: QRectF
    text: str
    face: Face
    term: str


class Links(QObject):
    """The words of a canvas that lead to the glossary; termClicked(id).

    The canvas calls `clear` and `add` when it paints its words, and `underline` at the end. The
    pointer is followed from outside, so that the canvas keeps its own events.
    """

    termClicked = Signal(str)

    def __init__(self, canvas: Canvas) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._words: list[Word] = []
        self._pos: QPointF | None = None
        self._hovered: Link | None = None
        canvas.setMouseTracking(True)
        canvas.installEventFilter(self)
        self.termClicked.connect(self._on_clicked)

    def clear(self) -> None:
        self._words.clear()

    def add(self, rect: QRectF, text: str, face: Face, term: str = "", right: bool = False) -> None:
        """Words as `write` paints them; right: at the right end of `rect`."""
        width = min(face.width(text), rect.width())
        left = rect.right() - width if right else rect.left()
        room = QRectF(left, rect.top(), width, rect.height())
        self._words.append(Word(room, text, face, term))

    def at(self, pos: QPointF) -> Link | None:
        """The link at a logical position."""
        word = next((word for word in self._words if word.rect.contains(pos)), None)
        return None if word is None else self._in_word(word, pos.x())

    def links(self) -> list[Link]:
        """All links, from those painted first on."""
        return [link for word in self._words for link in self._of(word)]

    def underline(self, painter: QPainter) -> None:
        """Mark the link under the pointer."""
        self._hovered = None if self._pos is None else self.at(self._pos)
        if self._hovered is not None:
            rect, level, _ = self._hovered
            y = level + max(0.16 * self._canvas.em, 2.0)
            painter.setPen(QPen(ink(self._canvas.theme.accent), max(0.08 * self._canvas.em, 1.0)))
            painter.drawLine(QPointF(rect.left(), y), QPointF(rect.right(), y))

    def _of(self, word: Word) -> list[Link]:
        baseline = word.rect.top() + (word.rect.height() + word.face.cap_height) / 2
        if word.term:
            return [Link(word.rect, baseline, word.term)]
        made = []
        for start, end, term in glossary.found_in(word.text):
            left = word.rect.left() + word.face.metrics.horizontalAdvance(word.text[:start])
            width = word.face.metrics.horizontalAdvance(word.text[start:end])
            # what an ellipsis stands for cannot be clicked
            if left + width <= word.rect.right() + 1.0:
                rect = QRectF(left, word.rect.top(), width, word.rect.height())
                made.append(Link(rect, baseline, term))
        return made

    def _in_word(self, word: Word, x: float) -> Link | None:
        links = self._of(word)
        return next((link for link in links if link.rect.left() <= x < link.rect.right()), None)

    # The pointer.

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.MouseMove and isinstance(event, QMouseEvent):
            self._move(event.position())
        elif kind == QEvent.Type.Leave:
            self._move(None)
        elif kind == QEvent.Type.MouseButtonPress and isinstance(event, QMouseEvent):
            link = self.at(event.position())
            if link is not None and event.button() == Qt.MouseButton.LeftButton:
                self.termClicked.emit(link.term)
                return True
        elif kind == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            link = self.at(QPointF(event.pos()))
            if link is not None:
                QToolTip.showText(event.globalPos(), tip(link.term), self._canvas)
                return True
        return False

    def _move(self, pos: QPointF | None) -> None:
        self._pos = pos
        link = None if pos is None else self.at(pos)
        if link == self._hovered:
            return
        if (link is None) != (self._hovered is None):
            if link is None:
                self._canvas.unsetCursor()
            else:
                self._canvas.setCursor(Qt.CursorShape.PointingHandCursor)
        self._hovered = link
        self._canvas.update()

    def _on_clicked(self, term: str) -> None:
        ask(self._canvas, term)


class TermLabel(QLabel):
    """A label whose words are one term: underlined under the pointer, a click opens its entry."""

    termClicked = Signal(str)

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.termClicked.connect(self._on_clicked)

    @property
    def link(self) -> str:
        return first_term(self.text())

    def _mark(self, on: bool) -> None:
        font = self.font()
        font.setUnderline(on)
        self.setFont(font)

    def enterEvent(self, event: QEnterEvent) -> None:
        if self.link:
            self._mark(True)
            self.setCursor(Qt.CursorShape.PointingHandCursor)

    def leaveEvent(self, event: QEvent) -> None:
        self._mark(False)
        self.unsetCursor()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.link and event.button() == Qt.MouseButton.LeftButton:
            self.termClicked.emit(self.link)
        else:
            super().mousePressEvent(event)

    def event(self, event: QEvent) -> Any:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self.link:
            QToolTip.showText(event.globalPos(), tip(self.link), self)
            return True
        return super().event(event)

    def _on_clicked(self, term: str) -> None:
        ask(self, term)
