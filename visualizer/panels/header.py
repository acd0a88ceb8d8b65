"""Top: the model, the sentence, examples, Open…, the menu of the view."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from visualizer import actions, fonts, lab_actions
from visualizer.cards import about, title_of
from visualizer.i18n import tr
from visualizer.kept_models import kept_folder
from visualizer.lenses.caption import unknown_reason
from visualizer.lenses.token_labels import token_label
from visualizer.menus import Menu, model_menu, view_menu
from visualizer.panels.base import Panel
from visualizer.sentences import generator_of
from visualizer.state import ModelEntry, ViewState, card_examples, reads_matrix, some_words
from visualizer.store import Store
from visualizer.widgets.controls import push_button
from visualizer.widgets.model_button import ModelButton
from visualizer.widgets.sentence_field import SentenceField
from visualizer.widgets.token_chips import Chip


class HeaderPanel(Panel):
    """openChosen(a bundled name or a Path), choicesMade(Choices), left() for the stage.

    browse(), save(), saveAs(), keysWanted() and glossaryWanted() of the menus.
    """

    watches = frozenset({"model", "inputs", "run"})

    openChosen = Signal(object)
    choicesMade = Signal(object)
    browse = Signal()
    save = Signal()
    saveAs = Signal()
    keysWanted = Signal()
    glossaryWanted = Signal()
    left = Signal()

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(store, parent)
        self.set_ground("surface")
        em = fonts.em(self.font())
        self.model = ModelButton()
        self.field = SentenceField()
        self.examples, self.new_sentence, self.reset = (push_button() for _ in range(3))
        self.open, self.train, self.view = push_button(), push_button(), push_button()
        row = QHBoxLayout(self)
        row.setContentsMargins(round(em), round(0.6 * em), round(em), round(0.6 * em))
        row.setSpacing(round(0.7 * em))
        row.addWidget(self.model)
        row.addWidget(self.field, 1)
        for button in (
            self.reset,
            self.examples,
            self.new_sentence,
            self.open,
            self.train,
            self.view,
        ):
            row.addWidget(button)
        self.model.clicked.connect(self._on_model)
        self.field.edited.connect(self._on_edited)
        self.field.finished.connect(self.left)
        self.examples.clicked.connect(self._on_examples)
        self.new_sentence.clicked.connect(self._on_new_sentence)
        self.reset.clicked.connect(self._on_reset)
        self.open.clicked.connect(self.browse)
        self.train.clicked.connect(self._on_train)
        self.view.clicked.connect(self._on_view)

    def retranslate(self) -> None:
        self.field.setAccessibleName(tr("ui.sentence"))
        self.examples.setText(f"{tr('ui.examples')} ▾")
        self.new_sentence.setText(tr("ui.new_sentence"))
        self.new_sentence.setToolTip(tr("ui.new_sentence.tip"))
        self.reset.setText(tr("ui.matrix.reset"))
        self.open.setText(tr("ui.open"))
        self.open.setToolTip(tr("ui.open.tip"))
        self.train.setText(tr("lab.open"))
        self.train.setToolTip(tr("lab.open.tip"))
        self.view.setText("⋯")
        self.view.setToolTip(tr("ui.settings"))
        self.view.setAccessibleName(tr("ui.settings"))
        self.model.setAccessibleName(tr("ui.model"))

    def draw(self, state: ViewState, fields: frozenset[str]) -> None:
        if fields & {"model", "language"}:
            self._draw_model(state)
        self.field.set_text("" if reads_matrix(state.model) else state.inputs.source)
        if fields & {"inputs", "model", "language"}:
            self.reset.setVisible(bool(state.inputs.cells))
            self.reset.setToolTip(tr("ui.matrix.reset.tip", n=len(state.inputs.cells)))
        if fields & {"run", "model", "language"}:
            self.field.set_chips(_unknown_chips(state), tr("unknown.short"))

    def _draw_model(self, state: ViewState) -> None:
        entry = state.model
        if entry is None:
            self.model.set_model(tr("ui.model"), "")
        else:
            config = entry.model.config
            origin = tr(_origin(entry))
            summary = tr(
                "ui.model.summary",
                origin=origin,
                encoder=config.n_encoder_layers,
                decoder=config.n_decoder_layers,
                heads=config.n_heads,
            )
            if reads_matrix(entry):
                summary = tr("ui.model.summary.matrix", origin=origin, heads=_heads(config.n_heads))
            self.model.set_model(title_of(entry), summary)
            self.model.setToolTip(about(entry))
            self.field.set_completions(entry.model.tokenizer.complete)
        no_text = reads_matrix(entry)
        self.field.setEnabled(entry is not None and not no_text)
        self.field.setPlaceholderText(_hint(state))
        self.examples.setVisible(bool(card_examples(entry)))
        self.new_sentence.setVisible(generator_of(entry) is not None)

    # What the user does.

    def _on_edited(self, text: str) -> None:
        self.store.dispatch(actions.edit_source, text)

    def _on_reset(self) -> None:
        self.store.dispatch(actions.reset_cells)

    def _on_new_sentence(self) -> None:
        state = self.store.state
        generate = generator_of(state.model)
        if generate is not None:
            self.store.dispatch(actions.new_sentence, generate(state.sentence_number))

    def _on_examples(self) -> None:
        menu = Menu(self)
        for example in card_examples(self.store.state.model):
            menu.command(example, partial(self.store.dispatch, actions.edit_source, example))
        menu.below(self.examples)

    def _on_model(self) -> None:
        commands = (
            (f"{tr('ui.open')}\tCtrl+O", self.browse.emit),
            (f"{tr('ui.save')}\tCtrl+S", self.save.emit),
            (f"{tr('ui.save_as')}\tCtrl+Shift+S", self.saveAs.emit),
        )
        state, opened, made = self.store.state, self.openChosen.emit, self.choicesMade.emit
        model_menu(self, state, opened, made, commands, kept_folder()).below(self.model)

    def _on_train(self) -> None:
        self.store.dispatch(lab_actions.toggle_lab)

    def _on_view(self) -> None:
        menu = view_menu(self, self.store)
        menu.command(f"{tr('ui.help')}\tF1", self.keysWanted.emit)
        menu.command(f"{tr('glossary.title')}\tF2", self.glossaryWanted.emit)
        menu.below(self.view)


def _origin(entry: ModelEntry) -> str:
    """Where a model is from: a file, this program, or a training."""
    if entry.path is not None:
        return "ui.model.file"
    return "ui.model.bundled" if entry.bundled else "lab.origin"


def _hint(state: ViewState) -> str:
    """What the empty field says: of a model without examples, some words to begin with."""
    if reads_matrix(state.model):
        return tr("ui.sentence.none")
    words = () if card_examples(state.model) else some_words(state.model)
    if words:
        return tr("ui.sentence.words", words=" ".join(words))
    return tr("ui.sentence.placeholder")


def _heads(count: int) -> str:
    return tr("shape.heads.one") if count == 1 else tr("shape.heads", n=count)


def _unknown_chips(state: ViewState) -> tuple[Chip, ...]:
    """One chip per unknown word: what is read in its place, the word, the reason as tooltip."""
    if state.run is None or state.model is None or not state.run.unknown:
        return ()
    vocabulary = state.model.model.tokenizer.source_vocabulary
    mark = vocabulary[state.model.model.tokenizer.unknown_id]
    return tuple(
        Chip(
            f"{mark} {token_label(word.text)}",
            tooltip=unknown_reason(word.text),
            unknown=True,
        )
        for word in state.run.unknown
    )
