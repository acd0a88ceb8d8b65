"""Settings with their values behind each other, in as many lines as they take."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.lenses.step_settings import SettingSaid
from visualizer.widgets.canvas import LEFT, write
from visualizer.widgets.flowing import Flowing
from visualizer.widgets.glossary_link import Links

# Between a name and its value, and behind a value.
NEAR, FAR = 0.4, 1.2


class SettingLine(Flowing):
    """Names muted, values in full ink; a setting is never cut between two lines."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._settings: tuple[SettingSaid, ...] = ()
        self.links = Links(self)

    def set_settings(self, settings: tuple[SettingSaid, ...], name: str) -> None:
        """name: of them all, for a screen reader"""
        said = ", ".join(f"{one.name} {one.value}" for one in settings)
        self.describe(name, said)
        if settings != self._settings:
            self._settings = settings
            self.updateGeometry()
            self.update()

    @property
    def settings(self) -> tuple[SettingSaid, ...]:
        return self._settings

    def lines(self) -> list[list[SettingSaid]]:
        """The settings of each line at the present width."""
        found: list[list[SettingSaid]] = [[]]
        used, room = 0.0, float(self.width())
        for one in self._settings:
            wide = self._width(one)
            if found[-1] and used + wide > room:
                found.append([])
                used = 0.0
            found[-1].append(one)
            used += wide + FAR * self.em
        return found

    def _width(self, one: SettingSaid) -> float:
        small = self.face(fonts.SMALL)
        return small.width(one.name) + NEAR * self.em + small.width(one.value)

    def needed(self) -> int:
        return len(self.lines())

    def paint(self, painter: QPainter) -> None:
        small, em, theme = self.face(fonts.SMALL), self.em, self.theme
        self.links.clear()
        for number, line in enumerate(self.lines()):
            x, top = 0.0, number * self.LINE * em
            for one in line:
                name = QRectF(x, top, small.width(one.name) + 1, self.LINE * em)
                write(painter, name, one.name, small, theme.muted, LEFT)
                self.links.add(name, one.name, small)
                value = QRectF(name.right() - 1 + NEAR * em, top, self.width(), self.LINE * em)
                write(painter, value, one.value, small, theme.text, LEFT)
                x += self._width(one) + FAR * em
        self.links.underline(painter)
