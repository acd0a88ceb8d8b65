"""A widget that shows a part of a matrix: wheel, pinch, drag, keys, buttons, minimap."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QNativeGestureEvent, QShowEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from visualizer.lenses.picture import Matrix
from visualizer.theme import Theme
from visualizer.widgets.canvas import Canvas
from visualizer.widgets.heatmap_layout import Layout
from visualizer.widgets.minimap import Minimap
from visualizer.widgets.viewport import Memory, Viewport
from visualizer.widgets.zoom_buttons import ZoomButtons
from visualizer.widgets.zoom_gestures import NOTCH, ZoomGestures, zoomed

# A press of a button or key zooms by so much.
STEP = NOTCH * NOTCH


@dataclass(frozen=True)
class ZoomWords:
    """The buttons' names with their keys; what a pixel stands for.

    largest: of {n} cells    sampled: of {n} cells that were read out of {all}
    """

    larger: str = ""
    smaller: str = ""
    fit: str = ""
    minimap: str = ""
    largest: str = ""
    sampled: str = ""


class Zoomable(Canvas):
    """viewChanged() when the user looks at another part."""

    viewChanged = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._matrix: Matrix | None = None
        self._layout: Layout | None = None
        self._selected: tuple[int, int] | None = None
        self._words = ZoomWords()
        self._view: Viewport | None = None
        self._memory = Memory()
        self._gestures = ZoomGestures()
        self.zoom_buttons = ZoomButtons(self)
        self.minimap = Minimap(self)
        self.zoom_buttons.hide()
        self.minimap.hide()
        self.zoom_buttons.larger.connect(self.zoom_in)
        self.zoom_buttons.smaller.connect(self.zoom_out)
        self.zoom_buttons.fit.connect(self.fit)
        self.minimap.moved.connect(self._on_minimap)

    # What a widget overrides.

    def _ready(self) -> Layout | None:
        """Where everything lies for the part on show; None without a matrix."""
        raise NotImplementedError

    def _hover_at(self, pos: QPointF) -> None:
        """Other cells have come under the pointer."""
        raise NotImplementedError

    # The part on show.

    @property
    def viewport(self) -> Viewport | None:
        """Which cells are on show; None without a matrix."""
        return self._view if self._matrix is not None else None

    def set_zoom_words(self, words: ZoomWords) -> None:
        self._words = words
        self.zoom_buttons.describe(words.larger, words.smaller, words.fit)
        self.minimap.describe(words.minimap)
        self.minimap.setToolTip(words.minimap)
        self.update()

    def show_cell(self, row: int, column: int) -> None:
        """Have a cell in view, moving no farther than that takes; says nothing."""
        if self._matrix is None or self._view is None:
            return
        rows, columns = self._view.shape
        if not self._view.contains(row, column) and 0 <= row < rows and 0 <= column < columns:
            self._look_at(self._view.showing(row, column))

    def set_viewport(self, view: Viewport) -> None:
        """Look at another part of the same matrix."""
        if self._matrix is not None and view.shape == self._matrix.values.shape:
            self._look_at(view)

    def zoom_in(self) -> None:
        self._zoom(1 / STEP)

    def zoom_out(self) -> None:
        self._zoom(STEP)

    def fit(self) -> None:
        """Show all of it."""
        if self._matrix is not None:
            self._memory.forget()
            self._turn_to(Viewport.whole(self._matrix.values.shape))

    def take_key(self, event: QKeyEvent) -> bool:
        """Plus, minus and 0 zoom; whether the key was one of these."""
        held = event.modifiers() & ~(
            Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier
        )
        if held != Qt.KeyboardModifier.NoModifier or self._matrix is None:
            return False
        act = {"+": self.zoom_in, "=": self.zoom_in, "-": self.zoom_out, "0": self.fit}
        found = act.get(event.text())
        if found is not None:
            found()
        return found is not None

    def _zoom(self, factor: float) -> None:
        layout = self._ready()
        if layout is None or self._view is None:
            return
        area, cell = layout.cells.bounds(), self._selected
        inside = cell is not None and self._view.contains(*cell)
        about = layout.cells.rect(*cell).center() if cell is not None and inside else None
        self._turn_to(zoomed(self._view, factor, area, about))

    def _on_minimap(self, row: float, column: float) -> None:
        if self._view is not None:
            self._turn_to(self._view.centred(row, column))

    def _turn_to(self, view: Viewport | None, pos: QPointF | None = None) -> None:
        """The user looks at another part.

        pos: where the cell shall stay that is there; the labels may have moved the picture
        """
        if view is None or view == self._view:
            return
        before = self._cell_under(pos)
        self._look_at(view)
        after = self._cell_under(pos)
        if before is not None and after is not None and before != after:
            self._look_at(view.moved(before[0] - after[0], before[1] - after[1]))
        self.viewChanged.emit()

    def _cell_under(self, pos: QPointF | None) -> tuple[int, int] | None:
        layout = self._ready()
        if pos is None or layout is None:
            return None
        return layout.cells.at(pos.x(), pos.y())

    def _look_at(self, view: Viewport) -> None:
        self._view = view
        self.relayout()
        self.update()

    def _settle(self) -> None:
        """Put the buttons and the minimap where they belong."""
        layout, view = self._ready() if self.isVisible() else self._layout, self._view
        if layout is None or view is None or self._matrix is None:
            self.zoom_buttons.hide()
            self.minimap.hide()
            return
        if layout.buttons is not None:
            self.zoom_buttons.place(layout.buttons)
            self.zoom_buttons.set_whole(view.is_whole)
        self.zoom_buttons.setVisible(layout.buttons is not None)
        if layout.minimap is not None:
            self.minimap.setGeometry(layout.minimap.toAlignedRect())
            self.minimap.set_view(view)
        self.minimap.setVisible(layout.minimap is not None)

    def carry_view(self, before: Matrix | None, matrix: Matrix) -> None:
        """Another matrix follows: the part on show stays as far as the new one has it.

        Who has the current token's row in view keeps it there while stepping.
        """
        view, shape, row = self._view, matrix.values.shape, matrix.current_row
        if view is None:
            self._view = Viewport.whole(shape)
            return
        if before is not None and (view.shape, before.axes) != (shape, matrix.axes):
            view = self._memory.carried(view, before.axes, shape, matrix.axes)
        elif view.shape != shape:
            view = Viewport.whole(shape)
        if row is not None and row < shape[0] and before is not None:
            old = before.current_row
            was_seen = old is not None and self._view is not None and self._view.rows.has(old)
            if was_seen or before.axes[0] != matrix.axes[0]:
                view = Viewport(view.rows.showing(row), view.columns)
        self._view = view

    def set_theme(self, theme: Theme) -> None:
        self.zoom_buttons.set_theme(theme)
        self.minimap.set_theme(theme)
        super().set_theme(theme)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._settle()

    def _area(self) -> QRectF:
        layout = self._ready()
        return QRectF() if layout is None else layout.cells.bounds()

    def wheelEvent(self, event: QWheelEvent) -> None:
        zooms = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if self._matrix is None or self._view is None or (self._view.is_whole and not zooms):
            event.ignore()
            return
        view = self._gestures.wheel(event, self._view, self._area())
        self._turn_to(view, event.position() if zooms else None)
        self._hover_at(event.position())
        event.accept()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QNativeGestureEvent) and self._view is not None:
            view = self._gestures.pinch(event, self._view, self._area())
            self._turn_to(view, event.position())
            return True
        return super().event(event)
