"""The window drawn into files, without a screen."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QMessageLogContext, QSize, Qt, QtMsgType, qInstallMessageHandler
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QApplication

from visualizer import actions, lab_actions, navigation
from visualizer.app import FIRST_MODEL, make_application
from visualizer.cards import about, title_of
from visualizer.i18n import tr
from visualizer.inquirer import answer_all
from visualizer.inquiries.gradients import GradientsInquiry
from visualizer.lenses.caption import run_message
from visualizer.main_window import MainWindow
from visualizer.run import compute, open_entry
from visualizer.state import (
    ModelEntry,
    PageName,
    Showing,
    ViewState,
    current_tape,
    reads_matrix,
)
from visualizer.store import Store
from visualizer.widgets import figures

# The key steps of a walk, by what their sites end with, and the names of their pictures.
KEY_STEPS = (
    ("encoder.embed.out", "embedding"),
    ("encoder.layers.0.self_attn.weights", "encoder-self-attention"),
    ("encoder.layers.0.norm1.out", "encoder-add-and-norm"),
    ("encoder.layers.0.ffn.activation", "encoder-feed-forward"),
    ("encoder.out", "encoder-memory"),
    ("decoder.mask", "decoder-mask"),
    ("decoder.layers.0.self_attn.weights", "decoder-self-attention"),
    ("decoder.layers.0.cross_attn.scores", "cross-attention-scores"),
    ("decoder.layers.0.cross_attn.weights", "cross-attention"),
    ("decoder.layers.0.ffn.out", "decoder-feed-forward"),
    ("logits", "logits"),
    ("log_probs", "probabilities"),
)


def main(options: argparse.Namespace, checkpoint: Path | str | None) -> int:
    """Draw one step or the walk-through; 2 with one sentence where that cannot be."""
    qInstallMessageHandler(_say)
    app = make_application(sys.argv[:1], exact=True)
    try:
        entry = open_entry(FIRST_MODEL if checkpoint is None else checkpoint)
        state = stepped_into(entry, options.source)
        state = actions.set_theme(state, options.theme)
        state = actions.set_language(state, options.language)
        if options.walkthrough is not None:
            draw_walkthrough(app, state, options.walkthrough, QSize(*options.size))
        else:
            state = shown(state, options.page, options.showing, options.token)
            if options.step is not None:
                state = placed(state, options.step, options.token, options.head)
            if options.task is not None:
                state = with_task(state, options.task)
            _save(picture(app, state, QSize(*options.size)), options.out)
            print(options.out)
    except (ValueError, LookupError, OSError) as error:
        text = error.args[0] if isinstance(error, KeyError) else error
        print(f"glassformer render: {text}", file=sys.stderr)
        return 2
    return 0


def _say(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    """What Qt has to say, but for one line that the offscreen platform says of every window."""
    if "propagateSizeHints" not in message:
        print(message, file=sys.stderr)


def stepped_into(entry: ModelEntry, source: str | None) -> ViewState:
    """The state in which the window opens, its run computed here and now."""
    state = actions.open_model(ViewState(), entry)
    if source is not None:
        state = actions.edit_source(state, source)
    return actions.show_run(state, compute(entry, state.inputs, number=1))


def shown(state: ViewState, page: PageName, showing: Showing, token: int | None) -> ViewState:
    """A page with values or gradients, the gradients found here and now.

    token: the decoder token, from 1, whose prediction the gradients are of
    """
    state = actions.show_page(actions.set_showing(state, showing), page)
    if token is not None:
        state = actions.put_cursor(state, replace(state.cursor, token=token - 1))
    store = Store(state)
    answer_all(store, (GradientsInquiry,))
    return store.state


def placed(state: ViewState, site: str, token: int | None, head: int | None) -> ViewState:
    """Go to a site, a decoder token and a head, both counted from 1.

    LookupError says what is not there.
    """
    tape = current_tape(state)
    if tape is None:
        return state
    if site not in tape:
        raise LookupError(tr("cli.no_site", site=site, first=tape.sites[0], last=tape.sites[-1]))
    state = navigation.go_to_site(state, site)
    assert state.run is not None and state.model is not None
    if token is not None:
        if not 1 <= token <= state.run.rows:
            raise LookupError(tr("cli.no_token", n=token, most=state.run.rows))
        state = actions.put_cursor(state, replace(state.cursor, token=token - 1))
    if head is not None:
        heads = state.model.model.config.n_heads
        if not 1 <= head <= heads:
            raise LookupError(tr("cli.no_head", n=head, most=heads))
        state = actions.select_head(state, head - 1)
    return state


def with_task(state: ViewState, name: str) -> ViewState:
    """The lab with the settings of a built-in task; LookupError where there is none."""
    if name not in lab_actions.TASKS:
        raise LookupError(tr("cli.no_task", name=name, known=", ".join(lab_actions.TASKS)))
    return lab_actions.choose_task(state, name)


def picture(app: QApplication, state: ViewState, size: QSize) -> QPixmap:
    """The window with this state."""
    window = MainWindow(Store(state))
    window.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    window.setMinimumSize(0, 0)
    window.resize(size)
    window.show()
    try:
        app.processEvents()
        answer_all(window.store)
        return grab(app, window)
    finally:
        window.close()
        window.deleteLater()


def grab(app: QApplication, window: MainWindow) -> QPixmap:
    """What the window shows once everything has settled."""
    app.processEvents()
    window.finish_drawing()
    app.processEvents()
    return window.grab()


def draw_walkthrough(app: QApplication, state: ViewState, folder: Path, size: QSize) -> None:
    """A picture per key step and the translation as text, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    tape = current_tape(state)
    text = translation(state)
    sites = KEY_STEPS if tape is not None else ()
    shown = [(site, name) for site, name in sites if tape is not None and site in tape]
    for number, (site, name) in enumerate(shown, 1):
        there = actions.show_page(navigation.go_to_site(state, site), "record")
        _save(picture(app, there, size), folder / f"{number:02}-{name}.png")
    (folder / "translation.txt").write_text(text, encoding="utf-8")
    print(text)
    print(tr("render.written", folder=folder.absolute()))
    print(tr("render.window"))


def translation(state: ViewState) -> str:
    """The sentence, its translation, and each token with the probability it was chosen with.

    Of a worked example, which translates nothing, what it is.
    """
    run = state.run
    assert run is not None and state.model is not None
    if reads_matrix(state.model):
        words = (title_of(state.model), about(state.model))
        return "\n".join(line for line in words if line) + "\n"
    lines = [run.inputs.source, run.text]
    message = run_message(run)
    if message:
        lines.append(message)
    if run.tape is not None:
        chosen = zip(run.tape.predicted_tokens, run.distributions, run.chosen, strict=True)
        lines += [f"  {figures.percent(d.probabilities[i]):>12}  {token}" for token, d, i in chosen]
    return "\n".join(lines) + "\n"


def _save(pixmap: QPixmap, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not pixmap.save(str(path)):
        raise OSError(tr("cli.not_written", path=path))
