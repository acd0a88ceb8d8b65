"""Where the stage is: side, layer, sublayer, op; at the right end the shape."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer import fonts, glossary
from visualizer.widgets.canvas import LEFT, RIGHT, Canvas, box, write
from visualizer.widgets.glossary_link import Links


class Breadcrumb(Canvas):
    """A coloured badge, the way to the op, the title large; small in the middle the site.

    Its words lead to the glossary (`links`); the op's to what it is in this place.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._badge = ("", "encoder")
        self._layer = self._title = self._shape = self._site = ""
        self._tail: tuple[str, ...] = ()
        self.links = Links(self)

    def set_place(
        self,
        badge: tuple[str, str],
        layer: str,
        title: str,
        tail: tuple[str, ...],
        site: str,
        shape: str,
    ) -> None:
        """badge: its text and kind. tail: what follows the title. site: the record's name."""
        place = (badge, layer, title, tail, site, shape)
        if place == (
            self._badge,
            self._layer,
            self._title,
            self._tail,
            self._site,
            self._shape,
        ):
            return
        self._badge, self._layer, self._title = badge, layer, title
        self._tail, self._site, self._shape = tail, site, shape
        self.describe(" › ".join(part for part in (badge[0], layer, title, *tail) if part), shape)
        self.update()

    def clear(self) -> None:
        self.set_place(("", "encoder"), "", "", (), "", "")

    def sizeHint(self) -> QSize:
        return QSize(round(30 * self.em), round(2.0 * self.em))

    def paint(self, painter: QPainter) -> None:
        self.links.clear()
        self._paint_place(painter)
        self.links.underline(painter)

    def _paint_place(self, painter: QPainter) -> None:
        text, kind = self._badge
        if not text:
            return
        em, theme = self.em, self.theme
        small, body = self.face(fonts.SMALL), self.face()
        title = self.face(fonts.TITLE, bold=True)
        middle, height = self.height() / 2, float(self.height())
        pill = QRectF(0, middle - 0.78 * em, small.width(text) + 1.5 * em, 1.56 * em)
        box(painter, pill, theme.color(f"{kind}_fill"), None, pill.height() / 2)
        write(painter, pill, text, small, theme.color(f"on_{kind}"))
        inside = pill.adjusted(0.75 * em, 0, -0.75 * em, 0)
        self.links.add(inside, text, small, "logit" if kind == "output" else "")
        shape_w = body.width(self._shape)
        end = self.width() - shape_w - 1.2 * em
        room = QRectF(end, 0, self.width() - end, height)
        write(painter, room, self._shape, body, theme.muted, RIGHT)
        self.links.add(room, self._shape, body, right=True)
        x = pill.right() + 0.8 * em
        here = glossary.entry_of_site(self._site)
        parts = [(f"{self._layer} ›", body, theme.muted, "")] if self._layer else []
        parts.append((self._title, title, theme.text, ""))
        # a chip's word, "out" say, means something else in every sublayer
        terms = (here, *[""] * len(self._tail))
        parts += [(f"› {part}", body, theme.muted, term) for part, term in zip(self._tail, terms)]
        for words, face, colour, term in parts:
            wide = face.width(words)
            if end - x < min(wide, 3 * em):
                return
            room = QRectF(x, 0, min(wide, end - x), height)
            write(painter, room, words, face, colour, LEFT)
            self.links.add(room, words, face, term)
            x = room.right() + 0.55 * em
        tiny = self.face(0.78)
        if self._site and tiny.width(self._site) + 0.6 * em <= end - x:
            room = QRectF(x + 0.6 * em, 0, end - x, height)
            write(painter, room, self._site, tiny, theme.muted, LEFT)
            self.links.add(room, self._site, tiny, "site" if here else "")
