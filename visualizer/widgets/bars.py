"""Next-token bars: token, bar, probability."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from visualizer import fonts
from visualizer.lenses.picture import Bars
from visualizer.widgets import figures
from visualizer.widgets.canvas import CENTRE, LEFT, RIGHT, Canvas, box, write

STUB = 0.005


class TokenBars(Canvas):
    """The most probable tokens, as many as fit; tokens outside top-k / top-p are grey.

    The chosen token is marked, and shown last where it is not among the first.
    barHovered(place in the picture's labels) and left(); barClicked(place).
    """

    # what a right click asks about
    term = "probability"
    barHovered = Signal(int)
    barClicked = Signal(int)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._bars: Bars | None = None
        self._order: list[int] = []
        self._empty = ""
        self._limit = 10
        self._hovered: int | None = None
        self._act = ""

    def set_act(self, act: str) -> None:
        """What a click does, for the words under the pointer."""
        self._act = act

    def set_bars(self, bars: Bars | None) -> None:
        if _same(bars, self._bars):
            return
        self._bars = bars
        self._order = _falling(np.asarray(bars.values)) if bars is not None else []
        self.update()

    def set_limit(self, most: int) -> None:
        """No more than this many rows, however much room there is."""
        self._limit = most
        self.updateGeometry()
        self.update()

    def set_empty_text(self, text: str) -> None:
        self._empty = text
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(18 * self.em), round(self._limit * self._line()))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(10 * self.em), round(3 * self._line()))

    def shown(self) -> list[int]:
        """Places in the picture's labels, from the top row down."""
        if self._bars is None:
            return []
        fit = max(int(self.height() / self._line()), 1)
        places = self._order[: min(fit, self._limit)]
        chosen = self._bars.chosen
        if chosen is not None and 0 <= chosen < len(self._bars.labels) and chosen not in places:
            places[-1] = chosen
        return places

    def _line(self) -> float:
        return 1.62 * self.em

    def paint(self, painter: QPainter) -> None:
        theme, em, bars = self.theme, self.em, self._bars
        places = self.shown()
        if bars is None or not places:
            face = self.face()
            write(painter, QRectF(self.rect()), self._empty, face, theme.muted, CENTRE)
            return
        face, digits = self.face(), self.face(0.94)
        bold = self.face(fonts.NORMAL, bold=True)
        texts = [figures.percent_column(bars.values[p]) for p in places]
        figure_w = max(max(digits.width(t) for t in texts), 3.2 * em)
        label_w = min(max(face.width(bars.labels[p]) for p in places) + 0.3 * em, 7.5 * em)
        label_w = min(max(label_w, 2.6 * em), 0.4 * self.width())
        inset = 0.35 * em
        start = inset + label_w + 0.5 * em
        full = max(self.width() - start - figure_w - 0.8 * em - inset, em)
        for row, place in enumerate(places):
            top = self.snap(row * self._line())
            line = QRectF(0, top, self.width(), self._line())
            chosen = place == bars.chosen
            if chosen:
                box(painter, line.adjusted(0, 1, 0, -1), theme.output_tint, None, 0.3 * em)
            elif place == self._hovered:
                box(painter, line.adjusted(0, 1, 0, -1), theme.chip, None, 0.3 * em)
            kept = bool(bars.kept[place])
            ink = theme.text if kept else theme.muted
            label = QRectF(inset, top, label_w, line.height())
            write(painter, label, bars.labels[place], bold if chosen else face, ink, LEFT)
            share = min(max(float(bars.values[place]), 0.0), 1.0)
            if share > 0:
                # below half a percent a bar tells no length: a grey stub of one width for all
                told = share >= STUB
                width = max(full * share, 2.0) if told else 0.3 * em
                bar = QRectF(start, self.snap(top + 0.43 * em), width, 0.76 * em)
                colour = theme.output if kept and told else theme.bar_off
                box(painter, bar, colour, None, min(0.22 * em, bar.width() / 2))
            number = QRectF(self.width() - figure_w - inset, top, figure_w, line.height())
            write(painter, number, texts[row], digits, ink, RIGHT)
            if row and place == bars.chosen and place != self._order[row]:
                self._draw_jump(painter, top)

    def _draw_jump(self, painter: QPainter, y: float) -> None:
        """Three dots: between this row and the one above others are left out."""
        for step in range(3):
            x = self.width() / 2 + (step - 1) * 0.5 * self.em
            box(painter, QRectF(x - 1.5, y - 1.5, 3, 3), self.theme.border_strong, None, 1.5)

    # The pointer.

    def place_at(self, pos: QPointF) -> int | None:
        places = self.shown()
        row = int(pos.y() / self._line()) if pos.y() >= 0 else -1
        return places[row] if 0 <= row < len(places) else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.place_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)

    def _hover(self, place: int | None) -> None:
        if place == self._hovered:
            return
        self._hovered = place
        self.setCursor(
            Qt.CursorShape.ArrowCursor if place is None else Qt.CursorShape.PointingHandCursor
        )
        self.update()
        if place is None:
            self.left.emit()
        else:
            self.barHovered.emit(place)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self.place_at(event.position())
        if place is not None and event.button() == Qt.MouseButton.LeftButton:
            self.barClicked.emit(place)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self.place_at(QPointF(event.pos()))
            text = ""
            if place is not None and self._bars is not None:
                value = self._bars.values[place]
                label = self._bars.labels[place]
                text = f"{label}   {figures.percent(value)}   {figures.exact(value)}"
                text += f"\n{self._act}" if self._act else ""
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)


def _same(one: Bars | None, other: Bars | None) -> bool:
    """Whether both look alike."""
    if one is None or other is None:
        return one is other
    return (one.labels, one.chosen) == (other.labels, other.chosen) and all(
        np.array_equal(*pair) for pair in ((one.values, other.values), (one.kept, other.kept))
    )


def _falling(values: np.ndarray, most: int = 64) -> list[int]:
    """Places of the largest values, largest first; equal ones in the order they stand in."""
    places = np.arange(len(values))
    if len(values) > 4 * most:
        least = np.partition(values, -most)[-most]
        places = np.flatnonzero(values >= least)
    return places[np.argsort(-values[places], kind="stable")][:most].tolist()
