"""Small chips in a row: a green tick for what holds, a red cross for what is broken."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from visualizer import fonts
from visualizer.lenses.badges import Badge
from visualizer.widgets.canvas import LEFT, box, ink, write
from visualizer.widgets.pointing import PointedCanvas

# What takes longer than this is said to be under way.
PATIENCE = 300
# The roles of a badge's ground, its text and its mark.
COLOURS = {
    "ok": ("output_tint", "text", "output"),
    "bad": ("error_tint", "error_text", "error"),
    "stated": ("chip", "muted", "muted"),
}
# The narrowest that a badge is cut down to, in em.
NARROWEST = 4.5


class BadgeRow(PointedCanvas):
    """badgeClicked(i) on a broken one. What has no room is elided, the longest texts first."""

    # what a right click asks about
    term = "recomputed"
    badgeClicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self._badges: tuple[Badge, ...] = ()
        self._waiting = ""
        self._rects: list[QRectF] | None = None
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE)
        self._patience.timeout.connect(self.update)
        self._title = ""

    @property
    def badges(self) -> tuple[Badge, ...]:
        return self._badges

    def set_title(self, title: str) -> None:
        """What a screen reader calls the row."""
        self._title = title
        self._describe()

    def set_badges(self, badges: tuple[Badge, ...], waiting: str = "") -> None:
        """waiting: what to say in a while, where the badges are still to come"""
        if (badges, waiting) == (self._badges, self._waiting):
            return
        if waiting and not self._waiting:
            self._patience.start()
        elif not waiting:
            self._patience.stop()
        self._badges, self._waiting = badges, waiting
        self._hovered = None
        self.relayout()
        self._describe()
        self.update()

    @property
    def said(self) -> str:
        """What is said in place of badges that are still to come."""
        late = self._waiting and not self._badges and not self._patience.isActive()
        return self._waiting if late else ""

    def _describe(self) -> None:
        self.describe(self._title, ", ".join(badge.text for badge in self._badges))

    # Places.

    def sizeHint(self) -> QSize:
        return QSize(round(16 * self.em), round(1.6 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(6 * self.em), round(1.6 * self.em))

    def relayout(self) -> None:
        self._rects = None

    def rect_of(self, index: int) -> QRectF:
        return self._places()[index]

    def _wished(self) -> list[float]:
        face = self.face(fonts.SMALL)
        return [face.width(badge.text) + 2.0 * self.em for badge in self._badges]

    def _ranks(self) -> list[int]:
        """What may be cut before what: sound checks, then broken ones, last the first broken."""
        broken = [badge.state == "bad" for badge in self._badges]
        first = broken.index(True) if True in broken else -1
        return [2 if i == first else int(is_broken) for i, is_broken in enumerate(broken)]

    def _places(self) -> list[QRectF]:
        if self._rects is None:
            em, gap = self.em, 0.4 * self.em
            widths = self._wished()
            room = self.width() - gap * (len(widths) - 1)
            widths = _fitted(widths, self._ranks(), room, NARROWEST * em)
            height = 1.5 * em
            top = self.snap((self.height() - height) / 2)
            self._rects, x = [], 0.0
            for width in widths:
                self._rects.append(QRectF(self.snap(x), top, self.snap(width), height))
                x += width + gap
        return self._rects

    # Painting.

    def paint(self, painter: QPainter) -> None:
        em, theme, small = self.em, self.theme, self.face(fonts.SMALL)
        if self.said:
            write(painter, QRectF(self.rect()), self.said, small, theme.muted, LEFT)
            return
        for number, (badge, rect) in enumerate(zip(self._badges, self._places(), strict=True)):
            ground, text, mark = COLOURS[badge.state]
            border = theme.color(mark) if number == self._hovered else None
            box(painter, rect, theme.color(ground), border, 0.35 * em)
            self._mark(painter, badge.state, rect, mark)
            inner = rect.adjusted(1.5 * em, 0.0, -0.4 * em, 0.0)
            write(painter, inner, badge.text, small, theme.color(text), LEFT)

    def _mark(self, painter: QPainter, state: str, rect: QRectF, role: str) -> None:
        """A tick, a cross or a dot, in lines: the font has no such signs."""
        em = self.em
        centre = QPointF(rect.left() + 0.85 * em, rect.center().y())
        pen = QPen(ink(self.theme.color(role)), 0.15 * em)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)

        def at(x: float, y: float) -> QPointF:
            return centre + QPointF(x * em, y * em)

        if state == "ok":
            painter.drawPolyline([at(-0.3, 0.02), at(-0.08, 0.25), at(0.32, -0.25)])
        elif state == "bad":
            painter.drawLine(at(-0.24, -0.24), at(0.24, 0.24))
            painter.drawLine(at(-0.24, 0.24), at(0.24, -0.24))
        else:
            painter.setBrush(ink(self.theme.color(role)))
            painter.drawEllipse(centre, 0.09 * em, 0.09 * em)

    # The pointer.

    def badge_at(self, pos: QPointF) -> int | None:
        for index, rect in enumerate(self._places()):
            if rect.contains(pos):
                return index
        return None

    def thing_at(self, pos: QPointF) -> int | None:
        """Only what can be clicked: a broken one, which leads to its cell."""
        index = self.badge_at(pos)
        return index if index is not None and self._badges[index].cell is not None else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.thing_at(event.position())
        if index is not None and event.button() == Qt.MouseButton.LeftButton:
            self.badgeClicked.emit(index)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            index = self.badge_at(QPointF(event.pos()))
            tip = "" if index is None else self._badges[index].tip
            QToolTip.showText(event.globalPos(), tip, self)
            return True
        return super().event(event)


def _fitted(wished: list[float], ranks: list[int], room: float, narrowest: float) -> list[float]:
    """Widths that fit the room: those of the lowest rank are cut first, the longest most."""
    widths = list(wished)
    for rank in sorted(set(ranks)):
        own = [i for i, one in enumerate(ranks) if one == rank]
        excess = sum(widths) - room
        if excess <= 0.0:
            break
        goal = max(sum(widths[i] for i in own) - excess, 0.0)
        cap = max(_level([widths[i] for i in own], goal), narrowest)
        for i in own:
            widths[i] = min(widths[i], cap)
    return widths


def _level(widths: list[float], goal: float) -> float:
    """The width at which to cut so that what is left sums to the goal."""
    rest, left = goal, len(widths)
    for width in sorted(widths):
        if width * left >= rest:
            return rest / left
        rest, left = rest - width, left - 1
    return max(widths)
