"""The film of a training with what is chosen of it, two frames side by side, and the tables."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from visualizer import fonts, lab_orders
from visualizer.i18n import tr
from visualizer.lab import Lab, Training, shown_step, snapshot_steps
from visualizer.lenses import lab_words
from visualizer.lenses.lab_probe import unknown_said
from visualizer.pages.train_file import Picker
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.widgets.controls import card, push_button
from visualizer.widgets.film_detail import FilmDetail
from visualizer.widgets.film_pair import FilmPair
from visualizer.widgets.film_strip import FilmStrip, Scrubber
from visualizer.widgets.lab_tables import LINE, NormTable, SampleTable
from visualizer.widgets.probe_field import ProbeField
from visualizer.widgets.section_switch import SectionSwitch

VIEWS = ("film", "pair", "tables")
# Shares of the width: of the strip and of the frame that is looked at.
SHARES = (58, 42)
# The field takes the room that nothing else needs, up to its widest.
PROBE_SHARE = 50
# What a list needs beside its words, in parts of the font's size: its edges and its arrow.
BESIDE_WORDS = 2.6
# Below this width, in parts of the font's size, an attention is named in fewer words.
NARROW = 75.0

# So many lines of the tables are below the film at least.
LEAST_LINES = 5
WITHOUT_LIMIT = 2**24 - 1


class Resized(QWidget):
    """Tells when its size has changed, once those in it have theirs."""

    resized = Signal()

    def resizeEvent(self, event: QResizeEvent) -> None:
        layout = self.layout()
        if layout is not None:
            layout.activate()
        self.resized.emit()


class FilmPart(QWidget):
    """saveWanted(step) for the shown snapshot as a file; left() when its field is done with."""

    saveWanted = Signal(int)
    left = Signal()

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.store = store
        em = self.em = fonts.em(self.font())
        self._narrow = False
        self.switch = SectionSwitch()
        self.probe, self.wrong = ProbeField(), QLabel()
        self.wrong.setProperty("role", "error")
        self.wrong.setTextFormat(Qt.TextFormat.PlainText)
        # words that wrap would give the film the height of all its tables' lines for its least one
        self.wrong.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.wrong.hide()
        self.probe_label = QLabel()
        self.probe_label.setProperty("role", "muted")
        self.site, self.head = Picker(), Picker()
        self.open, self.save, self.swap = push_button(), push_button(), push_button(kind="quiet")
        self.strip, self.detail = FilmStrip(), FilmDetail()
        self.pair, self.scrubber = FilmPair(), Scrubber()
        self.samples = tuple(SampleTable() for _ in range(2))
        self.norms = tuple(NormTable() for _ in range(2))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(round(0.4 * em))
        head = QHBoxLayout()
        head.setSpacing(round(0.5 * em))
        head.addWidget(self.switch)
        head.addStretch(1)
        head.addWidget(self.probe_label)
        head.addWidget(self.probe, PROBE_SHARE)
        head.addWidget(self.site)
        head.addWidget(self.head)
        head.addWidget(self.swap)
        head.addWidget(self.open)
        head.addWidget(self.save)
        column.addLayout(head)
        column.addWidget(self.wrong)
        frame, inside = card(self)
        # less above and below than elsewhere: it is what the frames can have
        inside.setContentsMargins(*(round(part * em) for part in (0.8, 0.5, 0.8, 0.4)))
        inside.setSpacing(round(0.4 * em))
        self.stack = QStackedLayout()
        inside.addLayout(self.stack, 1)
        self.below = self._made_tables(1)
        self.film = self._made_film()
        self.stack.addWidget(self.film)
        self.stack.addWidget(self.pair)
        self.stack.addWidget(self._made_tables(0))
        inside.addWidget(self.scrubber)
        column.addWidget(frame, 1)
        self.probe.setMinimumWidth(round(7 * em))
        self.probe.setMaximumWidth(round(30 * em))
        self.switch.set_ground("page")
        for canvas in (self.strip, self.detail, self.pair, self.scrubber):
            canvas.set_ground("surface")
        for table in (*self.samples, *self.norms):
            table.set_ground("surface")
        self.strip.count_changed = self._on_room
        self.switch.chosen.connect(self._on_view)
        self.strip.frameClicked.connect(self._on_step)
        self.strip.frameMarked.connect(self._on_mark)
        self.strip.frameOpened.connect(self._on_open_frame)
        self.scrubber.moved.connect(self._on_step)
        self.probe.taken.connect(self._on_probe)
        self.probe.givenUp.connect(self._on_given_up)
        self.probe.textChanged.connect(self._on_typed)
        self.site.picked.connect(self._on_site)
        self.head.picked.connect(self._on_head)
        self.open.clicked.connect(self._on_open)
        self.save.clicked.connect(self._on_save)
        self.swap.clicked.connect(self._on_swap)

    def _made_film(self) -> Resized:
        """The strip with what has room below it, and at the right the frame that is looked at."""
        both, left = Resized(self), QVBoxLayout()
        both.resized.connect(self._fit_tables)
        row = QHBoxLayout(both)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(round(1.6 * self.em))
        left.setSpacing(round(0.6 * self.em))
        left.addWidget(self.strip, 3)
        left.addWidget(self.below, 2)
        row.addLayout(left, SHARES[0])
        row.addWidget(self.detail, SHARES[1])
        return both

    def _made_tables(self, number: int) -> QWidget:
        both = QWidget(self)
        row = QHBoxLayout(both)
        self._table_margin = round(0.2 * self.em)
        row.setContentsMargins(0, self._table_margin, 0, 0)
        row.setSpacing(round(2 * self.em))
        # where they have the page to themselves there are examples enough to fill it
        row.addWidget(self.samples[number], 1 if number else 3)
        row.addWidget(self.norms[number], 1 if number else 2)
        return both

    def retranslate(self) -> None:
        self._label_probe()
        self.probe.setAccessibleName(tr("lab.probe"))
        self.probe.setToolTip(tr("lab.probe.tip"))
        self.site.setToolTip(tr("lab.film.site.tip"))
        self.site.setAccessibleName(tr("lab.film.site"))
        self.head.setAccessibleName(tr("lab.film.head"))
        for button, name in ((self.open, "open"), (self.save, "save"), (self.swap, "swap")):
            button.setText(tr(f"lab.film.{name}"))
            button.setToolTip(tr(f"lab.film.{name}.tip"))
        self.scrubber.describe(tr("lab.film.scrubber"))

    def _fit_tables(self) -> None:
        """The tables are below the film where it can leave them room: what it does not need, then
        some of its frames' height.
        """
        needed = (LEAST_LINES + 1) * LINE * self.em + self._table_margin
        spare = self.film.height() - round(0.6 * self.em) - math.ceil(needed)
        roomy = spare >= self.strip.least_height()
        self.below.setVisible(roomy)
        wished = min(round(self.strip.wished_height()), spare)
        self.strip.setMaximumHeight(wished if roomy else WITHOUT_LIMIT)

    def draw(self, state: ViewState) -> None:
        lab, training = state.lab, state.lab.training
        assert training is not None
        here = VIEWS.index(lab.view)
        titles = tuple(tr(f"lab.view.{name}") for name in VIEWS)
        steps = snapshot_steps(lab)
        known = lab_words.nearest(lab_words.known_steps(lab) or steps, shown_step(lab))
        self.switch.set_titles(titles, here)
        wide = self.switch.title_rect(len(VIEWS) - 1).right() + 0.5 * self.em
        self.switch.setFixedWidth(math.ceil(wide))
        self.stack.setCurrentIndex(here)
        if lab.view == "film":
            self._draw_frames(lab)
        elif lab.view == "pair":
            pair = lab_words.pair(lab)
            expected = lab_words.expected_words(pair[0]) if pair else ""
            words = tr("lab.pair.difference"), tr("lab.pair.empty"), tr("lab.detail.cell")
            self.pair.set_pair(pair, *words, expected, tr("lab.pair.rows"))
        self.swap.setVisible(lab.view == "pair")
        self.scrubber.set_steps(steps, known or 0)
        self._draw_choices(state)
        self._draw_tables(lab, training, state.count_from)
        self.open.setEnabled(known is not None)
        self.save.setEnabled(known is not None)

    def _draw_tables(self, lab: Lab, training: Training, count_from: int) -> None:
        """What was measured last up to the step that is looked at; the headings say when."""
        done = lab_words.evaluation_at(training, lab.shown)
        measured = lab_words.norms_at(training, lab.shown)
        samples = lab_words.samples(done)
        source = lab_words.at_step(tr("lab.sample.source"), None if done is None else done.step)
        heads = (source, tr("lab.sample.expected"), tr("lab.sample.output"))
        step, norms = (None, ()) if measured is None else measured
        bars = lab_words.norm_bars(norms, count_from)
        layer = lab_words.at_step(tr("lab.norm.layer"), step)
        titles = (layer, tr("lab.norm.parameters"), tr("lab.norm.update"), tr("lab.norm.ratio"))
        # nothing is to come any more once it is over
        late = ".over" if training.is_over else ""
        late_sample = ".none" if training.n_held_out == 0 else late
        for samples_table, norm_table in zip(self.samples, self.norms, strict=True):
            samples_table.set_samples(samples, heads, tr(f"lab.sample.empty{late_sample}"))
            norm_table.set_norms(bars, titles, tr(f"lab.norm.empty{late}"))

    def _draw_frames(self, lab: Lab) -> None:
        frames = lab_words.frames(lab, self.strip.room_for())
        self.strip.set_frames(frames, self._waiting(lab))
        shown = lab_words.detail(lab)
        self.detail.set_detail(shown)
        if self.detail.isHidden() == (shown is not None):
            self.detail.setVisible(shown is not None)
            # the strip is wider or narrower than before, and its frames are higher or lower
            self.film.layout().activate()
            self._fit_tables()

    def _waiting(self, lab: Lab) -> str:
        training = lab.training
        if training is not None and training.is_over and not training.snapshots:
            return tr("lab.film.nothing")
        if training is not None and training.snapshots and not lab.probe:
            return tr("lab.film.none")
        return tr("lab.film.waiting")

    def _is_narrow(self) -> bool:
        return self.width() < NARROW * self.em

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width may have room for other words."""
        super().resizeEvent(event)
        if self.isVisible() and self._is_narrow() != self._narrow:
            with self.store.drawing() as state:
                self._draw_choices(state)

    def _draw_choices(self, state: ViewState) -> None:
        lab = state.lab
        config = lab.training.config if lab.training is not None else None
        self.probe.set_current(lab.probe)
        self._label_probe()
        self._draw_refusal(lab)
        for picker in (self.site, self.head):
            picker.setVisible(config is not None)
        if config is None:
            return
        self._narrow = self._is_narrow()
        form, sites = ".short" if self._narrow else "", []
        for kind in ("cross", "encoder", "decoder"):
            for layer in range(lab_orders.depth(lab, kind)):  # type: ignore[arg-type]
                words = tr(f"lab.site.{kind}{form}", n=layer + state.count_from)
                sites.append(((kind, layer), words))
        self.site.set_options(tuple(sites), (lab.attention, lab.layer))
        heads = range(config.n_heads)
        names = tuple((n, tr("lab.film.head_n", n=n + state.count_from)) for n in heads)
        self.head.set_options(names, lab.head)
        for picker, options in ((self.site, sites), (self.head, names)):
            # no wider than its words, for the sake of the probe
            face = picker.fontMetrics()
            wide = max((face.horizontalAdvance(words) for _, words in options), default=0)
            picker.setFixedWidth(math.ceil(wide + BESIDE_WORDS * self.em))

    # What the user does.

    def _on_room(self) -> None:
        training = self.store.state.lab.training
        if training is not None and self.isVisible():
            with self.store.drawing() as state:
                self._draw_frames(state.lab)

    def _on_view(self, number: int) -> None:
        self.store.dispatch(lab_orders.set_view, VIEWS[number])

    def _on_step(self, step: int) -> None:
        self.store.dispatch(lab_orders.show_step, step)

    def _on_mark(self, step: int) -> None:
        self.store.dispatch(lab_orders.mark_step, step)

    def _on_open_frame(self, step: int) -> None:
        self.store.dispatch(lab_orders.show_step, step)
        self.store.dispatch(lab_orders.open_shown)

    def _on_probe(self, text: str) -> None:
        """Another sentence; the field is left once the film is of it."""
        state = self.store.dispatch(lab_orders.set_probe, text)
        if state.lab.refused is None and self.probe.hasFocus():
            self.left.emit()

    def _on_given_up(self) -> None:
        self.store.dispatch(lab_orders.forget_refusal)
        self.left.emit()

    def _on_typed(self, text: str) -> None:
        self._label_probe()
        if self.probe.is_edited:
            self.store.dispatch(lab_orders.forget_refusal)

    def _label_probe(self) -> None:
        """As long as the film is not of what is typed, how it will be."""
        role = "accent" if self.probe.is_edited else "muted"
        self.probe_label.setText(tr("lab.probe.enter" if role == "accent" else "lab.probe"))
        if self.probe_label.property("role") != role:
            self.probe_label.setProperty("role", role)
            self.probe_label.style().polish(self.probe_label)

    def _draw_refusal(self, lab: Lab) -> None:
        """Why the probe cannot be what was typed, else what of it the model does not know."""
        role = "warning" if lab.refused is None else "error"
        words = unknown_said(lab.training, lab.probe)
        if lab.refused is not None:
            words = lab_words.refusal(*lab.refused)
        if self.wrong.property("role") != role:
            self.wrong.setProperty("role", role)
            self.wrong.style().polish(self.wrong)
        self.wrong.setText(words)
        self.wrong.setToolTip(words)
        self.wrong.setVisible(bool(words))

    def _on_site(self, place: tuple[str, int]) -> None:
        self.store.dispatch(lab_orders.set_attention, place[0])
        self.store.dispatch(lab_orders.set_layer, place[1])

    def _on_head(self, head: int) -> None:
        self.store.dispatch(lab_orders.set_head, head)

    def _on_open(self) -> None:
        self.store.dispatch(lab_orders.open_shown)

    def _on_save(self) -> None:
        step = shown_step(self.store.state.lab)
        if step is not None:
            self.saveWanted.emit(step)

    def _on_swap(self) -> None:
        self.store.dispatch(lab_orders.swap_marked)
