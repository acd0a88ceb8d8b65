"""How the next token is chosen: the sliders, the strategy, the seed; in a column or in a row."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from visualizer import fonts
from visualizer.i18n import tr
from visualizer.inputs import Inputs, Strategy
from visualizer.widgets.controls import Choice, LabelledSlider, SeedBox
from visualizer.widgets.glossary_link import TermLabel
from visualizer.widgets.sentence_field import UndoStaysOutside

STRATEGIES: tuple[Strategy, ...] = ("greedy", "sample", "beam")
LEAST_TEMPERATURE, MOST_TEMPERATURE = 0.1, 2.0
MOST_TOP_K = 50


class SamplingControls(QWidget):
    """moved(name of the field of the inputs, its value) for what the user does."""

    moved = Signal(str, object)

    def __init__(self, in_a_row: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        em = fonts.em(self.font())
        self._in_a_row = in_a_row
        self.temperature, self.top_k, self.top_p = (LabelledSlider() for _ in range(3))
        self.sliders = (self.temperature, self.top_k, self.top_p)
        self.choice = Choice()
        self.seed = SeedBox()
        self.seed_label = TermLabel()
        self.seed_label.setProperty("role", "muted")
        self.seed_label.setBuddy(self.seed)
        self.seed.installEventFilter(UndoStaysOutside(self))
        row = QHBoxLayout()
        row.addWidget(self.choice)
        # a column is too narrow for both
        seed = row if in_a_row else QHBoxLayout()
        if in_a_row:
            row.addStretch(1)
        seed.addWidget(self.seed_label)
        if not in_a_row:
            row.addStretch(1)
            seed.addStretch(1)
        seed.addWidget(self.seed)
        whole: QBoxLayout = QHBoxLayout(self) if in_a_row else QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(round((1.2 if in_a_row else 0.45) * em))
        for slider in self.sliders:
            whole.addWidget(slider, 1 if in_a_row else 0)
        if not in_a_row:
            whole.addLayout(seed)
            whole.addSpacing(round(0.3 * em))
        whole.addLayout(row)
        self.temperature.moved.connect(self._on_temperature)
        self.top_k.moved.connect(self._on_top_k)
        self.top_p.moved.connect(self._on_top_p)
        self.choice.chosen.connect(self._on_choice)
        self.seed.edited.connect(self._on_seed)

    def retranslate(self) -> None:
        """Read the words anew."""
        labels = tuple(tr(key) for key in ("ui.temperature", "ui.top_k", "ui.top_p"))
        widest = max(self.fontMetrics().horizontalAdvance(label) for label in labels)
        width = 0 if self._in_a_row else widest + round(0.4 * fonts.em(self.font()))
        tips = ("ui.temperature.tip", "ui.top_k.tip", "ui.top_p.tip")
        for slider, label, tip in zip(self.sliders, labels, tips, strict=True):
            slider.set_label(label, width)
            slider.setToolTip(tr(tip))
        self.temperature.set_range(LEAST_TEMPERATURE, MOST_TEMPERATURE, 0.05, "{:.2f}".format)
        self.top_k.set_range(1, MOST_TOP_K + 1, 1, _top_k_text)
        self.top_p.set_range(0.05, 1.0, 0.01, _top_p_text)
        self.seed_label.setText(tr("ui.seed"))
        self.seed.setAccessibleName(tr("ui.seed"))
        self.seed.setToolTip(tr("ui.seed.tip"))

    def set_inputs(self, inputs: Inputs) -> None:
        """Show what the inputs say; says nothing."""
        self.temperature.set_value(max(inputs.temperature, LEAST_TEMPERATURE))
        self.top_k.set_value(min(inputs.top_k or MOST_TOP_K + 1, MOST_TOP_K + 1))
        self.top_p.set_value(1.0 if inputs.top_p is None else inputs.top_p)
        self.seed.set_value(inputs.seed)
        for slider in self.sliders:
            # a search draws nothing
            slider.setEnabled(inputs.strategy != "beam")
        options = (tr("ui.greedy"), tr("ui.sample.short"), tr("ui.beam", n=inputs.beams))
        self.choice.set_options(options, STRATEGIES.index(inputs.strategy))

    def _on_temperature(self, value: float) -> None:
        self.moved.emit("temperature", value)

    def _on_top_k(self, value: float) -> None:
        self.moved.emit("top_k", None if value > MOST_TOP_K else int(value))

    def _on_top_p(self, value: float) -> None:
        self.moved.emit("top_p", value)

    def _on_choice(self, index: int) -> None:
        self.moved.emit("strategy", STRATEGIES[index])

    def _on_seed(self, seed: int) -> None:
        self.moved.emit("seed", seed)


def _top_k_text(value: float) -> str:
    return tr("ui.off") if value > MOST_TOP_K else f"{value:.0f}"


def _top_p_text(value: float) -> str:
    return tr("ui.off") if value >= 1.0 else f"{value:.2f}"
