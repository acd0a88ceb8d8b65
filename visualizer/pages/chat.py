"""The conversation with a chat model: bubbles, the question, the rules that its card says."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from visualizer import chat_actions
from visualizer.i18n import tr
from visualizer.lenses.caption import Caption
from visualizer.lenses.chat import EXAMPLES, chat_caption, invitations, limits, rules_said, talk
from visualizer.pages.base import Page
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.widgets.cell_line import CellLine
from visualizer.widgets.chat_bubbles import ChatView
from visualizer.widgets.controls import SectionHead, card, push_button
from visualizer.widgets.notice import EmptyState
from visualizer.widgets.question_field import QuestionField
from visualizer.widgets.sampling_controls import SamplingControls
from visualizer.widgets.text_block import TextBlock

# The column at the right, and the offer of a conversation, in parts of the font's size.
ASIDE, OFFER = 21.0, 9.0
RULE_LINES = 5


class ChatPage(Page):
    """Enter asks, a click on a bubble takes its run to the stage.

    Asked with the stage in focus, the arrows up and down go through the exchanges, Enter opens.
    """

    name = "chat"
    shows_cell = False
    shows_gradients = False
    hides_right = True
    ahead = frozenset({"inputs"})

    def __init__(self, store: Store, cell: CellLine, parent: QWidget | None = None) -> None:
        super().__init__(store, cell, parent)
        em = self.em
        self.view, self.empty = ChatView(self), EmptyState()
        self.bubbles = self.view.bubbles
        self.field, self.send = QuestionField(), push_button(kind="primary")
        self.examples: tuple[QPushButton, ...] = tuple(push_button() for _ in range(EXAMPLES))
        self.anew = push_button()
        self.rules = TextBlock(RULE_LINES)
        self.sampling = SamplingControls()
        self.rules_head, self.next_head = SectionHead(), SectionHead()
        for canvas in (self.rules, self.rules_head, self.next_head, self.empty):
            canvas.set_ground("surface")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(round(0.7 * em))
        row.addWidget(self._made_talk(em), 1)
        row.addWidget(self._made_aside(em))
        self.tools = QWidget(self)
        tools = QHBoxLayout(self.tools)
        tools.setContentsMargins(0, 0, 0, 0)
        tools.addStretch(1)
        tools.addWidget(self.anew)
        self.carriers = (self.bubbles, self.empty)
        self.field.edited.connect(self._on_edited)
        self.field.sent.connect(self._on_send)
        self.field.escaped.connect(self._on_escape)
        self.field.scrolled.connect(self.view.scroll)
        self.send.clicked.connect(self._on_send)
        self.anew.clicked.connect(self._on_anew)
        self.sampling.moved.connect(self._on_sampling)
        self.bubbles.bubbleClicked.connect(self._on_bubble)
        self.bubbles.besideClicked.connect(self._to_field)
        for place, button in enumerate(self.examples):
            button.clicked.connect(partial(self._on_example, place))

    def _made_talk(self, em: float) -> QWidget:
        frame, inside = card(self)
        inside.setContentsMargins(*(round(part * em) for part in (0.5, 0.4, 0.5, 0.6)))
        inside.setSpacing(round(0.5 * em))
        self.stack = QStackedLayout()
        offer = QWidget(frame)
        column = QVBoxLayout(offer)
        column.addStretch(1)
        self.empty.setFixedHeight(round(OFFER * em))
        column.addWidget(self.empty)
        choices = QHBoxLayout()
        choices.setSpacing(round(0.6 * em))
        choices.addStretch(1)
        for button in self.examples:
            choices.addWidget(button)
        choices.addStretch(1)
        column.addLayout(choices)
        column.addStretch(1)
        self.offer = offer
        self.stack.addWidget(self.view)
        self.stack.addWidget(offer)
        inside.addLayout(self.stack, 1)
        below = QHBoxLayout()
        below.setSpacing(round(0.6 * em))
        below.addWidget(self.field, 1)
        below.addWidget(self.send)
        inside.addLayout(below)
        return frame

    def _made_aside(self, em: float) -> QWidget:
        frame, inside = card(self)
        frame.setFixedWidth(round(ASIDE * em))
        # in a small window with large type it is scrolled
        lines, column = QScrollArea(), QWidget()
        lines.setWidgetResizable(True)
        lines.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        lines.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column.setProperty("role", "surface")
        rows = QVBoxLayout(column)
        rows.setContentsMargins(0, 0, round(0.3 * em), 0)
        rows.setSpacing(round(0.35 * em))
        rows.addWidget(self.next_head)
        rows.addWidget(self.sampling)
        rows.addSpacing(round(0.6 * em))
        rows.addWidget(self.rules_head)
        rows.addWidget(self.rules)
        rows.addStretch(1)
        lines.setWidget(column)
        inside.setContentsMargins(*(round(part * em) for part in (0.8, 0.7, 0.5, 0.5)))
        inside.addWidget(lines)
        return frame

    def caption(self, state: ViewState) -> Caption | None:
        return chat_caption(state)

    def tail(self, state: ViewState, caption: Caption) -> tuple[str, ...]:
        return ()

    def retranslate(self) -> None:
        self.sampling.retranslate()
        self.bubbles.describe(tr("chat.bubbles"))
        self.field.setAccessibleName(tr("chat.field"))
        self.field.setPlaceholderText(tr("chat.placeholder"))
        self.send.setText(tr("chat.send"))
        self.anew.setText(tr("chat.anew"))
        self.anew.setToolTip(tr("chat.anew.tip"))
        self.rules_head.set_texts(tr("chat.rules"))
        self.next_head.set_texts(tr("chat.next"))

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        said = talk(state)
        self.view.set_talk(said)
        self.stack.setCurrentWidget(self.view if said else self.offer)
        draft = chat_actions.draft(state)
        self.field.set_text(draft)
        self.send.setEnabled(bool(draft.strip()))
        self.anew.setEnabled(bool(said))
        if fields & {"conversation", "language", "model"}:
            self.sampling.set_inputs(state.conversation.settings)
        if fields & {"model", "language"}:
            self._draw_words(state)

    def _draw_words(self, state: ViewState) -> None:
        """What the card says."""
        self.rules.set_sentences(*rules_said(state))
        self.empty.set_texts(tr("chat.invitation"), limits(state))
        offered = invitations(state)
        for place, button in enumerate(self.examples):
            button.setVisible(place < len(offered))
            button.setText(offered[place] if place < len(offered) else "")

    # What the user does.

    def _on_edited(self, text: str) -> None:
        self.store.dispatch(chat_actions.write, text)

    def _on_send(self) -> None:
        self._ask(self.field.text())

    def _on_example(self, place: int, _checked: bool = False) -> None:
        self._ask(invitations(self.store.state)[place])

    def _ask(self, question: str) -> None:
        self.store.dispatch(chat_actions.ask, question)
        self.view.to_end()
        self._to_field()

    def _on_escape(self) -> None:
        if not self._give_up():
            self.left.emit()

    def _give_up(self) -> bool:
        """End the waiting for a reply; whether there was one to wait for."""
        state = self.store.state
        asked = chat_actions.pending(state)
        if asked is None:
            return False
        before = state.conversation.before
        self.store.dispatch(chat_actions.give_up)
        if before != asked:
            self.store.undo()
        return True

    def _on_anew(self) -> None:
        self.store.dispatch(chat_actions.start_anew)
        self._to_field()

    def _on_sampling(self, name: str, value: object) -> None:
        self.store.dispatch(chat_actions.set_sampling, name, value)

    def _on_bubble(self, number: int) -> None:
        self.store.dispatch(chat_actions.open_exchange, number)

    def _to_field(self) -> None:
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def showEvent(self, event: QShowEvent) -> None:
        """One comes here to ask, unless one is typing elsewhere."""
        super().showEvent(event)
        if not isinstance(QApplication.focusWidget(), QLineEdit):
            self._to_field()

    def take_key(self, event: QKeyEvent) -> bool:
        """The keys of the stage: through the exchanges, and into one."""
        key, marked = event.key(), self.bubbles.marked
        count = len(self.store.state.conversation.exchanges)
        if key == Qt.Key.Key_Escape:
            return self._give_up()
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and count:
            step = -1 if key == Qt.Key.Key_Up else 1
            place = count - 1 if marked is None else min(max(marked + step, 0), count - 1)
            self.bubbles.mark(place)
            self.view.show_exchange(place)
            return True
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if marked is None or marked >= count:
                self._to_field()
            else:
                self.store.dispatch(chat_actions.open_exchange, marked)
            return True
        return False
