"""The sentence field: text, words on offer for what is being typed, chips of unknown words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
)
from PySide6.QtWidgets import QLabel, QLineEdit, QListWidget, QWidget

from visualizer import fonts
from visualizer.theme import Theme
from visualizer.widgets.token_chips import Chip, TokenChips

MOST_WORDS = 6
FURTHEST_TEXT = 4000


class UndoStaysOutside(QObject):
    """An event filter that leaves Ctrl+Z and Ctrl+Shift+Z of a text field to the window."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        keys = QKeySequence.StandardKey
        if event.matches(keys.Undo) or event.matches(keys.Redo):
            event.ignore()
            return True
        return False


class SentenceField(QLineEdit):
    """edited(text) when the user changes the text, by keys or by taking a word on offer.

    finished() on Enter or Esc: the user is done here.
    """

    edited = Signal(str)
    finished = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "sentence")
        self.setMaxLength(FURTHEST_TEXT)
        plain = self.font()
        self.setFont(fonts.scaled(plain, fonts.LARGE))
        self._complete: Callable[[str], Sequence[str]] = lambda typed: ()
        self._composing = False
        self._offer: QListWidget | None = None
        self._chips: tuple[Chip, ...] = ()
        self.reason = QLabel(self)
        self.reason.setProperty("role", "warning")
        self.chips = TokenChips(self)
        self.chips.set_two_lines(False)
        self.chips.set_ground("surface")
        for mark in (self.reason, self.chips):
            mark.setFont(plain)
            mark.hide()
        self.undo_outside = UndoStaysOutside(self)
        self.installEventFilter(self.undo_outside)
        self.textEdited.connect(self._on_edited)

    @property
    def composing(self) -> bool:
        """Whether an input method is at work: its keys are its own."""
        return self._composing

    # What the owner sets.

    def set_text(self, text: str) -> None:
        """Show this text; the cursor stays where it is, as far as the text reaches."""
        # while the user composes, the field holds what no one else knows yet
        if text == self.text() or self._composing:
            return
        place = self.cursorPosition() if self.cursorPosition() < len(self.text()) else len(text)
        self.setText(text)
        self.setCursorPosition(min(place, len(text)))
        self._close_offer()

    def set_completions(self, complete: Callable[[str], Sequence[str]]) -> None:
        """complete: the beginning of a word -> the words of the vocabulary that start so."""
        self._complete = complete

    def set_chips(self, chips: tuple[Chip, ...], reason: str = "") -> None:
        """Marks at the right end of the field; the reason stands before them where it fits."""
        if chips or not self.chips.isHidden():
            self._chips = chips
            self.chips.setToolTip("\n".join(chip.tooltip for chip in chips))
            self.chips.setVisible(bool(chips))
            self.reason.setText(reason)
            self._place_chips()

    def set_theme(self, theme: Theme) -> None:
        """The field itself comes from the style sheet, the chips have their own colours."""

    # The chips lie inside the field, at its right end.

    def _place_chips(self) -> None:
        pad = round(0.4 * fonts.em(self.font()))
        if self.chips.isHidden():
            self.reason.hide()
            self._keep_clear(0)
            return
        most = round(0.4 * self.width())
        self._take_in(most)
        size = self.chips.sizeHint()
        width = min(size.width(), most)
        left = self.width() - width - pad
        self.chips.setGeometry(left, (self.height() - size.height()) // 2, width, size.height())
        # the text comes first: the reason only stands where the sentence leaves room
        text = self.fontMetrics().horizontalAdvance(self.text()) + 4 * pad
        words = self.reason.sizeHint().width() + pad
        self.reason.setVisible(text + words <= left)
        if not self.reason.isHidden():
            left -= words
            self.reason.setGeometry(left, 0, words, self.height())
        self._keep_clear(self.width() - left if text > left else 0)

    def _keep_clear(self, right: int) -> None:
        """So many pixels stay without text; a change lays out the whole window, so it is rare."""
        if right != self.textMargins().right():
            self.setTextMargins(0, 0, right, 0)

    def _take_in(self, room: int) -> None:
        """As many whole chips as there is room for; the last one says how many more there are."""
        self.chips.set_chips(self._chips)
        for shown in range(len(self._chips) - 1, -1, -1):
            if self.chips.sizeHint().width() <= room:
                return
            rest = self._chips[shown:]
            reasons = "\n".join(chip.tooltip for chip in rest)
            more = Chip(f"+{len(rest)}", tooltip=reasons, unknown=True)
            self.chips.set_chips((*self._chips[:shown], more))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_chips()

    # Words on offer.

    def word_at_cursor(self) -> tuple[int, str]:
        """Where the word left of the cursor begins, and that word up to the cursor."""
        text = self.text()[: self.cursorPosition()]
        start = len(text) - len(text.split(" ")[-1])
        return start, text[start:]

    def offered(self) -> tuple[str, ...]:
        """The words that complete what is being typed; none for a word that is known."""
        _, typed = self.word_at_cursor()
        if not typed or self._inside_word():
            return ()
        words = self._complete(typed)
        known = any(word.casefold() == typed.casefold() for word in words)
        return () if known else tuple(words[:MOST_WORDS])

    def _inside_word(self) -> bool:
        return self.text()[self.cursorPosition() :][:1].strip() != ""

    def _on_edited(self, text: str) -> None:
        self._show_offer(self.offered())
        self.edited.emit(text)

    def _show_offer(self, words: tuple[str, ...]) -> None:
        if not words:
            self._close_offer()
            return
        if self._offer is None:
            # a plain child of the window: a popup of Qt would take the keys away
            self._offer = QListWidget(self.window())
            self._offer.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            self._offer.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            self._offer.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            self._offer.setAccessibleName(self.accessibleName())
            self._offer.itemClicked.connect(self._on_clicked)
        offer = self._offer
        offer.clear()
        offer.addItems(words)
        offer.setCurrentRow(-1)
        em = fonts.em(self.font())
        widest = max(self.fontMetrics().horizontalAdvance(word) for word in words)
        height = sum(offer.sizeHintForRow(row) for row in range(len(words)))
        offer.resize(round(max(widest + 2 * em, 9 * em)), height + 2 * offer.frameWidth() + 2)
        start, _ = self.word_at_cursor()
        back = self.fontMetrics().horizontalAdvance(self.text()[start : self.cursorPosition()])
        x = self.cursorRect().center().x() - back - round(0.5 * em)
        offer.move(self.mapTo(self.window(), QPoint(max(x, 0), self.height() + 2)))
        offer.show()
        offer.raise_()

    def _close_offer(self) -> None:
        if self._offer is not None:
            self._offer.hide()

    def _offering(self) -> bool:
        return self._offer is not None and self._offer.isVisible()

    def _on_clicked(self, item: object) -> None:
        self._take(item.text())

    def _take(self, word: str) -> None:
        start, typed = self.word_at_cursor()
        text, end = self.text(), start + len(typed)
        space = "" if text[end : end + 1] == " " else " "
        whole = text[:start] + word + space + text[end:]
        self.setText(whole)
        self.setCursorPosition(start + len(word) + 1)
        self._close_offer()
        self.edited.emit(whole)

    # Keys.

    def event(self, event: QEvent) -> bool:
        # Tab takes a word while words are on offer; Qt would move the focus before keyPressEvent.
        if (
            event.type() == QEvent.Type.KeyPress
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Tab
            and self._offering()
            and not self._composing
        ):
            self._take_current()
            return True
        return super().event(event)

    def _take_current(self) -> None:
        assert self._offer is not None
        row = max(self._offer.currentRow(), 0)
        self._take(self._offer.item(row).text())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if self._composing:
            super().keyPressEvent(event)
            return
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape):
            chosen = self._offering() and self._offer.currentRow() >= 0
            if chosen and key != Qt.Key.Key_Escape:
                self._take_current()
            else:
                self._close_offer()
                self.finished.emit()
            return
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Up) and self._offering():
            step = 1 if key == Qt.Key.Key_Down else -1
            row = self._offer.currentRow() + step
            self._offer.setCurrentRow(max(min(row, self._offer.count() - 1), -1))
            return
        super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files go to the window: the field would take their names as text."""
        if event.mimeData().hasUrls():
            event.ignore()
        else:
            super().dragEnterEvent(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def focusOutEvent(self, event: QEvent) -> None:
        self._composing = False
        self._close_offer()
        super().focusOutEvent(event)
