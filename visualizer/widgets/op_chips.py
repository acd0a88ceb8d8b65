"""The operations of one sublayer as a row of chips: q k v, scores, mask, weights …"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from visualizer import fonts, glossary
from visualizer.widgets.canvas import box, write
from visualizer.widgets.pointing import PointedCanvas

# Below this width, in em, attention's chips need two lines: all others get them too.
ONE_LINE = 46


class OpChips(PointedCanvas):
    """chosen(i) on a click. Padding shrinks first, then the chips wrap to further lines."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMouseTracking(True)
        self._labels: tuple[str, ...] = ()
        self._tooltips: tuple[str, ...] = ()
        self._current = -1
        self._hovered: int | None = None
        self._to_right = False
        self._rects: list[QRectF] | None = None
        # A layout asks for the same few widths again and again.
        self._widths: dict[float, list[float]] = {}
        self._heights: dict[int, int] = {}

    def set_ops(
        self, labels: tuple[str, ...], current: int, tooltips: tuple[str, ...] = ()
    ) -> None:
        """current: the highlighted chip, -1 for none. tooltips: one per chip, or none."""
        if (labels, tooltips, current) == (self._labels, self._tooltips, self._current):
            return
        if labels != self._labels:
            before = self.heightForWidth(self.width())
            self._labels = labels
            self.relayout()
            if self.heightForWidth(self.width()) != before:
                self.updateGeometry()
        self._tooltips, self._current = tooltips, current
        self.update()

    def set_align_right(self, to_right: bool) -> None:
        self._to_right = to_right
        self.relayout()
        self.update()

    def sizeHint(self) -> QSize:
        width = round(24 * self.em)
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(8 * self.em), round(self._line()))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        if width not in self._heights:
            lines = max(len(self._lines(width)), 1 if width >= ONE_LINE * self.em else 2)
            self._heights[width] = round(self._height(lines))
        return self._heights[width]

    def rect_of(self, index: int) -> QRectF:
        return self._places()[index]

    # Places.

    def _line(self) -> float:
        return 1.9 * self.em

    def _height(self, lines: int) -> float:
        return lines * self._line() + (lines - 1) * 0.35 * self.em

    def _chip_widths(self, padding: float) -> list[float]:
        if padding not in self._widths:
            em, face = self.em, self.face(fonts.SMALL)
            wide = (face.width(label) + 2 * padding * em for label in self._labels)
            self._widths[padding] = [max(width, 1.9 * em) for width in wide]
        return self._widths[padding]

    def _wide(self, padding: float) -> float:
        return sum(self._chip_widths(padding)) + 0.4 * self.em * (len(self._labels) - 1)

    def _padding(self, width: float) -> float:
        for padding in (0.75, 0.6, 0.45):
            if self._wide(padding) <= width:
                return padding
        return 0.55

    def _lines(self, width: float) -> list[list[tuple[int, float]]]:
        """Lines of (chip, its width)."""
        padding, gap = self._padding(width), 0.4 * self.em
        lines: list[list[tuple[int, float]]] = []
        used = 0.0
        for index, own in enumerate(self._chip_widths(padding)):
            wide = min(own, width)
            if not lines or used + wide > width + 0.5:
                lines.append([])
                used = 0.0
            lines[-1].append((index, wide))
            used += wide + gap
        return lines

    def relayout(self) -> None:
        self._rects = None
        self._widths.clear()
        self._heights.clear()

    def _places(self) -> list[QRectF]:
        if self._rects is None:
            self._rects = []
            gap, lines = 0.4 * self.em, self._lines(self.width())
            y = max((self.height() - self._height(len(lines))) / 2, 0.0)
            for line in lines:
                used = sum(wide + gap for _, wide in line) - gap
                x = max(self.width() - used, 0.0) if self._to_right else 0.0
                for _, wide in line:
                    rect = QRectF(self.snap(x), self.snap(y), self.snap(wide), self._line())
                    self._rects.append(rect)
                    x += wide + gap
                y += self._line() + 0.35 * self.em
        return self._rects

    # Painting.

    def paint(self, painter: QPainter) -> None:
        theme, em = self.theme, self.em
        for index, rect in enumerate(self._places()):
            current = index == self._current
            fill = theme.accent_fill if current else theme.chip
            hovered = index == self._hovered and not current
            border = theme.border_strong if hovered else None
            box(painter, rect, fill, border, 0.4 * em)
            ink = theme.on_accent if current else theme.text if hovered else theme.muted
            inner = rect.adjusted(0.3 * em, 0, -0.3 * em, 0)
            write(painter, inner, self._labels[index], self.face(fonts.SMALL), ink)

    # The pointer.

    def chip_at(self, pos: QPointF) -> int | None:
        for index, rect in enumerate(self._places()):
            if rect.contains(pos):
                return index
        return None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.chip_at(event.position())
        if index is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(index)

    def thing_at(self, pos: QPointF) -> int | None:
        return self.chip_at(pos)

    def term_at(self, pos: QPointF) -> str:
        """What a right click there asks about: a chip's tooltip is the site it goes to."""
        index = self.chip_at(pos)
        known = index is not None and index < len(self._tooltips)
        return glossary.entry_of_site(self._tooltips[index]) if known else ""

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            index = self.chip_at(QPointF(event.pos()))
            known = index is not None and index < len(self._tooltips)
            QToolTip.showText(event.globalPos(), self._tooltips[index] if known else "", self)
            return True
        return super().event(event)
