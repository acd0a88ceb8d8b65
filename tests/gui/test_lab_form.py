"""The lab's form: what may be typed, how it is said what is wrong, what a trial of a step costs."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import QPoint

from model_core.training.estimates import Estimate
from model_core.training.held_out import HeldOut
from model_core.training.lab_data import Facts, TaskSource, load, prepare, task_settings
from model_core.training.problems import problems
from model_core.training.settings import FIELDS, Settings
from model_core.training.tasks import TASKS
from visualizer import i18n, lab_actions
from visualizer.cards import bundled_title
from visualizer.inquiries.lab import MOST_TRIED, TimingInquiry, trial
from visualizer.lab import Subject
from visualizer.lab_film import task_name
from visualizer.lenses import lab_form, lab_problems
from visualizer.lenses.lab_numbers import Unreadable, number_text, read_value
from visualizer.pages.step import StepPage
from visualizer.pages.train_setting import Setting
from visualizer.pages.train_start import task_title
from visualizer.state import ViewState
from visualizer.step_view import STAGES
from visualizer.store import Store
from visualizer.widgets.cell_line import CellLine
from visualizer.widgets.glossary_link import term_under

LENGTHS = np.full((50, 2), 12)
FACTS = Facts(50, 5, 30, 30, LENGTHS, True)


def subject(**settings) -> Subject:
    made = Subject(TaskSource("reverse"), "reverse", Settings(**settings), FACTS)
    return replace(made, facts_key=lab_actions.facts_key(made))


def row_of(chosen: Subject, name: str, count_from: int = 1) -> lab_form.FormRow:
    return next(row for row in lab_form.form(chosen, count_from).rows if row.name == name)


# What is typed.


@pytest.mark.parametrize(
    "name, text, value",
    [
        ("learning_rate", "0,001", 0.001),
        ("learning_rate", "1e-3", 0.001),
        ("learning_rate", "1,234,567", 1234567.0),
        ("d_model", "1,024", 1024),
        ("steps", "1e3", 1000),
        ("d_model", " 64 ", 64),
        ("n_encoder_layers", "", None),
    ],
)
def test_a_number_is_read_as_it_is_meant(name, text, value):
    assert read_value(name, text) == value


@pytest.mark.parametrize(
    "name, text, said",
    [
        ("learning_rate", "1,000", "write 1000"),
        ("d_model", "1.5", "is not a whole number"),
        ("d_model", "1,5", "is not a whole number"),
        ("d_model", "", "a number is missing"),
        ("d_model", "many", "“many” is no number"),
        ("steps", "1e999", "is no number"),
    ],
)
def test_what_cannot_be_read_is_told_for_what_it_is(name, text, said):
    with pytest.raises(Unreadable) as found:
        read_value(name, text)
    assert said in found.value.said
    chosen = replace(subject(), unread=((name, text),))
    assert said in row_of(chosen, name).problem


@pytest.mark.parametrize("value", [0.003, 1e-9, 0.00012345678901, 123456789012345.0, 0.1 + 0.2])
def test_a_number_in_a_field_reads_as_itself(value):
    assert read_value("learning_rate", number_text(value)) == value


@pytest.mark.parametrize(
    "name, text",
    [
        ("learning_rate", "123456789012345"),
        ("learning_rate", "0.99999999999999999"),
        ("learning_rate", "0.00012345678901"),
        ("d_model", "007"),
        ("steps", "1e3"),
    ],
)
def test_a_field_in_which_one_types_is_never_written_over(qtbot, name, text):
    store = Store(ViewState(lab=replace(ViewState().lab, subject=subject())))
    setting = Setting(row_of(subject(), name), store)
    qtbot.addWidget(setting)
    setting.draw(row_of(subject(), name))
    store.changed.connect(lambda *_: setting.draw(row_of(store.state.lab.subject, name)))
    setting.field.clear()
    qtbot.keyClicks(setting.field, text)
    assert setting.field.text() == text
    # another value from elsewhere does stand in it
    store.dispatch(lab_actions.use_settings, Settings(learning_rate=0.5, d_model=40, steps=7))
    assert setting.field.text() == number_text(getattr(store.state.lab.subject.settings, name))


# What is said.


def test_a_sentence_about_a_setting_calls_it_what_the_form_does():
    for language in i18n.LANGUAGES:
        i18n.set_language(language)
        labels = {field.name: lab_problems.label(field.name) for field in FIELDS}
        hidden = [name for name, label in labels.items() if name != label and "_" in name]
        wrong = (
            *({"d_model": 50, "n_heads": 4}, {"dropout_rate": 2.0}, {"warmup_steps": 10**6}),
            *({"n_heads": 0}, {"max_seq_len": 0}, {"max_grad_norm": -1.0}, {"final_share": 7.0}),
            *({"alignment_loss": -1.0}, {"alignment_loss": 0.5, "alignment_head": 9}),
            *({"max_seq_len": 3}, {"epochs": 0}, {"beta1": 1.0}, {"label_smoothing": 2.0}),
        )
        for settings in wrong:
            shown = lab_form.form(subject(**settings))
            assert shown.problems
            for said in shown.problems:
                assert not [name for name in hidden if name in said], said
    i18n.set_language("en")
    assert lab_form.form(subject(dropout_rate=2.0)).problems[0].startswith("dropout is 2.0, but")
    assert "n_heads" in row_of(subject(), "n_heads").hint


@pytest.mark.parametrize("count_from", [0, 1])
def test_layers_and_heads_are_counted_as_everywhere(count_from):
    chosen = subject(alignment_loss=0.2, alignment_layer=1, alignment_head=7)
    layer = row_of(chosen, "alignment_layer", count_from)
    head = row_of(chosen, "alignment_head", count_from)
    assert layer.text == str(1 + count_from)
    assert f"counted from {count_from}" in layer.explanation
    assert f"usually {count_from} to" in layer.hint
    assert read_value("alignment_layer", layer.text, layer.first) == 1
    assert f"is {7 + count_from}, but" in head.problem
    assert f"the heads {count_from} to {3 + count_from}" in head.problem
    assert head.fix == 0 and head.fix_said == str(count_from)


def test_one_thing_is_spoken_of_as_one():
    facts = replace(FACTS, n_train=1, n_held_out=0)
    assert lab_form.facts_said(facts, 64)[0].startswith("1 pair to")
    assert lab_form.facts_said(FACTS, 64)[0].startswith("50 pairs to")


@pytest.mark.parametrize("name", ["reverse", "dates"])
def test_the_form_says_how_many_held_out_pairs_an_evaluation_decodes(name):
    settings = task_settings(name)
    data = load(TaskSource(name), settings)
    prepared = prepare(data, settings)
    done = HeldOut(prepared.model, prepared.held_out).measure(0)
    said = lab_form.facts_said(data.facts(settings), settings.max_seq_len)
    held = f"{len(prepared.held_out):,}"
    assert said[0].endswith(f"{held} held out")
    assert said[1].startswith(f"{done.decoded} of the {held} held-out pairs")
    few = replace(data.facts(settings), n_held_out=done.decoded)
    assert not any("are decoded" in line for line in lab_form.facts_said(few, 64))


def test_a_number_of_many_digits_takes_no_room_in_a_sentence():
    for said in lab_form.form(subject(d_model=10**400)).problems:
        assert len(said) < 120
    chosen = replace(subject(), unread=(("d_model", "9" * 5000),))
    assert len(row_of(chosen, "d_model").problem) < 80


def test_a_suggested_choice_is_named_as_in_its_list():
    row = row_of(subject(tying="all", d_model=64), "tying")
    assert row.fix is None  # the sizes agree
    chosen = replace(subject(tying="all"), facts=replace(FACTS, n_target_tokens=31))
    row = row_of(replace(chosen, facts_key=lab_actions.facts_key(chosen)), "tying")
    assert (row.fix, row.fix_said) == ("output", "target and output")


def test_a_task_has_one_name():
    for language in i18n.LANGUAGES:
        i18n.set_language(language)
        for name in TASKS:
            assert task_title(name) == task_name(name) == bundled_title(name) != name


def test_no_two_presets_are_the_same_settings():
    for name in TASKS:
        own = task_settings(name)
        chosen = Subject(TaskSource(name), name, own)
        there = [lab_form.preset_settings(chosen, preset) for preset, _ in lab_form.presets(chosen)]
        assert len(there) == len({msgspec.json.encode(settings) for settings in there})


# What a trial of a step costs.


def estimated(chosen: Subject, parameters: int) -> ViewState:
    found = Estimate(parameters, 0, 0, 1, 1)
    known = replace(chosen, estimate=found, estimate_key=lab_actions.timing_key(chosen))
    lab = replace(ViewState().lab, step="settings", subject=known)
    return ViewState(page="train", lab=lab)


def test_the_time_of_a_step_is_not_tried_again_for_what_it_does_not_depend_on():
    first, asked = estimated(subject(), 1000), TimingInquiry().wanted
    key = asked(first)
    assert key is not None
    known = lab_actions.show_timing(first, key, 0.25)
    for change in ({"learning_rate": 0.1}, {"steps": 5}, {"warmup_steps": 3}):
        other = subject(**change)
        assert asked(estimated(other, 1000)) == key
    assert asked(estimated(subject(batch_size=8), 1000)) != key
    assert TimingInquiry().answered(known) == key


def test_a_very_large_step_is_tried_with_fewer_pairs():
    facts = replace(FACTS, n_train=100_000)
    large = replace(subject(batch_size=65_536), facts=facts)
    state = estimated(large, 1_000_000)
    settings, share = trial(state.lab.subject)
    assert settings.batch_size * 1_000_000 * 12 <= MOST_TRIED
    assert share == settings.batch_size / 65_536
    small = estimated(subject(), 10_000).lab.subject
    assert trial(small) == (small.settings, 1.0)
    assert not problems(settings)


def test_the_check_of_a_step_leads_to_that_of_gradients(qtbot):
    page = StepPage(Store(ViewState()), CellLine())
    qtbot.addWidget(page)
    page.draw(ViewState(), frozenset({"training_step"}))
    button = page.stages._group.button(STAGES.index("check"))
    assert term_under(button, button.mapToGlobal(QPoint(2, 2))) == "gradient_check"
