"""The tabs above the stage: its pages, the way back, and which numbers are on show."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.widgets.canvas import Canvas, box, ink, write
from visualizer.widgets.glossary_link import first_term
from visualizer.widgets.pointing import PointedCanvas

Named = tuple[tuple[str, str], ...]


class PageTabs(PointedCanvas):
    """pageChosen(name), showingChosen(name), backWanted() on a click.

    The tabs stand at the left behind the way back, the choice of numbers at the right.
    """

    pageChosen = Signal(str)
    showingChosen = Signal(str)
    backWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self._tabs: Named = ()
        self._current = ""
        self._back = ""
        self._showing: Named = ()
        self._shown = ""

    def set_tabs(self, tabs: Named, current: str, back: str = "") -> None:
        """tabs: (name, words) of each    back: the words of the way back, empty for none"""
        if (tabs, current, back) != (self._tabs, self._current, self._back):
            self._tabs, self._current, self._back = tabs, current, back
            self._hovered = None
            self.update()

    def set_showing(self, choices: Named, current: str) -> None:
        """choices: (name, words) of each, () for no choice"""
        if (choices, current) != (self._showing, self._shown):
            self._showing, self._shown = choices, current
            self._hovered = None
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(30 * self.em), round(1.9 * self.em))

    # Places: the way back, the tabs, the choices.

    def tab_rect(self, name: str) -> QRectF:
        """Where a tab, a choice or the way back ("back") is painted; empty where it is not."""
        return next((rect for key, _, rect in self._things() if key == name), QRectF())

    def _things(self) -> list[tuple[str, str, QRectF]]:
        em, face, height = self.em, self.face(), float(self.height())
        things = []
        x = 0.0
        if self._back:
            wide = face.width(self._back) + 2.2 * em
            things.append(("back", self._back, QRectF(x, 0, wide, height - 0.2 * em)))
            x += wide + 0.9 * em
        for name, words in self._tabs:
            wide = face.width(words) + 0.6 * em
            things.append((name, words, QRectF(x, 0, wide, height)))
            x += wide + 0.9 * em
        x = float(self.width())
        for name, words in reversed(self._showing):
            wide = face.width(words) + 1.3 * em
            x -= wide
            things.append((name, words, QRectF(x, 0.1 * em, wide, height - 0.3 * em)))
        return things

    def thing_at(self, pos: QPointF) -> int | None:
        found = (n for n, (_, _, rect) in enumerate(self._things()) if rect.contains(pos))
        return next(found, None)

    def term_at(self, pos: QPointF) -> str:
        """What a right click there asks about: no tab shows "values" of attention."""
        number = self.thing_at(pos)
        name, words, _ = self._things()[number] if number is not None else ("", "", None)
        return {"values": "record", "record": "step"}.get(name) or first_term(words)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        number = self.thing_at(event.position())
        if number is None or event.button() != Qt.MouseButton.LeftButton:
            return
        name = self._things()[number][0]
        if name == "back":
            self.backWanted.emit()
        elif any(name == key for key, _ in self._tabs):
            self.pageChosen.emit(name)
        else:
            self.showingChosen.emit(name)

    # Painting.

    def paint(self, painter: QPainter) -> None:
        pages = {name for name, _ in self._tabs}
        for number, (name, words, rect) in enumerate(self._things()):
            hovered = number == self._hovered
            if name == "back":
                self._draw_back(painter, words, rect, hovered)
            elif name in pages:
                self._draw_tab(painter, words, rect, name == self._current, hovered)
            else:
                self._draw_choice(painter, words, rect, name == self._shown, hovered)

    def _draw_tab(
        self, painter: QPainter, words: str, rect: QRectF, current: bool, hovered: bool
    ) -> None:
        theme, em = self.theme, self.em
        colour = theme.accent if current else theme.text if hovered else theme.muted
        write(painter, rect.adjusted(0, 0, 0, -0.3 * em), words, self.face(bold=current), colour)
        if current:
            line = QRectF(rect.left(), rect.bottom() - 0.22 * em, rect.width(), 0.16 * em)
            box(painter, line, theme.accent, None, 0.08 * em)

    def _draw_choice(
        self, painter: QPainter, words: str, rect: QRectF, current: bool, hovered: bool
    ) -> None:
        theme, em = self.theme, self.em
        fill = theme.accent_tint if current else theme.page if hovered else theme.surface
        box(painter, rect, fill, theme.accent if current else theme.border, 0.35 * em)
        colour = theme.text if current or hovered else theme.muted
        write(painter, rect, words, self.face(fonts.SMALL), colour)

    def _draw_back(self, painter: QPainter, words: str, rect: QRectF, hovered: bool) -> None:
        theme, em = self.theme, self.em
        box(painter, rect, theme.accent_tint if hovered else theme.surface, theme.border, 0.35 * em)
        arrow(self, painter, QPointF(rect.left() + 0.9 * em, rect.center().y()))
        room = rect.adjusted(1.5 * em, 0, -0.5 * em, 0)
        write(painter, room, words, self.face(), theme.text)


def arrow(canvas: Canvas, painter: QPainter, tip: QPointF) -> None:
    """A small arrow to the left around this point."""
    em = canvas.em
    painter.setPen(QPen(ink(canvas.theme.text), 0.11 * em))
    x, y = tip.x(), tip.y()
    painter.drawLine(QPointF(x - 0.35 * em, y), QPointF(x + 0.4 * em, y))
    for side in (-1, 1):
        end = QPointF(x - 0.05 * em, y + side * 0.3 * em)
        painter.drawLine(QPointF(x - 0.35 * em, y), end)
