"""How one cell came about: its name, its reckoning, its value; below it what the pointer is on."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts
from visualizer.lenses.arithmetic import Line, Lines, Piece, plain_text
from visualizer.widgets.canvas import LEFT, RIGHT, Canvas, box, write


class CellLine(Canvas):
    """Two lines: "猫 → cat   2.12·0.35 + … = value" and "full precision   site".

    What the first line has no room for goes on in the second, between whole pieces; where that
    is not enough either, terms are left out, and last the full precision.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._name = self._exact = self._site = ""
        self._lines: Lines = ()

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
        reckoning = plain_text(lines[0]) if lines else ""
        self.describe(f"{name} {reckoning}".strip(), f"{exact} {site}".strip())
        self.setToolTip(f"{name}  {reckoning}\n{exact}  {site}".strip())
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
        upper = QRectF(0, 0, self.width(), 1.8 * em)
        lower = QRectF(0, 1.8 * em, self.width(), 1.8 * em)
        x = 0.0
        if self._name:
            room = QRectF(0, 0, self._name_width(), upper.height())
            write(painter, room, self._name, self.face(bold=True), theme.text, LEFT)
            x = room.right() + 0.8 * em
        rows, exact = self.arranged()
        self._draw(painter, upper, x, rows[0])
        write(painter, lower, self._site, small, theme.muted, RIGHT)
        end = lower.right() - small.width(self._site) - (1.2 * em if self._site else 0.0)
        if len(rows) == 1:
            write(
                painter,
                QRectF(0, lower.top(), end, lower.height()),
                exact,
                small,
                theme.muted,
                LEFT,
            )
            return
        self._draw(painter, lower, 0.0, rows[1])
        left = QRectF(end - small.width(exact), lower.top(), small.width(exact), lower.height())
        write(painter, left, exact, small, theme.muted, LEFT)

    def _draw(self, painter: QPainter, row: QRectF, x: float, pieces: list[Piece]) -> None:
        em, theme, body = self.em, self.theme, self.face()
        for number, piece in enumerate(pieces):
            x += self._space(piece) if number else 0.0
            width = self._width(piece)
            place = QRectF(x, row.top(), min(width, row.right() - x), row.height())
            if piece.kind == "chip":
                chip = QRectF(x, row.center().y() - 0.8 * em, place.width(), 1.6 * em)
                box(painter, chip, theme.accent_tint, None, 0.25 * em)
                write(painter, chip, piece.text, body, theme.text)
            else:
                colour = theme.muted if piece.kind == "muted" else theme.text
                write(painter, place, piece.text, body, colour, LEFT)
            x += width


def _groups(line: Line) -> list[list[Piece]]:
    """The pieces that stay together."""
    groups: list[list[Piece]] = []
    for piece in line:
        if piece.glued and groups:
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return groups
