"""Centre: the record on show, with its formula, its words, its heads and its cells."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStackedLayout, QVBoxLayout, QWidget

from visualizer import actions, fonts, navigation
from visualizer.i18n import tr
from visualizer.lenses.caption import Chip, caption, chips, run_message
from visualizer.lenses.explanation import cell_name, cell_text, hover_text
from visualizer.lenses.flow import flow, flow_caption, has_flow, is_flow_shown
from visualizer.lenses.numbers import exact
from visualizer.lenses.picture import Matrix
from visualizer.lenses.ranking import ranking
from visualizer.lenses.stage import HeadPicture, focus_cell, head_pictures, stage
from visualizer.lenses.strips import standing_on
from visualizer.lenses.views import remark, stack
from visualizer.panels.base import Panel
from visualizer.state import Cell, ViewState, edits_cells
from visualizer.store import Store
from visualizer.widgets.breadcrumb import Breadcrumb
from visualizer.widgets.cell_editor import CellEditor, arrow, beginning
from visualizer.widgets.cell_line import CellLine
from visualizer.widgets.controls import card
from visualizer.widgets.formula import Formula
from visualizer.widgets.head_strip import HeadStrip
from visualizer.widgets.heatmap import HeatMap
from visualizer.widgets.layer_flow import LayerFlow
from visualizer.widgets.notice import EmptyState
from visualizer.widgets.op_chips import OpChips
from visualizer.widgets.strip_stack import StripStack
from visualizer.widgets.text_block import TextBlock
from visualizer.widgets.token_ranks import TokenRanks

DRAWN_BY = frozenset({"run", "cursor", "head", "selected", "editing", "model", "through_layers"})
POINTER = frozenset({"hovered", "hovered_site"})


class StagePanel(Panel):
    """Has the keys of the walk when nothing else has the focus."""

    watches = DRAWN_BY | POINTER

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(store, parent)
        self.set_ground("page")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        em = fonts.em(self.font())
        self.breadcrumb = Breadcrumb()
        self.formula = Formula()
        self.ops = OpChips()
        self.ops.set_align_right(True)
        self.words = TextBlock(2)
        self.remark = QLabel()
        self.remark.setProperty("role", "warning")
        self.remark.setWordWrap(True)
        self.heads = HeadStrip()
        self.heatmap = HeatMap()
        self.editor = CellEditor(self.heatmap)
        self.ranks = TokenRanks()
        self.strips = StripStack()
        self.flow = LayerFlow()
        self.empty = EmptyState()
        self.cell = CellLine()
        self._chips: tuple[Chip, ...] = ()
        self._matrix: Matrix | None = None
        self._legend = ""

        second = QHBoxLayout()
        second.setSpacing(round(em))
        second.addWidget(self.formula, 1)
        second.addWidget(self.ops, 2)
        picture, inside = card()
        self.pages = QStackedLayout()
        inside.addLayout(self.pages)
        self.record = QWidget()
        both = QVBoxLayout(self.record)
        both.setContentsMargins(0, 0, 0, 0)
        both.addWidget(self.heatmap, 5)
        both.addWidget(self.ranks, 4)
        for page in (self.record, self.strips, self.flow, self.empty):
            self.pages.addWidget(page)
        body = QHBoxLayout()
        body.setSpacing(round(0.9 * em))
        body.addWidget(self.heads)
        body.addWidget(picture, 1)
        self.lower, inside = card()
        inside.addWidget(self.cell)
        column = QVBoxLayout(self)
        column.setContentsMargins(
            round(1.1 * em), round(0.7 * em), round(1.1 * em), round(0.8 * em)
        )
        column.setSpacing(round(0.6 * em))
        column.addWidget(self.breadcrumb)
        column.addLayout(second)
        column.addWidget(self.words)
        column.addWidget(self.remark)
        column.addLayout(body, 1)
        column.addWidget(self.lower)
        self.ground("page", self.breadcrumb, self.formula, self.ops, self.words, self.heads)
        self.ground("surface", self.empty, self.cell, self.ranks)
        self.carriers = (self.heatmap, self.ranks, self.strips, self.flow, self.empty, self.heads)
        self.ops.chosen.connect(self._on_op)
        self.heads.headChosen.connect(self._on_head)
        self.heatmap.cellHovered.connect(self._on_hovered)
        self.heatmap.left.connect(self._on_left)
        self.heatmap.cellClicked.connect(self._on_clicked)
        self.heatmap.cellDoubleClicked.connect(self._on_double_clicked)
        self.editor.changed.connect(self._on_number)
        self.editor.cancelled.connect(self._on_editor_cancelled)
        self.editor.refused.connect(self._on_no_number)
        self.editor.left.connect(self._on_editor_left)
        self.ranks.tokenHovered.connect(self._on_token_hovered)
        self.ranks.left.connect(self._on_left)
        self.ranks.tokenClicked.connect(self._on_token_clicked)
        self.strips.cellHovered.connect(self._on_spot_hovered)
        self.strips.left.connect(self._on_left)
        self.strips.cellClicked.connect(self._on_spot_clicked)
        self.strips.titleClicked.connect(self._on_record)
        self.flow.cellHovered.connect(self._on_flow_hovered)
        self.flow.left.connect(self._on_flow_left)
        self.flow.recordClicked.connect(self._on_flow_clicked)

    def retranslate(self) -> None:
        self.setAccessibleName(tr("ui.stage"))
        self.heatmap.describe(tr("ui.stage"))
        self._legend = tr("ui.masked")
        self.heatmap.set_hidden_legend(self._legend)
        self.heads.describe(tr("ui.heads"))
        self.ops.describe(tr("ui.ops"))
        for canvas in (self.ranks, self.strips, self.flow):
            canvas.describe(tr("ui.stage"))
        names = ("ranking.logit", "ranking.log_prob", "ranking.probability")
        self.ranks.set_names(*(tr(name) for name in names))

    # Drawing.

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        if not fields <= POINTER:
            self._matrix = stage(state)
            pictures = head_pictures(state)
            self._draw_words(state, next((p for p in pictures if p.selected), None))
            self._draw_heads(() if is_flow_shown(state) else pictures)
            self._draw_picture(state)
            if state.editing is None:
                self.editor.forget()
            else:
                self.editor.follow(self.heatmap.cell_rect(*state.editing))
            self.empty.set_texts(*_empty_words(state))
            self.lower.setVisible(self._matrix is not None)
        if not is_flow_shown(state):
            self._draw_cell(state)
        elif not fields <= POINTER:
            self._on_flow_left()

    def _draw_picture(self, state: ViewState) -> None:
        """The whole model, a sublayer's records together, or the one record."""
        matrix = self._matrix
        whole = flow(state) if is_flow_shown(state) else None
        together = stack(state, matrix) if whole is None else None
        alone = whole is None and together is None and matrix is not None
        ranks = ranking(state, matrix) if alone else None
        self.flow.set_flow(whole)
        self.strips.set_stack(together)
        self.heatmap.set_matrix(matrix)
        self._draw_legend(matrix)
        self.ranks.set_ranking(ranks)
        self.ranks.setVisible(ranks is not None)
        page = self.flow if whole is not None else self.strips if together is not None else None
        self.pages.setCurrentWidget(page or (self.record if alone else self.empty))

    def _draw_legend(self, matrix: Matrix | None) -> None:
        """The word beside the hatch, only where something is hatched."""
        open_mask = matrix is not None and matrix.palette == "mask" and bool(matrix.values.all())
        legend = "" if open_mask else tr("ui.masked")
        if legend != self._legend:
            self._legend = legend
            self.heatmap.set_hidden_legend(legend)

    def _draw_words(self, state: ViewState, head: HeadPicture | None) -> None:
        whole = flow(state) if is_flow_shown(state) else None
        words = caption(state) if whole is None else flow_caption(whole)
        remark = run_message(state.run) if words is not None else ""
        self.remark.setText(remark)
        self.remark.setVisible(bool(remark))
        self._chips = chips(state)
        current = next((i for i, chip in enumerate(self._chips) if chip.current), -1)
        labels = [chip.label for chip in self._chips]
        tips = [chip.site for chip in self._chips]
        if has_flow(state):
            labels.append(tr("flow.chip"))
            tips.append(tr("flow.tip"))
        self.ops.set_ops(
            tuple(labels),
            len(self._chips) if is_flow_shown(state) else current,
            tuple(tips),
        )
        if words is None:
            self.breadcrumb.clear()
            self.formula.set_tex("")
            self.words.set_sentences()
            return
        self.breadcrumb.set_place(
            (words.side_title, words.side),
            words.layer_title,
            words.title,
            (words.op_title,)
            if head is None or whole is not None
            else (words.op_title, head.title),
            words.site,
            words.shape,
        )
        self.formula.set_tex(words.formula)
        guided = whole is None and head is not None and head.guided
        self.words.set_sentences(words.sentence, tr("head.guided.reason") if guided else words.why)

    def _draw_heads(self, pictures: tuple[HeadPicture, ...]) -> None:
        self.heads.setVisible(bool(pictures))
        chosen = next((picture.head for picture in pictures if picture.selected), 0)
        self.heads.set_heads(
            tuple(picture.matrix for picture in pictures),
            tuple(picture.title for picture in pictures),
            chosen,
        )

    def _draw_cell(self, state: ViewState) -> None:
        matrix = self._matrix
        if state.hovered is not None and state.hovered_site is not None:
            # a record beside the cursor's: its cell is told as if one stood there
            state = standing_on(state, state.hovered_site)
            matrix = stage(state)
        cell = None if matrix is None else focus_cell(state, matrix)
        if matrix is None or cell is None:
            self.heatmap.set_selected(None)
            self.cell.set_cell("", "", "", "", "", "")
            return
        if state.hovered is None:
            self.heatmap.set_selected(cell)
        text = cell_text(state, matrix, cell)
        if text is None:
            self.cell.set_cell("", "", "", "", hover_text(state, matrix, cell), "")
            return
        if text.hidden:
            self.cell.set_cell(
                text.name, tr("explain.hidden"), "", "", text.exact, _at(state, matrix, cell)
            )
            return
        full = tr("hover.exact", value=text.exact) if text.exact else ""
        more = remark(state, text.site, cell)
        self.cell.set_lines(
            text.name,
            text.lines,
            "    ".join(t for t in (full, more) if t),
            _at(state, matrix, cell),
        )

    # What the user does.

    def _on_op(self, index: int) -> None:
        if index == len(self._chips):
            self.store.dispatch(actions.toggle_through_layers)
        else:
            self._on_record(self._chips[index].site)

    def _on_head(self, head: int) -> None:
        self.store.dispatch(actions.select_head, head)

    def _on_hovered(self, row: int, column: int) -> None:
        self.store.dispatch(actions.hover_cell, (row, column))

    def _on_left(self) -> None:
        self.store.dispatch(actions.hover_cell, None)

    def _on_clicked(self, row: int, column: int) -> None:
        cell = (row, column)
        same = self.store.state.selected == cell
        self.store.dispatch(actions.select_cell, None if same else cell)

    def _on_record(self, site: str) -> None:
        self.store.dispatch(navigation.go_to_record, site)

    def _on_flow_clicked(self, site: str, row: int) -> None:
        self.store.dispatch(navigation.go_to_record, site, row)

    def _on_spot_hovered(self, site: str, row: int, column: int) -> None:
        self.store.dispatch(actions.hover_cell, (row, column), site)

    def _on_spot_clicked(self, site: str, row: int, column: int) -> None:
        self.store.dispatch(navigation.look_at, site, (row, column))

    def _on_token_hovered(self, token: int) -> None:
        ranks = self.ranks.ranking
        assert ranks is not None
        self._on_hovered(ranks.row, token)

    def _on_token_clicked(self, token: int) -> None:
        ranks = self.ranks.ranking
        assert ranks is not None
        self._on_clicked(ranks.row, token)

    def _on_flow_hovered(self, name: str, reduction: str, value: str) -> None:
        # the number is no record's cell, so it has no place in the state
        self.cell.set_cell(name, reduction, "=", value, "", "")

    def _on_flow_left(self) -> None:
        self.cell.set_cell("", tr("flow.tip"), "", "", "", "")

    # The numbers of a worked example's input matrix.

    def _edit(self, cell: Cell, typed: str = "") -> None:
        assert self._matrix is not None
        self.store.dispatch(actions.begin_editing, cell)
        self.editor.setAccessibleName(tr("ui.cell", name=cell_name(self._matrix, cell)))
        number = exact(self._matrix.values[cell])
        self.editor.open(cell, self.heatmap.cell_rect(*cell), number, typed)

    def _on_double_clicked(self, row: int, column: int) -> None:
        if edits_cells(self.store.state):
            self._edit((row, column))
        else:
            self._on_clicked(row, column)

    def _on_number(self, cell: Cell, value: float) -> None:
        self.store.dispatch(actions.edit_cell, cell, value)

    def _on_no_number(self, text: str) -> None:
        self.store.dispatch(actions.show_notice, "error.cell", "error", text=text)

    def _on_editor_cancelled(self) -> None:
        self.store.abandon()
        self.store.dispatch(actions.end_editing)

    def _on_editor_left(self, way: Cell) -> None:
        self.store.dispatch(actions.end_editing)
        selected = self.store.state.selected
        if selected is not None:
            self.store.dispatch(actions.move_selected, selected, way)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Numbers of an input matrix are typed over; what is left is the window's."""
        state = self.store.state
        if self._matrix is None or not edits_cells(state):
            super().keyPressEvent(event)
            return
        cell = focus_cell(replace(state, hovered=None), self._matrix)
        typed, way = beginning(event), arrow(event)
        if cell is not None and typed is not None:
            self._edit(cell, typed)
        elif state.selected is not None and way is not None:
            self.store.dispatch(actions.move_selected, state.selected, way)
        elif state.selected is not None and event.key() == Qt.Key.Key_Escape:
            self.store.dispatch(actions.select_cell, None)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)


def _at(state: ViewState, matrix: Matrix, cell: Cell) -> str:
    """The cell's own place in the record, as a script would write it."""
    site = matrix.source.split("[")[0]
    index = matrix.cell_index(*cell) if matrix.cell_index is not None else cell
    return f"{site}[{', '.join(map(str, index))}]" if index else site


def _empty_words(state: ViewState) -> tuple[str, str]:
    """Heading and sentence of a stage without a picture."""
    run = state.run
    if run is None:
        return (tr("state.loading"), "")
    return (tr(f"state.{run.outcome}.title"), run_message(run)) if run.outcome != "ok" else ("", "")
