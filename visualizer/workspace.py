"""What fills the window: the panels and where they lie, all in one size of type."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from visualizer import actions, forcing
from visualizer.panels.base import Panel
from visualizer.panels.header import HeaderPanel
from visualizer.panels.logit_lens import LogitLensPanel
from visualizer.panels.map import MapPanel
from visualizer.panels.notice import NoticePanel
from visualizer.panels.prediction import PredictionPanel
from visualizer.panels.residual import ResidualPanel
from visualizer.panels.stage import StagePanel
from visualizer.panels.transport import TransportPanel
from visualizer.panels.typed_target import TypedTargetPanel
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.widgets.canvas import Canvas
from visualizer.widgets.controls import rule

# Shares of the window's width, and the least and most pixels of a side panel at 100 %.
LEFT_SHARE, LEFT_ROOM = 0.156, (196, 300)
RIGHT_SHARE, RIGHT_ROOM = 0.236, (290, 470)
# From this height on, at 100 %, the logit lens has a place of its own below the next token.
ROOMY_HEIGHT = 900
# Below it, which only the line of a typed target leaves, the residual stream gives up its place.
LEAST_HEIGHT = 630
# Below it, which a notice may leave, the residual stream gives the lines that the notice takes.
TIGHT_HEIGHT = 660


class Workspace(QWidget):
    """Made anew for another size of type: every distance is measured in it when a panel is made."""

    def __init__(self, store: Store, scale: float, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("role", "page")
        self._store, self._scale = store, scale
        self._size, self._lined = (0, 0), False
        self._fitting = QTimer(self)
        self._fitting.setSingleShot(True)
        self._fitting.timeout.connect(self._fit_again)
        self.header, self.notice = HeaderPanel(store), NoticePanel(store)
        self.map, self.stage = MapPanel(store), StagePanel(store)
        self.residual, self.prediction = ResidualPanel(store), PredictionPanel(store)
        self.logit_lens, self.transport = LogitLensPanel(store), TransportPanel(store)
        self.typed_target = TypedTargetPanel(store)
        self.transport.typeWanted.connect(self.type_target)
        self.panels: tuple[Panel, ...] = (
            self.header,
            self.notice,
            self.map,
            self.stage,
            self.residual,
            self.prediction,
            self.logit_lens,
            self.typed_target,
            self.transport,
        )
        self._lay_out()
        # behind the stage, which then knows its page
        store.changed.connect(self._on_changed)
        # A click on what is painted takes the keys out of a text field, to the stage.
        for panel in self.panels[2:]:
            for canvas in panel.findChildren(Canvas):
                canvas.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
                canvas.setFocusProxy(self.stage)

    def _lay_out(self) -> None:
        middle = QHBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self.map)
        middle.addWidget(rule(vertical=True))
        middle.addWidget(self.stage, 1)
        self.edge = rule(vertical=True)
        middle.addWidget(self.edge)
        self.right = QWidget()
        self.right.setProperty("role", "surface")
        right = QVBoxLayout(self.right)
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(0)
        right.addWidget(self.residual)
        right.addWidget(self.prediction, 1)
        right.addWidget(self.logit_lens)
        middle.addWidget(self.right)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.header)
        whole.addWidget(rule())
        whole.addWidget(self.notice)
        whole.addLayout(middle, 1)
        whole.addWidget(rule())
        whole.addWidget(self.typed_target)
        whole.addWidget(self.transport)

    def fit(self, width: int, height: int) -> None:
        """Give the side panels their share of the window."""
        self._size = width, height
        if self.typed_target.isVisibleTo(self):
            height -= self.typed_target.sizeHint().height()
        # the candidates and how they are chosen from come first
        taken = self._notice_height(width)
        tight = height - taken < TIGHT_HEIGHT * self._scale
        self.residual.fit(height, height >= LEAST_HEIGHT * self._scale, taken if tight else 0)
        self.logit_lens.fit(height)
        self._store.dispatch(actions.set_roomy, height >= ROOMY_HEIGHT * self._scale)
        for panel, share, (least, most) in (
            (self.map, LEFT_SHARE, LEFT_ROOM),
            (self.right, RIGHT_SHARE, RIGHT_ROOM),
        ):
            room = min(max(share * width, least * self._scale), most * self._scale)
            panel.setFixedWidth(round(room))

    def _notice_height(self, width: int) -> int:
        return self.notice.heightForWidth(width) if self.notice.isVisibleTo(self) else 0

    def type_target(self) -> None:
        """Open the line of the target, with the keys in it."""
        self._store.dispatch(forcing.show_target_line, True)
        self.typed_target.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.typed_target.field.selectAll()

    def refresh(self) -> None:
        """Draw every panel from the state as it is."""
        for panel in self.panels:
            panel.refresh()
        self._make_room()
        if self.typed_target.isVisibleTo(self) != self._lined:
            self._lined = not self._lined
            self._fit_again()
        elif self.notice.isVisibleTo(self) and self._size != (0, 0):
            # it has come into view with the other panels
            self._fit_again()

    def _on_changed(self, old: ViewState, new: ViewState, fields: frozenset[str]) -> None:
        if fields & {"page", "model", "run"}:
            self._make_room()
        if "notice" in fields and self._size != (0, 0):
            # not while others still draw
            self._fitting.start(0)
        if fields & {"target_line", "inputs", "model"} and self._size != (0, 0):
            if self.typed_target.isVisibleTo(self) != self._lined:
                self._lined = not self._lined
                self._fitting.start(0)

    def _fit_again(self) -> None:
        self.fit(*self._size)

    def _make_room(self) -> None:
        """The page on the stage may have the room at the right as well."""
        hides = self.stage.page.hides_right
        self.edge.setVisible(not hides)
        self.right.setVisible(not hides)
        for panel in (self.residual, self.prediction, self.logit_lens):
            panel.rest(hides)

    def retire(self) -> None:
        """Listen no more, and go."""
        self._store.changed.disconnect(self._on_changed)
        for panel in self.panels:
            panel.retire()
        self.hide()
        # It keeps its parent: what has none is Python's, and Python's collector may run in the
        # worker's thread, where no widget may be deleted.
        self.deleteLater()
