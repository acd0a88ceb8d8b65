"""A conversation as bubbles: the questions at the right, the replies at the left."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QToolTip, QWidget

from visualizer import fonts
from visualizer.lenses.chat import Bubble, Divider, Talk
from visualizer.theme import Theme
from visualizer.widgets.bubble_layout import LINE, PAD_X, PAD_Y, Breaker, Laid, laid_out
from visualizer.widgets.canvas import LEFT, box, ink, write
from visualizer.widgets.pointing import PointedCanvas


class ChatBubbles(PointedCanvas):
    """bubbleClicked(number of the exchange), besideClicked() on a click beside all bubbles.

    `marked` is the exchange that the keys stand on.
    """

    bubbleClicked = Signal(int)
    besideClicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.set_ground("surface")
        self._talk: Talk = ()
        self._breaker = Breaker()
        self._laid: tuple[Laid, ...] | None = None
        self._room = QSize(100, 100)
        self.marked: int | None = None

    @property
    def talk(self) -> Talk:
        return self._talk

    def set_talk(self, talk: Talk) -> bool:
        """Whether anything is new."""
        if talk == self._talk:
            return False
        self._talk = talk
        self._hovered = None
        if not talk:
            self.marked = None
        self._take_size()
        said = [item.text for item in talk if isinstance(item, Bubble)]
        self.setAccessibleDescription("\n".join(said[-2:]))
        self.update()
        return True

    def set_room(self, room: QSize) -> None:
        """The room there is; the conversation is as wide, and at least as high."""
        self._room = room
        self._take_size()

    def mark(self, number: int | None) -> None:
        """The exchange that the keys stand on."""
        if number != self.marked:
            self.marked = number
            self.update()

    # Places.

    def relayout(self) -> None:
        self._laid = None

    def _take_size(self) -> None:
        self._laid = None
        _, height = self._arranged()
        self.resize(self._room.width(), max(round(height), self._room.height()))
        self._laid = None

    def _arranged(self) -> tuple[tuple[Laid, ...], float]:
        return laid_out(self._talk, self._room.width(), self.em, self.face, self._breaker)

    def laid(self) -> tuple[Laid, ...]:
        """All at their places; what does not fill the room lies at its lower end."""
        if self._laid is None:
            found, height = self._arranged()
            down = self.snap(max(self.height() - height, 0.0))
            self._laid = tuple(_moved(item, down) for item in found)
        return self._laid

    def bubble_rect(self, number: int, side: str = "assistant") -> QRectF:
        """Where a bubble of an exchange is painted; -1: of the one that waits."""
        for laid in self.laid():
            if isinstance(laid.item, Bubble) and (laid.item.number, laid.item.side) == (
                number,
                side,
            ):
                return laid.rect
        return QRectF()

    def thing_at(self, pos: QPointF) -> int | None:
        for place, laid in enumerate(self.laid()):
            if isinstance(laid.item, Bubble) and laid.item.number >= 0 and laid.rect.contains(pos):
                return place
        return None

    # Painting.

    def paint(self, painter: QPainter) -> None:
        seen = QRectF(self.visibleRegion().boundingRect())
        for place, laid in enumerate(self.laid()):
            if laid.bottom < seen.top() or laid.rect.top() > seen.bottom():
                continue
            if isinstance(laid.item, Divider):
                self._draw_divider(painter, laid)
            else:
                self._draw_bubble(painter, laid, laid.item, place == self._hovered)

    def _draw_bubble(self, painter: QPainter, laid: Laid, item: Bubble, hovered: bool) -> None:
        em, theme = self.em, self.theme
        part = "encoder" if item.side == "user" else "decoder"
        fill = theme.chip if item.faint else theme.color(f"{part}_soft")
        border, width = None, 1.0
        if item.current:
            border, width = theme.accent, 2.0
        elif hovered:
            border = theme.color(part)
        box(painter, laid.rect, fill, border, 0.8 * em, width)
        if item.number >= 0 and item.number == self.marked:
            around = laid.rect.adjusted(-0.25 * em, -0.25 * em, 0.25 * em, 0.25 * em)
            box(painter, around, None, theme.accent, 0.95 * em, 1.5, dash=True)
        colour = theme.muted if item.empty and item.faint else theme.text
        y = laid.rect.top() + PAD_Y * em
        for line in laid.lines:
            rect = QRectF(laid.rect.left() + PAD_X * em, y, laid.rect.width(), LINE * em)
            write(painter, rect, line, self.face(fonts.LARGE), colour, LEFT)
            y += LINE * em
        for rect, line, warns in laid.below:
            colour = theme.warning_text if warns else theme.muted
            write(painter, rect, line, self.face(fonts.SMALL), colour, LEFT)

    def _draw_divider(self, painter: QPainter, laid: Laid) -> None:
        em, theme, face = self.em, self.theme, self.face(fonts.SMALL)
        middle = self.snap(laid.rect.center().y()) + 0.5
        wide = min(face.width(laid.lines[0]), laid.rect.width() - 4 * em)
        words = QRectF(0, laid.rect.top(), wide + 1, laid.rect.height())
        words.moveCenter(laid.rect.center())
        pen = QPen(ink(theme.border_strong), 1.0)
        pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        for start, end in (
            (laid.rect.left() + 0.5 * em, words.left() - 0.6 * em),
            (words.right() + 0.6 * em, laid.rect.right() - 0.5 * em),
        ):
            painter.drawLine(QPointF(start, middle), QPointF(end, middle))
        write(painter, words, laid.lines[0], face, theme.muted)

    # The pointer.

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        place = self.thing_at(event.position())
        item = None if place is None else self.laid()[place].item
        if isinstance(item, Bubble):
            self.bubbleClicked.emit(item.number)
        else:
            self.besideClicked.emit()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self.thing_at(QPointF(event.pos()))
            item = None if place is None else self.laid()[place].item
            tip = item.tip if isinstance(item, Bubble) else ""
            QToolTip.showText(event.globalPos(), tip, self)
            return True
        return super().event(event)


class ChatView(QScrollArea):
    """The conversation in the room there is; its end stays in view unless one has scrolled up."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.bubbles = ChatBubbles()
        self.setWidget(self.bubbles)

    def set_talk(self, talk: Talk) -> None:
        before = len(self.bubbles.talk)
        at_end = self._at_end()
        if self.bubbles.set_talk(talk) and (at_end or len(talk) > before):
            self.to_end()

    def to_end(self) -> None:
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum())

    def scroll(self, lines: int) -> None:
        """So many lines down, or up."""
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + round(lines * 2 * LINE * self.bubbles.em))

    def show_exchange(self, number: int) -> None:
        """Have both bubbles of an exchange in view."""
        for side in ("assistant", "user"):
            rect = self.bubbles.bubble_rect(number, side)
            margin = round(rect.height() / 2 + 2 * self.bubbles.em)
            centre = rect.center().toPoint()
            self.ensureVisible(centre.x(), centre.y(), 0, margin)

    def _at_end(self) -> bool:
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum() - round(self.bubbles.em)

    def set_theme(self, theme: Theme) -> None:
        self.viewport().setStyleSheet(f"background: {theme.surface}")

    def minimumSizeHint(self) -> QSize:
        em = fonts.em(self.font())
        return QSize(round(20 * em), round(8 * em))

    def resizeEvent(self, event: QResizeEvent) -> None:
        at_end = self._at_end()
        super().resizeEvent(event)
        self.bubbles.set_room(self.viewport().size())
        if at_end:
            self.to_end()


def _moved(laid: Laid, down: float) -> Laid:
    if not down:
        return laid
    below = tuple((rect.translated(0, down), line, warns) for rect, line, warns in laid.below)
    return Laid(laid.item, laid.rect.translated(0, down), laid.lines, below)
