"""Layouts of things of which one is shown, and how much room they take."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QStackedLayout


class PageStack(QStackedLayout):
    """Takes the room that its page needs, and not what the largest of all would."""

    def minimumSize(self) -> QSize:
        page = self.currentWidget()
        return QSize() if page is None else page.minimumSizeHint()


class ToolStack(QStackedLayout):
    """What stands at the right of the formula; no room at all above a page with its own heading."""

    _is_needed = True

    def set_needed(self, is_needed: bool) -> None:
        """Whether to take room."""
        self._is_needed = is_needed
        self.invalidate()

    def sizeHint(self) -> QSize:
        return super().sizeHint() if self._is_needed else QSize()

    def minimumSize(self) -> QSize:
        return super().minimumSize() if self._is_needed else QSize()
