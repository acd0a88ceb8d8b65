"""What every page of the stage shares: its words, its tools, what it paints."""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from visualizer import fonts
from visualizer.lenses.caption import Caption
from visualizer.state import PageName, ViewState
from visualizer.store import Store
from visualizer.widgets.canvas import Canvas, Plain
from visualizer.widgets.cell_line import CellLine


class Page(Plain):
    """One way to fill the stage; it lies below the words, beside nothing else.

    left() when the user is done with its fields and the stage is to have the keys.

    tools: what stands at the right of the formula in place of the op chips
    shows_cell: whether the card with the cell's arithmetic lies below; a page that says no has
        its own
    shows_gradients: whether there are gradients to be chosen in place of the values
    hides_right: whether it has the room of the panels at the right as well
    own_heading: whether it has a heading of its own, and no formula or words above it
    word_lines: how many lines of plain words lie above it
    ahead: of the fields that change before a run has come, those that it shows
    words_ahead: whether its words tell of them as well
    carriers: the canvases that carry the run's numbers (see panels.base.Panel)
    """

    left = Signal()
    name: ClassVar[PageName]
    shows_cell: ClassVar[bool] = True
    shows_gradients: ClassVar[bool] = True
    hides_right: ClassVar[bool] = False
    own_heading: ClassVar[bool] = False
    word_lines: ClassVar[int] = 2
    ahead: ClassVar[frozenset[str]] = frozenset()
    words_ahead: ClassVar[bool] = False

    def __init__(self, store: Store, cell: CellLine, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_ground("page")
        self.store, self.cell = store, cell
        self.em = fonts.em(self.font())
        self.tools: QWidget | None = None
        self.carriers: tuple[Canvas, ...] = ()

    def caption(self, state: ViewState) -> Caption | None:
        """The heading, the formula and the plain words above the page."""
        raise NotImplementedError

    def tail(self, state: ViewState, caption: Caption) -> tuple[str, ...]:
        """What follows the title in the heading."""
        return (caption.op_title,)

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        """Show the state; only ever called while the page has the stage.

        fields: what has changed; every field when the page has just come
        """
        raise NotImplementedError

    def take_key(self, event: QKeyEvent) -> bool:
        """Use a key that was pressed on the stage; whether the page has a use for it."""
        return False

    def copied(self, whole: bool) -> str:
        """What is copied of the page itself; empty where the number on show is meant, or nothing.

        whole: the larger thing of two, as Shift asks for it
        """
        return ""

    def save(self) -> bool:
        """Write what the page shows in place of the model on the stage; whether it has such."""
        return False

    def retranslate(self) -> None:
        """Read the words that do not depend on the state anew."""
