"""Under the header: one quiet sentence, for as long as there is something to say."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from visualizer import actions, lab_orders
from visualizer.i18n import tr
from visualizer.lab_orders import UNFINISHED
from visualizer.lenses.remarks import notice_details, notice_text
from visualizer.panels.base import Panel
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.widgets.notice import NoticeBar


class NoticePanel(Panel):
    """The notice of the state; it stays until it is put away or something else is opened."""

    watches = frozenset({"notice"})

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(store, parent)
        self.bar = NoticeBar()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.bar)
        self.bar.dismissed.connect(self._on_dismissed)
        self.bar.answered.connect(self._on_answered)

    def retranslate(self) -> None:
        self.bar.set_words(tr("ui.details"), tr("ui.dismiss"))

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        level = "info" if state.notice is None else state.notice.level
        text = notice_text(state.notice)
        self.bar.set_notice(text, level, notice_details(state.notice))
        asked = state.notice is not None and state.notice.key == UNFINISHED
        words = (tr("lab.unfinished.resume"), tr("lab.unfinished.discard")) if asked else ()
        self.bar.set_answers(*words)
        self.setVisible(bool(text))

    def _on_dismissed(self) -> None:
        self.store.dispatch(actions.dismiss_notice)

    def _on_answered(self, number: int) -> None:
        self.store.dispatch(lab_orders.discard if number else lab_orders.take_up)
