"""The logit lens at one token: per state the likeliest token, and where the final one stands."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from visualizer import fonts
from visualizer.lenses.logit_lens import Depth, Reading
from visualizer.widgets import figures
from visualizer.widgets.canvas import CENTRE, LEFT, RIGHT, box, write
from visualizer.widgets.pointing import PointedCanvas

STUB = 0.005
# Milliseconds that the readings of the sentence before may stay while new ones are found.
PATIENCE = 300


class LensBars(PointedCanvas):
    """One line per state; where they do not all fit, one per layer.

    readingClicked(site, decoder row).
    """

    # what a right click asks about
    term = "logit_lens"
    readingClicked = Signal(str, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._depth: Depth | None = None
        self._count = self._brief = 0
        self._empty = ""
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE)
        self._patience.timeout.connect(self._give_up)

    # Setters.

    def set_empty_text(self, text: str) -> None:
        if text != self._empty:
            self._empty = text
            self.update()

    def set_depth(self, depth: Depth | None, waits: bool = False) -> None:
        """waits: the readings are on their way; for a moment the last ones stay on show."""
        if depth is None and waits and self._depth is not None:
            if not self._patience.isActive():
                self._patience.start()
            return
        self._patience.stop()
        if _key(depth) == _key(self._depth):
            return
        self._depth = depth
        self._hovered = None
        self.update()

    def _give_up(self) -> None:
        self.set_depth(None)

    # What can be asked.

    @property
    def depth(self) -> Depth | None:
        return self._depth

    def height_of(self, lines: int) -> int:
        """The height that so many lines take."""
        return round(self._head() + lines * self._line())

    def height_for(self, states: int, brief: int, room: float) -> int:
        """The height that fits what is shown of so many states, or layers, in so much room."""
        most = max(self.lines_in(room), 3)
        if states <= most:
            return self.height_of(states)
        return self.height_of(-(-brief // -(-brief // most)))

    def lines_in(self, height: float) -> int:
        """How many lines so much height has room for."""
        return int((height - self._head() + 0.5) / self._line())

    def shown(self) -> list[tuple[int, str]]:
        """Number and title of the states on show, from the top line down."""
        if self._depth is None:
            return []
        fit = max(self.lines_in(self.height()), 1)
        every = list(enumerate(self._depth.titles))
        if len(every) <= fit:
            return every
        brief = list(self._depth.brief)
        if len(brief) <= fit:
            return brief
        # the last states matter most: the steps are counted from the end
        step = -(-len(brief) // fit)
        return brief[::-1][::step][::-1]

    def line_rect(self, line: int) -> QRectF:
        """Where a line is painted, from the top down."""
        top = self.snap(self._head() + line * self._line())
        return QRectF(0, top, self.width(), self._line())

    def reading_at(self, pos: QPointF) -> Reading | None:
        number = self.thing_at(pos)
        return None if number is None or self._depth is None else self._depth.readings[number]

    def thing_at(self, pos: QPointF) -> int | None:
        line = int((pos.y() - self._head()) / self._line()) if pos.y() >= self._head() else -1
        shown = self.shown()
        return shown[line][0] if 0 <= line < len(shown) else None

    # Places.

    def sizeHint(self) -> QSize:
        return QSize(round(18 * self.em), self.height_of(7))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(10 * self.em), self.height_of(3))

    def _line(self) -> float:
        return 1.5 * self.em

    def _head(self) -> float:
        return 1.4 * self.em

    # Painting.

    def paint(self, painter: QPainter) -> None:
        depth, em, width = self._depth, self.em, float(self.width())
        shown = self.shown()
        if depth is None or not shown:
            room = QRectF(self.rect()).adjusted(0, self._head(), 0, 0)
            write(painter, room, self._empty, self.face(), self.theme.muted, CENTRE)
            return
        readings = [depth.readings[number] for number, _ in shown]
        small, face, digits = self.face(fonts.SMALL), self.face(), self.face(0.94)
        texts = [figures.percent_column(reading.probability) for reading in readings]
        ranks = [_rank_text(reading, width > 24 * em) for reading in readings]
        inset = 0.35 * em
        label = min(max(small.width(title) for _, title in shown) + 0.6 * em, 0.34 * width)
        token = max(face.width(reading.token) for reading in readings) + 0.5 * em
        token = min(max(token, 2.6 * em), 6.5 * em, 0.22 * width)
        share = max(max(digits.width(text) for text in texts), 3.2 * em)
        rank = min(max(small.width(text) for text in ranks) + 0.9 * em, 0.27 * width)
        start = inset + label + token
        bar = max(width - start - share - rank - inset, 0.0)
        head = self._head()
        faint, muted = self.face(0.72), self.theme.muted
        write(
            painter, QRectF(start - token, 0, token + bar, head), depth.top_head, faint, muted, LEFT
        )
        place = QRectF(width - rank - share - inset, 0, rank + share, head)
        write(painter, place, depth.rank_head, faint, muted, RIGHT)
        for line, ((number, title), reading) in enumerate(zip(shown, readings)):
            whole = self.line_rect(line)
            top = whole.top()
            settled = reading.final_rank == 1
            current = self._stands_at(number, line, shown)
            if settled:
                box(painter, whole.adjusted(0, 1, 0, -1), self.theme.output_tint, None, 0.3 * em)
            elif number == self._hovered:
                box(painter, whole.adjusted(0, 1, 0, -1), self.theme.chip, None, 0.3 * em)
            if number == self._hovered and settled:
                box(painter, whole.adjusted(0, 1, 0, -1), None, self.theme.output, 0.3 * em)
            ink = self.theme.text if settled or current else muted
            name = QRectF(inset, top, label - 0.3 * em, whole.height())
            write(painter, name, title, self.face(fonts.SMALL, bold=current), ink, LEFT)
            where = QRectF(inset + label, top, token - 0.4 * em, whole.height())
            write(painter, where, reading.token, self.face(bold=settled), self.theme.text, LEFT)
            self._draw_bar(painter, reading, QRectF(start, top, bar, whole.height()))
            figure = QRectF(start + bar, top, share, whole.height())
            write(painter, figure, texts[line], digits, self.theme.text, RIGHT)
            end = QRectF(width - rank - inset, top, rank, whole.height())
            write(painter, end, ranks[line], small, muted, RIGHT)

    def _stands_at(self, number: int, line: int, shown: list[tuple[int, str]]) -> bool:
        """Whether the cursor works on this state, or on one left out before it."""
        current = None if self._depth is None else self._depth.current
        if current is None:
            return False
        before = shown[line - 1][0] if line else -1
        return before < current <= number

    def _draw_bar(self, painter: QPainter, reading: Reading, room: QRectF) -> None:
        full = room.width() - 0.6 * self.em
        share = min(max(reading.probability, 0.0), 1.0)
        if share <= 0 or full < self.em:
            return
        told = share >= STUB
        width = max(full * share, 2.0) if told else 0.3 * self.em
        top = self.snap(room.center().y() - 0.36 * self.em)
        colour = self.theme.output if reading.final_rank == 1 else self.theme.decoder
        rect = QRectF(room.left(), top, width, 0.72 * self.em)
        radius = min(0.22 * self.em, width / 2)
        box(painter, rect, colour if told else self.theme.bar_off, None, radius)

    # The pointer.

    def mousePressEvent(self, event: QMouseEvent) -> None:
        reading = self.reading_at(event.position())
        if reading is not None and event.button() == Qt.MouseButton.LeftButton:
            self.readingClicked.emit(reading.site, reading.row)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            reading = self.reading_at(QPointF(event.pos()))
            text = "" if reading is None else "\n".join(reading.hover)
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)


def _rank_text(reading: Reading, wide: bool) -> str:
    """ "#3 · 12 %": the final token's place, and its probability where it is another's."""
    rank = f"#{reading.final_rank}"
    if not wide or reading.final_rank == 1:
        return rank
    return f"{rank} · {figures.percent_column(reading.final_probability)}"


def _key(depth: Depth | None) -> tuple[object, ...] | None:
    """What decides the picture."""
    if depth is None:
        return None
    return (depth.readings, depth.titles, depth.brief, depth.current, depth.top_head)
