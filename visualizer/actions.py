"""Every intent of the user that is not a walk: (ViewState, ...) -> ViewState.

The walks along the tape (next op, next layer, ...) are in navigation.py.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from visualizer import palettes
from visualizer.conversation import opening
from visualizer.runs import NOTHING_FOUND
from visualizer.state import (
    MATRIX_SITE,
    SCALES,
    SPEEDS,
    Beside,
    Cell,
    Cursor,
    Inputs,
    Linked,
    ModelEntry,
    Notice,
    PageName,
    Run,
    Showing,
    StepView,
    Strategy,
    ViewState,
    card_examples,
    current_token,
    edits_cells,
    guided_head,
    head_count,
    own_file,
    reads_matrix,
    reads_well,
)
from visualizer.step_view import NO_STEP

RECENT_FILES = 8
LARGEST_SEED = 2**31 - 1
MOST_BEAMS = 16
LEAST_PENALTY, MOST_PENALTY = -2.0, 3.0
# Nothing of the output is forced: what was forced belongs to another sentence.
FREE: dict[str, Any] = {"target": None, "prefix": (), "pinned": None}


def edit_source(state: ViewState, source: str) -> ViewState:
    """The sentence field was edited. A cursor at the end of the output follows the new end."""
    if source == state.inputs.source:
        return state
    cursor = state.cursor
    run = state.run
    if run is not None and run.tape is not None and current_token(state) >= run.last_content:
        cursor = replace(cursor, token=None)
    return _with_inputs(replace(state, cursor=cursor), source=source, **FREE)


def new_sentence(state: ViewState, source: str) -> ViewState:
    """The task's generator gave its sentence number `sentence_number`; the next one is due."""
    return replace(edit_source(state, source), sentence_number=state.sentence_number + 1)


def force_target(state: ViewState, target: str | None) -> ViewState:
    """Read this target text instead of what the model decodes; None lets the model decode."""
    return _with_inputs(state, **{**FREE, "target": target})


def edit_cell(state: ViewState, cell: Cell, value: float) -> ViewState:
    """Another number in the input matrix of a worked example; its own number is no edit."""
    if not reads_matrix(state.model):
        return state
    assert state.model is not None
    others = tuple(edit for edit in state.inputs.cells if edit[:2] != cell)
    own = float(state.model.model.inputs[cell])
    cells = others if value == own else tuple(sorted((*others, (*cell, value))))
    return _with_inputs(state, cells=cells)


def begin_editing(state: ViewState, cell: Cell) -> ViewState:
    """Type over a number of the input matrix, where that is what the stage shows."""
    return replace(state, selected=cell, editing=cell) if edits_cells(state) else state


def end_editing(state: ViewState) -> ViewState:
    """The number is in, or its old one is back; what was said about it is over."""
    about_it = state.notice is not None and state.notice.key == "error.cell"
    return replace(state, editing=None, notice=None if about_it else state.notice)


def reset_cells(state: ViewState) -> ViewState:
    """The worked example's own input matrix again."""
    return _with_inputs(state, cells=())


def set_strategy(state: ViewState, strategy: Strategy) -> ViewState:
    return _with_inputs(state, strategy=strategy)


def set_temperature(state: ViewState, temperature: float) -> ViewState:
    """Temperature from 0 (greedy) to 5; a sampling control that is moved switches sampling on."""
    return _with_inputs(state, strategy="sample", temperature=min(max(temperature, 0.0), 5.0))


def set_top_k(state: ViewState, top_k: int | None) -> ViewState:
    """Keep the k likeliest tokens; None keeps all."""
    value = None if top_k is None else max(1, top_k)
    return _with_inputs(state, strategy="sample", top_k=value)


def set_top_p(state: ViewState, top_p: float | None) -> ViewState:
    """Keep the likeliest tokens up to this mass; None or 1 keeps all."""
    value = None if top_p is None or top_p >= 1.0 else max(0.01, top_p)
    return _with_inputs(state, strategy="sample", top_p=value)


def set_seed(state: ViewState, seed: int) -> ViewState:
    """A new seed; a sampling control that is moved switches sampling on."""
    return _with_inputs(state, strategy="sample", seed=min(max(seed, 0), LARGEST_SEED))


def restore_inputs(state: ViewState, inputs: Inputs) -> ViewState:
    """Undo and redo: earlier inputs come back, and their run is computed anew."""
    return replace(state, inputs=inputs) if inputs != state.inputs else state


def show_run(state: ViewState, run: Run) -> ViewState:
    """A finished run takes the stage; the cursor keeps its place.

    The selected cell is let go where the same row and column mean other words now.
    """
    before = None if state.run is None else state.run.search
    same_search = run.search is not None and run.search is before
    return replace(
        state,
        **NOTHING_FOUND,
        run=run,
        share=None,
        tree=state.tree if same_search else replace(state.tree, hovered=None),
        selected=state.selected if reads_matrix(state.model) else None,
        hovered=None,
        hovered_site=None,
        playing=state.playing and run.tape is not None,
    )


def open_model(state: ViewState, entry: ModelEntry) -> ViewState:
    """Another model takes the stage, with the first example of its card and its guided head."""
    cursor, head = Cursor(MATRIX_SITE) if reads_matrix(entry) else Cursor(), 0
    guided = guided_head(entry)
    if guided is not None and 0 <= guided[1] < int(entry.model.config.n_heads):
        cursor, head = Cursor(guided[0]), guided[1]
    examples = card_examples(entry)
    source = examples[0] if examples else state.inputs.source
    if source and not examples and not reads_matrix(entry) and not reads_well(entry, source):
        source = ""  # another model's sentence would be a row of unknown words
    opened = replace(
        state,
        model=entry,
        run=None,
        inputs=replace(state.inputs, source=source, history=(), cells=(), **FREE),
        cursor=cursor,
        head=head,
        selected=None,
        editing=None,
        hovered=None,
        hovered_site=None,
        playing=False,
        notice=None,
        **NOTHING_FOUND,
        **NO_STEP,
        training_step=StepView(stage=state.training_step.stage),
        trail=(),
        target=None,
        linked=Linked(threshold=state.linked.threshold),
        **opening(entry, state.page),
        parameter=None,
        sentence_number=0,
        file=own_file(entry),
    )
    return opened if entry.path is None else add_recent(opened, str(entry.path))


def reopen_model(state: ViewState, entry: ModelEntry) -> ViewState:
    """The same file read another way: inputs and place stay."""
    heads = int(entry.model.config.n_heads)
    head = min(state.head, heads - 1)
    return replace(
        state,
        model=entry,
        run=None,
        head=head,
        selected=None,
        editing=None,
        hovered=None,
        hovered_site=None,
        notice=None,
        **NOTHING_FOUND,
        **NO_STEP,
    )


def resume(
    state: ViewState, entry: ModelEntry, inputs: Inputs, cursor: Cursor, head: int
) -> ViewState:
    """Open a model where it was left; what makes no sense for it is left out."""
    opened = open_model(state, entry)
    cells: tuple[tuple[int, int, float], ...] = ()
    if reads_matrix(entry):
        rows, columns = entry.model.inputs.shape
        fits = (c for c in inputs.cells if 0 <= c[0] < rows and 0 <= c[1] < columns)
        cells = tuple(sorted({cell[:2]: cell for cell in fits}.values()))
    sound = replace(
        inputs,
        cells=cells,
        temperature=min(max(inputs.temperature, 0.0), 5.0),
        top_k=None if inputs.top_k is None else max(1, inputs.top_k),
        top_p=None if inputs.top_p is None else min(max(0.01, inputs.top_p), 1.0),
        seed=min(max(inputs.seed, 0), LARGEST_SEED),
        beams=min(max(inputs.beams, 1), MOST_BEAMS),
        length_penalty=min(max(inputs.length_penalty, LEAST_PENALTY), MOST_PENALTY),
        max_new_tokens=None if inputs.max_new_tokens is None else max(1, inputs.max_new_tokens),
        # ids mean other tokens in a file that has changed since
        prefix=(),
        pinned=None,
    )
    token = None if cursor.token is None else max(cursor.token, 0)
    placed = replace(opened, inputs=sound, cursor=replace(cursor, token=token))
    return select_head(placed, head)


def note_saved(state: ViewState, path: Path) -> ViewState:
    """The model was written there: Save writes there again."""
    return add_recent(replace(state, file=path), str(path))


def put_cursor(state: ViewState, cursor: Cursor) -> ViewState:
    """Go to a place. A cell stays selected only as long as its picture is looked at."""
    if cursor == state.cursor:
        return state
    return replace(
        state, cursor=cursor, selected=None, editing=None, hovered=None, hovered_site=None
    )


def select_head(state: ViewState, head: int) -> ViewState:
    """Look at a head, from 0; a head that the model lacks changes nothing."""
    return replace(state, head=head) if 0 <= head < head_count(state) else state


def select_cell(state: ViewState, cell: Cell | None) -> ViewState:
    return replace(state, selected=cell)


def move_selected(state: ViewState, start: Cell, way: Cell) -> ViewState:
    """Select the cell beside `start`, as far as the input matrix reaches."""
    if not edits_cells(state):
        return state
    assert state.model is not None
    rows, columns = state.model.model.inputs.shape
    row, column = start[0] + way[0], start[1] + way[1]
    return select_cell(state, (min(max(row, 0), rows - 1), min(max(column, 0), columns - 1)))


def hover_cell(state: ViewState, cell: Cell | None, site: str | None = None) -> ViewState:
    """The pointer is on a cell of a record, without `site` of the one at the cursor."""
    return replace(state, hovered=cell, hovered_site=site if cell is not None else None)


def show_page(state: ViewState, page: PageName) -> ViewState:
    """What takes the stage."""
    if page == state.page:
        return state
    return replace(state, page=page, editing=None, hovered=None, hovered_site=None)


def toggle_page(state: ViewState, page: PageName) -> ViewState:
    """A page takes the stage, or gives it back to the record at the cursor."""
    return show_page(state, "record" if state.page == page else page)


def set_showing(state: ViewState, showing: Showing) -> ViewState:
    """The values of the records, or the gradients of the target with respect to them."""
    if showing == state.showing:
        return state
    return replace(state, showing=showing, share=None, hovered=None, hovered_site=None)


def toggle_showing(state: ViewState) -> ViewState:
    return set_showing(state, "values" if state.showing == "gradients" else "gradients")


def show_beside(state: ViewState, beside: Beside) -> ViewState:
    """What the panel at the right shows where there is no room for both."""
    return replace(state, beside=beside)


def set_roomy(state: ViewState, roomy: bool) -> ViewState:
    """Whether the window has room for the next token and the logit lens at the right."""
    return replace(state, roomy=roomy)


def spell_out(state: ViewState, share: int) -> ViewState:
    """Which part of a gradient is spelled out; a negative number for none but all together."""
    return replace(state, share=share if share >= 0 else None)


def set_playing(state: ViewState, playing: bool) -> ViewState:
    """Play only where there is something to play."""
    return replace(state, playing=playing and state.run is not None and state.run.tape is not None)


def toggle_playing(state: ViewState) -> ViewState:
    return set_playing(state, not state.playing)


def set_speed(state: ViewState, speed: float) -> ViewState:
    """Steps per second, the nearest one on offer."""
    return replace(state, speed=min(SPEEDS, key=lambda offered: abs(offered - speed)))


def set_decimals(state: ViewState, decimals: int | None) -> ViewState:
    """How many decimals are shown; None leaves it to the model."""
    chosen = None if decimals is None else min(max(decimals, 1), 9)
    return replace(state, decimals_chosen=chosen)


def set_count_from(state: ViewState, count_from: int) -> ViewState:
    """Whether people count layers, heads and positions from 1 or from 0."""
    return replace(state, count_from=1 if count_from else 0)


def set_theme(state: ViewState, theme: Literal["light", "dark"]) -> ViewState:
    return replace(state, theme=theme, follow_system=False)


def follow_system(state: ViewState, theme: Literal["light", "dark"]) -> ViewState:
    """Look as the system does, which is `theme` now."""
    return replace(state, theme=theme, follow_system=True)


def set_scale(state: ViewState, scale: float | None) -> ViewState:
    """The size of type, the nearest one on offer; None leaves it to the window's size."""
    if scale is None:
        return replace(state, scale=None)
    return replace(state, scale=min(SCALES, key=lambda offered: abs(offered - scale)))


def set_sequential(state: ViewState, name: str) -> ViewState:
    """The colours of numbers that have one sign; an unknown name changes nothing."""
    return replace(state, sequential=name) if name in palettes.SEQUENTIAL else state


def set_diverging(state: ViewState, name: str) -> ViewState:
    """The colours of signed numbers; an unknown name changes nothing."""
    return replace(state, diverging=name) if name in palettes.DIVERGING else state


def set_language(state: ViewState, language: str) -> ViewState:
    return replace(state, language=language)


def show_notice(
    state: ViewState,
    key: str,
    level: Literal["info", "warning", "error"] = "info",
    details: str = "",
    **values: object,
) -> ViewState:
    """Tell the user one sentence: a catalogue key and its values."""
    named = tuple((name, str(value)) for name, value in values.items())
    return replace(state, notice=Notice(key, named, level, details))


def dismiss_notice(state: ViewState) -> ViewState:
    return replace(state, notice=None)


def add_recent(state: ViewState, path: str) -> ViewState:
    """A file that was opened moves to the head of the recent ones."""
    others = tuple(other for other in state.recent if other != path)
    return replace(state, recent=(path, *others)[:RECENT_FILES])


def forget_recent(state: ViewState, path: str) -> ViewState:
    """A recent file that is gone leaves the list."""
    return replace(state, recent=tuple(other for other in state.recent if other != path))


def _with_inputs(state: ViewState, **values: object) -> ViewState:
    inputs = replace(state.inputs, **values)  # type: ignore[arg-type]
    if inputs.strategy != "beam" and inputs.pinned is not None:
        # what was pinned belongs to a search
        inputs = replace(inputs, pinned=None)
    return replace(state, inputs=inputs) if inputs != state.inputs else state
