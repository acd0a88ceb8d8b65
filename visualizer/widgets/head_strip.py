"""All heads of one attention at a glance: a column of thumbnails."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QImage, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from visualizer import fonts
from visualizer.lenses.blocks import spans
from visualizer.lenses.picture import Matrix
from visualizer.theme import Theme
from visualizer.widgets.canvas import LEFT, NO_PEN, box, ink, write
from visualizer.widgets.heatmap_cells import hatch_over, reduced, thumbnail
from visualizer.widgets.pointing import PointedCanvas


class HeadStrip(PointedCanvas):
    """Thumbnails with a caption each, the chosen one framed; headChosen(head) on a click.

    One column, two where one would make them too small; beyond that the wheel scrolls.
    """

    # what a right click asks about
    term = "head"
    headChosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self._heads: tuple[Matrix, ...] = ()
        self._captions: tuple[str, ...] = ()
        self._chosen = 0
        self._hovered: int | None = None
        self._scroll = 0.0
        self._pictures: dict[int, tuple[QRectF, Matrix, QImage]] = {}
        self._hatches: dict[int, tuple[tuple[int, int], QImage | None]] = {}
        self._rects: list[QRectF] | None = None

    def set_heads(self, heads: tuple[Matrix, ...], captions: tuple[str, ...], chosen: int) -> None:
        moved = len(heads) != len(self._heads) or chosen != self._chosen
        if not _same_numbers(heads, self._heads):
            self._forget()
        self._heads, self._captions, self._chosen = heads, captions, chosen
        if moved:
            self._rects = None
            self._reveal()
        self.update()

    def set_theme(self, theme: Theme) -> None:
        self._forget()
        super().set_theme(theme)

    def _forget(self) -> None:
        self._pictures.clear()
        self._hatches.clear()

    def sizeHint(self) -> QSize:
        return QSize(round(self._wide()), round(24 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(self._wide()), round(8 * self.em))

    def _wide(self) -> float:
        """Wider in a large window, as far as the cards are high enough for wider pictures."""
        most = min(1.15 * self.height() / max(len(self._heads), 1), 0.085 * self.window().width())
        return min(max(most, 9.2 * self.em), 15 * self.em)

    def rect_of(self, head: int) -> QRectF:
        """A head's card, in logical pixels."""
        return self._places()[head].translated(0, -self._scroll)

    # Places.

    def relayout(self) -> None:
        if round(self._wide()) != self.width():
            self.updateGeometry()
        self._rects = None
        self._reveal()

    def _places(self) -> list[QRectF]:
        if self._rects is None:
            self._rects = self._arrange()
        return self._rects

    def _arrange(self) -> list[QRectF]:
        count, em = len(self._heads), self.em
        if not count:
            return []
        gap = 0.6 * em
        least, most = 5.2 * em, 0.92 * self.width() + 1.3 * em
        columns = 1
        height = (self.height() + gap) / count - gap
        if height < least:
            columns, gap = 2, 0.4 * em
            least = 4.6 * em
            height = (self.height() + gap) / math.ceil(count / 2) - gap
        height = max(min(height, most / columns + (columns - 1) * em), least)
        width = (self.width() - gap * (columns - 1)) / columns
        return [
            QRectF(
                self.snap(head % columns * (width + gap)),
                self.snap(head // columns * (height + gap)),
                self.snap(width),
                self.snap(height),
            )
            for head in range(count)
        ]

    def _reach(self) -> float:
        """How far it can be scrolled."""
        places = self._places()
        return max(places[-1].bottom() - self.height(), 0.0) if places else 0.0

    def _reveal(self) -> None:
        places = self._places()
        if self._chosen < len(places):
            rect = places[self._chosen]
            self._scroll = min(max(self._scroll, rect.bottom() - self.height()), rect.top())
        self._scroll = min(max(self._scroll, 0.0), self._reach())

    # Painting.

    def paint(self, painter: QPainter) -> None:
        places = [place.translated(0, -self._scroll) for place in self._places()]
        shown = [
            (head, rect)
            for head, rect in enumerate(places)
            if rect.bottom() >= 0 and rect.top() <= self.height()
        ]
        key = (self._captions, len(places), self._chosen, self._hovered, self._scroll)
        self.layer(painter, "cards", key, lambda p: [self._draw_card(p, *it) for it in shown])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for head, rect in shown:
            place, matrix, image = self._picture(head, rect)
            painter.drawImage(place, image)
            self._draw_hatch(painter, head, matrix, place)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        self._draw_scroll_mark(painter)

    def picture_rect(self, head: int) -> QRectF:
        """Where a head's cells lie, in logical pixels."""
        return self._picture(head, self.rect_of(head))[0]

    def _picture(self, head: int, card: QRectF) -> tuple[QRectF, Matrix, QImage]:
        """A head's place, its cells as far as there are pixels for them, and their picture."""
        em, shape = self.em, self._heads[head].values.shape
        room = card.adjusted(0.5 * em, 1.6 * em, -0.5 * em, -0.5 * em)
        place = self._picture_rect(room, *shape)
        kept = self._pictures.get(head)
        if kept is None or kept[0] != place:
            ratio = self.devicePixelRatioF()
            pixels = max(int(place.height() * ratio), 1), max(int(place.width() * ratio), 1)
            shown = reduced(self._heads[head], *spans(shape, pixels))
            kept = self._pictures[head] = (place, shown, thumbnail(shown, self.theme))
        return kept

    def _draw_hatch(self, painter: QPainter, head: int, matrix: Matrix, place: QRectF) -> None:
        """Over masked cells, whose plain colour is too close to that of small numbers."""
        ratio = self.devicePixelRatioF()
        size = round(place.width() * ratio), round(place.height() * ratio)
        kept = self._hatches.get(head)
        if kept is None or kept[0] != size:
            hatch = hatch_over(matrix, self.theme, *size, ratio)
            kept = self._hatches[head] = (size, hatch)
        if kept[1] is not None:
            painter.drawImage(place, kept[1])

    def _draw_card(self, painter: QPainter, head: int, rect: QRectF) -> None:
        theme, em = self.theme, self.em
        chosen = head == self._chosen
        border = theme.accent if chosen else theme.border
        if head == self._hovered and not chosen:
            border = theme.border_strong
        box(painter, rect, theme.surface, border, 0.35 * em, 2.0 if chosen else 1.0)
        line = 1.45 * em
        caption = QRectF(rect.left() + 0.5 * em, rect.top() + 0.15 * em, rect.width() - em, line)
        text = self._captions[head] if head < len(self._captions) else ""
        first, more, _ = text.partition(" · ")
        if more and self.face(fonts.SMALL).width(text) > caption.width() + 0.5:
            # what more there is to say of the head is a dot then, and stands in the tip
            text = first
            painter.setPen(NO_PEN)
            painter.setBrush(ink(theme.accent))
            dot = 0.42 * em
            centre = caption.center().y() - dot / 2
            painter.drawEllipse(QRectF(caption.right() - dot, centre, dot, dot))
        colour = theme.text if chosen else theme.muted
        write(painter, caption, text, self.face(fonts.SMALL), colour, LEFT)

    def _picture_rect(self, room: QRectF, rows: int, columns: int) -> QRectF:
        """As large as fits; cells no more than twice as wide as high, nor the other way."""
        cell_w, cell_h = room.width() / columns, room.height() / rows
        cell_w, cell_h = min(cell_w, 1.6 * cell_h), min(cell_h, 1.6 * cell_w)
        width, height = self._whole(cell_w, columns), self._whole(cell_h, rows)
        left = self.snap(room.left() + (room.width() - width) / 2)
        return QRectF(left, self.snap(room.top()), width, height)

    def _whole(self, cell: float, count: int) -> float:
        """All cells equally large where they have some device pixels to lose."""
        ratio = self.devicePixelRatioF()
        size = cell * ratio
        return (int(size) if size >= 5 else size) * count / ratio

    def _draw_scroll_mark(self, painter: QPainter) -> None:
        reach = self._reach()
        if reach <= 0:
            return
        whole = self.height() + reach
        size = max(self.height() * self.height() / whole, 1.5 * self.em)
        top = (self.height() - size) * self._scroll / reach
        mark = QRectF(self.width() - 0.22 * self.em, top, 0.22 * self.em, size)
        box(painter, mark, self.theme.border_strong, None, 0.1 * self.em)

    # The pointer.

    def _head_at(self, pos: object) -> int | None:
        for head, rect in enumerate(self._places()):
            if rect.translated(0, -self._scroll).contains(pos):
                return head
        return None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        head = self._head_at(event.position())
        if head is not None and event.button() == Qt.MouseButton.LeftButton:
            self.headChosen.emit(head)

    def thing_at(self, pos: QPointF) -> int | None:
        return self._head_at(pos)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self._reach() <= 0:
            event.ignore()
            return
        self._scroll -= event.angleDelta().y() / 120 * 3 * self.em
        self._scroll = min(max(self._scroll, 0.0), self._reach())
        self.update()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            head = self._head_at(event.pos())
            known = head is not None and head < len(self._captions)
            QToolTip.showText(event.globalPos(), self._captions[head] if known else "", self)
            return True
        return super().event(event)


def _same_numbers(heads: tuple[Matrix, ...], before: tuple[Matrix, ...]) -> bool:
    """Another head is chosen of the same record: its thumbnails are painted already."""
    return len(heads) == len(before) and all(
        new.owner is not None
        and (new.owner, new.source, new.values.shape, new.low, new.high)
        == (old.owner, old.source, old.values.shape, old.low, old.high)
        for new, old in zip(heads, before, strict=True)
    )
