"""The bundled models of the built-in tasks of pairs: their files, cards, figures and gradients."""

from __future__ import annotations

import json
from functools import cache
from types import ModuleType

import msgspec
import numpy as np
import pytest

import model_core
from model_core import bundled
from model_core.__main__ import main
from model_core.model import Model
from model_core.parameters import initialise
from model_core.runner import Runner
from model_core.training import tasks
from model_core.training.evaluation import cross_head_facts, pair_matches
from model_core.training.loop import forward, record_losses
from model_core.training.tasks import dates, en_fr, numbers, reverse
from model_core.training.tasks.measuring import numbered_examples
from tests.core.task_data import a_batch, sentences_of

MILLION = 1_000_000
SAMPLE = 300
PAIRED = {module.NAME: module for module in (en_fr, dates, reverse, numbers)}
# What each is built with; en-zh and chat-zh too.
BUNDLED = sorted(tasks.TASKS)


@cache
def opened(name: str) -> Model:
    return model_core.open_checkpoint(name)


data_of = sentences_of


@pytest.fixture(params=sorted(PAIRED))
def module(request: pytest.FixtureRequest) -> ModuleType:
    return PAIRED[request.param]


def test_every_task_has_its_bundled_model() -> None:
    assert set(tasks.TASKS) <= set(bundled.names())


def test_the_file_is_small_and_its_card_is_whole(module: ModuleType) -> None:
    assert bundled.path_of(module.NAME).stat().st_size <= MILLION
    card = opened(module.NAME).card
    assert card["task"] == module.NAME
    assert card["examples"] == list(module.EXAMPLES)
    assert card["recipe"] == msgspec.to_builtins(module.recipe.RECIPE)
    assert (card["title"], card["about"]) == (module.recipe.TITLE, module.recipe.ABOUT)
    assert "wrong" in card["about"] and "cannot" in card["about"]
    texts = {
        language: json.loads(
            (bundled.resources() / "i18n" / f"{language}.tasks.json").read_text(encoding="utf-8")
        )
        for language in ("en", "zh")
    }
    for part in ("title", "about"):
        assert texts["en"][f"card.{module.NAME}.{part}"] == card[part]
        assert texts["zh"][f"card.{module.NAME}.{part}"] != card[part]
    guided = module.recipe.RECIPE.guided
    assert ("guided_head" in card) == (guided is not None)
    assert all(figure["exact"] >= 0.99 for figure in card["held_out"].values())


def test_the_vocabulary_is_that_of_the_task(module: ModuleType) -> None:
    tokenizer = module.tokenizer(data_of(module.NAME))
    assert opened(module.NAME).tokenizer.to_dict() == tokenizer.to_dict()


def test_its_examples_are_known_and_come_out_whole(module: ModuleType) -> None:
    model = opened(module.NAME)
    for example in module.EXAMPLES:
        result = model.generate(example)
        assert result.encoding is not None and not result.encoding.unknown
        assert result.finished and result.text


def test_a_sample_of_what_training_never_saw_comes_out_exactly(module: ModuleType) -> None:
    for split, pairs in data_of(module.NAME).splits.items():
        if split != "train":
            hits = pair_matches(opened(module.NAME), pairs[:SAMPLE])
            assert sum(hits) >= 0.985 * len(hits), split


def test_its_heads_look_where_the_card_says(module: ModuleType) -> None:
    model = opened(module.NAME)
    pairs = data_of(module.NAME)["held_out"][:SAMPLE]
    found = cross_head_facts(model, numbered_examples(pairs, model))
    told = model.card["head_sharpness"]
    for fact, line in zip(found, told, strict=True):
        assert (fact.layer, fact.head) == (line["layer"], line["head"])
        assert fact.aligned_mass == pytest.approx(line["aligned_mass"], abs=0.03)
    guided = module.recipe.RECIPE.guided
    if guided is not None:
        [mass] = [f.aligned_mass for f in found if (f.layer, f.head) == (guided.layer, guided.head)]
        assert mass > 0.95
    else:
        assert max(f.aligned_mass for f in found) > 0.5


def test_new_sentences_are_right_and_known(module: ModuleType) -> None:
    model = opened(module.NAME)
    texts = [tasks.new_sentence(module.NAME, number) for number in range(100)]
    assert texts == [tasks.new_sentence(module.NAME, number) for number in range(100)]
    assert len(set(texts)) > 80
    assert not any(model.tokenizer.encode_source(text).unknown for text in texts)


def test_one_letter_more_than_in_training_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", "reverse", "abcdefghijklm"]) == 0
    assert main(["translate", "reverse", "abcdefghijkl"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[1].startswith("lkjihgfedcba")
    assert err.count("warning: 13 characters; the longest sentence in training had 12") == 1


# Gradients


@pytest.mark.parametrize("dropped", [False, True], ids=["no dropout", "the same masks"])
@pytest.mark.parametrize("name", BUNDLED)
def test_every_parameters_gradient_equals_central_differences(name: str, dropped: bool) -> None:
    """In float64, of the loss that it was trained on, with the weights that training starts from:
    each tensor along a direction of all its cells, and in one cell.

    Where training ends the loss hardly moves any more, and a difference finds rounding errors.
    """
    config, tokenizer = opened(name).config, opened(name).tokenizer
    fresh = initialise(config, np.random.default_rng(4), "float64")
    model = Model(config, fresh, tokenizer)
    batch, recipe = a_batch(name, model)
    dropout = {"dropout": recipe.dropout} if dropped else {}
    runner = Runner(model.config, model.parameters, model.dtype, **dropout)

    def run():
        tape = forward(runner, batch, np.random.default_rng(9))
        return tape, record_losses(tape, batch, recipe, 0)

    def loss() -> float:
        tape, target = run()
        return float(tape[target].value)

    tape, target = run()
    gradients = tape.parameter_gradients(target)
    assert gradients.keys() == model.parameters.keys()
    largest = max(float(np.abs(g).max()) for g in gradients.values())
    generator = np.random.default_rng(2)
    for parameter, value in model.parameters.items():
        gradient = np.array(gradients[parameter])
        scale = max(float(np.abs(gradient).max()), largest / 1000)
        direction = generator.choice((-1.0, 1.0), value.shape) / np.sqrt(value.size)
        cell = np.zeros(value.shape)
        cell.reshape(-1)[int(generator.integers(value.size))] = 1.0
        kept = value.copy()
        for way in (direction, cell):
            h = 1e-5
            value[...] = kept + h * way
            above = loss()
            value[...] = kept - h * way
            below = loss()
            value[...] = kept
            error = abs(float(np.vdot(gradient, way)) - (above - below) / (2 * h))
            assert error <= 1e-6 * scale, parameter
