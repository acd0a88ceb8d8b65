"""The heading above the tree of a beam search, and its legend, whose marks are drawn."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from visualizer import fonts
from visualizer.widgets.beam_tree import DASHES, diamond
from visualizer.widgets.canvas import LEFT, box, ink, write
from visualizer.widgets.pointing import PointedCanvas


@dataclass(frozen=True)
class Entry:
    """One word of the legend. mark: kept | pruned | finished | traced | greedy | sampled

    on: whether what it stands for is shown; None where that cannot be chosen
    """

    mark: str
    text: str
    on: bool | None = None
    tip: str = ""


class BeamHead(PointedCanvas):
    """toggled(mark) on a click on an entry that can be switched on and off."""

    toggled = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self._title = self._facts = self._best = ""
        self._entries: tuple[Entry, ...] = ()

    def set_words(self, title: str, facts: str, best: str, entries: tuple[Entry, ...]) -> None:
        words = (title, facts, best, entries)
        if words != (self._title, self._facts, self._best, self._entries):
            self._title, self._facts, self._best, self._entries = words
            self.setAccessibleName(f"{title} {facts} {best}")
            self.update()

    @property
    def facts(self) -> tuple[str, str]:
        """How is searched, and the best score."""
        return self._facts, self._best

    def sizeHint(self) -> QSize:
        return QSize(round(40 * self.em), round(1.8 * self.em))

    def entry_rects(self) -> list[QRectF]:
        """The places of the legend's entries, at the right."""
        em, face = self.em, self.face(fonts.SMALL)
        wide = [
            face.width(entry.text) + self._mark_width(entry) + 0.4 * em for entry in self._entries
        ]
        x = self.width() - 0.2 * em - sum(wide) - 0.9 * em * max(len(wide) - 1, 0)
        rects = []
        for own in wide:
            rects.append(QRectF(x, 0, own, self.height()))
            x += own + 0.9 * em
        return rects

    def _mark_width(self, entry: Entry) -> float:
        return (1.7 if entry.mark in ("greedy", "sampled") else 0.8) * self.em

    def paint(self, painter: QPainter) -> None:
        em, theme = self.em, self.theme
        small, rects = self.face(fonts.SMALL), self.entry_rects()
        end = rects[0].left() - em if rects else self.width()
        pill = QRectF(0, 0.12 * em, small.width(self._title) + 1.5 * em, 1.55 * em)
        box(painter, pill, theme.accent_fill, None, pill.height() / 2)
        write(painter, pill, self._title, small, theme.on_accent)
        x = pill.right() + 0.7 * em
        for text, face, colour in (
            (self._facts, self.face(), theme.muted),
            (self._best, self.face(bold=True), theme.text),
        ):
            room = QRectF(x, 0, max(min(face.width(text) + 1, end - x), 0.0), self.height())
            write(painter, room, text, face, colour, LEFT)
            x = room.right() + 0.35 * em
        for number, (entry, rect) in enumerate(zip(self._entries, rects, strict=True)):
            off = entry.on is False
            ink_name = (
                theme.text if number == self._hovered and entry.on is not None else theme.muted
            )
            mark = QRectF(rect.left(), rect.top(), self._mark_width(entry), rect.height())
            painter.setOpacity(0.45 if off else 1.0)
            self._draw_mark(painter, entry.mark, mark)
            painter.setOpacity(1.0)
            words = rect.adjusted(mark.width() + 0.4 * em, 0, 1, 0)
            write(painter, words, entry.text, small, ink_name, LEFT)
            if off:
                # what is not shown is struck out
                painter.setPen(QPen(ink(theme.muted), 1.0))
                y = self.snap(rect.center().y()) + 0.5
                painter.drawLine(QPointF(words.left(), y), QPointF(words.right() - 1, y))

    def _draw_mark(self, painter: QPainter, mark: str, rect: QRectF) -> None:
        em, theme, middle = self.em, self.theme, rect.center()
        radius = 0.34 * em
        if mark in ("greedy", "sampled"):
            pen = QPen(ink(theme.text if mark == "greedy" else theme.decoder), 0.13 * em)
            if mark == "greedy":
                pen.setDashPattern(DASHES)
            painter.setPen(pen)
            painter.drawLine(QPointF(rect.left(), middle.y()), QPointF(rect.right(), middle.y()))
        elif mark == "finished":
            diamond(painter, middle, 0.42 * em, theme.muted)
        else:
            colours = {
                "kept": (theme.muted, theme.muted),
                "pruned": (theme.surface, theme.muted),
                "traced": (theme.accent_tint, theme.accent),
            }
            fill, border = colours[mark]
            painter.setPen(QPen(ink(border), 0.1 * em))
            painter.setBrush(ink(fill))
            painter.drawEllipse(middle, radius, radius)

    # The pointer.

    def thing_at(self, pos: QPointF) -> int | None:
        for number, rect in enumerate(self.entry_rects()):
            if rect.contains(pos) and self._entries[number].on is not None:
                return number
        return None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        number = self.thing_at(event.position())
        if number is not None and event.button() == Qt.MouseButton.LeftButton:
            self.toggled.emit(self._entries[number].mark)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            number = self.thing_at(QPointF(event.pos()))
            tip = "" if number is None else self._entries[number].tip
            QToolTip.showText(event.globalPos(), tip, self)
            return True
        return super().event(event)
