"""The en-zh splits: kept apart from training, every word often enough, the same for a seed."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest

from model_core.tokenizers import WordTokenizer
from model_core.training.datasets import Dataset, Pair, unknown_share
from model_core.training.tasks import en_zh
from model_core.training.tasks.en_zh import lexicon, sentences, splits
from model_core.training.tasks.en_zh.splits import Secrets

SEED = en_zh.recipe.SEED
SPLITS = ("train", "held_out", "unseen_pairs")


@pytest.fixture(scope="module")
def data() -> Dataset:
    return en_zh.generate(SEED)


@pytest.fixture(scope="module")
def tokenizer(data: Dataset) -> WordTokenizer:
    return WordTokenizer.build(data.texts())


def facts_of(pairs: list[Pair], kind: str) -> set[str]:
    return {fact for pair in pairs for fact in pair.facts if fact.startswith(kind)}


def test_splits_have_their_sizes_and_a_length_that_the_window_can_show(data: Dataset) -> None:
    assert len(data["train"]) >= 20_000
    assert len(data["held_out"]) >= 500
    assert len(data["unseen_pairs"]) >= 200
    assert data.longest("train")[0] == sentences.LONGEST_SOURCE
    for split in SPLITS:
        assert data.longest(split)[0] <= data.longest("train")[0]


def test_no_held_out_triple_occurs_in_training(data: Dataset) -> None:
    held_out = facts_of(data["held_out"], "triple:")
    assert len(held_out) > 300
    assert not held_out & facts_of(data["train"], "triple:")
    assert all(any(f.startswith("triple:") for f in pair.facts) for pair in data["held_out"])


def test_every_unseen_sentence_has_an_adjective_noun_pair_that_training_lacks(
    data: Dataset,
) -> None:
    trained = facts_of(data["train"], "adjective:")
    for pair in data["unseen_pairs"]:
        assert {f for f in pair.facts if f.startswith("adjective:")} - trained
    assert len(facts_of(data["unseen_pairs"], "adjective:") - trained) >= 20


def test_adjacent_words_too_show_that_unseen_pairs_are_unseen(data: Dataset) -> None:
    unseen = {tuple(pair.split()) for pair in Secrets(SEED, en_zh.SHOWN).unseen_pairs()}
    plural = {noun.en: noun.plural for noun in lexicon.nouns()}
    forbidden = unseen | {(adjective, plural[noun]) for adjective, noun in unseen}
    for pair in data["train"]:
        assert not forbidden & set(zip(pair.source, pair.source[1:], strict=False))


def test_no_test_sentence_is_a_training_sentence(data: Dataset) -> None:
    trained = {pair.source for pair in data["train"]}
    for split in SPLITS[1:]:
        heard = [pair.source for pair in data[split]]
        assert len(set(heard)) == len(heard)
        assert trained.isdisjoint(heard)


def test_test_splits_know_every_word(data: Dataset, tokenizer: WordTokenizer) -> None:
    for split in SPLITS[1:]:
        assert unknown_share(data[split], tokenizer) == 0
        for _, target in data.texts(split):
            assert tokenizer.encode_target(target).unknown == []


def test_every_word_and_every_pattern_is_trained_often(data: Dataset) -> None:
    source = Counter(word.lower() for pair in data["train"] for word in pair.source)
    target = Counter(word for pair in data["train"] for word in pair.target)
    assert len(source) >= 250
    assert [word for word in source if source[word] < 60] == []
    assert [word for word in target if target[word] < 60] == []
    patterns = Counter(pair.template for pair in data["train"])
    assert [pattern for pattern in patterns if patterns[pattern] < 60] == []
    for split in SPLITS[1:]:
        assert {pair.template for pair in data[split]} <= patterns.keys()


def test_every_word_of_the_tables_occurs(data: Dataset) -> None:
    source = {word for pair in data["train"] for word in pair.source}
    for noun in lexicon.nouns():
        assert {noun.en, noun.plural or noun.en} <= source
    for verb in lexicon.verbs():
        assert {verb.en, verb.third, verb.past, verb.ing or verb.en} <= source
    assert {adjective.en for adjective in lexicon.adjectives()} <= source


def test_the_first_verbs_of_a_learner_are_trained_with_many_objects(data: Dataset) -> None:
    objects: dict[str, set[str]] = {}
    for fact in facts_of(list(data["train"]), "triple:"):
        _, verb, thing = fact.removeprefix("triple:").split("/")
        objects.setdefault(verb, set()).add(thing)
    for verb in ("like", "see", "have", "want", "be"):
        assert len(objects[verb]) > 30, verb
    for verb in ("love", "eat", "buy", "draw", "find", "need", "give"):
        assert len(objects[verb]) > 15, verb


def test_every_length_is_trained(data: Dataset) -> None:
    lengths = Counter(len(pair.source) for pair in data["train"])
    assert sorted(lengths) == list(range(1, sentences.LONGEST_SOURCE + 1))


def test_a_seventh_of_the_training_sentences_has_one_unknown_word(
    data: Dataset, tokenizer: WordTokenizer
) -> None:
    assert unknown_share(data["train"], tokenizer) == pytest.approx(0.15, abs=0.01)
    for pair in data["train"]:
        assert pair.source.count("<UNK>") <= 1
        if "<UNK>" in pair.source:
            place = pair.source.index("<UNK>")
            parts = [pair.target[i] for i, a in enumerate(pair.aligned[:-1]) if a == place]
            assert "<UNK>" in parts
            assert set(parts) <= {"<UNK>", "个", "的", "了"}
        else:
            assert "<UNK>" not in pair.target


def test_the_same_seed_gives_the_same_sentences_and_another_seed_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for size in ("TRAIN_SIZE", "HELD_OUT_SIZE", "UNSEEN_SIZE"):
        monkeypatch.setattr(splits, size, 300)
    monkeypatch.setattr(splits, "LEAST_SEEN", 0)
    first, again, other = (en_zh.generate(seed) for seed in (SEED, SEED, SEED + 1))
    for split in SPLITS:
        assert first[split] == again[split]
        assert first[split] != other[split]


def test_sentences_do_not_depend_on_the_hash_seed() -> None:
    program = (
        "import numpy as np, zlib\n"
        "from model_core.training.tasks.en_zh import sentences, splits\n"
        "from model_core.training.tasks.chance import Chance\n"
        "splits.TRAIN_SIZE, splits.HELD_OUT_SIZE, splits.UNSEEN_SIZE = 800, 40, 40\n"
        "splits.LEAST_SEEN = 0\n"
        "data = splits.split('small', 3)\n"
        "text = repr([list(data[s]) for s in data.splits])\n"
        "print(zlib.crc32(text.encode()))\n"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": "."},
            cwd=lexicon.TABLES.parents[3],
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for hash_seed in ("0", "1", "4711")
    }
    assert len(printed) == 1


def test_what_the_examples_say_is_never_kept_from_training() -> None:
    for seed in range(20):
        secrets = Secrets(seed, en_zh.SHOWN)
        assert not any(map(secrets.has, en_zh.SHOWN))
