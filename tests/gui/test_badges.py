"""The checks of a record on screen: their words, where a broken one leads, when they are made."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication

from model_core.audit import audit
from model_core.checks import Check
from tests.gui.live_window import WAIT, checkpoint, live  # noqa: F401
from tests.gui.samples import FONT
from tests.gui.views import TARGET, at, entry, worked_view
from visualizer import actions, fonts, i18n, navigation
from visualizer.inquiries.audit import AuditInquiry, current_audit
from visualizer.lenses.badges import Badge, badges, distribution_badge, two_figures
from visualizer.palettes import contrast
from visualizer.run import compute
from visualizer.state import Inputs, ViewState, current_tape, shown_site
from visualizer.theme import THEMES
from visualizer.widgets.badge_row import COLOURS, PATIENCE, BadgeRow

SELF = "decoder.layers.0.self_attn.weights"


@pytest.fixture(autouse=True)
def bundled_font(qapp: QApplication) -> None:
    fonts.install_fonts(qapp, FONT, exact=True)


def fresh(state: ViewState) -> ViewState:
    """The same place in a run of its own, to be planted in."""
    run = compute(entry(), Inputs(state.inputs.source, target=TARGET), number=2)
    return replace(state, run=run)


def plant(tape: Any, site: str, index: tuple[int, ...], value: float) -> None:
    planted = np.array(tape[site].value)
    planted[index] = value
    tape._values[tape.plan.slots[tape.plan.resolve(site)]] = planted


def told(state: ViewState) -> tuple[Badge, ...]:
    tape, site = current_tape(state), shown_site(state)
    assert tape is not None and site is not None
    return badges(state, audit(tape[site]))


def texts(state: ViewState) -> list[str]:
    return [badge.text for badge in told(state)]


# Words.


def test_a_sound_record_says_what_holds():
    state = at(SELF)
    assert texts(state) == [
        "rows sum to 1",
        "0 above the diagonal",
        "recomputed: 48 of 48 cells agree",
    ]
    assert {badge.state for badge in told(state)} == {"ok"}
    assert all(badge.tip.endswith(SELF) and badge.cell is None for badge in told(state))
    assert texts(at("decoder.layers.0.norm1.normalised"))[:2] == [
        "rows have mean 0",
        "rows have variance 1",
    ]
    assert texts(at("encoder.layers.0.residual1"))[0] == "the sum of its parts"
    assert texts(at("encoder.layers.0.self_attn.masked_scores"))[0] == "nothing is masked here"
    assert texts(at("decoder.layers.0.self_attn.masked_scores"))[0] == "-∞ exactly where masked"


def test_a_wrong_number_is_named_in_the_words_of_its_row_and_column():
    state = fresh(at(SELF))
    tape = current_tape(state)
    assert tape is not None
    before = float(tape[SELF].value[0, 2, 3, 1])
    plant(tape, SELF, (0, 2, 3, 1), 0.9375)
    first, second, third = told(state)
    assert first.text == f"head 3: t5 → t4 is 0.94, recomputed {before:.2f}"
    assert "0.9375" in first.tip and f"{SELF}[0, 2, 3, 1]" in first.tip
    assert "47 of 48 cells" in first.tip
    assert second.text.startswith("head 3: row t5 sums to ")
    assert [badge.cell for badge in (first, second)] == [(0, 2, 3, 1)] * 2
    assert (third.state, third.text) == ("ok", "0 above the diagonal")


def test_numbers_that_differ_late_are_told_with_as_many_decimals_as_it_takes():
    state = fresh(at(SELF))
    tape = current_tape(state)
    assert tape is not None
    value = float(tape[SELF].value[0, 0, 3, 1])
    plant(tape, SELF, (0, 0, 3, 1), value * 1.0004)
    said = told(state)[0].text
    found, wanted = said.split(" is ")[1].split(", recomputed ")
    assert found != wanted and float(found) == pytest.approx(float(wanted), rel=1e-2)


@pytest.mark.parametrize(
    ("found", "wanted", "texts"),
    [
        (0.004, 0.0, ("0.004", "0")),
        (0.00004, 0.0, ("4.00e-5", "0")),
        (1.002, 1.0, ("1.002", "1")),
        (0.0, 1.0, ("0", "1")),
        (0.123456, 0.123466, ("0.12346", "0.12347")),
        (0.5, 0.7, ("0.50", "0.70")),
    ],
)
def test_a_broken_check_never_says_twice_what_reads_as_one_number(found, wanted, texts):
    check = Check("rows_mean_zero", False, 1, 0, (0,), found, wanted)
    assert two_figures(check, 2) == texts


def test_every_record_of_every_model_is_told_in_both_languages():
    for language in i18n.LANGUAGES:
        i18n.set_language(language)
        for start in (at(SELF), worked_view("encoder-layer"), worked_view("self-attention")):
            tape = current_tape(start)
            assert tape is not None
            for site in tape.sites:
                for badge in told(navigation.go_to_site(start, site)):
                    assert badge.state != "bad"
                    assert "audit." not in badge.text + badge.tip
                    assert "{" not in badge.text + badge.tip


def test_changed_numbers_of_a_worked_example_are_told_and_not_judged():
    state = worked_view("self-attention")
    assert texts(state) == ["given, not computed"]
    state = actions.edit_cell(state, (0, 0), 7.0)
    assert [badge.state for badge in told(state)] == ["stated", "stated"]
    assert texts(state)[1] == "1 number changed by you"


def test_the_stages_of_the_next_token_are_one_badge():
    inputs = Inputs("s4 s7", strategy="sample", temperature=1.5, top_k=5, top_p=0.9)
    state = replace(at(SELF), run=compute(entry(), inputs, number=3))
    badge = distribution_badge(state)
    assert badge is not None and badge.state == "ok"
    assert "temperature 1.5" in badge.tip and "5 likeliest" in badge.tip
    drawn = state.run.distributions[0]
    planted = drawn.probabilities.copy()
    planted[5] = 0.5
    wrong = replace(drawn, probabilities=planted)
    run = replace(state.run, distributions=(wrong,) * len(state.run.distributions))
    badge = distribution_badge(replace(state, run=run))
    assert badge is not None and badge.state == "bad"
    assert badge.text.startswith("t5 has probability 0.50")


# When they are made.


def test_the_record_on_show_is_asked_for_and_an_answer_to_another_is_none():
    inquiry, state = AuditInquiry(), at(SELF)
    key = inquiry.wanted(state)
    assert key is not None and inquiry.answered(state) is None
    done = inquiry.answer(state, key, inquiry.work(state)(lambda: False))
    assert inquiry.answered(done) == key
    assert current_audit(done) is not None
    assert current_audit(navigation.next_op(done)) is None
    assert inquiry.wanted(actions.show_page(state, "layers")) is None
    assert inquiry.work(state)(lambda: True) is None
    assert inquiry.answer(state, key, None) is state


# On screen.


@pytest.mark.parametrize("name", THEMES)
def test_every_badge_can_be_read(name):
    theme = THEMES[name]
    for ground, text, mark in COLOURS.values():
        assert contrast(getattr(theme, text), getattr(theme, ground)) >= 4.5
        assert contrast(getattr(theme, mark), getattr(theme, ground)) >= 3.0


def row(width: int, *made: Badge) -> BadgeRow:
    widget = BadgeRow()
    widget.resize(width, widget.sizeHint().height())
    widget.set_badges(made)
    return widget


LONG = Badge("head 3: the very long row of a very long cell → sleeps is 0.84", "", "bad", (0, 1))
SHORT = Badge("rows sum to 1", "", "ok")
COUNT = Badge("recomputed: 48 of 48 cells agree", "", "ok")


def test_badges_lie_side_by_side_inside_the_row_and_broken_ones_keep_their_words():
    wide, narrow = row(1200, LONG, SHORT, COUNT), row(500, LONG, SHORT, COUNT)
    for widget in (wide, narrow):
        rects = [widget.rect_of(i) for i in range(3)]
        assert all(a.right() < b.left() for a, b in itertools.pairwise(rects))
        assert rects[-1].right() <= widget.width() + 1
    assert narrow.rect_of(0).width() > narrow.rect_of(2).width()
    assert narrow.rect_of(2).width() < wide.rect_of(2).width()


def test_only_a_broken_badge_can_be_clicked(qtbot):
    widget = row(1200, LONG, SHORT)
    qtbot.addWidget(widget)
    clicked: list[int] = []
    widget.badgeClicked.connect(clicked.append)
    for index in (1, 0):
        place = widget.rect_of(index).center().toPoint()
        qtbot.mouseClick(widget, Qt.MouseButton.LeftButton, pos=place)
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton, pos=QPoint(1190, 5))
    assert clicked == [0]


def test_that_checks_are_under_way_is_said_only_when_they_take_long(qtbot):
    widget = row(600, SHORT)
    qtbot.addWidget(widget)
    widget.set_badges((), "checking…")
    assert widget.said == "" and widget.badges == ()
    qtbot.wait(PATIENCE // 2)
    widget.set_badges((), "checking…")
    assert widget.said == ""
    qtbot.waitUntil(lambda: widget.said == "checking…", timeout=WAIT)
    widget.set_badges((COUNT,))
    assert widget.said == ""


def test_a_wrong_number_turns_its_badge_red_and_a_click_leads_to_its_cell(live, qtbot):  # noqa: F811
    row_ = live.window.stage.badges
    qtbot.waitUntil(lambda: bool(row_.badges), timeout=WAIT)
    assert {badge.state for badge in row_.badges} == {"ok"}
    site = "decoder.layers.1.cross_attn.weights"
    plant(live.state.run.tape, site, (0, 2, 0, 1), 0.9375)
    live.store.dispatch(navigation.go_to_record, site)
    live.window.finish_drawing()
    assert row_.badges == ()
    qtbot.waitUntil(lambda: bool(row_.badges), timeout=WAIT)
    assert row_.badges[0].state == "bad" and "0.94, recomputed" in row_.badges[0].text
    place = row_.rect_of(0).center().toPoint()
    qtbot.mouseClick(row_, Qt.MouseButton.LeftButton, pos=place)
    assert (shown_site(live.state), live.state.head, live.state.selected) == (site, 2, (0, 1))
