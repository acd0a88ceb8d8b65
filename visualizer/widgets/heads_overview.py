"""Every head of every layer as a small picture."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.lenses.heads_overview import (
    Head,
    HeadGroup,
    HeadsOverview,
    fact_part,
    fact_text,
)
from visualizer.theme import Theme
from visualizer.widgets.canvas import LEFT, NO_PEN, RIGHT, Canvas, box, write
from visualizer.widgets.heads_layout import HeadPlaces, arrange_heads
from visualizer.widgets.heatmap_cells import as_image, colour_indices

Array = np.ndarray[Any, Any]
COLOURS = {"encoder": "encoder", "cross": "accent", "decoder": "decoder"}
TINY = 0.7


class HeadThumbs:
    """The pictures of one attention's heads: uint8 places in the palette, side by side.

    rows: where each line of pixels ends, in rows of the record
    """

    def __init__(self, group: HeadGroup, width: int, height: int) -> None:
        """width, height: of one picture in device pixels; it has no more pixels than cells."""
        count, rows, columns = group.values.shape
        tops, lefts = _blocks(rows, height), _blocks(columns, width)
        self.rows = np.append(tops[1:], rows)
        self.index = colour_indices(_largest(group.values, tops, lefts), 0.0, 1.0)
        hidden = group.hidden
        if hidden is not None:
            # what one may see in part is no masked pixel
            open_cells = _largest(~hidden[None], tops, lefts)
            hidden = ~open_cells[0]
        self.hidden = hidden
        self.count = count
        self._image: tuple[Theme, QImage] | None = None

    def image(self, theme: Theme) -> QImage:
        """All heads in one picture, left to right."""
        if self._image is None or self._image[0] is not theme:
            pixels = theme.packed_table("sequential")[self.index]
            if self.hidden is not None:
                pixels[:, self.hidden] = np.uint32(0xFF000000 | int(theme.hatch[1:], 16))
            count, height, width = pixels.shape
            whole = pixels.transpose(1, 0, 2).reshape(height, count * width)
            self._image = (theme, as_image(whole))
        return self._image[1]

    def part(self, head: int, reached: int) -> QRectF:
        """A head's pixels in the image, as far as their rows are on show."""
        width = self.index.shape[2]
        lines = int(np.searchsorted(self.rows, reached, side="right"))
        return QRectF(head * width, 0, width, lines)


class HeadsOverviewCanvas(Canvas):
    """headHovered(site, head) and left(); headClicked(site, head)."""

    # what a right click asks about
    term = "attention_weights"
    headHovered = Signal(str, int)
    left = Signal()
    headClicked = Signal(str, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.set_ground("surface")
        self._whole: HeadsOverview | None = None
        self._places: HeadPlaces | None = None
        self._thumbs: dict[str, tuple[tuple[int, int], HeadThumbs]] = {}
        self._kept: tuple[Hashable, QPixmap] | None = None
        self._words = ("", "")
        self._hovered: Head | None = None

    def set_words(self, layer: str, guided: str) -> None:
        """layer: "layer", above the layers' numbers; guided: beside a guided head's number."""
        self._words = (layer, guided)
        self._kept = None
        self.update()

    def set_overview(self, whole: HeadsOverview | None) -> None:
        before, self._whole = self._whole, whole
        if whole is None or before is None or whole.run is not before.run:
            self._places, self._hovered = None, None
            self._thumbs.clear()
        if before is None or whole is None or self._key(whole) != self._key(before):
            self._kept = None
        self.update()

    @property
    def overview(self) -> HeadsOverview | None:
        return self._whole

    @property
    def hovered(self) -> Head | None:
        """The head under the pointer."""
        return self._hovered

    def sizeHint(self) -> QSize:
        return QSize(round(40 * self.em), round(30 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(16 * self.em), round(10 * self.em))

    # Places.

    def relayout(self) -> None:
        self._places = self._kept = None

    def places(self) -> HeadPlaces:
        assert self._whole is not None
        if self._places is None:
            self._places = arrange_heads(self, self._whole)
        return self._places

    def picture_rect(self, head: Head) -> QRectF:
        """Where a head's picture is painted."""
        return self.places().pictures[head]

    def thumbs(self, group: HeadGroup) -> HeadThumbs:
        """The pictures of an attention's heads at the size they are painted in."""
        place, ratio = self.picture_rect((group.site, 0)), self.devicePixelRatioF()
        size = round(place.width() * ratio), round(place.height() * ratio)
        kept = self._thumbs.get(group.site)
        if kept is None or kept[0] != size:
            kept = self._thumbs[group.site] = (size, HeadThumbs(group, *size))
        return kept[1]

    # Painting.

    def paint(self, painter: QPainter) -> None:
        whole = self._whole
        if whole is None or not whole.groups:
            return
        painter.drawPixmap(0, 0, self._pictures(whole))
        for head, colour, width in (
            (whole.selected, "accent", 2.0),
            (self._hovered, "text", 1.0),
        ):
            if head is not None and head in self.places().pictures:
                pen = QPen(self.theme.color(colour), width)
                pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
                painter.setPen(pen)
                painter.setBrush(Qt.BrushStyle.NoBrush)
                out = 0.5 + width / 2
                painter.drawRect(self.picture_rect(head).adjusted(-out, -out, out, out))

    def _key(self, whole: HeadsOverview) -> Hashable:
        return (whole.key, whole.titles, whole.guided)

    def _pictures(self, whole: HeadsOverview) -> QPixmap:
        """Everything but the frames, kept until something else is shown."""
        ratio = self.devicePixelRatioF()
        key = (self.width(), self.height(), ratio, self.theme, self.font().key())
        if self._kept is None or self._kept[0] != key:
            pixmap = QPixmap(round(self.width() * ratio), round(self.height() * ratio))
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(self.theme.color("surface"))
            painter = QPainter(pixmap)
            try:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                self._draw(painter, whole)
            finally:
                painter.end()
            self._kept = (key, pixmap)
        return self._kept[1]

    def _draw(self, painter: QPainter, whole: HeadsOverview) -> None:
        places, bold = self.places(), self.face(bold=True)
        for title, rect in zip(whole.titles, places.titles):
            write(painter, rect, title, bold, self.theme.text, LEFT)
        for group in whole.groups:
            self._draw_layer(painter, whole, group, places.layers[group.site])
            thumbs = self.thumbs(group)
            image = thumbs.image(self.theme)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            for head in range(len(group.values)):
                place = places.pictures[group.site, head]
                part = thumbs.part(head, group.reached)
                share = part.height() / thumbs.index.shape[1]
                painter.fillRect(place, self.theme.color("sunken"))
                if part.height():
                    shown = QRectF(place.topLeft(), place.size())
                    shown.setHeight(place.height() * share)
                    painter.drawImage(shown, image, part)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
            for head in range(len(group.values)):
                self._draw_caption(painter, whole, group, head)

    def _draw_layer(
        self, painter: QPainter, whole: HeadsOverview, group: HeadGroup, rect: QRectF
    ) -> None:
        """The layer's number, and above the first the word."""
        small = self.face(fonts.SMALL)
        number = str(group.attention.layer + whole.count_from)
        write(painter, rect, number, small, self.theme.muted, RIGHT)
        if group.attention.layer == 0:
            tiny = self.face(TINY)
            width = max(rect.width(), tiny.width(self._words[0]))
            above = QRectF(rect.right() - width, rect.center().y() - 1.9 * self.em, width, self.em)
            if above.left() >= 0 and rect.height() > 3.4 * self.em:
                write(painter, above, self._words[0], tiny, self.theme.muted, RIGHT)

    def _draw_caption(
        self, painter: QPainter, whole: HeadsOverview, group: HeadGroup, head: int
    ) -> None:
        """Below a picture the chosen fact as a bar and as a number, and the head's number."""
        em, theme = self.em, self.theme
        place, name = self.places().pictures[group.site, head], whole.fact
        value = getattr(group.facts[head], name)
        part = fact_part(name, value, group)
        line = QRectF(place.left(), place.bottom() + 0.18 * em, place.width(), 0.16 * em)
        box(painter, line, theme.bar_off, None, 0.08 * em)
        if part:
            line.setWidth(max(line.width() * part, 1.0))
            box(painter, line, theme.color(COLOURS[group.attention.kind]), None, 0.08 * em)
        tiny = self.face(TINY)
        card = self.places().cards[group.site, head]
        rect = QRectF(card.left(), line.bottom() + 0.1 * em, card.width(), 0.9 * em)
        text = fact_text(value)
        if tiny.width(text) > rect.width() + 1:
            return
        write(painter, rect, text, tiny, theme.text, RIGHT)
        rest = rect.width() - tiny.width(text) - 0.4 * em
        number = str(head + whole.count_from)
        x = rect.left()
        guided = (group.site, head) == whole.guided
        if guided and rest >= 0.6 * em:
            painter.setPen(NO_PEN)
            painter.setBrush(QColor(theme.accent))
            painter.drawEllipse(QRectF(x, rect.center().y() - 0.2 * em, 0.4 * em, 0.4 * em))
            x, rest = x + 0.6 * em, rest - 0.6 * em
        if tiny.width(number) > rest:
            return
        longer = f"{number} {self._words[1]}"
        if guided and tiny.width(longer) <= rest:
            number = longer
        ink = theme.accent if guided else theme.muted
        write(painter, QRectF(x, rect.top(), rest, rect.height()), number, tiny, ink, LEFT)

    # The pointer.

    def head_at(self, pos: Any) -> Head | None:
        return self.places().head_at(pos.x(), pos.y()) if self._whole is not None else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        head = self.head_at(event.position())
        if head == self._hovered:
            return
        self._hovered = head
        shape = Qt.CursorShape.ArrowCursor if head is None else Qt.CursorShape.PointingHandCursor
        self.setCursor(shape)
        self.update()
        if head is None:
            self.left.emit()
        else:
            self.headHovered.emit(*head)

    def leaveEvent(self, event: QEvent) -> None:
        if self._hovered is not None:
            self._hovered = None
            self.update()
            self.left.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        head = self.head_at(event.position())
        if head is not None and event.button() == Qt.MouseButton.LeftButton:
            self.headClicked.emit(*head)


def _blocks(count: int, pixels: int) -> Array:
    """Where each of at most `pixels` blocks of `count` cells begins."""
    shown = max(min(count, pixels), 1)
    return np.arange(shown) * count // shown


def _largest(values: Array, tops: Array, lefts: Array) -> Array:
    """The largest cell of each block.   values: (heads, rows, columns)"""
    if len(tops) < values.shape[1]:
        values = np.maximum.reduceat(values, tops, axis=1)
    return np.maximum.reduceat(values, lefts, axis=2) if len(lefts) < values.shape[2] else values
