"""The pair that a training is watched by: readable, telling, and the same when it goes on."""

from __future__ import annotations

import pytest

from model_core.training.held_out import HeldOut
from model_core.training.lab_data import TaskSource, load, prepare, task_settings
from model_core.training.tasks import TASKS
from model_core.training.watched_pair import fitting, watched_pair

# The data of the others take seconds to make.
QUICK = ("dates", "numbers", "reverse")


@pytest.mark.parametrize("name", QUICK)
def test_the_sources_of_an_evaluation_read_as_the_ids_they_came_from(name):
    settings = task_settings(name)
    data = load(TaskSource(name), settings)
    prepared = prepare(data, settings)
    words, examples = prepared.model.tokenizer, prepared.held_out[:64]
    for done, example in zip(
        HeldOut(prepared.model, examples).measure(0).shown, examples, strict=False
    ):
        assert words.encode_source(done.source).ids == list(example.source)
        assert words.unknown_id not in example.source


@pytest.mark.parametrize("name", QUICK)
def test_the_same_data_give_the_same_pair(name):
    settings = task_settings(name)
    data = load(TaskSource(name), settings)
    pair = watched_pair(data)
    assert pair is not None and pair == watched_pair(load(TaskSource(name), settings))
    words = data.tokenizer(settings)
    assert not words.encode_source(pair[0]).unknown
    assert name in TASKS


def test_what_the_model_cannot_read_is_passed_over():
    pairs = [("a bc", "1"), ("ab cd ef", "2"), ("x" * 41, "3")]
    assert fitting(pairs, lambda source: len(source) < 5) == ("a bc", "1")
    assert fitting(pairs, lambda source: False) is None
    settings = task_settings("reverse")
    assert watched_pair(load(TaskSource("reverse"), settings), lambda source: False) is None
