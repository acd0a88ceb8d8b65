"""The film of a training: one head's attention after each of some steps, the output below."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.lenses.lab_picture import Frame
from visualizer.theme import Theme
from visualizer.widgets.canvas import LEFT, Canvas, box, write
from visualizer.widgets.film_labels import (
    attention_image,
    draw_attention,
    draw_sureness,
    frame_around,
    sure_words,
)
from visualizer.widgets.pointing import PointedCanvas
from visualizer.widgets.verdict import draw_verdict

# In parts of the font's size: the least width of a frame, the room between two.
LEAST_FRAME, GAP = 6.6, 1.2
FEWEST, MOST = 4, 9
# So many places there are at first; a film may have no more for long, for its steps double.
PLACES = 3
# What stands above a frame and below it; how many times as wide as high it is at most, and how many
# where something else wants the room.
ABOVE, BELOW, WIDEST, FLAT = 1.9, 3.1, 2.2, 1.6
# Frames that would be lower than this have no bars below them, but their room.
LOW, BARE = 3.2, 2.0


class FilmStrip(PointedCanvas):
    """frameClicked(step), frameMarked(step) with Shift held: to be compared; frameOpened(step)
    with a double click.
    """

    frameClicked = Signal(int)
    frameMarked = Signal(int)
    frameOpened = Signal(int)
    # what a right click asks about
    term = "attention_weights"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self.frames: tuple[Frame, ...] = ()
        self._empty = ""
        self._key: tuple[object, ...] = ()
        self._images: dict[int, tuple[Theme, Frame, QImage]] = {}
        self.count_changed: Callable[[], None] = lambda: None
        self._count = 0

    def set_frames(self, frames: tuple[Frame, ...], empty: str = "") -> None:
        """empty: what is said where there is none"""
        key = (empty, *(frame.key for frame in frames))
        if key == self._key:
            return
        self._key, self.frames, self._empty = key, frames, empty
        shown = {frame.step for frame in frames if frame.is_known}
        self._images = {step: kept for step, kept in self._images.items() if step in shown}
        self.describe(empty if not frames else ", ".join(f"{f.title}: {f.output}" for f in frames))
        self._tell()
        self.update()

    def room_for(self) -> int:
        """How many frames fit beside each other."""
        wide = self.width() / self.em
        return min(max(int((wide + GAP - 0.8) / (LEAST_FRAME + GAP)), FEWEST), MOST)

    def wished_height(self) -> float:
        """With as many frames as there is room for, each as high as wide."""
        return (ABOVE + BELOW) * self.em + self._frame_width()

    def least_height(self) -> float:
        """The same with frames as flat as they are made for what lies below them."""
        return (ABOVE + BELOW) * self.em + self._frame_width() / FLAT

    def _frame_width(self) -> float:
        em, count = self.em, self.room_for()
        return (self.width() - (count - 1) * GAP * em - 0.8 * em) / count

    def relayout(self) -> None:
        if self._count != self.room_for():
            self._count = self.room_for()
            self.count_changed()

    def sizeHint(self) -> QSize:
        return QSize(round(60 * self.em), round(14 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(24 * self.em), round(8.5 * self.em))

    # Places.

    def _below(self) -> float:
        """The room for what stands below a frame."""
        low = self.height() < (ABOVE + BELOW + LOW) * self.em
        return (BARE if low else BELOW) * self.em

    def picture_rect(self, number: int) -> QRectF:
        """Where the cells of a frame are painted; the frames share all the width there is."""
        em, count = self.em, max(len(self.frames), PLACES)
        wide = (self.width() - (count - 1) * GAP * em - 0.8 * em) / count
        left = 0.4 * em + number * (wide + GAP * em)
        high = min(self.height() - ABOVE * em - self._below(), wide)
        wide = min(wide, WIDEST * high)
        return QRectF(round(left), round(ABOVE * em), max(round(wide), 1), max(round(high), 1))

    def thing_at(self, pos: QPointF) -> int | None:
        em = self.em
        for number in range(len(self.frames)):
            rect = self.picture_rect(number)
            if rect.adjusted(0, -ABOVE * em, 0, self._below()).contains(pos):
                return number if self.frames[number].is_known else None
        return None

    # Painting.

    def paint(self, painter: QPainter) -> None:
        if not self.frames:
            write(painter, QRectF(self.rect()), self._empty, self.face(), self.theme.muted)
            return
        for number, frame in enumerate(self.frames):
            self._draw_frame(painter, number, frame)
        for number in range(len(self.frames), PLACES):
            box(painter, self.picture_rect(number), self.theme.sunken)

    def _draw_frame(self, painter: QPainter, number: int, frame: Frame) -> None:
        em, theme, rect = self.em, self.theme, self.picture_rect(number)
        head = QRectF(rect.left(), rect.top() - 1.75 * em, rect.width() + 0.4 * em, 1.4 * em)
        if frame.expected is not None:
            middle = QPointF(rect.right() - 0.3 * em, head.center().y())
            draw_verdict(painter, middle, em, frame.is_right, theme)
            head.setWidth(rect.width() - 0.9 * em)
        colour = theme.accent if frame.chosen else theme.muted
        face = self.face(bold=frame.chosen or bool(frame.mark))
        title = f"{frame.title}  {frame.mark}".rstrip()
        if face.width(title) > head.width():
            # a number that is cut would be read as another one
            title = f"{frame.step:,}  {frame.mark}".rstrip()
        write(painter, head, title, face, colour, LEFT)
        if not frame.is_known:
            box(painter, rect, theme.sunken, theme.border)
            return
        draw_attention(painter, rect, self._image(frame))
        if number == self._hovered or frame.chosen or frame.mark:
            ink = theme.accent if frame.chosen or frame.mark else theme.border_strong
            frame_around(painter, rect, QColor(ink), 0.18 * em if frame.chosen else 0.1 * em)
        below = QRectF(rect.left(), rect.bottom() + 0.45 * em, rect.width(), 1.4 * em)
        self._write_output(painter, below, frame)
        if self._below() < BELOW * em:
            return
        bars = QRectF(rect.left(), below.bottom() + 0.1 * em, rect.width(), 0.9 * em)
        draw_sureness(painter, bars, frame, theme)

    def _write_output(self, painter: QPainter, room: QRectF, frame: Frame) -> None:
        """Each token above its bar where they are short enough, else the text."""
        theme, small = self.theme, self.face(fonts.SMALL)
        slot = room.width() / max(len(frame.sure), 1)
        # what ends the output is no part of its text
        tokens = frame.tokens[: len(frame.sure) - frame.is_ended]
        if not tokens or any(small.width(token) > slot for token in tokens):
            write(painter, room, frame.output or "–", self.face(), theme.text, LEFT)
            return
        for number, token in enumerate(tokens):
            place = QRectF(room.left() + number * slot, room.top(), slot, room.height())
            write(painter, place, token, small, theme.text)

    def _image(self, frame: Frame) -> QImage:
        kept = self._images.get(frame.step)
        if kept is None or kept[0] is not self.theme or kept[1].cells != frame.cells:
            kept = (self.theme, frame, attention_image(frame.weights, self.theme))
            self._images[frame.step] = kept
        return kept[2]

    # The mouse.

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        before = self._hovered
        super().mouseMoveEvent(event)
        if self._hovered != before:
            self._tell()

    def _tell(self) -> None:
        """The numbers of the frame under the pointer."""
        number = self._hovered
        known = number is not None and number < len(self.frames)
        self.setToolTip(sure_words(self.frames[number]) if known else "")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        number = self.thing_at(event.position())
        if number is None or event.button() != Qt.MouseButton.LeftButton:
            return
        step = self.frames[number].step
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.frameMarked.emit(step)
        else:
            self.frameClicked.emit(step)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        number = self.thing_at(event.position())
        if number is not None and event.button() == Qt.MouseButton.LeftButton:
            self.frameOpened.emit(self.frames[number].step)


class Scrubber(Canvas):
    """A bar over the steps of a training with a handle; moved(step): the snapshot it came nearest
    to, dragged, clicked or by the arrow keys.
    """

    moved = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._steps: tuple[int, ...] = ()
        self._current = 0

    def set_steps(self, steps: tuple[int, ...], current: int) -> None:
        """steps: of the snapshots, in order"""
        if (steps, current) != (self._steps, self._current):
            self._steps, self._current = steps, current
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(40 * self.em), round(1.7 * self.em))

    def _groove(self) -> QRectF:
        em = self.em
        return QRectF(0.6 * em, self.height() / 2 - 0.15 * em, self.width() - 1.2 * em, 0.3 * em)

    def handle(self) -> float:
        """Where the handle is, from the left."""
        groove, steps = self._groove(), self._steps
        low, high = (steps[0], steps[-1]) if steps else (0, 1)
        share = (self._current - low) / (high - low) if high > low else 1.0
        return groove.left() + share * groove.width()

    def paint(self, painter: QPainter) -> None:
        em, theme, groove = self.em, self.theme, self._groove()
        box(painter, groove, theme.border, None, groove.height() / 2)
        if not self._steps:
            return
        x = self.handle()
        done = QRectF(groove.left(), groove.top(), x - groove.left(), groove.height())
        box(painter, done, theme.encoder, None, groove.height() / 2)
        radius = 0.52 * em
        painter.setPen(QPen(QColor(theme.encoder), 0.15 * em))
        painter.setBrush(QColor(theme.surface))
        painter.drawEllipse(QPointF(x, groove.center().y()), radius, radius)

    def _go_to(self, x: float) -> None:
        if not self._steps:
            return
        groove = self._groove()
        low, high = self._steps[0], self._steps[-1]
        wanted = low + (x - groove.left()) / max(groove.width(), 1) * (high - low)
        nearest = min(self._steps, key=lambda step: abs(step - wanted))
        if nearest != self._current:
            self.moved.emit(nearest)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._go_to(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go_to(event.position().x())
