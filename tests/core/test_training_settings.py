"""The settings of a training run: what they become, what cannot work, what a run will take."""

from __future__ import annotations

import json
import re
import tracemalloc
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import msgspec
import numpy as np
import pytest

from model_core.parameters import parameter_count
from model_core.tokenizers import CharTokenizer, WordTokenizer
from model_core.training import tasks
from model_core.training.batching import Example
from model_core.training.datasets import Dataset, Pair
from model_core.training.estimates import estimate, spread_batches, timed
from model_core.training.lab_data import (
    Facts,
    FileSource,
    LabData,
    TaskSource,
    load,
    prepare,
    task_settings,
)
from model_core.training.loop import Trainer
from model_core.training.problems import problems
from model_core.training.settings import FIELDS, Settings, read_settings
from model_core.training.suiting import suited_settings
from model_core.training.tasks.en_zh.checking import numbered_examples
from model_core.training.text_files import DataFileError

DOCUMENT = {
    "vocab_size": 44,
    "d_model": 16,
    "n_heads": 2,
    "d_ff": 32,
    "n_layers": 2,
    "max_seq_len": 24,
    "dropout_rate": 0.1,
    "learning_rate": 0.001,
    "beta1": 0.9,
    "beta2": 0.98,
    "epsilon": 1e-09,
    "epochs": 50,
    "batch_size": 4,
    "max_grad_norm": 1.0,
}
FACTS = Facts(1000, 50, 30, 20, np.full((100, 2), 12), False)


def changed(**changes: Any) -> Settings:
    return msgspec.structs.replace(Settings(), **changes)


def numbers(tmp_path: Path, count: int = 300) -> LabData:
    """Figures to their digits in words, a file as a person would have it."""
    words = "zero one two three four five six seven eight nine".split()
    lines = [f"{i}\t{' '.join(words[int(d)] for d in str(i))}\n" for i in range(count)]
    path = tmp_path / "numbers.tsv"
    path.write_text("".join(lines), encoding="utf-8")
    return load(FileSource(str(path)), Settings(held_out_share=0.1))


# What they become.


def test_the_documents_settings_are_read_as_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    for content in (DOCUMENT, {"config": DOCUMENT, "vocab": {}}):
        path.write_text(json.dumps(content), encoding="utf-8")
        settings = read_settings(path)
        assert {name: getattr(settings, name) for name in DOCUMENT} == DOCUMENT
    assert {field.name for field in FIELDS if field.is_document} == set(DOCUMENT)


def test_a_wrong_setting_of_a_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    for content, named in (
        ('{"d_modell": 8}', "d_modell"),
        ('{"d_model": "wide"}', "d_model"),
        ('{"norm_position": "middle"}', "norm_position"),
        ("[1]", "no object"),
    ):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(DataFileError, match=named):
            read_settings(path)


def test_every_setting_has_a_field_with_an_explanation_and_a_sensible_default() -> None:
    names = [field.name for field in FIELDS]
    assert names == list(Settings.__struct_fields__)
    for field in FIELDS:
        assert field.explanation == f"training.{field.name}.explained"
        if field.choices:
            assert field.default in field.choices
        elif field.low is not None and field.high is not None and field.default is not None:
            assert field.default == 0 or field.low <= field.default <= field.high, field.name
    assert problems(Settings(), FACTS) == []


@pytest.mark.parametrize("name", sorted(tasks.TASKS))
def test_a_tasks_settings_give_its_own_model_and_recipe(name: str) -> None:
    recipe, settings = tasks.task(name).recipe, task_settings(name)
    words = CharTokenizer.build([("ab", "cde")])
    assert settings.config(words) == recipe.config(words)
    assert settings.recipe(10) == recipe.RECIPE


def test_what_is_left_open_follows_the_settings_for_both_sides_and_all_places() -> None:
    settings = changed(n_layers=3, n_decoder_layers=1, dropout_rate=0.2, dropout_attention=0.0)
    assert (settings.encoder_depth, settings.decoder_depth) == (3, 1)
    assert settings.dropout == replace(settings.dropout, attention=0.0, ffn=0.2, sublayer=0.2)
    assert changed(epochs=3, batch_size=64, steps=0).recipe(100).steps == 6
    assert changed(steps=7).recipe(100).steps == 7


# From a file to a model.


def test_the_vocabulary_is_of_the_training_part_alone(tmp_path: Path) -> None:
    path = tmp_path / "p.tsv"
    path.write_text("".join(f"{chr(0x4E00 + i)}\tx{i % 7}\n" for i in range(100)), "utf-8")
    data = load(FileSource(str(path)), Settings(held_out_share=0.2))
    words = data.tokenizer(Settings())
    assert set(words.source_vocabulary[4:]) == {pair.source for pair in data.train}
    assert data.held_out
    assert not {pair.source for pair in data.held_out} & set(words.source_vocabulary)


def test_rare_tokens_and_those_beyond_the_vocabulary_size_are_unknown(tmp_path: Path) -> None:
    path = tmp_path / "p.tsv"
    rows = [f"common {i % 9} word{i}\tja {i}\n" for i in range(60)]
    path.write_text("".join(rows), "utf-8")
    data = load(FileSource(str(path)), Settings(held_out_share=0))
    word = changed(tokenizer="word", min_count=2)
    assert set(data.tokenizer(word).source_vocabulary[4:]) == {"common", *"012345678"}
    capped = data.tokenizer(changed(tokenizer="word", vocab_size=6))
    assert len(capped.source_vocabulary) == len(capped.target_vocabulary) == 6
    assert capped.source_vocabulary[4] == "common"


@pytest.mark.parametrize("tokenizer", ["char", "word"])
def test_one_embedding_for_both_sides_gets_one_vocabulary(tmp_path: Path, tokenizer: str) -> None:
    settings = changed(tying="all", tokenizer=tokenizer)
    prepared = prepare(numbers(tmp_path), settings)
    words = prepared.model.tokenizer
    assert words.source_vocabulary == words.target_vocabulary


def test_chinese_words_are_joined_without_spaces(tmp_path: Path) -> None:
    path = tmp_path / "p.tsv"
    path.write_text("the cat\t猫 睡觉\na dog\t狗 跑\n", "utf-8")
    data = load(FileSource(str(path)), Settings(held_out_share=0))
    words = data.tokenizer(changed(tokenizer="word"))
    assert words.decode(words.encode_target("猫睡觉").ids) == "猫睡觉"


def test_pairs_beyond_max_seq_len_are_counted_and_none_that_fits_is_lost(tmp_path: Path) -> None:
    data = numbers(tmp_path)
    prepared = prepare(data, changed(max_seq_len=8))
    # "four" and the start token are 5, "four one" and more than 8; figures are at most 4 tokens
    train, held_out = (
        [p for p in part if len(p.target) + 1 <= 8] for part in (data.train, data.held_out)
    )
    assert (len(prepared.train), len(prepared.held_out)) == (len(train), len(held_out))
    assert prepared.too_long == 300 - len(train) - len(held_out)
    with pytest.raises(ValueError, match=r"none of the .* pairs has at most 2 tokens"):
        prepare(data, changed(max_seq_len=2))


def test_a_tasks_held_out_part_becomes_examples_too(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [Pair((f"s{i}",), (f"t{i % 5}",), (0, -1)) for i in range(40)]
    module = SimpleNamespace(
        generate=lambda seed: Dataset("small", {"train": pairs, "held_out": pairs[:6]}),
        tokenizer=lambda data: WordTokenizer.build(data.texts(), target_joiner=" "),
        examples=lambda data, model: numbered_examples(list(data["train"]), model),
    )
    monkeypatch.setitem(tasks.TASKS, "small", cast(ModuleType, module))
    data = load(TaskSource("small"), Settings())
    facts = data.facts(Settings())
    assert (facts.n_train, facts.n_held_out, facts.has_alignments) == (40, 6, True)
    prepared = prepare(data, Settings())
    assert prepared.held_out == prepared.train[:6]


def test_a_built_in_task_is_known_by_its_name() -> None:
    with pytest.raises(ValueError, match="no built-in task is named 'nothing'"):
        load(TaskSource("nothing"), Settings())


@pytest.mark.parametrize("whole", [False, True])
def test_a_task_that_holds_nothing_out_is_trained_on_as_a_whole_where_its_recipe_has_it_so(
    whole: bool,
) -> None:
    made = [Example([4, n + 5], [n + 5]) for n in range(200)]
    module = SimpleNamespace(examples=lambda dataset, model: made)
    data = LabData(TaskSource("x", whole), "x", module=module, dataset=SimpleNamespace())
    train, held = data.examples(cast(Any, None))
    assert sorted(map(id, [*train, *held])) == sorted(map(id, made))
    assert (train == made and not held) if whole else 5 <= len(held) <= 15


def test_settings_suited_to_a_file_let_every_pair_in_and_can_start(tmp_path: Path) -> None:
    for count in (3, 40, 1200):
        data = numbers(tmp_path, count)
        settings = suited_settings(data)
        assert problems(settings, data.facts(settings)) == []
        assert prepare(data, settings).too_long == 0
        assert settings.total_steps(len(data.train)) >= 1000


# What cannot work.


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"d_model": 64, "n_heads": 5}, "n_heads", 4),
        ({"d_model": 0}, "d_model", 64),
        ({"vocab_size": 3}, "vocab_size", 0),
        ({"n_layers": 0}, "n_layers", 2),
        ({"n_decoder_layers": 0}, "n_decoder_layers", 2),
        ({"max_seq_len": 5}, "max_seq_len", 12),
        ({"dropout_rate": 1.0}, "dropout_rate", 0.05),
        ({"dropout_ffn": -0.1}, "dropout_ffn", 0.05),
        ({"label_smoothing": 1.5}, "label_smoothing", 0.0),
        ({"beta1": 1.0}, "beta1", 0.9),
        ({"beta2": -1.0}, "beta2", 0.98),
        ({"learning_rate": 0.0}, "learning_rate", 0.002),
        ({"learning_rate": float("nan")}, "learning_rate", 0.002),
        ({"epsilon": 0.0}, "epsilon", 1e-9),
        ({"max_grad_norm": -1.0}, "max_grad_norm", 1.0),
        ({"epochs": 0}, "epochs", 10),
        ({"batch_size": 0}, "batch_size", 64),
        ({"steps": 50, "warmup_steps": 60}, "warmup_steps", 12),
        ({"alignment_loss": 0.2}, "alignment_loss", 0.0),
        ({"alignment_loss": 0.2, "alignment_layer": 2}, "alignment_layer", 0),
        ({"alignment_loss": 0.2, "alignment_head": 4}, "alignment_head", 0),
        ({"tying": "all"}, "tying", "output"),
        ({"held_out_share": 1.0}, "held_out_share", 0.05),
        ({"seed": -1}, "seed", 1),
        ({"final_share": 2.0}, "final_share", 0.02),
        ({"activation": "tanh"}, "activation", "gelu"),
    ],
)
def test_what_is_impossible_is_explained_and_the_suggestion_works(
    changes: dict[str, Any], field: str, value: Any
) -> None:
    settings = changed(**changes)
    found = problems(settings, FACTS)
    assert [problem.field for problem in found] == [field]
    problem = found[0]
    assert problem.value == value
    assert str(getattr(settings, field)) in problem.reason or field == "tying" or field == "n_heads"
    mended = msgspec.structs.replace(settings, **{problem.field: problem.value})
    if field == "tying":
        mended = msgspec.structs.replace(mended, tying="output")
    # another thing may be wrong too, such as the data's silence on alignments
    assert field not in [p.field for p in problems(mended, FACTS)]


@pytest.mark.parametrize(
    ("d_model", "n_heads", "told"),
    [
        (7, 3, "take 1 head, or a d_model of 6 or 9"),
        (8, 3, "take 2 heads, or a d_model of 9 or 6"),
        (64, 5, "take 4 heads, or a d_model of 65 or 60"),
        (2, 3, "take 2 heads, or a d_model of 3"),
        (16_777_215, 2, "take 1 head, or a d_model of 16777214 or 16777216"),
    ],
)
def test_the_sizes_next_to_one_that_heads_cannot_part_are_named(
    d_model: int, n_heads: int, told: str
) -> None:
    found = problems(changed(d_model=d_model, n_heads=n_heads))
    assert [p.suggestion for p in found] == [told]
    # each of them works, as far as parting goes
    for size in map(int, re.findall(r"\d+", told.split(" of ")[1])):
        assert not problems(changed(d_model=size, n_heads=n_heads))


def test_a_model_beyond_all_bounds_is_refused_before_it_is_made() -> None:
    found = problems(changed(d_model=8192, n_heads=8, d_ff=100_000), FACTS)
    assert [p.field for p in found] == ["d_model"]
    assert "parameters, far too many" in found[0].reason


def test_whatever_problems_lets_through_can_be_made() -> None:
    generator = np.random.default_rng(4)
    words = CharTokenizer.build([("abcdef", "ghij")])
    facts = Facts(
        2000, 9, len(words.source_vocabulary), len(words.target_vocabulary), FACTS.lengths
    )
    passed = 0
    for _ in range(300):
        settings = changed(
            d_model=int(generator.integers(0, 24)),
            n_heads=int(generator.integers(0, 7)),
            d_ff=int(generator.integers(0, 9)),
            n_layers=int(generator.integers(0, 3)),
            max_seq_len=int(generator.integers(8, 16)),
            tying=str(generator.choice(["none", "output", "all"])),
        )
        if not problems(settings, facts):
            passed += 1
            settings.config(words)
    assert passed > 20


# What it will take.


@pytest.mark.parametrize("tying", ["none", "output", "all"])
@pytest.mark.parametrize("norm_position", ["pre", "post"])
def test_the_parameters_and_steps_are_exactly_those_of_the_run(
    tmp_path: Path, tying: str, norm_position: str
) -> None:
    data = numbers(tmp_path)
    settings = changed(
        d_model=16, d_ff=24, tying=tying, norm_position=norm_position, n_decoder_layers=1
    )
    said = estimate(settings, data.facts(settings))
    prepared = prepare(data, settings)
    assert said.parameters == prepared.model.parameter_count
    assert said.parameters == parameter_count(prepared.model.config)
    trainer = Trainer(prepared.model, prepared.train, settings.recipe(len(prepared.train)))
    assert said.steps_per_epoch == trainer.steps_per_epoch
    assert said.total_steps == trainer.recipe.steps
    assert said.seconds is None


def test_the_memory_said_is_about_the_memory_taken(tmp_path: Path) -> None:
    data = numbers(tmp_path, 1000)
    settings = changed(n_layers=1, batch_size=64)
    said = estimate(settings, data.facts(settings)).memory
    prepared = prepare(data, settings)
    tracemalloc.start()
    try:
        trainer = Trainer(prepared.model, prepared.train, settings.recipe(len(prepared.train)))
        for _ in range(2 * trainer.steps_per_epoch):
            trainer.advance()
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.5 < said / taken < 2.0


def test_the_time_of_an_epoch_is_measured_by_real_steps(tmp_path: Path) -> None:
    data = numbers(tmp_path)
    settings = changed(d_model=16, d_ff=16, n_layers=1)
    prepared = prepare(data, settings)
    said = timed(estimate(settings, data.facts(settings)), prepared, settings, budget=0.3)
    assert said.seconds_per_step is not None and said.seconds_per_step > 0
    assert said.seconds_per_epoch == said.seconds_per_step * said.steps_per_epoch
    assert said.seconds == said.seconds_per_step * said.total_steps
    widths = [
        max(len(e.source) + len(e.target) for e in rows)
        for rows in spread_batches(prepared.train, settings)
    ]
    assert min(widths) < max(widths)
