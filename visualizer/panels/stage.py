"""Centre: the page that has the stage, with its heading, its formula and its plain words."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from model_core.ops.base import Origin
from visualizer import actions, copying, fonts, gradient_actions, navigation, trail
from visualizer.i18n import tr
from visualizer.inquiries.audit import audit_key, current_audit
from visualizer.lenses.badges import badges
from visualizer.lenses.caption import Caption, Chip, chips, run_message
from visualizer.lenses.check import can_check, check_text
from visualizer.lenses.offered import is_offered
from visualizer.lenses.target_choice import target_choice
from visualizer.menus import Menu
from visualizer.pages import PAGES, Pages, is_imported, page_class
from visualizer.pages.base import Page
from visualizer.panels.base import Panel
from visualizer.state import (
    FIELDS,
    PageName,
    ViewState,
    current_tape,
    shown_gradients,
    shown_site,
    target_of,
)
from visualizer.store import Store
from visualizer.widgets.badge_row import BadgeRow
from visualizer.widgets.breadcrumb import Breadcrumb
from visualizer.widgets.cell_line import CellLine
from visualizer.widgets.check_line import CheckLine
from visualizer.widgets.controls import card, push_button
from visualizer.widgets.formula import Formula
from visualizer.widgets.op_chips import OpChips
from visualizer.widgets.page_tabs import PageTabs
from visualizer.widgets.stacks import PageStack, ToolStack
from visualizer.widgets.target_chooser import TargetChooser
from visualizer.widgets.text_block import TextBlock

POINTER = frozenset({"hovered", "hovered_site", "share"})
WATCHED = POINTER | {
    *("run", "cursor", "head", "selected", "editing", "model"),
    *("page", "showing", "target", "parameter", "linked", "trail"),
    *("gradients", "audit", "readings", "difference", "check", "inputs"),
    *("bench", "conversation", "lab", "tree", "growing", "paths"),
    *("hypothesis", "training_step", "glass", "step_check", "mistake_run", "notice", "unopened"),
}
# Of these a page tells whether it shows them before their run has come.
AHEAD = frozenset({"inputs", "bench", "lab", "tree", "growing", "paths", "hypothesis", "notice"})
# What may change without the heading and the words above the page being read anew.
QUIET = POINTER | {"selected", "editing", "audit", "difference", "check"}
# How long nothing must happen before a page is made that may be looked at next, in milliseconds.
QUIET_TIME = 150
# The pages that have a tab of their own, and those that belong under another's.
TABS: tuple[PageName, ...] = (
    "chat",
    "record",
    "layers",
    "attention",
    "lens",
    "decoding",
    "step",
    "train",
)
# Those that have shorter words as well, for a narrow window.
SHORTER: tuple[PageName, ...] = ("layers", "attention")
UNDER: dict[PageName, PageName] = {"heads": "attention"}


class StagePanel(Panel):
    """Has the keys of the walk when nothing else has the focus.

    copyWanted(whether the whole record is meant and not the number alone)
    """

    copyWanted = Signal(bool)
    watches = WATCHED

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(store, parent)
        self.set_ground("page")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        em = fonts.em(self.font())
        self.tabs = PageTabs()
        self.target = TargetChooser()
        self.target.hide()
        self.breadcrumb = Breadcrumb()
        self.formula = Formula()
        # Stacked layouts show their first widget at once: without a parent as a window of its own.
        self.ops = OpChips(self)
        self.ops.set_align_right(True)
        self.words = TextBlock(2)
        self.remark = QLabel()
        self.remark.setProperty("role", "warning")
        self.remark.setWordWrap(True)
        self.cell = CellLine()
        self.badges = BadgeRow()
        self._chips: tuple[Chip, ...] = ()
        self.body = PageStack()
        self.tools = ToolStack()
        self.tools.addWidget(self.ops)
        self.pages = Pages(self._made)
        self.page = self.pages["record"]
        self._idle = QTimer(self)
        self._idle.setSingleShot(True)
        self._idle.setInterval(QUIET_TIME)
        self._idle.timeout.connect(self._make_ahead)

        second = QHBoxLayout()
        second.setSpacing(round(em))
        second.addWidget(self.formula, 1)
        second.addLayout(self.tools, 2)
        self.lower, inside = card()
        edge = round(0.5 * em)
        inside.setContentsMargins(round(0.8 * em), edge, round(0.8 * em), edge)
        inside.setSpacing(round(0.2 * em))
        inside.addWidget(self.cell)
        # the checks of the record at the left, what can be done with the cell at the right
        self.below = QHBoxLayout()
        inside.addLayout(self.below)
        self.checked = CheckLine()
        self.check, self.copy = push_button(kind="quiet"), push_button(kind="quiet")
        self.below.addWidget(self.badges, 1)
        for widget in (self.checked, self.check, self.copy):
            self.below.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(
            round(1.1 * em), round(0.4 * em), round(1.1 * em), round(0.6 * em)
        )
        column.setSpacing(round(0.4 * em))
        column.addWidget(self.tabs)
        column.addWidget(self.target)
        column.addWidget(self.breadcrumb)
        column.addLayout(second)
        column.addWidget(self.words)
        column.addWidget(self.remark)
        column.addLayout(self.body, 1)
        column.addWidget(self.lower)
        self.ground("page", self.tabs, self.breadcrumb, self.formula, self.ops, self.words)
        self.ground("surface", self.cell, self.badges, self.checked)
        self.tabs.pageChosen.connect(self._on_page)
        self.tabs.showingChosen.connect(self._on_showing)
        self.tabs.backWanted.connect(self._on_back)
        self.ops.chosen.connect(self._on_op)
        self.copy.clicked.connect(self._on_copy)
        self.check.clicked.connect(self._on_check)
        self.target.kindChosen.connect(self._on_kind)
        self.target.tokenChosen.connect(self._on_token)
        self.target.rowChosen.connect(self._on_row)
        self.target.followWanted.connect(self._on_follow)
        self.target.left.connect(self.setFocus)
        self.cell.linkClicked.connect(self._on_link)
        self.cell.shareClicked.connect(self._on_share)
        self.badges.badgeClicked.connect(self._on_badge)

    def retranslate(self) -> None:
        self.setAccessibleName(tr("ui.stage"))
        self.ops.describe(tr("ui.ops"))
        self.copy.setText(tr("copy.button"))
        self.check.setText(tr("check.button"))
        self.check.setToolTip(tr("check.tip"))
        kinds = (tr("target.kind.log_prob"), tr("target.kind.loss"))
        words = (tr(f"target.{name}") for name in ("of", "at", "follow", "waiting"))
        self.target.set_words(tr("target.head"), kinds, *words)
        tips = ("target.kind.tip", "target.token.tip", "target.row.tip", "target.follow.tip")
        self.target.set_tips(*(tr(key) for key in tips))
        self.tabs.describe(tr("page.tabs"))
        short = {name: tr(f"page.{name}.short") for name in SHORTER}
        self.tabs.set_back(tr("page.back"), short)
        self.badges.set_title(tr("audit.title"))
        for page in self.pages.values():
            page.retranslate()

    # Pages.

    def _made(self, kind: type[Page]) -> Page:
        """A page of its kind, as if it had been there from the first."""
        page = kind(self.store, self.cell, self)
        page.left.connect(self.setFocus)
        self.body.addWidget(page)
        late = [page]
        if page.tools is not None:
            self.tools.addWidget(page.tools)
            late.append(page.tools)
        self.carriers += page.carriers
        page.retranslate()
        self.dress(self, *late)
        for canvas in page.carriers:
            canvas.take_stamp(self.stamp)
        return page

    def _make_ahead(self) -> None:
        """Import a page that can be looked at next, then make it, while nothing else happens."""
        state = self.store.state
        late = [name for name in PAGES if name not in self.pages and is_offered(state, name)]
        if not late:
            return
        if is_imported(late[0]):
            with self.store.drawing():
                self.pages[late[0]]
        else:
            page_class(late[0])
        self._idle.start()

    def retire(self) -> None:
        self._idle.stop()
        super().retire()

    # Drawing.

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        if state.run is not None:
            self._idle.start()
        page = self._page_of(state)
        if page is not self.page:
            self.page, fields = page, FIELDS
            self.body.setCurrentWidget(page)
            self._fit_words(page)
        elif fields <= AHEAD:
            if fields & page.ahead:
                if page.words_ahead:
                    self._draw_words(state)
                page.draw(state, fields)
            return
        # of all pages only the logit lens's tells of its readings in words
        if not fields <= (QUIET if self.page.name == "lens" else QUIET | {"readings"}):
            self._draw_tabs(state)
            self._draw_words(state)
        if not fields <= {"audit", "check", "difference"}:
            self.page.draw(state, fields)
        self.lower.setVisible(self.page.shows_cell and current_tape(state) is not None)

    def draw_late(self, state: ViewState, fields: frozenset[str]) -> None:
        if not fields <= POINTER | AHEAD:
            self._draw_badges(state)
            self._draw_check(state)

    def _fit_words(self, page: Page) -> None:
        """No more room above a page that needs it than what stands there takes."""
        for widget in (self.breadcrumb, self.formula):
            widget.setVisible(not page.own_heading)
        self.words.setVisible(page.word_lines > 0)
        self.tools.set_needed(not page.own_heading)
        self.words.set_lines(page.word_lines)
        low, policy = page.word_lines < 2, self.ops.sizePolicy()
        policy.setVerticalPolicy(policy.Policy.Ignored if low else policy.Policy.Minimum)
        policy.setHeightForWidth(not low)
        self.ops.setSizePolicy(policy)

    def _page_of(self, state: ViewState) -> Page:
        usable = state.page in PAGES and is_offered(state, state.page)
        return self.pages[state.page if usable else "record"]

    def _draw_tabs(self, state: ViewState) -> None:
        shown = [name for name in TABS if is_offered(state, name)]
        here = UNDER.get(self.page.name, self.page.name)
        self.tabs.set_tabs(
            tuple((name, tr(f"page.{name}")) for name in shown),
            here,
            bool(state.trail),
        )
        some = state.run is not None and state.run.rows and self.page.shows_gradients
        showing = ("values", "gradients") if some else ()
        self.tabs.set_showing(tuple((n, tr(f"showing.{n}")) for n in showing), state.showing)

        choice = target_choice(state) if some else None
        labels = "" if choice is None else tr("target.against", labels=choice.labels)
        self.target.set_choice(choice, labels)

    def _draw_check(self, state: ViewState) -> None:
        """What can be done with the number in focus, and what its check has brought."""
        self.check.setVisible(can_check(state))
        self.copy.setVisible(copying.can_copy(replace(state, page=self.page.name)))
        asked = state.check is not None and state.showing == "gradients"
        self.checked.set_check(check_text(state, copying.focus(state)) if asked else None)

    def _draw_badges(self, state: ViewState) -> None:
        """The checks of the record on show; until they have come, that they are under way."""
        audit, asked = current_audit(state), audit_key(state) is not None
        waiting = tr("audit.checking") if asked and audit is None else ""
        self.badges.set_badges(() if audit is None else badges(state, audit), waiting)

    def _draw_words(self, state: ViewState) -> None:
        words = self.page.caption(state)
        remark = run_message(state.run) if words is not None else ""
        self.remark.setText(remark)
        self.remark.setVisible(bool(remark))
        self._draw_tools(state)
        if words is None:
            self.breadcrumb.clear()
            self.formula.set_tex("")
            # the page's own tools have all the room
            self.formula.setVisible(self.page.tools is None)
            self.words.set_sentences()
            return
        self._draw_heading(words, self.page.tail(state, words))
        self.formula.set_tex(words.formula)
        self.formula.setVisible(bool(words.formula) or self.page.tools is None)
        self.words.set_sentences(words.sentence, words.why)

    def _draw_heading(self, words: Caption, tail: tuple[str, ...]) -> None:
        self.breadcrumb.set_place(
            (words.side_title, words.side),
            words.layer_title,
            words.title,
            tail,
            words.site,
            words.shape,
        )

    def _draw_tools(self, state: ViewState) -> None:
        """The ops of the sublayer, or what the page has in their place."""
        self.tools.setCurrentWidget(self.page.tools or self.ops)
        self._chips = chips(state)
        current = next((i for i, chip in enumerate(self._chips) if chip.current), -1)
        self.ops.set_ops(
            tuple(chip.label for chip in self._chips),
            current if self.page.name == "record" else -1,
            tuple(chip.site for chip in self._chips),
        )

    # What the user does.

    def _on_op(self, index: int) -> None:
        self.store.dispatch(navigation.go_to_record, self._chips[index].site)

    def _on_page(self, name: PageName) -> None:
        self.store.dispatch(actions.show_page, name)

    def _on_showing(self, showing: str) -> None:
        self.store.dispatch(actions.set_showing, showing)

    def _on_back(self) -> None:
        self.store.dispatch(trail.go_back)

    def _on_copy(self) -> None:
        """What the text is to print: the number, or all of its record."""
        menu = Menu(self)
        menu.command(f"{tr('copy.cell')}\tCtrl+C", partial(self.copyWanted.emit, False))
        menu.command(f"{tr('copy.whole')}\tCtrl+Shift+C", partial(self.copyWanted.emit, True))
        menu.below(self.copy)

    def _on_check(self) -> None:
        state = self.store.state
        focus = copying.focus(state) if can_check(state) else None
        if focus is not None:
            self.store.dispatch(gradient_actions.check_cell, *focus)

    def _on_kind(self, kind: str) -> None:
        state = self.store.state
        if kind == "loss":
            self.store.dispatch(gradient_actions.aim_at_loss)
        elif target_of(state).kind == "loss":
            self.store.dispatch(gradient_actions.follow_cursor)

    def _on_token(self, text: str) -> None:
        choice = target_choice(self.store.state)
        if choice is None or text not in choice.vocabulary:
            self.store.dispatch(actions.show_notice, "error.no_token", "error", text=text)
        else:
            self.store.dispatch(gradient_actions.aim_at_token, choice.vocabulary.index(text))

    def _on_row(self, row: int) -> None:
        count_from = self.store.state.count_from
        self.store.dispatch(gradient_actions.aim_at_row, row - count_from)

    def _on_follow(self) -> None:
        self.store.dispatch(gradient_actions.follow_cursor)

    def _on_link(self, origin: Origin) -> None:
        self.store.dispatch(trail.follow, origin)

    def _on_badge(self, number: int) -> None:
        cell, site = self.badges.badges[number].cell, shown_site(self.store.state)
        assert cell is not None and site is not None
        of = "gradient" if shown_gradients(self.store.state) is not None else "value"
        self.store.dispatch(trail.follow, Origin(site, cell, of))

    def _on_share(self, share: int) -> None:
        self.store.dispatch(actions.spell_out, share)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """What the page has no use for is the window's."""
        if not self.page.take_key(event):
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
