"""Where you are: the model as two columns of boxes, computed from the bottom up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from visualizer.widgets.canvas import Canvas, Face, box, write
from visualizer.widgets.glossary_link import first_term


@dataclass(frozen=True)
class Block:
    """One box. side: its column and colour ("output" stands on the decoder's column).

    group: label of the layer that frames it; "" for a box of its own (embed, logits)
    """

    id: str
    label: str
    side: Literal["encoder", "decoder", "output"]
    group: str = ""
    state: Literal["done", "current", "todo"] = "todo"


@dataclass
class _Item:
    """A box of its own, or a layer's frame with its boxes, bottom first."""

    group: str
    blocks: list[Block] = field(default_factory=list)
    folded: bool = False

    @property
    def current(self) -> bool:
        return any(b.state == "current" for b in self.blocks)


@dataclass
class _Place:
    rect: QRectF
    kind: Literal["frame", "folded", "block", "lone"]
    block: Block
    lines: tuple[str, ...] = ()
    head: float = 0.0


class ModelMap(Canvas):
    """blockChosen(id) on a click.

    What is too high is first made denser, then the layers without the cursor fold into one line
    each (a click goes to their first block), and what is still too high scrolls.
    """

    blockChosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self._blocks: tuple[Block, ...] = ()
        self._captions = ("", "")
        self._arranged: list[_Place] | None = None
        self._broken: dict[tuple[str, bool, bool], tuple[str, ...]] = {}
        self._folded = False
        self._total = 0.0
        self._scroll = 0.0
        self._hovered: str | None = None

    def set_blocks(self, blocks: tuple[Block, ...]) -> None:
        """blocks: in the order in which they are computed."""
        if blocks == self._blocks:
            return
        same = _structure(blocks) == _structure(self._blocks)
        self._blocks = blocks
        if not same:
            self._folded = False
        if same and not self._folded and self._arranged is not None:
            # Only the cursor moved: everything stays where it is.
            by_id = {b.id: b for b in blocks}
            for place in self._arranged:
                place.block = by_id[place.block.id]
        else:
            self._arranged = None
        self._reveal()
        self.update()

    def set_captions(self, encoder: str, decoder: str) -> None:
        """Small text under the two columns: "source · 8 tokens", "target · step 6"."""
        if self._captions == (encoder, decoder):
            return
        if any(self._captions) != any((encoder, decoder)):
            self._arranged = None
        self._captions = (encoder, decoder)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(15 * self.em), round(40 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(12 * self.em), round(12 * self.em))

    def rect_of(self, block_id: str) -> QRectF:
        """Where a block, or the folded layer that holds it, is drawn."""
        for place in self._places():
            if place.kind != "frame" and place.block.id == block_id:
                return place.rect.translated(0, -self._scroll)
        return QRectF()

    # Places.

    def relayout(self) -> None:
        self._arranged = None
        self._folded = False
        self._broken.clear()
        self._reveal()

    def _places(self) -> list[_Place]:
        if self._arranged is None:
            self._arranged = self._arrange()
        return self._arranged

    def _arrange(self) -> list[_Place]:
        columns = [self._items(("encoder",)), self._items(("decoder", "output"))]
        foot = 1.6 * self.em if any(self._captions) else 0.0
        room = self.height() - foot
        # What had to fold at this size has to again: the long way is not tried a second time.
        for folded in (True,) if self._folded else (False, True):
            self._folded = folded
            for column in columns:
                for item in column:
                    item.folded = folded and bool(item.group) and not item.current
            for step in range(10):
                scale = 1.0 - 0.04 * step
                self._total = max(self._column_height(c, scale) for c in columns)
                if self._total <= room:
                    return self._place(columns, scale)
        return self._place(columns, scale)

    def _items(self, sides: tuple[str, ...]) -> list[_Item]:
        items: list[_Item] = []
        for block in self._blocks:
            if block.side not in sides:
                continue
            if not block.group or not items or items[-1].group != block.group:
                items.append(_Item(block.group))
            items[-1].blocks.append(block)
        return items

    def _width(self) -> float:
        return (self.width() - 0.8 * self.em) / 2

    def _column_height(self, column: list[_Item], scale: float) -> float:
        gap = 0.55 * self.em * scale
        return sum(self._item_height(i, scale) + gap for i in column) - (gap if column else 0)

    def _item_height(self, item: _Item, scale: float) -> float:
        em = self.em
        if item.folded:
            return 1.75 * em * scale
        if not item.group:
            return self._block_height(item.blocks[0], scale)
        inner = sum(self._block_height(b, scale) + 0.32 * em * scale for b in item.blocks)
        return inner + self._head(scale) + 0.15 * em * scale

    def _head(self, scale: float) -> float:
        """Room for a layer's label above its boxes."""
        return max(1.45 * scale, 1.2) * self.em

    def _block_height(self, block: Block, scale: float) -> float:
        lines = len(self._lines(block, scale))
        return (1.8 if lines == 1 else 2.85) * self.em * scale

    def _lines(self, block: Block, scale: float) -> tuple[str, ...]:
        """The label in one line, or two where it breaks well and there is height for it."""
        key = (block.label, bool(block.group), scale < 0.8)
        found = self._broken.get(key)
        if found is None:
            found = self._broken[key] = self._break(*key)
        return found

    def _break(self, label: str, framed: bool, dense: bool) -> tuple[str, ...]:
        face = self.face(0.78)
        room = self._width() - (1.0 if framed else 0.3) * self.em
        widest = face.width(label)
        best: tuple[str, ...] = (label,)
        if widest <= room or dense:
            return best
        for at, sign in enumerate(label[:-1]):
            if sign in " -":
                parts = (label[: at + 1].strip(), label[at + 1 :].strip())
                wide = max(face.width(p) for p in parts)
                if wide < widest:
                    best, widest = parts, wide
        return best

    def _place(self, columns: list[list[_Item]], scale: float) -> list[_Place]:
        em, width = self.em, self._width()
        places: list[_Place] = []
        for side, column in enumerate(columns):
            x = self.snap(side * (width + 0.8 * em))
            y = self._total
            for item in column:
                height = self._item_height(item, scale)
                y -= height
                rect = QRectF(x, self.snap(y), self.snap(width), self.snap(height))
                if item.folded:
                    lines = (item.group,)
                    places.append(_Place(rect, "folded", item.blocks[0], lines))
                elif item.group:
                    places.append(
                        _Place(rect, "frame", item.blocks[0], (item.group,), self._head(scale))
                    )
                    places += self._inside(item, rect, scale)
                else:
                    lone = item.blocks[0]
                    places.append(_Place(rect, "lone", lone, self._lines(lone, scale)))
                y -= 0.55 * em * scale
        return places

    def _inside(self, item: _Item, frame: QRectF, scale: float) -> list[_Place]:
        em = self.em
        places, y = [], frame.bottom() - 0.15 * em * scale
        for block in item.blocks:
            y -= 0.32 * em * scale
            height = self._block_height(block, scale)
            y -= height
            rect = QRectF(
                frame.left() + 0.35 * em, self.snap(y), frame.width() - 0.7 * em, self.snap(height)
            )
            places.append(_Place(rect, "block", block, self._lines(block, scale)))
        return places

    def _reach(self) -> float:
        self._places()
        foot = 1.6 * self.em if any(self._captions) else 0.0
        return max(self._total + foot - self.height(), 0.0)

    def _reveal(self) -> None:
        for place in self._places():
            if place.kind in ("block", "lone") and place.block.state == "current":
                rect, margin = place.rect, 2 * self.em
                self._scroll = max(self._scroll, rect.bottom() + margin - self.height())
                self._scroll = min(self._scroll, rect.top() - margin)
        self._scroll = min(max(self._scroll, 0.0), self._reach())

    # Painting.

    def paint(self, painter: QPainter) -> None:
        # typing changes the numbers of a run far more often than the place in the model
        key = (self._blocks, any(self._captions), self._hovered, self._scroll)
        self.layer(painter, "map", key, self._draw_boxes)
        painter.translate(0, -self._scroll)
        small, width = self.face(0.78), self._width()
        for side, caption in enumerate(self._captions):
            x = side * (width + 0.8 * self.em)
            rect = QRectF(x, self._total + 0.2 * self.em, width, 1.4 * self.em)
            if small.width(caption) > width + 0.5:
                # which side it is says the box above
                caption = caption.rpartition(" · ")[2]
            write(painter, rect, caption, small, self.theme.muted)

    def _draw_boxes(self, painter: QPainter) -> None:
        painter.translate(0, -self._scroll)
        for place in self._places():
            self._draw(painter, place)

    def _draw(self, painter: QPainter, place: _Place) -> None:
        theme, em, block, rect = self.theme, self.em, place.block, place.rect
        side, current = block.side, block.state == "current"
        hovered = place.kind != "frame" and self._hovered == block.id
        radius = 0.4 * em
        if place.kind == "frame":
            box(painter, rect, theme.sunken, theme.border, 0.55 * em)
            head = QRectF(rect.left(), rect.top(), rect.width(), place.head)
            write(painter, head, place.lines[0], self.face(0.78), theme.muted)
            return
        fill, border, ink = theme.surface, theme.border, theme.text
        if current and place.kind != "folded":
            fill, border, ink = theme.accent_fill, None, theme.on_accent
            halo = rect.adjusted(-0.18 * em, -0.18 * em, 0.18 * em, 0.18 * em)
            box(painter, halo, theme.accent_soft, None, radius + 0.18 * em)
        elif place.kind == "lone":
            fill, border, ink = getattr(theme, f"{side}_fill"), None, getattr(theme, f"on_{side}")
        elif place.kind == "folded":
            done = block.state == "done"
            fill = getattr(theme, f"{side}_tint") if done else theme.sunken
        elif block.state == "done":
            fill, border = getattr(theme, f"{side}_tint"), getattr(theme, f"{side}_soft")
        if hovered:
            border = theme.text if current or place.kind == "lone" else theme.border_strong
        box(painter, rect, fill, border, radius)
        inner = rect.adjusted(0.15 * em, 0, -0.15 * em, 0)
        face = self._fitting(place.lines, inner, current and place.kind != "folded")
        step = 1.15 * em
        top = inner.center().y() - step * len(place.lines) / 2
        for index, line in enumerate(place.lines):
            text_rect = QRectF(inner.left(), top + index * step, inner.width(), step)
            write(painter, text_rect, line, face, ink)

    def _fitting(self, lines: tuple[str, ...], room: QRectF, bold: bool) -> Face:
        """The largest type in which the lines fit; bold only where that costs no size."""
        sizes = (0.84, 0.78, 0.72) if room.height() >= 1.6 * self.em else (0.78, 0.72)
        for size in sizes:
            for face in (self.face(size, bold=bold), self.face(size)):
                if max(face.width(line) for line in lines) <= room.width():
                    return face
        return self.face(sizes[-1])

    # The pointer.

    def block_at(self, pos: QPointF) -> _Place | None:
        pos = pos + QPointF(0, self._scroll)
        for place in self._places():
            if place.kind != "frame" and place.rect.contains(pos):
                return place
        return None

    def term_at(self, pos: QPointF) -> str:
        """What a right click there asks about: the sublayer."""
        place = self.block_at(pos)
        return "" if place is None else first_term(place.block.label)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self.block_at(event.position())
        if place is not None and event.button() == Qt.MouseButton.LeftButton:
            self.blockChosen.emit(place.block.id)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = self.block_at(event.position())
        hovered = place.block.id if place is not None else None
        if hovered != self._hovered:
            self._hovered = hovered
            shapes = Qt.CursorShape
            self.setCursor(shapes.ArrowCursor if place is None else shapes.PointingHandCursor)
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = None
        self.update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self._reach() <= 0:
            event.ignore()
            return
        moved = self._scroll - event.angleDelta().y() / 120 * 3 * self.em
        self._scroll = min(max(moved, 0.0), self._reach())
        self.update()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self.block_at(QPointF(event.pos()))
            text = ""
            if place is not None:
                parts = (place.block.group, "" if place.kind == "folded" else place.block.label)
                text = " · ".join(p for p in parts if p)
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)


def _structure(blocks: tuple[Block, ...]) -> list[tuple[str, str, str, str]]:
    return [(b.id, b.label, b.side, b.group) for b in blocks]
