"""Words on screen that lead to the glossary: one signal carries them all to the window.

A window that has a glossary owns one `GlossaryBus`; a widget anywhere below it calls `ask`. The
words of painted widgets are kept by their `Links`, those of labels by `TermLabel`. What has a
click of its own says by a method `term_at(position)`, or by an attribute `term`, what a right
click or F2 there is about.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
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
            # a button may be about something else than its words
            term = widget.property("about") or first_term(widget.text())
        term = term or getattr(widget, "term", "")
        if term:
            return term
        widget = None if widget.isWindow() else widget.parentWidget()
    return ""


class Link(NamedTuple):
    """A word that can be clicked: where it is painted, the line of its letters' feet, its term."""

    rect: QRectF
    feet: tuple[QPointF, QPointF]
    term: str


class Word(NamedTuple):
    """Words as painted in one line; `term` is what they are about, "" to look for terms in them.

    upright: they are read from the bottom to the top
    """

    rect: QRectF
    text: str
    face: Face
    term: str = ""
    upright: bool = False


class Links(QObject):
    """The words of a canvas that lead to the glossary; termClicked(id).

    The canvas calls `clear` and `add` when it paints its words, or gives `words` that say where
    they are when that is asked; and it calls `underline` at the end of painting. The pointer is
    followed from outside, so that the canvas keeps its own events.
    """

    termClicked = Signal(str)

    def __init__(self, canvas: Canvas, words: Callable[[], Iterable[Word]] | None = None) -> None:
        super().__init__(canvas)
        self._canvas, self._asked = canvas, words
        self._words: list[tuple[QRectF, str, Face, str, bool]] = []
        self._pos: QPointF | None = None
        self._hovered: Link | None = None
        canvas.setMouseTracking(True)
        canvas.installEventFilter(self)
        self.termClicked.connect(self._on_clicked)

    def clear(self) -> None:
        self._words.clear()

    def add(self, rect: QRectF, text: str, face: Face, term: str = "", right: bool = False) -> None:
        """Words as `write` paints them; right: at the right end of `rect`."""
        # painted at every step and asked about only under the pointer
        self._words.append((rect, text, face, term, right))

    def at(self, pos: QPointF) -> Link | None:
        """The link at a logical position."""
        words = (word for word in self._here() if word.rect.contains(pos))
        links = (link for word in words for link in _links_of(word))
        return next((link for link in links if link.rect.contains(pos)), None)

    def links(self) -> list[Link]:
        """All links, from those painted first on."""
        return [link for word in self._here() for link in _links_of(word)]

    def _here(self) -> Iterable[Word]:
        return itertools.starmap(word_in, self._words) if self._asked is None else self._asked()

    def underline(self, painter: QPainter) -> None:
        """Mark the link under the pointer."""
        self._hovered = None if self._pos is None else self.at(self._pos)
        if self._hovered is not None:
            painter.setPen(QPen(ink(self._canvas.theme.accent), max(0.08 * self._canvas.em, 1.0)))
            painter.drawLine(*self._hovered.feet)

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


def word_in(
    rect: QRectF, text: str, face: Face, term: str = "", right: bool = False, centre: bool = False
) -> Word:
    """Words as `write` paints them into `rect`: at its left, its right or its middle."""
    width = min(face.width(text), rect.width())
    left = rect.right() - width if right else rect.left()
    left = rect.center().x() - width / 2 if centre else left
    return Word(QRectF(left, rect.top(), width, rect.height()), text, face, term)


def _links_of(word: Word) -> list[Link]:
    rect, face = word.rect, word.face
    if word.term:
        return [_link(word, 0.0, rect.height() if word.upright else rect.width(), word.term)]
    room = rect.height() if word.upright else rect.width()
    made = []
    for start, end, term in glossary.found_in(word.text):
        before = face.metrics.horizontalAdvance(word.text[:start])
        width = face.metrics.horizontalAdvance(word.text[start:end])
        # what an ellipsis stands for cannot be clicked
        if before + width <= room + 1.0:
            made.append(_link(word, before, width, term))
    return made


def _link(word: Word, before: float, width: float, term: str) -> Link:
    """The link of a stretch of words."""
    rect, below = word.rect, word.face.cap_height / 2 + max(0.2 * word.face.cap_height, 2.0)
    if word.upright:
        end = rect.bottom() - before
        x = rect.center().x() + below
        return Link(
            QRectF(rect.left(), end - width, rect.width(), width),
            (QPointF(x, end), QPointF(x, end - width)),
            term,
        )
    left, y = rect.left() + before, rect.center().y() + below
    own = QRectF(left, rect.top(), width, rect.height())
    return Link(own, (QPointF(left, y), QPointF(left + width, y)), term)


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
