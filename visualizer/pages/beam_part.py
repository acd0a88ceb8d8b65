"""Beam search, live: the tree, the best of the finished, and what the search is set to."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from visualizer import decoding_actions, fonts
from visualizer.actions import LEAST_PENALTY, MOST_BEAMS, MOST_PENALTY
from visualizer.i18n import tr
from visualizer.inquiries.hypothesis import hypothesis_key
from visualizer.lenses.beam_tree import Ids, beam_tree
from visualizer.lenses.beam_words import facts, ranked, reading
from visualizer.lenses.caption import nothing_to_show
from visualizer.state import FIELDS, ViewState
from visualizer.store import Store
from visualizer.widgets.beam_head import BeamHead, Entry
from visualizer.widgets.beam_list import BeamList
from visualizer.widgets.beam_tree import BeamTreeView
from visualizer.widgets.canvas import Plain
from visualizer.widgets.controls import Choice, LabelledSlider, card, push_button
from visualizer.widgets.glossary_link import TermLabel
from visualizer.widgets.reading_strip import ReadingStrip
from visualizer.widgets.text_block import TextBlock

SHOWS = frozenset(
    {"run", "inputs", "model", "tree", "growing", "paths", "hypothesis"}
    | {"language", "count_from", "page"}
)
FOUND = frozenset({"paths", "hypothesis"})
STOPPING = (False, True, "never")
SCORES = ("normalised", "cumulative")
# The column at the right, in parts of the font's size.
ASIDE = 21.0


class BeamPart(Plain):
    """The lower half of the decoding bench; without a search it offers one."""

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_ground("page")
        self.store = store
        em = fonts.em(self.font())
        self.head = BeamHead()
        self.head.set_ground("page")
        self.tree = BeamTreeView()
        self.reading = ReadingStrip()
        self.list = BeamList()
        self.said = TextBlock(1)
        self.start = push_button(kind="primary")
        self.beams, self.penalty, self.limit, self.n_best = (LabelledSlider() for _ in range(4))
        self.stopping, self.score = Choice(), Choice()
        self.stopping_label, self.score_label = TermLabel(), TermLabel()
        for canvas in (self.reading, self.list, self.said):
            canvas.set_ground("surface")
        self.frame, inside = card(self)
        inside.setContentsMargins(*(round(part * em) for part in (0.7, 0.4, 0.9, 0.5)))
        inside.addLayout(self._made_search(em))
        self.offer = self._made_offer(em)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(round(0.4 * em))
        whole.addWidget(self.head)
        whole.addWidget(self.frame, 1)
        whole.addWidget(self.offer)
        self._search_or_offer(False)
        self._connect()

    def _made_search(self, em: float) -> QHBoxLayout:
        left, right = QVBoxLayout(), QVBoxLayout()
        for column in (left, right):
            column.setSpacing(round(0.15 * em))
        left.addWidget(self.tree, 1)
        below = QHBoxLayout()
        below.addWidget(self.reading, 1)
        below.addWidget(self.tree.zoom_buttons, 0, Qt.AlignmentFlag.AlignTop)
        left.addLayout(below)
        # the slider that says how many are listed is the list's heading
        right.addWidget(self.n_best)
        lines = QScrollArea()
        lines.setWidgetResizable(True)
        lines.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        lines.setWidget(self.list)
        right.addWidget(lines, 1)
        for slider in (self.beams, self.penalty, self.limit):
            right.addWidget(slider)
        grid = QGridLayout()
        grid.setVerticalSpacing(round(0.2 * em))
        rows = ((self.stopping_label, self.stopping), (self.score_label, self.score))
        for row, (label, choice) in enumerate(rows):
            label.setProperty("role", "muted")
            grid.addWidget(label, row, 0)
            grid.addWidget(choice, row, 1)
        grid.setColumnStretch(2, 1)
        right.addLayout(grid)
        settings = QWidget()
        settings.setProperty("role", "surface")
        right.setContentsMargins(0, 0, 0, 0)
        settings.setLayout(right)
        # where there is no room for all of it, it is scrolled to
        self.aside = QScrollArea()
        self.aside.setFrameShape(QFrame.Shape.NoFrame)
        self.aside.setWidgetResizable(True)
        self.aside.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.aside.setWidget(settings)
        self.aside.setFixedWidth(round(ASIDE * em))
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(round(1.2 * em))
        row.addLayout(left, 1)
        row.addWidget(self.aside)
        return row

    def _made_offer(self, em: float) -> QWidget:
        offer, inside = card(self)
        edge = round(0.4 * em)
        inside.setContentsMargins(round(0.9 * em), edge, round(0.9 * em), edge)
        row = QHBoxLayout()
        row.setSpacing(round(0.8 * em))
        row.addWidget(self.said, 1)
        row.addWidget(self.start)
        inside.addLayout(row)
        offer.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        return offer

    def _connect(self) -> None:
        self.tree.canvas.hovered.connect(self._on_hover)
        self.tree.canvas.clicked.connect(self._on_pin)
        self.tree.canvas.zoomWanted.connect(self._on_zoom)
        self.list.clicked.connect(self._on_line)
        self.head.toggled.connect(self._on_toggle)
        self.start.clicked.connect(self._on_start)
        self.beams.moved.connect(self._on_beams)
        self.penalty.moved.connect(self._on_penalty)
        self.limit.moved.connect(self._on_limit)
        self.n_best.moved.connect(self._on_n_best)
        self.stopping.chosen.connect(self._on_stopping)
        self.score.chosen.connect(self._on_score)

    @property
    def searched(self) -> bool:
        """Whether there is a tree to show, and not the offer of one."""
        return not self.frame.isHidden()

    def comfortable_height(self) -> int:
        """What it needs for a tree beside all settings."""
        settings, line = self.aside.widget(), self.layout()
        assert settings is not None and line is not None
        edges = self.frame.layout().contentsMargins()
        inside = settings.minimumSizeHint().height() + edges.top() + edges.bottom()
        return self.head.sizeHint().height() + line.spacing() + inside

    def _search_or_offer(self, searched: bool) -> None:
        for widget in (self.head, self.frame):
            widget.setVisible(searched)
        self.offer.setVisible(not searched)

    @property
    def sliders(self) -> tuple[LabelledSlider, ...]:
        return self.beams, self.penalty, self.limit, self.n_best

    # Words.

    def retranslate(self) -> None:
        """Read the words that do not depend on the state anew."""
        keys = ("width", "penalty", "limit", "n_best")
        labels = tuple(tr(f"beams.{key}") for key in keys)
        room = max(map(self.fontMetrics().horizontalAdvance, labels))
        width = room + round(0.4 * fonts.em(self.font()))
        for slider, key, label in zip(self.sliders, keys, labels, strict=True):
            slider.set_label(label, width)
            slider.setToolTip(tr(f"beams.{key}.tip"))
        self.stopping_label.setText(tr("beams.stopping"))
        self.score_label.setText(tr("beams.score"))
        for label in (self.stopping_label, self.score_label):
            label.setMinimumWidth(width)
        self.stopping.setToolTip(tr("beams.stopping.tip"))
        self.score.setToolTip(tr("beams.score.tip"))
        self.tree.canvas.describe(tr("beams.tree"))
        self.tree.zoom_buttons.describe(
            tr("beams.wider"), tr("beams.narrower"), tr("beams.fitting")
        )

    # Drawing.

    def set_state(self, state: ViewState, fields: frozenset[str] = FIELDS) -> None:
        """Show the state; only ever called while it is on screen."""
        if "language" in fields:
            self.retranslate()
        if not fields & SHOWS:
            return
        tree = beam_tree(state)
        self._search_or_offer(tree is not None)
        self.head.set_words(tr("beams.title"), *facts(state), self._legend(state))
        if tree is None:
            self._draw_offer(state)
            return
        self.tree.set_tree(tree, state.tree.score, state.tree.zoom)
        self._draw_reading(state)
        if not fields <= FOUND:
            self._draw_list(state)
            self._draw_controls(state)

    def _legend(self, state: ViewState) -> tuple[Entry, ...]:
        if beam_tree(state) is None:
            return ()
        marks = ["kept", "pruned", "finished"]
        if state.run is not None and state.run.inputs.pinned is not None:
            marks.append("traced")
        marked = [Entry(mark, tr(f"beams.legend.{mark}")) for mark in marks]
        seed = state.inputs.seed if state.run is None else state.run.inputs.seed
        tip = tr("beams.legend.tip")
        marked.append(Entry("greedy", tr("beams.legend.greedy"), state.tree.greedy, tip))
        sampled = tr("beams.legend.sampled", seed=seed)
        marked.append(Entry("sampled", sampled, state.tree.sampled, tip))
        return tuple(marked)

    def _draw_offer(self, state: ViewState) -> None:
        typed = state.run is not None and state.run.inputs.target is not None
        said = tr("beams.empty.target") if typed else tr("beams.empty")
        self.said.set_sentences(tr("beams.empty.title"), said)
        one = ".one" if state.inputs.beams == 1 else ""
        self.start.setText(tr(f"beams.empty.button{one}", n=state.inputs.beams))
        # what is refused, is typed or has no model is not searched for
        possible = not nothing_to_show(state.run)[0] and state.inputs.target is None
        self.start.setVisible(possible and state.model is not None)
        self.start.setEnabled(state.inputs.strategy != "beam")

    def _draw_list(self, state: ViewState) -> None:
        lines = ranked(state)
        tips = tuple(
            "\n".join((line.text, tr("beams.list.score", score=line.exact), tr("beams.list.tip")))
            for line in lines
        )
        self.list.set_lines(lines, tr("beams.list.none"), tips)

    def _draw_controls(self, state: ViewState) -> None:
        inputs, most = state.inputs, self._most_tokens(state)
        self.beams.set_range(1, MOST_BEAMS, 1, "{:.0f}".format)
        self.penalty.set_range(LEAST_PENALTY, MOST_PENALTY, 0.1, "{:.1f}".format)
        self.limit.set_range(1, most + 1, 1, self._limit_text)
        # no more are ever finished than run on
        self.n_best.set_range(1, inputs.beams, 1, "{:.0f}".format)
        self.beams.set_value(inputs.beams)
        self.penalty.set_value(inputs.length_penalty)
        self.limit.set_value(min(inputs.max_new_tokens or most + 1, most + 1))
        self.n_best.set_value(min(state.tree.n_best, inputs.beams))
        words = tuple(tr(f"beams.stopping.{word}") for word in ("no", "yes", "never"))
        self.stopping.set_options(words, STOPPING.index(inputs.early_stopping))
        kinds = tuple(tr(f"beams.score.{kind}") for kind in SCORES)
        self.score.set_options(kinds, SCORES.index(state.tree.score))

    def _draw_reading(self, state: ViewState) -> None:
        told = reading(state)
        if told is not None:
            head = tr("beams.reads", token=told.token)
            self.reading.set_reading(head, told.record, told.words, told.weights)
        elif hypothesis_key(state) is not None:
            self.reading.say(tr("beams.reads.waiting"))
        else:
            self.reading.say(tr("beams.reads.hint"))

    @staticmethod
    def _most_tokens(state: ViewState) -> int:
        return 1 if state.model is None else int(state.model.model.config.max_seq_len)

    def _limit_text(self, value: float) -> str:
        free = value > self._most_tokens(self.store.state)
        return tr("ui.off") if free else f"{value:.0f}"

    # What the user does.

    def _on_hover(self, ids: Ids | None) -> None:
        self.store.dispatch(decoding_actions.hover_hypothesis, ids)

    def _on_pin(self, ids: Ids) -> None:
        self.store.dispatch(decoding_actions.pin_hypothesis, ids)

    def _on_line(self, ids: Ids) -> None:
        self.tree.show_ids(ids)
        self.store.dispatch(decoding_actions.pin_hypothesis, ids)

    def _on_zoom(self, factor: float) -> None:
        self.store.dispatch(decoding_actions.zoom_tree, factor)

    def _on_toggle(self, mark: str) -> None:
        tree = self.store.state.tree
        if mark == "greedy":
            self.store.dispatch(decoding_actions.lay_greedy, not tree.greedy)
        else:
            self.store.dispatch(decoding_actions.lay_sampled, not tree.sampled)

    def _on_start(self) -> None:
        self.store.dispatch(decoding_actions.choose_strategy, "beam")

    def _on_beams(self, value: float) -> None:
        self.store.dispatch(decoding_actions.set_beams, int(value))

    def _on_penalty(self, value: float) -> None:
        self.store.dispatch(decoding_actions.set_length_penalty, value)

    def _on_limit(self, value: float) -> None:
        free = value > self._most_tokens(self.store.state)
        self.store.dispatch(decoding_actions.set_max_new_tokens, None if free else int(value))

    def _on_n_best(self, value: float) -> None:
        self.store.dispatch(decoding_actions.set_n_best, int(value))

    def _on_stopping(self, index: int) -> None:
        self.store.dispatch(decoding_actions.set_early_stopping, STOPPING[index])

    def _on_score(self, index: int) -> None:
        self.store.dispatch(decoding_actions.show_score, SCORES[index])
