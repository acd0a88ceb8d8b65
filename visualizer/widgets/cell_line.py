"""How one cell came about: its name, its reckoning, its value; below it what the pointer is on."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from model_core.ops.base import Origin
from visualizer import fonts
from visualizer.i18n import tr
from visualizer.lenses.line import Line, Lines, Piece, plain_text
from visualizer.widgets.canvas import LEFT, RIGHT, box, ink, write
from visualizer.widgets.pointing import PointedCanvas


class CellLine(PointedCanvas):
    """Two lines: "猫 → cat   2.12·0.35 + … = value" and "full precision   site".

    What the first line has no room for goes on in the second, between whole pieces; where that
    is not enough either, terms are left out, and last the full precision.

    A number that was read somewhere is a link: linkClicked(Origin). A part that can be spelled
    out: shareClicked(number).
    """

    # what a right click asks about
    term = "arithmetic_line"
    linkClicked = Signal(object)
    shareClicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._name = self._exact = self._site = self._whole = ""
        self._lines: Lines = ()
        self.setMouseTracking(True)

    def set_cell(self, name: str, terms: str, sign: str, value: str, exact: str, site: str) -> None:
        """Plain words and a value. Empty texts are left out."""
        pieces = [Piece(terms)] if terms else []
        if sign:
            pieces.append(Piece(sign, "muted"))
        if value:
            pieces.append(Piece(value, "chip", glued=bool(pieces)))
        self.set_lines(name, (tuple(pieces),), exact, site)

    def clear(self) -> None:
        self.set_lines("", (), "", "")

    def set_lines(self, name: str, lines: Lines, exact: str, site: str) -> None:
        """lines: the reckoning, the same with fewer and fewer terms. exact, site: the second line's
        two ends."""
        if (name, lines, exact, site) == (self._name, self._lines, self._exact, self._site):
            return
        self._name, self._lines, self._exact, self._site = name, lines, exact, site
        self._hovered = None
        reckoning = plain_text(lines[0]) if lines else ""
        self.describe(f"{name} {reckoning}".strip(), f"{exact} {site}".strip())
        self._whole = f"{name}  {reckoning}\n{exact}  {site}".strip()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(30 * self.em), round(3.6 * self.em))

    # Places.

    def _name_width(self) -> float:
        bold = self.face(bold=True)
        return min(bold.width(self._name), 0.45 * self.width())

    def _width(self, piece: Piece) -> float:
        return self.face().width(piece.text) + (0.8 * self.em if piece.kind == "chip" else 0.0)

    def _space(self, piece: Piece) -> float:
        """The gap before a piece that is not the first of its line."""
        return (0.4 if piece.glued or piece.kind == "plain" else 0.55) * self.em

    def _broken(self, line: Line, first: float, second: float) -> list[list[Piece]] | None:
        """The pieces of the first and of the second line, or None where they need more."""
        rows: list[list[Piece]] = [[]]
        used, room = 0.0, first
        for group in _groups(line):
            gap = self._space(group[0]) if rows[-1] else 0.0
            wide = sum(map(self._width, group)) + sum(map(self._space, group[1:]))
            if used + gap + wide > room:
                if len(rows) == 2:
                    return None
                rows.append([])
                used, room, gap = 0.0, second, 0.0
                if wide > room:
                    return None
            rows[-1] += group
            used += gap + wide
        return rows

    def arranged(self) -> tuple[list[list[Piece]], str]:
        """The pieces of each line as they are painted, and the text left of the site."""
        em, small = self.em, self.face(fonts.SMALL)
        first = self.width() - (self._name_width() + 0.8 * em if self._name else 0.0)
        below = self.width() - small.width(self._site) - (1.2 * em if self._site else 0.0)
        if not self._lines:
            return [[]], self._exact
        for line in self._tried(first):
            for exact in (self._exact, ""):
                beside = small.width(exact) + 1.5 * em if exact else 0.0
                rows = self._broken(line, first, below - beside)
                if rows is not None:
                    return rows, self._exact if len(rows) == 1 else exact
        return [list(self._lines[-1])], self._exact

    def _tried(self, room: float) -> Lines:
        """The forms in the order in which they are tried: one line, if a term or two give that."""
        for line in self._lines[:2]:
            rows = self._broken(line, room, 0.0)
            if rows is not None and len(rows) == 1:
                return (line,)
        return self._lines

    # Painting.

    def paint(self, painter: QPainter) -> None:
        em, theme = self.em, self.theme
        small = self.face(fonts.SMALL)
        lower = QRectF(0, 1.8 * em, self.width(), 1.8 * em)
        if self._name:
            room = QRectF(0, 0, self._name_width(), 1.8 * em)
            write(painter, room, self._name, self.face(bold=True), theme.text, LEFT)
        rows, exact = self.arranged()
        for number, (piece, place) in enumerate(self._places(rows)):
            self._draw(painter, piece, place, number)
        self._draw_links(painter, rows)
        write(painter, lower, self._site, small, theme.muted, RIGHT)
        end = lower.right() - small.width(self._site) - (1.2 * em if self._site else 0.0)
        left = 0.0 if len(rows) == 1 else end - small.width(exact)
        room = QRectF(left, lower.top(), end - left, lower.height())
        write(painter, room, exact, small, theme.muted, LEFT)

    def _places(self, rows: list[list[Piece]]) -> list[tuple[Piece, QRectF]]:
        """Every piece and where it is painted."""
        em, places = self.em, []
        for line, pieces in enumerate(rows):
            x = self._name_width() + 0.8 * em if self._name and not line else 0.0
            for number, piece in enumerate(pieces):
                x += self._space(piece) if number else 0.0
                width = min(self._width(piece), self.width() - x)
                places.append((piece, QRectF(x, 1.8 * em * line, width, 1.8 * em)))
                x += self._width(piece)
        return places

    def _draw(self, painter: QPainter, piece: Piece, place: QRectF, number: int) -> None:
        em, theme, body = self.em, self.theme, self.face()
        if piece.kind == "chip":
            chip = QRectF(place.left(), place.center().y() - 0.8 * em, place.width(), 1.6 * em)
            border = None if piece.share is None else theme.accent
            box(painter, chip, theme.accent_tint, border, 0.25 * em)
            write(painter, chip, piece.text, body, theme.text)
        else:
            colour = theme.muted if piece.kind == "muted" else theme.text
            write(painter, place, piece.text, body, colour, LEFT)

    def _draw_links(self, painter: QPainter, rows: list[list[Piece]]) -> None:
        """Dots below what can be followed, a line below what the pointer is on."""
        theme, em = self.theme, self.em
        for number, (place, target) in enumerate(self._spots(rows)):
            if not isinstance(target, Origin):
                continue
            pen = QPen(ink(theme.accent), 0.11 * em)
            if number != self._hovered:
                pen.setStyle(Qt.PenStyle.DotLine)
            painter.setPen(pen)
            y = self.snap(place.center().y() + 0.62 * em)
            painter.drawLine(QPointF(place.left(), y), QPointF(place.right(), y))

    # The pointer.

    def _spots(self, rows: list[list[Piece]]) -> list[tuple[QRectF, Origin | int]]:
        """What can be clicked: a link's origin, or the number of a share."""
        face, spots = self.face(), []
        inset = 0.4 * self.em
        for piece, place in self._places(rows):
            left = place.left() + (inset if piece.kind == "chip" else 0.0)
            if piece.share is not None:
                spots.append((place, piece.share))
            for start, end, origin in piece.links:
                a, b = face.width(piece.text[:start]), face.width(piece.text[:end])
                spots.append((QRectF(left + a, place.top(), b - a, place.height()), origin))
        return spots

    def link_rect(self, number: int) -> QRectF:
        """Where the link or share with this number is painted."""
        return self._spots(self.arranged()[0])[number][0]

    @property
    def targets(self) -> list[Origin | int]:
        """What the links and shares on screen lead to, from left to right."""
        return [target for _, target in self._spots(self.arranged()[0])]

    def thing_at(self, pos: QPointF) -> int | None:
        spots = self._spots(self.arranged()[0])
        return next((n for n, (rect, _) in enumerate(spots) if rect.contains(pos)), None)

    def tip_at(self, pos: QPointF) -> str:
        """What there is to say of the piece at a position; empty where that is nothing."""
        places = self._places(self.arranged()[0])
        return next((piece.tip for piece, rect in places if rect.contains(pos)), "")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        number = self.thing_at(event.position())
        if number is None or event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
            return
        target = self.targets[number]
        if isinstance(target, Origin):
            self.linkClicked.emit(target)
        else:
            self.shareClicked.emit(target)

    def event(self, event: QEvent) -> bool:
        """A tip says where a link leads; elsewhere the line as a whole."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            number = self.thing_at(QPointF(event.pos()))
            target = None if number is None else self.targets[number]
            text = self._whole
            if isinstance(target, Origin):
                place = ", ".join(map(str, target.index))
                key = "line.follow" if target.of == "value" else "line.follow.gradient"
                text = tr(key, place=f"{target.name}[{place}]")
            elif target is not None:
                text = tr("line.spell_out")
            else:
                text = self.tip_at(QPointF(event.pos())) or text
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)


def _groups(line: Line) -> list[list[Piece]]:
    """The pieces that stay together."""
    groups: list[list[Piece]] = []
    for piece in line:
        if piece.glued and groups:
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return groups
