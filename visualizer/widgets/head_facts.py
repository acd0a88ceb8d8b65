"""What one head does, as a row of named numbers with a bar each."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize
from PySide6.QtGui import QHelpEvent, QPainter
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from visualizer import fonts
from visualizer.lenses.heads_overview import FactColumn
from visualizer.widgets.canvas import LEFT, RIGHT, Canvas, box, write


class HeadFactsRow(Canvas):
    """The head's name, and below it a column for each fact; the tooltip says what it is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.set_ground("surface")
        self._name = self._site = ""
        self._columns: tuple[FactColumn, ...] = ()

    def set_facts(self, name: str, site: str, columns: tuple[FactColumn, ...]) -> None:
        """site: the record that they are of"""
        if (name, site, columns) == (self._name, self._site, self._columns):
            return
        self._name, self._site, self._columns = name, site, columns
        self.describe(name, ", ".join(f"{column.name} {column.text}" for column in columns))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(30 * self.em), round(4.9 * self.em))

    def column_rect(self, place: int) -> QRectF:
        width = self.width() / max(len(self._columns), 1)
        return QRectF(place * width, 1.7 * self.em, width, 3.2 * self.em)

    def paint(self, painter: QPainter) -> None:
        em, theme, small = self.em, self.theme, self.face(fonts.SMALL)
        head = QRectF(0, 0, self.width(), 1.6 * em)
        wide = self.face(bold=True).width(self._name) + em
        write(painter, head, self._name, self.face(bold=True), theme.text, LEFT)
        if wide + small.width(self._site) <= head.width():
            write(painter, head, self._site, small, theme.muted, RIGHT)
        for place, column in enumerate(self._columns):
            rect = self.column_rect(place).adjusted(0, 0, -em, 0)
            name = QRectF(rect.left(), rect.top(), rect.width(), 1.2 * em)
            write(painter, name, column.name, small, theme.muted, LEFT)
            value = QRectF(rect.left(), name.bottom(), rect.width(), 1.4 * em)
            write(painter, value, column.text, self.face(), theme.text, LEFT)
            if column.part is not None:
                bar = QRectF(rect.left(), value.bottom() + 0.1 * em, rect.width(), 0.28 * em)
                box(painter, bar, theme.bar_off, None, 0.14 * em)
                bar.setWidth(max(bar.width() * column.part, 1.0))
                box(painter, bar, theme.accent, None, 0.14 * em)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            said = ""
            for place, column in enumerate(self._columns):
                if self.column_rect(place).contains(event.pos()):
                    said = f"{column.name}: {column.text}\n{column.explained}"
            QToolTip.showText(event.globalPos(), said, self)
            return True
        return super().event(event)
