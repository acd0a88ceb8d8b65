"""Centre: the record on show, with its formula, its words, its heads and its cells."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStackedLayout, QVBoxLayout, QWidget

from visualizer import actions, fonts, navigation
from visualizer.i18n import tr
from visualizer.lenses.caption import Chip, caption, chips, run_message
from visualizer.lenses.explanation import cell_text, hover_text
from visualizer.lenses.picture import Matrix
from visualizer.lenses.stage import HeadPicture, focus_cell, head_pictures, stage
from visualizer.panels.base import Panel
from visualizer.state import Cell, ViewState
from visualizer.store import Store
from visualizer.widgets.breadcrumb import Breadcrumb
from visualizer.widgets.cell_line import CellLine
from visualizer.widgets.controls import card
from visualizer.widgets.formula import Formula
from visualizer.widgets.head_strip import HeadStrip
from visualizer.widgets.heatmap import HeatMap
from visualizer.widgets.notice import EmptyState
from visualizer.widgets.op_chips import OpChips
from visualizer.widgets.text_block import TextBlock

DRAWN_BY = frozenset({"run", "cursor", "head", "selected", "model"})


class StagePanel(Panel):
    """Has the keys of the walk when nothing else has the focus."""

    watches = DRAWN_BY | {"hovered", "decimals"}

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(store, parent)
        self.setProperty("role", "page")
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
        self.empty = EmptyState()
        self.cell = CellLine()
        self._chips: tuple[Chip, ...] = ()
        self._matrix: Matrix | None = None

        second = QHBoxLayout()
        second.setSpacing(round(em))
        second.addWidget(self.formula, 2)
        second.addWidget(self.ops, 3)
        picture, inside = card()
        self.pages = QStackedLayout()
        inside.addLayout(self.pages)
        self.pages.addWidget(self.heatmap)
        self.pages.addWidget(self.empty)
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
        self.ground("surface", self.empty, self.cell)
        self.carriers = (self.heatmap, self.empty, self.heads)
        self.ops.chosen.connect(self._on_op)
        self.heads.headChosen.connect(self._on_head)
        self.heatmap.cellHovered.connect(self._on_hovered)
        self.heatmap.left.connect(self._on_left)
        self.heatmap.cellClicked.connect(self._on_clicked)

    def retranslate(self) -> None:
        self.setAccessibleName(tr("ui.stage"))
        self.heatmap.describe(tr("ui.stage"))
        self.heatmap.set_hidden_legend(tr("ui.masked"))
        self.heads.describe(tr("ui.heads"))
        self.ops.describe(tr("ui.ops"))

    # Drawing.

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        if fields != {"hovered"}:
            self._matrix = stage(state)
            pictures = head_pictures(state)
            self._draw_words(state, next((p for p in pictures if p.selected), None))
            self._draw_heads(pictures)
            self.heatmap.set_matrix(self._matrix)
            self.pages.setCurrentWidget(self.heatmap if self._matrix is not None else self.empty)
            self.empty.set_texts(*_empty_words(state))
            self.lower.setVisible(self._matrix is not None)
        self._draw_cell(state)

    def _draw_words(self, state: ViewState, head: HeadPicture | None) -> None:
        words = caption(state)
        remark = run_message(state.run) if words is not None else ""
        self.remark.setText(remark)
        self.remark.setVisible(bool(remark))
        self._chips = chips(state)
        current = next((i for i, chip in enumerate(self._chips) if chip.current), -1)
        self.ops.set_ops(
            tuple(chip.label for chip in self._chips),
            current,
            tuple(chip.site for chip in self._chips),
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
            (words.op_title,) if head is None else (words.op_title, head.title),
            words.site,
            words.shape,
        )
        self.formula.set_tex(words.formula)
        guided = head is not None and head.guided
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
        parts = [f"{t.label} ({t.value})" if t.value else t.label for t in text.terms]
        if text.more:
            parts.append(text.more)
        terms = (" + " if text.additive else ",  ").join(parts)
        self.cell.set_cell(
            text.name,
            terms,
            text.sign if parts else "",
            text.value,
            tr("hover.exact", value=text.exact),
            _at(state, matrix, cell),
        )

    # What the user does.

    def _on_op(self, index: int) -> None:
        self.store.dispatch(navigation.go_to_site, self._chips[index].site)

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
