"""What every painted widget shares: theme, type scale, sharp edges, retained layers."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
    QShowEvent,
    QStaticText,
)
from PySide6.QtWidgets import QWidget

from visualizer import fonts
from visualizer.drawing import is_drawing
from visualizer.theme import LIGHT, Theme

CENTRE = Qt.AlignmentFlag.AlignCenter
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
NO_PEN = Qt.PenStyle.NoPen

# What Qt sends to a widget that comes or goes under a pointer that rests.
_POINTING = frozenset(
    {
        QEvent.Type.Enter,
        QEvent.Type.Leave,
        QEvent.Type.MouseMove,
        QEvent.Type.HoverEnter,
        QEvent.Type.HoverLeave,
        QEvent.Type.HoverMove,
    }
)

# So many sizes of type a widget keeps at once.
FACES_KEPT = 24

_INKS: dict[str, QColor] = {}


def ink(colour: QColor | str) -> QColor:
    """The colour of a name; the few that themes have are read once."""
    if not isinstance(colour, str):
        return colour
    found = _INKS.get(colour)
    if found is None:
        found = _INKS[colour] = QColor(colour)
    return found


class Recent(dict[str, Any]):
    """What `make` gives for a text, kept while the text is asked for now and then.

    Numbers of the run on show come again with every paint; a line of arithmetic never does, and
    so many of them as half an hour brings would fill tens of megabytes.
    """

    # Characters of all texts together, to which each text adds some for what else it takes.
    ROOM, ALONE = 24_000, 20

    def __init__(self, make: Callable[[str], Any]) -> None:
        super().__init__()
        self._make, self._left = make, self.ROOM
        self._before: dict[str, Any] = {}

    def __missing__(self, text: str) -> Any:
        found = self._before.pop(text, None)
        if found is None:
            found = self._make(text)
        self._left -= self.ALONE + len(text)
        if self._left < 0:
            self._before, self._left = dict(self), self.ROOM
            self.clear()
        self[text] = found
        return found


def _laid_out(font: QFont, text: str) -> QStaticText:
    made = QStaticText(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
    made.prepare(font=font)
    return made


class Face:
    """A font at one size: what it measures and the texts it has laid out, kept for a while."""

    SETS_KEPT = 16

    def __init__(self, font: QFont, metrics: QFontMetricsF) -> None:
        self.font = font
        self.metrics = metrics
        self.ascent = metrics.ascent()
        self.cap_height = metrics.capHeight()
        self._widths = Recent(metrics.horizontalAdvance)
        self._texts = Recent(partial(_laid_out, font))
        self._widest: dict[tuple[str, ...], float] = {}

    def width(self, text: str) -> float:
        width: float = self._widths[text]
        return width

    def widest(self, texts: tuple[str, ...]) -> float:
        """The width of the widest of them, kept for the sets of labels that come again."""
        found = self._widest.get(texts)
        if found is None:
            if len(self._widest) >= self.SETS_KEPT:
                self._widest.clear()
            found = self._widest[texts] = max(map(self.width, texts), default=0.0)
        return found

    def laid_out(self, text: str) -> QStaticText:
        """The text ready to be drawn; its origin is the top of the line, `ascent` above."""
        return self._texts[text]

    def elided(self, text: str, room: float) -> str:
        if self.width(text) <= room + 0.5:
            return text
        return self.metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)


class Canvas(QWidget):
    """A widget that paints itself; distances are multiples of `em`, the font's size in pixels."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme: Theme = LIGHT
        # What the owner has set, and what of it the last paint has brought to the screen.
        self.stamp: tuple[int, ...] = ()
        self.painted: tuple[int, ...] = ()
        # Whether something is to be painted that is not on the screen yet.
        self._stale = True
        self._ground = ""
        self._layers: dict[str, tuple[Hashable, QPixmap | None]] = {}
        self._faces: dict[tuple[float, bool], Face] = {}
        self._em: float | None = None

    # What the owner sets.

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.relayout()
        self.update()

    def set_ground(self, role: str) -> None:
        """Paint this colour of the theme beneath everything, so that nothing behind is painted."""
        self._ground = role
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def describe(self, name: str, description: str = "") -> None:
        """The words a screen reader says."""
        self.setAccessibleName(name)
        self.setAccessibleDescription(description)

    @property
    def is_stale(self) -> bool:
        """Whether something has been set that is not on the screen yet."""
        return self._stale

    # What a widget overrides.

    def relayout(self) -> None:
        """Called when size, font or theme changed: forget what was measured."""

    def paint(self, painter: QPainter) -> None:
        """Draw everything; the painter is antialiased and in logical pixels."""
        raise NotImplementedError

    # What a widget uses.

    @property
    def em(self) -> float:
        if self._em is None:
            self._em = fonts.em(self.font())
        return self._em

    def face(self, factor: float = fonts.NORMAL, bold: bool = False) -> Face:
        """The widget's font at a step of the type scale, with its metrics."""
        found = self._faces.get((factor, bold))
        if found is None:
            if len(self._faces) >= FACES_KEPT:
                # labels shrink as far as they must: every sentence has sizes of its own
                del self._faces[next(iter(self._faces))]
            font = fonts.scaled(self.font(), factor, bold)
            found = self._faces[factor, bold] = Face(font, QFontMetricsF(font, self))
        return found

    def layer(
        self, painter: QPainter, name: str, key: Hashable, draw: Callable[[QPainter], None]
    ) -> None:
        """Show what `draw` paints over the ground of the whole widget.

        It is kept from the second time on: a picture of each new sentence would cost more than
        painting it, and a step through the same sentence is a plain copy.
        """
        ratio = self.devicePixelRatioF()
        full = (key, self.width(), self.height(), ratio, self.theme, self.font().key())
        ground = self.theme.color(self._ground or "surface")
        kept = self._layers.get(name)
        if kept is None or kept[0] != full:
            self._layers[name] = (full, None)
            if not self._ground:
                painter.fillRect(self.rect(), ground)
            painter.save()
            draw(painter)
            painter.restore()
            return
        pixmap = kept[1]
        if pixmap is None:
            pixmap = QPixmap(round(self.width() * ratio), round(self.height() * ratio))
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(ground)
            inner = QPainter(pixmap)
            try:
                inner.setRenderHint(QPainter.RenderHint.Antialiasing)
                draw(inner)
            finally:
                inner.end()
            self._layers[name] = (full, pixmap)
        painter.drawPixmap(0, 0, pixmap)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        # A painter left open by an exception would take the whole process down later.
        try:
            if self._ground:
                painter.fillRect(self.rect(), self.theme.color(self._ground))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self.paint(painter)
        finally:
            painter.end()
        self._stale = False
        self.painted = self.stamp

    def update(self, *where: Any) -> None:
        """Paint anew: every setter that changes what is seen calls this, and no other should."""
        self._stale = True
        super().update(*where)

    def take_stamp(self, stamp: tuple[int, ...]) -> None:
        """All of this step has been set; what shows it already need not be painted for it."""
        self.stamp = stamp
        if self.isVisible() and not self._stale:
            self.painted = stamp

    def event(self, event: QEvent) -> bool:
        """While panels draw, what is under the pointer changes without its having moved.

        Nothing is said of it then: what was pointed at is let go in silence, and what comes to lie
        under the pointer is not pointed at before it moves.
        """
        if not is_drawing() or event.type() not in _POINTING:
            return super().event(event)
        if event.type() is not QEvent.Type.Leave:
            return True
        said = self.blockSignals(True)
        try:
            return super().event(event)
        finally:
            self.blockSignals(said)

    def showEvent(self, event: QShowEvent) -> None:
        self._stale = True
        super().showEvent(event)

    def snap(self, value: float) -> float:
        """The nearest position that is a whole device pixel."""
        ratio = self.devicePixelRatioF()
        return round(value * ratio) / ratio

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.ApplicationFontChange):
            self._faces.clear()
            self._em = None
            self.relayout()
            self.updateGeometry()
        super().changeEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.relayout()
        super().resizeEvent(event)


class Plain(QWidget):
    """One colour with widgets on it; nothing behind it is painted, and no style sheet asked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colour: QColor | None = None
        self._role = ""

    def set_ground(self, role: str) -> None:
        """The theme's colour to be painted."""
        self._role = role
        self.set_theme(LIGHT)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def set_theme(self, theme: Theme) -> None:
        if self._role:
            self._colour = theme.color(self._role)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._colour is not None:
            painter = QPainter(self)
            painter.fillRect(event.rect(), self._colour)
            painter.end()


def box(
    painter: QPainter,
    rect: QRectF,
    fill: QColor | str | None,
    border: QColor | str | None = None,
    radius: float = 0.0,
    width: float = 1.0,
    dash: bool = False,
) -> None:
    """A rounded box whose border lies inside `rect`."""
    if border is not None and fill is not None and not dash:
        # two filled boxes are painted faster than one with an outline
        painter.setPen(NO_PEN)
        painter.setBrush(ink(border))
        painter.drawRoundedRect(rect, radius, radius)
        rect = rect.adjusted(width, width, -width, -width)
        radius = max(radius - width, 0.0)
    elif border is None:
        painter.setPen(NO_PEN)
    else:
        pen = QPen(ink(border), width)
        if dash:
            pen.setStyle(Qt.PenStyle.DashLine)
            pen.setDashPattern([3.0, 2.0])
        painter.setPen(pen)
        inset = width / 2
        rect = rect.adjusted(inset, inset, -inset, -inset)
    painter.setBrush(ink(fill) if fill is not None else Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(rect, radius, radius)


def write(
    painter: QPainter,
    rect: QRectF,
    text: str,
    face: Face,
    colour: QColor | str,
    align: Qt.AlignmentFlag = CENTRE,
) -> None:
    """One line of text inside `rect`, ended by an ellipsis where it does not fit.

    align: CENTRE, LEFT or RIGHT
    """
    x, y, room, height = rect.getRect()
    width = face.width(text)
    if width > room + 0.5:
        text = face.elided(text, room)
        width = face.width(text)
    if align is CENTRE:
        x += (room - width) / 2
    elif align is RIGHT:
        x += room - width
    # The face's line is much taller than its letters: centre the capitals, not the line.
    baseline = round(y + (height + face.cap_height) / 2)
    painter.setFont(face.font)
    painter.setPen(ink(colour))
    painter.drawStaticText(QPointF(x, baseline - face.ascent), face.laid_out(text))


def triangle(painter: QPainter, points: list[tuple[float, float]], colour: QColor | str) -> None:
    painter.setPen(NO_PEN)
    painter.setBrush(ink(colour))
    painter.drawPolygon([QPointF(x, y) for x, y in points])
