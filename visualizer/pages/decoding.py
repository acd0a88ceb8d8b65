"""The decoding bench: how the next token is chosen, stage by stage; below it the beam search."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from visualizer import bench_actions, forcing
from visualizer.bench import BY_ID
from visualizer.i18n import tr
from visualizer.lenses.board import board
from visualizer.lenses.caption import Caption, nothing_to_show
from visualizer.lenses.pipeline import chosen, draws, staged
from visualizer.lenses.pipeline_words import (
    DrawWords,
    decoding_caption,
    draw_many_title,
    draw_words,
)
from visualizer.pages.base import Page
from visualizer.pages.beam_part import BeamPart
from visualizer.state import ViewState, current_token
from visualizer.store import Store
from visualizer.widgets.cell_line import CellLine
from visualizer.widgets.controls import Choice, card, push_button
from visualizer.widgets.draw_bar import DrawBar
from visualizer.widgets.notice import EmptyState
from visualizer.widgets.pipeline_columns import PipelineColumns
from visualizer.widgets.sampling_controls import SamplingControls
from visualizer.widgets.section_switch import SectionSwitch
from visualizer.widgets.text_block import TextBlock

# Shares of the height for the stages and for the tree, where there is room for both.
SHARES = (45, 55)
STAGES, TREE = 0, 1
WATCHED = frozenset(
    {"run", "cursor", "model", "inputs", "bench", "language", "count_from", "decimals_chosen"}
)


class DecodingPage(Page):
    """A click on a token of the columns forces it; one with Shift held, or on the draw, keeps it in
    view. Sliders show at once what they change.

    Where the stages and the tree have no room above each other, `halves` tells which has it all.
    """

    name = "decoding"
    shows_cell = False
    shows_gradients = False
    hides_right = True
    word_lines = 0
    ahead = frozenset({"inputs", "bench", "tree", "growing", "paths", "hypothesis"})

    def __init__(self, store: Store, cell: CellLine, parent: QWidget | None = None) -> None:
        super().__init__(store, cell, parent)
        em = self.em
        self.columns, self.bar = PipelineColumns(), DrawBar()
        self._words: DrawWords | None = None
        # the token under the pointer and the column that it is pointed at in
        self._pointed: tuple[int, str] | None = None
        self.sampling = SamplingControls(in_a_row=True)
        self.tools = self.sampling
        self.said = TextBlock(2)
        self.again, self.many = push_button(), push_button()
        self.of_run, self.forget = push_button(kind="quiet"), push_button(kind="quiet")
        self.sort, self.scale = Choice(), Choice()
        self.halves, self.note = SectionSwitch(self), TextBlock(1)
        self.refused = EmptyState(self)
        self.picture, inside = card()
        inside.setContentsMargins(
            round(0.9 * em), round(0.6 * em), round(0.9 * em), round(0.5 * em)
        )
        inside.setSpacing(round(0.4 * em))
        both = QHBoxLayout()
        both.setSpacing(round(1.2 * em))
        both.addWidget(self.columns, 1)
        both.addWidget(self.bar)
        inside.addLayout(both, 1)
        row = QHBoxLayout()
        row.setSpacing(round(0.5 * em))
        row.addWidget(self.said, 1)
        for widget in (self.again, self.of_run, self.many, self.forget):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        for choice in (self.sort, self.scale):
            row.addSpacing(round(0.5 * em))
            row.addWidget(choice, 0, Qt.AlignmentFlag.AlignVCenter)
        inside.addLayout(row)
        self.beams = BeamPart(store)
        head = QHBoxLayout()
        head.setSpacing(round(0.8 * em))
        head.addWidget(self.halves)
        head.addWidget(self.note, 1)
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(round(0.4 * em))
        self.body.addLayout(head)
        self.body.addWidget(self.refused, 1)
        for widget, share in zip((self.picture, self.beams), SHARES, strict=True):
            self.body.addWidget(widget, share)
        for canvas in (self.columns, self.bar, self.said):
            canvas.set_ground("surface")
        for canvas in (self.halves, self.note, self.refused):
            canvas.set_ground("page")
        self.halves.hide()
        self.refused.hide()
        self.carriers = (self.columns, self.bar, self.refused, self.beams.tree.canvas)
        self.sampling.moved.connect(self._on_sampling)
        self.columns.tokenHovered.connect(self._on_hovered)
        self.columns.left.connect(self._on_left)
        self.columns.tokenClicked.connect(self._on_clicked)
        self.columns.tokenMarked.connect(self._on_marked)
        self.columns.sortWanted.connect(self._on_sort)
        self.bar.tokenHovered.connect(self._on_bar_hovered)
        self.bar.left.connect(self._on_left)
        self.bar.tokenClicked.connect(self._on_bar_clicked)
        self.again.clicked.connect(self._on_again)
        self.of_run.clicked.connect(self._on_of_run)
        self.many.clicked.connect(self._on_many)
        self.forget.clicked.connect(self._on_forget)
        self.sort.chosen.connect(self._on_order)
        self.scale.chosen.connect(self._on_scale)
        self.halves.chosen.connect(self._on_half)

    def caption(self, state: ViewState) -> Caption | None:
        return decoding_caption(state)

    def tail(self, state: ViewState, caption: Caption) -> tuple[str, ...]:
        return ()

    def retranslate(self) -> None:
        self.sampling.retranslate()
        self.columns.describe(tr("decoding.columns"))
        self.bar.describe(tr("decoding.draw"))
        self.columns.set_empty_text(tr("decoding.none"))
        self.again.setText(tr("decoding.again"))
        self.again.setToolTip(tr("decoding.again.tip"))
        self.of_run.setText(tr("decoding.of_run"))
        self.many.setToolTip(tr("decoding.many.tip"))
        self.forget.setText(tr("decoding.forget"))
        self.sort.setToolTip(tr("decoding.sort"))
        self.scale.setToolTip(tr("decoding.scale"))

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        self.beams.set_state(state, fields)
        self._share_room()
        if not fields & WATCHED:
            return
        if fields & {"inputs", "language"}:
            self.sampling.set_inputs(state.inputs)
        found, shown, taken = staged(state), board(state), chosen(state)
        self._words = draw_words(state)
        self.columns.set_board(shown)
        self.refused.set_texts(*nothing_to_show(state.run))
        self.note.set_sentences(*filter(None, (shown and tr("decoding.log_probs"),)))
        self.bar.set_draw(
            self._words,
            None if found is None else found.distribution,
            taken,
            () if shown is None else shown.tokens,
        )
        self._say()
        here, can_draw = bench_actions.bench(state), found is not None and draws(state.inputs)
        self.again.setEnabled(can_draw)
        self.many.setEnabled(can_draw)
        self.many.setText(draw_many_title(here.times if can_draw else 0))
        self.of_run.setVisible(can_draw and here.again > 0)
        self.forget.setVisible(can_draw and here.times > 0)
        orders = (tr("decoding.sorted"), tr("decoding.by_id"))
        self.sort.set_options(orders, int(state.bench.sort == BY_ID))
        self.scale.set_options((tr("decoding.linear"), tr("decoding.log")), int(state.bench.log))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_room()

    def _share_room(self) -> None:
        """Both halves where there is room for both; else the one that was asked for."""
        state = self.store.state
        if state.model is None:
            return
        refused, tree = bool(nothing_to_show(state.run)[0]), state.bench.tree
        searched = self.beams.searched and not refused
        gap, line = self.body.spacing(), self.note.sizeHint().height()
        room = self.height() - self.picture.minimumSizeHint().height() - gap
        room -= (
            self.beams.comfortable_height() if searched else self.beams.offer.sizeHint().height()
        )
        both = room >= 0 or not searched
        self.halves.setVisible(not both)
        # what lies below needs its place more than the note does
        self.note.setVisible(not both or room >= line + gap)
        if not both:
            titles = (tr("decoding.half.stages"), tr("decoding.half.tree"))
            self.halves.set_titles(titles, TREE if tree else STAGES)
            self.halves.setFixedWidth(round(self.halves.title_rect(TREE).right()) + 1)
        # the offer of a search takes no more than its line
        place = self.body.indexOf(self.beams)
        self.body.setStretch(place, SHARES[TREE] if searched else 0)
        self.refused.setVisible(refused)
        self.picture.setVisible(not refused and (both or not tree))
        # a search can be asked for above as well
        self.beams.setVisible(refused or (room >= 0 if both else tree))

    def _say(self) -> None:
        """The token pointed at or clicked with every digit, else what the draw did."""
        shown, words = self.columns.board, self._words
        if shown is None or words is None:
            self.said.set_sentences()
            return
        token, name = self._pointed or (shown.selected, "")
        if token is None or token >= shown.size:
            self.said.set_sentences(words.warning, words.sentence, brief=words.brief)
            return
        # the histogram may have gone while it was pointed at
        column = shown.column(name) or shown.column("renormalised")
        assert column is not None
        exact = tr(
            "decoding.hover",
            token=shown.tokens[token],
            id=token,
            stage=column.title,
            value=column.exact(token),
        )
        self.said.set_sentences(exact, words.warning or words.sentence)

    # What the user does.

    def _on_sampling(self, name: str, value: object) -> None:
        self.store.dispatch(bench_actions.set_sampling, name, value)

    def _on_hovered(self, token: int, place: int) -> None:
        layout = self.columns.layout_now()
        assert layout is not None
        self._pointed = token, layout.columns[place][0].name
        self.bar.point_at(token)
        self._say()

    def _on_bar_hovered(self, token: int) -> None:
        self._pointed = token, ""
        self.columns.point_at(token)
        self._say()

    def _on_left(self) -> None:
        self._pointed = None
        self.bar.point_at(None)
        self.columns.point_at(None)
        self._say()

    def _on_clicked(self, token: int) -> None:
        self.store.dispatch(forcing.force_token, current_token(self.store.state), token)

    def _on_marked(self, token: int) -> None:
        self.store.dispatch(bench_actions.choose_token, token)

    def _on_bar_clicked(self, token: int) -> None:
        self.columns.reveal(token)
        self.store.dispatch(bench_actions.choose_token, token)

    def _on_again(self) -> None:
        self.store.dispatch(bench_actions.draw_again)

    def _on_of_run(self) -> None:
        self.store.dispatch(bench_actions.draw_as_run)

    def _on_many(self) -> None:
        self.store.dispatch(bench_actions.draw_many)

    def _on_forget(self) -> None:
        self.store.dispatch(bench_actions.forget_draws)

    def _on_sort(self, stage: str) -> None:
        self.store.dispatch(bench_actions.sort_by, stage)

    def _on_order(self, place: int) -> None:
        self.store.dispatch(bench_actions.sort_or_not, not place)

    def _on_half(self, place: int) -> None:
        self.store.dispatch(bench_actions.show_tree, place == TREE)

    def _on_scale(self, place: int) -> None:
        self.store.dispatch(bench_actions.set_log, bool(place))
