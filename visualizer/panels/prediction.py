"""Right: what the model would say next, and how a token is chosen."""

from __future__ import annotations

from collections.abc import Hashable

from PySide6.QtWidgets import QVBoxLayout, QWidget

from visualizer import actions, bench_actions, fonts, forcing, gradient_actions, navigation
from visualizer.i18n import tr
from visualizer.inquiries.lens import has_lens, shown_beside
from visualizer.lenses.attribution import attributions
from visualizer.lenses.badges import distribution_badge
from visualizer.lenses.logit_lens import depth, nothing_to_read, passes
from visualizer.lenses.pipeline import choosing
from visualizer.lenses.prediction import next_token, taken_token
from visualizer.lenses.token_labels import token_label
from visualizer.navigation import current_place, walks_back
from visualizer.panels.base import PLACE, Panel
from visualizer.state import (
    Beside,
    ViewState,
    current_tape,
    current_token,
    gradients_key,
    reads_matrix,
)
from visualizer.store import Store
from visualizer.widgets.attribution_bars import AttributionBars
from visualizer.widgets.badge_row import BadgeRow
from visualizer.widgets.bars import TokenBars
from visualizer.widgets.figures import bits
from visualizer.widgets.lens_bars import LensBars
from visualizer.widgets.sampling_controls import SamplingControls
from visualizer.widgets.section_switch import SectionSwitch
from visualizer.widgets.text_block import TextBlock

CANDIDATES = 12
# What decides which part is on show and what it shows, beside how a token is chosen.
PARTS = PLACE | {"readings", "roomy", "beside", "beside_gradients"}
TITLES: dict[Beside, str] = {
    "next_token": "ui.next_token",
    "logit_lens": "lens.title",
    "attribution": "attribution.title",
}


class PredictionPanel(Panel):
    """Bars of the cursor's decoder row; sliders that switch sampling on when moved.

    Where the window has no room for the logit lens below, it takes the place of the bars on
    demand.
    """

    watches = frozenset({"run", "cursor", "model", "inputs", "readings", "roomy", "beside"})
    watches |= {"showing", "gradients", "beside_gradients"}

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(store, parent)
        self.set_ground("surface")
        em = fonts.em(self.font())
        self.head = SectionSwitch()
        self.where = TextBlock(2)
        self.bars = TokenBars()
        self.bars.set_limit(CANDIDATES)
        self.lens = LensBars()
        self.attribution = AttributionBars()
        self.badge = BadgeRow()
        self.sampling = SamplingControls()
        self._choice: Hashable = None
        self.temperature, self.seed = self.sampling.temperature, self.sampling.seed
        column = QVBoxLayout(self)
        column.setContentsMargins(*(round(part * em) for part in (1, 0.8, 1, 0.8)))
        column.setSpacing(round(0.45 * em))
        for widget in (self.head, self.where):
            column.addWidget(widget)
        # the controls follow the bars; what room is left over lies below both
        for widget in (self.bars, self.lens, self.attribution):
            widget.setMaximumHeight(self.bars.sizeHint().height())
            column.addWidget(widget, 100)
        column.addWidget(self.badge)
        column.addWidget(self.sampling)
        column.addStretch(1)
        self.carriers = (self.bars, self.lens, self.attribution)
        self.ground("surface", *self.carriers, self.head, self.where, self.badge)
        self.head.chosen.connect(self._on_part)
        self.lens.readingClicked.connect(self._on_reading)
        self.attribution.tokenClicked.connect(self._on_reading)
        self.bars.barClicked.connect(self._on_bar)
        self.sampling.moved.connect(self._on_sampling)

    def retranslate(self) -> None:
        self.sampling.retranslate()
        self.bars.set_empty_text(tr("ui.next_token.none"))
        self.bars.describe(tr("ui.next_token"))
        self.badge.set_title(tr("audit.drawn.title"))
        self.lens.describe(tr("lens.title"))
        self.attribution.describe(tr("attribution.title"))
        self.attribution.set_empty_text(tr("attribution.none"))

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        choice = choosing(state.inputs)
        if fields & PARTS or choice != self._choice:
            self._choice = choice
            self._draw_part(state)
        if fields & {"model"}:
            self.sampling.setVisible(not reads_matrix(state.model))
        if fields & {"inputs", "language"}:
            self.sampling.set_inputs(state.inputs)

    def draw_late(self, state: ViewState, fields: frozenset[str]) -> None:
        """The checks of the bars on show; of bars that no run was drawn from there are none."""
        if fields & (PARTS | {"inputs"}):
            run = state.run
            drawn = run is not None and choosing(run.inputs) == choosing(state.inputs)
            there = drawn and self._part(state) == "next_token"
            badge = distribution_badge(state) if there else None
            self.badge.set_badges(() if badge is None else (badge,))

    def _part(self, state: ViewState) -> Beside:
        parts, shown = self._parts(state), shown_beside(state)
        return shown if shown in parts else "next_token"

    def _parts(self, state: ViewState) -> tuple[Beside, ...]:
        """What the panel can show: the logit lens where it has no panel of its own."""
        parts: tuple[Beside, ...] = ("attribution",) if gradients_key(state) is not None else ()
        alone = state.roomy or reads_matrix(state.model)
        return (*parts, "next_token") if alone else (*parts, "next_token", "logit_lens")

    def _draw_part(self, state: ViewState) -> None:
        """The bars, or the logit lens or the attribution in their place."""
        parts, part = self._parts(state), self._part(state)
        self.lens.setVisible(part == "logit_lens")
        self.attribution.setVisible(part == "attribution")
        self.bars.setVisible(part == "next_token" and not reads_matrix(state.model))
        note = ""
        if part == "logit_lens":
            self.where.set_sentences(passes(state))
            self.lens.set_empty_text(nothing_to_read(state))
            self.lens.set_depth(depth(state), waits=has_lens(state))
        elif part == "attribution":
            shares = attributions(state)
            self.attribution.set_shares(shares, waits=True)
            if shares is not None:
                self.where.set_sentences(*shares.about)
        else:
            bars = next_token(state, CANDIDATES)
            note = "" if bars is None else tr("ui.entropy", bits=bits(bars.entropy_bits))
            self.where.set_sentences(*_where(state))
            self.bars.set_bars(bars)
            self.bars.set_act("" if walks_back(state) else tr("forcing.bars.tip"))
        self.head.set_titles(tuple(tr(TITLES[name]) for name in parts), parts.index(part), note)

    def _on_part(self, part: int) -> None:
        state = self.store.state
        asked = gradients_key(state) is not None
        show = gradient_actions.show_beside if asked else actions.show_beside
        self.store.dispatch(show, self._parts(state)[part])

    def _on_bar(self, place: int) -> None:
        """A candidate is forced, or becomes what the gradients on show are of."""
        state = self.store.state
        bars = next_token(state, CANDIDATES)
        if bars is not None:
            act = gradient_actions.aim_at if walks_back(state) else forcing.force_token
            self.store.dispatch(act, current_token(state), bars.ids[place])

    def _on_reading(self, site: str, row: int) -> None:
        self.store.dispatch(navigation.go_to_record, site, row)

    def _on_sampling(self, name: str, value: object) -> None:
        self.store.dispatch(bench_actions.set_sampling, name, value)


def _where(state: ViewState) -> tuple[str, ...]:
    """Which decoder row the bars belong to, and that the encoder has none of its own."""
    tape, place = current_tape(state), current_place(state)
    if reads_matrix(state.model):
        return (tr("ui.next_token.no_decoder"),)
    if tape is None or place is None:
        return ()
    row = current_token(state)
    forced = row < forcing.forced_count(state)
    said = tr(
        "forcing.where" if forced else "ui.next_token.where",
        n=row + state.count_from,
        token=token_label(tape.target_tokens[row]),
        next=_next(state),
    )
    return (said, tr("ui.next_token.encoder")) if place.side == "encoder" else (said,)


def _next(state: ViewState) -> str:
    taken = taken_token(state)
    assert state.model is not None
    vocabulary = state.model.model.tokenizer.target_vocabulary
    return "" if taken is None else token_label(vocabulary[taken])
