"""The glossary over the window: a field to search, the terms, the entry that is read."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from visualizer import fonts, glossary
from visualizer.i18n import tr
from visualizer.theme import Theme
from visualizer.widgets.controls import card, push_button, rule
from visualizer.widgets.glossary_entry import EntryView

# In em.
WIDEST, TALLEST, LIST_WIDTH, MARGIN = 68, 46, 17, 2
IDENTITY = Qt.ItemDataRole.UserRole
# These move through the terms while one types.
THROUGH_LIST = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class GlossarySheet(QWidget):
    """Made when it is opened, covers its parent; closed() once it is put away.

    The words are those of the language in use when it is made.
    """

    closed = Signal()

    def __init__(self, parent: QWidget, theme: Theme) -> None:
        super().__init__(parent)
        self._theme = theme
        self._trail: list[str] = []
        # Qt looks for another focus while it hides the one there is: none in here will do
        self._going = False
        em = self._em = fonts.em(self.font())
        self.sheet, inside = card(self)
        self.title = QLabel(tr("glossary.title"))
        self.title.setFont(fonts.scaled(self.font(), fonts.TITLE, bold=True))
        self.back = push_button(f"‹ {tr('page.back')}", "quiet")
        self.shut = push_button(tr("glossary.close"), "quiet")
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("glossary.search"))
        self.field.setAccessibleName(tr("glossary.search"))
        self.field.setClearButtonEnabled(True)
        self.terms = QListWidget()
        self.terms.setAccessibleName(tr("glossary.title"))
        self.terms.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.terms.setFixedWidth(round(LIST_WIDTH * em))
        self.terms.setFrameShape(QListWidget.Shape.NoFrame)
        self.none = QLabel(tr("glossary.none"))
        self.none.setProperty("role", "muted")
        self.none.setWordWrap(True)
        self.view = EntryView()
        self.view.set_theme(theme)
        head = QHBoxLayout()
        head.setContentsMargins(round(0.6 * em), 0, 0, 0)
        head.addWidget(self.title)
        head.addStretch(1)
        head.addWidget(self.back)
        head.addWidget(self.shut)
        left = QVBoxLayout()
        for part in (self.field, self.none, self.terms):
            left.addWidget(part)
        body = QHBoxLayout()
        body.addLayout(left)
        body.addWidget(rule(vertical=True))
        body.addWidget(self.view, 1)
        inside.addLayout(head)
        inside.addLayout(body, 1)
        self.field.textEdited.connect(self._fill)
        self.terms.currentItemChanged.connect(self._on_current)
        self.view.linkClicked.connect(self._follow)
        self.back.clicked.connect(self._go_back)
        self.shut.clicked.connect(self.close_sheet)
        parent.installEventFilter(self)
        self._fill("")

    # What the owner calls.

    @property
    def shown(self) -> str:
        """The id of the entry that is read."""
        return "" if self.view.entry is None else self.view.entry.id

    def open(self, term: str = "") -> None:
        """Show the sheet at an entry; without one, or an unknown one, at the first."""
        self._cover()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)
        self._select(term if glossary.entry(term) is not None else glossary.entries()[0].id)

    def close_sheet(self) -> None:
        if self.isVisible():
            self.hide()
            self.closed.emit()

    # The terms.

    def _fill(self, wanted: str) -> None:
        """The terms that answer a search; without one all of them, under the groups' titles."""
        self.terms.clear()
        found, group = glossary.search(wanted), ""
        for item in found:
            if not wanted.strip() and item.group != group:
                group = item.group
                self._add_heading(tr(f"glossary.group.{group}"))
            line = QListWidgetItem(item.term)
            line.setData(IDENTITY, item.id)
            line.setToolTip(item.definition)
            self.terms.addItem(line)
        self.none.setVisible(not found)
        if wanted.strip() and found:
            self._select(found[0].id)
        elif self.shown:
            self._select(self.shown)

    def _add_heading(self, title: str) -> None:
        line = QListWidgetItem(title)
        line.setFlags(Qt.ItemFlag.NoItemFlags)
        line.setFont(fonts.scaled(self.font(), fonts.SMALL, bold=True))
        line.setForeground(QColor(self._theme.muted))
        self.terms.addItem(line)

    def _row_of(self, term: str) -> int | None:
        rows = range(self.terms.count())
        return next((row for row in rows if self.terms.item(row).data(IDENTITY) == term), None)

    def _select(self, term: str) -> None:
        row = self._row_of(term)
        if row is not None:
            self.terms.setCurrentRow(row)
            hint = QListWidget.ScrollHint.PositionAtCenter
            self.terms.scrollToItem(self.terms.item(row), hint)
        self._show(term)

    def _on_current(self, line: QListWidgetItem | None) -> None:
        if line is not None and line.data(IDENTITY):
            self._show(line.data(IDENTITY))

    def _show(self, term: str) -> None:
        self.back.setVisible(bool(self._trail))
        if term != self.shown:
            self.view.set_entry(glossary.entry(term))

    # Links.

    def _follow(self, term: str) -> None:
        """Go to an entry that another one names; Back returns to it."""
        self._trail.append(self.shown)
        self._leave_search(term)

    def _go_back(self) -> None:
        if self._trail:
            self._leave_search(self._trail.pop())

    def _leave_search(self, term: str) -> None:
        if self.field.text() and self._row_of(term) is None:
            self.field.clear()
            self._fill("")
        self._select(term)

    # Place, keys and the pointer.

    def setVisible(self, visible: bool) -> None:
        self._going = not visible
        super().setVisible(visible)

    def _cover(self) -> None:
        self.setGeometry(self.parentWidget().rect())
        em, room = self._em, self.rect()
        width = min(room.width() - 2 * MARGIN * em, WIDEST * em)
        height = min(room.height() - 2 * MARGIN * em, TALLEST * em)
        left, top = (room.width() - width) / 2, (room.height() - height) / 2
        self.sheet.setGeometry(round(left), round(top), round(width), round(height))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.parent():
            self._cover()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        veil = QColor(self._theme.page)
        veil.setAlphaF(0.72)
        painter.fillRect(self.rect(), veil)
        painter.end()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab stays within the sheet: what lies below is covered."""
        every = (self.field, self.terms, self.view.see, self.back, self.shut)
        stops = [widget for widget in every if widget.isVisible()]
        if self._going or not stops:
            return False
        here = next((n for n, widget in enumerate(stops) if widget.hasFocus()), -1)
        reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
        stops[(here + (1 if forward else -1)) % len(stops)].setFocus(reason)
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """What the field and the list have left; nothing reaches the window below."""
        key, held = event.key(), event.modifiers()
        if key == Qt.Key.Key_Escape:
            self.close_sheet()
        elif key == Qt.Key.Key_Left and held & Qt.KeyboardModifier.AltModifier:
            self._go_back()
        elif key == Qt.Key.Key_Space and not self.field.hasFocus():
            self.view.scroll(-1 if held & Qt.KeyboardModifier.ShiftModifier else 1)
        elif key in THROUGH_LIST and self.field.hasFocus():
            self.terms.keyPressEvent(event)
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not self.sheet.geometry().contains(event.position().toPoint()):
            self.close_sheet()
        event.accept()
