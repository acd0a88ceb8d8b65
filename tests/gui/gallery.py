"""Every widget filled with invented samples, saved as pictures to look at.

    python -m tests.gui.gallery OUT_FOLDER [--points SIZE]

The numbers are random: this shows drawing, not a model.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from tests.gui.gallery_samples import (
    LONG_SOURCE,
    LONG_TARGET,
    NEXT,
    SOURCE,
    TARGET,
    bars,
    blocks,
    causal_scores,
    logits,
    mask,
    masked_weights,
    one_column,
    rng,
    segments,
    weights,
    wide,
)
from tests.gui.gallery_views import views
from visualizer import fonts
from visualizer.lenses.picture import Matrix
from visualizer.stylesheet import stylesheet
from visualizer.theme import THEMES, Theme, qpalette
from visualizer.widgets.bars import TokenBars
from visualizer.widgets.controls import (
    Badge,
    Choice,
    LabelledSlider,
    SectionHead,
    SeedBox,
    card,
    push_button,
    rule,
)
from visualizer.widgets.formula import Formula
from visualizer.widgets.head_strip import HeadStrip
from visualizer.widgets.heatmap import HeatMap
from visualizer.widgets.model_map import ModelMap
from visualizer.widgets.notice import EmptyState, NoticeBar
from visualizer.widgets.op_chips import OpChips
from visualizer.widgets.timeline import Timeline
from visualizer.widgets.token_chips import Chip, TokenChips
from visualizer.widgets.transport import TransportButton

FONT = Path(__file__).parents[2] / "resources" / "fonts" / fonts.FILE_NAME


def themed(widget: QWidget, theme: Theme) -> None:
    for child in [widget, *widget.findChildren(QWidget)]:
        if hasattr(child, "set_theme"):
            child.set_theme(theme)


def surface(width: int = 0) -> tuple[QWidget, QVBoxLayout]:
    widget = QWidget()
    widget.setProperty("role", "surface")
    if width:
        widget.setFixedWidth(width)
    return widget, QVBoxLayout(widget)


def window(size: QSize, matrix: Matrix, long: bool) -> QWidget:
    """The widgets put together about as in the product."""
    page = QWidget()
    page.setProperty("role", "page")
    whole = QVBoxLayout(page)
    whole.setContentsMargins(0, 0, 0, 0)
    whole.setSpacing(0)
    whole.addWidget(_header())
    whole.addWidget(rule())
    middle = QHBoxLayout()
    middle.setSpacing(0)
    middle.addWidget(_left(2, "decoder.0.cross", int(size.width() * 0.155)))
    middle.addWidget(rule(vertical=True))
    middle.addLayout(_stage(matrix), 1)
    middle.addWidget(rule(vertical=True))
    middle.addWidget(_right(int(size.width() * 0.235)))
    whole.addLayout(middle, 1)
    whole.addWidget(rule())
    whole.addWidget(_bottom(long))
    page.resize(size)
    return page


def _header() -> QWidget:
    header, column = surface()
    row = QHBoxLayout()
    column.addLayout(row)
    row.addWidget(push_button("English → 中文 · 2+2 layers · 4 heads"))
    field = QLineEdit("the black cat sleeps on the table today")
    field.setProperty("kind", "sentence")
    field.setFont(fonts.scaled(field.font(), fonts.LARGE))
    row.addWidget(field, 1)
    row.addWidget(push_button("Open…"))
    notice = NoticeBar()
    notice.set_words("Details", "Dismiss")
    notice.set_notice(
        "“zebra” is not in this model's vocabulary.", "warning", "It is read as <UNK>."
    )
    column.addWidget(notice)
    return header


def _left(layers: int, current: str, width: int) -> QWidget:
    left, column = surface(width)
    head = SectionHead()
    head.set_texts("Where you are")
    column.addWidget(head)
    model_map = ModelMap()
    model_map.set_blocks(blocks(layers, current))
    model_map.set_captions("source · 8 tokens", "target · step 6")
    column.addWidget(model_map, 1)
    return left


def _stage(matrix: Matrix) -> QVBoxLayout:
    stage = QVBoxLayout()
    stage.setContentsMargins(14, 10, 14, 10)
    top = QHBoxLayout()
    badge = Badge()
    badge.set_badge("Decoder", "decoder")
    top.addWidget(badge)
    where = QLabel("layer 1 ›")
    where.setProperty("role", "muted")
    top.addWidget(where)
    title = QLabel("Cross-attention")
    title.setFont(fonts.scaled(title.font(), fonts.TITLE, bold=True))
    top.addWidget(title)
    top.addStretch(1)
    shape = QLabel("(4 heads, 7 queries, 9 keys)")
    shape.setProperty("role", "muted")
    top.addWidget(shape)
    stage.addLayout(top)
    second = QHBoxLayout()
    formula = Formula()
    formula.set_tex(r"A = \mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right)")
    formula.finish()
    second.addWidget(formula, 1)
    ops = OpChips()
    ops.set_ops(("q k v", "scores", "mask", "weights", "context", "concat", "out"), 3)
    ops.set_align_right(True)
    second.addWidget(ops, 1)
    stage.addLayout(second)
    body = QHBoxLayout()
    body.setSpacing(12)
    stage.setSpacing(8)
    top.setSpacing(8)
    strip = HeadStrip()
    heads = tuple(weights(TARGET, SOURCE, NEXT) for _ in range(4))
    strip.set_heads(heads, ("head 1 · aligned", "head 2", "head 3", "head 4"), 0)
    body.addWidget(strip)
    frame, inside = card()
    heatmap = HeatMap()
    heatmap.set_hidden_legend("masked")
    heatmap.set_matrix(matrix)
    heatmap.set_selected((3, 2))
    inside.addWidget(heatmap)
    body.addWidget(frame, 1)
    stage.addLayout(body, 1)
    sentence_card, inside = card()
    words = QLabel("Each target token asks which source tokens matter; every row is a share of 1.")
    words.setWordWrap(True)
    inside.addWidget(words)
    stage.addWidget(sentence_card)
    return stage


def _right(width: int) -> QWidget:
    right, column = surface(width)
    head = SectionHead()
    head.set_texts("Next token", "entropy 0.91 bits")
    column.addWidget(head)
    token_bars = TokenBars()
    token_bars.set_bars(bars(0))
    token_bars.set_limit(8)
    column.addWidget(token_bars, 1)
    for label, least, most, step, value in (
        ("temperature", 0.05, 2.0, 0.05, 0.8),
        ("top-k", 1, 50, 1, 20),
        ("top-p", 0.05, 1.0, 0.01, 0.95),
    ):
        slider = LabelledSlider()
        slider.set_label(label, 80)
        slider.set_range(least, most, step, "{:.2f}".format if step < 1 else "{:.0f}".format)
        slider.set_value(value)
        column.addWidget(slider)
    row = QHBoxLayout()
    choice = Choice()
    choice.set_options(("Greedy", "Sample"), 1)
    row.addWidget(choice)
    row.addStretch(1)
    row.addWidget(QLabel("seed"))
    seed = SeedBox()
    seed.set_value(42)
    row.addWidget(seed)
    column.addLayout(row)
    column.addStretch(1)
    return right


def _bottom(long: bool) -> QWidget:
    bottom, column = surface()
    row = QHBoxLayout()
    for sign, word in (
        ("first", ""),
        ("back", ""),
        ("play", "Play"),
        ("forward", ""),
        ("last", ""),
    ):
        button = TransportButton(sign, primary=bool(word))  # type: ignore[arg-type]
        button.setText(word)
        row.addWidget(button)
    speed = QLabel("1.0×")
    speed.setProperty("role", "muted")
    row.addWidget(speed)
    tokens = (LONG_TARGET * 3 if long else TARGET)[1:]
    chips = TokenChips()
    output = [Chip(t, float(p)) for t, p in zip(tokens, rng.uniform(0.3, 1, len(tokens)))]
    chips.set_chips((*output, Chip("睡觉", 0.742)), len(output))
    row.addWidget(chips, 1)
    step = QLabel("step 143 / 212")
    step.setProperty("role", "muted")
    row.addWidget(step)
    column.addLayout(row)
    timeline = Timeline()
    timeline.set_segments(segments([*tokens, "?"]))
    timeline.set_step(143)
    column.addWidget(timeline)
    return bottom


def matrices(size: QSize) -> QWidget:
    """Heatmaps of every shape, side by side."""
    page = QWidget()
    page.setProperty("role", "page")
    rows = QVBoxLayout(page)
    shown = [
        weights(LONG_TARGET, LONG_SOURCE, [*LONG_TARGET[1:], "<EOS>"], current_row=5),
        causal_scores(masked=True),
        masked_weights(),
        wide(LONG_TARGET, 64),
        logits(),
        mask() if size.width() > 1500 else one_column(),
    ]
    for start in (0, 3):
        row = QHBoxLayout()
        rows.addLayout(row)
        for matrix in shown[start : start + 3]:
            frame, inside = card()
            heatmap = HeatMap()
            heatmap.set_hidden_legend("masked")
            heatmap.set_matrix(matrix)
            heatmap.set_selected((1, 0))
            inside.addWidget(heatmap)
            row.addWidget(frame)
    page.resize(size)
    return page


def pieces(size: QSize) -> QWidget:
    """Many heads, many layers, many chips, notices, empty places."""
    page = QWidget()
    page.setProperty("role", "page")
    row = QHBoxLayout(page)
    for layers, current in ((6, "decoder.3.ffn"), (12, "encoder.4.self")):
        row.addWidget(_left(layers, current, 200))
    for count in (8, 16):
        strip = HeadStrip()
        heads = tuple(weights(LONG_TARGET, LONG_SOURCE, []) for _ in range(count))
        strip.set_heads(heads, tuple(f"head {i + 1}" for i in range(count)), count - 2)
        row.addWidget(strip)
    right, column = surface()
    row.addWidget(right, 1)
    notice = NoticeBar()
    notice.set_words("Details", "Dismiss")
    notice.set_notice("This file is not a checkpoint: its header is cut short.", "error", "line 1")
    column.addWidget(notice)
    source = TokenChips()
    source.set_two_lines(False)
    chips = [Chip(t) for t in SOURCE]
    chips[2] = Chip("<UNK>", tooltip="“zebra” is not in the vocabulary", unknown=True)
    source.set_chips(tuple(chips))
    column.addWidget(source)
    for labels in (
        ("x", "sublayer", "sum", "mean", "variance", "normalise", "scale, shift"),
        ("q",),
    ):
        ops = OpChips()
        ops.set_ops(labels, 0)
        column.addWidget(ops)
    ops = OpChips()
    ops.set_ops(tuple(f"operation {i}" for i in range(14)), 9)
    column.addWidget(ops)
    for tex in (
        r"\mathrm{LayerNorm}(x + \mathrm{Sublayer}(x)) = \gamma \odot \frac{r - \mu}{\sqrt{\sigma^2"
        r" + \epsilon}} + \beta",
        r"PE_{pos,2i} = \sin\left(pos / 10000^{2i/d}\right)",
        r"\notacommand{",
    ):
        formula = Formula()
        formula.set_tex(tex, "plain text instead")
        formula.finish()
        column.addWidget(formula)
    token_bars = TokenBars()
    token_bars.set_limit(6)
    token_bars.set_bars(bars(8))
    column.addWidget(token_bars, 1)
    empty = EmptyState()
    empty.set_texts("没有句子", "Type a sentence above, or take one of the examples.")
    column.addWidget(empty, 1)
    page.resize(size)
    return page


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--points", type=float, default=fonts.BASE_POINTS)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    app = QApplication([])
    app.setStyle("Fusion")
    font = fonts.install_fonts(app, FONT, options.points, exact=True)
    for theme in THEMES.values():
        app.setPalette(qpalette(theme))
        app.setStyleSheet(stylesheet(theme, fonts.em(font)))
        for size in (QSize(1280, 720), QSize(1600, 1000)):
            long = size.width() < 1500
            attended = (
                weights(LONG_TARGET, LONG_SOURCE, [*LONG_TARGET[1:], "<EOS>"])
                if long
                else weights(TARGET, SOURCE, NEXT, current_row=6, current_column=4)
            )
            for name, page in (
                ("window", window(size, attended, long)),
                ("matrices", matrices(size)),
                ("pieces", pieces(size)),
                ("views", views(size)),
            ):
                themed(page, theme)
                page.show()
                app.processEvents()
                file = options.folder / f"{name}-{theme.name}-{size.width()}.png"
                page.grab().save(str(file))
                page.close()
                print(file)


if __name__ == "__main__":
    main()
