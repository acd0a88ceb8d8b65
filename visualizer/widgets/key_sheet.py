"""The sheet of keys: a card over the window that any key or click puts away."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QWidget

from visualizer import fonts
from visualizer.widgets.canvas import LEFT, Canvas, box, write


class KeySheet(Canvas):
    """Covers its parent while it is shown; closed() once it is put away."""

    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._title = ""
        self._lines: tuple[tuple[str, str], ...] = ()
        self.hide()

    def set_lines(self, title: str, lines: Sequence[tuple[str, str]]) -> None:
        """lines: the keys and what they do."""
        self._title, self._lines = title, tuple(lines)
        self.describe(title, "; ".join(f"{keys}: {text}" for keys, text in lines))
        self.update()

    def open(self) -> None:
        self.setGeometry(self.parentWidget().rect())
        self.show()
        self.raise_()
        self.setFocus()

    def close_sheet(self) -> None:
        if self.isVisible():
            self.hide()
            self.closed.emit()

    def paint(self, painter: QPainter) -> None:
        em, theme = self.em, self.theme
        veil = QColor(theme.page)
        veil.setAlphaF(0.72)
        painter.fillRect(self.rect(), veil)
        face, bold = self.face(), self.face(bold=True)
        title = self.face(fonts.TITLE, bold=True)
        keys_w = max((bold.width(keys) for keys, _ in self._lines), default=0.0)
        text_w = max((face.width(text) for _, text in self._lines), default=0.0)
        # closer together where a low window has no room for them all
        line = min(1.95 * em, (self.height() - 6.4 * em) / max(len(self._lines), 1))
        width = keys_w + text_w + 6.5 * em
        height = len(self._lines) * line + 5.6 * em
        sheet = QRectF((self.width() - width) / 2, (self.height() - height) / 2, width, height)
        box(painter, sheet, theme.surface, theme.border_strong, 0.8 * em)
        head = QRectF(sheet.left() + 2 * em, sheet.top() + 1.4 * em, width - 4 * em, 2 * em)
        write(painter, head, self._title, title, theme.text, LEFT)
        y = head.bottom() + 0.8 * em
        for keys, text in self._lines:
            left = QRectF(head.left(), y, keys_w, line)
            write(painter, left, keys, bold, theme.accent, LEFT)
            right = QRectF(left.right() + 2 * em, y, text_w + 1, line)
            write(painter, right, text, face, theme.text, LEFT)
            y += line

    def keyPressEvent(self, event: QKeyEvent) -> None:
        modifiers = (Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_Meta)
        if event.key() not in modifiers:
            self.close_sheet()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.close_sheet()
