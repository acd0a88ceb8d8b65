"""The record at the cursor: its heads and its cells, or the strips of its whole sublayer."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from visualizer import actions, gradient_actions, navigation
from visualizer.i18n import tr
from visualizer.lenses.caption import Caption, caption, run_message
from visualizer.lenses.explanation import cell_name, cell_place, cell_text, hover_text
from visualizer.lenses.numbers import exact
from visualizer.lenses.picture import Matrix
from visualizer.lenses.ranking import ranking
from visualizer.lenses.stage import HeadPicture, focus_cell, has_gradient, head_pictures, stage
from visualizer.lenses.strips import standing_on
from visualizer.lenses.views import remark, stack
from visualizer.pages.base import Page
from visualizer.pages.zoom import zoom_words
from visualizer.state import Cell, ViewState, edits_cells, shown_gradients
from visualizer.store import Store
from visualizer.widgets.cell_editor import CellEditor, arrow, beginning
from visualizer.widgets.cell_line import CellLine
from visualizer.widgets.controls import card
from visualizer.widgets.head_strip import HeadStrip
from visualizer.widgets.heatmap import HeatMap
from visualizer.widgets.notice import EmptyState
from visualizer.widgets.strip_stack import StripStack
from visualizer.widgets.token_ranks import TokenRanks

# What changes nothing in the picture but the cell that is told below it.
POINTER = frozenset({"hovered", "hovered_site", "share", "readings"})


class RecordPage(Page):
    """Also what stands where there is nothing to show: it says why."""

    name = "record"

    def __init__(self, store: Store, cell: CellLine, parent: QWidget | None = None) -> None:
        super().__init__(store, cell, parent)
        self.heads = HeadStrip()
        self.heatmap = HeatMap()
        self.editor = CellEditor(self.heatmap)
        self.ranks = TokenRanks()
        self.strips = StripStack()
        self.empty = EmptyState()
        self.matrix: Matrix | None = None
        self._pictures: tuple[HeadPicture, ...] = ()
        self._legend = ""
        picture, inside = card()
        self.pictures = QStackedLayout()
        inside.addLayout(self.pictures)
        self.record = QWidget()
        both = QVBoxLayout(self.record)
        both.setContentsMargins(0, 0, 0, 0)
        both.addWidget(self.heatmap, 5)
        both.addWidget(self.ranks, 4)
        for page in (self.record, self.strips, self.empty):
            self.pictures.addWidget(page)
        body = QHBoxLayout(self)
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(round(0.9 * self.em))
        body.addWidget(self.heads)
        body.addWidget(picture, 1)
        self.heads.set_ground("page")
        self.empty.set_ground("surface")
        self.ranks.set_ground("surface")
        self.carriers = (self.heatmap, self.ranks, self.strips, self.empty, self.heads)
        self.heads.headChosen.connect(self._on_head)
        self.heatmap.cellHovered.connect(self._on_hovered)
        self.heatmap.left.connect(self._on_left)
        self.heatmap.cellClicked.connect(self._on_clicked)
        self.heatmap.cellDoubleClicked.connect(self._on_double_clicked)
        self.heatmap.viewChanged.connect(self._on_view_changed)
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

    def retranslate(self) -> None:
        self._legend = tr("ui.masked")
        self.heatmap.set_hidden_legend(self._legend)
        self.heatmap.set_zoom_words(zoom_words())
        self.heads.describe(tr("ui.heads"))
        for canvas in (self.heatmap, self.ranks, self.strips):
            canvas.describe(tr("ui.stage"))

    # Words.

    def caption(self, state: ViewState) -> Caption | None:
        words = caption(state)
        self._pictures = head_pictures(state) if words is not None else ()
        head = self._head()
        values = shown_gradients(state) is None
        if words is not None and head is not None and head.guided and values:
            return replace(words, why=tr("head.guided.reason"))
        return words

    def tail(self, state: ViewState, caption: Caption) -> tuple[str, ...]:
        head = self._head()
        return (caption.op_title,) if head is None else (caption.op_title, head.title)

    def _head(self) -> HeadPicture | None:
        return next((picture for picture in self._pictures if picture.selected), None)

    # Drawing.

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        if not fields <= POINTER:
            self.matrix = stage(state)
            self._draw_heads()
            self._draw_picture(state)
            if "selected" in fields and state.selected is not None:
                self.heatmap.show_cell(*state.selected)
            if state.editing is None:
                self.editor.forget()
            else:
                self.editor.follow(self.heatmap.cell_rect(*state.editing))
            self.empty.set_texts(*_empty_words(state))
        self._draw_cell(state)

    def _draw_picture(self, state: ViewState) -> None:
        """A sublayer's records together, or the one record."""
        matrix = self.matrix
        together = stack(state, matrix)
        alone = together is None and matrix is not None
        ranks = ranking(state, matrix) if alone else None
        self.strips.set_stack(together)
        self.heatmap.set_matrix(matrix)
        self._draw_legend(matrix)
        first = "ranking.gradient" if shown_gradients(state) is not None else "ranking.logit"
        names = (first, "ranking.log_prob", "ranking.probability")
        self.ranks.set_names(*(tr(name) for name in names))
        self.ranks.set_ranking(ranks)
        self.ranks.setVisible(ranks is not None)
        page = self.strips if together is not None else self.record if alone else self.empty
        self.pictures.setCurrentWidget(page)

    def _draw_legend(self, matrix: Matrix | None) -> None:
        """The word beside the hatch, only where something is hatched."""
        open_mask = matrix is not None and matrix.palette == "mask" and bool(matrix.values.all())
        legend = "" if open_mask else tr("ui.masked")
        if legend != self._legend:
            self._legend = legend
            self.heatmap.set_hidden_legend(legend)

    def _draw_heads(self) -> None:
        pictures = self._pictures
        self.heads.setVisible(bool(pictures))
        chosen = next((picture.head for picture in pictures if picture.selected), 0)
        self.heads.set_heads(
            tuple(picture.matrix for picture in pictures),
            tuple(picture.title for picture in pictures),
            chosen,
        )

    def _draw_cell(self, state: ViewState) -> None:
        matrix = self.matrix
        if state.hovered is not None and state.hovered_site is not None:
            # a record beside the cursor's: its cell is told as if one stood there
            state = standing_on(state, state.hovered_site)
            matrix = stage(state)
        cell = None if matrix is None else focus_cell(state, matrix)
        if matrix is None or cell is None:
            self.heatmap.set_selected(None)
            self.cell.clear()
            return
        if state.hovered is None:
            self.heatmap.set_selected(cell)
        text = cell_text(state, matrix, cell)
        if text is None:
            self.cell.set_cell("", "", "", "", hover_text(state, matrix, cell), "")
            return
        place = cell_place(state, matrix, cell)
        if text.hidden:
            self.cell.set_cell(text.name, tr("explain.hidden"), "", "", text.exact, place)
            return
        full = tr("hover.exact", value=text.exact) if text.exact else ""
        more = remark(state, text.site, cell)
        said = "    ".join(words for words in (full, more) if words)
        self.cell.set_lines(text.name, text.lines, said, place)

    # What the user does.

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
        if shown_gradients(self.store.state) is not None:
            self.store.dispatch(gradient_actions.aim_at, ranks.row, token)
        else:
            self._on_clicked(ranks.row, token)

    # The numbers of a worked example's input matrix.

    def _edit(self, cell: Cell, typed: str = "") -> None:
        assert self.matrix is not None
        self.store.dispatch(actions.begin_editing, cell)
        self.editor.setAccessibleName(tr("ui.cell", name=cell_name(self.matrix, cell)))
        number = exact(self.matrix.values[cell])
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

    def _on_view_changed(self) -> None:
        if self.editor.cell is not None:
            self.editor.follow(self.heatmap.cell_rect(*self.editor.cell))

    def take_key(self, event: QKeyEvent) -> bool:
        """Numbers of an input matrix are typed over, others zoomed; whether the key was used."""
        state = self.store.state
        if self.matrix is None or not edits_cells(state):
            return self.heatmap.isVisible() and self.heatmap.take_key(event)
        cell = focus_cell(replace(state, hovered=None), self.matrix)
        typed, way = beginning(event), arrow(event)
        if cell is not None and typed is not None:
            self._edit(cell, typed)
        elif state.selected is not None and way is not None:
            self.store.dispatch(actions.move_selected, state.selected, way)
        elif state.selected is not None and event.key() == Qt.Key.Key_Escape:
            self.store.dispatch(actions.select_cell, None)
        else:
            return False
        return True


def _empty_words(state: ViewState) -> tuple[str, str]:
    """Heading and sentence of a stage without a picture."""
    run = state.run
    if run is None:
        return (tr("state.unopened" if state.unopened else "state.loading"), "")
    if not has_gradient(state):
        return (tr("gradient.none.title"), tr("gradient.none"))
    return (tr(f"state.{run.outcome}.title"), run_message(run)) if run.outcome != "ok" else ("", "")
