"""The small heading of a panel's part that two things share: a click chooses between them."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer.widgets.canvas import LEFT, RIGHT, box, write
from visualizer.widgets.glossary_link import Links, first_term
from visualizer.widgets.pointing import PointedCanvas


class SectionSwitch(PointedCanvas):
    """chosen(i) when the user clicks another title. A single title is a plain heading."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self._titles: tuple[str, ...] = ()
        self._current = 0
        self._note = ""
        self.links = Links(self)

    def set_titles(self, titles: tuple[str, ...], current: int = 0, note: str = "") -> None:
        """Titles are written in capitals, where their script has them; the note at the right."""
        titles = tuple(title.upper() for title in titles)
        if (titles, current, note) == (self._titles, self._current, self._note):
            return
        self._titles, self._current, self._note = titles, current, note
        self.describe(titles[current] if titles else "", note)
        self.update()

    @property
    def current(self) -> int:
        return self._current

    def sizeHint(self) -> QSize:
        return QSize(round(12 * self.em), round(1.6 * self.em))

    def title_rect(self, index: int) -> QRectF:
        """Where a title is painted, its pill included."""
        em, face = self.em, self.face(0.8, bold=True)
        if len(self._titles) == 1:
            return QRectF(0, 0, min(face.width(self._titles[0]), self.width()), self.height())
        x = 0.0
        for number, title in enumerate(self._titles):
            wide = face.width(title) + 1.1 * em
            if number == index:
                return QRectF(x, 0, wide, self.height())
            x += wide + 0.1 * em
        return QRectF()

    def thing_at(self, pos: QPointF) -> int | None:
        if len(self._titles) < 2:
            return None
        places = range(len(self._titles))
        return next((n for n in places if self.title_rect(n).contains(pos)), None)

    def paint(self, painter: QPainter) -> None:
        theme, em, face, small = self.theme, self.em, self.face(0.8, bold=True), self.face(0.8)
        alone = len(self._titles) == 1
        right = 0.0
        self.links.clear()
        for index, title in enumerate(self._titles):
            rect = self.title_rect(index)
            right = rect.right()
            if alone:
                write(painter, rect, title, face, theme.muted, LEFT)
                self.links.add(rect, title, face)
                continue
            current = index == self._current
            if current or index == self._hovered:
                pill = rect.adjusted(0, 0.1 * em, 0, -0.1 * em)
                box(painter, pill, theme.accent_tint if current else theme.chip, None, 0.4 * em)
            write(painter, rect, title, face, theme.text if current else theme.muted)
        room = QRectF(right + 0.6 * em, 0, self.width() - right - 0.6 * em, self.height())
        if room.width() > 0:
            write(painter, room, self._note, small, theme.muted, RIGHT)
            self.links.add(room, self._note, small, right=True)
        self.links.underline(painter)

    def term_at(self, pos: QPointF) -> str:
        """What a right click on a title asks about."""
        index = self.thing_at(pos)
        return "" if index is None else first_term(self._titles[index])

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.thing_at(event.position())
        if index is not None and event.button() == Qt.MouseButton.LeftButton:
            if index != self._current:
                self.chosen.emit(index)
