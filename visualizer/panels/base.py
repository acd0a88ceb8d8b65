"""What every panel shares: it listens to the store, and one can see what it has painted."""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QWidget

from visualizer.navigation import current_index
from visualizer.state import FIELDS, ViewState
from visualizer.store import Store
from visualizer.theme import theme_of
from visualizer.widgets.canvas import Canvas, Plain

# These change words or colours everywhere.
COLOURS = frozenset({"theme", "sequential", "diverging"})
LOOK = COLOURS | {"language", "count_from", "decimals_chosen"}
# These change what room there is: nothing of it waits.
AT_ONCE = LOOK | {"model", "roomy", "page"}
# These change what the carriers show.
PLACE = frozenset({"run", "cursor", "model", "showing", "gradients"}) | LOOK


class Panel(Plain):
    """Draws again when a field that it watches has changed.

    The stage, the map and what is said next come first. A panel that is secondary, and what is
    secondary of another (see `draw_late`), is drawn in the next idle moment, when those have been
    painted; whatever has changed until then is drawn at once with it.

    `painted_run` and `painted_step` are the run's number and the step's index that were last
    painted by every canvas of `carriers` that is on screen: what a benchmark waits for.
    """

    watches: ClassVar[frozenset[str]] = frozenset()
    is_secondary: ClassVar[bool] = False

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.store = store
        self.carriers: tuple[Canvas, ...] = ()
        # what has changed while nobody saw the panel; None while it is seen
        self._missed: frozenset[str] | None = None
        # what has changed since what is secondary was drawn
        self._late: frozenset[str] = frozenset()
        self._idle_moment = QTimer(self)
        self._idle_moment.setSingleShot(True)
        self._idle_moment.setInterval(0)
        self._idle_moment.timeout.connect(self.catch_up)
        # of the run and the step that the carriers have been set to
        self.stamp = (-1, -1)
        store.changed.connect(self._on_changed)

    # What a panel overrides.

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        """Show the state; `fields` names what has changed."""
        raise NotImplementedError

    def draw_late(self, state: ViewState, fields: frozenset[str]) -> None:
        """Show what is secondary; called behind `draw`, and for several changes only once."""

    def retranslate(self) -> None:
        """Read the words that do not depend on the state anew."""

    # What it gives.

    def refresh(self) -> None:
        """Draw everything."""
        with self.store.drawing() as state:
            self._show(state, FIELDS)

    @property
    def is_late(self) -> bool:
        """Whether something has changed that is not drawn yet."""
        return bool(self._late)

    def catch_up(self) -> None:
        """Draw at once what waits for an idle moment."""
        fields, self._late = self._late, frozenset()
        self._idle_moment.stop()
        if fields and self._missed is None:
            with self.store.drawing() as state:
                if self.is_secondary:
                    self._draw_stamped(state, fields)
                self.draw_late(state, fields)

    def rest(self, rests: bool) -> None:
        """Draw nothing while nobody sees the panel, and all that has changed once it is seen."""
        if rests and self._missed is None:
            self._missed, self._late = self._late, frozenset()
        elif not rests and self._missed is not None:
            missed, self._missed = self._missed, None
            if missed:
                with self.store.drawing() as state:
                    self._show(state, missed)

    def retire(self) -> None:
        """Another panel takes this one's place: listen no more."""
        self.store.changed.disconnect(self._on_changed)
        self._idle_moment.stop()

    @property
    def painted_run(self) -> int:
        return self._painted(0)

    @property
    def painted_step(self) -> int:
        return self._painted(1)

    def _painted(self, place: int) -> int:
        shown = [canvas for canvas in self.carriers if canvas.isVisible()]
        return min((c.painted[place] if c.painted else -1 for c in shown), default=-1)

    def ground(self, role: str, *canvases: Canvas) -> None:
        """These lie on a plain ground of this colour."""
        for canvas in canvases:
            canvas.set_ground(role)

    def dress(self, keys: QWidget, *late: QWidget) -> None:
        """Give widgets that come late the colours, and the keys' way, that the others were given.

        keys: who takes the keys when what is painted is clicked
        """
        theme = theme_of(self.store.state)
        for widget in late:
            for child in (widget, *widget.findChildren(QWidget)):
                if hasattr(child, "set_theme"):
                    child.set_theme(theme)
                if isinstance(child, Canvas):
                    child.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
                    child.setFocusProxy(keys)

    def _on_changed(self, old: ViewState, new: ViewState, fields: frozenset[str]) -> None:
        seen = fields & (self.watches | LOOK)
        if seen and self._missed is not None:
            self._missed |= fields
        elif seen:
            self._show(new, fields)

    def _show(self, state: ViewState, fields: frozenset[str]) -> None:
        if fields & COLOURS:
            theme = theme_of(state)
            for widget in (self, *self.findChildren(QWidget)):
                if hasattr(widget, "set_theme"):
                    widget.set_theme(theme)
        if "language" in fields:
            self.retranslate()
        if not self.is_secondary:
            self._draw_stamped(state, fields)
        self._late |= fields
        if fields & AT_ONCE:
            self.catch_up()
        else:
            self._idle_moment.start()

    def _draw_stamped(self, state: ViewState, fields: frozenset[str]) -> None:
        self.draw(state, fields)
        if fields & PLACE:
            index = current_index(state)
            number = -1 if state.run is None else state.run.number
            self.stamp = (number, -1 if index is None else index)
            for canvas in self.carriers:
                canvas.take_stamp(self.stamp)
