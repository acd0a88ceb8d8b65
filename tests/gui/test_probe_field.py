"""The sentence that a film is of: taken as a whole, refused in words, never half of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from model_core.tokenizers.char import CharTokenizer
from tests.gui import scripted_training as scripted
from tests.gui.lab_bench import Bench, film
from tests.gui.live_window import LiveWindow
from visualizer import i18n, lab_actions, lab_orders
from visualizer.lab_film import known_target, shots_of
from visualizer.lenses import lab_words
from visualizer.lenses.lab_probe import marked_columns, unknown_said
from visualizer.lenses.token_labels import token_label

KEY = Qt.Key


@pytest.fixture
def live(qtbot, tmp_path):
    """A window with a scripted training of three snapshots, and the field of its probe."""
    made = LiveWindow(qtbot, tmp_path)
    made.open_small()
    made.store.dispatch(lab_actions.toggle_lab)
    bench = Bench(tmp_path)
    film(bench, qtbot, 0, 10, 20)
    lab = bench.store.state.lab
    made.store.dispatch(lambda state: lab_actions.with_lab(state, **vars(lab)))
    field = made.window.stage.page.parts["training"].film.probe
    field.setFocus()
    field.selectAll()
    yield made
    bench.laboratory.shutdown()
    made.end()


def part(live):
    return live.window.stage.page.parts["training"].film


def test_enter_takes_the_sentence_and_stays_in_the_lab(live, qtbot):
    field = part(live).probe
    QTest.keyClicks(field, "s6 s7")
    assert part(live).probe_label.text() == "Enter takes it"
    assert live.state.lab.probe == "s4 s5"
    QTest.keyClick(field, KEY.Key_Return)
    assert (live.state.page, live.state.lab.probe, live.state.lab.order.kind) == (
        "train",
        "s6 s7",
        "start",
    )
    assert part(live).probe_label.text() == "Probe" and not field.hasFocus()


def test_leaving_the_field_takes_the_sentence_and_esc_brings_the_last_one_back(live, qtbot):
    field = part(live).probe
    QTest.keyClicks(field, "s6")
    field.clearFocus()
    assert live.state.lab.probe == "s6"
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "s9 s9")
    QTest.keyClick(field, KEY.Key_Escape)
    assert (field.text(), live.state.lab.probe) == ("s6", "s6")


@pytest.mark.parametrize(
    ("typed", "told"), [("   ", "needs a sentence"), ("s4 " * 60, "this model reads")]
)
def test_what_cannot_be_a_probe_is_said_beside_the_film_which_stays(live, typed, told):
    field = part(live).probe
    QTest.keyClicks(field, typed)
    shots = live.state.lab.shots
    QTest.keyClick(field, KEY.Key_Return)
    wrong = part(live).wrong
    assert wrong.isVisible() and told in wrong.text() and len(wrong.text()) < 140
    lab = live.state.lab
    assert (lab.probe, lab.shots, live.state.page) == ("s4 s5", shots, "train")
    assert field.hasFocus() and field.text() == typed
    QTest.keyClick(field, KEY.Key_Backspace)
    assert not wrong.isVisible()
    field.clearFocus()
    assert field.text() == "s4 s5" and wrong.isVisible()


def test_news_of_the_training_leaves_what_is_being_typed(live):
    field = part(live).probe
    QTest.keyClicks(field, "s7")
    live.store.dispatch(lab_orders.step_on, -1)
    assert field.text() == "s7" and live.state.lab.probe == "s4 s5"


def test_a_probe_that_proves_unreadable_gives_way_to_the_one_before(bench, qtbot):
    film(bench, qtbot, 0)
    bench.store.dispatch(lab_orders.set_probe, "s6 s7")
    state = bench.store.dispatch(lab_orders.refuse_probe, "s6 s7", "it cannot be read")
    assert (state.lab.probe, state.lab.expected) == ("s4 s5", "t4 t5")
    assert "cannot be read" in lab_words.refusal(*state.lab.refused)


def test_a_known_sentence_typed_again_has_its_expected_output_and_the_same_own(bench, qtbot):
    film(bench, qtbot, 0, 10)
    lab = bench.store.state.lab
    before = shots_of(lab, lambda: False)
    bench.store.dispatch(lab_orders.set_probe, "s6 s7")
    assert bench.store.state.lab.expected is None
    state = bench.store.dispatch(lab_orders.set_probe, "s4 s5")
    assert state.lab.expected == "t4 t5" == known_target(lab.training, "s4 s5")
    after = shots_of(state.lab, lambda: False)
    assert [shot.output for shot in after] == [shot.output for shot in before]


def test_a_training_that_goes_on_is_watched_by_its_own_pair(bench, qtbot):
    import msgspec

    bench.begin(qtbot)
    bench.tell(msgspec.structs.replace(scripted.started(7), watched=("s9 s4", "t9")))
    bench.tell(scripted.snapshot(7), scripted.steps(8, evaluated=8))
    assert (bench.store.state.lab.probe, bench.store.state.lab.expected) == ("s9 s4", "t9")
    assert any(
        "snapshots 1 from step 7 on" in words for words in lab_words.line_below(bench.training)
    )


def of_letters(bench, qtbot):
    """A training of a model that reads the letters of "hello wrd", and no blank."""
    film(bench, qtbot, 0)
    pairs = [("helowrd", "helowrd")]
    return replace(bench.training, tokenizer=CharTokenizer.build(pairs))


def test_what_the_model_does_not_know_of_a_probe_is_said(bench, qtbot):
    training = of_letters(bench, qtbot)
    assert unknown_said(training, "hello") == ""
    said = unknown_said(training, "hello wörld ö")
    assert said.startswith("2 characters are unknown") and said.endswith("read as <UNK>: blank · ö")
    assert unknown_said(training, "ö").startswith("1 character is unknown")
    many = unknown_said(training, "äöüßàáâãçñ")
    assert many.startswith("10 ") and many.endswith("…")
    i18n.set_language("zh")
    assert unknown_said(training, "hello wörld").endswith("：空格 · ö")


def test_every_column_of_a_probe_of_letters_has_a_label_as_narrow_as_a_letter(bench, qtbot):
    training = of_letters(bench, qtbot)
    read = training.tokenizer.encode_source("hello wörld")
    labels = marked_columns(training, "hello wörld", tuple(read.tokens))
    assert labels[7] == "ö?" and labels[5] == token_label(" ")
    assert [label for n, label in enumerate(labels) if n not in (5, 7)] == [
        token for n, token in enumerate(read.tokens) if n not in (5, 7)
    ]


def test_unknown_words_are_said_below_the_field_until_the_probe_is_another_one(live):
    field, wrong = part(live).probe, part(live).wrong
    QTest.keyClicks(field, "s4 nonsense")
    QTest.keyClick(field, KEY.Key_Return)
    assert wrong.isVisible() and wrong.text().endswith(": nonsense")
    assert wrong.property("role") == "warning"
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "s4 s6")
    QTest.keyClick(field, KEY.Key_Return)
    assert not wrong.isVisible()


def test_what_is_said_below_the_field_takes_a_line_and_nothing_else(live, qtbot):
    live.window.resize(1600, 1000)
    qtbot.wait(100)
    training = live.window.stage.page.parts["training"]
    before, wide = training.charts[0].height(), part(live).minimumSizeHint().width()
    live.store.dispatch(
        lab_orders.set_probe, " ".join(f"no{n}nonsenseatallbutlong" for n in range(9))
    )
    qtbot.wait(100)
    line = part(live).wrong
    assert line.isVisible() and part(live).minimumSizeHint().width() == wide
    assert line.fontMetrics().horizontalAdvance(line.text()) <= line.width()
    assert training.charts[0].height() >= before - line.height() - 2 * part(live).em
