"""The line that tells how a cell was reckoned: its numbers are the tape's, and add up."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from tests.gui.samples import FONT
from tests.gui.views import CROSS, at, view
from visualizer import actions, fonts, i18n
from visualizer.lenses import explanation, stage
from visualizer.lenses.arithmetic import MOST_TERMS
from visualizer.lenses.line import plain_text
from visualizer.lenses.numbers import as_factor, figure, large
from visualizer.widgets.cell_line import CellLine

SCORES = CROSS.replace("weights", "scores")
TRAITS = ({}, {"norm_position": "pre", "position": "learned", "activation": "relu"})
# numbers, signs, brackets, what is left out, and the two waves
WRITTEN = re.compile(r"(?:[-+/()·√^ \u00a0\d.]|e-?\d|\(\d+ more: [-\d.e]+\)|\(bias\)|cos|sin)+")
NAMES = {"exp": math.exp, "sqrt": math.sqrt, "cos": math.cos, "sin": math.sin, "log": math.log}


def told(site: str, cell: tuple[int, int] | None = None, **traits: str) -> explanation.CellText:
    state = at(site, token=2, **traits)
    matrix = stage.stage(state)
    return explanation.cell_text(state, matrix, cell or stage.focus_cell(state, matrix))


def reckoned(text: str) -> float:
    """What a stretch of a line gives, read as people read it."""
    text = text.replace("\u00a0", "").replace("·", "*").replace("÷", "/").replace("^", "**")
    text = re.sub(r"\(\d+ more: (-?[\d.e-]+)\)", r"(\1)", text).replace("(bias)", "")
    text = re.sub(r"√(\d+)", r"sqrt(\1)", text).replace("√(", "sqrt(")
    return eval(text, {"__builtins__": {}}, NAMES)


def test_what_a_line_says_before_its_result_comes_to_the_tapes_number():
    """Read as people read it, in all its forms, for every record of both kinds of model."""
    read = set()
    for traits in TRAITS:
        for record in view(**traits).run.tape:
            text = told(record.site, **traits)
            for line in map(plain_text, text.lines):
                before = line.split(" = ")[-2:-1]
                if record.op == "scores":
                    before = [" = ".join(line.split(" = ")[1:2])]
                if not before or not WRITTEN.fullmatch(before[0]):
                    continue
                wanted = float(text.exact)
                if record.op == "scores":
                    wanted *= math.sqrt(5)
                # the factors of products have two decimals, and all else has three
                sizes = [abs(float(number)) for number in re.findall(r"\d+\.\d+", before[0])]
                slack = (0.006 if "·" in before[0] else 0.0012) * (1 + math.fsum(sizes))
                assert reckoned(before[0]) == pytest.approx(wanted, abs=slack), (record.site, line)
                read.add(record.op)
    assert read == {
        *("scale", "sinusoidal_position", "add", "linear", "scores", "softmax", "context"),
        *("residual", "mean", "variance", "normalise", "scale_shift", "log_softmax"),
    }


def test_a_score_tells_the_raw_product_and_the_scale():
    state = at(SCORES, token=2)
    text = told(SCORES, (2, 3))
    q = state.run.tape[SCORES.replace("scores", "q_heads")].value[0, state.head, 2]
    k = state.run.tape[SCORES.replace("scores", "k_heads")].value[0, state.head, 3]
    product = float(q.astype(np.float64) @ k.astype(np.float64))
    line = plain_text(text.lines[0])
    assert line.startswith("q·k = ")
    assert line.endswith(f"= {figure(product, 3)} ÷ √5 = {text.value}")
    assert float(text.exact) == pytest.approx(product / math.sqrt(5), rel=1e-5)
    products = line.removeprefix("q·k = ").split(" = ")[0]
    assert reckoned(products) == pytest.approx(product, abs=0.02 * float(np.abs(q).sum()) + 0.02)
    shown = [abs(float(n)) for n in re.findall(r"\d+\.\d+", products)]
    assert all(any(abs(number - abs(own)) <= 0.0051 for own in (*q, *k)) for number in shown)


@pytest.mark.parametrize("site", ["decoder.layers.0.ffn.hidden", "logits"])
def test_a_sum_shows_its_largest_terms_first_and_what_the_rest_comes_to(site):
    state = at(site, token=2)
    matrix = stage.stage(state)
    told_by_op = state.run.tape[site].explain(matrix.cell_index(2, 3))
    terms = [term for term in told_by_op.terms if term.factors]
    falling = sorted(terms, key=lambda term: -abs(term.value))
    text = told(site, (2, 3))
    assert len(text.lines) == MOST_TERMS
    for line, shown in zip(text.lines, range(MOST_TERMS, 0, -1), strict=True):
        words = plain_text(line)
        rest = math.fsum(term.value for term in falling[shown:])
        assert f"({len(terms) - shown} more: {figure(rest, 3)})" in words
        assert words.count("·") == shown
        a, b = falling[0].factors
        assert words.startswith(f"{figure(a, 2)}·{as_factor(b, 2)}")
        assert words.endswith(f"= {text.value}")


def test_terms_too_small_to_be_seen_in_the_result_stand_with_the_rest():
    for record in view().run.tape:
        if record.op != "context":
            continue
        text = told(record.site)
        matrix = stage.stage(at(record.site, token=2))
        state = at(record.site, token=2)
        cell = stage.focus_cell(state, matrix)
        terms = record.explain(matrix.cell_index(*cell)).terms
        felt = sum(abs(term.value) >= 0.0005 for term in terms)
        assert plain_text(text.lines[0]).count("·") == min(max(felt, 1), MOST_TERMS)


def test_a_weight_tells_its_power_and_the_rows_sum():
    text = told(CROSS, (2, 3))
    state = at(CROSS, token=2)
    scores = state.run.tape[SCORES.replace("scores", "masked_scores")].value[0, state.head, 2]
    power, total = math.exp(scores[3]), math.fsum(map(math.exp, scores))
    line = plain_text(text.lines[0])
    assert line.endswith(f"= {large(power, 3)} / {large(total, 3)} = {text.value}")
    assert float(text.exact) == pytest.approx(power / total, rel=1e-5)


def test_two_nearly_equal_numbers_get_the_digits_that_tell_them_apart():
    text = told("log_probs")
    line = plain_text(text.lines[-1])
    assert reckoned(line.split(" = ")[0]) == pytest.approx(float(text.exact), abs=0.002)


def test_no_line_names_an_index_and_dimensions_are_counted_as_people_chose():
    for record in view().run.tape:
        assert not re.search(r"\[|\]|\*", plain_text(told(record.site).lines[0]))
    state = at("decoder.layers.0.ffn.hidden", token=2)
    for start in (0, 1):
        counted = actions.set_count_from(state, start)
        name = explanation.cell_text(counted, stage.stage(counted), (2, 3)).name
        assert name.endswith(f", dim {3 + start}")
    assert " → " in told(CROSS).name
    assert told("logits", (2, 3)).name.startswith("<UNK> after ")


@pytest.mark.parametrize("count_from", [0, 1])
def test_a_token_is_named_by_its_id_and_a_position_as_people_count(qtbot, count_from):
    def line(site: str, **traits: str):
        state = actions.set_count_from(at(site, token=2, **traits), count_from)
        matrix = stage.stage(state)
        return state, explanation.cell_text(state, matrix, (2, 0)).lines[0]

    state, pieces = line("decoder.embed.tokens")
    row_id = state.run.tape.target_ids[0, 2]
    assert f"embedding table, row of id {row_id}" in plain_text(pieces)
    pieces = line("decoder.embed.position", position="learned")[1]
    assert f"row {2 + count_from} of the position table" in plain_text(pieces)
    pieces = line("decoder.embed.position")[1]
    assert "sin(2 / 10000^(0/12))" in plain_text(pieces)
    widget = CellLine()
    qtbot.addWidget(widget)
    widget.resize(700, 60)
    widget.set_lines("", (pieces,), "", "")
    tip = f"The formula counts positions from 0: 2 stands for position {2 + count_from}."
    assert widget.tip_at(QPointF(20, 15)) == tip
    assert widget.tip_at(QPointF(690, 55)) == ""


def test_masks_say_who_allows_and_who_forbids():
    allowed, forbidden = (told("decoder.mask", cell) for cell in ((2, 1), (1, 2)))
    assert explanation.line(allowed).endswith("padding allows · look-ahead allows → allowed")
    assert explanation.line(forbidden).endswith("padding allows · look-ahead forbids → hidden")
    assert explanation.line(told("decoder.look_ahead_mask", (2, 1))).endswith(
        "key at position 2 ≤ query at position 3 → allowed"
    )


def test_in_chinese_no_english_word_is_left_in_a_line():
    i18n.set_language("zh")
    known = {"GELU", "ReLU", "log", "cos", "sin", "x", "q", "k", "v", "e", "concat"}
    for traits in TRAITS:
        for record in view(**traits).run.tape:
            words = plain_text(told(record.site, **traits).lines[0])
            words = re.sub(r"\de-?\d+", "", words)
            assert set(re.findall(r"[A-Za-z]+", words)) <= known, words


@pytest.mark.parametrize("width", [360, 520, 700, 1100])
def test_no_piece_is_cut_and_the_result_is_always_there(qtbot, qapp: QApplication, width):
    fonts.install_fonts(qapp, FONT, exact=True)
    line = CellLine()
    qtbot.addWidget(line)
    line.resize(width, line.sizeHint().height())
    text = told("decoder.layers.0.ffn.hidden", (2, 3))
    line.set_lines(text.name, text.lines, f"full precision {text.exact}", "x.ffn.hidden[0, 2, 3]")
    rows, _ = line.arranged()
    pieces = [piece for row in rows for piece in row]
    assert len(rows) <= 2
    assert tuple(pieces) in text.lines
    assert pieces[-1].text == text.value
    assert any("more" in piece.text for piece in pieces)
    for row in rows:
        used = sum(map(line._width, row)) + sum(map(line._space, row[1:]))
        assert used <= width
    line.grab()


def test_wider_lines_keep_more_terms(qtbot, qapp: QApplication):
    fonts.install_fonts(qapp, FONT, exact=True)
    line = CellLine()
    qtbot.addWidget(line)
    text = told("decoder.layers.0.ffn.hidden", (2, 3))
    shown = []
    for width in (360, 520, 1100):
        line.resize(width, line.sizeHint().height())
        line.set_lines(text.name, text.lines, "full precision 1.2345678", "ffn.hidden[0, 2, 3]")
        shown.append(sum(len(row) for row in line.arranged()[0]))
    assert shown == sorted(shown) and shown[0] < shown[-1]


def test_numbers_of_a_line():
    assert figure(0.0004, 2) == "4e-4"
    assert figure(1e-5, 1) == "1e-5"
    assert figure(-0.5, 2) == "-0.50"
    assert figure(0.0, 2) == "0.00"
    assert as_factor(-3.19, 2) == "(-3.19)"
    assert large(62847.3, 3) == "62\u00a0847"
    assert large(4.8421e12, 3) == "4.842e12"
    assert large(11.7049, 2) == "11.70"
