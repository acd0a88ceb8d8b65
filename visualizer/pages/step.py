"""One training step under the glass: its batch, then stage by stage what becomes of it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from model_core.ops.base import Origin
from visualizer import step_actions
from visualizer.i18n import tr
from visualizer.inquiries.step import current_step, refusal
from visualizer.lenses import step as lens
from visualizer.lenses import step_words as said
from visualizer.lenses.caption import Caption
from visualizer.pages.base import Page
from visualizer.pages.zoom import zoom_words
from visualizer.sentences import pairs_of
from visualizer.state import ViewState
from visualizer.step_view import MOST_PAIRS, STAGES
from visualizer.store import Store
from visualizer.widgets.cell_line import CellLine
from visualizer.widgets.controls import Choice, SectionHead, card, push_button
from visualizer.widgets.heatmap import HeatMap
from visualizer.widgets.mistake_switches import MistakeSwitches
from visualizer.widgets.pair_fields import PairFields
from visualizer.widgets.step_pictures import LossCurves, NormBars
from visualizer.widgets.step_table import StepTable
from visualizer.widgets.text_block import TextBlock
from visualizer.widgets.update_formulas import UpdateFormulas

WATCHED = frozenset(
    {"training_step", "glass", "step_check", "mistake_run", "run", "model", "head"}
    | {"language", "count_from", "decimals_chosen", "page"}
)
# The table's share of a stage with a picture beside it.
TABLE, PICTURE = 34, 66


class StepPage(Page):
    """The arrow keys up and down go through the table of the stage."""

    name = "step"
    shows_cell = False
    shows_gradients = False
    hides_right = True
    word_lines = 1

    def __init__(self, store: Store, cell: CellLine, parent: QWidget | None = None) -> None:
        super().__init__(store, cell, parent)
        self.stages = Choice(self)
        self.tools = self.stages
        self.fields = PairFields(MOST_PAIRS)
        self.batch, self.losses = StepTable(3, 2), StepTable(3, 1)
        self.masks, self.gradients, self.weights = StepTable(), StepTable(), StepTable()
        self.norms, self.checks = StepTable(), StepTable()
        self.mask, self.gradient = HeatMap(), HeatMap()
        self.changes = (HeatMap(), HeatMap(), HeatMap())
        self.heads = (SectionHead(), SectionHead(), SectionHead())
        # the cell that was pointed at last, and which part of its gradient is spelled out
        self._pointed: tuple[int, int] = (0, 0)
        self._share: int | None = None
        self.cells = (CellLine(), CellLine())
        self.sentences = (Choice(), Choice())
        self.bars, self.formulas = NormBars(), UpdateFormulas()
        self.weight, self.checked = SectionHead(), TextBlock(1)
        self.check, self.train = push_button(kind="primary"), push_button(kind="primary")
        self.switches, self.curves = MistakeSwitches(), LossCurves()
        self.parts = QStackedLayout(self)
        made: dict[str, Callable[[], QWidget]] = {
            "batch": self._made_batch,
            "forward": lambda: self._made_pictured(0, self.masks, self.mask),
            "loss": lambda: self._carded(self.losses),
            "backward": lambda: self._made_pictured(1, self.gradients, self.gradient),
            "clipping": lambda: self._carded(self.bars, self.norms),
            "adam": self._made_adam,
            "check": self._made_check,
            "mistakes": self._made_mistakes,
        }
        for stage in STAGES:
            self.parts.addWidget(made[stage]())
        tables = (self.batch, self.losses, self.masks, self.gradients, self.weights)
        self.tables = dict(
            zip(
                ("batch", "loss", "forward", "backward", "adam", "clipping", "check"),
                (*tables, self.norms, self.checks),
                strict=True,
            )
        )
        heatmaps = (self.mask, self.gradient, *self.changes)
        self.carriers = (*self.tables.values(), *heatmaps, self.bars, self.curves, self.formulas)
        for canvas in (*self.tables.values(), *self.cells, self.bars, self.curves, self.checked):
            canvas.set_ground("surface")
        for canvas in (self.weight, self.formulas, *self.heads):
            canvas.set_ground("surface")
        self._connect()

    # Making.

    def _carded(self, *widgets: QWidget) -> QWidget:
        frame, inside = card(self)
        for widget in widgets:
            inside.addWidget(widget)
        return frame

    def _made_batch(self) -> QWidget:
        frame, inside = card(self)
        inside.addWidget(self.fields)
        inside.addWidget(self.batch, 1)
        return frame

    def _made_pictured(self, number: int, table: StepTable, picture: HeatMap) -> QWidget:
        """A table with a picture beside it, and how the cell under the pointer comes about."""
        em, whole = self.em, QWidget(self)
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(round(0.5 * em))
        row = QHBoxLayout()
        row.setSpacing(round(0.6 * em))
        left, inside = card(whole)
        inside.addWidget(table, 1)
        inside.addWidget(self.sentences[number], 0, Qt.AlignmentFlag.AlignLeft)
        row.addWidget(left, TABLE)
        row.addWidget(self._carded(picture), PICTURE)
        column.addLayout(row, 1)
        lower, inside = card(whole)
        edge = round(0.5 * em)
        inside.setContentsMargins(round(0.8 * em), edge, round(0.8 * em), edge)
        inside.addWidget(self.cells[number])
        column.addWidget(lower)
        return whole

    def _made_adam(self) -> QWidget:
        em, whole = self.em, QWidget(self)
        row = QHBoxLayout(whole)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(round(0.6 * em))
        left, inside = card(whole)
        inside.addWidget(self.weights)
        row.addWidget(left, 27)
        right = QVBoxLayout()
        right.setSpacing(round(0.5 * em))
        upper, inside = card(whole)
        inside.setSpacing(0)
        inside.addWidget(self.weight)
        inside.addWidget(self.formulas)
        right.addWidget(upper)
        lower, inside = card(whole)
        pictures = QHBoxLayout()
        for head, heatmap in zip(self.heads, self.changes, strict=True):
            column = QVBoxLayout()
            column.setSpacing(0)
            column.addWidget(head)
            column.addWidget(heatmap, 1)
            pictures.addLayout(column, 1)
        inside.addLayout(pictures)
        right.addWidget(lower, 1)
        row.addLayout(right, 73)
        return whole

    def _made_check(self) -> QWidget:
        frame, inside = card(self)
        row = QHBoxLayout()
        row.addWidget(self.checked, 1)
        row.addWidget(self.check)
        inside.addLayout(row)
        inside.addWidget(self.checks, 1)
        return frame

    def _made_mistakes(self) -> QWidget:
        em, whole = self.em, QWidget(self)
        row = QHBoxLayout(whole)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(round(0.6 * em))
        row.addWidget(self._carded(self.switches), 55)
        right, inside = card(whole)
        inside.addWidget(self.curves, 1)
        inside.addWidget(self.train, 0, Qt.AlignmentFlag.AlignRight)
        row.addWidget(right, 45)
        return whole

    def _connect(self) -> None:
        dispatch, do = self.store.dispatch, step_actions
        self.stages.chosen.connect(lambda place: dispatch(do.show_stage, STAGES[place]))
        self.fields.edited.connect(lambda *typed: dispatch(do.set_pair, *typed))
        self.fields.added.connect(lambda: dispatch(do.add_pair))
        self.fields.removed.connect(lambda: dispatch(do.drop_pair))
        self.fields.drawn.connect(self._on_draw)
        self.fields.seedEdited.connect(lambda seed: dispatch(do.set_seed, seed))
        self.fields.freshChosen.connect(lambda fresh: dispatch(do.set_fresh, fresh))
        self.masks.rowClicked.connect(lambda site: dispatch(do.look_at_mask, site))
        self.gradients.rowClicked.connect(lambda site: dispatch(do.look_at_site, site))
        self.weights.rowClicked.connect(lambda name: dispatch(do.look_at_parameter, name))
        for choice in self.sentences:
            choice.chosen.connect(lambda place: dispatch(do.look_at_sentence, place))
        for number, heatmap in enumerate((self.mask, self.gradient)):
            heatmap.cellHovered.connect(lambda r, c, n=number: self._point_at(n, (r, c)))
        self.cells[1].linkClicked.connect(self._on_link)
        self.cells[1].shareClicked.connect(self._on_share)
        for heatmap in self.changes:
            heatmap.cellClicked.connect(self._on_weight)
        self.check.clicked.connect(self._on_check)
        self.train.clicked.connect(self._on_train)
        self.switches.toggled.connect(lambda name: dispatch(do.toggle_mistake, name))

    # Drawing.

    def caption(self, state: ViewState) -> Caption | None:
        return said.step_caption(state)

    def tail(self, state: ViewState, caption: Caption) -> tuple[str, ...]:
        return ()

    def retranslate(self) -> None:
        self.fields.retranslate()
        self.formulas.describe(tr("step.formulas"))
        for heatmap, key in zip(
            (self.mask, self.gradient, *self.changes),
            ("mask", "gradient", "weight_before", "weight_update", "weight_after"),
            strict=True,
        ):
            heatmap.describe(tr(f"step.{key}"))
            heatmap.set_zoom_words(zoom_words())
            heatmap.set_empty_text(tr("step.waiting"))
        for table in self.tables.values():
            table.set_empty_text(tr("step.waiting"))
        self.mask.set_empty_text(tr("step.no_mask"))

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        if not fields & WATCHED:
            return
        stage = state.training_step.stage
        place = STAGES.index(stage)
        self.stages.set_options(said.stage_titles(state), place)
        self.parts.setCurrentIndex(place)
        getattr(self, f"_draw_{stage}")(state)

    def _draw_batch(self, state: ViewState) -> None:
        view = state.training_step
        self.fields.set_pairs(step_actions.pairs_of(state))
        self.fields.set_choices(view.seed, view.fresh, pairs_of(state.model) is not None)
        self.batch.set_empty_text("" if refusal(state) else tr("step.waiting"))
        self.batch.set_table(lens.batch_table(state))

    def _draw_forward(self, state: ViewState) -> None:
        self.masks.set_table(lens.masks_table(state))
        self.mask.set_matrix(lens.mask_picture(state))
        self._draw_sentences(0, state)

    def _draw_loss(self, state: ViewState) -> None:
        self.losses.set_table(lens.loss_table(state))

    def _draw_backward(self, state: ViewState) -> None:
        self.gradients.set_table(lens.gradients_table(state))
        self.gradient.set_matrix(lens.gradient_picture(state))
        self._draw_sentences(1, state)

    def _draw_clipping(self, state: ViewState) -> None:
        words = tr("step.norm.before"), tr("step.norm.after"), tr("step.norm.most")
        self.bars.set_norms(lens.norms(state), words)
        self.norms.set_table(lens.norms_table(state))

    def _draw_adam(self, state: ViewState) -> None:
        self.weights.set_table(lens.parameters_table(state))
        self.weight.set_texts(tr("step.weight"), said.weight_name(state))
        self.formulas.set_formulas(said.update_formulas(state))
        pictures = lens.weight_pictures(state)
        for head, key in zip(self.heads, ("before", "update", "after"), strict=True):
            head.set_texts(tr(f"step.weight_{key}"))
        for number, heatmap in enumerate(self.changes):
            picture = None if pictures is None else pictures[number]
            heatmap.set_matrix(picture)
            if picture is not None:
                heatmap.set_selected((picture.current_row or 0, picture.current_column or 0))

    def _draw_check(self, state: ViewState) -> None:
        going = state.training_step.checking
        self.checks.set_table(lens.check_table(state))
        self.checked.set_sentences(said.check_said(state))
        self.check.setText(tr("step.check.stop" if going else "step.check.button"))
        self.check.setEnabled(going or current_step(state) is not None)

    def _draw_mistakes(self, state: ViewState) -> None:
        view = state.training_step
        self.switches.set_mistakes(said.mistakes_said(state))
        self.curves.set_curves(
            said.loss_curves(state), tr("step.curve.none" if view.mistakes else "step.curve.choose")
        )
        self.train.setText(tr("step.train.stop" if view.trying else "step.train.button"))
        self.train.setEnabled(bool(view.mistakes))

    def _draw_sentences(self, number: int, state: ViewState) -> None:
        """Which pair is looked at, and what is said of the cell that was pointed at last."""
        count, choice = len(step_actions.pairs_of(state)), self.sentences[number]
        labels = tuple(tr("step.sentence", n=n + state.count_from) for n in range(count))
        choice.set_options(labels, min(state.training_step.sentence, count - 1))
        choice.setVisible(count > 1)
        matrix = (self.mask, self.gradient)[number].matrix
        if matrix is not None:
            self._point_at(number, (0, 0))
        else:
            self.cells[number].clear()

    def _point_at(self, number: int, cell: tuple[int, int]) -> None:
        self._pointed, self._share = cell, None
        self._tell_cell(number)

    def _tell_cell(self, number: int) -> None:
        tell = (lens.mask_cell, lens.gradient_cell)[number]
        told = tell(self.store.state, self._pointed, self._share)
        if told is not None:
            full = tr("hover.exact", value=told.exact)
            self.cells[number].set_lines(told.name, told.lines, full, told.place)

    # What the user does.

    def take_key(self, event: QKeyEvent) -> bool:
        """The arrow keys go through the table of the stage."""
        by = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()))
        table = self.tables.get(self.store.state.training_step.stage)
        if by is None or table is None or event.modifiers() != Qt.KeyboardModifier.NoModifier:
            return False
        table.step(by)
        return True

    def _on_draw(self) -> None:
        state = self.store.state
        draw = pairs_of(state.model)
        if draw is not None:
            count = max(len(step_actions.pairs_of(state)), 1)
            pairs = draw(state.training_step.drawn, count)
            self.store.dispatch(step_actions.take_pairs, pairs)

    def _on_link(self, origin: Origin) -> None:
        """To the gradient that a number was read from."""
        step = current_step(self.store.state)
        if step is not None and origin.of == "gradient" and origin.name in step.gradient_sizes:
            self.store.dispatch(step_actions.look_at_site, origin.name)

    def _on_share(self, share: int) -> None:
        self._share = share if share >= 0 else None
        self._tell_cell(1)

    def _on_weight(self, row: int, column: int) -> None:
        state, matrix = self.store.state, self.changes[0].matrix
        step = current_step(state)
        if matrix is None or matrix.cell_index is None or step is None:
            return
        name = lens.chosen_parameter(state, step)
        self.store.dispatch(step_actions.look_at_parameter, name, matrix.cell_index(row, column))

    def _on_check(self) -> None:
        view = self.store.state.training_step
        self.store.dispatch(step_actions.set_checking, not view.checking)

    def _on_train(self) -> None:
        view = self.store.state.training_step
        self.store.dispatch(step_actions.set_trying, not view.trying)
