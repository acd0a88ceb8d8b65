"""Under the header: one quiet sentence, for as long as there is something to say."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QVBoxLayout, QWidget

from visualizer import actions, lab_actions, lab_unfinished
from visualizer.i18n import tr
from visualizer.lab_unfinished import FAILED_BUT_SAVED, SEVERAL, UNFINISHED, WITHOUT_DATA
from visualizer.lenses.remarks import notice_details, notice_text
from visualizer.pair_files import FOR_THE_LAB, offered_path
from visualizer.panels.base import Panel
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.widgets.notice import NoticeBar

# What some sentences can be answered with.
ANSWERS = {
    UNFINISHED: ("lab.unfinished.resume", "lab.unfinished.discard"),
    SEVERAL: ("lab.unfinished.resume", "lab.unfinished.show"),
    FAILED_BUT_SAVED: ("lab.unfinished.resume",),
    WITHOUT_DATA: ("lab.unfinished.resume",),
    **dict.fromkeys(FOR_THE_LAB.values(), ("lab.take_there",)),
}


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
        keys = ANSWERS.get("" if state.notice is None else state.notice.key, ())
        self.bar.set_answers(*(tr(key) for key in keys))
        self.setVisible(bool(text))

    def _on_dismissed(self) -> None:
        self.store.dispatch(actions.dismiss_notice)

    def _on_answered(self, number: int) -> None:
        path = offered_path(self.store.state)
        if path is not None:
            self.store.dispatch(lab_actions.choose_file, path)
            return
        notice = self.store.state.notice
        if notice is None:
            return
        if number and notice.key == SEVERAL:
            self.store.dispatch(lab_unfinished.show_unfinished)
            return
        # the one that the sentence is about, whatever was found since
        answer = lab_unfinished.discard if number else lab_unfinished.take_up
        self.store.dispatch(answer, Path(dict(notice.values)["path"]))
