"""One entry of the glossary, to be read: term, definition, formula, explanation, links, source."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QScrollArea, QVBoxLayout, QWidget

from visualizer import fonts, glossary
from visualizer.glossary import Entry
from visualizer.i18n import tr
from visualizer.theme import LIGHT, Theme
from visualizer.widgets.formula import Formula

# In em; longer lines are hard to read.
LONGEST_LINE = 44


class EntryView(QScrollArea):
    """linkClicked(id) of what is under "see also". It scrolls where it is not tall enough."""

    linkClicked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._theme, self._entry = LIGHT, None
        em = fonts.em(self.font())
        inner = QWidget()
        inner.setProperty("role", "surface")
        self.viewport().setProperty("role", "surface")
        column = QVBoxLayout(inner)
        column.setContentsMargins(round(1.4 * em), 0, round(1.0 * em), round(em))
        column.setSpacing(round(0.5 * em))
        self.term = _label(fonts.scaled(self.font(), fonts.TITLE, bold=True))
        self.other = _label(role="muted")
        self.definition = _label(fonts.scaled(self.font(), fonts.LARGE))
        self.formula = Formula()
        self.formula.setMaximumWidth(round(LONGEST_LINE * em))
        self.text = _label()
        self.see, self.names, self.source = _label(), _label(role="muted"), _label(role="muted")
        self.see.setTextFormat(Qt.TextFormat.RichText)
        self.see.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.see.linkActivated.connect(self.linkClicked)
        for part in (self.term, self.other, self.definition, self.formula, self.text, self.see):
            column.addWidget(part)
            column.addSpacing(round({self.other: 0.5, self.text: 0.4}.get(part, 0.0) * em))
        column.addWidget(self.names)
        column.addWidget(self.source)
        column.addStretch(1)
        for part in (self.definition, self.text, self.see, self.names, self.source):
            part.setMaximumWidth(round(LONGEST_LINE * em))
        self.setWidget(inner)
        self.set_entry(None)

    @property
    def entry(self) -> Entry | None:
        return self._entry

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.formula.set_theme(theme)
        self.set_entry(self._entry)

    def set_entry(self, item: Entry | None) -> None:
        """None shows nothing."""
        self._entry = item
        self.widget().setVisible(item is not None)
        if item is None:
            return
        self.term.setText(item.term)
        more = [item.other] if item.other != item.term else []
        words = [word for word in item.also if word.casefold() != item.other.casefold()]
        if words:
            more.append(tr("glossary.also", words=" · ".join(words)))
        self.other.setText("   ".join(more))
        self.other.setVisible(bool(more))
        self.definition.setText(item.definition)
        self.formula.set_tex(item.formula)
        self.formula.setVisible(bool(item.formula))
        self.text.setText(item.text)
        self.see.setText(f"{escape(tr('glossary.see'))}&nbsp; {self._links(item)}")
        self.see.setAccessibleName(tr("glossary.see"))
        self.names.setText(_names(item))
        self.names.setVisible(bool(self.names.text()))
        self.source.setText(tr("glossary.source", source=item.source) if item.source else "")
        self.source.setVisible(bool(item.source))
        self.setAccessibleName(item.term)
        self.setAccessibleDescription(item.definition)
        self.verticalScrollBar().setValue(0)

    def scroll(self, pages: int) -> None:
        """A page up or down, for the keys of the sheet."""
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + pages * bar.pageStep())

    def _links(self, item: Entry) -> str:
        known = [linked for linked in map(glossary.entry, item.see) if linked is not None]
        style = f'style="color: {self._theme.accent}"'
        links = (f'<a href="{x.id}" {style}>{_unbroken(x.term)}</a>' for x in known)
        return " &nbsp;·&nbsp; ".join(links)


def _label(font: object = None, role: str = "") -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
    if font is not None:
        label.setFont(font)
    if role:
        label.setProperty("role", role)
    return label


def _unbroken(text: str) -> str:
    return escape(text).replace(" ", "&nbsp;")


def _names(item: Entry) -> str:
    """What the program calls it: the op, the axis, the names of sites and parameters."""
    said = []
    if item.op:
        said.append(tr("glossary.kind.op", name=item.op))
    if item.axis:
        said.append(tr("glossary.kind.axis", name=item.axis))
    names = [name.removeprefix("attn.") for name in item.names]
    if names:
        said.append(tr("glossary.kind.names", names=", ".join(dict.fromkeys(names))))
    return "   ·   ".join(said)
