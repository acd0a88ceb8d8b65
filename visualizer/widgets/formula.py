"""A formula, typeset from LaTeX beside the window: that takes longer than a frame may."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, lru_cache
from typing import ClassVar

from PySide6.QtCore import QByteArray, QRectF, QSize, QTimer
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QSizePolicy, QWidget

from visualizer.widgets.canvas import LEFT, Canvas, write

# A formula is typeset once at this size and drawn at any other.
TYPESET_PIXELS = 32.0
KEPT = 256
LOOK_AGAIN = 12  # milliseconds

# The typesetter reads its font with one file position: two at once would draw each other's letters.
_typesetting = threading.Lock()

# Typesetting takes tens of milliseconds and is the same for every label: (tex, colour) -> svg.
_typeset: OrderedDict[tuple[str, str], bytes | None] = OrderedDict()
_pixmaps: OrderedDict[tuple[str, str, float, float, float, float], QPixmap] = OrderedDict()


def typeset(tex: str, colour: str) -> bytes | None:
    """SVG of a formula, or None where the typesetter cannot read it."""
    key = (tex, colour)
    if key not in _typeset:
        with _typesetting:
            if key not in _typeset:
                _typeset[key] = _typeset_now(tex, colour)
                while len(_typeset) > KEPT:
                    _typeset.popitem(last=False)
    return _typeset[key]


def _typeset_now(tex: str, colour: str) -> bytes | None:
    try:
        # Imported here: it takes longer than the rest of the window.
        import ziamath

        # SVG 2 symbols are drawn clipped by QtSvg.
        ziamath.config.svg2 = False
        # inline: fractions at the height of a line, as there is one line for them.
        formula = ziamath.Latex(tex, size=TYPESET_PIXELS, color=colour, inline=True)
        svg: bytes = formula.svg().encode()
        return svg
    except Exception:  # noqa: BLE001 - any TeX may come from a file; the source text is shown
        return None


@cache
def _worker() -> ThreadPoolExecutor:
    """One thread for all formulas; Python waits for it at the end."""
    return ThreadPoolExecutor(1, "typesetter")


@lru_cache(KEPT)
def _natural_width(svg: bytes) -> float:
    return float(QSvgRenderer(QByteArray(svg)).defaultSize().width()) / TYPESET_PIXELS


class Formula(Canvas):
    """Shows LaTeX; blank until it is typeset, the text itself where that fails.

    TYPE: its size, in parts of the font's
    """

    TYPE: ClassVar[float] = 1.42

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._tex = ""
        self._plain = ""
        self._job: Future[bytes | None] | None = None
        # The worker touches no Qt object: a widget may be gone before its formula is ready.
        self._look = QTimer(self)
        self._look.setInterval(LOOK_AGAIN)
        self._look.timeout.connect(self._on_look)

    def set_tex(self, tex: str, plain: str = "") -> None:
        """plain: what is shown where the formula cannot be typeset; the LaTeX itself if empty."""
        if (tex, plain) == (self._tex, self._plain):
            return
        self._tex, self._plain = tex, plain
        self.update()

    def finish(self) -> None:
        """Typeset the shown formula now (for a picture without an event loop)."""
        if self._tex:
            typeset(self._tex, self.theme.text)
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(24 * self.em), round(2.3 * self.em))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(8 * self.em), round(2.3 * self.em))

    def type_size(self) -> float:
        """The size of its type in pixels, where there is room."""
        return self.TYPE * self.em

    def natural_width(self) -> float:
        """Its width at a type of one pixel; 0 where it is not typeset, or cannot be."""
        svg = typeset(self._tex, self.theme.text) if self._known(self._tex) else None
        return 0.0 if svg is None else _natural_width(svg)

    def _known(self, tex: str) -> bool:
        return (tex, self.theme.text) in _typeset

    def _start(self) -> None:
        if self._job is None and self._tex and not self._known(self._tex):
            self._job = _worker().submit(typeset, self._tex, self.theme.text)
            self._look.start()

    def _on_look(self) -> None:
        if self._job is not None and self._job.done():
            self._job = None
            self._look.stop()
            self.update()  # by now another formula may be wanted: painting finds out

    def paint(self, painter: QPainter) -> None:
        if not self._tex:
            return
        if not self._known(self._tex):
            # everything else is painted first
            QTimer.singleShot(0, self, self._start)
            return
        svg = typeset(self._tex, self.theme.text)
        room = QRectF(self.rect())
        if svg is None:
            write(painter, room, self._plain or self._tex, self.face(), self.theme.text, LEFT)
            return
        pixmap = self._pixmap(svg, room)
        ratio = pixmap.devicePixelRatio()
        top = self.snap((room.height() - pixmap.height() / ratio) / 2)
        painter.drawPixmap(QRectF(0, top, 0, 0).topLeft(), pixmap)

    def _pixmap(self, svg: bytes, room: QRectF) -> QPixmap:
        """At the type size of a heading, smaller where the widget is too narrow or too low."""
        ratio = self.devicePixelRatioF()
        size = self.type_size()
        key = (self._tex, self.theme.text, room.width(), room.height(), size, ratio)
        if key in _pixmaps:
            return _pixmaps[key]
        renderer = QSvgRenderer(QByteArray(svg))
        natural = renderer.defaultSize()
        scale = size / TYPESET_PIXELS
        scale = min(
            scale,
            room.width() / max(natural.width(), 1),
            room.height() / max(natural.height(), 1),
        )
        wide, high = natural.width() * scale, natural.height() * scale
        pixmap = QPixmap(max(round(wide * ratio), 1), max(round(high * ratio), 1))
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill("transparent")
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        renderer.render(painter, QRectF(0, 0, wide, high))
        painter.end()
        _pixmaps[key] = pixmap
        while len(_pixmaps) > KEPT:
            _pixmaps.popitem(last=False)
        return pixmap
