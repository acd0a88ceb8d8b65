"""The whole run as one bar of segments, with the cursor on it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from visualizer import fonts
from visualizer.widgets.canvas import Canvas, box, write
from visualizer.widgets.glossary_link import first_term


@dataclass(frozen=True)
class Segment:
    """A stretch of the run. kind: whose colour it has. steps: how many it holds, at least 1."""

    label: str
    kind: Literal["encoder", "decoder", "output"]
    steps: int


class Timeline(Canvas):
    """Segments about as wide as they have steps; click or drag -> scrubbed(step from 0)."""

    scrubbed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._segments: tuple[Segment, ...] = ()
        self._starts: list[int] = [0]
        self._step = 0
        self._rects: list[QRectF] | None = None

    def set_segments(self, segments: tuple[Segment, ...]) -> None:
        if segments == self._segments:
            return
        self._segments = segments
        self._starts = [0, *accumulate(s.steps for s in segments)]
        self._rects = None
        self.update()

    def set_step(self, step: int) -> None:
        if step != self._step:
            self._step = step
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(40 * self.em), round(2.3 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(12 * self.em), round(2.3 * self.em))

    # Places.

    def relayout(self) -> None:
        self._rects = None

    def _places(self) -> list[QRectF]:
        if self._rects is None:
            self._rects = self._arrange()
        return self._rects

    def _arrange(self) -> list[QRectF]:
        """Widths by steps, but a short segment keeps room for its label where there is room."""
        if not self._segments:
            return []
        small, em = self.face(fonts.SMALL), self.em
        gap = self.snap(min(0.22 * em, self.width() / len(self._segments) / 4))
        room = self.width() - gap * (len(self._segments) - 1)
        wish = [min(small.width(s.label) + em, 6 * em) for s in self._segments]
        share = min(1.0, 0.6 * room / max(sum(wish), 1.0))
        least = [w * share for w in wish]
        spare = room - sum(least)
        # What is left goes to the segments whose share by steps is larger than their least width.
        total = self._starts[-1]
        want = [max(room * s.steps / total - low, 0.0) for s, low in zip(self._segments, least)]
        scale = spare / max(sum(want), 1e-9)
        rects, x = [], 0.0
        for low, more in zip(least, want):
            width = low + more * scale
            left, right = self.snap(x), self.snap(x + width)
            rects.append(QRectF(left, 0.1 * em, right - left, self.height() - 0.2 * em))
            x += width + gap
        return rects

    def current_segment(self) -> int:
        last = max(len(self._segments) - 1, 0)
        return min(max(bisect_right(self._starts, self._step) - 1, 0), last)

    def x_of(self, step: int) -> float:
        """Where a step lies, in logical pixels."""
        index = min(max(bisect_right(self._starts, step) - 1, 0), len(self._segments) - 1)
        rect = self._places()[index]
        inside = (step - self._starts[index] + 0.5) / self._segments[index].steps
        return rect.left() + rect.width() * min(max(inside, 0.0), 1.0)

    def step_at(self, x: float) -> int:
        """The step under a position; outside the bar the first or the last."""
        places = self._places()
        index = 0
        while index + 1 < len(places) and x >= places[index + 1].left():
            index += 1
        rect, steps = places[index], self._segments[index].steps
        inside = int((x - rect.left()) / max(rect.width(), 1e-9) * steps)
        return self._starts[index] + min(max(inside, 0), steps - 1)

    # Painting.

    def paint(self, painter: QPainter) -> None:
        theme, em = self.theme, self.em
        small = self.face(fonts.SMALL)
        here = self.current_segment()
        key = (self._segments, here)
        self.layer(painter, "segments", key, lambda p: self._draw_segments(p, here))
        if self._segments:
            x = self.snap(self.x_of(self._step))
            line = QRectF(x - 1.5, 0, 3, self.height())
            box(painter, line, theme.accent, None, 1.5)
            # over the cursor, on a ground of its own: the cursor shows above and below the word
            segment, rect = self._segments[here], self._places()[here]
            word = QRectF(0, 0, small.width(segment.label) + 0.3 * em, 1.15 * em)
            word.moveCenter(rect.center())
            if word.left() < line.right() and line.left() < word.right():
                ground = word.intersected(rect.adjusted(0, 0.1 * em, 0, -0.1 * em))
                box(painter, ground, theme.accent_soft, None, 0.2 * em)
            self._label(painter, segment, rect)

    def _draw_segments(self, painter: QPainter, here: int) -> None:
        """All of them, and the label of each but the one the cursor is in."""
        for index, (segment, rect) in enumerate(zip(self._segments, self._places())):
            role = "accent" if index == here else segment.kind
            colour = self.theme.color(f"{role}_soft")
            box(painter, rect, colour, None, 0.3 * self.em)
            if index != here:
                self._label(painter, segment, rect)

    def _label(self, painter: QPainter, segment: Segment, rect: QRectF) -> None:
        em, small = self.em, self.face(fonts.SMALL)
        inner = rect.adjusted(0.3 * em, 0, -0.3 * em, 0)
        if inner.width() >= 1.6 * em or small.width(segment.label) <= inner.width():
            write(painter, inner, segment.label, small, self.theme.text)

    # The pointer.

    def term_at(self, pos: QPointF) -> str:
        """What a right click there asks about: the encoder say, or what a step is."""
        places = zip(self._segments, self._places())
        label = next((s.label for s, rect in places if rect.left() <= pos.x() < rect.right()), "")
        return first_term(label) or "step"

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._scrub(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._scrub(event.position())

    def _scrub(self, pos: QPointF) -> None:
        if self._segments:
            self.scrubbed.emit(self.step_at(pos.x()))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            label = ""
            for segment, rect in zip(self._segments, self._places()):
                if rect.left() <= event.pos().x() < rect.right():
                    label = segment.label
            QToolTip.showText(event.globalPos(), label, self)
            return True
        return super().event(event)
