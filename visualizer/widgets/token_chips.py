"""Tokens in a row, each a chip: the output with its probabilities, or the source as read."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from visualizer import fonts
from visualizer.widgets import figures
from visualizer.widgets.canvas import box, triangle, write
from visualizer.widgets.late import LateCanvas

# The side of what is clicked to take a forced token back.
PIN = 1.4


@dataclass(frozen=True)
class Chip:
    """One token. probability: shown beneath, None for none. unknown: marked as a warning.

    faint: still to come   pinned: forced, with a pin that takes it back
    """

    text: str
    probability: float | None = None
    tooltip: str = ""
    unknown: bool = False
    faint: bool = False
    pinned: bool = False


class TokenChips(LateCanvas):
    """tokenChosen(i) on a click, pinChosen(i) on one on the pin of a forced token.

    What does not fit scrolls; the current chip stays in view.
    """

    tokenChosen = Signal(int)
    pinChosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self._chips: tuple[Chip, ...] = ()
        self._current: int | None = None
        self._two_lines = True
        self._scroll = 0.0
        # of a pin that is pointed at: -1 - the number of its chip
        self._hovered: int | None = None
        self._rects: list[QRectF] | None = None
        self._pin_tip = ""

    def set_chips(self, chips: tuple[Chip, ...], current: int | None = None) -> None:
        if current == self._current and (chips is self._chips or chips == self._chips):
            return
        before, self._chips = self._chips, chips
        if chips is not before and (
            len(chips) != len(before) or any(map(_differs_in_width, chips, before))
        ):
            self._rects = None
        self._current = current
        self._reveal()
        self.update()

    def set_pin_tip(self, tip: str) -> None:
        """What is said of a pin under the pointer."""
        self._pin_tip = tip

    @property
    def chips(self) -> tuple[Chip, ...]:
        return self._chips

    def set_two_lines(self, two_lines: bool) -> None:
        """False: chips without a line for the probability."""
        self._two_lines = two_lines
        self.relayout()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        places = self._places()
        width = places[-1].right() if places else 6 * self.em
        return QSize(round(width), round(self._height()))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(6 * self.em), round(self._height()))

    def rect_of(self, index: int) -> QRectF:
        return self._places()[index].translated(-self._scroll, 0)

    def pin_of(self, index: int) -> QRectF:
        """Where the pin of a forced token lies: the upper right corner of its chip."""
        rect, size = self.rect_of(index), PIN * self.em
        return QRectF(rect.right() - size, rect.top(), size, size)

    # Places.

    def _height(self) -> float:
        return (3.3 if self._two_lines else 1.9) * self.em

    def relayout(self) -> None:
        self._rects = None
        self._reveal()

    def _places(self) -> list[QRectF]:
        if self._rects is None:
            self._rects = self._arrange()
        return self._rects

    def _arrange(self) -> list[QRectF]:
        em, x, rects = self.em, 0.0, []
        face, small = self.face(fonts.LARGE), self.face(0.76)
        top = (self.height() - self._height()) / 2 if self.height() > self._height() else 0.0
        for chip in self._chips:
            wide = min(face.width(chip.text), 9 * em)
            if chip.probability is not None and self._two_lines:
                wide = max(wide, small.width(figures.percent_short(chip.probability)))
            # the token keeps clear of the pin
            width = max(wide + 1.2 * em, 2.7 * em) + (0.9 * em if chip.pinned else 0.0)
            rects.append(QRectF(self.snap(x), self.snap(top), self.snap(width), self._height()))
            x += width + 0.4 * em
        return rects

    def _reach(self) -> float:
        places = self._places()
        return max(places[-1].right() - self.width(), 0.0) if places else 0.0

    def _reveal(self) -> None:
        places = self._places()
        if self._current is not None and 0 <= self._current < len(places):
            rect, margin = places[self._current], 2.5 * self.em
            self._scroll = max(self._scroll, rect.right() + margin - self.width())
            self._scroll = min(self._scroll, rect.left() - margin)
        self._scroll = min(max(self._scroll, 0.0), self._reach())

    # Painting.

    def paint(self, painter: QPainter) -> None:
        self.dim(painter)
        places = self._places()
        first = max(bisect_right(places, self._scroll, key=QRectF.left) - 1, 0)
        for index in range(first, len(places)):
            rect = places[index].translated(-self._scroll, 0)
            if rect.left() > self.width():
                break
            self._draw(painter, index, rect)
        if self._scroll > 0.5:
            self._draw_more(painter, left=True)
        if self._scroll < self._reach() - 0.5:
            self._draw_more(painter, left=False)

    def _draw(self, painter: QPainter, index: int, rect: QRectF) -> None:
        theme, em, chip = self.theme, self.em, self._chips[index]
        current = index == self._current
        fill, ink = theme.chip, theme.text
        if chip.unknown:
            fill, ink = theme.warning_tint, theme.warning_text
        elif current:
            fill = theme.output_tint
        elif chip.faint:
            fill, ink = theme.surface, theme.muted
        border, width = None, 1.0
        if current:
            border, width = theme.output, 2.0
        elif chip.unknown:
            border = theme.warning
        elif index == self._hovered or chip.faint:
            border = theme.border_strong if index == self._hovered else theme.border
        box(painter, rect, fill, border, 0.4 * em, width, dash=current)
        inner = rect.adjusted(0.4 * em, 0, -(1.3 if chip.pinned else 0.4) * em, 0)
        if chip.pinned:
            self._draw_pin(painter, index)
        face = self.face(fonts.LARGE)
        if chip.probability is None or not self._two_lines:
            write(painter, inner, chip.text, face, ink)
            return
        upper = QRectF(inner.left(), rect.top() + 0.25 * em, inner.width(), 1.7 * em)
        lower = QRectF(inner.left(), rect.top() + 1.9 * em, inner.width(), 1.15 * em)
        write(painter, upper, chip.text, face, ink)
        share = figures.percent_short(chip.probability)
        write(painter, lower, share, self.face(0.76), theme.text if current else theme.muted)

    def _draw_pin(self, painter: QPainter, index: int) -> None:
        em, theme, rect = self.em, self.theme, self.pin_of(index)
        x, y = rect.center().x() + 0.05 * em, rect.center().y() - 0.05 * em
        colour = theme.accent
        if self._hovered == -1 - index:
            box(painter, rect.adjusted(1, 1, -1, -1), theme.accent_fill, None, 0.35 * em)
            colour = theme.on_accent
        needle = [(x - 0.1 * em, y), (x + 0.1 * em, y), (x - 0.02 * em, y + 0.58 * em)]
        triangle(painter, needle, colour)
        head = 0.29 * em
        box(painter, QRectF(x - head, y - head - 0.12 * em, 2 * head, 2 * head), colour, None, head)

    def _draw_more(self, painter: QPainter, left: bool) -> None:
        """An arrow head at the end where chips are out of view."""
        em, middle = self.em, self.height() / 2
        x, sign = (0.0, 1.0) if left else (float(self.width()), -1.0)
        ground = QRectF(0, 0, 1.2 * em, self.height())
        if not left:
            ground.moveRight(self.width())
        painter.fillRect(ground, self.theme.color("surface"))
        points = [
            (x + sign * 0.8 * em, middle - 0.45 * em),
            (x + sign * 0.3 * em, middle),
            (x + sign * 0.8 * em, middle + 0.45 * em),
        ]
        triangle(painter, points, self.theme.muted)

    # The pointer.

    def chip_at(self, pos: QPointF) -> int | None:
        for index, rect in enumerate(self._places()):
            if rect.translated(-self._scroll, 0).contains(pos):
                return index
        return None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.chip_at(event.position())
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if index is not None:
            on_pin = self._on_pin(index, event.position())
            (self.pinChosen if on_pin else self.tokenChosen).emit(index)

    def thing_at(self, pos: QPointF) -> int | None:
        index = self.chip_at(pos)
        return -1 - index if index is not None and self._on_pin(index, pos) else index

    def _on_pin(self, index: int, pos: QPointF) -> bool:
        return self._chips[index].pinned and self.pin_of(index).contains(pos)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self._reach() <= 0:
            event.ignore()
            return
        turn = event.angleDelta().y() or event.angleDelta().x()
        self._scroll = min(max(self._scroll - turn / 120 * 3 * self.em, 0.0), self._reach())
        self.update()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            index = self.chip_at(QPointF(event.pos()))
            text = ""
            if index is not None:
                chip = self._chips[index]
                on_pin = self._on_pin(index, QPointF(event.pos()))
                text = self._pin_tip if on_pin else chip.tooltip or chip.text
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)


def _differs_in_width(chip: Chip, other: Chip) -> bool:
    mine = (chip.text, chip.probability, chip.pinned)
    return mine != (other.text, other.probability, other.pinned)
