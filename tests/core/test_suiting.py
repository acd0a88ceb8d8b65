"""Settings that suit data, settings by name, training from a program, and what is said of it."""

from __future__ import annotations

import json
import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import model_core
from model_core.checkpoints import CheckpointError
from model_core.training import Recipe, Settings, run_on
from model_core.training.batching import Example
from model_core.training.estimates import memory_at_most
from model_core.training.file_words import (
    chosen,
    guessing_loss,
    recognised,
    settings_list,
    verdict,
)
from model_core.training.held_out import Evaluation, rows_at_a_time
from model_core.training.lab_data import Facts, FileSource, LabData, load
from model_core.training.problems import problems
from model_core.training.settings import FIELDS, read_settings
from model_core.training.suiting import COMFORTABLE, MOST_TOKENS, suited_settings, unknown_shares


def loaded(tmp_path: Path, rows: list[tuple[str, str]]) -> LabData:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{s}\t{t}\n" for s, t in rows), encoding="utf-8")
    return load(FileSource(str(path)), Settings(held_out_share=0.1))


def short(count: int = 60) -> list[tuple[str, str]]:
    return [(f"cat {i % 7} dog {i}", f"chat {i % 7} chien {i}") for i in range(count)]


# Settings that suit.


def test_what_nobody_has_set_follows_what_somebody_has(tmp_path: Path) -> None:
    data = loaded(tmp_path, short())
    for given in ({"steps": 2}, {"epochs": 1}, {"steps": 80, "batch_size": 8}):
        settings = suited_settings(data, given)
        assert {name: getattr(settings, name) for name in given} == given
        assert problems(settings, data.facts(settings)) == []
    kept = suited_settings(data, {"steps": 200, "warmup_steps": 300})
    assert [p.field for p in problems(kept, data.facts(kept))] == ["warmup_steps"]
    assert suited_settings(data, {"steps": 2000}).warmup_steps == Settings().warmup_steps


def test_a_vocabulary_is_bounded_and_words_that_nobody_repeats_are_cut_into_letters(
    tmp_path: Path,
) -> None:
    letters = random.Random(3)
    word = lambda: "".join(letters.choices("abcdefgh", k=9))  # noqa: E731
    rows = [(" ".join(word() for _ in range(9)), word()) for _ in range(2_000)]
    data = loaded(tmp_path, rows)
    assert suited_settings(data).tokenizer == "char"
    settings = suited_settings(data, {"tokenizer": "word"})
    assert settings.vocab_size == MOST_TOKENS
    assert data.facts(settings).n_source_tokens == MOST_TOKENS
    assert unknown_shares(data, settings)[0] > 0.5
    assert suited_settings(data, {"tokenizer": "word", "vocab_size": 0}).vocab_size == 0


def test_long_texts_of_few_words_are_cut_into_words(tmp_path: Path) -> None:
    words = [f"word{i}" for i in range(30)]
    rows = [(" ".join(words[(i + k) % 30] for k in range(20)), f"w{i % 5}") for i in range(200)]
    settings = suited_settings(loaded(tmp_path, rows))
    assert (settings.tokenizer, settings.max_seq_len) == ("word", 27)


def test_a_few_pairs_that_are_far_longer_decide_nothing(tmp_path: Path) -> None:
    rows = [*short(1000), *((f"x{i} " * 240, f"y{i} " * 240) for i in range(3))]
    data = loaded(tmp_path, rows)
    settings = suited_settings(data, {"tokenizer": "char"})
    assert settings.max_seq_len < 60 and settings.batch_size == 64
    run = run_on(data.source.path, tokenizer="char", steps=2)  # type: ignore[union-attr]
    assert run.prepared.too_long == 3
    assert any("3 pairs longer than max_seq_len" in sentence for sentence in chosen(run))


def test_long_pairs_go_in_small_batches(tmp_path: Path) -> None:
    rows = [(f"{i:04} " * 150, f"{i:04} " * 150) for i in range(120)]
    data = loaded(tmp_path, rows)
    settings = suited_settings(data, {"tokenizer": "char"})
    assert settings.batch_size == 2
    assert memory_at_most(settings, data.facts(settings))[0] < 2 * COMFORTABLE
    # measuring is bounded in the same way
    assert rows_at_a_time(128) == 64 and rows_at_a_time(750) == 1


# Memory.


def test_a_batch_that_no_machine_has_room_for_is_refused_and_the_suggestion_fits() -> None:
    facts = Facts(300_000, 15_000, 40, 40, np.full((5000, 2), 40))
    settings = msgspec.structs.replace(
        Settings(), batch_size=65_536, d_model=256, d_ff=1024, n_layers=6, warmup_steps=0
    )
    (problem,) = problems(settings, facts)
    assert problem.field == "batch_size" and "GB of memory" in problem.reason
    mended = msgspec.structs.replace(settings, batch_size=problem.value)
    assert 1 <= problem.value < 65_536 and problems(mended, facts) == []


def test_memory_is_compared_with_what_the_machine_has(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = Facts(1000, 50, 40, 40, np.full((1000, 2), 40))
    assert problems(Settings(), facts) == []
    monkeypatch.setattr("model_core.training.problems.free_bytes", lambda: 2_000_000)
    assert [p.field for p in problems(Settings(), facts)] == ["d_model"]
    monkeypatch.setattr("model_core.training.problems.free_bytes", lambda: None)
    assert problems(Settings(), facts) == []


# Settings by name.


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"learnin_rate": 1}', 'there is no setting "learnin_rate", expected learning_rate'),
        ('{"zzz": 1}', "expected one that `train --settings` lists"),
        ('{"d_model": "x"}', 'd_model is "x", expected a whole number'),
        ('{"d_model": 16.5}', "d_model is 16.5, expected a whole number"),
        ('{"d_model": true}', "d_model is true, expected a whole number"),
        ('{"d_model": null}', "d_model is null, expected a whole number"),
        ('{"learning_rate": "fast"}', 'learning_rate is "fast", expected a number'),
        ('{"n_encoder_layers": "2"}', "expected a whole number or null"),
        ('{"tokenizer": "bpe"}', 'tokenizer is "bpe", expected one of char, word'),
        ('{"scale_embedding": 1}', "expected true or false"),
        ("[1]", "holds no object of settings"),
        ('{"steps": 2} // x', "the settings cannot be read: something follows its end, in line 1"),
        ('{"steps": 2', "it ends in the middle, in line 1"),
        (" \n", "there is nothing in it"),
    ],
)
def test_a_wrong_setting_is_told_with_what_is_right(
    tmp_path: Path, content: str, said: str
) -> None:
    path = tmp_path / "c.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(CheckpointError) as caught:
        read_settings(path)
    assert said in str(caught.value)


def test_a_whole_number_may_be_written_with_a_point(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"d_model": 16.0, "learning_rate": 1}), encoding="utf-8")
    assert read_settings(path).d_model == 16 and isinstance(read_settings(path).d_model, int)


def test_the_list_of_settings_has_them_all_with_their_defaults() -> None:
    lines = list(settings_list())
    assert [line.split()[0] for line in lines] == [field.name for field in FIELDS]
    for line, field in zip(lines, FIELDS, strict=True):
        assert json.dumps(field.default) in line and len(line) > 60


# From a program.


def test_a_loop_over_a_run_on_a_file_trains_it(tmp_path: Path) -> None:
    data = loaded(tmp_path, short())
    run = run_on(data.source.path, steps=3, d_model=16)  # type: ignore[union-attr]
    assert [progress.step for progress in run] == [1, 2, 3]
    run.save_model(tmp_path / "m.safetensors")
    assert model_core.open_checkpoint(tmp_path / "m.safetensors").config.d_model == 16


@pytest.mark.parametrize(
    "wrong",
    [{"steps": None}, {"d_model": "x"}, {"batch_size": 0}, {"learnin_rate": 1}, {"seed": -1}],
)
def test_a_wrong_setting_of_a_program_is_a_value_error(tmp_path: Path, wrong: Any) -> None:
    data = loaded(tmp_path, short())
    with pytest.raises(ValueError, match=next(iter(wrong))):
        run_on(os.fspath(data.source.path), **wrong)  # type: ignore[union-attr]
    for name, value in wrong.items():
        if name in Settings.__struct_fields__:
            changed = msgspec.structs.replace(Settings(), **{name: value})
            assert [problem.field for problem in problems(changed)] == [name]


@pytest.mark.parametrize(
    "wrong",
    [
        {"batch_size": 0},
        {"batch_size": 2.5},
        {"learning_rate": -1.0},
        {"learning_rate": float("nan")},
        {"steps": None},
        {"steps": -3},
        {"seed": -1},
        {"max_norm": 0.0},
        {"label_smoothing": 2.0},
        {"beta2": 1.0},
    ],
)
def test_a_recipe_that_cannot_work_is_refused_when_it_is_made(wrong: Any) -> None:
    with pytest.raises(ValueError, match=rf"{next(iter(wrong))} is .*, expected "):
        replace(Recipe(10, 0.001, 2), **wrong)


# What is said.


def test_what_was_recognised_and_chosen_is_said_before_a_step(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("id,My Text,Other\n" + "".join(f"{i},a{i},b{i}\n" for i in range(30)), "utf-8")
    run = run_on(path, model_core.training.Reading(source="My Text", target="Other"), steps=2)
    assert run.data.look is not None
    said = "\n".join([*recognised(run.data.look), *chosen(run)])
    for part in ("CSV", "UTF-8", "column My Text -> column Other", "not used: id"):
        assert part in said
    for part in ("characters", "d_model 64", "2 steps", "learning_rate 0.002"):
        assert part in said


def test_guessing_by_frequency_costs_the_entropy_of_the_tokens() -> None:
    # four tokens and the end, each as frequent as the others: log 5 each, but for the one more
    examples = [Example([1], [4, 5, 6, 7]) for _ in range(10_000)]
    assert guessing_loss(examples, examples[:10], 5) == pytest.approx(np.log(5), rel=1e-3)


def test_a_training_that_came_to_nothing_is_told_as_such(tmp_path: Path) -> None:
    data = loaded(tmp_path, short())
    run = run_on(data.source.path, steps=2, learning_rate=0.3)  # type: ignore[union-attr]
    assert "no better than guessing" in verdict(run, Evaluation(2, 9.0, 0, 6))
    assert "learning_rate 0.3 is high" in verdict(run, Evaluation(2, 9.0, 0, 6))
    calm = run_on(data.source.path, steps=2)  # type: ignore[union-attr]
    assert verdict(calm, Evaluation(2, 9.0, 0, 6)).endswith("; train longer")
    for _ in range(30):
        calm.history.steps.add((1, 1, 0.01, *(8 * [0.0])))
    assert "it knows the 55 pairs it learned from by heart" in verdict(
        calm, Evaluation(2, 9.0, 0, 6)
    )
    assert verdict(run, Evaluation(2, 0.1, 5, 6)) == ""
    assert verdict(run, None) == ""
