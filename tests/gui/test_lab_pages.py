"""The lab's pages before a training: the file with its report, the form by keys and by pointer."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication

from model_core.training.cleaning import KINDS, CleaningReport
from model_core.training.lab_data import TaskSource
from model_core.training.settings import FIELDS, Settings
from tests.gui.lab_bench import PAIRS
from tests.gui.live_window import WAIT, LiveWindow
from visualizer import actions, glossary, i18n, lab_actions
from visualizer.lab import Subject, Training
from visualizer.lenses import lab_form
from visualizer.lenses.lab_file import report_rows
from visualizer.widgets.glossary_link import term_under

KEY = Qt.Key


@pytest.fixture
def live(lab_window):
    return lab_window


def looked_at(live: LiveWindow, path: Path):
    """The file page with this file on it."""
    live.store.dispatch(lab_actions.choose_file, path)
    live.qtbot.waitUntil(lambda: live.state.lab.file.look is not None, timeout=WAIT)
    return live.window.stage.page.parts["file"]


def settings_of(live: LiveWindow, tmp_path: Path):
    """The form with the settings of a small file on it."""
    path = tmp_path / "swapped.tsv"
    path.write_text(PAIRS, encoding="utf-8")
    looked_at(live, path)
    live.qtbot.waitUntil(lambda: live.state.lab.file.report is not None, timeout=WAIT)
    live.press(KEY.Key_Return, widget=live.window.stage)
    live.qtbot.waitUntil(lambda: live.state.lab.subject.facts is not None, timeout=WAIT)
    return live.window.stage.page.parts["settings"]


# The file.


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_a_large_report_names_every_reason_with_its_count_and_the_first_lines(language):
    i18n.set_language(language)
    report = CleaningReport()
    for kind in KINDS:
        for number in range(1, 1235):
            report.leave_out(kind, number, "some text" if kind != "blank" else "")
    rows = report_rows(report)
    assert [row.count for row in rows[1:]] == ["1,234"] * len(KINDS)
    assert len({row.words for row in rows}) == len(rows)
    for row in rows[2:]:
        assert len(row.examples) == 5 and "1,229" in row.more
    i18n.set_language("en")


def test_the_report_scrolls_and_no_line_of_it_is_lost(live, tmp_path):
    path = tmp_path / "pairs.tsv"
    lines = [f"only one column {n}" for n in range(9)] + [f"{n}\t" for n in range(9)]
    path.write_text(8 * PAIRS + "\n".join(lines), encoding="utf-8")
    part = looked_at(live, path)
    live.qtbot.waitUntil(lambda: bool(part.report.rows), timeout=WAIT)
    count = sum(1 + len(row.examples) + bool(row.more) for row in part.report.rows)
    assert count > 20
    tall = 1.3 * count * part.report.em
    live.qtbot.waitUntil(lambda: part.report.height() > tall, timeout=WAIT)
    # what does not fit is reached by the bar beside it
    bar = part.report.parentWidget().parentWidget().parentWidget().verticalScrollBar()
    assert bar.maximum() + bar.pageStep() >= part.report.height()


def test_an_encoding_that_is_not_sure_is_chosen_by_a_click(live, tmp_path):
    path = tmp_path / "chinese.txt"
    path.write_bytes("你好 = hello\n早上好 = good morning\n".encode("gb18030"))
    part = looked_at(live, path)
    shown = [button for button in part.answers if button.isVisible()]
    assert [button.text() for button in shown][:2] == ["GB18030", "Big5"]
    assert not part.go_on.isEnabled()
    shown[0].click()
    live.qtbot.waitUntil(lambda: live.state.lab.file.report is not None, timeout=WAIT)
    assert part.go_on.isEnabled() and not any(button.isVisible() for button in part.answers)


def test_any_separator_can_be_typed(live, tmp_path):
    path = tmp_path / "waves.txt"
    path.write_text("a, b ~ c, d\ne, f ~ g, h\n", encoding="utf-8")
    part = looked_at(live, path)
    live.store.dispatch(lab_actions.set_reading, format="lines", separator=",")
    live.qtbot.waitUntil(lambda: live.state.lab.file.look.separator == ",", timeout=WAIT)
    edit = part.separator.lineEdit()
    edit.setFocus()
    edit.selectAll()
    live.qtbot.keyClicks(edit, " ~ ")
    live.qtbot.keyClick(edit, KEY.Key_Return)
    live.qtbot.waitUntil(lambda: live.state.lab.file.look.separator == " ~ ", timeout=WAIT)
    assert live.state.lab.file.look.rows[0] == ("a, b", "c, d")


# The way to the glossary.


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_the_words_of_charts_tables_and_the_film_lead_to_the_glossary(live, language, tmp_path):
    i18n.set_language(language)
    subject = Subject(TaskSource("reverse"), "reverse", Settings())
    live.store.dispatch(lab_actions.with_lab, step="training", training=Training(1, subject))
    live.store.dispatch(actions.set_language, language)
    live.store.dispatch(actions.show_page, "train")
    part = live.window.stage.page.parts["training"]
    live.qtbot.waitUntil(lambda: part.charts[0].width() > 300, timeout=WAIT)
    part.grab()
    found = {link.term for chart in part.charts for link in chart.links.links()}
    assert {"loss", "exact_match", "held_out", "learning_rate", "gradient_norm"} <= found
    film = part.film
    for widget, term in ((film.strip, "snapshot"), (film.probe, "probe"), (part.batch, "batch")):
        assert term_under(widget, widget.mapToGlobal(widget.rect().center())) == term
    assert term_under(part.check, part.check.mapToGlobal(QPoint(5, 5))) == "gradient_check"


# The form.


def test_every_setting_has_its_place_in_the_glossary():
    assert set(lab_form.TERMS) == {entry.name for entry in FIELDS}
    for name, term in lab_form.TERMS.items():
        assert glossary.entry(term) is not None, name


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.0062, "6 ms"), (0.4, "0.4 s"), (41, "41 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")],
)
def test_a_time_is_said_as_people_say_it(seconds, said):
    assert lab_form.duration_text(seconds) == said


def test_what_is_under_the_pointer_in_the_form_is_the_setting_itself(live, tmp_path):
    form = settings_of(live, tmp_path)
    # "epsilon" alone would lead to that of a norm, "steps" to the walk through the model
    for name in ("epsilon", "steps", "beta1", "learning_rate"):
        setting = form.settings[name]
        for widget in (setting.label, setting.explained, setting.field):
            place = widget.mapToGlobal(QPoint(3, 3))
            assert term_under(widget, place) == lab_form.TERMS[name]


def test_the_vocabulary_is_limited_for_a_file_and_told_for_a_task(live, tmp_path):
    form = settings_of(live, tmp_path)
    facts = live.state.lab.subject.facts
    row = form.settings["vocab_size"]
    assert row.field.isVisible() and f"{facts.n_source_tokens} source" in row.explained.text()
    live.store.dispatch(lab_actions.choose_task, "reverse")
    live.qtbot.waitUntil(lambda: live.state.lab.subject.facts is not None, timeout=WAIT)
    row, facts = form.settings["vocab_size"], live.state.lab.subject.facts
    assert not row.field.isVisible() and row.fixed.isVisible()
    assert row.fixed.text().startswith(f"{facts.n_source_tokens} source")


def test_tab_goes_through_all_fields_in_their_order_and_then_to_train(live, tmp_path):
    form = settings_of(live, tmp_path)
    live.qtbot.waitUntil(form.train.isEnabled, timeout=WAIT)
    fields = [setting.shown for setting in form.settings.values()]
    fields[0].setFocus()
    visited = []
    for _ in range(len(fields) + 2):
        visited.append(QApplication.focusWidget())
        live.press(KEY.Key_Tab)
    assert visited == [*fields, form.back, form.train]


def test_enter_goes_on_and_escape_puts_right_or_leaves(live, tmp_path):
    form = settings_of(live, tmp_path)
    d_model, heads = form.settings["d_model"], form.settings["n_heads"]
    d_model.field.setFocus()
    d_model.field.selectAll()
    live.qtbot.keyClicks(d_model.field, "many")
    assert live.state.lab.subject.unread and not form.train.isEnabled()
    live.press(KEY.Key_Escape)
    assert d_model.field.text() == "64" and not live.state.lab.subject.unread
    live.press(KEY.Key_Return)
    assert QApplication.focusWidget() is heads.field
    live.press(KEY.Key_Escape)
    assert QApplication.focusWidget() is live.window.stage
    live.press(KEY.Key_Escape)
    assert live.state.lab.step == "file"
    live.press(KEY.Key_Escape)
    assert live.state.lab.step == "choose"


def test_a_preset_that_is_no_longer_kept_to_is_not_marked(live, tmp_path):
    form = settings_of(live, tmp_path)
    live.store.dispatch(lab_actions.choose_task, "reverse")
    marked = form.preset._group.checkedButton
    assert marked().text() == "as bundled"
    live.store.dispatch(lab_actions.set_setting, "d_model", 8)
    assert marked() is None


@pytest.mark.parametrize("encoding, offers", [("gb18030", 3), ("utf-16-le", 1)])
def test_an_encoding_that_is_not_sure_is_taken_with_one_press(live, tmp_path, encoding, offers):
    path = tmp_path / "chinese.tsv"
    lines = (f"good morning {n}\t早上好，你今天怎么样{n}\n" for n in range(40))
    path.write_bytes("".join(lines).encode(encoding))
    file = looked_at(live, path)
    there = [button for button in file.answers if button.isVisibleTo(file)]
    assert len(there) == offers and not file.go_on.isEnabled()
    assert ("several" in file.warning.text()) == (offers > 1)
    there[0].click()
    live.qtbot.waitUntil(file.go_on.isEnabled, timeout=WAIT)


def test_a_row_that_is_put_right_is_as_high_as_before(live, tmp_path):
    form = settings_of(live, tmp_path)
    row = form.settings["n_heads"]
    before = row.sizeHint().height()
    live.store.dispatch(lab_actions.set_setting, "n_heads", 10**400)
    assert row.problem.isVisible() and row.sizeHint().height() > before
    live.store.dispatch(lab_actions.set_setting, "n_heads", 4)
    live.qtbot.waitUntil(lambda: row.sizeHint().height() == before, timeout=WAIT)
