"""The likeliest tokens as a list: token, bar, and the numbers that the tape has of it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from visualizer.lenses.numbers import exact, short
from visualizer.lenses.ranking import Ranking
from visualizer.widgets import figures
from visualizer.widgets.canvas import LEFT, RIGHT, Canvas, box, write
from visualizer.widgets.glossary_link import Links

# What the three columns of numbers are.
TERMS = ("logit", "log_probability", "probability")

# What lies behind these is next to impossible, and each takes time to write.
MOST_TOKENS = 20
# So many lines there is always room for.
FEWEST_LINES = 4


class TokenRanks(Canvas):
    """Fills its height, then begins another column; the bars are of the record at the cursor.

    tokenHovered(id) and left(); tokenClicked(id).
    """

    # what a right click asks about
    term = "probability"
    tokenHovered = Signal(int)
    tokenClicked = Signal(int)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.links = Links(self)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._ranking: Ranking | None = None
        self._names = ("", "", "")
        self._hovered: int | None = None

    def set_names(self, logit: str, log_prob: str, probability: str) -> None:
        """The headings of the three numbers."""
        self._names = (logit, log_prob, probability)
        self.update()

    def set_ranking(self, ranking: Ranking | None) -> None:
        self._ranking = ranking
        self._hovered = None
        self.update()

    @property
    def ranking(self) -> Ranking | None:
        return self._ranking

    def sizeHint(self) -> QSize:
        return QSize(round(40 * self.em), round(14 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(16 * self.em), round(self._head() + FEWEST_LINES * self._line() + 1))

    # Places.

    def _line(self) -> float:
        return 1.55 * self.em

    def _head(self) -> float:
        return 3.0 * self.em

    def _columns(self) -> int:
        return max(1, min(2, int(self.width() / (29 * self.em))))

    def _per_column(self) -> int:
        fit = max(int((self.height() - self._head()) / self._line()), 1)
        return min(fit, MOST_TOKENS // self._columns())

    def shown(self) -> int:
        """How many tokens there is room for."""
        if self._ranking is None:
            return 0
        return min(len(self._ranking.labels), self._columns() * self._per_column(), MOST_TOKENS)

    def line_rect(self, place: int) -> QRectF:
        """Where the token at this place of the list is drawn."""
        column, line = divmod(place, self._per_column())
        gap = 2.2 * self.em
        wide = (self.width() - gap * (self._columns() - 1)) / self._columns()
        top = self._head() + line * self._line()
        # both edges on pixels, so that neighbours meet and do not overlap
        start, end = self.snap(top), self.snap(top + self._line())
        return QRectF(column * (wide + gap), start, wide, end - start)

    def place_at(self, pos: QPointF) -> int | None:
        """The place in the list at a logical position."""
        return next((p for p in range(self.shown()) if self.line_rect(p).contains(pos)), None)

    # Painting.

    def paint(self, painter: QPainter) -> None:
        ranking = self._ranking
        if ranking is None:
            return
        theme, em = self.theme, self.em
        title = QRectF(0, 0, self.width(), 1.5 * em)
        write(painter, title, ranking.title, self.face(bold=True), theme.text, LEFT)
        self.links.clear()
        self.links.add(title, ranking.title, self.face(bold=True))
        shown = self.shown()
        face = self.face()
        label = max((face.width(text) for text in ranking.labels[:shown]), default=0.0)
        label = min(max(label + 0.8 * em, 3.5 * em), 8 * em)
        for column in range(-(-shown // self._per_column())):
            self._draw_head(painter, self.line_rect(column * self._per_column()))
        for place in range(shown):
            self._draw_token(painter, ranking, place, label)
        self.links.underline(painter)

    def _numbers(self, line: QRectF) -> list[QRectF]:
        """Where the three numbers of a line stand."""
        widths = (4.2 * self.em, 5.6 * self.em, 7.0 * self.em)
        right, found = line.right() - 0.4 * self.em, []
        for width in reversed(widths):
            found.append(QRectF(right - width, line.top(), width, line.height()))
            right -= width
        return found[::-1]

    def _draw_head(self, painter: QPainter, first: QRectF) -> None:
        rect = QRectF(first.left(), first.top() - 1.35 * self.em, first.width(), 1.2 * self.em)
        face = self.face(0.76)
        for name, term, place in zip(self._names, TERMS, self._numbers(rect)):
            write(painter, place, name, face, self.theme.muted, RIGHT)
            self.links.add(place, name, face, term, right=True)

    def _draw_token(self, painter: QPainter, ranking: Ranking, place: int, label: float) -> None:
        theme, em, line = self.theme, self.em, self.line_rect(place)
        ground = line.adjusted(0, 1, 0, -1)
        if place == ranking.chosen:
            box(painter, ground, theme.output_tint, None, 0.3 * em)
        elif place == self._hovered:
            box(painter, ground, theme.chip, None, 0.3 * em)
        if place == ranking.marked:
            box(painter, ground, None, theme.accent, 0.3 * em, 1.5)
        name = QRectF(line.left() + 0.4 * em, line.top(), label, line.height())
        face = self.face(bold=place == ranking.chosen)
        write(painter, name, ranking.labels[place], face, theme.text, LEFT)
        numbers = self._numbers(line)
        start, end = name.right(), numbers[0].left() - 0.2 * em
        self._draw_bar(
            painter, ranking, place, QRectF(start, line.top(), end - start, line.height())
        )
        texts = (
            short(ranking.logits[place], 2),
            short(ranking.log_probs[place], 2),
            figures.percent(float(ranking.probabilities[place])),
        )
        small = self.face(0.92)
        current = 0 if ranking.kind == "logits" else 1
        for number, (text, rect) in enumerate(zip(texts, numbers)):
            ink = theme.text if number == current else theme.muted
            write(painter, rect, text, small, ink, RIGHT)

    def _draw_bar(self, painter: QPainter, ranking: Ranking, place: int, room: QRectF) -> None:
        """Logits from 0 to either side; of a log-probability the probability."""
        if room.width() < 2 * self.em:
            return
        theme, height = self.theme, 0.7 * self.em
        top = self.snap(room.center().y() - height / 2)
        if ranking.kind == "log_probs":
            share = min(max(float(ranking.probabilities[place]), 0.0), 1.0)
            bar = QRectF(room.left(), top, max(room.width() * share, 1.5), height)
            painter.fillRect(bar, QColor(theme.output))
            return
        values = ranking.logits[: self.shown()]
        low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
        scale = room.width() / ((high - low) or 1.0)
        zero = room.left() - low * scale
        value = float(ranking.logits[place]) * scale
        bar = QRectF(min(zero, zero + value), top, max(abs(value), 1.0), height)
        colour = theme.diverging[-2] if value >= 0 else theme.diverging[1]
        painter.fillRect(bar, QColor(colour))

    # The pointer.

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.place_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)

    def _hover(self, place: int | None) -> None:
        if place == self._hovered or self._ranking is None:
            return
        self._hovered = place
        self.setCursor(
            Qt.CursorShape.ArrowCursor if place is None else Qt.CursorShape.PointingHandCursor
        )
        self.update()
        if place is None:
            self.left.emit()
        else:
            self.tokenHovered.emit(self._ranking.ids[place])

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self.place_at(event.position())
        if place is not None and event.button() == Qt.MouseButton.LeftButton:
            assert self._ranking is not None
            self.tokenClicked.emit(self._ranking.ids[place])

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self.place_at(QPointF(event.pos()))
            text = ""
            if place is not None and self._ranking is not None:
                r = self._ranking
                numbers = (r.logits[place], r.log_probs[place], r.probabilities[place])
                rows = [f"{n}  {exact(v)}" for n, v in zip(self._names, numbers)]
                text = "\n".join([r.labels[place], *rows])
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)
