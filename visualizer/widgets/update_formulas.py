"""The formulas of one weight's update, one below the other, with the numbers put in."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from visualizer import fonts
from visualizer.lenses.step_words import FormulaSaid
from visualizer.widgets.canvas import LEFT, Canvas, write
from visualizer.widgets.formula import Formula
from visualizer.widgets.glossary_link import Links

MOST = 8
TITLE = 7.2
# The height of a line: of the highest formula, with brackets around a power.
LINE = 1.65


class LowFormula(Formula):
    """A formula in smaller type than the stage's own, in the same size as those around it."""

    TYPE = 1.08

    def __init__(self, parent: UpdateFormulas) -> None:
        super().__init__(parent)
        self._around = parent

    def type_size(self) -> float:
        return self._around.type_size()

    def _on_look(self) -> None:
        waited = self._job
        super()._on_look()
        if waited is not self._job:
            self._around.show_again()

    def sizeHint(self) -> QSize:
        return QSize(round(16 * self.em), round(LINE * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(6 * self.em), self.sizeHint().height())


class UpdateFormulas(Canvas):
    """One below the other, all in one size; the tooltip of each has all digits of its value."""

    def __init__(self, most: int = MOST, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._said: tuple[FormulaSaid, ...] = ()
        self.links = Links(self)
        self.formulas = tuple(LowFormula(self) for _ in range(most))
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(0)
        self._grid = grid
        for number, formula in enumerate(self.formulas):
            grid.addWidget(formula, number, 1)
        grid.setColumnStretch(1, 1)
        grid.setColumnMinimumWidth(0, round(TITLE * self.em))

    def set_ground(self, role: str) -> None:
        super().set_ground(role)
        for formula in self.formulas:
            formula.set_ground(role)

    def set_formulas(self, said: tuple[FormulaSaid, ...]) -> None:
        if said == self._said:
            return
        self._said = said
        for number, formula in enumerate(self.formulas):
            one = said[number] if number < len(said) else None
            formula.set_tex("" if one is None else one.tex)
            formula.setToolTip("" if one is None else f"{one.title}: {one.plain}")
        self.show_again()
        self.update()

    def type_size(self) -> float:
        """In pixels: smaller than usual where the longest formula would not fit."""
        usual = LowFormula.TYPE * self.em
        longest = max((formula.natural_width() for formula in self.formulas), default=0.0)
        room = self.formulas[0].width()
        return usual if longest * usual <= room else room / longest

    def show_again(self) -> None:
        """A formula that has come may be longer than those before it."""
        for formula in self.formulas:
            formula.update()

    def relayout(self) -> None:
        self._grid.setColumnMinimumWidth(0, round(TITLE * self.em))

    def paint(self, painter: QPainter) -> None:
        small = self.face(fonts.SMALL)
        self.links.clear()
        for one, formula in zip(self._said, self.formulas, strict=False):
            place = formula.geometry()
            wide = TITLE * self.em
            rect = QRectF(place.left() - wide, place.top(), wide, place.height())
            write(painter, rect, one.title, small, self.theme.muted, LEFT)
            self.links.add(rect, one.title, small)
        self.links.underline(painter)
