"""The tabs above the stage: its pages, the way back, and which numbers are on show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.widgets.canvas import Canvas, Face, box, ink, write
from visualizer.widgets.glossary_link import first_term
from visualizer.widgets.pointing import PointedCanvas

Named = tuple[tuple[str, str], ...]


class _Setting(NamedTuple):
    """How closely the tabs are set; distances in em.

    size: of the type   short: whether shorter words stand for long ones, the way back for none
    """

    size: float
    padding: float
    gap: float
    short: bool


# From the widest to the closest; where that is not enough either, words are cut.
_SETTINGS = (
    _Setting(fonts.NORMAL, 0.6, 0.9, False),
    _Setting(fonts.NORMAL, 0.4, 0.6, False),
    _Setting(fonts.NORMAL, 0.4, 0.6, True),
    _Setting(fonts.SMALL, 0.4, 0.6, True),
    _Setting(fonts.SMALL, 0.3, 0.3, True),
)


class PageTabs(PointedCanvas):
    """pageChosen(name), showingChosen(name), backWanted() on a click.

    The tabs stand at the left; at the right the choice of numbers, and before it the way back,
    whose place is kept while there is none: nothing moves when it comes.
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
        self._back, self._leads_back = "", False
        self._short: Mapping[str, str] = {}
        self._showing: Named = ()
        # the last choice there was: a page without one keeps its place, and no tab moves
        self._measured: Named = ()
        self._shown = ""

    def set_back(self, words: str, tabs: Mapping[str, str]) -> None:
        """The words of the way back; tabs: shorter words, by name, where the others do not fit"""
        self._back, self._short = words, tabs
        self.update()

    def set_tabs(self, tabs: Named, current: str, leads_back: bool = False) -> None:
        """tabs: (name, words) of each    leads_back: whether there is a way back"""
        if (tabs, current, leads_back) != (self._tabs, self._current, self._leads_back):
            self._tabs, self._current, self._leads_back = tabs, current, leads_back
            self._hovered = None
            self.update()

    def set_showing(self, choices: Named, current: str) -> None:
        """choices: (name, words) of each, () for no choice"""
        if (choices, current) != (self._showing, self._shown):
            self._showing, self._shown = choices, current
            self._measured = choices or self._measured
            self._hovered = None
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(30 * self.em), round(1.9 * self.em))

    # Places: the way back, the tabs, the choices.

    def tab_rect(self, name: str) -> QRectF:
        """Where a tab, a choice or the way back ("back") is painted; empty where it is not."""
        return next((rect for key, _, rect in self._things() if key == name), QRectF())

    def _things(self) -> list[tuple[str, str, QRectF]]:
        em, height = self.em, float(self.height())
        setting, room = self._fitting()
        face, things, x = self.face(setting.size), [], 0.0
        widths = [self._wide(name, words, setting) for name, words in self._tabs]
        needed = sum(widths) + setting.gap * em * max(len(widths) - 1, 0)
        cut = max(needed - room, 0.0) / max(len(widths), 1)
        for (name, words), wide in zip(self._tabs, widths, strict=True):
            wide -= cut
            said = face.elided(self._words(name, words, setting), wide - setting.padding * em)
            things.append((name, said, QRectF(x, 0, wide, height)))
            x += wide + setting.gap * em
        x = float(self.width())
        for name, words in reversed(self._showing):
            wide = self.face().width(words) + 1.3 * em
            x -= wide
            things.append((name, words, QRectF(x, 0.1 * em, wide, height - 0.3 * em)))
        if self._leads_back:
            wide = self._back_width(setting)
            x -= wide + (0.5 * em if self._showing else 0.0)
            said = "" if setting.short else self._back
            things.append(("back", said, QRectF(x, 0.1 * em, wide, height - 0.3 * em)))
        return things

    def _fitting(self) -> tuple[_Setting, float]:
        """The widest setting that there is room for, and the room that it leaves the tabs."""
        em = self.em
        chosen = sum(self.face().width(words) + 1.3 * em for _, words in self._measured)
        room = 0.0
        for setting in _SETTINGS:
            room = self.width() - chosen - self._back_width(setting) - 1.0 * em
            wide = sum(self._wide(name, words, setting) for name, words in self._tabs)
            if wide + setting.gap * em * max(len(self._tabs) - 1, 0) <= room:
                return setting, room
        return _SETTINGS[-1], room

    def _words(self, name: str, words: str, setting: _Setting) -> str:
        return self._short.get(name, words) if setting.short else words

    def _wide(self, name: str, words: str, setting: _Setting) -> float:
        bold = self.face(setting.size, bold=True)
        return bold.width(self._words(name, words, setting)) + setting.padding * self.em

    def _back_width(self, setting: _Setting) -> float:
        words = 0.0 if setting.short else self.face(fonts.SMALL).width(self._back) + 0.4 * self.em
        return words + 1.7 * self.em

    def thing_at(self, pos: QPointF) -> int | None:
        found = (n for n, (_, _, rect) in enumerate(self._things()) if rect.contains(pos))
        return next(found, None)

    def term_at(self, pos: QPointF) -> str:
        """What a right click there asks about: no tab shows "values" of attention."""
        number = self.thing_at(pos)
        name = "" if number is None else self._things()[number][0]
        words = dict((*self._tabs, *self._showing)).get(name, "")
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
        size = self._fitting()[0].size
        for number, (name, words, rect) in enumerate(self._things()):
            hovered = number == self._hovered
            if name == "back":
                self._draw_back(painter, words, rect, hovered)
            elif name in pages:
                face = self.face(size, bold=name == self._current)
                self._draw_tab(painter, words, rect, face, name == self._current, hovered)
            else:
                self._draw_choice(painter, words, rect, name == self._shown, hovered)

    def _draw_tab(
        self, painter: QPainter, words: str, rect: QRectF, face: Face, current: bool, hovered: bool
    ) -> None:
        theme, em = self.theme, self.em
        colour = theme.accent if current else theme.text if hovered else theme.muted
        write(painter, rect.adjusted(0, 0, 0, -0.3 * em), words, face, colour)
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
        room = rect.adjusted(1.3 * em, 0, -0.3 * em, 0)
        write(painter, room, words, self.face(fonts.SMALL), theme.text)


def arrow(canvas: Canvas, painter: QPainter, tip: QPointF) -> None:
    """A small arrow to the left around this point."""
    em = canvas.em
    painter.setPen(QPen(ink(canvas.theme.text), 0.11 * em))
    x, y = tip.x(), tip.y()
    painter.drawLine(QPointF(x - 0.35 * em, y), QPointF(x + 0.4 * em, y))
    for side in (-1, 1):
        end = QPointF(x - 0.05 * em, y + side * 0.3 * em)
        painter.drawLine(QPointF(x - 0.35 * em, y), end)
