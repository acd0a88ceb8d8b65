"""The other painted widgets: places, words and signals."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QApplication, QPushButton

from tests.gui.samples import FONT, LEFT_BUTTON, at, matrix
from visualizer import fonts
from visualizer.lenses.picture import Bars
from visualizer.theme import THEMES
from visualizer.widgets import formula as formula_module
from visualizer.widgets.bars import TokenBars
from visualizer.widgets.controls import Badge, Choice, LabelledSlider, SectionHead, SeedBox
from visualizer.widgets.formula import Formula
from visualizer.widgets.head_strip import HeadStrip
from visualizer.widgets.heatmap import HeatMap
from visualizer.widgets.model_map import Block, ModelMap
from visualizer.widgets.notice import EmptyState, NoticeBar
from visualizer.widgets.op_chips import OpChips
from visualizer.widgets.sentence_field import SentenceField
from visualizer.widgets.timeline import Segment, Timeline
from visualizer.widgets.token_chips import Chip, TokenChips
from visualizer.widgets.transport import TransportButton


@pytest.fixture(autouse=True)
def bundled_font(qapp: QApplication) -> None:
    fonts.install_fonts(qapp, FONT, exact=True)


# Heads.


def test_each_of_sixteen_heads_can_be_chosen(qtbot):
    strip = HeadStrip()
    qtbot.addWidget(strip)
    strip.resize(120, 420)
    heads = tuple(matrix(7, 9) for _ in range(16))
    strip.set_heads(heads, tuple(f"head {i + 1}" for i in range(16)), 0)
    strip.show()
    for head in range(16):
        strip.set_heads(heads, (), head)  # keeps the chosen one in view
        middle = at(strip.rect_of(head).center())
        assert strip.rect().contains(middle)
        with qtbot.waitSignal(strip.headChosen) as chosen:
            qtbot.mouseClick(strip, LEFT_BUTTON, pos=middle)
        assert chosen.args == [head]


# Bars.


def some_bars(chosen: int | None) -> Bars:
    values = np.array([0.01, 0.6, 0.02, 0.3, 0.07])
    return Bars(("a", "b", "c", "d", "e"), values, values > 0.05, chosen=chosen)


def test_bars_stand_in_order_of_probability_and_keep_the_chosen_one(qtbot):
    bars = TokenBars()
    qtbot.addWidget(bars)
    bars.resize(240, 300)
    bars.set_bars(some_bars(chosen=0))
    assert bars.shown() == [1, 3, 4, 2, 0]
    bars.set_limit(3)
    assert bars.shown() == [1, 3, 0]


def test_hovering_a_bar_names_its_place_in_the_picture(qtbot):
    bars = TokenBars()
    qtbot.addWidget(bars)
    bars.resize(240, 300)
    bars.set_bars(some_bars(chosen=None))
    bars.show()
    with qtbot.waitSignal(bars.barHovered) as hovered:
        qtbot.mouseMove(bars, QPoint(20, 25))
    assert hovered.args == [3]


def test_a_token_outside_the_kept_set_is_grey(qtbot):
    bars = TokenBars()
    qtbot.addWidget(bars)
    bars.resize(240, 200)
    values = np.array([0.5, 0.5])
    bars.set_bars(Bars(("a", "b"), values, np.array([True, False])))
    picture = bars.grab().toImage()
    rows = [
        {picture.pixelColor(x, y).name() for x in range(240)}
        for y in (int(bars.em * 0.8), int(bars.em * 2.4))
    ]
    assert bars.theme.output in rows[0] and bars.theme.output not in rows[1]
    assert bars.theme.bar_off in rows[1]


# The map.


def layered(layers: int, current: int) -> tuple[Block, ...]:
    blocks = [Block("e", "Embed + position", "encoder")]
    for layer in range(layers):
        for part in ("Self-attention", "Add & Norm", "Feed forward", "Add & Norm"):
            blocks.append(Block(f"e{len(blocks)}", part, "encoder", f"encoder {layer + 1}"))
    blocks.append(Block("d", "Embed + position", "decoder"))
    for layer in range(layers):
        for part in ("Self", "Norm", "Cross", "Norm", "Feed forward", "Norm"):
            blocks.append(Block(f"d{len(blocks)}", part, "decoder", f"decoder {layer + 1}"))
    blocks.append(Block("out", "Logits → softmax", "output"))
    return tuple(
        Block(
            b.id,
            b.label,
            b.side,
            b.group,
            "done" if i < current else "current" if i == current else "todo",
        )
        for i, b in enumerate(blocks)
    )


@pytest.mark.parametrize("layers", [1, 2, 6, 12])
@pytest.mark.parametrize("height", [420, 900])
def test_the_current_block_is_in_view_and_can_be_clicked(qtbot, layers, height):
    model_map = ModelMap()
    qtbot.addWidget(model_map)
    model_map.resize(200, height)
    model_map.show()
    for current in range(0, 10 * layers + 3, 3):
        blocks = layered(layers, current)
        model_map.set_blocks(blocks)
        middle = at(model_map.rect_of(blocks[current].id).center())
        assert model_map.rect().contains(middle)
        with qtbot.waitSignal(model_map.blockChosen) as chosen:
            qtbot.mouseClick(model_map, LEFT_BUTTON, pos=middle)
        assert chosen.args == [blocks[current].id]


def test_the_encoder_stands_left_of_the_decoder_and_the_output_on_top(qtbot):
    model_map = ModelMap()
    qtbot.addWidget(model_map)
    model_map.resize(200, 700)
    model_map.set_blocks(layered(2, 5))
    encoder, decoder, output = (model_map.rect_of(i) for i in ("e", "d", "out"))
    assert encoder.right() < decoder.left()
    assert encoder.bottom() == decoder.bottom()
    assert output.bottom() < decoder.top() and output.left() == decoder.left()


# The timeline.


@pytest.mark.parametrize("width", [300, 1250])
def test_every_step_of_the_timeline_maps_back_to_itself(qtbot, width):
    timeline = Timeline()
    qtbot.addWidget(timeline)
    timeline.resize(width, 30)
    timeline.set_segments(
        (
            Segment("embed", "encoder", 3),
            Segment("encoder 1", "encoder", 20),
            Segment("t=1 今天", "decoder", 40),
            Segment("out", "output", 2),
        )
    )
    assert [timeline.step_at(timeline.x_of(step)) for step in range(65)] == list(range(65))
    assert timeline.step_at(-50) == 0
    assert timeline.step_at(width + 50) == 64


def test_dragging_along_the_timeline_scrubs(qtbot):
    timeline = Timeline()
    qtbot.addWidget(timeline)
    timeline.resize(400, 30)
    timeline.set_segments((Segment("a", "encoder", 10), Segment("b", "decoder", 10)))
    timeline.show()
    steps: list[int] = []
    timeline.scrubbed.connect(steps.append)
    timeline.set_step(4)
    assert steps == []
    qtbot.mousePress(timeline, LEFT_BUTTON, pos=QPoint(1, 10))
    qtbot.mouseMove(timeline, QPoint(399, 10))
    qtbot.mouseRelease(timeline, LEFT_BUTTON, pos=QPoint(399, 10))
    assert steps[0] == 0 and steps[-1] == 19


# Chips.


def test_the_current_token_of_a_long_output_is_in_view(qtbot):
    chips = TokenChips()
    qtbot.addWidget(chips)
    chips.resize(300, 50)
    many = tuple(Chip(f"词{i}", 0.5) for i in range(60))
    chips.show()
    for current in (0, 59, 30):
        chips.set_chips(many, current)
        middle = at(chips.rect_of(current).center())
        assert chips.rect().contains(middle)
        with qtbot.waitSignal(chips.tokenChosen) as chosen:
            qtbot.mouseClick(chips, LEFT_BUTTON, pos=middle)
        assert chosen.args == [current]


def test_an_unknown_token_has_the_warning_colour(qtbot):
    chips = TokenChips()
    qtbot.addWidget(chips)
    chips.set_two_lines(False)
    chips.resize(300, 30)
    chips.set_chips((Chip("the"), Chip("<UNK>", tooltip="no such word", unknown=True)))
    picture = chips.grab().toImage()

    def ground(index: int) -> str:
        rect = chips.rect_of(index)
        return picture.pixelColor(at(QPointF(rect.center().x(), rect.top() + 3))).name()

    assert ground(0) == chips.theme.chip
    assert ground(1) == chips.theme.warning_tint


def test_op_chips_wrap_where_they_do_not_fit_and_each_can_be_chosen(qtbot):
    chips = OpChips()
    qtbot.addWidget(chips)
    chips.set_ops(("q k v", "scores", "mask", "weights", "context", "concat", "out"), 3)
    assert chips.heightForWidth(900) < chips.heightForWidth(200)
    chips.resize(200, chips.heightForWidth(200))
    chips.show()
    for index in range(7):
        middle = at(chips.rect_of(index).center())
        assert chips.rect().contains(middle)
        with qtbot.waitSignal(chips.chosen) as chosen:
            qtbot.mouseClick(chips, LEFT_BUTTON, pos=middle)
        assert chosen.args == [index]


# Formulas.


def ink(widget) -> int:
    picture = widget.grab().toImage()
    ground = picture.pixel(picture.width() - 1, 0)
    return sum(
        picture.pixel(x, y) != ground
        for x in range(picture.width())
        for y in range(picture.height())
    )


def test_a_formula_is_typeset_when_idle_and_not_before(qtbot):
    formula = Formula()
    qtbot.addWidget(formula)
    formula.resize(300, 34)
    formula.set_tex(r"x_{\mathrm{idle}} + \frac{1}{2}")
    assert ink(formula) == 0
    qtbot.waitUntil(lambda: ink(formula) > 0, timeout=5000)


def test_two_formulas_are_never_typeset_at_once(monkeypatch):
    """The typesetter reads its font with one file position."""
    inside, most, both = [], [], threading.Event()

    def slowly(tex, colour):
        inside.append(tex)
        most.append(len(inside))
        both.wait(0.2)
        inside.remove(tex)
        return b""

    monkeypatch.setattr(formula_module, "_typeset_now", slowly)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda tex: formula_module.typeset(tex, "#13579b"), ("p", "q")))
    assert most == [1, 1]


@pytest.mark.parametrize("tex", [r"\notacommand{", r"{{{", r"\frac{1}"])
def test_what_is_no_formula_is_shown_as_plain_text(qtbot, tex):
    formula = Formula()
    qtbot.addWidget(formula)
    formula.resize(300, 34)
    formula.set_tex(tex, "plain words")
    formula.finish()
    assert ink(formula) > 0


# Controls tell what the user did, and nothing else.


def test_a_slider_tells_the_users_moves_alone(qtbot):
    slider = LabelledSlider()
    qtbot.addWidget(slider)
    slider.set_range(0.1, 2.0, 0.1, "{:.1f}".format)
    moves: list[float] = []
    slider.moved.connect(moves.append)
    slider.set_value(0.8)
    assert moves == [] and slider.value_label.text() == "0.8"
    slider.show()
    qtbot.keyClick(slider.slider, Qt.Key.Key_Right)
    assert moves == [0.9] and slider.value_label.text() == "0.9"


def test_a_choice_and_a_seed_tell_the_users_doing_alone(qtbot):
    choice, seed = Choice(), SeedBox()
    qtbot.addWidget(choice)
    qtbot.addWidget(seed)
    told: list[object] = []
    choice.chosen.connect(told.append)
    seed.edited.connect(told.append)
    choice.set_options(("Greedy", "Sample"), 0)
    choice.set_options(("贪心", "采样"), 1)
    seed.set_value(42)
    assert told == []
    qtbot.mouseClick(choice.findChildren(QPushButton)[0], LEFT_BUTTON)
    qtbot.keyClick(seed, Qt.Key.Key_Up)
    seed.selectAll()
    qtbot.keyClicks(seed, "7x")
    assert told == [0, 43, 7]


def test_a_notice_hides_until_there_is_one_and_can_be_put_away(qtbot):
    notice = NoticeBar()
    qtbot.addWidget(notice)
    notice.set_words("Details", "Dismiss")
    assert notice.isHidden()
    notice.set_notice("The file is cut short.", "error", "byte 12")
    notice.show()
    assert notice.details.isHidden()
    qtbot.mouseClick(notice.more, LEFT_BUTTON)
    assert notice.details.isVisible()
    with qtbot.waitSignal(notice.dismissed):
        qtbot.mouseClick(notice.close_button, LEFT_BUTTON)
    assert notice.isHidden()


# All of them.

EVERY = [
    HeatMap,
    HeadStrip,
    TokenBars,
    ModelMap,
    Timeline,
    TokenChips,
    OpChips,
    Formula,
    Badge,
    SectionHead,
    EmptyState,
    LabelledSlider,
    Choice,
    SeedBox,
    NoticeBar,
    lambda: TransportButton("play"),
]


@pytest.mark.parametrize("make", EVERY)
def test_a_widget_without_data_paints_at_every_size_and_theme(qtbot, qapp, make):
    widget = make()
    qtbot.addWidget(widget)
    for theme in THEMES.values():
        widget.set_theme(theme)
        for size in ((1, 1), (40, 10), (600, 400)):
            widget.resize(*size)
            assert not widget.grab().isNull()


def test_chips_that_the_field_has_no_room_for_are_counted_and_none_is_cut(qtbot):
    field = SentenceField()
    qtbot.addWidget(field)
    field.resize(500, 34)
    field.show()
    chips = tuple(Chip(f"<UNK> word{i}", tooltip=f"why {i}", unknown=True) for i in range(5))
    field.set_chips(chips, "not in the vocabulary:")
    shown = field.chips._chips
    assert shown[:-1] == chips[: len(shown) - 1]
    assert shown[-1].text == f"+{5 - len(shown) + 1}"
    assert shown[-1].tooltip.splitlines() == [chip.tooltip for chip in chips[len(shown) - 1 :]]
    assert field.chips.rect_of(len(shown) - 1).right() <= field.chips.width() + 1
    field.resize(3000, 34)
    assert field.chips._chips == chips
